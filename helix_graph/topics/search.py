"""`search`: entries by their words.

All words must be there, or with ``mode="or"`` any. When no entry has all of several words, those that have some are
shown instead, and the answer says so. What is left out of an answer is the detail, never the count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from helix_graph.errors import EmptyQuery
from helix_graph.given import one_of, whole
from helix_graph.topics import ranking
from helix_graph.topics.damage import damaged_of
from helix_graph.topics.entries import alike, shown, size_of, sound_by_id
from helix_graph.topics.errors import NothingToSearchFor, TooMuch
from helix_graph.topics.model import Damaged, Entry, TopicSize
from helix_graph.topics.periods import period
from helix_graph.topics.ranking import Filters, Found
from helix_graph.topics.texts import clipped, content_lines, plain, tag_name, topic_name
from helix_graph.topics.tokens import asked

if TYPE_CHECKING:
    import sqlite3
    from datetime import date, datetime

    from helix_graph.topics.ranking import Query

Detail = Literal["full", "medium", "brief", "count", "topics", "grouped"]
Mode = Literal["and", "or"]
#: So many are shown unless told otherwise: whole texts are long, lines are short.
LIMITS: dict[Detail, int] = {"full": 10, "medium": 20, "brief": 50, "count": 0, "topics": 50, "grouped": 50}
LARGEST_LIMIT = 1_000
#: Above any index that there can be; for a sentence instead of an overflow in the database.
LARGEST_INDEX = 2**31
LONGEST_QUERY = 10_000
_SNIPPET_LINES = 2
_SNIPPET_WIDTH = 100
_LINE_WIDTH = 80


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that was found. ``entry.text`` is whole with detail full, two lines with medium, else one line."""

    entry: Entry
    score: float


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `search` answers.

    ``words`` are those that were looked for, ``total`` how many entries match, ``fallback`` that none had all words and
    these have some. ``topics`` is filled with detail topics only: those with the most hits first, ``limit`` of them.
    ``hint`` says why nothing was found, where that is known. ``damaged`` names records that would be among the hits and
    are not what was written.
    """

    query: str
    words: tuple[str, ...]
    mode: Mode
    detail: Detail
    fallback: bool
    total: int
    hits: tuple[Hit, ...]
    topics: tuple[TopicSize, ...]
    hint: str | None
    damaged: tuple[Damaged, ...] = ()


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, checked."""

    query: str
    words: tuple[str, ...]
    detail: Detail
    mode: Mode
    limit: int
    filters: Filters


def question(  # noqa: PLR0913  (the tool's parameters)
    query: str,
    *,
    now: datetime,
    detail: str,
    limit: int | None,
    after: str | date | None,
    before: str | date | None,
    days: int | None,
    hours: int | None,
    tag: str | None,
    topic: str | None,
    mode: str,
) -> Question:
    """Checks what is asked.

    Raises:
        EmptyQuery: There is nothing in it.
        NothingToSearchFor: It has words of one letter or digit alone.
        TooMuch: It is too long, or has too many words.
        NotOneOf: Detail or mode is a word that there is not.
        InvalidDay: A date is none.
        OutOfRange: A number lies outside its range.
        InvalidTopic: The topic is no name.
        WrongType: One of them is none of its kind.
    """
    kind = one_of("detail", detail, get_args(Detail))
    most = LIMITS[kind] if limit is None else whole("limit", limit, lowest=0, highest=LARGEST_LIMIT)
    return Question(
        query=query,
        words=_words(query),
        detail=kind,
        mode=one_of("mode", mode, get_args(Mode)),
        limit=most,
        filters=ranking.Filters(
            period=period(now=now, after=after, before=before, days=days, hours=hours),
            tag=None if tag is None else tag_name("tag", tag),
            topic=None if topic is None else topic_name("topic", topic),
        ),
    )


