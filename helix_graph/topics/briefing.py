"""`brief`: what is known of a topic, in the order of how much it matters, without saying anything twice.

Five steps: `collect` the entries, score them (`scores`), mark what repeats or follows up (`repeats`, `chains`), put
each into a category (they were classified when they were stored), and give the answer (`brief`). Without a query
`overview` says what the whole memory holds.

*Collecting.* A pattern with ``*`` or ``?`` takes the topics of such names. Any other query takes the topic of that name
and those that have it as words of theirs (``engine-v2``), or else those whose names contain it; if none does, it is a
keyword, and the entries that `search` would find are taken. Links of all these are followed one step.

*Scoring.* BM25 of the query's words + freshness + confidence + 2 x links to it. Freshness halves every seven days.

*Repeats.* Superseded entries are shown and marked. An entry repeated in another topic is not shown; the one shown names
it. Of two entries of one topic with more than 40 % of their words in common the younger one supersedes the older, whose
score is halved. Of entries of different topics with more than 70 % in common the one with the best score is shown, and
names the others. Three or more entries of one topic within the same 48 hours, counted from 1970-01-01, are a chain.
The 500 entries with the highest scores are compared, which takes a tenth of a second.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import NO_WORDS
from helix_graph.helix_db import datetime_of
from helix_graph.topics.catalogue import CategorySize, category_sizes
from helix_graph.topics.choices import BriefDetail
from helix_graph.topics.entry_log import (
    EntryRecord,
    NumberedRecord,
    by_id,
    categories_of,
    indices_in,
    no_such_topic,
    of_topic,
)
from helix_graph.topics.fields import first_line, hyphened, plain, singular
from helix_graph.topics.index import CATEGORIES
from helix_graph.topics.model import Category, TopicSize
from helix_graph.topics.ranking import MOST_WORDS, EntryFilters, asked_words, best, scores_of
from helix_graph.topics.storing import similar_pairs
from helix_graph.validation import as_choice, as_tuple

if TYPE_CHECKING:
    import sqlite3


FoundBy = Literal["topic", "glob", "words", "nothing"]


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a briefing.

    ``superseded_by`` names a younger entry of its topic that says much of it again, ``also_in`` entries of other topics
    that say the same, ``via`` the entry whose link led to it. ``text`` is filled with detail full.
    """

    id: int
    topic: str
    index: int
    category: Category
    score: float
    stored: datetime
    tags: tuple[str, ...]
    line: str
    text: str | None
    superseded_by: str | None
    also_in: tuple[str, ...]
    via: str | None


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of one topic that were stored within the same 48 hours, in order: a piece of work."""

    topic: str
    start: datetime
    end: datetime
    indices: tuple[int, ...]
    first: str
    last: str


class Briefing(msgspec.Struct, frozen=True, kw_only=True):
    """A briefing on a query.

    ``collected`` entries were found, ``current`` of them neither superseded nor said elsewhere. ``points`` are those
    shown, the highest score first; ``chains`` the newest first.
    """

    query: str
    detail: BriefDetail
    found_by: FoundBy
    collected: int
    current: int
    topics: tuple[TopicSize, ...]
    categories: tuple[CategorySize, ...]
    points: tuple[Point, ...]
    chains: tuple[Chain, ...]
    newest: datetime | None
    hint: str | None


GLOB = frozenset("*?")
#: For a keyword that occurs in very many entries, only the best matches are used.
_MOST_BY_WORDS = 500


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """The entries by id, how they were found, the words of the query, and for linked ones which entry links to them."""

    entries: dict[int, NumberedRecord]
    found_by: FoundBy
    words: tuple[str, ...]
    via: dict[int, int]


def collect(connection: sqlite3.Connection, query: str, *, since: int | None) -> Collected:
    """Finds the entries, those written since then only."""
    words = asked_words(query)[:MOST_WORDS]
    topics = _matching_topics(connection, query)
    found_by: FoundBy = "glob" if GLOB & set(query) else "topic"
    entries = {one.record.entry: one for topic in topics for one in of_topic(connection, topic)}
    if not topics and found_by == "topic":
        found = best(connection, words, EntryFilters(), every=True, limit=_MOST_BY_WORDS)
        found = found if found.total else best(connection, words, EntryFilters(), every=False, limit=_MOST_BY_WORDS)
        found_by, entries = "words", by_id(connection, [entry for entry, _ in found.scored])
    entries = {entry: one for entry, one in entries.items() if since is None or one.record.changed >= since}
    via = _linked(entries.values())
    linked = by_id(connection, via)
    linked = {entry: one for entry, one in linked.items() if since is None or one.record.changed >= since}
    everything = {**entries, **linked}
    return Collected(
        entries=everything,
        found_by=found_by if everything else "nothing",
        words=words,
        via={entry: via[entry] for entry in linked},
    )


def _matching_topics(connection: sqlite3.Connection, query: str) -> list[str]:
    names = [name for (name,) in connection.execute("SELECT name FROM topic ORDER BY name")]
    if GLOB & set(query):
        pattern = hyphened(query, keep="*?")
        return [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    wanted = hyphened(query)
    if wanted in names:
        return [name for name in names if f"-{wanted}-" in f"-{name}-"]
    return [name for name in names if wanted in name]


def _linked(entries: Collection[NumberedRecord]) -> dict[int, int]:
    """Entries that links lead to and that are not collected yet, each with the first entry that links to it."""
    there = {one.record.entry for one in entries}
    led: dict[int, int] = {}
    for one in sorted(entries, key=lambda filed: filed.record.entry):
        for target in one.record.links:
            if target not in there:
                led.setdefault(target, one.record.entry)
    return led


HALF_LIFE_DAYS = 7
PER_REFERENCE = 2.0
_DAY = 86_400


def scores(connection: sqlite3.Connection, collected: Collected, *, now: int) -> dict[int, float]:
    """The score of each entry."""
    relevance = scores_of(connection, collected.words, collected.entries)
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


SUPERSEDES = 0.40
SAME = 0.70
BUCKET_SECONDS = 48 * 3_600
SHORTEST_CHAIN = 3
_COMPARED = 500
_CHAIN_WIDTH = 60


class RepeatedEntries(msgspec.Struct, frozen=True, kw_only=True):
    """Entry by entry: which one supersedes it, and which ones of other topics it stands for."""

    superseded_by: dict[int, int]
    stands_for: dict[int, list[int]]

    @property
    def said_elsewhere(self) -> set[int]:
        """Entries for which another one stands."""
        return {entry for entries in self.stands_for.values() for entry in entries}


def repeats(records: Sequence[EntryRecord], scores: Mapping[int, float]) -> RepeatedEntries:
    """Compares the entries with each other; ``scores`` tell which of equals stands for the others."""
    ranked = sorted(records, key=lambda record: (-scores[record.entry], -record.changed, -record.entry))
    superseded: dict[int, int] = {}
    stands_for: dict[int, list[int]] = {}
    hidden: set[int] = set()
    age = {record.entry: (record.changed, record.entry) for record in records}
    compared = ranked[:_COMPARED]
    for first, second, share in similar_pairs([record.text for record in compared], above=SUPERSEDES):
        one, other = compared[first], compared[second]
        if one.topic == other.topic:
            older, younger = sorted((one.entry, other.entry), key=age.__getitem__)
            superseded[older] = max(superseded.get(older, younger), younger, key=age.__getitem__)
        elif share > SAME and not {one.entry, other.entry} & hidden:
            stands_for.setdefault(one.entry, []).append(other.entry)
            hidden.add(other.entry)
    return RepeatedEntries(superseded_by=superseded, stands_for=stands_for)


def chains(records: Iterable[EntryRecord], places: Mapping[int, tuple[str, int]]) -> list[Chain]:
    """Runs of entries of one topic, the newest first; ``places`` has each entry's topic and index."""
    buckets: dict[tuple[str, int], list[tuple[int, EntryRecord]]] = {}
    for record in records:
        bucket = buckets.setdefault((record.topic, record.stored // BUCKET_SECONDS), [])
        bucket.append((places[record.entry][1], record))
    found = [_chain(topic, run) for (topic, _), run in buckets.items() if len(run) >= SHORTEST_CHAIN]
    return sorted(found, key=lambda chain: (chain.end, chain.topic), reverse=True)


def _chain(topic: str, run: list[tuple[int, EntryRecord]]) -> Chain:
    ordered = sorted(run, key=lambda one: (one[1].stored, one[0]))
    first, last = ordered[0][1], ordered[-1][1]
    return Chain(
        topic=topic,
        start=datetime_of(first.stored),
        end=datetime_of(last.stored),
        indices=tuple(index for index, _ in ordered),
        first=first_line(first.text, width=_CHAIN_WIDTH),
        last=first_line(last.text, width=_CHAIN_WIDTH),
    )


#: Of a summary, which has about 15 lines.
_POINTS_IN_SUMMARY = 8
_CHAINS_IN_SUMMARY = 2
#: A superseded entry counts half.
_SUPERSEDED = 0.5
_POINT_WIDTH = 100
_BY_SINGULAR: dict[str, Category] = {singular(name): name for name in CATEGORIES}
LONGEST_QUERY = 1_000


class ScoredEntries(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a briefing with their scores, places and repeats."""

    collected: Collected
    records: tuple[EntryRecord, ...]
    categories: dict[int, Category]
    scores: dict[int, float]
    places: dict[int, tuple[str, int]]
    repeats: RepeatedEntries


def focused(focus: str | Iterable[str] | None) -> tuple[Category, ...]:
    """The categories that a focus names, in the plural or the singular; none means all.

    >>> focused("gotchas, gap")
    ('gotchas', 'gaps')
    """
    given = focus.split(",") if isinstance(focus, str) else as_tuple("focus", focus or ())
    names = [plain("focus", name).strip().lower() for name in given]
    found = {}
    for name in filter(None, names):
        found[_BY_SINGULAR.get(singular(name)) or as_choice("focus", name, CATEGORIES)] = True
    return tuple(found)


def query_of(query: str) -> str:
    """The query, when there is something in it.

    Raises:
        InvalidArgument: There is nothing in it. It is too long.
    """
    given = plain("query", query, longest=LONGEST_QUERY).strip()
    if not any(character.isalnum() or character in "*?" for character in given):
        raise InvalidArgument("query", NO_WORDS)
    return given


def brief(
    connection: sqlite3.Connection,
    query: str,
    *,
    detail: BriefDetail,
    since: int | None,
    focus: Sequence[Category],
    now: int,
) -> Briefing:
    """What is known of the query; with ``since`` written since then, with ``focus`` of these categories."""
    weighed = _weighed(connection, query, since=since, focus=focus, now=now)
    elsewhere = weighed.repeats.said_elsewhere
    gone = weighed.repeats.superseded_by.keys() | elsewhere
    shown = [record for record in weighed.records if record.entry not in elsewhere]
    ranked = sorted(shown, key=lambda record: (-weighed.scores[record.entry], -record.changed, -record.entry))
    points = [_point(record, weighed, whole=detail == "full") for record in ranked]
    listed = chains(weighed.records, weighed.places)
    topics = Counter(record.topic for record in weighed.records).items()
    hint = None
    if not weighed.records and (since is not None or focus):
        hint = "nothing is left within that time or focus; leave one out"
    elif not weighed.records:
        hint = no_such_topic(connection, hyphened(query, keep="*?"))
    return Briefing(
        query=query,
        detail=detail,
        found_by=weighed.collected.found_by,
        collected=len(weighed.records),
        current=sum(record.entry not in gone for record in weighed.records),
        topics=tuple(TopicSize(topic=name, entries=n) for name, n in sorted(topics, key=lambda one: (-one[1], one[0]))),
        categories=category_sizes(Counter(weighed.categories.values())),
        points=tuple(points[:_POINTS_IN_SUMMARY] if detail == "summary" else points),
        chains=tuple(listed[:_CHAINS_IN_SUMMARY] if detail == "summary" else listed),
        newest=datetime_of(max(record.stored for record in weighed.records)) if weighed.records else None,
        hint=hint,
    )


def _weighed(
    connection: sqlite3.Connection, query: str, *, since: int | None, focus: Sequence[Category], now: int
) -> ScoredEntries:
    collected = collect(connection, query, since=since)
    found = sorted((one.record for one in collected.entries.values()), key=lambda r: (r.topic, r.position))
    kinds = categories_of(connection, collected.entries)
    records = [record for record in found if not focus or kinds[record.entry] in focus]
    raw = scores(connection, collected, now=now)
    repeated = repeats(records, raw)
    halved = {entry: s * _SUPERSEDED if entry in repeated.superseded_by else s for entry, s in raw.items()}
    return ScoredEntries(
        collected=collected,
        records=tuple(records),
        categories={record.entry: kinds[record.entry] for record in records},
        scores=halved,
        places=indices_in(connection, {one.record.topic for one in collected.entries.values()}),
        repeats=repeated,
    )


def _point(record: EntryRecord, weighed: ScoredEntries, *, whole: bool) -> Point:
    entry, places = record.entry, weighed.places
    younger, led_by = weighed.repeats.superseded_by.get(entry), weighed.collected.via.get(entry)
    return Point(
        id=entry,
        topic=record.topic,
        index=places[entry][1],
        category=weighed.categories[entry],
        score=round(weighed.scores[entry], 4),
        stored=datetime_of(record.stored),
        tags=record.tags,
        line=first_line(record.text, width=_POINT_WIDTH),
        text=record.text if whole else None,
        superseded_by=None if younger is None else _written(places[younger]),
        also_in=tuple(_written(places[other]) for other in weighed.repeats.stands_for.get(entry, ())),
        via=None if led_by is None else _written(places[led_by]),
    )


def _written(place: tuple[str, int]) -> str:
    return f"{place[0]}:{place[1]}"
