"""Is a task that is forgotten gone from plans, lineage and side files as well?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path

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


def holding(root: Path) -> dict[str, list[str]]:
    """Which files hold which of the words."""
    contents = {
        str(path.relative_to(root)): path.read_bytes().lower() for path in sorted(root.rglob("*")) if path.is_file()
    }
    found = {name: [word for word in TOLD if word.encode() in data] for name, data in contents.items()}
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
