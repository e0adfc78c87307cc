"""A briefing on a query: collected, scored, compressed, in categories."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from helix_graph.errors import EmptyQuery, NotOneOf
from helix_graph.given import several
from helix_graph.topics.briefing.collect import Collected, collect
from helix_graph.topics.briefing.compress import Repeats, chains, repeats
from helix_graph.topics.briefing.model import Briefing, CategorySize, Detail, Point
from helix_graph.topics.briefing.score import scores
from helix_graph.topics.classify import CATEGORIES
from helix_graph.topics.entries import categories_of, indices_in
from helix_graph.topics.log import Record
from helix_graph.topics.model import Category, TopicSize, moment
from helix_graph.topics.search import no_topic
from helix_graph.topics.singular import singular
from helix_graph.topics.texts import first_line, hyphened, plain

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence


#: Of a summary, which has about 15 lines.
_POINTS_IN_SUMMARY = 8
_CHAINS_IN_SUMMARY = 2
#: A superseded entry counts half.
_SUPERSEDED = 0.5
_WIDTH = 100
_BY_SINGULAR: dict[str, Category] = {singular(name): name for name in CATEGORIES}
LONGEST_QUERY = 1_000


class Weighed(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a briefing with their scores, places and repeats."""

    collected: Collected
    records: tuple[Record, ...]
    categories: dict[int, Category]
    scores: dict[int, float]
    places: dict[int, tuple[str, int]]
    repeats: Repeats


def focused(focus: str | Iterable[str] | None) -> tuple[Category, ...]:
    """The categories that a focus names, in the plural or the singular; none means all.

    Raises:
        NotOneOf: There is no such category.

    >>> focused("gotchas, gap")
    ('gotchas', 'gaps')
    """
    given = focus.split(",") if isinstance(focus, str) else several("focus", focus or ())
    names = [plain("focus", name).strip().lower() for name in given]
    return tuple(dict.fromkeys(_category(name) for name in names if name))


def query_of(query: str) -> str:
    """The query, when there is something in it.

    Raises:
        EmptyQuery: There is nothing in it.
        TooMuch: It is too long.
    """
    given = plain("query", query, longest=LONGEST_QUERY).strip()
    if not any(character.isalnum() or character in "*?" for character in given):
        raise EmptyQuery("query")
    return given


def brief(
    connection: sqlite3.Connection,
    query: str,
    *,
    detail: Detail,
    since: int | None,
    focus: Sequence[Category],
    now: int,
) -> Briefing:
    """What is known of the query; with ``since`` written since then, with ``focus`` of these categories."""
    weighed = _weighed(connection, query, since=since, focus=focus, now=now)
    gone = weighed.repeats.superseded_by.keys() | weighed.repeats.said_elsewhere
    points = _points(weighed, detail)
    listed = chains(weighed.records, weighed.places)
    return Briefing(
        query=query,
        detail=detail,
        found_by=weighed.collected.found_by,
        collected=len(weighed.records),
        current=sum(record.entry not in gone for record in weighed.records),
        topics=_topics(weighed.records),
        categories=sizes(Counter(weighed.categories.values())),
        points=tuple(points[:_POINTS_IN_SUMMARY] if detail == "summary" else points),
        chains=tuple(listed[:_CHAINS_IN_SUMMARY] if detail == "summary" else listed),
        newest=moment(max(record.stored for record in weighed.records)) if weighed.records else None,
        hint=None if weighed.records else _hint(connection, query, narrowed=since is not None or bool(focus)),
    )


def sizes(counts: Mapping[Category, int]) -> tuple[CategorySize, ...]:
    """Categories with their shares, the largest first."""
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda one: (-one[1], CATEGORIES.index(one[0])))
    return tuple(CategorySize(category=name, entries=n, share=n / total) for name, n in ranked)


def _weighed(
    connection: sqlite3.Connection, query: str, *, since: int | None, focus: Sequence[Category], now: int
) -> Weighed:
    collected = collect(connection, query, since=since)
    found = sorted((one.record for one in collected.entries.values()), key=lambda r: (r.topic, r.position))
    kinds = categories_of(connection, collected.entries)
    records = [record for record in found if not focus or kinds[record.entry] in focus]
    raw = scores(connection, collected, now=now)
    repeated = repeats(records, raw)
    halved = {entry: s * _SUPERSEDED if entry in repeated.superseded_by else s for entry, s in raw.items()}
    return Weighed(
        collected=collected,
        records=tuple(records),
        categories={record.entry: kinds[record.entry] for record in records},
        scores=halved,
        places=indices_in(connection, {one.record.topic for one in collected.entries.values()}),
        repeats=repeated,
    )


def _points(weighed: Weighed, detail: Detail) -> list[Point]:
    shown = [record for record in weighed.records if record.entry not in weighed.repeats.said_elsewhere]
    ranked = sorted(shown, key=lambda record: (-weighed.scores[record.entry], -record.changed, -record.entry))
    return [_point(record, weighed, whole=detail == "full") for record in ranked]


def _point(record: Record, weighed: Weighed, *, whole: bool) -> Point:
    entry, places = record.entry, weighed.places
    younger, led_by = weighed.repeats.superseded_by.get(entry), weighed.collected.via.get(entry)
    return Point(
        id=entry,
        topic=record.topic,
        index=places[entry][1],
        category=weighed.categories[entry],
        score=round(weighed.scores[entry], 4),
        stored=moment(record.stored),
        tags=record.tags,
        line=first_line(record.text, width=_WIDTH),
        text=record.text if whole else None,
        superseded_by=None if younger is None else _written(places[younger]),
        also_in=tuple(_written(places[other]) for other in weighed.repeats.stands_for.get(entry, ())),
        via=None if led_by is None else _written(places[led_by]),
    )


def _written(place: tuple[str, int]) -> str:
    return f"{place[0]}:{place[1]}"


def _topics(records: Iterable[Record]) -> tuple[TopicSize, ...]:
    counts = Counter(record.topic for record in records)
    return tuple(
        TopicSize(topic=name, entries=n) for name, n in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    )


def _category(name: str) -> Category:
    found = _BY_SINGULAR.get(singular(name))
    if found is None:
        raise NotOneOf("focus", value=name, allowed=CATEGORIES)
    return found


def _hint(connection: sqlite3.Connection, query: str, *, narrowed: bool) -> str:
    if narrowed:
        return "nothing is left within that time or focus; leave one out"
    return no_topic(connection, hyphened(query, keep="*?"))
