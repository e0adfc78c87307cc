"""What `search` finds, in which order, and what it says when there is nothing."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import NotOneOf, OutOfRange
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


def found(topics: Topics, query: str, **given: Any) -> list[str]:  # noqa: ANN401  (the method's parameters)
    return [hit.entry.text for hit in topics.search(query, detail="full", **given).hits]


def test_scores_are_the_seeds_bm25(topics: Topics) -> None:
    topics.store("t", "alpha alpha beta", confidence=0.5)
    topics.store("t", "alpha gamma delta epsilon")
    topics.store("t", "zeta eta theta iota kappa")
    mean = (3 + 4 + 5) / 3
    alpha = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
    expected = {
        "alpha alpha beta": 0.5 * 2 * alpha / (2 + 1.2 * (0.25 + 0.75 * 3 / mean)),
        "alpha gamma delta epsilon": alpha / (1 + 1.2 * (0.25 + 0.75 * 4 / mean)),
    }
    hits = topics.search("alpha", detail="full").hits
    assert {hit.entry.text: hit.score for hit in hits} == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("CachedEntry holds it", "cached entry"),
        ("the cached entry", "CachedEntry"),
        ("CachedEntry holds it", "cachedentry"),
        ("a tf_map of words", "tfMap"),
        ("tfMap of words", "tf_map"),
        ("HTTPServer starts", "http server"),
        ("an http server", "HTTPServer"),
        ("iOS only", "ios"),
        ("getURL2 call", "url2"),
        ("arm64 only", "ARM64"),
        ("src/cache-line.rs:42", "cache line rs 42"),
        ("Größe der Straße", "GRÖSSE strasse"),
        ("缓存条目", "条目"),
        ("naïve test", "naïve"),
    ],
)
def test_identifiers_are_split_on_both_sides(topics: Topics, stored: str, query: str) -> None:
    topics.store("t", stored)
    answer = topics.search(query)
    assert (answer.total, answer.fallback) == (1, False)


def test_all_words_must_be_there_and_else_some_are_enough(topics: Topics) -> None:
    for text in ("red green", "red blue", "green blue"):
        topics.store("t", text)
    strict = topics.search("red green")
    assert (strict.total, strict.fallback) == (1, False)
    loose = topics.search("red yellow")
    assert (loose.total, loose.fallback) == (2, True)
    assert topics.search("yellow").total == 0
    assert topics.search("yellow violet").fallback is False


def test_or_finds_more_than_and_with_every_detail(topics: Topics) -> None:
    for text in ("red green", "red blue", "green blue", "white"):
        topics.store("t", text)
    for detail in ("full", "medium", "brief", "grouped"):
        answer = topics.search("red green", mode="or", detail=detail)
        assert (answer.total, len(answer.hits), answer.fallback) == (3, 3, False)
    assert topics.search("red green", mode="or", detail="count").total == 3
    assert topics.search("red green", mode="or", detail="topics").topics[0].entries == 3
    assert found(topics, "red green", mode="or")[0] == "red green"


def test_common_words_are_not_asked_for_unless_there_are_no_others(topics: Topics) -> None:
    topics.store("t", "cache eviction")
    topics.store("t", "to be or not to be")
    assert topics.search("what is the eviction of this cache").total == 1
    assert found(topics, "to be") == ["to be or not to be"]


def test_equals_come_newer_first_and_then_the_one_stored_later(topics: Topics, clock: Clock) -> None:
    clock.back(days=1)
    topics.store("t", "same one")
    clock.back(days=3)
    topics.store("t", "same two")
    clock.back(days=1)
    topics.store("t", "same six")
    assert found(topics, "same") == ["same six", "same one", "same two"]
    assert found(topics, "same", limit=2) == ["same six", "same one"]


def test_the_score_does_not_depend_on_the_day(topics: Topics, clock: Clock) -> None:
    topics.store("t", "same one")
    before = topics.search("same")
    clock.back(days=-300)
    assert topics.search("same") == before


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"after": "today"}, {"now"}),
        ({"after": "yesterday"}, {"now", "yesterday"}),
        ({"after": "this-week"}, {"now", "yesterday", "week"}),
        ({"after": "2026-02-20"}, {"now", "yesterday"}),
        ({"after": date(2026, 2, 20)}, {"now", "yesterday"}),
        ({"before": "2026-02-20"}, {"yesterday", "week", "old"}),
        ({"after": "2026-02-20", "before": "yesterday"}, {"yesterday"}),
        ({"days": 2}, {"now", "yesterday"}),
        ({"hours": 1}, {"now"}),
        ({"hours": 1, "days": 30}, {"now"}),
        ({"days": 0}, {"now"}),
        ({"after": "2026-03-01"}, set()),
    ],
)
def test_periods_are_days_in_utc_and_hours_to_the_second(
    topics: Topics, clock: Clock, given: dict[str, Any], expected: set[str]
) -> None:
    for name, ago in (("old", 40), ("week", 5), ("yesterday", 1), ("now", 0)):
        clock.back(days=ago)
        topics.store("t", f"entry {name}")
    clock.back()
    assert {text.split()[1] for text in found(topics, "entry", **given)} == expected


@pytest.mark.parametrize("day", ["garbage", "tomorrow", "2026-02-31", "2026-2-1", "", "2026-02-20 10:00"])
def test_a_day_that_is_none_is_an_error(topics: Topics, day: str) -> None:
    for name in ("after", "before"):
        with pytest.raises(InvalidArgument, match="YYYY-MM-DD"):
            topics.search("x1", **{name: day})  # type: ignore[arg-type]


def test_an_unknown_topic_or_tag_finds_nothing_and_says_so(topics: Topics) -> None:
    topics.store("engine", "cache eviction", tags="gotcha")
    wrong = topics.search("cache", topic="engin")
    assert (wrong.total, wrong.hits) == (0, ())
    assert 'did you mean "engine"' in (wrong.hint or "")
    untagged = topics.search("cache", tag="invariant")
    assert untagged.total == 0
    assert "no entry has the tag 'invariant'" in (untagged.hint or "")
    assert topics.search("cache", topic="Engine", tag="Gotchas").total == 1
    assert topics.search("nothing", topic="engine").hint is None


def test_many_tags_can_be_filtered_by(topics: Topics) -> None:
    topics.batch([{"topic": "t", "text": f"entry {n}", "tags": f"tag{n}"} for n in range(50)])
    assert [found(topics, "entry", tag=f"tag{n}") for n in range(50)] == [[f"entry {n}"] for n in range(50)]


def test_limit_zero_counts_and_shows_nothing(topics: Topics) -> None:
    topics.store("t", "cache")
    answer = topics.search("cache", limit=0)
    assert (answer.total, answer.hits) == (1, ())


@pytest.mark.parametrize(
    ("query", "given", "error"),
    [
        ("", {}, InvalidArgument),
        ("😀 !?", {}, InvalidArgument),
        ("x" * 10_001, {}, InvalidArgument),
        (" ".join(f"word{n}" for n in range(33)), {}, InvalidArgument),
        ("cache", {"limit": -1}, OutOfRange),
        ("cache", {"limit": 1_001}, OutOfRange),
        ("cache", {"days": -1}, OutOfRange),
        ("cache", {"detail": "verbose"}, NotOneOf),
        ("cache", {"mode": "xor"}, NotOneOf),
    ],
)
def test_what_cannot_be_asked_is_refused(
    topics: Topics, query: str, given: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        topics.search(query, **given)


def test_a_question_of_many_words_is_answered(topics: Topics) -> None:
    topics.store("t", " ".join(f"word{n}" for n in range(40)))
    assert topics.search(" ".join(f"word{n}" for n in range(32))).total == 1


def test_what_was_changed_is_found_as_it_is_now(topics: Topics) -> None:
    topics.store("t", "first wording")
    topics.edit("revise", "t", text="second wording", index=0)
    assert topics.search("first").total == 0
    assert found(topics, "second") == ["second wording"]
    topics.edit("delete", "t")
    assert topics.search("second").total == 0


@pytest.mark.parametrize("query", ["C", "7", "a b c", "C++"])
def test_a_query_of_single_letters_is_told_why_it_finds_nothing(tmp_path: Path, query: str) -> None:
    topics = topics_at(tmp_path)
    with pytest.raises(InvalidArgument, match="words of one letter or digit are not indexed"):
        topics.search(query)
    with pytest.raises(InvalidArgument):
        topics.search("+-")


def test_a_number_within_an_identifier_hides_no_word(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    topics.store("t", "call parseJSON2Xml first")
    topics.store("t", "SHA256 of the file")
    for query in ("json", "json2", "xml", "parse", "parseJSON2Xml", "sha256"):
        assert topics.search(query).total == 1, query
    assert topics.search("sha").total == 0
    topics.edit("delete", "t", index=0)
    assert topics.search("json").total == 0


def test_an_entry_indexed_by_a_version_that_knew_fewer_words_is_taken_out_as_it_was_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = topics_at(tmp_path)
    topics.store("new", "json and more of it")
    before = topics.search("json").hits
    with monkeypatch.context() as older:
        older.setattr("helix_graph.topics.index.indexed", str.casefold)
        topics.store("old", "parseJSON2Xml")
    topics.edit("delete", "old", index=0)
    assert topics.search("json").hits == before
