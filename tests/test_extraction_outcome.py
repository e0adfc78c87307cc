"""How did the session come out, and on what does that rest?"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

FAILS = "FAILED tests/test_cart.py::test_total - AssertionError: no\n===== 1 failed, 4 passed in 0.12s ====="
PASSES = "===== 5 passed in 0.10s ====="
COMMITTED = "[main 1a2b3c4] x\n 1 file changed"


def test_the_last_run_of_the_check_that_was_worked_on_decides(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Fix it").edit("shop/cart.py").run("pytest", FAILS, code=1).edit("shop/cart.py")
    episode = episode_of(log.run("pytest", PASSES))
    assert (episode.outcome, episode.outcome_basis) == ("success", "measured")
    assert episode.outcome_evidence is not None
    assert episode.outcome_evidence.source == episode.events[-1].id
    assert "5 passed" in episode.outcome_evidence.quote


def test_a_failing_last_run_is_a_failure(script: Begin, episode_of: Extracted) -> None:
    episode = episode_of(script("s").prompt("Fix it").edit("shop/cart.py").run("pytest", FAILS, code=1))
    assert (episode.outcome, episode.outcome_basis) == ("failure", "measured")


def test_a_pass_before_the_last_change_proves_nothing(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", PASSES).edit("shop/cart.py")
    assert episode_of(log).outcome == "unknown"


def test_a_pass_before_the_documentation_is_touched_still_counts(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", PASSES).edit("README.md")
    assert episode_of(log).outcome == "success"


def test_a_check_that_only_looked_decides_nothing(script: Begin, episode_of: Extracted) -> None:
    assert episode_of(script("s").prompt("Does it pass?").run("pytest", PASSES)).outcome == "unknown"


def test_a_commit_after_a_passing_check(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Commit").run("pytest", PASSES).run("git commit -am x", COMMITTED)
    episode = episode_of(log)
    assert (episode.outcome, episode.outcome_basis) == ("success", "measured")
    assert episode.outcome_evidence is not None
    assert episode.outcome_evidence.rule == "commit after a passing check"


def test_a_check_that_fails_though_nothing_was_changed_is_no_failure_of_the_session(
    script: Begin, episode_of: Extracted
) -> None:
    episode = episode_of(script("s").prompt("Does it pass?").run("pytest", FAILS, code=1).say("It fails."))
    assert (episode.outcome, episode.outcome_basis) == ("unknown", "none")


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("Great, thanks!", "success"),
        ("ok, ship it", "success"),
        ("it still fails", "failure"),
        ("that's wrong", "failure"),
        ("great, now add a discount too and also handle the shipping costs", "unknown"),
        ("thanks, but why?", "unknown"),
        ("add more", "unknown"),
    ],
)
def test_the_users_last_word_is_a_verdict_only_when_it_is_one(
    script: Begin, episode_of: Extracted, words: str, outcome: str
) -> None:
    episode = episode_of(script("s").prompt("Explain the cart").say("It adds.").prompt(words).say("Fine."))
    assert episode.outcome == outcome
    assert episode.outcome_basis == ("none" if outcome == "unknown" else "judged")


def test_a_session_that_ends_in_a_persons_stop_is_partial(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").rejected("Bash", {"command": "pytest"})
    assert episode_of(log).outcome == "partial"


def test_a_question_has_no_outcome(script: Begin, episode_of: Extracted) -> None:
    episode = episode_of(script("s").prompt("What does the cart do?").say("It adds."))
    assert (episode.outcome, episode.outcome_basis, episode.outcome_evidence) == ("unknown", "none", None)
    assert episode.task_kind == "question"


def test_metrics_count_what_there_is_and_leave_out_pauses(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Fix it").edit("shop/cart.py").run("pytest", FAILS, code=1).edit("shop/cart.py")
    log = log.run("pytest", PASSES).run("git commit -am x", COMMITTED)
    metrics = episode_of(log).metrics
    assert (metrics.tool_calls, metrics.errors, metrics.recoveries) == (5, 1, 1)
    assert (metrics.commits, metrics.files_changed, metrics.duration_minutes) == (1, 1, 5.0)


def test_a_session_takes_no_less_than_its_failures(script: Begin, episode_of: Extracted) -> None:
    """Both leave out the same pauses; a check that was run is named where it decides how the session ended."""
    log = script("s").prompt("Fix it").edit("shop/cart.py").run("pytest", FAILS, code=1)
    log.at += timedelta(minutes=20)
    episode = episode_of(log.edit("shop/cart.py").run("pytest", PASSES))
    (error,) = (one for one in episode.events if one.type == "error")
    assert error.cost is not None
    assert error.cost.seconds is not None
    assert 0 < error.cost.seconds / 60 < (episode.metrics.duration_minutes or 0) < 20
    assert episode.outcome_evidence is not None
    assert episode.outcome_evidence.rule == "last run of pytest passes"


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("Fix the failing cart test", "fix"),
        ("Rename Cart to Basket", "refactor"),
        ("Resolve the merge conflicts", "merge"),
        ("Review my branch", "review"),
        ("Add a discount", "feature"),
        ("Add a discount, with tests", "feature"),
        ("Write a unit test for the discount", "test"),
    ],
)
def test_the_kind_of_task_comes_from_the_first_prompt(
    script: Begin, episode_of: Extracted, prompt: str, kind: str
) -> None:
    assert episode_of(script("s").prompt(prompt).edit("shop/cart.py")).task_kind == kind


def test_what_changed_only_prose_was_documentation(script: Begin, episode_of: Extracted) -> None:
    assert episode_of(script("s").prompt("Add a section on tax").edit("README.md")).task_kind == "docs"


def test_a_plan_that_is_handed_in_names_the_task(script: Begin, episode_of: Extracted) -> None:
    text = "Implement the following plan:\n\n# Plan: Count the tax once\n\n1. Edit tax.py"
    assert episode_of(script("s").prompt(text)).task == "Count the tax once"


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("sed -i s/a/b/ shop/cart.py shop/tax.py", 2),
        ("cat > shop/new.py <<'EOF'\nx = 1\nEOF", 2),
        ("cd /work/shop/shop && rm cart.py", 1),
        ("cat > /tmp/try.py <<'EOF'\nx = 1\nEOF", 1),
        ("rm shop/*.pyc", None),
        ("git checkout .", None),
    ],
)
def test_files_changed_by_a_command_count_or_the_number_is_not_known(
    script: Begin, episode_of: Extracted, command: str, count: int | None
) -> None:
    assert episode_of(script("s").prompt("Do").edit("shop/cart.py").run(command)).metrics.files_changed == count
