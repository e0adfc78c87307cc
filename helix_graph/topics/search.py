"""`search`: entries by their words and by time; `read`: the entries of a topic, or one of them.

All words must occur, or with ``mode="or"`` any. When no entry has all of several words, those that have some are shown
instead, and the answer says so. An answer that is cut leaves out details, never the count. Spans of time are days, or a
number of hours or days until now, all in UTC.

>>> now = datetime(2026, 2, 21, 6, 11, tzinfo=UTC)
>>> period(now=now, after="yesterday", before="2026-02-20")
TimeSpan(start=1771545600, end=1771632000)
>>> period(now=now, hours=1).start == seconds_of(now) - 3600
True
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import NO_WORDS
from helix_graph.helix_db import aware, seconds_of
from helix_graph.topics.choices import MOST_DAYS, MOST_HOURS, SearchDetail, SearchMode
from helix_graph.topics.entry_log import (
    at,
    damaged_of,
    no_such_topic,
    of_topic,
    shown,
    shown_topic,
    size_of,
    sound_by_id,
)
from helix_graph.topics.fields import check_size, clipped, content_lines, plain
from helix_graph.topics.model import Damaged, Entry, TopicSize
from helix_graph.topics.ranking import MOST_WORDS, EntryFilters, RankedEntries, TimeSpan, asked_words, best, by_topic
from helix_graph.validation import as_int
from helix_graph.word_search import match_all, match_any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


#: A hundred years.
_DAY = timedelta(days=1)
_NO_DAY = "is {!r}; give a day as YYYY-MM-DD, or today, yesterday or this-week"
_WORDS = {"today": timedelta(0), "yesterday": _DAY, "this-week": timedelta(days=7)}
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


def period(
    *,
    now: datetime,
    after: str | date | None = None,
    before: str | date | None = None,
    days: int | None = None,
    hours: int | None = None,
) -> TimeSpan:
    """The span that all of these hold; ``after`` and ``before`` include their day, ``hours`` overrides ``days``.

    Raises:
        InvalidArgument: One of the first two is no day. One of the others lies outside 0 to a hundred years.
    """
    starts = [since(now=now, days=days, hours=hours)]
    if after is not None:
        starts.append(_midnight(_day("after", after, today=now.date())))
    end = None if before is None else _midnight(_day("before", before, today=now.date())) + int(_DAY.total_seconds())
    return TimeSpan(max((start for start in starts if start is not None), default=None), end)


def since(*, now: datetime, days: int | None = None, hours: int | None = None) -> int | None:
    """When so many hours, or else days, before now was; None when neither is given.

    Raises:
        InvalidArgument: They lie outside 0 to a hundred years.
    """
    if hours is not None:
        return seconds_of(now) - 3600 * as_int("hours", hours, lowest=0, highest=MOST_HOURS)
    if days is not None:
        return seconds_of(now) - 86_400 * as_int("days", days, lowest=0, highest=MOST_DAYS)
    return None


def _day(option: str, value: str | date, *, today: date) -> date:
    if isinstance(value, datetime):
        return aware(value).astimezone(UTC).date()
    if isinstance(value, date):
        return value
    word = plain(option, value).strip().lower()
    if word in _WORDS:
        return today - _WORDS[word]
    if not _ISO_DAY.match(word):
        raise InvalidArgument(option, _NO_DAY.format(value))
    try:
        return date.fromisoformat(word)
    except ValueError:  # the 31st of February
        raise InvalidArgument(option, _NO_DAY.format(value)) from None


def _midnight(day: date) -> int:
    return seconds_of(datetime(day.year, day.month, day.day, tzinfo=UTC))


#: This many are shown unless told otherwise: whole texts are long, lines are short.
LIMITS: dict[SearchDetail, int] = {"full": 10, "medium": 20, "brief": 50, "count": 0, "topics": 50, "grouped": 50}
LONGEST_QUERY = 10_000
_SNIPPET_LINES = 2
_SNIPPET_WIDTH = 100
_LINE_WIDTH = 80


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that was found. ``entry.text`` is whole with detail full, two lines with medium, else one line."""

    entry: Entry
    score: float


class TopicSearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `search` answers.

    ``words`` are those that were looked for, ``total`` how many entries match, ``fallback`` that none had all words and
    these have some. ``topics`` is filled with detail topics only: those with the most hits first, ``limit`` of them.
    ``hint`` says why nothing was found, where that is known. ``damaged`` names records that would be among the hits and
    are not what was written.
    """

    query: str
    words: tuple[str, ...]
    mode: SearchMode
    detail: SearchDetail
    fallback: bool
    total: int
    hits: tuple[Hit, ...]
    topics: tuple[TopicSize, ...]
    hint: str | None
    damaged: tuple[Damaged, ...] = ()


class SearchQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, checked."""

    query: str
    words: tuple[str, ...]
    detail: SearchDetail
    mode: SearchMode
    limit: int
    filters: EntryFilters


