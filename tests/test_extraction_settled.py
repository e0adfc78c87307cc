"""Which failing runs decide nothing, because something excuses them or something after them settles them?"""

from __future__ import annotations

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
UNDEFINED = "# shop/store\nstore/price.go:12:5: undefined: agent"
LINTED = "store/price.go:3:1: Error return value is not checked (errcheck)\n1 issues:\n* errcheck: 1"
TYPES = "src/a.ts(3,1): error TS2322: Type 'x' is not assignable to type 'y'."
COMMITTED = "[main 1a2b3c4] x\n 1 file changed"
#: May change anything, and names no file that it does.
SCRIPT = "python3 scripts/rewrite.py"


def outcome(episode: Episode) -> tuple[str, str | None]:
    return episode.outcome, episode.outcome_evidence.rule if episode.outcome_evidence else None


@pytest.mark.parametrize(
    ("command", "printed", "later", "output"),
    [
        ("cargo fmt --check", "Diff in src/cart.rs:3:\n-a\n+b", "cargo fmt", ""),
        (
            "npx prettier --check src",
            "[warn] src/cart.ts\n[warn] Code style issues found.",
            "npx prettier --write src",
            "",
        ),
        ("npm run lint", "npm ERR! code ELIFECYCLE", "npm run lint:fix", ""),
        ("npm run lint", "npm ERR! code ELIFECYCLE", "npm run build:css && npm run lint", ""),
        ("npm run lint | tail -3", "npm ERR! code ELIFECYCLE", "npm run lint | tail -3", "Checked 12 files."),
    ],
)
def test_the_same_command_again_or_its_formatter_settles(
    script: Begin, episode_of: Extracted, command: str, printed: str, later: str, output: str
) -> None:
    code = 0 if "|" in command else 1
    failing = script("s").prompt("Do").edit("src/cart.ts").run(command, printed, code=code)
    assert episode_of(failing).outcome == "failure"
    again = script("t").prompt("Do").edit("src/cart.ts").run(command, printed, code=code).run(later, output)
    assert episode_of(again).outcome != "failure"


