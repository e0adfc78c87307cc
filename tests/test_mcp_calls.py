"""Calls without a transport: whose memory they work on, and what only a machine of one's own can show."""

from __future__ import annotations

import json
import re
import shutil
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import pytest

from helix_cli.mcp.dispatch import Outcome, open_memory
from helix_cli.mcp.dispatch import answer as answer_of
from helix_cli.mcp.tool_declaration import tools_by_name
from helix_graph import Memory
from helix_graph.errors import NoMemory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


@pytest.fixture(autouse=True)
def _nobodys_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HELIX_DIR", raising=False)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.chdir(tmp_path / "home")


def silent(done: int, total: int, message: str) -> None:
    """Nobody watches."""


def answer(tool: str, arguments: dict[str, object]) -> Outcome:
    return answer_of(tool, arguments, silent, tools=tools_by_name("all"))


def test_the_project_that_the_client_names_comes_before_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (Memory.init(tmp_path / name) for name in ("here", "there"))
    monkeypatch.chdir(here.root.parent)
    assert open_memory().root == here.root
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(there.root.parent))
    assert open_memory().root == there.root
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "home"))
    with pytest.raises(NoMemory):
        open_memory()


def test_extract_without_logs_reads_what_agents_wrote_of_this_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Memory.init(tmp_path / "project").root.parent
    monkeypatch.chdir(project)
    logs = tmp_path / "home" / ".claude" / "projects" / str(project).replace("/", "-")
    logs.mkdir(parents=True)
    with as_file(files("helix_cli") / "demo" / "logs") as demo:
        log = min(demo.rglob("*.jsonl"))
        text = log.read_text(encoding="utf-8")
    (logs / log.name).write_text(text.replace(_folder_of(text), str(project)), encoding="utf-8")
    outcome = answer("extract", {"agent": "claude-code"})
    assert not outcome.failed, outcome.text
    assert "1 episode written" in outcome.text
    assert "1 log recorded before and unchanged" in answer("extract", {}).text


def test_extract_reads_no_session_of_another_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[..., Script]
) -> None:
    """An agent of one project must not read the sessions of all others, whatever logs it names."""
    memory, other = (Memory.init(tmp_path / name) for name in ("mine", "other"))
    monkeypatch.chdir(memory.root.parent)
    logs = tmp_path / "home" / ".claude" / "projects"
    log = script("theirs", root=str(other.root.parent)).prompt("Theirs alone").run("pytest -q").save(logs / "-other")
    script("own", root=str(memory.root.parent)).prompt("Deploy").run("pytest -q").save(logs / "-mine")
    refused = answer("extract", {"logs": [str(log)]})
    assert refused.failed
    assert f"ran in {other.root.parent}, which is another project" in refused.text
    read = answer("extract", {"logs": "~/.claude"})
    assert not read.failed, read.text
    assert f"left out: {log}" in read.text
    assert [one.session for one in memory.episodes.list()] == ["own"]


def _folder_of(text: str) -> str:
    """The folder in which the session of a Claude Code log was held."""
    found = re.search(r'"cwd": ?"([^"]+)"', text)
    assert found is not None
    return found[1]


def test_a_folder_that_is_gone_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    outcome = answer("status", {})
    assert outcome.failed
    assert outcome.text == "status: No such file or directory"


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("feedback", {"names": ["x"] * 1001, "outcome": "delivered"}),
        ("feedback", {"names": json.dumps(["x"] * 1001), "outcome": "delivered"}),
        ("feedback", {"names": "x," * 1001, "outcome": "delivered"}),
        ("recall", {"query": "a", "suppress_names": ["x"] * 1001}),
        ("remember", {"content": "What is long enough to be stored", "tags": ["x"] * 1001}),
        ("store", {"topic": "a", "text": "b", "tags": ["x"] * 1001}),
        ("extract", {"logs": ["/x"] * 1001}),
    ],
)
def test_no_call_brings_a_list_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, asked: dict[str, object]
) -> None:
    Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = answer(tool, asked)
    assert outcome.failed
    assert "at most 1000" in outcome.text


def test_a_model_that_was_loaded_is_kept_for_the_next_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Memory.init(tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    assert open_memory() is open_memory()


def test_a_briefing_is_narrowed_to_the_categories_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory.init(tmp_path / "project")
    monkeypatch.chdir(memory.root.parent)
    memory.topics.store("rates", "gotcha: they are in cents")
    memory.topics.store("rates", "decision: they are rounded once")
    whole = answer("brief", {"query": "rates", "detail": "full"}).text
    narrowed = answer("brief", {"query": "rates", "detail": "full", "focus": "gotchas"}).text
    assert "rounded once" in whole
    assert "in cents" in narrowed
    assert "rounded once" not in narrowed
