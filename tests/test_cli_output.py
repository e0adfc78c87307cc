"""Does the output suit who reads it: whole for a pipe, fitted and harmless for a terminal, JSON for a program?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click
import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_cli.app import run
from helix_cli.output import emit_json, plain_table, progress, say, table
from helix_cli.terminal import clean
from helix_graph import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from session_script import Script

ESCAPE = "\x1b[2J"
LONG = "x" * 400


def as_terminal(monkeypatch: pytest.MonkeyPatch, *, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def test_a_pipe_gets_every_cell_whole(capsys: pytest.CaptureFixture[str]) -> None:
    table(("error", "n"), [(LONG, "1"), ("short", "2")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == [LONG, "1"]
    assert len(lines) == 3


def test_a_terminal_gets_its_width_and_still_every_character(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_terminal(monkeypatch, columns=60)
    table(("error", "n"), [(LONG, "1")])
    printed = capsys.readouterr().out
    assert printed.count("x") == len(LONG)
    assert max(map(len, click.unstyle(printed).splitlines())) <= 60


def test_numbers_of_lines_end_at_one_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script: Callable[..., Script], tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    script("short").prompt("go").save(logs)
    script("longer").prompt("go").edit("a.py").edit("b.py").edit("c.py").edit("d.py").edit("e.py").save(logs)
    as_terminal(monkeypatch, columns=100)
    assert run(["episode", "extract", str(logs), "--output", str(tmp_path / "made"), "--verbose"]) == 0
    shown = click.unstyle(capsys.readouterr().out)
    assert "\nlonger      11    11      0    0\nshort        1     1      0    0\n" in shown


def test_brackets_of_a_log_are_not_taken_for_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_terminal(monkeypatch, columns=60)
    table(("error", "n"), [("[lint] failed [/red]", "1")])
    assert "[lint] failed [/red]" in capsys.readouterr().out


@pytest.mark.parametrize("terminal", [False, True])
def test_escape_sequences_of_a_log_never_reach_the_reader(
    terminal: bool,  # noqa: FBT001  (pytest passes it)
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if terminal:
        as_terminal(monkeypatch, columns=60)
    table(("error",), [(f"before{ESCAPE}after\x07",)])
    say(f"before{ESCAPE}after")
    printed = capsys.readouterr().out
    assert "\x1b[2J" not in printed
    assert "\x07" not in printed
    assert printed.count("before") == 2


@given(st.text())
def test_cleaned_text_is_one_printable_line_of_the_same_length(text: str) -> None:
    assert clean(text).isprintable()
    assert len(clean(text)) == len(text)


@given(st.lists(st.tuples(st.text("ab c"), st.text("xy"))))
def test_plain_columns_begin_at_one_place(rows: Sequence[tuple[str, str]]) -> None:
    lines = list(plain_table(("first", "second"), rows))
    start = lines[0].index("second")
    assert [line[start:] for line in lines[1:]] == [second for _, second in rows]


class Answer(msgspec.Struct, frozen=True):
    path: Path
    rates: dict[int, float]


def test_json_is_plain_and_holds_paths_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    emit_json([Answer(path=Path("a/b"), rates={1: 0.5})])
    assert orjson.loads(capsys.readouterr().out) == [{"path": str(PurePosixPath("a/b")), "rates": {"1": 0.5}}]


def test_what_has_no_json_form_is_a_bug_and_says_so() -> None:
    with pytest.raises(TypeError, match="object"):
        emit_json(object())


def test_nobody_watching_means_no_bar() -> None:
    with progress("Reading") as advance:
        assert advance is None


def test_a_bar_moves_on_stderr_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress("Reading logs") as advance:
        assert advance is not None
        advance(1, 2, Path("odd [name].jsonl"))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Reading logs odd [name].jsonl" in printed.err


def test_a_console_without_the_character_gets_an_escape() -> None:
    program = "from helix_cli.app import run; from helix_cli.output import say; run(['--version']); say('a \\u2192 b')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
    assert b"a \\u2192 b" in done.stdout


def test_the_module_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "helix_cli", "--version"], capture_output=True, check=True, text=True)
    assert done.stdout == f"helix-graph {__version__}\n"
    assert done.stderr == ""
