"""Does a session come back from ATIF as it went, and is nothing in it that must not leave?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_cli.app import run
from helix_episodes.errors import InvalidArgument, LogNotReadable, NotFound
from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from helix_episodes.readers.atif import atif_bytes, atif_document
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from helix_episodes.session import Session, Step
    from session_script import Script


def scripted(script: Callable[..., Script]) -> Script:
    return (
        script("a-session")
        .prompt("Make the tests of the till pass")
        .think("The till rounds twice")
        .say("I look at the failing test first")
        .run("pytest -q", "E   KeyError: 'price'\n1 failed in 0.1s", code=1)
        .edit("shop/till.py", "round(round(x))", "round(x)")
        .write("shop/new.py")
        .edit_fails("shop/till.py")
        .rejected("Bash", {"command": "git push"}, "not yet")
        .call("TodoWrite", {"todos": [{"content": "test", "status": "completed"}]}, output="ok")
        .call("Grep", {"pattern": "round", "path": "/work/shop"}, output="shop/till.py")
        .call("Task", {"subagent_type": "explorer", "prompt": "look", "description": "x"}, output="nothing found")
        .run("pytest -q", "1 passed in 0.1s")
        .prompt("Thanks")
    )


def session_in(path: Path) -> Session:
    (found,) = read_sessions(path)
    return found


def round_trip(session: Session, folder: Path) -> Session:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trajectory.json").write_bytes(atif_bytes(session))
    return session_in(folder / "trajectory.json")


def content(steps: tuple[Step, ...]) -> Iterator[tuple[Any, ...]]:
    for one in steps:
        yield one.kind, one.actor, one.text, one.operation, one.arguments, one.status, one.exit_code, one.at


def test_a_session_comes_back_as_it_went(script: Callable[..., Script], tmp_path: Path) -> None:
    session = session_in(scripted(script).save(tmp_path / "logs"))
    again = round_trip(session, tmp_path / "atif")
    assert list(content(again.steps)) == list(content(session.steps))
    assert (again.id, again.agent, again.root) == (session.id, session.agent, session.root)
    first, second = extract(session), extract(again)
    for name in ("outcome", "outcome_basis", "task", "task_kind"):
        assert getattr(first, name) == getattr(second, name)
    assert [one.chosen for one in first.decisions] == [one.chosen for one in second.decisions]
    assert [one.content for one in first.events] == [one.content for one in second.events]
    assert [one.fingerprint for one in first.events] == [one.fingerprint for one in second.events]


def test_it_has_the_form_that_the_format_asks_for(script: Callable[..., Script], tmp_path: Path) -> None:
    document = atif_document(session_in(scripted(script).save(tmp_path / "logs")))
    assert document["schema_version"] == "ATIF-v1.7"
    assert {"name", "version"} <= document["agent"].keys()
    steps = document["steps"]
    assert [one["step_id"] for one in steps] == list(range(1, len(steps) + 1))
    assert {one["source"] for one in steps} == {"user", "agent"}
    for one in steps:
        calls = [call["tool_call_id"] for call in one.get("tool_calls", ())]
        results = [result["source_call_id"] for result in one.get("observation", {}).get("results", ())]
        assert set(results) <= set(calls)
        assert len(set(calls)) == len(calls)
        assert one["source"] == "agent" or not {"tool_calls", "observation", "reasoning_content"} & one.keys()
    assert document["final_metrics"] == {"total_steps": len(steps)}


def test_secrets_and_homes_are_cut(script: Callable[..., Script], tmp_path: Path) -> None:
    key = "AKIAQ3EGRV7ZT5NPLMWB"
    log = script("s").prompt(f"use {key}").run("cat /home/kim/notes", f"key: {key}").save(tmp_path)
    written = atif_bytes(session_in(log))
    assert key.encode() not in written
    assert b"/home/kim" not in written
    assert b"[redacted:aws-key]" in written


def test_the_command_writes_it(
    script: Callable[..., Script],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    memory = Memory.init(tmp_path)
    log = scripted(script).save(tmp_path / "logs")
    memory.extract([log])
    capsys.readouterr()
    assert run(["episode", "export", "last", "--log", str(log)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert run(["episode", "export", "a-session", "--log", str(log), "--output", "t.json"]) == 0
    assert json.loads((tmp_path / "t.json").read_text()) == printed
    assert memory.export("a-session", log=log) == (tmp_path / "t.json").read_bytes()
    assert session_in(tmp_path / "t.json").id == "a-session"


def test_what_cannot_be_exported_is_said(script: Callable[..., Script], tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    log = scripted(script).save(tmp_path / "logs")
    memory.extract([log])
    with pytest.raises(NotFound):
        memory.export("nobody")
    with pytest.raises(LogNotReadable, match="not where agents keep their logs"):
        memory.export("a-session")
    other = script("other").prompt("x").save(tmp_path / "others")
    with pytest.raises(InvalidArgument, match="has no session a-session"):
        memory.export("a-session", log=other)


@pytest.mark.corpus
@pytest.mark.slow
def test_real_sessions_come_back(corpora: Path, tmp_path: Path) -> None:
    changed = []
    for place, path in enumerate(sorted((corpora / "claude-code").glob("*.jsonl"))[:20]):
        session = session_in(path)
        first, second = extract(session), extract(round_trip(session, tmp_path / str(place)))
        same = [one.chosen for one in first.decisions] == [one.chosen for one in second.decisions]
        changed += [] if same else [path.name]
    assert changed == []
