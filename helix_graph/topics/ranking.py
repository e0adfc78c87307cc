"""Which entries match a query's words best: BM25 (`helix_graph.word_search`), multiplied by the entry's confidence.

Hooks ask here as well, without loading the rest of the package, because an agent waits for the answer: an entry is
shown only when its record has the right checksum. What is damaged is left out; `search` names it.
"""

from __future__ import annotations

import json

from helix_episodes.light_imports import Value
from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import HelixDatabase, database_path
from helix_graph.topics.schema import TOPIC_TABLES, is_sound
from helix_graph.word_search import bm25, frequencies, match_all, match_any, query_words, rarer, telling

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence
    from pathlib import Path


#: Nobody means more words at once, and each is looked up by itself.
MOST_WORDS = 32
#: Digits to which scores are told apart: sums of floating-point numbers differ in the last ones between machines.
DIGITS = 6


class TimeSpan(Value):
    """From ``start`` on and before ``end``, in seconds since 1970; None where it is open."""

    start: int | None = None
    end: int | None = None


class EntryFilters(Value):
    """What else an entry must be. An empty ``topics`` is any topic."""

    period: TimeSpan = TimeSpan()
    topic: str | None = None
    tag: str | None = None


class RankedEntries(Value):
    """How many entries match, and the ids and scores of those that were asked for, the best first."""

    total: int = 0
    scored: Sequence[tuple[int, float]] = ()


def asked_words(query: str) -> tuple[str, ...]:
    """The words that a question asks for: without those that stand in every text, unless nothing else is."""
    found = query_words(query)
    return telling(found) or found


def best(
    connection: sqlite3.Connection, words: Sequence[str], filters: EntryFilters, *, every: bool, limit: int
) -> RankedEntries:
    """How many entries have every one of the words, or any, and the best of them; of equals the newer one first."""
    having = frequencies(connection, "topic_text", words)
    if not (all(having.values()) if every else any(having.values())):
        return RankedEntries()
    everything = match_all(words) if every else match_any(words)
    few = everything if every else match_any(rarer(having, total=_entries(connection)))
    found = _scored(connection, having, few, filters, limit=limit)
    if few == everything and limit:
        return found
    if len(found.scored) < limit:
        return _scored(connection, having, everything, filters, limit=limit)
    counting, values = _matching("COUNT(*)", everything, filters)
    return found._replace(total=int(connection.execute(counting, values).fetchone()[0]))


def by_topic(connection: sqlite3.Connection, match: str, filters: EntryFilters) -> list[tuple[str, int]]:
    """How many entries of each topic match, the most first."""
    matching, values = _matching("e.topic, COUNT(*)", match, filters)
    return connection.execute(f"{matching} GROUP BY e.topic ORDER BY 2 DESC, 1", values).fetchall()


def scores_of(connection: sqlite3.Connection, words: Collection[str], entries: Collection[int]) -> dict[int, float]:
    """The scores of these entries for some of the words, confidence left out; those without any are not in it."""
    having = frequencies(connection, "topic_text", words)
    shares, values = bm25("topic_text", having, total=_entries(connection))
    rows = connection.execute(
        f"WITH chosen AS MATERIALIZED (SELECT value AS row FROM json_each(?)), {shares}"  # noqa: S608  (our own names and constants)
        " SELECT row, SUM(score) FROM share GROUP BY row",
        (as_list(entries), *values),
    )
    return dict(rows.fetchall())