def test_the_same_command_refused_settles_nothing(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("src/cart.ts").run("npm run lint", "npm ERR! code ELIFECYCLE", code=1)
    episode = episode_of(log.rejected("Bash", {"command": "npm run lint"}))
    assert outcome(episode) == ("failure", "npm lint was not seen passing again, and the user refused its last call")


@pytest.mark.parametrize(
    ("failing", "passing", "expected"),
    [
        (("go build ./...", UNDEFINED), ("go test ./store", "ok  \tshop/store\t0.1s"), "success"),
        (("go build ./...", UNDEFINED), ("golangci-lint run", "0 issues."), "success"),
        (("go vet ./...", UNDEFINED), ("go build ./...", ""), "success"),
        (("npx tsc --noEmit", TYPES), ("npx vitest run", "      Tests  5 passed (5)"), "success"),
        # Another package, another language, a check that looks at less.
        (("go build ./...", UNDEFINED), ("go test ./cart", "ok  \tshop/cart\t0.1s"), "failure"),
        (("go build ./...", UNDEFINED), ("pytest", PASSES), "failure"),
        (("golangci-lint run", LINTED), ("go build ./...", ""), "failure"),
        (("pytest", FAILS), ("ruff check", "All checks passed!"), "failure"),
    ],
)
def test_a_check_that_covers_the_failed_one_settles_after_a_change(
    script: Begin, episode_of: Extracted, failing: tuple[str, str], passing: tuple[str, str], expected: str
) -> None:
    log = script("s").prompt("Do").edit("store/price.go").edit("src/a.ts").run(*failing, code=1)
    episode = episode_of(log.run(SCRIPT).run(*passing))
    assert episode.outcome == expected


def test_two_checks_that_disagree_over_the_same_tree_leave_the_failure(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("store/price.go").run("go vet ./...", UNDEFINED, code=1)
    episode = episode_of(log.run("go test ./...", "ok  \tshop/store\t0.1s"))
    assert outcome(episode) == ("failure", "go vet was not seen passing again")


def test_what_was_changed_after_its_last_run_is_unknown(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", FAILS, code=1)
    assert outcome(episode_of(log)) == ("failure", "pytest was not seen passing again")
    again = script("t").prompt("Do").edit("shop/cart.py").run("pytest", FAILS, code=1)
    assert episode_of(again.edit("shop/cart.py")).outcome == "unknown"


@pytest.mark.parametrize(
    ("command", "output", "settled"),
    [
        ("git commit -am x", COMMITTED, True),
        ("git commit -q -am x", "", True),
        ("git push", "To github.com:shop/shop.git\n   1a2b3c4..5d6e7f8  main -> main", True),
        ("git commit --no-verify -am x", COMMITTED, False),
        ("git push --dry-run", "   1a2b3c4..5d6e7f8  main -> main", False),
        ("git push", "To github.com:shop/shop.git\n ! [rejected]  main -> main (fetch first)", False),
    ],
)
def test_a_commit_or_push_past_the_hooks_settles(
    script: Begin, episode_of: Extracted, command: str, output: str, *, settled: bool
) -> None:
    log = script("s").prompt("Do").edit("store/price.go").run("golangci-lint run", LINTED, code=1)
    assert (episode_of(log.run(command, output)).outcome != "failure") is settled


def test_tests_that_fail_hinder_no_commit_so_somebody_must_have_done_something_about_them(
    script: Begin, episode_of: Extracted
) -> None:
    failing = script("s").prompt("Do").edit("shop/cart.py").run("pytest", FAILS, code=1)
    assert episode_of(failing.run("git commit -am x", COMMITTED)).outcome == "failure"
    asked = script("t").prompt("Do").edit("shop/cart.py").run("pytest", FAILS, code=1).prompt("commit it")
    assert episode_of(asked.run("git commit -am x", COMMITTED)).outcome == "unknown"
    hooked = script("u").prompt("Do").edit("shop/cart.py").run("pytest", FAILS, code=1)
    episode = episode_of(hooked.run("git commit -am x", f"{PASSES}\n{COMMITTED}"))
    assert episode.outcome == "success"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest", "E   ModuleNotFoundError: No module named 'requests'\n===== 1 error in 0.1s ====="),
        ("npm test", 'npm ERR! Missing script: "test"'),
        ("npx vitest run", "Error: Cannot find module 'vitest/config'"),
        ("npx vitest run", "Error: listen EPERM: operation not permitted 127.0.0.1"),
        ("cargo deny check", "error: no such command: `deny`"),
        (
            "mise run lint",
            "mise ERROR error parsing config file: ~/shop/mise.toml\nmise ERROR Config file is not trusted.",
        ),
        ("go test ./...", "go: go.mod requires go >= 1.25 (running go 1.21)"),
        ("go test ./...", "go: cannot find main module, but found .git/config in /work"),
    ],
)
def test_the_machines_failures_are_no_verdict(script: Begin, episode_of: Extracted, command: str, output: str) -> None:
    episode = episode_of(script("s").prompt("Do").edit("src/cart.ts").run(command, output, code=1))
    assert (episode.outcome, [event.type for event in episode.events][-1:]) == ("unknown", ["error"])


@pytest.mark.parametrize("code", [130, 137, 143, 124])
def test_a_run_that_was_stopped_is_no_verdict(script: Begin, episode_of: Extracted, code: int) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", "tests/test_cart.py ..", code=code)
    assert episode_of(log).outcome == "unknown"


def test_a_linter_tried_with_options_that_nobody_else_uses_is_a_probe(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("store/price.go").run("golangci-lint run", "0 issues.")
    episode = episode_of(log.run("golangci-lint run --no-config -E unused", LINTED, code=1))
    assert episode.outcome != "failure"
    usual = script("t").prompt("Do").edit("store/price.go").run("golangci-lint run --no-config", "0 issues.")
    assert episode_of(usual.run("golangci-lint run --no-config", LINTED, code=1)).outcome == "failure"


def test_what_a_hook_runs_is_no_probe(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("store/price.go").run("golangci-lint run", "0 issues.")
    assert episode_of(log.run("git commit -m x", LINTED, code=1)).outcome == "failure"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Now the failing test first; it should fail.", ""),
        ("Let me run it to confirm that the new test fails.", ""),
        ("", "Fails as expected: nothing implements it yet."),
    ],
)
def test_a_run_that_was_meant_to_fail_decides_nothing(
    script: Begin, episode_of: Extracted, before: str, after: str
) -> None:
    log = script("s").prompt("Do").edit("tests/test_cart.py").say(before).run("pytest", FAILS, code=1)
    assert episode_of(log.say(after)).outcome == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "Now let me verify that no test fails.",
        "Let me see what fails.",
        "Let me run it to see which tests fail now.",
        "Make sure the tests don't fail.",
        "Let me check whether it fails.",
    ],
)
def test_who_hopes_or_wonders_did_not_announce_a_failure(script: Begin, episode_of: Extracted, words: str) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").say(words)
    assert episode_of(log.run("pytest", FAILS, code=1)).outcome == "failure"


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("This test also fails on main.", "unknown"),
        ("The test fails because of the environment variable that I renamed.", "failure"),
        ("It might also fail on main.", "failure"),
    ],
)
def test_whose_failure_it_is_may_be_said_in_many_words(
    script: Begin, episode_of: Extracted, words: str, outcome: str
) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", FAILS, code=1)
    assert episode_of(log.say(words)).outcome == outcome


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ shop/cart.py; pytest; git checkout shop/cart.py",
        "cp shop/cart.py /tmp/cart.py && sed -i s/a/b/ shop/cart.py; pytest; cp /tmp/cart.py shop/cart.py",
    ],
)
def test_code_broken_and_put_back_in_one_command_decides_nothing(
    script: Begin, episode_of: Extracted, command: str
) -> None:
    log = script("s").prompt("Do").edit("tests/test_cart.py").run("pytest", PASSES).run(command, FAILS)
    assert episode_of(log).outcome == "success"


