"""Arguments of every kind: an exit code of 0, 1 or 2, and a sentence instead of a traceback."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import click
import pytest

from demo_logs import demo_memory_in
from fuzzing import named, rounds
from helix_cli.app import cli, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.fuzz
#: They wait for a client, install something, or write into agents' settings.
LEFT_OUT = {"mcp", "hook", "model", "setup", "plugin", "demo", "__complete"}
WORDS = (
    *("", " ", "x", "-", "--", "-1", "0", "9" * 30, "1e309", "nan", "\x1b[31m", "\u202e", "/dev/null", "/", "..", "~"),
    *("pytest", "commit", "episode-x", "2026-01-01", "[", "*", "%", "'", "a\tb", "é" * 300, "--json", "--help"),
)


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words."""
    if not isinstance(group, click.Group):
        yield path, group
        return
    with click.Context(group) as context:
        for name in group.list_commands(context):
            inner = group.get_command(context, name)
            if inner is not None and name not in LEFT_OUT:
                yield from commands(inner, (*path, name))


def test_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    memory = demo_memory_in(tmp_path / "project")
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda *_: True)
    known = list(commands(cli))
    assert len(known) > 40
    for chance in rounds():
        path, command = chance.choice(known)
        arguments: list[str] = [*path]
        for option in command.params:
            if chance.random() < (0.8 if isinstance(option, click.Argument) else 0.2):
                if isinstance(option, click.Option):
                    arguments.append(chance.choice(option.opts))
                if not (isinstance(option, click.Option) and option.is_flag):
                    arguments.append(chance.choice(WORDS))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        with named(chance, arguments):
            code = run(arguments)
            said = capsys.readouterr()
            assert code in {0, 1, 2}, said
            assert "Traceback" not in said.err
            assert code == 0 or said.err, "nothing says why"
