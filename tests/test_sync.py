"""Does one command bring the memory up to date, and do questions notice when it is not?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from session_script import Script

HOUR = 3600


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which one stands, on a machine whose agents have their logs below ``home``."""
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    for name in ("HELIX_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def log(project: Path, script: Callable[..., Script], tmp_path: Path) -> Callable[..., Path]:
    """Puts a session's log of this project where Claude Code would, last written ``age`` seconds ago."""

    def put(name: str, *, age: float = HOUR) -> Path:
        one = script(name).prompt("Make the tests pass").run("pytest", "1 failed", code=1)
        made = one.save(tmp_path / "made" / name)
        lines = [json.loads(line) for line in made.read_text().splitlines()]
        target = tmp_path / "home/.claude/projects/-shop" / made.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(json.dumps({**line, "cwd": str(project)}) + "\n" for line in lines))
        written = time.time() - age
        os.utime(target, (written, written))
        return target

    return put


def test_sync_begins_a_memory_reads_logs_and_compiles(
    log: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    log("one")
    assert run(["sync"]) == 0
    assert "1 session in the memory: 1 new" in capsys.readouterr().out
    assert run(["seen"]) == 0
    assert "pytest fails" in capsys.readouterr().out
    log("two", age=HOUR / 2)
    assert run(["sync"]) == 0
    assert "2 sessions in the memory: 1 new" in capsys.readouterr().out
    assert run(["sync"]) == 0
    assert "2 sessions in the memory: 0 new, 0 updated" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_it_begins_no_memory_where_no_project_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "somebody"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    assert run(["sync"]) == 2
    assert "not a project" in capsys.readouterr().err
    assert list(home.iterdir()) == []


def test_without_logs_it_says_where_to_look(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sync"]) == 0
    assert (project / ".helix").is_dir()
    assert "No logs of this project were found" in capsys.readouterr().out


def test_a_question_says_that_logs_are_newer(log: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    log("one")
    assert run(["sync"]) == 0
    capsys.readouterr()
    assert run(["seen"]) == 0
    assert "newer" not in capsys.readouterr().err
    make_old_stamp()
    log("two", age=HOUR / 2)
    log("running", age=0)
    assert run(["seen"]) == 0
    assert "1 log of this project is newer than the memory. Next: helix-graph sync" in capsys.readouterr().err
    assert run(["sync"]) == 0
    capsys.readouterr()
    assert run(["seen"]) == 0
    assert "newer" not in capsys.readouterr().err


def test_questions_read_new_logs_first_where_the_user_wants_that(
    log: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log("one")
    assert run(["sync"]) == 0
    make_old_stamp()
    for name in ("two", "three"):
        log(name, age=HOUR / 2)
    settings = tmp_path / "home/.config/helix-graph/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[sync]\nauto_sync = true\nseconds = 0\n")
    assert run(["seen"]) == 0
    assert "0 new logs read in 0 seconds, 2 left" in capsys.readouterr().err
    settings.write_text("[sync]\nauto_sync = true\n")
    assert run(["seen"]) == 0
    assert "2 new logs read." in capsys.readouterr().err
    assert len(Memory.open().episodes.list()) == 3
    settings.write_text("[sync]\nautosync = true\n")
    assert run(["seen"]) == 1
    assert "autosync" in capsys.readouterr().err


def make_old_stamp() -> None:
    """Lets the last sync be two hours ago."""
    path = Path(".helix/cache/logs-read.json")
    stamp = json.loads(path.read_text())
    path.write_text(json.dumps({**stamp, "at": time.time() - 2 * HOUR}))


def test_a_clock_that_stood_ahead_hides_no_log(log: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    log("one")
    assert run(["sync"]) == 0
    path = Path(".helix/cache/logs-read.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "at": time.time() + 1000 * HOUR}))
    log("two", age=HOUR / 2)
    capsys.readouterr()
    assert run(["seen"]) == 0
    assert "newer than the memory. Next: helix-graph sync" in capsys.readouterr().err


def test_sessions_that_git_checked_out_for_others_too_are_not_called_missing_logs(
    log: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    log("one")
    assert run(["sync"]) == 0
    for path in Path(".helix/episodes").iterdir():
        path.chmod(0o666)
    capsys.readouterr()
    assert run(["sync"]) == 1
    said = capsys.readouterr()
    assert "No logs" not in said.out
    assert "other users can write to it" in said.err


def test_a_damaged_stamp_counts_as_none(log: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    log("one")
    assert run(["sync"]) == 0
    for damaged in ("{", '{"a":' * 3000, "\udcff"):  # cut off, nested deeper than Python's stack, and no text
        Path(".helix/cache/logs-read.json").write_text(damaged, errors="surrogateescape")
        assert run(["seen"]) == 0
    shutil.rmtree(".helix/cache")
    assert run(["seen"]) == 0
    assert "newer" not in capsys.readouterr().err


def test_a_memory_without_sessions_says_what_to_do_next_whatever_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    for question in (["seen", "x"], ["issues"], ["labels"], ["runbook"], ["checks"], ["sessions", "list"]):
        run(question)
        assert "no sessions yet. Next: helix-graph sync" in capsys.readouterr().err


def test_an_empty_memory_after_a_sync_does_not_ask_for_the_same_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(["sync"]) == 0
    capsys.readouterr()
    for question in ([], ["issues"], ["highlights"]):
        run(question)
        shown = capsys.readouterr()
        assert shown.err.endswith("Next: helix-graph episode sources shows where sync looked\n")
        assert "No sessions yet." in shown.out
        assert "Next:" not in shown.out


def test_no_memory_begins_unasked_in_a_folder_that_anybody_can_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.chdir(tmp_path)
    assert run(["sync"]) == 2
    assert "this folder is not a project" in capsys.readouterr().err
    assert not (tmp_path / ".helix").exists()
