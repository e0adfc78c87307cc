"""What hooks ask of topics, without loading the rest of the package: an agent waits for the answer.

An entry is found by the words and scores of `helix_graph.topics.ranking`, as `search` finds it, and shown only when its
record has the right checksum. What is damaged is left out; `search` names it.
"""

from __future__ import annotations

import json

from helix_episodes.lightweight import Value
from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import HelixDatabase, database_path
from helix_graph.topics import ranking
from helix_graph.topics.ranking import query_words
from helix_graph.topics.schema import TOPIC_TABLES, is_sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class FoundText(Value):
    """An entry: its topic, and its text as it was stored."""

    topic: str
    text: str


def matching_entries(root: Path, query: str, *, limit: int) -> list[FoundText]:
    """The entries with words of the query that fit it best; of more words than can be looked for the rarest count."""
    with HelixDatabase(database_path(root), TOPIC_TABLES).reading() as connection:
        if not connection.execute("SELECT entries FROM topic_totals WHERE entries > 0").fetchone():
            return []
        words = ranking.known_words(connection, query_words(query))[: ranking.MOST_WORDS]
        if not words:
            return []
        matching = ranking.having_any(words, mean=ranking.mean_length(connection))
        scored = ranking.best(connection, matching, ranking.EntryFilters(), limit=limit).scored
        found = _written(connection, [entry for entry, _ in scored])
    return [found[entry] for entry, _ in scored if entry in found]


def busiest_topics(root: Path, *, since: int, limit: int) -> list[tuple[str, int]]:
    """The topics with the most entries stored since then, in seconds since 1970, and how many."""
    with HelixDatabase(database_path(root), TOPIC_TABLES).reading() as connection:
        return stored_since(connection, since)[:limit]


def stored_since(connection: sqlite3.Connection, since: int) -> list[tuple[str, int]]:
    """The topics with entries stored since then, and how many, the most first."""
    return connection.execute(
        "SELECT topic, COUNT(*) FROM topic_entry WHERE stored >= ? GROUP BY topic ORDER BY 2 DESC, 1", (since,)
    ).fetchall()


def _written(connection: sqlite3.Connection, entries: list[int]) -> dict[int, FoundText]:
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
                found[entry] = FoundText(topic, record["text"])
    return found
