"""What does the command say by itself: of a machine with logs, of one without, of a project that has a memory?"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from helix_cli.app import run
from helix_graph.first_look import costliest
from helix_graph.issues.model import GeneralRemedy, Issue
from session_script import BEGIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    for name in ("HELIX_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def logs(project: Path, script: Callable[..., Script], tmp_path: Path) -> Path:
    """Three sessions of the project that meet one error, which an install repairs each time."""
    folder = tmp_path / "home/.claude/projects/-shop"
    folder.mkdir(parents=True)
    for day, name in enumerate(("one", "two", "three")):
        session = script(name, begin=BEGIN + timedelta(days=day)).prompt("Make the tests pass")
        session.run("pytest", "E   ModuleNotFoundError: No module named 'respx'\n1 error in 0.1s", code=1)
        session.run("pip install respx", "Successfully installed respx").run("pytest", "3 passed in 0.1s")
        made = session.save(tmp_path / "made" / name)
        lines = [json.loads(line) for line in made.read_text().splitlines()]
        (folder / made.name).write_text("".join(json.dumps({**line, "cwd": str(project)}) + "\n" for line in lines))
    return folder


@pytest.mark.usefixtures("logs")
def test_it_answers_from_the_logs_and_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    said = capsys.readouterr().out
    assert "newest 3 logs of this project" in said
    assert "ModuleNotFoundError" in said
    assert "most expensive recurring failure with a known fix" in said
    assert "3 times in 3 of 3 sessions" in said
    assert "pip install respx" in said
    assert "Next: helix-graph sync" in said
    assert [path.name for path in project.iterdir()] == [".git"]


@pytest.mark.usefixtures("logs")
def test_sessions_of_other_projects_are_shown_as_such(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = project.parent / "other"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    assert run([]) == 0
    assert "of all projects (none is of this one)" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_without_logs_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "No session logs" in capsys.readouterr().out


@pytest.mark.usefixtures("logs")
def test_with_a_memory_it_says_what_stands_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sync"]) == 0
    capsys.readouterr()
    assert run([]) == 0
    said = capsys.readouterr().out
    assert "pytest fails here before" in said
    standing_out, _, costliest = said.partition("The most expensive recurring failure with a known fix: ")
    assert standing_out.count("respx") == 2  # what has to run first and the problem, told once
    assert "Best remedy: run" in costliest
    assert "pip install respx" in costliest


def test_a_costlier_failure_without_a_common_fix_gives_way_to_one_that_has_it() -> None:
    fix = GeneralRemedy(how="run", what="make fmt", times=3, of=4, sessions=3, verified=3)
    dear = Issue(id="a" * 16, kind="issue", title="pytest: boom", repaired=4, minutes=90.0)
    cheap = replace(dear, title="ruff: E501", remedy=fix, minutes=2.0)
    rare = replace(cheap, title="mypy: x", remedy=replace(fix, times=1, of=4), minutes=50.0)
    assert costliest([dear, rare, cheap]) == cheap
    assert costliest([rare, dear]) == dear
