"""Is a task that is forgotten gone from plans, lineage and side files as well?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import WriteFailed
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

PLAN = {
    "objective": "Open the shop",
    "tasks": [
        {
            "seq": "001",
            "objective": "Gild the mysterious lettering",
            "delta": ["lettering"],
            "verify": "check-lettering",
        },
        {"seq": "002", "objective": "Hang the sign", "depends": "001"},
    ],
}
TOLD = ("gild", "lettering", "smuggled gold leaf")


def holding(root: Path, *words: str) -> dict[str, list[str]]:
    """Which files hold which of the words."""
    contents = {
        str(path.relative_to(root)): path.read_bytes().lower() for path in sorted(root.rglob("*")) if path.is_file()
    }
    found = {name: [word for word in words or TOLD if word.encode() in data] for name, data in contents.items()}
    return {name: words for name, words in found.items() if words}


def test_nothing_of_a_forgotten_task_is_left(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    plans = memory.plans
    plans.save(PLAN)
    plans.assess("Gild the mysterious lettering", "Use smuggled gold leaf")
    plans.workspaces.create("001")
    lines = [{"task_id": "001-w1", "summary": "smuggled gold leaf"}, {"task_id": "002-w2", "summary": "hung"}]
    (memory.root / "task-status.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    episode = plans.workspaces.complete(1, "smuggled gold leaf is on it").episode
    plans.workspaces.create("002")
    memory.graph.compile()
    assert len(holding(memory.root)) >= 4
    report = memory.forget([episode.removeprefix("episode-")])
    assert report.proof is not None
    assert report.proof.whole
    assert holding(memory.root) == {}
    plan = plans.load()
    assert plan is not None
    assert [(task.seq, task.status) for task in plan.tasks] == [("001", "complete"), ("002", "active")]
    assert [(one.seq, one.delivered) for one in plans.workspaces.get(2).lineage.parents] == [("001", "(forgotten)")]
    assert "002-w2" in (memory.root / "task-status.jsonl").read_text()


def test_for_what_a_forgotten_task_was_shown_its_insights_is_forgotten_and_how_it_went_is_not(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    name = memory.insights.store("Gild what is mysterious by daylight only")["name"]
    memory.plans.save(PLAN)
    assert memory.plans.workspaces.create("001", session="orchestrator").injected == (name,)
    episode = memory.plans.workspaces.complete(1, "done", [name]).episode
    memory.forget([episode])
    held = b"".join(path.read_bytes() for path in sorted(memory.root.rglob("*")) if path.is_file())
    assert b"mysterious lettering" not in held
    assert memory.insights.readiness().measured == 1


def test_a_dry_run_forgets_no_task(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    memory.plans.save(PLAN)
    memory.plans.workspaces.create("001")
    episode = memory.plans.workspaces.complete(1, "done").episode
    memory.forget([episode], dry_run=True)
    assert memory.plans.workspaces.get(1).status == "complete"


def test_what_a_forgotten_session_was_shown_goes_with_it(tmp_path: Path, script: Callable[..., Script]) -> None:
    """The names of insights are made of its words: in helix.db, in what tasks were given, and its lines of the log."""
    session, words = "5f0c1111-2222-4333-8444-abcdefabcdef", "zqxcanary"
    memory = Memory.init(tmp_path)
    log = script(session).prompt("Replace the client").run("pytest -q", "4 passed in 0.1s")
    log = log.prompt(f"no, never use {words} requests, always use {words} in this project").say("ok").edit("a.py")
    saved = log.run("pytest -q", "4 passed in 0.1s").prompt("thanks, works").save(tmp_path / "logs")
    other = script("kept").prompt("Paint the door").edit("door.py").run("pytest -q", "4 passed in 0.1s")
    memory.extract([saved, other.save(tmp_path / "logs")])
    memory.insights.harvest()
    kept = memory.insights.store("never use requests in this project without a limit of time")["name"]
    for task, by in (("t1", session), ("t2", "kept")):
        memory.plans.inject("never use requests in this project", task_id=task, session=by)
    memory.plans.learn(saved)
    memory.plans.learn(tmp_path / "logs" / "kept.jsonl")
    before = holding(memory.root, words, session)
    assert {"extraction.log", "helix.db", "injection-state/t1.json", "injection-state/t2.json"} <= before.keys()
    report = memory.forget([session])
    assert report.proof is not None
    assert report.proof.whole
    assert holding(memory.root, words, session) == {}
    assert not (memory.root / "injection-state" / "t1.json").exists()
    state = json.loads((memory.root / "injection-state" / "t2.json").read_text())
    assert state["names"] == [kept]
    assert "kept" in (memory.root / "extraction.log").read_text()


def test_a_link_in_the_place_of_the_log_leads_nowhere(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = Memory.init(tmp_path)
    memory.extract([script("s-1").prompt("Paint").run("pytest -q", "1 passed in 0.1s").save(tmp_path / "logs")])
    memory.insights.store("Paint the door before the shop opens")
    outside = tmp_path / "history.jsonl"
    outside.write_text('{"sessionId": "s-1"}\n')
    (memory.root / "extraction.log").symlink_to(outside)
    with pytest.raises(WriteFailed, match="it is a link, not a regular file; remove it"):
        memory.forget(["s-1"])
    assert outside.read_text() == '{"sessionId": "s-1"}\n'
    (memory.root / "extraction.log").unlink()
    assert memory.forget(["s-1"]).sessions == ("s-1",)


def test_what_quotes_a_forgotten_session_in_a_task_s_file_is_reported(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    memory = Memory.init(tmp_path)
    saved = script("s-1").prompt("Replace the brass client of the door").run("pytest -q", "1 passed in 0.1s")
    memory.extract([saved.save(tmp_path / "logs")])
    (memory.root / "injection-state").mkdir(exist_ok=True)
    (memory.root / "injection-state" / "x.json").write_text('{"query": "Replace the brass client of the door"')
    report = memory.forget(["s-1"])
    assert report.proof is not None
    assert [one.file for one in report.proof.left] == ["injection-state/x.json"]
