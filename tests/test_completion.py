"""What does a shell offer after TAB?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.shell_completion import ShellComplete

from helix_cli.app import cli

if TYPE_CHECKING:
    from helix_graph import Memory


@pytest.mark.parametrize(
    ("typed", "begun", "offered"),
    [
        (["causes"], "ruf", "ruff passes"),
        (["effects"], "E5", "E501"),
        (["path"], "pyt", "pytest passes"),
        (["sessions", "show"], "la", "last"),
        (["forget"], "la", "last"),
    ],
)
def test_labels_names_of_failures_and_sessions_are_offered(
    demo_memory: Memory, monkeypatch: pytest.MonkeyPatch, typed: list[str], begun: str, offered: str
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    assert offered in completions(typed, begun)


@pytest.mark.parametrize("command", ["show", "mute", "resolve"])
def test_ids_of_issues_are_offered(demo_memory: Memory, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    first = demo_memory.issues.list(limit=1).issues[0].id
    assert first[:8] in completions(["issues", command], first[:2])


def completions(typed: list[str], begun: str) -> list[str]:
    """What is offered for a word that begins so, after these."""
    shell = ShellComplete(cli, {}, "helix-graph", "_HELIX_GRAPH_COMPLETE")
    return [one.value for one in shell.get_completions(typed, begun)]
