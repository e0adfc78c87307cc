"""Is everything told once in a session, by however many programs, and is nothing lost that was not told?"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from advised_project import ADVICE
from helix_cli.hooks.context_block import ContextLine, ContextSection, context_block
from helix_cli.hooks.session_dedup import SessionDedup
from helix_graph import Memory
from hook_calls import call, wait_for, wait_until_idle
from session_script import Script
from thoroughness import few

PROMPT = "the courier API times out for a page"
HOOK = [sys.executable, "-c", "from helix_cli.entry import main; main()", "hook"]
ENVIRONMENT = {**os.environ, "HELIX_HOOK_SECONDS": "60"}
#: Whoever loads what answers an event waits for longer than the hook has.
SLOW = """
import sys, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "helix_cli.hooks.call":
            time.sleep(1)

sys.meta_path.insert(0, Slow())
"""
TOLD = [{"prompt_id": "p-1"}, {"turn_id": "t-1"}, {}]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HELIX_DIR", raising=False)
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    Memory.init(folder).insights.store(ADVICE, ["user-provided"])
    return folder


def asking(project: Path, **more: object) -> dict[str, Any]:
    return {"session_id": "s", "cwd": str(project), "prompt": PROMPT, "prompt_id": "p-1", **more}


def ended(project: Path, name: str, **more: object) -> dict[str, Any]:
    """A builder's end, told with a transcript of its own."""
    path = (
        Script(f"agent-{name}", root=str(project))
        .prompt(f"TASK_ID: task-{name}\nOBJECTIVE: Build {name}")
        .say(f"DELIVERED: {name} is built")
        .save(project.parent / "logs")
    )
    return {
        "session_id": "s",
        "cwd": str(project),
        "agent_id": name,
        "agent_type": "helix-graph:helix-builder",
        "agent_transcript_path": str(path),
        **more,
    }


def statuses(project: Path) -> list[dict[str, Any]]:
    path = project / ".helix" / "task-status.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("ids", few(TOLD, 1), ids=str)
@pytest.mark.slow
def test_every_agent_that_ends_within_a_prompt_is_learnt_from(project: Path, ids: dict[str, str]) -> None:
    for name in ("cart", "till", "door"):
        assert call("subagent-stop", ended(project, name, **ids)).code == 0
    wait_for(lambda: len(statuses(project)) == 3)
    assert {one["agent_id"] for one in statuses(project)} == {"cart", "till", "door"}


@pytest.mark.slow
@pytest.mark.parametrize("ids", few(TOLD, 1), ids=str)
def test_an_ending_that_two_programs_tell_is_one(project: Path, ids: dict[str, str]) -> None:
    end = ended(project, "cart", **ids)
    for _ in range(2):
        call("subagent-stop", end)
    call("subagent-stop", ended(project, "last"))  # its turn comes after theirs
    wait_for(lambda: any(one["agent_id"] == "last" for one in statuses(project)))
    wait_until_idle(project / ".helix")
    assert sorted(one["agent_id"] for one in statuses(project)) == ["cart", "last"]


@pytest.mark.parametrize("known_by", ["length", "words"])
@pytest.mark.slow
def test_an_agent_that_was_sent_on_ends_again(project: Path, known_by: str) -> None:
    end = ended(project, "cart", prompt_id="p-1")
    first, second = [{"last_assistant_message": one} if known_by == "words" else {} for one in ("built", "tested")]
    call("subagent-stop", {**end, **first})
    wait_for(lambda: len(statuses(project)) == 1)
    if known_by == "length":
        wait_until_idle(project / ".helix")
    path = project.parent / "logs" / "agent-cart.jsonl"
    path.write_text(path.read_text().replace("is built", "is built, and tested too"))
    call("subagent-stop", {**end, **second})
    wait_for(lambda: len(statuses(project)) == 2)
    assert statuses(project)[1]["summary"] == "cart is built, and tested too"


def test_the_session_is_not_taken_for_the_agents_transcript(project: Path) -> None:
    end = ended(project, "cart")
    end["transcript_path"] = end.pop("agent_transcript_path")
    call("subagent-stop", end)
    wait_for((project / ".helix" / "hooks.log").exists)
    assert "nothing names the transcript of helix-graph:helix-builder cart" in (
        (project / ".helix" / "hooks.log").read_text()
    )
    assert statuses(project) == []


