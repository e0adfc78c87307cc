"""What counts as a failure, and what does not?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode, Event
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], tuple[Event, ...]]


@pytest.fixture
def events(episode_of: Callable[[Script], Episode]) -> Extracted:
    return lambda one: episode_of(one).events


def test_a_failed_check_has_its_check_its_family_its_line_and_its_file(script: Begin, events: Extracted) -> None:
    output = "shop/cart.py:3:1: F401 [*] `os` imported but unused\nFound 1 error."
    (error,) = events(script("s").prompt("Lint").run("ruff check .", output, code=1))
    assert (error.type, error.check, error.family, error.path) == ("error", "ruff", "F401", "shop/cart.py")
    assert error.message == "shop/cart.py:3:1: F401 [*] `os` imported but unused"
    assert error.evidence is not None
    assert (error.evidence.line, error.evidence.quote) == (3, error.message)


def test_each_rule_that_a_linter_names_is_an_event_of_its_own(script: Begin, events: Extracted) -> None:
    output = "a.py:1:1: F401 unused\nb.py:2:1: E501 too long\na.py:9:1: F401 unused\nFound 3 errors."
    found = events(script("s").prompt("Lint").run("ruff check .", output, code=1))
    assert [error.family for error in found] == ["F401", "E501"]


def test_a_hidden_exit_status_does_not_hide_a_failure(script: Begin, events: Extracted) -> None:
    output = (
        "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4\n===== 1 failed, 4 passed in 0.1s ====="
    )
    (error,) = events(script("s").prompt("Test").run("pytest 2>&1 | tail -5", output))
    assert (error.type, error.check, error.failed, error.passed) == ("error", "pytest", 1, 4)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("grep -rn error src | head", "src/a.py:1: raise ValueError('error: failed')"),
        ("git log --oneline", "abc1234 Fix failing test: Error in parser"),
        ("cat build.log", "ERROR: 3 failed"),
        ("./deploy.sh", "0 errors, 0 failed"),
    ],
)
def test_the_word_error_makes_none(script: Begin, events: Extracted, command: str, output: str) -> None:
    assert [event for event in events(script("s").prompt("Look").run(command, output)) if event.type == "error"] == []


def test_a_search_that_finds_nothing_is_an_answer(script: Begin, events: Extracted) -> None:
    assert events(script("s").prompt("Look").run("grep -rn cart src", "", code=1)) == ()


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing.",
            "rejected",
        ),
        ("This command requires approval", "denied"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
    ],
)
def test_what_never_ran_is_no_failure(script: Begin, events: Extracted, text: str, status: str) -> None:
    (event,) = events(script("s").prompt("Do").call("Bash", {"command": "rm -rf build"}, error=text))
    assert (event.type, event.status) == ("tool_call", status)


def test_a_tools_error_is_a_failure_of_that_tool(script: Begin, events: Extracted) -> None:
    (error,) = events(script("s").prompt("Edit").edit_fails("shop/cart.py"))
    assert (error.check, error.family, error.path) == ("Edit", "text not found", "shop/cart.py")


def test_the_part_of_a_command_that_failed_is_named_and_not_the_check_that_passed(
    script: Begin, events: Extracted
) -> None:
    log = (
        script("s").prompt("Deploy").run("go build ./... && ./deploy.sh prod", "deploy.sh: no such host: prod", code=1)
    )
    kinds = {(event.type, event.check) for event in events(log)}
    assert ("test", "go build") in kinds
    assert not any(kind == "error" and check == "go build" for kind, check in kinds)
    assert any(kind == "error" and check and check.startswith("deploy.sh") for kind, check in kinds)


def test_a_commit_is_known_by_its_own_output(script: Begin, events: Extracted) -> None:
    output = "[main 1a2b3c4] Count the tax once\n 1 file changed, 2 insertions(+)"
    (commit,) = events(script("s").prompt("Commit").run('git commit -am "Count the tax once"', output))
    assert (commit.type, commit.commit, commit.content) == ("commit", "1a2b3c4", "Count the tax once")


def test_secrets_and_home_folders_are_cut_from_what_is_kept(
    script: Begin, episode_of: Callable[[Script], Episode]
) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    log = script("s").prompt(f"Use {token} to push")
    log = log.run(f"curl -H 'Authorization: token {token}' https://api.example.invalid", f"{token} refused", code=22)
    arguments = {"file_path": "/home/ann/notes.md", "old_string": "a", "new_string": token}
    log = log.call("Edit", arguments, output="updated")
    kept = repr(episode_of(log))
    assert token not in kept
    assert "/home/ann" not in kept
