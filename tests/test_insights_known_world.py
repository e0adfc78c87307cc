"""Where it is known what insights do, does ranking by uplift find it? `python benchmarks/feedback` asks at length."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks" / "feedback"))

from advice import World, tasks
from contests import Contestant, Job, Run, run_all
from estimates import pooled, rank_correlation, static, verdicts

TASKS = 1500


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    contestants = {
        "relevance": Contestant("Relevance"),
        "seed": Contestant("Seed", "by_text"),
        "uplift": Contestant("Uplift", "by_uptake_or_nothing"),
        "unheld": Contestant("WithoutHoldout", "by_uptake_or_nothing"),
        "oracle": Contestant("Oracle"),
    }
    return dict(zip(contestants, run_all(Job(tuple(contestants.values()), World(seed=1), TASKS)), strict=True))


@pytest.mark.slow
def test_uplift_is_ahead_of_the_seed_and_the_seed_ahead_of_relevance(runs: dict[str, Run]) -> None:
    assert runs["relevance"].final < runs["seed"].final < runs["uplift"].final < runs["oracle"].final
    assert runs["uplift"].regret < 0.75 * runs["seed"].regret
    assert runs["oracle"].regret == 0


@pytest.mark.slow
def test_withholding_has_its_price(runs: dict[str, Run]) -> None:
    assert 0 < runs["unheld"].final - runs["uplift"].final < 0.08


def test_harm_is_handed_over_less(runs: dict[str, Run]) -> None:
    assert runs["relevance"].harmful == pytest.approx(2 / 12, abs=0.02)
    assert runs["uplift"].harmful < 0.08


def test_the_world_is_the_same_for_every_policy() -> None:
    assert list(tasks(World(seed=4), 50)) == list(tasks(World(seed=4), 50))
    assert list(tasks(World(seed=4), 50)) != list(tasks(World(seed=5), 50))


@pytest.mark.slow
def test_handing_over_is_estimated_without_bias_and_confounded_uptake_is_noticed() -> None:
    found = static(World(seed=0, confounding=1.5), 3600)
    assert found.handed_over == pytest.approx(0, abs=0.02)
    assert found.as_treated < -0.06
    assert found.note == "uptake is confounded"
    assert found.order_of_difference > 2 * found.order_of_seed > 0
    assert found.held / found.intervals > 0.9


@pytest.mark.slow
def test_the_pooled_interval_holds_the_truth() -> None:
    logs = [pooled(World(seed=seed), 500) for seed in range(20)]
    assert sum(one.held for one in logs) >= 17  # of intervals at 95 % fewer would be seen once in 400 times
    assert fmean(one.estimate - one.truth for one in logs) == pytest.approx(0, abs=0.04)


def test_one_task_is_too_little_to_tell_what_an_insight_did() -> None:
    found = verdicts(World(seed=0), 1000)
    assert found.path[0] < 0.2
    assert found.text[0] < found.path[0]


def test_ranks_that_tie_share_their_middle() -> None:
    assert rank_correlation([1, 2, 2, 3], [1, 2, 2, 3]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
