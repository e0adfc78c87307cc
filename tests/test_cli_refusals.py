"""What does the command do when something is wrong? It says one sentence on stderr and ends with the right code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_episodes.errors import InvalidArgument
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = [sys.executable, "-m", "helix_cli"]


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, outside of any repository."""
    monkeypatch.delenv("HELIX_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """One example log, to use or to spoil."""
    with as_file(files("helix_cli") / "demo" / "logs") as folder:
        source = min(path for path in folder.iterdir() if path.suffix == ".jsonl")
        yield Path(shutil.copy(source, tmp_path / source.name))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["note", "x"], 'Use: helix-graph insight store "TEXT"'),
        (["extract", "log.jsonl"], "Use: helix-graph episode extract PATH"),
        (["version"], "Use: helix-graph --version"),
        (["issues", "linter errors"], "Use: helix-graph seen 'linter errors'"),
        (["issues", "shwo"], "Did you mean 'show'?"),
        (["insight", "add", "x"], 'Use: helix-graph insight store "TEXT"'),
        (["doctor", "fix"], "Did you mean: helix-graph doctor --fix"),
        (["explain"], "For example: helix-graph explain last"),
        (["path", "a"], 'For example: helix-graph path "cart.py" "tests fail"'),
        (["setup", "c"], "not one of"),
    ],
)
def test_a_wrong_guess_is_answered_with_the_command_to_type(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_range_names_the_option_that_was_typed(somewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = Memory.init(somewhere)
    assert run(["search", "x", "--limit", "500"]) == 2
    assert "--limit is 500; it must be between 1 and 100" in capsys.readouterr().err
    with pytest.raises(InvalidArgument, match="max_results is 500"):
        memory.search("x", max_results=500)


def test_obvious_guesses_are_taken(
    demo_memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(demo_memory.root, tmp_path / "shop/.helix")
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / "shop/.helix"))
    memory = Memory.trust()
    issue = memory.issues.list(limit=1).issues[0]
    session = memory.episodes.list(max_results=1)[0].session
    assert run(["issues", issue.id[:3]]) == run(["issues", "show", issue.id[:3]]) == 0
    shown = capsys.readouterr().out
    assert shown.count(f"{issue.kind} {issue.id}") == 2
    assert run(["sessions", session[:8]]) == run(["sessions", "last"]) == 0
    assert run(["setup", "claude", "--check"]) == 1
    assert "of claude-code" in capsys.readouterr().out
    assert run(["insight", "store", "Run make fmt before the tests, or the linter fails"]) == 0
    assert run(["forget", session[:8]]) == 0
    assert "1 session forgotten." in capsys.readouterr().out
    assert session not in [one.session for one in memory.episodes.list(max_results=100)]


@pytest.mark.parametrize(
    "arguments",
    [
        ["episode", "extract", "some.jsonl"],
        ["episode", "list"],
        ["episode", "show", "x"],
        ["compile"],
        ["seen", "x"],
        ["path", "--from", "a", "--to", "b"],
        ["causes", "x"],
        ["effects", "x"],
        ["patterns"],
        ["anti-patterns"],
        ["status"],
    ],
    ids=" ".join,
)
def test_without_a_memory_it_names_the_command_that_begins_one(
    arguments: list[str], somewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "helix-graph sync" in printed.err
    assert len(printed.err.splitlines()) == 1
    assert list(somewhere.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["path", "--from", "a"],
        ["episode", "extract"],
        ["episode", "list", "--since", "yesterday"],
        ["episode", "list", "--outcome", "good"],
        ["seen", "--limit", "0"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Usage:" in printed.err


def test_a_mistyped_command_is_answered_with_those_spelt_like_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["exlpain"]) == 2
    assert "Did you mean 'explain'" in capsys.readouterr().err
    assert run(["insight", "recal", "x"]) == 2
    assert "Did you mean 'recall'" in capsys.readouterr().err
    assert run(["zebra"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["seen", "--- FAIL: TestCart (0.00s)"],
        ["seen", "---"],
        ["seen", "-Wall is not an option", "--limit", "2", "--json"],
        ["seen", "--limit", "2", "--- FAIL: TestCart"],
        ["search", "-- a rule"],
    ],
)
def test_a_text_may_begin_with_dashes(arguments: list[str]) -> None:
    assert run(["sync"]) == 0
    assert run(arguments) == 0


def test_a_mistyped_option_is_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["seen", "--limti", "2"]) == 2
    assert "--limit" in " ".join(capsys.readouterr().err.split())


def test_a_bad_log_hides_no_other(log: Path, somewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (somewhere / "aaa.jsonl").write_text("this is no log\n")
    assert run(["init"]) == 0
    assert run(["episode", "extract", "aaa.jsonl", "missing.jsonl", log.name]) == 1
    printed = capsys.readouterr()
    assert "1 episode written" in printed.out
    assert [line for line in printed.err.splitlines() if "aaa.jsonl" in line]
    assert [line for line in printed.err.splitlines() if "missing.jsonl" in line]


def test_a_log_that_was_rewritten_needs_force(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["init"])
    assert run(["episode", "extract", log.name]) == 0
    log.write_text(log.read_text().replace("papershop", "bookshop"))
    assert run(["episode", "extract", log.name]) == 1
    assert "--force" in capsys.readouterr().err
    assert run(["episode", "extract", log.name, "--force"]) == 0
    assert "1 updated" in capsys.readouterr().out


def test_a_log_that_grew_needs_nothing(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-4]))
    run(["init"])
    assert run(["episode", "extract", log.name]) == 0
    log.write_text("".join(lines))
    assert run(["episode", "extract", log.name]) == 0
    assert "1 updated" in capsys.readouterr().out
    assert run(["episode", "extract", log.name]) == 0
    assert "1 unchanged" in capsys.readouterr().out


def test_with_output_no_memory_is_needed_and_none_is_made(log: Path, somewhere: Path) -> None:
    assert run(["episode", "extract", log.name, "--output", "elsewhere"]) == 0
    assert [path.name.startswith("episode-") for path in (somewhere / "elsewhere").iterdir()] == [True]
    assert not (somewhere / ".helix").exists()


def test_an_unknown_format_is_named_with_those_there_are(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["episode", "extract", log.name, "--output", "elsewhere", "--format", "carrier-pigeon"]) == 2
    printed = capsys.readouterr()
    assert "carrier-pigeon" in printed.err
    assert "claude-code" in printed.err


def test_an_unknown_episode_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    run(["init"])
    assert run(["episode", "show", "no-such-session"]) == 1
    assert "no-such-session" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "highest"),
    [
        (["patterns", "--min-success-rate", "2"], "1"),
        (["patterns", "--min-occurrences", "1001"], "1000"),
        (["anti-patterns", "--max-success-rate", "1.5"], "1"),
        (["path", "--from", "a", "--to", "b", "--max-depth", "11"], "10"),
    ],
    ids=str,
)
def test_a_number_out_of_range_is_named_with_its_range(
    arguments: list[str], highest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["init"])
    run(["compile"])
    capsys.readouterr()
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert arguments[-1] in printed.err
    assert highest in printed.err


def test_an_interruption_ends_with_130_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> Memory:
        raise KeyboardInterrupt

    monkeypatch.setattr(Memory, "open", interrupted)
    assert run(["status"]) == 130
    assert capsys.readouterr().err.strip() == ""


def test_a_reader_that_has_enough_sees_no_complaint() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "--help"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "helix_cli", "patterns"]
    environment = os.environ | {"HELIX_DIR": str(tmp_path)}
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, check=False, text=True)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [["episode", "extract", ""], ["episode", "extract", "--output", "", "x"], ["demo", "--keep", ""], ["compile", ""]],
    ids=str,
)
def test_an_empty_path_is_not_the_current_folder(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert "empty" in capsys.readouterr().err


def test_the_demo_keeps_out_of_a_memory_that_somebody_uses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episodes = tmp_path / ".helix" / "episodes"
    episodes.mkdir(parents=True)
    (episodes / "episode-mine.json").write_text("{}")
    assert run(["demo", "--keep", str(tmp_path)]) == 2
    assert "of your own" in capsys.readouterr().err
    assert [path.name for path in episodes.iterdir()] == ["episode-mine.json"]


def test_a_file_that_compile_left_out_shows_in_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    run(["init"])
    torn = Memory.open().root / "episodes" / "episode-torn.json"
    torn.parent.mkdir(parents=True, exist_ok=True)
    torn.write_text('{"id": "epis')
    assert run(["compile"]) == 1
    assert re.search(r'episode-torn\.json"?: left out', capsys.readouterr().err)


def test_a_folder_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && {sys.executable} -m helix_cli status"
    environment = {name: value for name, value in os.environ.items() if name != "HELIX_DIR"}
    ended = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, check=False, text=True)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


def test_times_at_the_ends_of_the_calendar_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    run(["init"])
    assert run(["compile", "--since", "0001-01-01T00:00+14:00"]) == 0
    assert run(["compile", "--since", "9999-12-31T23:59-14:00"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "arguments",
    [
        ["seen", "Line", "too", "long"],
        ["search", "gift", "cards"],
        ["labels", "tests", "fail"],
        ["causes", "tests", "fail"],
        ["effects", "tests", "fail"],
        ["similar", "gift", "cards"],
    ],
)
def test_words_need_no_quotation_marks(
    demo_memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    command, *words = arguments
    assert run([command, " ".join(words), "--json"]) == 0
    quoted = capsys.readouterr().out
    assert run([*arguments, "--json"]) == 0
    assert capsys.readouterr().out == quoted


@pytest.mark.parametrize("command", [["sync"], ["setup", "claude-code"], ["seen", "x"]])
def test_a_user_without_a_home_is_told_so(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a container that runs for a number which no line of its users has."""

    def unknown(number: int) -> None:
        raise KeyError(number)

    for variable in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert run(command) == 1
    assert capsys.readouterr().err.endswith("set HOME\n")


def test_a_home_that_is_no_folder_has_no_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", "/dev/null")
    assert run(["seen", "x"]) == 1
    assert "no memory in" in capsys.readouterr().err


def test_a_current_folder_that_is_gone_is_said_to_be(somewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    somewhere.rmdir()
    assert run(["status"]) == 1
    assert capsys.readouterr().err == "helix-graph: the current folder is gone; change to one that is there\n"
