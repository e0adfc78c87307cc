"""The words by which entries are found, and which entries match some of them best: BM25 over our own postings.

A text is cut at everything that is no letter or digit, so ``tf_map`` is *tf* and *map*; identifiers in mixed case are
cut where a word begins, so ``CachedEntry`` is *cached* and *entry* and ``HTTPServer`` *http* and *server*;
``parseJSON2Xml`` has *json* as well as *json2*. What is stored has the identifier as a whole, too: ``cachedentry``
finds it. A query has the parts alone, so that ``CachedEntry`` also finds the text "the cached entry". Chinese and
Japanese are written without blanks: each of their characters is a word.

>>> words("CachedEntry holds tf_map for the HTTPServer on arm64")
['cached', 'entry', 'cachedentry', 'holds', 'tf', 'map', 'for', 'the', 'http', 'server', 'httpserver', 'on', 'arm64']
>>> query_words("where is the CachedEntry of HTTPServer")
('cached', 'entry', 'http', 'server')

As in the seed the score of a word is ``times * idf / (times + K1 * (1 - B + B * length / mean length))``, with Lucene's
``idf = ln((N - n + 0.5) / (n + 0.5) + 1)`` over all N entries, n of which have the word; K1 = 1.2, B = 0.75 (Robertson
and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009). The sum is multiplied by the confidence.
FTS5 has a BM25 of its own, with another idf than the document's. Ours reads the postings of the rarest word and looks
the others up; nothing but numbers is read.

Hooks ask here as well, without loading the rest of the package, because an agent waits for the answer: an entry is
shown only when its record has the right checksum. What is damaged is left out; `search` names it.
"""

from __future__ import annotations

import json
import math
import unicodedata
from functools import lru_cache

from helix_episodes.fast_loading import Regex, Value
from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import HelixDatabase, database_path
from helix_graph.topics.schema import TOPIC_TABLES, is_sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence
    from pathlib import Path