def search(connection: sqlite3.Connection, asked_for: Question) -> SearchAnswer:
    """Answers the question."""
    matching, found, fallback = _matching(connection, asked_for)
    hits, damaged = _hits(connection, asked_for, found)
    return SearchAnswer(
        query=asked_for.query,
        words=asked_for.words,
        mode=asked_for.mode,
        detail=asked_for.detail,
        fallback=fallback,
        total=found.total,
        hits=hits,
        topics=_topics(connection, asked_for, matching) if matching and found.total else (),
        hint=None if found.total else _hint(connection, asked_for.filters),
        damaged=damaged,
    )


def _words(query: str) -> tuple[str, ...]:
    words = asked(plain("query", query, longest=LONGEST_QUERY))
    if not words:
        raise NothingToSearchFor("query") if any(map(str.isalnum, query)) else EmptyQuery("query")
    if len(words) > ranking.MOST_WORDS:
        raise TooMuch("query", size=len(words), largest=ranking.MOST_WORDS, unit="different words")
    return words


def _matching(connection: sqlite3.Connection, asked_for: Question) -> tuple[Query | None, Found, bool]:
    """How the entries are found, what is found, and whether that is only by some of the words."""
    words = ranking.known_words(connection, asked_for.words)
    mean = ranking.mean_length(connection)
    several = len(asked_for.words) > 1
    limit = 0 if asked_for.detail in {"count", "topics"} else asked_for.limit
    if asked_for.mode == "and" and len(words) == len(asked_for.words):
        strict = ranking.having_all(words, mean=mean)
        found = ranking.best(connection, strict, asked_for.filters, limit=limit)
        if found.total or not several:
            return strict, found, False
    if not words or not (several or asked_for.mode == "or"):
        return None, Found(total=0, scored=[]), False
    loose = ranking.having_any(words, mean=mean)
    found = ranking.best(connection, loose, asked_for.filters, limit=limit)
    return loose, found, asked_for.mode == "and" and found.total > 0


def _hits(
    connection: sqlite3.Connection, asked_for: Question, found: Found
) -> tuple[tuple[Hit, ...], tuple[Damaged, ...]]:
    """The best entries, and those that would be among them were they not damaged."""
    filed, spoilt = sound_by_id(connection, [entry for entry, _ in found.scored])
    sound = [one for one in found.scored if one[0] in filed]
    entries = shown(connection, [filed[entry] for entry, _ in sound])
    hits = (
        Hit(entry=_cut(entry, asked_for.detail), score=round(score, 6))
        for entry, (_, score) in zip(entries, sound, strict=True)
    )
    return tuple(hits), tuple(damaged_of(connection, spoilt))


def _topics(connection: sqlite3.Connection, asked_for: Question, matching: Query) -> tuple[TopicSize, ...]:
    if asked_for.detail != "topics":
        return ()
    found = ranking.by_topic(connection, matching, asked_for.filters)
    return tuple(TopicSize(topic=topic, entries=n) for topic, n in found[: asked_for.limit])


def _cut(entry: Entry, detail: Detail) -> Entry:
    if detail == "full":
        return entry
    lines, width = (_SNIPPET_LINES, _SNIPPET_WIDTH) if detail == "medium" else (1, _LINE_WIDTH)
    kept = list(content_lines(entry.text))[:lines]
    return msgspec.structs.replace(entry, text="\n".join(clipped(line, width=width) for line in kept))


def _hint(connection: sqlite3.Connection, filters: Filters) -> str | None:
    if filters.topic is not None and not size_of(connection, filters.topic):
        return no_topic(connection, filters.topic)
    if filters.tag is not None and not _has_tag(connection, filters.tag):
        return f"no entry has the tag '{filters.tag}'; `topic topics stats --detail tags` lists those there are"
    return None


def no_topic(connection: sqlite3.Connection, topic: str) -> str:
    """That there is no such topic, and which may have been meant."""
    meant = alike(connection, topic)
    end = f"; did you mean {' or '.join(meant)}?" if meant else "; `topic topics` lists those there are"
    return f"topic '{topic}' not found{end}"


def _has_tag(connection: sqlite3.Connection, tag: str) -> bool:
    return connection.execute("SELECT 1 FROM topic_tag WHERE tag = ? LIMIT 1", (tag,)).fetchone() is not None
