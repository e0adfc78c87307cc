"""Which results does extraction read, and does it matter what the others hold?"""

from __future__ import annotations

import pytest

from helix_episodes.echo import wrap
from helix_episodes.extraction.pipeline import extract
from helix_episodes.session import Operation, Session, Source, Status, Step

FAILED = "FAILED tests/test_cart.py::test_total - AssertionError\n===== 1 failed in 0.12s ====="


def episode_after(
    operation: Operation, *, shown: str, tool: str = "tool", status: Status = "ok", command: str = "pytest tests"
) -> str:
    """What becomes of a session in which one call of that kind showed a text."""
    call = Step(
        kind="call",
        source=Source(line=2),
        tool=tool,
        operation=operation,
        call_id="c",
        arguments={"command": command, "path": "notes.txt", "new": "x"},
    )
    steps = (
        Step(kind="prompt", source=Source(line=1), actor="user", text="Fix the cart"),
        call,
        Step(
            kind="result",
            source=Source(line=3),
            tool=tool,
            operation=operation,
            call_id="c",
            text=shown,
            status=status,
        ),
    )
    return str(extract(Session(id="s", agent="test", reader="test", steps=steps)))


@pytest.mark.parametrize("operation", ["look", "edit", "create", "use", "track"])
def test_what_a_call_shows_when_it_goes_well_changes_nothing(operation: Operation) -> None:
    assert episode_after(operation, shown=FAILED) == episode_after(operation, shown="3 lines")


@pytest.mark.parametrize("operation", ["run", "delegate"])
def test_what_was_run_or_came_back_is_read(operation: Operation) -> None:
    assert episode_after(operation, shown=FAILED) != episode_after(operation, shown="3 lines")


@pytest.mark.parametrize("status", ["error", "rejected", "interrupted"])
def test_a_look_that_went_wrong_is_read(status: Status) -> None:
    shown = "ENOENT: no such file or directory"
    assert shown in episode_after("look", shown=shown, status=status)


def test_a_look_at_the_editors_diagnostics_is_read() -> None:
    shown = '[{"uri": "a.py", "diagnostics": [{"message": "undefined: fmt", "severity": "Error"}]}]'
    assert "undefined name" in episode_after("look", shown=shown, tool="getDiagnostics")


def test_advice_that_stands_in_a_file_was_handed_over_to_nobody() -> None:
    shown = wrap("Run gofmt before the linter.", insights=["gofmt-first"])
    assert "gofmt-first" not in episode_after("look", shown=shown)


@pytest.mark.parametrize(("command", "ended"), [("python load.py", True), ("cat load.log", False), ("", False)])
def test_a_traceback_ends_a_command_of_unknown_status_unless_it_only_shows_a_text(command: str, *, ended: bool) -> None:
    shown = 'Traceback (most recent call last):\n  File "load.py", line 1, in <module>\nValueError: no price'
    found = episode_after("run", shown=shown, status="unknown", command=command)
    assert ("ValueError" in found) is ended
