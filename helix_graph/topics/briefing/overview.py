"""A briefing on everything: the largest topics, what kinds of entries there are, what is new, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.database import ANY_OF, as_list
from helix_graph.topics.briefing.brief import sizes
from helix_graph.topics.briefing.model import Gap, Overview
from helix_graph.topics.classify import CATEGORIES
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
#: The entries that a briefing is about: those of some categories, stored since then.
_CHOSEN = f"category {ANY_OF} AND stored >= ?"


def overview(
    connection: sqlite3.Connection, *, since: int | None, focus: Sequence[Category], compact: bool, now: int
) -> Overview:
    """What there is; with ``since`` stored since then, with ``focus`` of these categories."""
    chosen = (as_list(focus or CATEGORIES), 0 if since is None else since)
    everything = since is None and not focus
    topics = _topics(connection, chosen, everything=everything)
    listed = _TOPICS_COMPACT if compact else _TOPICS
    newest = connection.execute(f"SELECT MAX(stored) FROM topic_entry WHERE {_CHOSEN}", chosen).fetchone()[0]  # noqa: S608  (our own names and constants)
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


def _topics(connection: sqlite3.Connection, chosen: tuple[str, int], *, everything: bool) -> list[TopicSize]:
    counted = f"SELECT topic, COUNT(*) FROM topic_entry WHERE {_CHOSEN} GROUP BY topic ORDER BY 2 DESC, 1"  # noqa: S608  (our own names and constants)
    if everything:
        rows = connection.execute("SELECT name, entries FROM topic ORDER BY entries DESC, name")
    else:
        rows = connection.execute(counted, chosen)
    return [TopicSize(topic=topic, entries=n) for topic, n in rows]


def _categories(connection: sqlite3.Connection, chosen: tuple[str, int]) -> dict[Category, int]:
    return dict(
        connection.execute(f"SELECT category, COUNT(*) FROM topic_entry WHERE {_CHOSEN} GROUP BY category", chosen)  # noqa: S608  (our own names and constants)
    )


def _hot(connection: sqlite3.Connection, chosen: tuple[str, int], *, now: int) -> tuple[TopicSize, ...]:
    """The topics with the most entries of the last 48 hours."""
    rows = connection.execute(
        f"SELECT topic, COUNT(*) FROM topic_entry WHERE {_CHOSEN} AND stored >= ?"  # noqa: S608  (our own names and constants)
        " GROUP BY topic ORDER BY 2 DESC, 1 LIMIT ?",
        (*chosen, now - HOT_SECONDS, _HOT),
    )
    return tuple(TopicSize(topic=topic, entries=n) for topic, n in rows)


def _gaps(connection: sqlite3.Connection, chosen: tuple[str, int]) -> tuple[Gap, ...]:
    """The newest entries that say that something is missing."""
    rows = connection.execute(
        f"SELECT entry FROM topic_entry WHERE {_CHOSEN} AND category = 'gaps'"  # noqa: S608  (our own names and constants)
        " ORDER BY stored DESC, entry DESC LIMIT ?",
        (*chosen, _GAPS),
    )
    ids = [entry for (entry,) in rows]
    found, places = by_id(connection, ids), indices(connection, ids)
    return tuple(
        Gap(topic=places[entry][0], index=places[entry][1], line=first_line(found[entry].record.text, width=_WIDTH))
        for entry in ids
    )
