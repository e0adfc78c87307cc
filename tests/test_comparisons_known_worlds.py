"""Do comparisons find what is true in worlds whose truth is known? `python benchmarks/causality` asks at length."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_graph.causality.effects import effect_report
from helix_graph.causality.fault_localization import suspects_of
from helix_graph.graph.observations import trial_of

if TYPE_CHECKING:
    from helix_graph.graph.patterns import Effect

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "causality"))

import grid
from lifelike import Fault, Lifelike
from world import World, sessions, true_effects

SEEDS = (0, 1, 2)


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged() -> list[tuple[Effect, float]]:
    """The comparisons of single actions in three worlds of 800 sessions, each with its true effect."""
    found = []
    for seed in SEEDS:
        made = sessions(World(seed=seed), 800)
        truth = {f"run {name}": effect for name, effect in true_effects(World(seed=seed), made).items()}
        report = effect_report([trial_of(one.episode) for one in made])
        found += [(one, truth[one.action]) for one in report.effects if one.kind == "action"]
    return found


def test_few_findings_are_false_and_many_true_effects_are_found(judged: list[tuple[Effect, float]]) -> None:
    """Comparing without strata gives one false finding for every true one in these worlds."""
    right = Counter((one.verdict, real * one.difference > 0) for one, real in judged)
    associated, provisional = right["associated", True], right["provisional", True]
    assert right["associated", False] <= 0.12 * (associated + right["associated", False])
    effects = sum(real != 0 for _, real in judged)
    assert associated >= 0.3 * effects
    assert associated + provisional >= 0.5 * effects


def test_intervals_hold_the_truth(judged: list[tuple[Effect, float]]) -> None:
    held = Counter(one.interval.low <= real <= one.interval.high for one, real in judged)
    assert held[True] >= 0.92 * held.total()


@pytest.mark.parametrize("fault", ["trend", "skill", "reaction", "copies"])
def test_what_stands_in_the_log_makes_few_findings_false(fault: Fault) -> None:
    """Before time, model, copies and the end of a session were seen, a third to a half of the findings were false."""
    worlds = [grid.look(Lifelike(fault=fault, success=0.6, sessions=1000, seed=seed)) for seed in SEEDS]
    found, false = sum(one.found for one in worlds), sum(one.false for one in worlds)
    assert found >= 15
    assert false <= 0.12 * found


def test_intervals_hold_the_truth_where_nearly_all_succeed() -> None:
    worlds = [grid.look(Lifelike(fault="none", success=0.95, sessions=300, seed=seed)) for seed in range(8)]
    intervals = sum(one.intervals for one in worlds)
    assert intervals >= 300
    assert sum(one.held for one in worlds) >= 0.93 * intervals


def test_intervals_hold_the_truth_where_few_sessions_failed_and_steps_follow_from_that() -> None:
    """A tenth of the rows were reactions to failing, whose ranges are those of an association."""
    worlds = [grid.look(Lifelike(fault="reaction", success=0.87, sessions=50, seed=seed)) for seed in range(1500)]
    intervals = sum(one.intervals for one in worlds)
    assert intervals >= 300
    assert sum(one.held for one in worlds) >= 0.93 * intervals
    assert sum(one.last for one in worlds) >= 30
    assert sum(one.last_real for one in worlds) == 0


def test_the_first_suspect_of_a_failure_is_mostly_one_that_made_it_fail() -> None:
    world = World(seed=0)
    made = sessions(world, 900)
    known, fresh = [trial_of(one.episode) for one in made[:700]], made[700:]
    effects = {one.action: one for one in effect_report(known).effects if one.kind == "action"}
    right: Counter[bool] = Counter()
    for one in fresh:
        guilty = {f"run {name}" for name in one.culprits(world)}
        if guilty:
            right[suspects_of(one.episode, effects=effects, others=known)[0].label in guilty] += 1
    assert right.total() >= 15
    assert right[True] >= 0.8 * right.total()