@pytest.mark.slow
def test_what_a_stopped_hook_took_is_given_the_next_time(project: Path) -> None:
    database = sqlite3.connect(project / ".helix" / "helix.db", isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    try:
        assert call("user-prompt", asking(project), seconds=2).said is None
    finally:
        database.close()
    assert "was stopped" in (project / ".helix" / "hooks.log").read_text()
    assert ADVICE in call("user-prompt", asking(project)).context
    assert call("user-prompt", asking(project, prompt_id="p-2")).said is None


@pytest.mark.parametrize("how", few(["closed", "gone"], 1))
def test_what_nobody_heard_is_given_the_next_time(project: Path, how: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *HOOK] if how == "closed" else HOOK
    done = subprocess.run(
        [*command, "user-prompt"],
        input=json.dumps(asking(project)).encode(),
        stdout=writing,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert ADVICE in call("user-prompt", asking(project)).context


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="who waits for a lock is told by Linux")
def test_an_answer_that_nobody_waits_for_any_more_is_not_given(project: Path) -> None:
    """The agent's program kills the process that it began; its child hears of that by nobody."""
    with (
        SessionDedup(project / ".helix", "s") as held,
        subprocess.Popen(
            [*HOOK, "user-prompt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
        ) as hook,
    ):
        held.take(["anything"])  # so the hook waits when it wants to take
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(asking(project)).encode())
        hook.stdin.close()
        wait_for(lambda: _is_waiting(project))
        hook.kill()
        hook.wait()
        held.__exit__()
        assert hook.stdout is not None
        assert hook.stdout.read() == b""
    assert ADVICE in call("user-prompt", asking(project)).context


def _is_waiting(project: Path) -> bool:
    """Whether some process waits for a lock on the session's file."""
    (path,) = (project / ".helix" / "hooks").glob("*.given")
    locks = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and line.split()[6].endswith(f":{path.stat().st_ino}") for line in locks)


@pytest.mark.slow
def test_two_hooks_at_once_give_it_once(project: Path) -> None:
    hooks = [
        subprocess.Popen([*HOOK, "session-start"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
        for _ in range(4)
    ]
    begin = json.dumps({"session_id": "s", "cwd": str(project), "source": "startup"}).encode()
    heard = [one.communicate(begin)[0] for one in hooks]
    assert [ADVICE.encode() in one for one in heard].count(True) == 1


@pytest.mark.slow
def test_a_context_that_was_emptied_is_filled_once_by_two_programs(project: Path) -> None:
    transcript = project.parent / "session.jsonl"
    begin = {"session_id": "s", "cwd": str(project), "transcript_path": str(transcript)}
    for size in (10, 20):  # it is compacted twice
        transcript.write_text("x" * size)
        heard = [call("session-start", {**begin, "source": "compact", "prompt_id": "p-1"}).context for _ in range(2)]
        assert [ADVICE in one for one in heard] == [True, False]


def test_a_full_briefing_tells_all_that_it_took() -> None:
    sections = [
        ContextSection(
            "Known:", [ContextLine(f"{place}{'x' * 900}", f"name-{place}") for place in "abcdefghijklmnopqrs"]
        )
    ]
    told = context_block(sections)
    assert len(told) < 6500
    assert all(f"- {place}x" in told and f"name-{place}" in told for place in "abcdefghijklmnopqrs")


def test_what_is_not_kept_is_free_again(tmp_path: Path) -> None:
    with SessionDedup(tmp_path, "s") as first:
        assert first.take(["a", "b"]) == ["a", "b"]
        assert first.take(["b", "c"]) == ["c"]
    with SessionDedup(tmp_path, "s") as second:
        assert second.take(["a"]) == ["a"]
        second.keep()
        assert second.take(["b"]) == ["b"]
    assert [SessionDedup(tmp_path, "s").has(one) for one in "abc"] == [True, False, False]


@pytest.mark.slow
def test_no_end_of_an_agent_is_lost_to_a_machine_that_is_too_slow(project: Path, tmp_path: Path) -> None:
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW)
    path = os.pathsep.join([str(tmp_path / "slow"), *filter(None, sys.path)])
    call("subagent-stop", ended(project, "cart"), seconds=0.5, environment={"PYTHONPATH": path})
    wait_for(lambda: [one["agent_id"] for one in statuses(project)] == ["cart"])
