"""How much an entry matters to a briefing.

``BM25 of the query's words + freshness + confidence + 2 x links to it``. Freshness halves every seven days; an entry
that others link to is one that others rest on, so each reference weighs as much as a rare word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.database import ANY_OF, as_list
from helix_graph.topics.ranking import known_words, scores_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

    from helix_graph.topics.briefing.collect import Collected

HALF_LIFE_DAYS = 7
PER_REFERENCE = 2.0
_DAY = 86_400


def scores(connection: sqlite3.Connection, collected: Collected, *, now: int) -> dict[int, float]:
    """The score of each entry."""
    relevance = scores_of(connection, known_words(connection, collected.words), collected.entries)
    references = _references(connection, collected.entries)
    return {
        entry: relevance.get(entry, 0.0)
        + freshness(now - one.record.changed)
        + one.record.confidence
        + PER_REFERENCE * references.get(entry, 0)
        for entry, one in collected.entries.items()
    }


def freshness(seconds: int) -> float:
    """1 for something just written, half of it after seven days, a quarter after fourteen.

    >>> freshness(0), freshness(7 * 86_400), freshness(-5)
    (1.0, 0.5, 1.0)
    """
    return float(0.5 ** (max(seconds, 0) / (HALF_LIFE_DAYS * _DAY)))


def _references(connection: sqlite3.Connection, entries: Collection[int]) -> dict[int, int]:
    """How many entries link to each."""
    rows = connection.execute(
        "SELECT l.target, COUNT(*) FROM topic_link l CROSS JOIN topic_entry e ON e.entry = l.source"  # noqa: S608  (our own names and constants)
        f" WHERE l.target {ANY_OF} GROUP BY l.target",
        (as_list(entries),),
    )
    return dict(rows.fetchall())
