"""Is what is handed over noted, held back by lot when a person says so, and read off as uplift?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import HelixGraphError
from helix_graph import Memory
from helix_graph.errors import InvalidConfiguration
from helix_graph.insights import exposure
from helix_graph.insights.exposure import exposures
from showings import showings

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from helix_graph.insights.api import Insights
    from helix_graph.insights.holdout import Exposure

ADVICE = "When the cart test fails, look at the discount first"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.init(tmp_path)


def switch_on(memory: Memory, share: object = 0.1) -> Insights:
    (memory.root / "config.toml").write_text(f"[insights]\nwithhold = {share}\n")
    return memory.insights


def test_what_is_handed_over_is_noted_and_all_of_it_shown_unless_somebody_switched_withholding_on(
    memory: Memory,
) -> None:
    name = memory.insights.store(ADVICE)["name"]
    for number in range(5):
        assert memory.insights.hand_over([name], session=f"s{number}").shown == (name,)
    why = memory.insights.why(name)
    assert (len(why["injected"]), why["withheld"]) == (5, [])


@pytest.mark.slow
def test_about_the_share_that_was_set_is_held_back_and_noted_with_its_chance(memory: Memory) -> None:
    insights = switch_on(memory, 0.3)
    name = insights.store(ADVICE)["name"]
    handed = [insights.hand_over([name], session=f"s{number}") for number in range(200)]
    held = sum(one.withheld == (name,) for one in handed)
    assert 30 <= held <= 92, "60 on average, give or take 6.5"
    assert len(insights.why(name)["withheld"]) == held
    assert insights.export().count('"propensity":0.3') == held
    assert insights.export().count(f'"chances":{{"{name}":0.3}}') == 200 - held


def test_the_same_showing_has_the_same_lots_and_is_noted_once(memory: Memory) -> None:
    insights = switch_on(memory, 0.5)
    names = [insights.store(f"{ADVICE}, case {number} of many")["name"] for number in range(12)]
    first = insights.hand_over(names, session="one", about="the cart")
    noted = insights.export()
    again = insights.hand_over(names, session="one", about="the cart")
    assert (first.shown, first.withheld, first.id) == (again.shown, again.withheld, again.id)
    assert first.withheld
    assert insights.export() == noted


def test_warnings_are_never_held_back(memory: Memory) -> None:
    insights = switch_on(memory, 0.5)
    name = insights.store(ADVICE, ["safety"])["name"]
    assert all(insights.hand_over([name], session=f"s{number}").shown for number in range(20))


@pytest.mark.parametrize("share", [0.6, -0.1, '"much"'])
def test_a_share_that_is_none_is_refused(memory: Memory, share: object) -> None:
    insights = switch_on(memory, share)
    with pytest.raises(InvalidConfiguration, match="withhold"):
        insights.hand_over([insights.store(ADVICE)["name"]])


def test_uplift_is_too_early_until_both_sides_have_a_hundred(memory: Memory) -> None:
    name = memory.insights.store(ADVICE)["name"]
    memory.insights.take_in(showings(name, given=100, given_well=80, held=99, held_well=50))
    assert memory.insights.uplift().pooled.verdict == "too early"
    memory.insights.take_in(showings(name, given=100, given_well=80, held=100, held_well=50))
    report = memory.insights.uplift()
    assert (report.measured, report.pooled.verdict, report.insights[0].verdict) == (200, "helps", "helps")
    assert report.pooled.difference == pytest.approx(0.3)
    assert report.pooled.interval
    assert 0 < report.pooled.interval.low < 0.3 < report.pooled.interval.high


@pytest.mark.slow
def test_an_insight_whose_effect_is_known_is_withheld_less_and_the_log_is_not_read_for_each_task(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    insights = switch_on(memory, 0.5)
    known, new = (insights.store(f"{ADVICE}, {word} of all")["name"] for word in ("before most", "after many"))
    insights.take_in(showings(known, given=1000, given_well=900, held=1000, held_well=500))
    read: list[object] = []

    def reading(connection: sqlite3.Connection) -> list[Exposure]:
        read.append(connection)
        return exposures(connection)

    monkeypatch.setattr(exposure, "exposures", reading)
    for number in range(40):
        insights.hand_over([known, new], session=f"s{number}")
    assert len(read) == 1
    assert insights.export().count(f'"{known}":0.02') > 30
    assert f'"{new}":0.5' in insights.export()


def test_what_was_relevant_and_not_chosen_is_recorded_and_forgotten_with_its_insight(memory: Memory) -> None:
    insights = memory.insights
    for word in ("before most", "after many"):
        insights.store(f"{ADVICE}, {word} of all")
    answer = insights.recall("cart test fails discount", limit=1)
    (chosen,), (passed,) = [hit["name"] for hit in answer], answer.passed_over
    assert chosen != passed
    memory.plans.inject("cart test fails discount", limit=1, task_id="t1")
    assert f'"passed_over":["{passed}"]' in insights.export()
    insights.forget([passed])
    assert passed not in insights.export()


def test_what_was_handed_over_counts_once_its_outcome_is_told(memory: Memory) -> None:
    insights = switch_on(memory, 0.5)
    name = insights.store(ADVICE)["name"]
    handed = [insights.hand_over([name], session=f"s{number}") for number in range(20)]
    for one in handed[:12]:
        insights.feedback(one.shown, "delivered", injection=one.id)
    report = insights.uplift()
    held = sum(not one.shown for one in handed[:12])
    assert (report.measured, report.pooled.given.n, report.pooled.withheld.n) == (12, 12 - held, held)


def test_ranking_by_uplift_is_refused_until_enough_is_measured_and_then_what_harms_stays_out(memory: Memory) -> None:
    insights = memory.insights
    good, bad = (insights.store(f"{ADVICE}, {word} of all")["name"] for word in ("before most", "after many"))
    insights.take_in(showings(good, given=60, given_well=60, held=39, held_well=0))
    insights.take_in(showings(bad, given=60, given_well=0, held=40, held_well=40))
    with pytest.raises(HelixGraphError, match="199 of 200"):
        insights.recall("cart test fails discount", policy="uplift")
    insights.take_in(showings(good, given=60, given_well=60, held=40, held_well=0))
    with pytest.raises(HelixGraphError, match="more without it are needed"):
        insights.recall("cart test fails discount", policy="uplift")
    insights.take_in(showings(good, given=60, given_well=60, held=60, held_well=0))
    assert [hit["name"] for hit in insights.recall("cart test fails discount", policy="uplift")] == [good]
    assert len(insights.recall("cart test fails discount")) == 2
