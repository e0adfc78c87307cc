"""Do the commands of plans say what the library says, as JSON and in words, with the right exit codes?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_cli.app import run
from helix_graph import Memory
from plan_world import SHOES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    for name in ("HELIX_SESSION", "CLAUDE_CODE_SESSION_ID", "HELIX_DB_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / ".helix"))
    monkeypatch.chdir(tmp_path)
    return Memory.init()


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command answers as JSON."""

    def ask(*arguments: str, code: int = 0) -> Any:  # noqa: ANN401  (JSON)
        capsys.readouterr()
        assert run([*arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return ask


@pytest.fixture
def plan_file(tmp_path: Path) -> str:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(SHOES))
    return str(path)


def test_a_plan_from_start_to_end(told: Callable[..., Any], plan_file: str, memory: Memory) -> None:
    memory.insights.store("When the cart is built, limit what it holds", ["failure"])
    assert told("plan", "save", plan_file) == {"id": 1, "task_count": 3}
    assert told("plan", "waves") == [["001", "002"], ["003"]]
    assert [one["seq"] for one in told("plan", "ready")] == ["001", "002"]
    made = told("workspace", "create", "001")
    assert (made["_id"], made["_task_id"], made["idioms"]["required"]) == (1, "001-w1", ["Use Depends() for auth"])
    assert [one["name"] for one in made["failures"]] == made["_injected"] != []
    assert told("workspace", "prompt", "1")["prompt"].startswith("TASK_ID: 001-w1\n")
    ended = told("workspace", "complete", "1", "--delivered", "a cart", "--utilized", json.dumps(made["_injected"]))
    assert (ended["status"], ended["workspace_id"], ended["feedback"]["causal"]) == ("complete", 1, 1)
    assert told("workspace", "get", "1")["_status"] == "complete"
    assert told("plan", "update", "002", "--status", "blocked", "--reason", "no till") == {
        "status": "updated",
        "task_seq": "002",
    }
    status = told("plan", "status")
    assert (status["state"], status["unreachable"]) == ("stuck", [{"seq": "003", "blocked_by": ["002"]}])
    assert told("plan", "complete") == {"status": "complete", "plan_id": 1, "unfinished": ["002", "003"]}
    assert told("plan", "load") is None


def test_the_same_in_words(plan_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (
        "plan save plan.json|plan 1 saved, 3 tasks",
        "plan ready|001  pending",
        "plan waves|1: 001, 002",
        "plan load|Sell shoes",
        "plan status|in_progress: 2 ready",
        "workspace create 001|001-w1",
        "workspace get 1|objective  Build the cart",
        "workspace prompt 1|NO_PRIOR_MEMORY",
        "workspace block 1 --reason gone|workspace 1 blocked",
        "plan status|003 can never begin: 001 blocked",
        "plan complete|left undone: 001, 002, 003",
        "exploration load|No exploration",
        "exploration clear|0 explorations and 0 results",
        "inject cart|NO_PRIOR_MEMORY",
        "batch-inject cart till|NO_PRIOR_MEMORY",
        "assess cart --approach push|continue (1 attempt)",
        "wait builders --task-ids 9 --timeout 0|missing: 9",
        "wait explorers --count 1 --timeout 0|timed out; 0 of 1 explorer",
    ):
        command, _, expected = line.partition("|")
        assert run(command.split()) == 0, command
        assert expected in capsys.readouterr().out
    assert plan_file.endswith("plan.json")


def test_injection_notes_and_tells_as_in_the_seed(told: Callable[..., Any], memory: Memory) -> None:
    name = memory.insights.store("When the cart is built, limit what it holds")["name"]
    found = told("inject", "build the cart", "--task-id", "t1", "--session", "s")
    assert found == {"insights": ["[50%] When the cart is built, limit what it holds"], "names": [name]}
    assert json.loads((memory.root / "injection-state" / "t1.json").read_text())["names"] == [name]
    assert told("inject", "build the cart", "--session", "s")["names"] == []
    assert told("inject", "build the cart", "--session", "s", "--repeat")["names"] == [name]
    batch = told("batch-inject", "build the cart", "build the till", "--session", "s", "--reset", "--task-ids", "a,b")
    assert (batch["total_unique"], [one["names"] for one in batch["results"]]) == (1, [[name], []])


def test_a_wait_tells_success_timeout_and_failure_apart(told: Callable[..., Any], memory: Memory) -> None:
    lines = [{"task_id": "1", "outcome": "delivered"}, {"task_id": "2", "outcome": "crashed"}]
    (memory.root / "task-status.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for ids, code in (("1", 0), ("1,3", 3), ("1,2", 4)):
        arguments = ("wait", "builders", "--task-ids", ids, "--timeout", "0")
        assert told(*arguments) == told(*arguments, "--strict", code=code)
    found = told("wait", "builders", "--task-ids", "1", "--timeout", "0")
    assert list(found) == [
        *("completed", "count", "delivered", "blocked", "plan_complete", "crashed", "unknown"),
        *("all_delivered", "insights_emitted"),
    ]
    told("wait", "explorers", "--count", "1", "--timeout", "0", "--strict", code=3)
    (memory.root / "explorer-results").mkdir()
    (memory.root / "explorer-results" / "a.json").write_text("[]")
    told("wait", "explorers", "--count", "1", "--timeout", "0", "--strict", code=4)


def test_learning_tells_what_was_taken(told: Callable[..., Any], tmp_path: Path, script: Callable[..., Script]) -> None:
    log = (
        script("agent-b1")
        .prompt("TASK_ID: t1\nTASK: cart")
        .say("BLOCKED: the stock service is down")
        .save(tmp_path / "logs")
    )
    learnt = told("learn", str(log), "--agent-id", "b1")
    assert (learnt["outcome"], learnt["agent_id"], learnt["stored"]["status"]) == ("blocked", "b1", "added")
    assert (
        told("wait", "builders", "--task-ids", "t1", "--timeout", "0")["blocked"][0]["summary"]
        == "the stock service is down"
    )


def test_explorations_are_kept(told: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "found.json").write_text('{"objective": "Sell shoes", "targets": ["cart.py"]}')
    assert told("exploration", "save", "found.json") == {"id": 1, "status": "saved"}
    loaded = told("exploration", "load")
    assert (loaded["_id"], loaded["objective"], loaded["data"]["targets"]) == (1, "Sell shoes", ["cart.py"])
    assert told("exploration", "clear") == {"status": "cleared", "explorations": 1, "results": 0}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["plan", "save", "broken.json"], 2, "no JSON"),
        (["plan", "save", "list.json"], 2, "JSON object"),
        (["plan", "save", "circle.json"], 1, "Cycle detected: a -> a"),
        (["plan", "load", "--plan", "7"], 1, "no plan 7"),
        (["plan", "load", "--plan", str(10**30)], 2, "must be between"),
        (["plan", "update", "x"], 1, "no plan is active"),
        (["workspace", "create", "001"], 1, "no plan is active"),
        (["workspace", "create"], 2, "SEQ or --data"),
        (["workspace", "get", "5"], 1, "no workspace 5"),
        (["workspace", "complete", "5", "--delivered", "x"], 1, "no workspace 5"),
        (["workspace", "complete", "5", "--delivered", "x", "--utilized", "[1"], 2, "no JSON"),
        (["inject", " "], 2, "objective is empty"),
        (["inject", "x", "--task-id", "../../escape"], 2, "--task-id is '../../escape'"),
        (["wait", "builders", "--task-ids", ","], 2, "--task-ids is empty"),
        (["wait", "builders", "--task-ids", "1", "--timeout", "-1"], 2, "--timeout is -1"),
        (["wait", "explorers", "--count", "0"], 2, "count is 0"),
        (["learn", "none.jsonl"], 1, "does not exist"),
        (["learn", ""], 2, "empty"),
        (["assess", "x", "--approach", ""], 2, "--approach is empty"),
        (["exploration", "save", "noname.json"], 1, "objective is missing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_a_sentence(
    arguments: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "noname.json").write_text("{}")
    circle = {"objective": "x", "tasks": [{"seq": "a", "objective": "a", "depends": "a"}]}
    (tmp_path / "circle.json").write_text(json.dumps(circle))
    capsys.readouterr()
    assert run(arguments) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert "Traceback" not in printed.err


def test_a_task_out_of_bounds_shows_in_the_exit_code(told: Callable[..., Any], tmp_path: Path, plan_file: str) -> None:
    assert run(["plan", "save", plan_file]) == 0
    assert run(["workspace", "create", "001"]) == 0
    assert run(["workspace", "check", "1"]) == 1  # no repository: nothing can be compared
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert told("workspace", "create", "002")["_id"] == 2
    assert told("workspace", "check", "2", "--calls", "3")["within_budget"]
    (tmp_path / "other.py").write_text("x")
    assert told("workspace", "check", "2", code=1)["outside"] == ["other.py"]
    assert not told("workspace", "check", "2", "--calls", "8", code=1)["within_budget"]


@pytest.mark.parametrize("ids", ["t1,,t3", "t1,t2,", ",t2", "t1,t1", "t1,t2,t3,t4", '["t1", ""]'])
def test_ids_that_would_fall_to_the_wrong_task_are_a_usage_error(ids: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["batch-inject", "one", "two", "three", "--task-ids", ids]) == 2
    said = capsys.readouterr().err
    assert said.startswith("helix-graph: --task-ids ")
    assert "give each task a distinct id" in said
