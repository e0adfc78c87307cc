"""Recall: the insights that fit a query, by meaning and by words, those that performed well and lately first.

::

    score = 0.7 * relevance + 0.2 * effectiveness + 0.1 * recency

Relevance combines the cosine with the query and the relevance by words into one number, ``1 - (1 - cosine)(1 -
words)``, which is compared with the threshold and shown as ``_relevance``; so an error code that a vector blurs still
finds its insight. On the retrieval set of `benchmarks/retrieval.py` that finds more than either, and more than the
greater of the two. Effectiveness is multiplied by the share of uses in which the insight was causal, from three uses
on. Recency halves every 14 days without use. Without vectors the order is that of relevance by words, then of
effectiveness. Hits are scored in the order of relevance until no further one could be among those shown, so the answer
is exact however many hits there are.

Relevance by words lies between 0 and 1, on the scale of a cosine. The fewer insights have a word, the more it weighs
(inverse document frequency), and three times as much when it is an identifier such as ``E0382`` or ``foo_bar``. The
relevance of an insight is the weight of the words that it shares with the query, divided by the weight of the six
heaviest words of the query (or a pasted page would find nothing).

>>> words("Why does E0382 come when I run the tests?")
['e0382', 'come', 'run', 'tests']
>>> words("import shop/cart.py")
['import', 'shop/cart.py', 'shop', 'cart']

*Proven* insights are those used often enough to good effect, or provided by a person.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from math import log

from helix_episodes.lightweight import Value
from helix_graph.database import as_list
from helix_graph.errors import EmptyQuery
from helix_graph.insights.schema import SHOWN_DECIMALS, legacy_forms, seed_forms
from helix_graph.insights.scoring import USER_PROVIDED, causal_adjusted, recency, score
from helix_graph.timestamps import days_between, parse_stamp
from helix_graph.validation import as_str

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Literal, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from helix_graph.insights.scoring import ScoringSettings

    Mode = Literal["semantic", "lexical"]

    Via = Literal["meaning", "words", "both"]

    #: One, or many side by side.
    Shares = TypeVar("Shares", float, "NDArray[np.float64]")


_TERM = re.compile(r"\w+(?:[._:/-]+\w+)*")
_PART = re.compile(r"[^\W_]+")
_SHORTEST_PART = 3
#: A longer query is cut here: looking up a word takes a tenth of a millisecond in a memory of 100,000.
_MOST_WORDS = 48
#: So many of the heaviest words are the whole of a query.
_SPAN = 6
#: How much more an identifier says than another word of the same frequency.
_IDENTIFIER = 3.0
#: As if so many more insights were known that lack the word: in a memory of three, one in three is not yet frequent.
_PRIOR = 50
#: So many postings are read, of the rarest words first: reading one takes half a microsecond.
_MOST_POSTINGS = 3000
_LITTLE = (
    "a about after all also am an and any are as at be because been before being both but by can could did do does "
    "doing done for from get got had has have having he her here him his how i if in into is it its just like me more "
    "most my no not of on only or other our out over own same she should so some such than that the their them then "
    "there these they this those through to too under until up us use used using very was we were what when where "
    "which while who whom why will with would you your"
)
#: Words that say nothing by themselves.
STOP_WORDS = frozenset(_LITTLE.split())


def words(query: str) -> list[str]:
    """The words of a query that may say something, each once, in lower case; compounds and their parts."""
    found: dict[str, None] = {}
    for term in _TERM.findall(query.casefold()):
        parts = _PART.findall(term)
        if len(parts) > 1:
            found[term] = None
        found.update((part, None) for part in parts if len(parts) == 1 or len(part) >= _SHORTEST_PART)
    return [word for word in found if word not in STOP_WORDS][:_MOST_WORDS]


class WordFrequencies:
    """How many rows have a frequent word, which takes long to count: what was counted holds until a text changes."""

    def __init__(self) -> None:
        self._counted: tuple[object, dict[str, int]] = (None, {})

    def at(self, connection: sqlite3.Connection) -> dict[str, int]:
        """What is known of the state that the connection sees, to which whoever counts adds."""
        state = connection.execute("SELECT memory, texts FROM insight_revision").fetchone()
        counted = self._counted
        if counted[0] != state:
            self._counted = counted = (state, {})
        return counted[1]


def relevance_by_words(connection: sqlite3.Connection, query: str, *, frequent: WordFrequencies) -> dict[int, float]:
    """The rows that share words with the query, and their relevance by words: more than 0, at most 1."""
    counted = frequent.at(connection)
    frequencies = {word: counted.get(word) or _frequency(connection, word) for word in words(query)}
    counted.update((word, found) for word, found in frequencies.items() if found >= _MOST_POSTINGS)
    total = _total(connection)
    weights = {word: _weight(word, found, total) for word, found in frequencies.items()}
    whole = sum(sorted(weights.values())[-_SPAN:])
    shared: dict[int, float] = {}
    left = _MOST_POSTINGS
    for word in sorted((word for word in weights if frequencies[word]), key=lambda word: (frequencies[word], word)):
        if left <= 0:
            break
        numbers = _postings(connection, word, most=left)
        left -= len(numbers)
        for number in numbers:
            shared[number] = shared.get(number, 0.0) + weights[word]
    return {number: weight / whole if weight < whole else 1.0 for number, weight in shared.items()}


def _weight(word: str, frequency: int, total: int) -> float:
    plain = log(1 + (total + _PRIOR) / (frequency + 1))
    return plain * _IDENTIFIER if _is_identifier(word) else plain


def _is_identifier(word: str) -> bool:
    """Whether it has a digit beside letters, or is put together: ``E0382``, ``foo_bar``, ``cart.py``."""
    return len(_PART.findall(word)) > 1 or (not word.isdigit() and any(character.isdigit() for character in word))


def _total(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM insight").fetchone()[0])


def _frequency(connection: sqlite3.Connection, word: str) -> int:
    query = "SELECT count(*) FROM insight_text WHERE insight_text MATCH ?"
    return int(connection.execute(query, (_phrase(word),)).fetchone()[0])


def _postings(connection: sqlite3.Connection, word: str, *, most: int) -> list[int]:
    """The rows with a word, the newest of them."""
    newest = "SELECT rowid FROM insight_text WHERE insight_text MATCH ? ORDER BY rowid DESC LIMIT ?"
    # All numbers in one row: reading them takes half as long as taking each from a row of its own.
    query = f"SELECT json_group_array(rowid) FROM ({newest})"  # noqa: S608  (constants)
    found: list[int] = json.loads(connection.execute(query, (_phrase(word), most)).fetchone()[0])
    return found


def _phrase(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


#: A longer query is cut here, as the seed cut what it embedded.
_LONGEST_QUERY = 8000
#: Hits are read so many at a time: few enough that a small answer costs little, many enough that a large one does too.
_BATCH = 200
#: Where meanings are known, words alone say no more than this: less than the cosine (0.85) of what says the same.
SURE_BY_WORDS = 0.8


class RecallQuery(Value):
    """A question, checked: see `helix_graph.insights.api.Insights.recall` for what each part means."""

    limit: int
    min_relevance: float
    min_effectiveness: float = 0.0
    suppress_names: frozenset[str] = frozenset()
    tag: str = ""


class ScoredInsight(Value):
    """A hit with its score and what that is made of."""

    number: int
    name: str
    created_at: str
    relevance: float
    effectiveness: float
    recency: float
    score: float
    via: Via


def checked_query(text: str) -> str:
    """The text to look for.

    Raises:
        EmptyQuery: There is nothing in it.
    """
    found = as_str("query", text)[:_LONGEST_QUERY]
    if not found.strip():
        option = "query"
        raise EmptyQuery(option)
    return found


def success_share(*, use_count: int, causal_hits: int, settings: ScoringSettings) -> float:
    """Effectiveness as the older seed has it: how many of the uses helped; neutral before the first."""
    return causal_hits / use_count if use_count else settings.neutral


def freshness(last_used: str | None, created_at: str, *, now: datetime, settings: ScoringSettings) -> float:
    """1 for what was used (or stored) today, half of it every half-life, in whole days."""
    since = parse_stamp(last_used or created_at)
    if since is None:
        return settings.unknown_recency
    return recency(days_between(since, now), settings=settings)


def combined_hits(
    meaning: Mapping[int, float], by_words: Mapping[int, float], *, least: float, sure: float = 1.0
) -> list[tuple[float, int, Via]]:
    """What passes the gate by both together: (relevance, row, how), the most relevant first.

    ``sure`` is the most that words alone may say. ``meaning`` may leave out what does not pass with it.
    """
    telling = (number for number, shared in by_words.items() if shared >= least)
    hits: list[tuple[float, int, Via]] = [
        (combined_relevance(alike, shared), number, _via(alike, shared, least))
        for number in {*meaning, *telling}
        for alike, shared in ((max(0.0, meaning.get(number, 0.0)), min(sure, by_words.get(number, 0.0))),)
        if combined_relevance(alike, shared) >= least
    ]
    return sorted(hits, key=lambda hit: (-hit[0], hit[1]))


def combined_relevance(meaning: Shares, by_words: Shares) -> Shares:
    """Two shares of evidence as one: what either leaves open is settled by the other as far as that goes.

    >>> combined_relevance(0.6, 0.0), round(combined_relevance(0.6, 0.5), 2), combined_relevance(1.0, 0.3)
    (0.6, 0.8, 1.0)
    """
    return meaning + by_words - meaning * by_words


def recall_by_words(
    connection: sqlite3.Connection,
    by_words: Mapping[int, float],
    asked: RecallQuery,
    *,
    now: datetime,
    settings: ScoringSettings,
) -> list[ScoredInsight]:
    """The best of what shares words with a query: all there is to go by without a model."""
    hits = combined_hits({}, by_words, least=asked.min_relevance)
    return best_hits(connection, hits, asked, mode="lexical", now=now, settings=settings)


def best_hits(
    connection: sqlite3.Connection,
    hits: Sequence[tuple[float, int, Via]],
    asked: RecallQuery,
    *,
    mode: Mode,
    now: datetime,
    settings: ScoringSettings,
) -> list[ScoredInsight]:
    """The ``limit`` best of the hits, the best first; equals stay in the order in which they were stored."""
    chosen: list[ScoredInsight] = []
    for place in range(0, len(hits) if asked.limit else 0, _BATCH):
        if len(chosen) == asked.limit and not _may_enter(hits[place][0], chosen[-1], mode=mode, settings=settings):
            break
        scored = _scored(connection, hits[place : place + _BATCH], asked, now=now, settings=settings)
        chosen = sorted((*chosen, *scored), key=lambda one: _order(one, mode=mode))[: asked.limit]
    return chosen


def hit_forms(
    connection: sqlite3.Connection, chosen: Sequence[ScoredInsight], *, told: bool = False
) -> Iterator[dict[str, Any]]:
    """The candidates as the seed gives them; with ``told`` also the form in which they were told (``_told``)."""
    numbers = [one.number for one in chosen]
    found, forms = seed_forms(connection, numbers), legacy_forms(connection, numbers) if told else {}
    for one in chosen:
        yield {
            **found[one.number],
            **({"_told": forms[one.number]} if told else {}),
            "_relevance": round(one.relevance, SHOWN_DECIMALS),
            "_effectiveness": round(one.effectiveness, SHOWN_DECIMALS),
            "_recency": round(one.recency, SHOWN_DECIMALS),
            "_score": round(one.score, SHOWN_DECIMALS),
            "_via": one.via,
        }


def _via(meaning: float, by_words: float, least: float) -> Via:
    """What let it pass by itself, or both; what a vector found and words confirm is by both as well."""
    if by_words >= least > meaning:
        return "words"
    return "both" if by_words else "meaning"


def _may_enter(relevance: float, last: ScoredInsight, *, mode: Mode, settings: ScoringSettings) -> bool:
    """Whether a hit of that relevance could come before ``last``, did it well and lately."""
    if mode == "lexical":
        return relevance >= last.relevance
    return score(relevance=relevance, effectiveness=1.0, recency=1.0, settings=settings) >= last.score


def _order(one: ScoredInsight, *, mode: Mode) -> tuple[float, float, float, str, str]:
    """Equals stand in the order in which they were stored, which is the same in every memory that has them."""
    if mode == "lexical":
        return (-one.relevance, -one.effectiveness, -one.recency, one.created_at, one.name)
    return (-one.score, 0.0, 0.0, one.created_at, one.name)


def _scored(
    connection: sqlite3.Connection,
    hits: Sequence[tuple[float, int, Via]],
    asked: RecallQuery,
    *,
    now: datetime,
    settings: ScoringSettings,
) -> Iterator[ScoredInsight]:
    columns = (
        "SELECT number, name, effectiveness, use_count, causal_hits, last_used, created_at"
        " FROM json_each(?) wanted CROSS JOIN insight ON number = wanted.value WHERE state = 'active'"
        " AND (? = '' OR EXISTS (SELECT 1 FROM json_each(insight.tags) WHERE value = ?))"
    )
    found = connection.execute(columns, (as_list(number for _, number, _ in hits), asked.tag, asked.tag))
    read_rows = {row[0]: row for row in found}
    for relevance, number, via in hits:
        if number not in read_rows or read_rows[number][1] in asked.suppress_names:
            continue
        _, name, effectiveness, uses, causal, last_used, created_at = read_rows[number]
        counted = success_share(use_count=uses, causal_hits=causal, settings=settings)
        raw = counted if settings.counts else effectiveness
        if raw < asked.min_effectiveness:
            continue
        fair = (
            counted
            if settings.counts
            else causal_adjusted(effectiveness, use_count=uses, causal_hits=causal, settings=settings)
        )
        fresh = freshness(last_used, created_at, now=now, settings=settings)
        total = score(relevance=relevance, effectiveness=fair, recency=fresh, settings=settings)
        yield ScoredInsight(number, name, created_at, relevance, fair, fresh, total, via)


#: The seed calls an insight from here on "consistently helpful".
_PROVEN = 0.75


def is_proven(
    *, effectiveness: float, use_count: int, causal_hits: int, tags: Collection[str], settings: ScoringSettings
) -> bool:
    """Whether an insight that did so is proven."""
    fair = causal_adjusted(effectiveness, use_count=use_count, causal_hits=causal_hits, settings=settings)
    return USER_PROVIDED in tags or (use_count >= settings.uses_to_adjust and fair >= _PROVEN)


def proven_rows(connection: sqlite3.Connection, limit: int, *, settings: ScoringSettings) -> list[dict[str, Any]]:
    """The proven insights of the greatest effectiveness, at most ``limit``, as the seed shows them."""
    rows = connection.execute(
        "SELECT number, effectiveness, use_count, causal_hits, tags FROM insight"
        " WHERE state = 'active' AND (use_count >= ? OR tags LIKE ?) ORDER BY effectiveness DESC, created_at, name",
        (settings.uses_to_adjust, f'%"{USER_PROVIDED}"%'),
    )
    good = (
        number
        for number, effectiveness, uses, causal_hits, tags in rows
        if is_proven(
            effectiveness=effectiveness,
            use_count=uses,
            causal_hits=causal_hits,
            tags=json.loads(tags),
            settings=settings,
        )
    )
    chosen = list(islice(good, limit))
    found = seed_forms(connection, chosen)
    return [found[number] for number in chosen]
