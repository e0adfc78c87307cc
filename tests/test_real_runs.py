"""Do the benchmarks on real runs count what they say they count?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import real_localisation as localisation
import real_outcomes as outcomes

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.corpus


@pytest.fixture
def few_tasks(corpora: Path, tmp_path: Path) -> Path:
    """All tries of the first eight tasks."""
    runs = json.loads((corpora / "tau-bench" / "gpt-4o-airline-tasks-0-24.json").read_text())
    log = tmp_path / "runs.json"
    log.write_text(json.dumps([run for run in runs if run["task_id"] < 8], indent=1))
    return log


@pytest.mark.slow
def test_the_product_itself_says_that_few_runs_are_too_early(few_tasks: Path) -> None:
    trials, words, placebo = outcomes.told_by_product(few_tasks)
    assert len(trials) == 32
    assert words.startswith("0 tested, 0 found; too early: needs 10 failures and 10 successes; 27 and 5 so far")
    assert placebo.tested == 0
    assert placebo.too_early


@pytest.mark.slow
def test_tasks_are_kept_whole_when_outcomes_are_shuffled(few_tasks: Path) -> None:
    trials = outcomes.every_call(few_tasks)
    source = np.random.default_rng(1)
    shuffled = outcomes.shuffled(trials, source)
    successes = [
        {task: sum(one.success is True for one in tries) for task, tries in outcomes.by_task(some).items()}
        for some in (trials, shuffled)
    ]
    assert successes[0] == successes[1]
    assert len(successes[0]) == 8
    assert {one.episode: one.success for one in trials} != {one.episode: one.success for one in shuffled}


@pytest.mark.slow
def test_a_perfect_score_separates_and_a_level_one_does_not(few_tasks: Path) -> None:
    trials = outcomes.every_call(few_tasks)
    tasks = list(outcomes.by_task(trials).values())
    assert outcomes.auc([trials], {one.episode: float(one.success is True) for one in trials}) == 1.0
    assert outcomes.auc(tasks, {one.episode: -float(one.success is True) for one in trials}) == 0.0
    assert outcomes.auc(tasks, {one.episode: 3.0 for one in trials}) == 0.5
    assert outcomes.scores(trials).keys() == {one.episode for one in trials}


@pytest.mark.slow
def test_few_calls_count_as_better(few_tasks: Path) -> None:
    trials = outcomes.every_call(few_tasks)
    longest = max(trials, key=lambda one: sum(step.kind == "act" for step in one.steps))
    score = outcomes.fewer_calls(trials)
    assert score[longest.episode] == min(score.values()) < 0


@pytest.mark.slow
def test_runs_are_read_with_their_annotation_and_without_giving_it_away(corpora: Path) -> None:
    runs = [
        run
        for subset in localisation.SUBSETS
        for run in localisation.read_subset(corpora / "who-and-when" / subset, most=8)
    ]
    assert len(runs) == 16
    assert all(0 <= run.step < len(run.speakers) for run in runs)
    assert sum(run.speakers[run.step] == run.agent for run in runs) >= 15  # the annotators slip once or twice
    assert any(run.suspects for run in runs)
    assert all(set(run.suspects) <= run.decisions for run in runs)


def test_guesses_are_scored_by_the_step_and_by_who_speaks_there() -> None:
    run = localisation.Run("a", ("Boss", "Coder", "Boss", "Coder"), 3, "Coder", (1, 3), frozenset({1, 3}), (2,))
    other = localisation.Run("b", ("Boss", "Coder"), 1, "Coder", (), frozenset(), ())
    runs = [run, other]
    assert localisation.score(localisation.ours, runs, among=runs) == localisation.Score(0, 1, 2)
    fallen_back = localisation.score(localisation.ours_else_best_place, [other], among=runs)
    assert fallen_back == localisation.Score(0, 0, 1)  # the other run's place, 3, is beyond this one
    before = localisation.score(localisation.before_first_error, runs, among=runs)
    assert before == localisation.Score(1, 2, 2)
