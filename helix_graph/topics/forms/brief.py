"""Briefings: on a query in three details, and on everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.topics.classify import CATEGORIES
from helix_graph.topics.forms.entries import entries_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_graph.topics.briefing.model import Briefing, Chain, Overview, Point
    from helix_graph.topics.model import TopicSize


def briefing_form(answer: Briefing) -> str:
    """The briefing as its detail has it."""
    if not answer.points:
        return "\n".join(filter(None, (f"No entries found for '{answer.query}'.", answer.hint)))
    body = _summary(answer) if answer.detail == "summary" else _by_category(answer)
    return "\n".join([*_head(answer), *body])


def overview_form(answer: Overview) -> str:
    """TOPICS, CATEGORIES, HOT, GAPS and STATS; those of them that have nothing are left out."""
    if not answer.entries:
        return "no entries yet: store one under a topic"
    more = f"... +{answer.more_topics} more" if answer.more_topics else ""
    blocks = ["TOPICS: " + ", ".join(filter(None, (_sizes(answer.topics), more)))]
    if answer.categories:
        blocks.append("CATEGORIES: " + ", ".join(f"{one.category} {one.share:.0%}" for one in answer.categories))
    if answer.hot:
        blocks.append("\n".join(["HOT (last 48h):", *(f"  {t.topic}: {_new(t.entries)}" for t in answer.hot)]))
    if answer.gaps:
        blocks.append("\n".join(["GAPS:", *(f"  [{gap.topic}] {gap.line}" for gap in answer.gaps)]))
    topics = "1 topic" if answer.topic_count == 1 else f"{answer.topic_count} topics"
    blocks.append(f"STATS: {entries_in(answer.entries)}, {topics}, newest: {_age(answer)}")
    return "\n\n".join(blocks)


def _head(answer: Briefing) -> Iterator[str]:
    topics = "1 topic" if len(answer.topics) == 1 else f"{len(answer.topics)} topics"
    yield f"=== {answer.query} === {entries_in(answer.collected)}, {answer.current} current, {topics}"
    yield f"TOPICS: {_sizes(answer.topics)}"
    yield "CATEGORIES: " + ", ".join(f"{one.category} {one.entries}" for one in answer.categories)


def _summary(answer: Briefing) -> Iterator[str]:
    yield "TOP:"
    yield from (f"  {_line(point)}" for point in answer.points)
    if answer.chains:
        yield "CHAINS:"
        yield from map(_chain, answer.chains)
    left = answer.collected - len(answer.points)
    if left > 0:
        yield f"{entries_in(left)} more: detail scan or full"


def _by_category(answer: Briefing) -> Iterator[str]:
    for category in CATEGORIES:
        points = [point for point in answer.points if point.category == category]
        if points:
            yield ""
            yield f"{category.upper()} ({len(points)})"
            for point in points:
                yield from _whole(point) if answer.detail == "full" else (f"  {_line(point)}",)
    if answer.chains:
        yield ""
        yield "CHAINS:"
        yield from map(_chain, answer.chains)


def _line(point: Point) -> str:
    tags = "".join(f" #{tag}" for tag in point.tags)
    return f"[{point.topic}:{point.index}] {point.line}{tags}{_marks(point)}"


def _whole(point: Point) -> Iterator[str]:
    tags = "".join(f" #{tag}" for tag in point.tags)
    yield f"  [{point.topic}:{point.index}] {point.stored:%Y-%m-%d}{tags}{_marks(point)}"
    yield from (f"    {line}".rstrip() for line in (point.text or "").split("\n"))


def _marks(point: Point) -> str:
    marks = [f"[SUPERSEDED by {point.superseded_by}]"] if point.superseded_by else []
    marks += [f"(also in {', '.join(point.also_in)})"] if point.also_in else []
    marks += [f"(linked from {point.via})"] if point.via else []
    return "".join(f" {mark}" for mark in marks)


def _chain(chain: Chain) -> str:
    places = ",".join(map(str, chain.indices))
    return f"  [{chain.topic}:{places}] {chain.start:%Y-%m-%d}..{chain.end:%m-%d}: {chain.first} → … → {chain.last}"


def _sizes(topics: Iterable[TopicSize]) -> str:
    return ", ".join(f"{one.topic} ({one.entries})" for one in topics)


def _new(count: int) -> str:
    return "1 new entry" if count == 1 else f"{count} new entries"


def _age(answer: Overview) -> str:
    if answer.newest is None or answer.age_days is None:
        return "never"
    return {0: "today", 1: "yesterday"}.get(answer.age_days, f"{answer.newest:%Y-%m-%d}")
