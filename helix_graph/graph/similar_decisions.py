"""Find earlier decisions whose words are most like a text, and how they came out.

The index ``decided`` in graph.db (`helix_graph.word_search`) has the words of every decision (what was chosen, the
situation, the reason) and of its session's task, ranked by BM25. Meanings are not compared. Decisions that only have
words of half of all decisions are found when there are no others, which saves ranking every decision.

A row's number is made of the episode's number and the decision's position among that episode's mentions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.word_search import bm25, frequencies, indexed, match_any, query_words, rarer, telling

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.model import EpisodeFacts


#: The longest real session has some thousand mentions.
_PLACES = 1 << 20
#: A text is looked for by so many different words; a whole log would only be matched by everything.
_MOST_WORDS = 64
#: Digits to which ranks are compared: sums of floating-point numbers differ in the last ones between machines.
_DIGITS = 6


class SimilarDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One earlier decision, and how it came out.

    ``score`` is BM25's: higher is more alike, within one question only. ``words`` are those of the question that stand
    in it. ``outcome`` is the session's, ``basis`` who or what says so; ``decision_outcome`` is the decision's own where
    the log tells it. ``others`` counts more decisions of the same session that have one of the words.
    """

    episode: str
    session: str
    date: str | None
    task: str
    decision: str
    label: str
    chosen: str
    context: str
    rationale: str | None
    outcome: str
    basis: str
    decision_outcome: str | None
    log: str | None
    line: int | None
    quote: str
    score: float
    words: tuple[str, ...]
    others: int


def decision_rows(episode: int, facts: EpisodeFacts) -> list[tuple[int, str]]:
    """The decisions of an episode for the index; what people have only asserted is no decision of a session."""
    mentions = facts.mentions if facts.origin == "episode" else ()
    task = indexed(facts.task)
    return [
        (episode * _PLACES + place, "\n".join((indexed("\n".join((one.raw, one.context, one.rationale or ""))), task)))
        for place, one in enumerate(mentions)
        if one.type == "decision" and one.counted
    ]


def rows_in_index(episode: int) -> tuple[int, int]:
    """The first and the last number that a row of an episode may have."""
    return episode * _PLACES, (episode + 1) * _PLACES - 1


def forget_decisions(connection: sqlite3.Connection, episode: int) -> None:
    """Takes the decisions of an episode out of the index."""
    connection.execute("DELETE FROM decided WHERE rowid BETWEEN ? AND ?", rows_in_index(episode))


def words_of(text: str) -> tuple[str, ...]:
    """The different words of a text by which it is looked for, in order; small words only when it has no others.

    >>> words_of("Retry the parcel request, or retry_later?")
    ('retry', 'parcel', 'request', 'later')
    """
    words = query_words(text)
    return (telling(words) or words)[:_MOST_WORDS]


def find_similar_decisions(
    connection: sqlite3.Connection, words: Collection[str], *, limit: int
) -> tuple[list[SimilarDecision], int]:
    """The decisions most alike in these words, one for each session, and how many sessions have one.

    Of equally alike ones the newest comes first.
    """
    best: dict[int, tuple[float, int]] = {}
    others: defaultdict[int, int] = defaultdict(int)
    for row, score in _scores(connection, words):
        episode, place = divmod(row, _PLACES)
        others[episode] += episode in best
        best[episode] = min(best.get(episode, (-score, place)), (-score, place))
    chosen = _first(connection, best, limit)
    have = _words_in(connection, words, [episode * _PLACES + best[episode][1] for episode in chosen])
    found = [
        _decided(connection, episode, best[episode], have[episode * _PLACES + best[episode][1]], others[episode])
        for episode in chosen
    ]
    return found, len(best)


def _scores(connection: sqlite3.Connection, words: Collection[str]) -> list[tuple[int, float]]:
    """The decisions that have one of the words, without those that only have words of half of all decisions."""
    (decisions,) = connection.execute("SELECT count(*) FROM decided_docsize").fetchone()
    having = frequencies(connection, "decided", words)
    if not any(having.values()):
        return []
    few = rarer(having, total=decisions)
    shares, values = bm25("decided", having, total=decisions, among="chosen" if len(few) < len(words) else "")
    return connection.execute(
        "WITH chosen AS MATERIALIZED (SELECT rowid AS row FROM decided WHERE decided MATCH ?),"  # noqa: S608  (our own names)
        f" {shares} SELECT row, ROUND(SUM(score), {_DIGITS}) FROM share GROUP BY row",
        (match_any(few), *values),
    ).fetchall()


def _first(connection: sqlite3.Connection, best: dict[int, tuple[float, int]], limit: int) -> list[int]:
    """The episodes with the best scores; of equal ones the newest, then the first by id."""
    rows = connection.execute(
        f"SELECT number FROM episode WHERE number {ANY_OF} ORDER BY moment DESC, id",  # noqa: S608  (a constant)
        (as_list(best),),
    )
    newest = [number for (number,) in rows]
    return sorted(newest, key=lambda number: best[number][0])[:limit]  # stable: the newest first


def _words_in(connection: sqlite3.Connection, words: Collection[str], rows: Collection[int]) -> dict[int, list[str]]:
    """Which of the words each decision has, as the index compares them."""
    found: dict[int, list[str]] = {row: [] for row in rows}
    for word in words:
        having = connection.execute(
            f"SELECT rowid FROM decided WHERE decided MATCH ? AND rowid {ANY_OF}",  # noqa: S608  (as above)
            (match_any([word]), as_list(rows)),
        )
        for (row,) in having:
            found[row].append(word)
    return found


def _decided(
    connection: sqlite3.Connection, episode: int, best: tuple[float, int], words: list[str], others: int
) -> SimilarDecision:
    score, place = best
    row = connection.execute(
        "SELECT e.id, session, e.timestamp, task, local, label, raw, context, rationale, e.outcome, basis, m.outcome,"
        " m.log, line, quote FROM mention m JOIN episode e ON e.number = m.episode JOIN node n ON n.number = m.node"
        " WHERE m.episode = ? ORDER BY local LIMIT 1 OFFSET ?",
        (episode, place),
    ).fetchone()
    fields = dict(zip(SimilarDecision.__struct_fields__, row, strict=False))
    return SimilarDecision(**fields, score=-score, words=tuple(words), others=others)


COMPARES = "words, not meanings; an outcome is that of the whole session"


class SimilarAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The earlier decisions most alike to a text, the most alike first.

    ``looked_for`` are the words of the text that were compared, ``not_met`` those that none of the ``decisions`` has.
    ``sessions`` counts all sessions with a decision that has one of the words. ``compares`` says what was compared.
    """

    looked_for: tuple[str, ...]
    not_met: tuple[str, ...]
    sessions: int
    decisions: tuple[SimilarDecision, ...]
    compares: str
