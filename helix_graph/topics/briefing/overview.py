"""A briefing on everything: the largest topics, what kinds of entries there are, what is new, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.database import ANY_OF, as_list
from helix_graph.topics.briefing.brief import sizes
from helix_graph.topics.briefing.model import Gap, Overview
from helix_graph.topics.entries import by_id, indices
from helix_graph.topics.model import Category, TopicSize, moment
from helix_graph.topics.texts import first_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

HOT_SECONDS = 48 * 3_600
_TOPICS = 20
_TOPICS_COMPACT = 5
_HOT = 5
_GAPS = 5
_WIDTH = 100
_DAY = 86_400
_Values = tuple[str | int, ...]


def overview(
    connection: sqlite3.Connection, *, since: int | None, focus: Sequence[Category], compact: bool, now: int
) -> Overview:
    """What there is; with ``since`` stored since then, with ``focus`` of these categories."""
    chosen = _chosen(since, focus)
    topics = _topics(connection, chosen)
    listed = _TOPICS_COMPACT if compact else _TOPICS
    newest = connection.execute(f"SELECT MAX(stored) FROM topic_entry WHERE {chosen[0]}", chosen[1]).fetchone()[0]  # noqa: S608  (our own names and constants)
    return Overview(
        compact=compact,
        topics=tuple(topics[:listed]),
        more_topics=max(len(topics) - listed, 0),
        categories=() if compact else sizes(_categories(connection, chosen)),
        hot=() if compact else _hot(connection, chosen, now=now),
        gaps=() if compact else _gaps(connection, chosen),
        entries=sum(one.entries for one in topics),
        topic_count=len(topics),
        newest=None if newest is None else moment(newest),
        age_days=None if newest is None else max(now // _DAY - newest // _DAY, 0),
    )


def _chosen(since: int | None, focus: Sequence[Category]) -> tuple[str, _Values]:
    """The condition on entries that a briefing is about, with its values; none that always holds is asked."""
    conditions = ["TRUE"]
    values: list[str | int] = []
    if since is not None:
        conditions.append("stored >= ?")
        values.append(since)
    if focus:
        conditions.append(f"category {ANY_OF}")
        values.append(as_list(focus))
    return " AND ".join(conditions), tuple(values)


def _topics(connection: sqlite3.Connection, chosen: tuple[str, _Values]) -> list[TopicSize]:
    condition, values = chosen
    counted = f"SELECT topic, COUNT(*) FROM topic_entry WHERE {condition} GROUP BY topic ORDER BY 2 DESC, 1"  # noqa: S608  (our own names and constants)
    everything = "SELECT name, entries FROM topic ORDER BY entries DESC, name"
    rows = connection.execute(counted if values else everything, values)
    return [TopicSize(topic=topic, entries=n) for topic, n in rows]


def _categories(connection: sqlite3.Connection, chosen: tuple[str, _Values]) -> dict[Category, int]:
    condition, values = chosen
    counted = f"SELECT category, COUNT(*) FROM topic_entry WHERE {condition} GROUP BY category"  # noqa: S608  (our own names and constants)
    return dict(connection.execute(counted, values))


def _hot(connection: sqlite3.Connection, chosen: tuple[str, _Values], *, now: int) -> tuple[TopicSize, ...]:
    """The topics with the most entries of the last 48 hours."""
    condition, values = chosen
    rows = connection.execute(
        f"SELECT topic, COUNT(*) FROM topic_entry WHERE {condition} AND stored >= ?"  # noqa: S608  (our own names and constants)
        " GROUP BY topic ORDER BY 2 DESC, 1 LIMIT ?",
        (*values, now - HOT_SECONDS, _HOT),
    )
    return tuple(TopicSize(topic=topic, entries=n) for topic, n in rows)


def _gaps(connection: sqlite3.Connection, chosen: tuple[str, _Values]) -> tuple[Gap, ...]:
    """The newest entries that say that something is missing."""
    condition, values = chosen
    rows = connection.execute(
        f"SELECT entry FROM topic_entry WHERE {condition} AND category = 'gaps'"  # noqa: S608  (our own names and constants)
        " ORDER BY stored DESC, entry DESC LIMIT ?",
        (*values, _GAPS),
    )
    ids = [entry for (entry,) in rows]
    found, places = by_id(connection, ids), indices(connection, ids)
    return tuple(
        Gap(topic=places[entry][0], index=places[entry][1], line=first_line(found[entry].record.text, width=_WIDTH))
        for entry in ids
    )