def search(connection: sqlite3.Connection, question: SearchQuestion) -> TopicSearchAnswer:
    """Answers the question."""
    found, fallback = _found(connection, question)
    hits, damaged = _hits(connection, question, found)
    every = question.mode == "and" and not fallback
    sizes: Sequence[tuple[str, int]] = ()
    if found.total and question.detail == "topics":
        sizes = by_topic(connection, (match_all if every else match_any)(question.words), question.filters)
    return TopicSearchAnswer(
        query=question.query,
        words=question.words,
        mode=question.mode,
        detail=question.detail,
        fallback=fallback,
        total=found.total,
        hits=hits,
        topics=tuple(TopicSize(topic=topic, entries=n) for topic, n in sizes[: question.limit]),
        hint=None if found.total else _hint(connection, question.filters),
        damaged=damaged,
    )


def checked_words(query: str) -> tuple[str, ...]:
    """The words to look for.

    Raises:
        InvalidArgument: There is nothing in the query. It has words of one letter or digit alone. It is too long, or
            has too many words.
    """
    words = asked_words(plain("query", query, longest=LONGEST_QUERY))
    if not words:
        problem = "no searchable word in the query (words of one letter or digit are not indexed)"
        raise InvalidArgument(None, problem) if any(map(str.isalnum, query)) else InvalidArgument("query", NO_WORDS)
    check_size("query", len(words), largest=MOST_WORDS, unit="different words")
    return words


def _found(connection: sqlite3.Connection, question: SearchQuestion) -> tuple[RankedEntries, bool]:
    """What is found, and whether that is only by some of the words."""
    limit = 0 if question.detail in {"count", "topics"} else question.limit
    strict = question.mode == "and"
    found = best(connection, question.words, question.filters, every=strict, limit=limit)
    if found.total or not strict or len(question.words) == 1:
        return found, False
    found = best(connection, question.words, question.filters, every=False, limit=limit)
    return found, found.total > 0


def _hits(
    connection: sqlite3.Connection, question: SearchQuestion, found: RankedEntries
) -> tuple[tuple[Hit, ...], tuple[Damaged, ...]]:
    """The best entries, and those that would be among them were they not damaged."""
    filed, spoilt = sound_by_id(connection, [entry for entry, _ in found.scored])
    sound = [one for one in found.scored if one[0] in filed]
    entries = shown(connection, [filed[entry] for entry, _ in sound])
    hits = (
        Hit(entry=_cut(entry, question.detail), score=score) for entry, (_, score) in zip(entries, sound, strict=True)
    )
    return tuple(hits), tuple(damaged_of(connection, spoilt))


def _cut(entry: Entry, detail: SearchDetail) -> Entry:
    if detail == "full":
        return entry
    lines, width = (_SNIPPET_LINES, _SNIPPET_WIDTH) if detail == "medium" else (1, _LINE_WIDTH)
    kept = list(content_lines(entry.text))[:lines]
    return msgspec.structs.replace(entry, text="\n".join(clipped(line, width=width) for line in kept))


def _hint(connection: sqlite3.Connection, filters: EntryFilters) -> str | None:
    if filters.topic is not None and not size_of(connection, filters.topic):
        return no_such_topic(connection, filters.topic)
    tagged = "SELECT 1 FROM topic_tag WHERE tag = ? LIMIT 1"
    if filters.tag is not None and not connection.execute(tagged, (filters.tag,)).fetchone():
        return f"no entry has the tag '{filters.tag}'; `helix-graph topic topics stats --detail tags` lists all"
    return None


class ReadAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `read` answers: ``entries`` are those asked for, ``total`` is how many the topic has.

    ``matching`` is the text that they were asked to hold, ``hint`` says that there is no such topic.
    """

    topic: str
    entries: tuple[Entry, ...]
    total: int
    matching: str | None
    hint: str | None


def read(
    connection: sqlite3.Connection, topic: str, *, index: int | None = None, matching: str | None = None
) -> ReadAnswer:
    """The entries of a topic: all, the one at ``index``, or those that hold a text in any case."""
    total = size_of(connection, topic)
    if not total:
        return ReadAnswer(topic=topic, entries=(), total=0, matching=matching, hint=no_such_topic(connection, topic))
    if index is None:
        entries = shown_topic(connection, of_topic(connection, topic))
    else:
        entries = shown(connection, [at(connection, topic, index)])
    kept = entries if matching is None else [one for one in entries if matching.casefold() in one.text.casefold()]
    return ReadAnswer(topic=topic, entries=tuple(kept), total=total, matching=matching, hint=None)
