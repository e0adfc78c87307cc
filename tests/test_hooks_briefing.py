"""What does a session know when it begins, goes on after a compaction, or follows one that was killed?"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph import Memory
from hook_calls import call, wait_for, wait_until_idle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

ERROR = "TypeError: unsupported operand type(s) for *: 'decimal.Decimal' and 'float'"
FAILED = f"E       {ERROR}\nFAILED tests/test_cart.py::test_discount - TypeError: unsupp...\n1 failed in 0.1s"
WHY = "Prices are Decimal and the discount is a float, so I convert it with Decimal(str(discount))."
FIX = "return subtotal * (1 - Decimal(str(discount)))"
#: English text with code in it has some four characters a token.
CHARACTERS_A_TOKEN = 4


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HELIX_DIR", raising=False)
    for folder in (".git", "tests"):
        (tmp_path / "shop" / folder).mkdir(parents=True)
    (tmp_path / "shop" / "tests" / "test_cart.py").touch()
    Memory.init(tmp_path / "shop")
    return tmp_path / "shop"


def worked(script: Callable[..., Script], project: Path, name: str) -> Script:
    """A session that meets the error and repairs it, without a commit."""
    return (
        script(name, root=str(project))
        .prompt("Make a cart with a discount work")
        .run("pytest -q", FAILED, code=1)
        .say(WHY)
        .edit("shop/cart.py", "return subtotal * (1 - discount)", FIX)
        .run("pytest -q", "2 passed in 0.1s")
    )


def told(project: Path, session: str, **more: object) -> dict[str, Any]:
    return {"session_id": session, "cwd": str(project), **more}


def end(project: Path, log: Path, session: str) -> None:
    call("session-end", told(project, session, transcript_path=str(log), reason="other"))
    wait_for((project / ".helix" / "episodes" / f"episode-{session}.json").exists)
    wait_until_idle(project / ".helix")


def test_a_briefing_says_how_the_last_session_ended_and_what_it_repaired(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    end(project, worked(script, project, "first").save(tmp_path / "logs"), "first")
    said = call("session-start", told(project, "second", source="startup")).context
    assert "Make a cart with a discount work" in said
    assert "success" in said
    assert ERROR in said
    assert FIX in said
    assert len(said) <= 300 * CHARACTERS_A_TOKEN
    [advice] = Memory.open(project).insights.recall("a discount as a float meets a Decimal price", semantic=False)
    assert "Decimal(str(discount))" in advice["content"]  # harvested when the session ended


def test_an_error_that_was_repaired_in_two_files_is_briefed_once_with_its_newest_repair(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    def repaired(name: str, file: str, day: int) -> Script:
        log = script(name, root=str(project), begin=datetime(2026, 9, day, tzinfo=UTC)).prompt("Add duties")
        failed = log.run("pytest -q", FAILED, code=1).edit(file, "return price * 1.2", f'return {name}(Decimal("1.2"))')
        return failed.run("pytest -q", "2 passed in 0.1s")

    memory = Memory.open(project)
    logs = (repaired("shipping", "shop/shipping.py", 1), repaired("customs", "shop/customs.py", 2))
    memory.extract([one.save(tmp_path / "logs") for one in logs])
    memory.graph.compile()
    said = call("session-start", told(project, "next", source="startup")).context
    assert said.count(ERROR) == 1
    assert "customs(Decimal" in said


@pytest.mark.slow
def test_a_briefing_is_never_empty_where_there_was_a_session(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    idle = script("idle", root=str(project)).prompt("What does the cart do?").say("It adds up prices.")
    end(project, idle.save(tmp_path / "logs"), "idle")
    said = call("session-start", told(project, "next", source="startup")).context
    assert "What does the cart do?" in said
    assert "outcome: not known" in said
    assert "%" not in said  # nobody has used anything yet


def test_a_refused_call_that_another_tool_answered_is_no_fix_to_tell(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    log = (
        script("first", root=str(project))
        .prompt("Where is the discount?")
        .call("Read", {"file_path": f"{project}/src"}, error="EISDIR: illegal operation on a directory, read")
        .call("Glob", {"pattern": "src/*.py", "path": str(project)}, output="src/cart.py")
        .call("Read", {"file_path": f"{project}/src/cart.py"}, output="total = 1")
    )
    end(project, log.save(tmp_path / "logs"), "first")
    [met] = Memory.open(project).graph.seen().precedents
    assert met.fixes  # it is recorded, for who asks
    assert "EISDIR" not in call("session-start", told(project, "second", source="startup")).context


@pytest.mark.slow
def test_advice_from_a_fix_that_the_briefing_told_is_not_given_at_a_prompt(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    end(project, worked(script, project, "first").save(tmp_path / "logs"), "first")
    prompt = "Why does shop/cart.py multiply a Decimal subtotal with a float discount?"
    assert FIX in call("user-prompt", told(project, "unbriefed", prompt=prompt)).context
    assert FIX in call("session-start", told(project, "briefed", source="startup")).context
    assert FIX not in call("user-prompt", told(project, "briefed", prompt=prompt)).context


@pytest.mark.slow
def test_what_still_fails_is_said_until_it_passes(project: Path, script: Callable[..., Script], tmp_path: Path) -> None:
    failing = script("fails", root=str(project)).prompt("Round prices").run("pytest -q", "2 passed in 0.1s")
    end(project, failing.run("pytest -q", FAILED, code=1).save(tmp_path / "logs"), "fails")
    said = call("session-start", told(project, "next", source="startup")).context
    assert "Still failing" in said
    assert ERROR in said.partition("Still failing")[2]
    passing = script("passes", root=str(project), begin=datetime(2030, 1, 1, tzinfo=UTC)).prompt(
        "Go on with the prices"
    )
    end(project, passing.run("pytest -q", "2 passed in 0.1s").save(tmp_path / "logs"), "passes")
    wait_until_idle(project / ".helix")
    assert "Still failing" not in call("session-start", told(project, "later", source="startup")).context


@pytest.mark.slow
def test_what_failed_in_a_file_that_was_deleted_since_fails_no_more(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    failed = (
        f"tests/test_cart.py:4: in test_discount\nE       {ERROR}\nFAILED tests/test_cart.py::test_discount\n1 failed"
    )
    failing = script("fails", root=str(project)).prompt("Round prices").run("pytest -q", "2 passed in 0.1s")
    end(project, failing.run("pytest -q", failed, code=1).save(tmp_path / "logs"), "fails")
    said = call("session-start", told(project, "next", source="startup")).context
    assert "tests/test_cart.py" in said.partition("Still failing")[2]
    (project / "tests" / "test_cart.py").unlink()
    assert "Still failing" not in call("session-start", told(project, "later", source="startup")).context


@pytest.mark.slow
def test_a_briefing_stays_short_however_much_there_is(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    memory = Memory.open(project)
    for number in range(9):
        memory.insights.store(
            f"Never call the courier {number} by hand: {'because it bills twice, ' * 20}", ["user-provided"]
        )
        memory.topics.store(f"a-topic-with-a-long-name-{number}", "text")
    end(project, worked(script, project, "first").save(tmp_path / "logs"), "first")
    said = call("session-start", told(project, "second", source="startup")).context
    assert len(said) <= 300 * CHARACTERS_A_TOKEN
    assert FIX in said


@pytest.mark.slow
def test_a_compacted_session_is_told_its_own_work(project: Path, script: Callable[..., Script], tmp_path: Path) -> None:
    session = (
        worked(script, project, "long")
        .run("mypy .", "shop/cart.py:7: error: bad [arg-type]\nFound 1 error in 1 file", code=1)
        .run("cat shop/basket.py", "cat: shop/basket.py: No such file or directory", code=1)
        .edit_fails("shop/cart.py")
    )
    log = session.save(tmp_path / "logs")
    call("pre-compact", told(project, "long", transcript_path=str(log), trigger="auto"))
    wait_for(lambda: bool(list((project / ".helix" / "episodes").glob("*.json"))))
    said = call("session-start", told(project, "long", transcript_path=str(log), source="compact")).context
    recap = said.partition("Last session")[0]
    assert WHY.rstrip(".") in recap
    failures = recap.partition("open failures")[2].partition("Commands")[0]
    assert "mypy" in failures
    assert failures.count("\n- ") == 1  # neither a look nor a call that the agent's tool refused is open
    assert "pytest -q" in recap.partition("Commands")[2]
    assert "shop/cart.py" in recap.partition("no commit")[2]
    assert len(recap) <= 600 * CHARACTERS_A_TOKEN
    assert "Last session" not in said  # it is this one
    fresh = call("session-start", told(project, "long", transcript_path=str(log), source="startup")).context
    assert "own decisions" not in fresh


@pytest.mark.slow
def test_what_was_committed_is_no_longer_in_flight(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    session = worked(script, project, "kept").run("git commit -qam 'Convert the discount'")
    end(project, session.save(tmp_path / "logs"), "kept")
    said = call("session-start", told(project, "kept", source="resume")).context
    assert "own decisions" in said
    assert "no commit" not in said


@pytest.mark.slow
@pytest.mark.parametrize("swept", [None, 10**9], ids=["never swept", "swept by a clock that stood ahead"])
def test_a_session_that_was_killed_is_learnt_from_when_the_next_begins(
    project: Path, script: Callable[..., Script], tmp_path: Path, swept: int | None
) -> None:
    if swept is not None:
        mark = project / ".helix" / "hooks" / "swept"
        mark.parent.mkdir(exist_ok=True)
        mark.touch()
        os.utime(mark, (time.time() + swept, time.time() + swept))
    home = tmp_path / "claude"
    log = worked(script, project, "killed").save(home / "projects" / "shop")
    long_ago = time.time() - 3600
    os.utime(log, (long_ago, long_ago))
    begin = told(project, "next", source="startup")
    call("session-start", begin, environment={"CLAUDE_CONFIG_DIR": str(home)})
    wait_for((project / ".helix" / "causality" / "graph.db").exists)
    wait_until_idle(project / ".helix")
    assert [one.session for one in Memory.open(project).episodes.list()] == ["killed"]


@pytest.mark.slow
def test_the_person_is_told_in_a_line_what_the_memory_did(
    project: Path, script: Callable[..., Script], tmp_path: Path
) -> None:
    end(project, worked(script, project, "first").save(tmp_path / "logs"), "first")
    answer = call("tool-failure", told(project, "second", tool_name="Bash", error=FAILED))
    assert answer.said is not None
    assert answer.said["systemMessage"] == "helix: seen in 1 session, gave the agent the fix"
    copilot = {"sessionId": "third", "cwd": str(project), "toolName": "bash", "toolArgs": {"command": "pytest -q"}}
    result = {"resultType": "success", "textResultForLlm": f"{FAILED}\n<shellId: 0 completed with exit code 1>"}
    heard = call("post-tool", {**copilot, "toolResult": result}).said
    assert heard is not None
    assert "helix: met" not in json.dumps(heard)  # Copilot shows a person nothing
