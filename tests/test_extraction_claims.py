"""Whose failure is it: may the agent call it somebody else's, and what does the user say of the work?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.extraction.user_reports import verdict_in
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

FAILS = "FAILED tests/test_cart.py::test_total - AssertionError: no\n===== 1 failed, 4 passed in 0.12s ====="
PASSES = "===== 5 passed in 0.10s ====="
CLAIM = "The remaining test failure is pre-existing and not related to my changes."


def failing(script: Begin) -> Script:
    return script("s").prompt("Round the prices").edit("shop/cart.py").run("pytest", FAILS, code=1)


def test_a_failure_called_pre_existing_does_not_count_when_nothing_denies_it(
    script: Begin, episode_of: Extracted
) -> None:
    assert episode_of(failing(script)).outcome == "failure"
    assert episode_of(failing(script).say(CLAIM)).outcome == "unknown"


def test_the_other_checks_decide_then(script: Begin, episode_of: Extracted) -> None:
    episode = episode_of(failing(script).say(CLAIM).run("ruff check", "All checks passed!"))
    assert (episode.outcome, episode.outcome_basis) == ("success", "measured")


def test_the_claim_is_false_when_the_check_passed_before_the_change(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Round the prices").run("pytest", PASSES).edit("shop/cart.py").run("pytest", FAILS, code=1)
    episode = episode_of(log.say(CLAIM))
    assert episode.outcome == "failure"
    assert episode.outcome_evidence is not None
    assert episode.outcome_evidence.rule == (
        "pytest was not seen passing again, which the agent calls not its own against the log"
    )


def test_the_claim_is_false_when_the_check_passes_without_the_changes(script: Begin, episode_of: Extracted) -> None:
    log = failing(script).run("git stash", "Saved").run("pytest", PASSES).run("git stash pop", "Dropped")
    assert episode_of(log.say(CLAIM)).outcome == "failure"


def test_the_claim_holds_when_the_check_fails_without_the_changes_too(script: Begin, episode_of: Extracted) -> None:
    log = failing(script).run("git stash && pytest", FAILS, code=1).run("git stash pop", "Dropped")
    assert episode_of(log.say(CLAIM)).outcome == "unknown"


def test_a_pass_without_the_changes_repairs_nothing(script: Begin, episode_of: Extracted) -> None:
    log = failing(script).run("git stash", "Saved").run("pytest", PASSES).run("git stash pop", "Dropped")
    episode = episode_of(log)
    assert (episode.outcome, episode.fixes) == ("failure", ())


@pytest.mark.parametrize(
    "words",
    [
        "The failure is probably pre-existing.",
        "Is that failure pre-existing?",
        "Let me see if the failure is related to my changes.",
        "The lint warnings are pre-existing.",
        "The rounding is unrelated to the currency.",
    ],
)
def test_a_guess_or_a_word_about_something_else_excuses_nothing(
    script: Begin, episode_of: Extracted, words: str
) -> None:
    assert episode_of(failing(script).say(words)).outcome == "failure"


def test_a_change_after_which_the_check_fails_in_the_same_way_was_tried_in_vain(
    script: Begin, episode_of: Extracted
) -> None:
    log = failing(script).edit("shop/total.py").run("pytest", FAILS, code=1).edit("shop/price.py").run("pytest", PASSES)
    episode = episode_of(log.run("ruff check", "All checks passed!"))
    changes = {one.action.path: one for one in episode.decisions if one.action and one.action.path}
    tried, worked = changes["shop/total.py"], changes["shop/price.py"]
    assert (tried.type, tried.outcome) == ("recovery", "failure")
    assert (worked.type, worked.outcome) == ("recovery", "success")
    assert episode.metrics.recoveries == 1  # two errors, but the second was the first again


@each_row(
    ("text", "verdict"),
    [
        ("Thanks!", "accepts"),
        ("ok, works. great", "accepts"),
        ("Looks good to me, thank you so much", "accepts"),
        ("that is exactly what I wanted", "accepts"),
        ("ok, ship it", "accepts"),
        ("Great! Now add a test", None),
        ("thanks, but the total is still the same?", None),
        ("yes", None),
        ("it works on my machine but CI fails", "rejects"),
        ("still broken", "rejects"),
        ("No, that's wrong", "rejects"),
        ("this does not work", "rejects"),
        ("does it not work?", None),
        ("make sure that it does not break", None),
        ("revert that please", "takes back"),
        ("can you undo your changes", "takes back"),
        ("revert that and use a map instead", None),
        ("add an undo button", None),
    ],
)
def test_only_explicit_verdicts_are_verdicts(text: str, verdict: str | None) -> None:
    assert verdict_in(text) == verdict


def test_an_order_to_take_the_work_back_is_a_failure_though_work_follows(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", PASSES).prompt("revert that")
    episode = episode_of(log.run("git checkout -- shop/cart.py"))
    assert (episode.outcome, episode.outcome_basis) == ("failure", "judged")


def test_acceptance_stands_while_nothing_is_changed_after_it(script: Begin, episode_of: Extracted) -> None:
    accepted = script("s").prompt("Do").edit("shop/cart.py").prompt("works, thanks")
    assert episode_of(accepted.run("git status", "clean")).outcome_basis == "judged"
    changed = script("t").prompt("Do").edit("shop/cart.py").prompt("works, thanks").edit("shop/cart.py")
    assert episode_of(changed).outcome == "unknown"


def test_a_reported_failure_as_the_last_word_is_a_failure(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", PASSES).prompt("the page crashes now")
    assert (episode_of(log).outcome, episode_of(log).outcome_basis) == ("failure", "judged")


def test_what_a_run_could_not_look_at_is_judged_by_the_next(script: Begin, episode_of: Extracted) -> None:
    compiles = "shop/cart.go:3:1: undefined: total (typecheck)\n1 issues:\n* typecheck: 1"
    issue = "shop/cart_test.go:9:2: Error return value is not checked (errcheck)\n1 issues:\n* errcheck: 1"
    log = script("s").prompt("Do").edit("shop/cart_test.go").run("golangci-lint run", compiles, code=1)
    episode = episode_of(log.edit("shop/cart.go").run("golangci-lint run", issue, code=1))
    found = next(event for event in episode.events if event.family == "errcheck")
    led = [link.source for link in episode.links if link.reason == "edit-test" and link.target == found.id]
    assert led == ["d001"]


def test_a_request_to_another_address_repairs_nothing(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").run("gh api repos/a/b/comments -f body=x", "gh: Not Found (HTTP 404)", code=1)
    assert episode_of(log.run("gh api repos/a/b/issues -f body=x", "{}")).fixes == ()
    again = script("t").prompt("Do").run("gh api repos/a/b/comments -f body=x", "gh: Not Found (HTTP 404)", code=1)
    assert len(episode_of(again.run("gh api repos/a/b/comments -F body=x", "{}")).fixes) == 1


def test_changes_that_are_brought_back_may_be_what_repairs(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Go on").run("pytest", FAILS, code=1).run("git stash pop", "Dropped").run("pytest", PASSES)
    episode = episode_of(log)
    (fix,) = episode.fixes
    assert [one.chosen for one in episode.decisions if one.id in fix.changes] == ["run git stash pop"]