def test_a_check_that_looked_at_nothing_shows_nothing(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("src/cart.ts")
    assert episode_of(log.run("npx biome check", "Checked 0 files in 2ms. No fixes applied.")).outcome == "unknown"
    looked = script("t").prompt("Do").edit("src/cart.ts")
    assert episode_of(looked.run("npx biome check", "Checked 3 files in 2ms. No fixes applied.")).outcome == "success"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python /tmp/test_idea.py", "unknown"),
        ("pytest /tmp/try", "unknown"),
        ("go build -o /tmp/shop ./...", "failure"),
        ("make build && ./shop --nonsense", "success"),
        ("./shop && make build", "unknown"),
    ],
)
def test_trials_in_scratch_folders_and_programs_next_to_a_check_are_not_the_check(
    script: Begin, episode_of: Extracted, command: str, expected: str
) -> None:
    episode = episode_of(script("s").prompt("Do").edit("shop/main.go").run(command, "it went wrong", code=1))
    assert episode.outcome == expected


def test_a_failure_without_the_changes_too_is_not_theirs(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py").run("pytest", FAILS, code=1)
    log = log.run("git stash && pytest; git stash pop", FAILS, code=1)
    assert episode_of(log).outcome == "unknown"


@pytest.mark.parametrize(
    ("task", "output", "expected"),
    [
        ("Add a discount", FAILS, "unknown"),
        ("Fix the failing test", FAILS, "failure"),
        ("Add a discount", FAILS.replace("test_total", "test_tax"), "failure"),
    ],
)
def test_what_failed_before_any_change_counts_only_where_it_was_the_task(
    script: Begin, episode_of: Extracted, task: str, output: str, expected: str
) -> None:
    log = script("s").prompt(task).run("pytest", FAILS, code=1).edit("shop/cart.py").run("pytest", output, code=1)
    assert episode_of(log).outcome == expected


def test_an_edit_that_was_refused_was_never_made(script: Begin, episode_of: Extracted) -> None:
    arguments = {"file_path": "/work/shop/shop/cart.py", "old_string": "a", "new_string": "b"}
    log = script("s").prompt("Do").rejected("Edit", arguments).run("pytest", FAILS, code=1).say("It fails.")
    assert episode_of(log).outcome == "unknown"
