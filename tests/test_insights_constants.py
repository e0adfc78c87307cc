"""Does each constant of the seeds hold? Every case here fails when its number changes a little, either way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph.insights.api import Insights
from helix_graph.insights.model import Performance
from helix_graph.insights.recall import freshness
from helix_graph.insights.scoring import V1, V6, causal_adjusted
from stub_embedder import Fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Make = Callable[..., Insights]

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
QUERY = "zeta"


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def after(self, **span: float) -> None:
        self.now += timedelta(**span)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Make:
    def make(cosines: Mapping[str, float] | None = None) -> Insights:
        engine = Fixed(cosines) if cosines else None
        return Insights(tmp_path / "helix.db", embedder=lambda: engine, clock=clock)

    return make


def got(insights: Insights, name: str) -> dict[str, Any]:
    found = insights.get(name)
    assert found is not None
    return found


def text(letter: str) -> str:
    return f"{letter * 20} {letter * 3}"


@pytest.mark.parametrize(("cosine", "status"), [(0.84, "added"), (0.8499, "added"), (0.85, "merged"), (0.86, "merged")])
def test_from_a_cosine_of_085_on_two_texts_say_the_same(memory: Make, cosine: float, status: str) -> None:
    insights = memory({text("a"): 1.0, text("b"): cosine})
    insights.store(text("a"))
    assert insights.store(text("b"))["status"] == status


@pytest.mark.parametrize(("cosine", "found"), [(0.34, 0), (0.3499, 0), (0.35, 1), (0.36, 1)])
def test_the_gate_is_at_035_and_lets_exactly_that_pass(memory: Make, cosine: float, found: int) -> None:
    insights = memory({QUERY: 1.0, text("a"): cosine})
    insights.store(text("a"))
    assert len(insights.recall(QUERY)) == found


def test_the_gate_can_be_moved(memory: Make) -> None:
    insights = memory({QUERY: 1.0, text("a"): 0.2})
    insights.store(text("a"))
    assert len(insights.recall(QUERY, min_relevance=0.2)) == 1
    assert len(insights.recall(QUERY, min_relevance=0.201)) == 0


def test_the_score_is_07_relevance_02_effectiveness_01_recency(memory: Make, clock: Clock) -> None:
    insights = memory({QUERY: 1.0, text("a"): 0.6})
    insights.store(text("a"))
    clock.after(days=14)
    (hit,) = insights.recall(QUERY)
    assert hit["_score"] == round(0.7 * 0.6 + 0.2 * 0.5 + 0.1 * 0.5, 3)
    assert (hit["_relevance"], hit["_effectiveness"], hit["_recency"]) == (0.6, 0.5, 0.5)


def test_the_older_profile_is_05_03_02_with_seven_days() -> None:
    assert (V1.relevance, V1.effectiveness, V1.recency, V1.half_life_days) == (0.5, 0.3, 0.2, 7)
    assert freshness(None, "2026-11-01T00:00:00", now=datetime(2026, 11, 8, tzinfo=UTC), settings=V1) == 0.5


@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (0.99, 1.0), (7, 2**-0.5), (14, 0.5), (28, 0.25)])
def test_recency_halves_every_fourteen_whole_days(days: float, expected: float) -> None:
    now = START + timedelta(days=days)
    assert freshness(START.isoformat(), "", now=now, settings=V6) == pytest.approx(expected)


def test_recency_of_an_unreadable_date_is_neutral() -> None:
    assert freshness(None, "some day", now=START, settings=V6) == 0.5


@pytest.mark.parametrize(
    ("uses", "hits", "expected"), [(2, 0, 0.9), (3, 0, 0.27), (3, 1, 0.3), (10, 2, 0.27), (10, 4, 0.36), (5, 5, 0.9)]
)
def test_effectiveness_is_adjusted_from_three_uses_on_and_never_below_a_third(
    uses: int, hits: int, expected: float
) -> None:
    assert causal_adjusted(0.9, use_count=uses, causal_hits=hits, settings=V6) == pytest.approx(expected)


def test_the_causal_gate_is_at_040() -> None:
    assert V6.causal == 0.40


@pytest.mark.parametrize(("times", "expected"), [(1, 0.55), (3, 0.6355), (4, 0.67195), (10, 0.82566), (20, 0.93921)])
def test_deliveries_move_effectiveness_a_tenth_of_the_way_each(memory: Make, times: int, expected: float) -> None:
    insights = memory()
    name = insights.store(text("a"))["name"]
    for _ in range(times):
        insights.feedback([name], "delivered")
    assert got(insights, name)["effectiveness"] == pytest.approx(expected, abs=0.00051)


def test_erosion_leads_a_tenth_of_the_way_back_to_neutral(memory: Make) -> None:
    insights = memory()
    name = insights.store(text("a"), initial=0.75)["name"]
    for _ in range(11):
        insights.feedback([name], "blocked", [])
    found = got(insights, name)
    assert found["effectiveness"] == pytest.approx(0.5785, abs=0.00051)
    assert (found["use_count"], found["causal_hits"]) == (11, 0)


@pytest.mark.parametrize(("length", "status"), [(19, "rejected"), (20, "added"), (8000, "added"), (8001, "rejected")])
def test_a_text_has_20_to_8000_characters_once_stripped(memory: Make, length: int, status: str) -> None:
    answer = memory().store(f"  {'x' * length}\n")
    assert answer["status"] == status
    assert ("chars" in answer["reason"]) == (status == "rejected")


@pytest.mark.parametrize(("days", "expected"), [(29.99, 0.9), (30, 0.86), (59, 0.86), (60, 0.824), (90, 0.7916)])
def test_idle_time_takes_a_tenth_every_thirty_days(memory: Make, clock: Clock, days: float, expected: float) -> None:
    insights = memory()
    name = insights.store(text("a"), initial=0.9)["name"]
    clock.after(days=days)
    insights.decay()
    assert got(insights, name)["effectiveness"] == pytest.approx(expected, abs=0.00051)


def weak(insights: Insights, letter: str, *, start: float, uses: int) -> str:
    name = insights.store(text(letter), initial=start)["name"]
    for _ in range(uses):
        insights.feedback([name], "blocked")
    return name


def test_pruned_is_what_is_below_a_quarter_after_three_uses(memory: Make) -> None:
    insights = memory()
    below = weak(insights, "a", start=0.34, uses=3)  # 0.248
    weak(insights, "b", start=0.345, uses=3)  # 0.2515
    weak(insights, "c", start=0.1, uses=2)
    assert insights.prune()["candidates"] == [below]


def test_exactly_the_threshold_stays(memory: Make) -> None:
    insights = memory()
    name = weak(insights, "a", start=0.5, uses=3)
    exact = got(insights, name)["effectiveness"]
    raw = 0.5 * 0.9**3
    assert round(raw, 3) == exact
    assert insights.prune(threshold=raw)["candidates"] == []
    assert insights.prune(threshold=raw + 1e-9)["candidates"] == [name]


def test_recent_feedback_is_of_the_last_hour(memory: Make, clock: Clock) -> None:
    insights = memory()
    name = insights.store(text("a"))["name"]
    insights.feedback([name], "delivered")
    clock.after(minutes=60)
    assert insights.health()["recent_feedback"] == 1
    clock.after(seconds=1)
    assert insights.health()["recent_feedback"] == 0


def test_a_least_effectiveness_is_of_the_raw_one_and_lets_exactly_that_pass(memory: Make) -> None:
    insights = memory({QUERY: 1.0, text("a"): 0.6})
    insights.store(text("a"), initial=0.5)
    assert len(insights.recall(QUERY, min_effectiveness=0.5)) == 1
    assert len(insights.recall(QUERY, min_effectiveness=0.501)) == 0


@pytest.mark.parametrize(("cosine", "merged"), [(0.89, 0), (0.9, 1)])
def test_consolidating_merges_from_a_cosine_of_09_on(tmp_path: Path, cosine: float, merged: int) -> None:
    engine = Fixed({text("a"): 1.0, text("b"): cosine})
    lexical = Insights(tmp_path / "helix.db")
    lexical.store(text("a"))
    lexical.store(text("b"))
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    insights.reindex()
    assert insights.consolidate()["merged"] == merged


@pytest.mark.parametrize(("weight", "found"), [(0.49, 0), (0.5, 1)])
def test_links_below_a_half_are_not_followed(memory: Make, weight: float, found: int) -> None:
    insights = memory()
    one, other = (insights.store(text(letter))["name"] for letter in "ab")
    insights.relate(one, other, "causes", weight)
    assert len(insights.connected(one)) == found


def test_an_insight_begins_neutral() -> None:
    assert Performance().effectiveness == V6.neutral == 0.5


def test_words_and_meaning_together_say_more_than_either(memory: Make) -> None:
    query = "zeta alpha"
    both, one = "zeta " + text("a"), text("b")
    insights = memory({query: 1.0, both: 0.5, one: 0.55})
    for content in (one, both):
        insights.store(content)
    first, second = insights.recall(query)
    assert (first["content"], first["_via"], second["content"], second["_relevance"]) == (both, "both", one, 0.55)
    by_words = insights.recall(query, semantic=False, min_relevance=0)[0]["_relevance"]
    assert first["_relevance"] == pytest.approx(1 - (1 - 0.5) * (1 - by_words), abs=2e-3)