_RUN = Regex(r"[^\W_]+")
#: The parts of an identifier: capitals with their number, capitals before a word, a word with its capital.
_PART = Regex(r"[A-Z]+[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+")
_IDEOGRAPH = Regex("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
#: A single letter finds nothing that one looks for.
_SHORTEST = 2
#: Longer runs are encoded data; their beginning tells them apart.
_LONGEST = 64
_COMMON = """
    that this with from have been were will when which their there about would could should into also each does just
    more than then them some only other very after before most same both
    the of is an to in on at by as be or and for it its are was has had where what how why who do did can not
"""
#: The seed's list, and the short words that "all words must be there" would otherwise ask for.
STOP_WORDS = frozenset(_COMMON.split())


def words(text: str) -> list[str]:
    """Every word of a text as it is stored, in order and with repetitions; identifiers whole beside their parts."""
    return [word for run in _runs(text) for word in _stored_forms(run)]


def query_words(query: str) -> tuple[str, ...]:
    """The words that a question asks for, each once: without those that stand in every text, unless nothing else is."""
    found = tuple(dict.fromkeys(word for run in _runs(query) for word in _asked_forms(run)))
    telling = tuple(word for word in found if word not in STOP_WORDS)
    return telling or found


def significant_words(text: str) -> frozenset[str]:
    """The distinct words by which texts are compared: parts of identifiers, without those of every text."""
    return frozenset(word for run in _runs(text) for word in _asked_forms(run)) - STOP_WORDS


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index of two sets of words: shared ones among all, 0 to 1.

    >>> overlap(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _runs(text: str) -> list[str]:
    return _RUN.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65_536)
def _stored_forms(run: str) -> tuple[str, ...]:
    """The parts of a run, and the whole where that is another word."""
    parts = _parts(run)
    kept = tuple(word for part in parts for word in _with_letters(part, whole=len(parts) == 1) if _is_word(word))
    whole = run.casefold()[:_LONGEST]
    return kept if len(parts) == 1 or not _is_word(whole) or _IDEOGRAPH.search(run) else (*kept, whole)


def _with_letters(part: str, *, whole: bool) -> tuple[str, ...]:
    """A part, and before it its letters where a number ends it within an identifier: in ``toJSON2Xml`` is *json*."""
    letters = part.rstrip("0123456789")
    return (part,) if whole or letters == part else (letters, part)


@lru_cache(maxsize=65_536)
def _asked_forms(run: str) -> tuple[str, ...]:
    """The parts of a run; the whole where a part is too short to be asked for (iOS)."""
    parts = _parts(run)
    if all(map(_is_word, parts)) or _IDEOGRAPH.search(run):
        return tuple(filter(_is_word, parts))
    return tuple(filter(_is_word, (run.casefold()[:_LONGEST],)))


def _parts(run: str) -> tuple[str, ...]:
    if _IDEOGRAPH.search(run):
        spaced = _IDEOGRAPH.sub(lambda found: f" {found[0]} ", run)
        return tuple(part for piece in spaced.split() for part in _cut(piece))
    return _cut(run)


def _cut(run: str) -> tuple[str, ...]:
    return tuple(part.casefold()[:_LONGEST] for part in _PART.findall(run))


def _is_word(part: str) -> bool:
    return len(part) >= _SHORTEST or bool(_IDEOGRAPH.match(part))


K1 = 1.2
B = 0.75
#: SQLite joins at most 64 tables, and nobody means that many words at once.
MOST_WORDS = 32
_Bound = str | int | float


class QueryWord(Value):
    """A word that some entries have: its number, and how much it tells."""

    number: int
    entries: int
    idf: float


class SqlQuery(Value):
    """SQL with its values, in the order in which they stand in it."""

    sql: str
    values: tuple[_Bound, ...]


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

    total: int
    scored: list[tuple[int, float]]


def known_words(connection: sqlite3.Connection, spellings: Collection[str]) -> list[QueryWord]:
    """Those words that entries have, the rarest first."""
    total = connection.execute("SELECT entries FROM topic_totals").fetchone()[0]
    rows = connection.execute(
        f"SELECT word, entries FROM topic_word WHERE entries > 0 AND spelling {ANY_OF} ORDER BY entries, word",  # noqa: S608  (our own names and constants)
        (as_list(spellings),),
    )
    return [QueryWord(number=word, entries=n, idf=idf(total, n)) for word, n in rows]


def idf(total: int, having: int) -> float:
    """How much a word tells that so many of all entries have.

    >>> round(idf(100, 1), 2), round(idf(100, 99), 2)
    (4.21, 0.01)
    """
    return math.log((total - having + 0.5) / (having + 0.5) + 1)


def mean_length(connection: sqlite3.Connection) -> float:
    """Words per entry."""
    entries, length = connection.execute("SELECT entries, words FROM topic_totals").fetchone()
    return max(length / entries, 1.0) if entries else 1.0


def having_all(words: Sequence[QueryWord], *, mean: float) -> SqlQuery:
    """Entries that have every one of the words, with their scores."""
    others = range(1, len(words))
    joins = " ".join(f"CROSS JOIN topic_posting p{i} ON p{i}.word = ? AND p{i}.entry = p0.entry" for i in others)
    scores = " + ".join(_score(f"p{i}") for i in range(len(words)))
    return SqlQuery(
        sql=f"SELECT p0.entry AS entry, p0.stored AS stored, ({scores}) * p0.confidence AS score"  # noqa: S608  (our own names and constants)
        f" FROM topic_posting p0 {joins} WHERE p0.word = ?",
        values=(*_weights(words, mean), *(word.number for word in words[1:]), words[0].number),
    )


def having_any(words: Sequence[QueryWord], *, mean: float) -> SqlQuery:
    """Entries that have some of the words, with their scores."""
    one = f"SELECT entry, stored, {_score('p')} * p.confidence AS score FROM topic_posting p WHERE p.word = ?"  # noqa: S608  (our own names and constants)
    union = " UNION ALL ".join(one for _ in words)
    return SqlQuery(
        sql=f"SELECT entry, stored, SUM(score) AS score FROM ({union}) GROUP BY entry",  # noqa: S608  (our own names and constants)
        values=tuple(value for word in words for value in (*_weights([word], mean), word.number)),
    )


def best(connection: sqlite3.Connection, matching: SqlQuery, filters: EntryFilters, *, limit: int) -> RankedEntries:
    """How many match, and the best of them; of equals the newer one first, then the one stored later."""
    if not limit:
        sql, values = _filtered("COUNT(*)", matching, filters)
        return RankedEntries(total=int(connection.execute(sql, values).fetchone()[0]), scored=[])
    sql, values = _filtered("m.entry AS entry, m.score AS score, m.stored AS stored", matching, filters)
    # Written down once, then counted and ordered: to find them twice takes longer.
    rows = connection.execute(
        f"WITH found AS MATERIALIZED ({sql}) SELECT entry, score, (SELECT COUNT(*) FROM found) FROM found"  # noqa: S608  (our own names and constants)
        " ORDER BY score DESC, stored DESC, entry DESC LIMIT ?",
        (*values, limit),
    ).fetchall()
    return RankedEntries(total=rows[0][2] if rows else 0, scored=[(entry, score) for entry, score, _ in rows])


def by_topic(connection: sqlite3.Connection, matching: SqlQuery, filters: EntryFilters) -> list[tuple[str, int]]:
    """How many entries of each topic match, the most first."""
    sql, values = _filtered("e.topic, COUNT(*)", matching, filters, joined=True)
    return connection.execute(f"{sql} GROUP BY e.topic ORDER BY 2 DESC, 1", values).fetchall()


def scores_of(connection: sqlite3.Connection, words: Sequence[QueryWord], entries: Collection[int]) -> dict[int, float]:
    """The scores of these entries for some of the words, confidence left out; those without any are not in it."""
    scores: dict[int, float] = {}
    mean = mean_length(connection)
    for word in words:
        rows = connection.execute(
            f"SELECT entry, {_score('p')} FROM topic_posting p WHERE word = ? AND entry {ANY_OF}",  # noqa: S608  (our own names and constants)
            (*_weights([word], mean), word.number, as_list(entries)),
        )
        for entry, score in rows:
            scores[entry] = scores.get(entry, 0.0) + score
    return scores


def _score(posting: str) -> str:
    """The share of one word; its two values are those of `_weights`."""
    return f"{posting}.times * ? / ({posting}.times + {K1 * (1 - B)!r} + ? * {posting}.length)"


def _weights(words: Sequence[QueryWord], mean: float) -> tuple[float, ...]:
    return tuple(value for word in words for value in (word.idf, K1 * B / mean))


def _filtered(
    columns: str, matching: SqlQuery, filters: EntryFilters, *, joined: bool = False
) -> tuple[str, tuple[_Bound, ...]]:
    joins, conditions = "", []
    values: list[_Bound] = [*matching.values]
    if joined or filters.topic is not None:
        joins += " CROSS JOIN topic_entry e ON e.entry = m.entry"
    if filters.tag is not None:
        joins += " CROSS JOIN topic_tag t ON t.tag = ? AND t.entry = m.entry"
        values.append(filters.tag)
    wanted = (
        ("e.topic = ?", filters.topic),
        ("m.stored >= ?", filters.period.start),
        ("m.stored < ?", filters.period.end),
    )
    for condition, value in wanted:
        if value is not None:
            conditions.append(condition)
            values.append(value)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {columns} FROM ({matching.sql}) m{joins}{where}", tuple(values)  # noqa: S608  (our own names and constants)


class FoundText(Value):
    """An entry: its topic, and its text as it was stored."""

    topic: str
    text: str


def matching_entries(root: Path, query: str, *, limit: int) -> list[FoundText]:
    """The entries with words of the query that fit it best; of more words than can be looked for the rarest count."""
    with HelixDatabase(database_path(root), TOPIC_TABLES).reading() as connection:
        if not connection.execute("SELECT entries FROM topic_totals WHERE entries > 0").fetchone():
            return []
        words = known_words(connection, query_words(query))[:MOST_WORDS]
        if not words:
            return []
        matching = having_any(words, mean=mean_length(connection))
        scored = best(connection, matching, EntryFilters(), limit=limit).scored
        found = _texts_of(connection, [entry for entry, _ in scored])
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
                found[entry] = FoundText(topic, record["text"])
    return found
