"""Briefings: what is collected, in which order, what is marked, and the overview of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import NotOneOf
from helix_graph.topics.briefing import Briefing
from helix_graph.topics.catalogue import Overview
from helix_graph.topics.index import category
from topic_clock import Clock, topics_at

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.topics.api import Topics


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def topics(tmp_path: Path, clock: Clock) -> Topics:
    return topics_at(tmp_path, clock)


def briefing(topics: Topics, query: str, **given: str | int) -> Briefing:
    answer = topics.brief(query, **{"detail": "scan", **given})  # type: ignore[arg-type]
    assert isinstance(answer, Briefing)
    return answer


def overview(topics: Topics, **given: bool | str | int) -> Overview:
    answer = topics.brief(**given)  # type: ignore[arg-type]
    assert isinstance(answer, Overview)
    return answer


def lines(answer: Briefing) -> list[str]:
    return [point.line for point in answer.points]


def test_topics_are_found_by_name_part_pattern_and_else_words(topics: Topics) -> None:
    for topic, text in (("iris-api", "one"), ("iris-db", "two"), ("cache", "three"), ("net", "uses the scheduler")):
        topics.store(topic, text)
    assert set(lines(briefing(topics, "iris-*"))) == {"one", "two"}
    assert set(lines(briefing(topics, "iri"))) == {"one", "two"}
    assert lines(briefing(topics, "Cache")) == ["three"]
    by_words = briefing(topics, "scheduler")
    assert (by_words.found_by, lines(by_words)) == ("words", ["uses the scheduler"])
    nothing = briefing(topics, "absent")
    assert (nothing.found_by, nothing.points) == ("nothing", ())
    assert nothing.hint


def test_links_are_followed_one_level_and_lift_what_they_lead_to(topics: Topics) -> None:
    topics.store("far", "two steps away")
    topics.store("cache", "the base of it", links="far:0")
    topics.store("cache", "beside it")
    topics.store("engine", "rests on the base", links="cache:0")
    topics.store("engine", "rests on it too", links="cache:0")
    answer = briefing(topics, "engine")
    assert lines(answer)[0] == "the base of it"
    assert set(lines(answer)) == {"the base of it", "rests on the base", "rests on it too"}
    assert answer.points[0].via == "engine:0"
    assert answer.points[0].score - answer.points[1].score == pytest.approx(4.0)


def test_fresh_and_certain_entries_come_first(topics: Topics, clock: Clock) -> None:
    clock.back(days=7)
    topics.store("t", "a week old")
    clock.back()
    topics.store("t", "quite new", confidence=0.2)
    topics.store("t", "sure thing")
    answer = briefing(topics, "t")
    assert lines(answer) == ["sure thing", "a week old", "quite new"]
    assert [point.score for point in answer.points] == pytest.approx([2.0, 1.5, 1.2])


def test_what_was_said_anew_is_marked_and_ranks_lower(topics: Topics, clock: Clock) -> None:
    clock.back(hours=1)
    topics.store("t", "retry budget is five attempts then stop")
    clock.back()
    topics.store("t", "retry budget is seven attempts then wait")
    topics.store("t", "retry something else entirely different here")
    answer = briefing(topics, "t")
    marks = {point.line: point.superseded_by for point in answer.points}
    assert marks["retry budget is five attempts then stop"] == "t:1"
    assert [mark for mark in marks.values() if mark] == ["t:1"]
    assert answer.points[-1].superseded_by
    assert (answer.collected, answer.current) == (3, 2)


def test_the_same_in_two_topics_is_told_once_and_names_both(topics: Topics) -> None:
    topics.store("iris-a", "tokens expire after one hour of idling", confidence=0.5)
    topics.store("iris-b", "tokens expire after one hour of idling")
    answer = briefing(topics, "iris-*")
    assert [(point.topic, point.also_in) for point in answer.points] == [("iris-b", ("iris-a:0",))]
    assert answer.collected == 2


def test_three_entries_within_48_hours_are_a_chain_and_all_are_shown(topics: Topics, clock: Clock) -> None:
    for ago, text in ((200, "long before"), (20, "alpha step"), (10, "beta step"), (1, "gamma step")):
        clock.back(hours=ago)
        topics.store("t", text)
    clock.back()
    answer = briefing(topics, "t")
    assert [(chain.indices, chain.first, chain.last) for chain in answer.chains] == [
        ((1, 2, 3), "alpha step", "gamma step")
    ]
    assert len(answer.points) == 4
    topics.edit("delete", "t", index=3)
    assert briefing(topics, "t").chains == ()


@pytest.mark.parametrize(
    ("tags", "text", "expected"),
    [
        (("gotcha",), "we always decide", "gotchas"),
        (("decision",), "missing: nothing", "decisions"),
        ((), "first\nsecond line\nbeware of the third", "gotchas"),
        ((), "The Singapore office is closed", "other"),
        ((), "a\nb\nc\nd\nwe decided so", "decisions"),
        (("misc",), "a\nb\nc\nd\nwe decided so", "other"),
        ((), "it takes 35 ms", "performance"),
        ((), "reader -> queue -> writer", "data-flow"),
        ((), "nothing to see", "other"),
        (("coupling",), "x", "patterns"),
    ],
)
def test_entries_are_classified_by_tags_then_words_then_shapes(tags: tuple[str, ...], text: str, expected: str) -> None:
    assert category(tags, text) == expected


def test_focus_and_since_narrow_every_detail(topics: Topics, clock: Clock) -> None:
    clock.back(hours=30)
    topics.store("t", "Gotcha: an old trap")
    clock.back()
    topics.store("t", "Gotcha: a new snare")
    topics.store("t", "Missing: a retry")
    for detail in ("summary", "scan", "full"):
        assert lines(briefing(topics, "t", focus="gotcha", detail=detail)) == [
            "Gotcha: a new snare",
            "Gotcha: an old trap",
        ]
        assert len(briefing(topics, "t", since=24, detail=detail).points) == 2
        assert lines(briefing(topics, "t", since=24, focus="gotchas,other", detail=detail)) == ["Gotcha: a new snare"]
    assert briefing(topics, "t", detail="full").points[0].text
    assert briefing(topics, "t", focus="decisions").hint == "nothing is left within that time or focus; leave one out"


def test_a_summary_is_short_and_scan_and_full_have_everything(topics: Topics) -> None:
    topics.batch([{"topic": "t", "text": f"entry number{n} on subject{n}"} for n in range(30)])
    assert len(briefing(topics, "t", detail="summary").points) == 8
    assert len(briefing(topics, "t", detail="scan").points) == 30
    assert len(briefing(topics, "t", detail="full").points) == 30


def test_the_overview_has_categories_hot_topics_gaps_and_numbers(topics: Topics, clock: Clock) -> None:
    clock.back(days=9)
    topics.batch([{"topic": "engine", "text": f"Overview: part number{n}"} for n in range(3)])
    clock.back(hours=2)
    topics.store("network", "Todo: implement retry backoff")
    clock.back()
    answer = overview(topics)
    assert [(one.topic, one.entries) for one in answer.topics] == [("engine", 3), ("network", 1)]
    assert [(one.category, one.share) for one in answer.categories] == [("architecture", 0.75), ("gaps", 0.25)]
    assert [(one.topic, one.entries) for one in answer.hot] == [("network", 1)]
    assert [(gap.topic, gap.line) for gap in answer.gaps] == [("network", "Todo: implement retry backoff")]
    assert (answer.entries, answer.topic_count, answer.age_days) == (4, 2, 0)
    assert overview(topics, since=24).entries == 1
    assert overview(topics, focus="architecture").entries == 3


def test_a_compact_overview_has_five_topics_and_no_more(topics: Topics) -> None:
    topics.batch([{"topic": f"topic-{n}", "text": "text"} for n in range(9)])
    answer = overview(topics, compact=True)
    assert (len(answer.topics), answer.more_topics, answer.categories, answer.hot) == (5, 4, (), ())


def test_what_cannot_be_briefed_on_is_refused(topics: Topics) -> None:
    for given, error in (
        ({"query": "  "}, InvalidArgument),
        ({"query": "t", "detail": "long"}, NotOneOf),
        ({"query": "t", "focus": "colours"}, NotOneOf),
        ({"query": "t", "compact": True}, InvalidArgument),
    ):
        with pytest.raises(error):
            topics.brief(**given)


def test_an_empty_memory_has_an_empty_overview(topics: Topics) -> None:
    answer = overview(topics)
    assert (answer.entries, answer.newest, answer.categories) == (0, None, ())