def _entries(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT entries FROM topic_totals").fetchone()[0])


def _scored(
    connection: sqlite3.Connection, having: dict[str, int], match: str, filters: EntryFilters, *, limit: int
) -> RankedEntries:
    if not limit:
        return RankedEntries()
    matching, chosen = _matching("e.entry AS row, e.stored, e.confidence", match, filters)
    among = "" if match == match_any(having) else "chosen"  # they are all, unless filters leave some out
    shares, values = bm25("topic_text", having, total=_entries(connection), among=among)
    rows = connection.execute(
        f"WITH chosen AS MATERIALIZED ({matching}), {shares}"  # noqa: S608  (our own names and constants)
        f" SELECT row, ROUND(SUM(score) * confidence, {DIGITS}), (SELECT COUNT(*) FROM chosen)"
        " FROM share JOIN chosen USING (row) GROUP BY row ORDER BY 2 DESC, stored DESC, row DESC LIMIT ?",
        (*chosen, *values, limit),
    ).fetchall()
    return RankedEntries(total=rows[0][2] if rows else 0, scored=[(entry, score) for entry, score, _ in rows])


def _matching(columns: str, match: str, filters: EntryFilters) -> tuple[str, list[str | int]]:
    """SQL, with its values, for columns of the entries ``e`` that match."""
    sql = f"SELECT {columns} FROM topic_text t CROSS JOIN topic_entry e ON e.entry = t.rowid WHERE topic_text MATCH ?"  # noqa: S608  (our own names and constants)
    values: list[str | int] = [match]
    tagged = "EXISTS (SELECT 1 FROM topic_tag WHERE tag = ? AND entry = t.rowid)"
    conditions = (
        ("e.topic = ?", filters.topic),
        (tagged, filters.tag),
        ("e.stored >= ?", filters.period.start),
        ("e.stored < ?", filters.period.end),
    )
    for condition, value in conditions:
        if value is not None:
            sql += f" AND {condition}"
            values.append(value)
    return sql, values


class FoundText(Value):
    """An entry: its number, its topic, its text as it was stored, and where it is from."""

    entry: int
    topic: str
    text: str
    source: str = ""


def matching_entries(root: Path, query: str, *, limit: int) -> list[FoundText]:
    """The entries with words of the query that fit it best; of more words than can be looked for the rarest count."""
    with HelixDatabase(database_path(root), TOPIC_TABLES).reading() as connection:
        having = frequencies(connection, "topic_text", asked_words(query))
        rarest = sorted((word for word in having if having[word]), key=having.__getitem__)[:MOST_WORDS]
        scored = best(connection, rarest, EntryFilters(), every=False, limit=limit).scored
        found = _texts_of(connection, [entry for entry, _ in scored])
    return [found[entry] for entry, _ in scored if entry in found]


def busiest_topics(
    root: Path, *, since: int, limit: int, without: Collection[int] = frozenset()
) -> list[tuple[str, int]]:
    """The topics with the most entries stored since then, in seconds since 1970, and how many; some left out."""
    with HelixDatabase(database_path(root), TOPIC_TABLES).reading() as connection:
        return stored_since(connection, since, without=without)[:limit]


def stored_since(
    connection: sqlite3.Connection, since: int, *, without: Collection[int] = frozenset()
) -> list[tuple[str, int]]:
    """The topics with entries stored since then, and how many, the most first."""
    return connection.execute(
        f"SELECT topic, COUNT(*) FROM topic_entry WHERE stored >= ? AND NOT entry {ANY_OF}"  # noqa: S608  (a constant)
        " GROUP BY topic ORDER BY 2 DESC, 1",
        (since, as_list(without)),
    ).fetchall()


def _texts_of(connection: sqlite3.Connection, entries: list[int]) -> dict[int, FoundText]:
    rows = connection.execute(
        "SELECT e.entry, e.topic, l.number, l.body, l.checksum FROM topic_entry e JOIN topic_log l"  # noqa: S608  (a constant)
        f" ON l.number = e.number WHERE e.entry {ANY_OF}",
        (as_list(entries),),
    )
    found = {}
    for entry, topic, number, body, checksum in rows:
        if is_sound(number, body, checksum):
            record = json.loads(body)
            if (record.get("entry"), record.get("topic")) == (entry, topic):  # else the index is not of this log
                found[entry] = FoundText(entry, topic, record["text"], record.get("source") or "")
    return found
