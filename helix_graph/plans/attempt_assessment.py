"""Go on, try another way, or ask for help? From the attempts so far and from what the memory knows of this approach.

Attempts at an objective are kept, so that an agent that is started again is still told that this is the fourth time. A
completed workspace with that objective ends the count.

* ``escalate``: the objective has been tried five times, however: as in the original, which never got there by one way.
* ``pivot``: the same way for the third time in a row, or a failure in memory tells of this very way.
* ``continue``: otherwise.

Two approaches are the same when they share at least half of their words; a failure tells of an approach when it has at
least half of its words, and two at the least. Words are those of `helix_graph.word_search`, without its stop words.

>>> are_similar(words_of("Mock the whole database"), words_of("mock the database"))
True
>>> are_similar(words_of("Use a lock"), words_of("Clock the user"))
False
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from helix_graph.helix_db import stamp, utc_now
from helix_graph.insights.safe_quoting import sanitize_line
from helix_graph.plans.schema import database
from helix_graph.validation import as_line
from helix_graph.word_search import query_words, telling

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.insights.api import Insights

Recommendation = Literal["continue", "pivot", "escalate"]
#: The seed's builder gives up a way after three attempts; the original asks for help from the fifth on.
SAME_WAY, ANY_WAY = 3, 5
#: Memories that are looked at, as many as a builder is given.
_LOOKED_AT = 8
_FEWEST_WORDS = 2


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """What to do, why, how many attempts there were with this one, and what to try instead, where that is known."""

    recommendation: Recommendation
    reason: str
    attempts: int
    suggested_pivot: str | None = None


def assess(root: Path, insights: Insights, objective: str, approach: str) -> Assessment:
    """Counts an attempt and says whether to go on with it; see `helix_graph.plans.api.Plans.assess`."""
    objective, approach = as_line("objective", objective), as_line("approach", approach)
    rows = insights.recall(f"{objective} {approach}", limit=_LOOKED_AT)
    tried = _counted(root, objective, approach)
    attempts, in_a_row = len(tried), _in_a_row(tried)
    pattern = _other_way(rows, approach)
    if attempts >= ANY_WAY:
        return _answer("escalate", f"{attempts} attempts at this objective; ask for help", attempts, pattern)
    failure = _known_failure(rows, approach)
    if failure:
        return _answer("pivot", f"the memory has a failure of this approach: {failure}", attempts, pattern)
    if in_a_row >= SAME_WAY:
        return _answer("pivot", f"the same approach {in_a_row} times in a row", attempts, pattern)
    return _answer("continue", "nothing speaks against it", attempts, None)


def forget_attempts(connection: sqlite3.Connection, objective: str) -> None:
    """Ends the count of an objective that was reached, within a transaction."""
    connection.execute("DELETE FROM attempt WHERE objective = ?", (_key(objective),))


def words_of(sentence: str) -> frozenset[str]:
    """The words that carry meaning."""
    return frozenset(telling(query_words(sentence)))


def are_similar(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two approaches are more the same than not: by half of all their words."""
    return 2 * len(one & other) >= len(one | other)


def _answer(recommendation: Recommendation, reason: str, attempts: int, pivot: str | None) -> Assessment:
    return Assessment(recommendation=recommendation, reason=reason, attempts=attempts, suggested_pivot=pivot)


def _counted(root: Path, objective: str, approach: str) -> list[str]:
    """All approaches to the objective so far, this one last."""
    key = _key(objective)
    with database(root).writing() as connection:
        connection.execute(
            "INSERT INTO attempt (objective, approach, created_at) VALUES (?, ?, ?)", (key, approach, stamp(utc_now()))
        )
        rows = connection.execute("SELECT approach FROM attempt WHERE objective = ? ORDER BY id", (key,))
        return [approach for (approach,) in rows]


def _in_a_row(tried: Sequence[str]) -> int:
    """How many of the last attempts went the way of the very last."""
    *earlier, last = map(words_of, tried)
    count = 1
    for one in reversed(earlier):
        if not are_similar(one, last):
            break
        count += 1
    return count


def _known_failure(rows: Sequence[Mapping[str, Any]], approach: str) -> str | None:
    words = words_of(approach)
    needed = max(_FEWEST_WORDS, (len(words) + 1) // 2)
    for row in rows:
        if "failure" in _tags(row) and len(words & words_of(str(row["content"]))) >= needed:
            return sanitize_line(str(row["content"]))
    return None


def _other_way(rows: Sequence[Mapping[str, Any]], approach: str) -> str | None:
    """The best pattern in memory that is not the approach itself."""
    words = words_of(approach)
    for row in rows:
        if "failure" not in _tags(row) and not are_similar(words, words_of(str(row["content"]))):
            return sanitize_line(str(row["content"]))
    return None


def _tags(row: Mapping[str, Any]) -> Sequence[str]:
    return row.get("tags") or ()


def _key(objective: str) -> str:
    return " ".join(objective.casefold().split())
