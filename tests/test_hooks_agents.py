"""Is each agent's own form of what it tells understood, and is it answered in its form, where it hears an answer?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from advised_project import ADVICE, advised
from helix_cli.hooks.call import read_result
from helix_cli.hooks.dispatch import is_heard
from helix_cli.setup.definitions import snippets
from hook_calls import call, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from helix_cli.hooks.call import Agent

PROMPT = "the courier API times out for a page"
FAILURE = "E   ModuleNotFoundError: No module named 'respx'\n1 failed in 0.10s"
OTHER = "FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4\n1 failed in 0.1s"
REPAIR = "pip install -q -r requirements-dev.txt"

GEMINI_SHELL = f"Command: pytest -q\nDirectory: .\nOutput: {FAILURE}\nError: (none)\nExit Code: 1\nSignal: 0\nPGID: 7"
#: How each agent tells that a command failed; the names of the fields are theirs.
FAILURES: dict[str, dict[str, Any]] = {
    "codex": {"session_id": "c", "turn_id": "t", "tool_name": "Bash", "tool_response": {"exit_code": 1, "o": FAILURE}},
    "gemini command": {
        "session_id": "g1",
        "hook_event_name": "AfterTool",
        "timestamp": "2026-11-20T10:00:00Z",
        "tool_name": "run_shell_command",
        "tool_response": {"llmContent": GEMINI_SHELL, "returnDisplay": FAILURE},
    },
    "gemini parts": {
        "session_id": "g2",
        "hook_event_name": "AfterTool",
        "tool_name": "run_shell_command",
        "tool_response": {"llmContent": [{"text": GEMINI_SHELL}]},
    },
    "gemini error": {
        "session_id": "g3",
        "hook_event_name": "AfterTool",
        "tool_name": "run_shell_command",
        "tool_response": {"llmContent": "", "error": {"message": FAILURE, "type": "shell_execute_error"}},
    },
    "cursor": {
        "conversation_id": "u",
        "generation_id": "g",
        "cursor_version": "2.4",
        "tool_name": "Shell",
        "tool_use_id": "1",
        "tool_output": json.dumps({"exitCode": 1, "stdout": FAILURE, "stderr": ""}),
    },
    "copilot": {
        "sessionId": "p1",
        "timestamp": 1763632800000,
        "toolName": "bash",
        "toolArgs": {"command": "pytest -q"},
        "toolResult": {"resultType": "success", "textResultForLlm": f"{FAILURE}\n<exited with exit code 1>"},
    },
    "copilot shell": {
        "sessionId": "p3",
        "toolName": "bash",
        "toolArgs": {"command": "pytest -q"},
        "toolResult": {
            "resultType": "success",
            "textResultForLlm": f"{FAILURE}\n<shellId: 0 completed with exit code 1>",
        },
    },
    "codex bare": {
        "session_id": "c2",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "tool_response": FAILURE,
    },
    "claude piped": {
        "session_id": "l",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q 2>&1 | tail -5"},
        "tool_response": {"stdout": FAILURE, "stderr": "", "interrupted": False},
    },
    "copilot as others": {
        "session_id": "p2",
        "hook_event_name": "PostToolUse",
        "timestamp": "2026-11-20T10:00:00Z",
        "tool_name": "Bash",
        "tool_result": {"result_type": "failure", "text_result_for_llm": FAILURE},
    },
}
SUCCESSES: dict[str, dict[str, Any]] = {
    "gemini": {"tool_response": {"llmContent": "Output: Exit Code: 1\nExit Code: 0\nSignal: (none)", "error": None}},
    "gemini file": {"tool_response": {"llmContent": "Exit Code: 1\n" + "x = 1\n" * 100, "returnDisplay": "read"}},
    "cursor": {"tool_output": json.dumps({"exitCode": 0, "stdout": "error: none"})},
    "cursor words": {"tool_output": "12"},
    "copilot": {"toolResult": {"resultType": "success", "textResultForLlm": "done\n<exited with exit code 0>"}},
    "copilot denied": {"toolResult": {"resultType": "denied", "textResultForLlm": "the user said no"}},
    "odd": {"tool_response": {"resultType": ["failure"], "llmContent": 7, "exit_code": "1"}},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's sessions and some advice."""
    folder: Path = tmp_path_factory.mktemp("shop")
    advised(folder)
    return folder


def said_in(answer: dict[str, Any]) -> tuple[str, str]:
    """What was said, and under which keys."""
    if "hookSpecificOutput" in answer:
        inner = answer["hookSpecificOutput"]
        return inner["additionalContext"], inner["hookEventName"]
    ((key, text),) = answer.items()
    return text, key


@pytest.mark.parametrize("code", ["\u00b2", "9" * 200])
def test_an_exit_code_of_odd_letters_costs_no_answer(code: str) -> None:
    """The output of a tool chooses these letters."""
    told = {"tool_response": f"exit code {code}\n{FAILURE}", "tool_input": {"command": "pytest -q"}}
    assert "No module named 'respx'" in read_result("post-tool", told).said


@pytest.mark.parametrize("payload", [[], "text", 7, None, {"item": []}])
def test_an_odd_line_of_a_rollout_costs_no_answer(tmp_path: Path, payload: object) -> None:
    log = tmp_path / "rollout-2026.jsonl"
    log.write_text(json.dumps({"call": "c1", "exit_code": 1, "payload": payload}, separators=(",", ":")))
    told = {"transcript_path": str(log), "tool_use_id": "c1", "tool_input": {"command": "pytest"}}
    assert "No module named 'respx'" in read_result("post-tool", {**told, "tool_response": FAILURE}).said


FORMS = {
    "claude": "PostToolUse",
    "codex": "PostToolUse",
    "gemini": "AfterTool",
    "cursor": "additional_context",
    "copilot": "additionalContext",
}


@pytest.mark.parametrize("form", FAILURES)
def test_a_failure_is_understood_and_answered_in_the_agents_form(project: Path, form: str) -> None:
    answer = call("post-tool", {"cwd": str(project), **FAILURES[form]})
    assert (answer.code, answer.errors) == (0, b"")
    assert answer.said is not None
    text, name = said_in(answer.said)
    assert REPAIR in text
    assert name == ("PostToolUse" if form == "copilot as others" else FORMS[form.partition(" ")[0]])


@pytest.mark.parametrize("form", SUCCESSES)
def test_what_went_well_is_no_failure(form: str) -> None:
    assert read_result("post-tool", SUCCESSES[form]).said == ""


def test_failures_of_one_turn_are_each_looked_at(project: Path) -> None:
    turn = {"session_id": "turn", "turn_id": "t-1", "cwd": str(project), "tool_name": "Bash"}
    call("post-tool", {**turn, "tool_response": {"exit_code": 1, "output": OTHER}})
    answer = call("post-tool", {**turn, "tool_response": {"exit_code": 1, "output": FAILURE}})
    assert REPAIR in answer.context


def test_gemini_hears_at_a_prompt_under_its_own_name(project: Path) -> None:
    asked = {"session_id": "gem", "cwd": str(project), "hook_event_name": "BeforeAgent", "prompt": PROMPT}
    answer = call("user-prompt", asked)
    assert answer.said is not None
    assert answer.said["hookSpecificOutput"]["hookEventName"] == "BeforeAgent"
    assert ADVICE in answer.context


@pytest.mark.parametrize(
    "told",
    [
        {"conversation_id": "deaf", "cursor_version": "2.4"},
        {"sessionId": "deaf too", "timestamp": 1},
    ],
    ids=["cursor", "copilot"],
)
def test_where_an_agent_hears_nothing_nothing_is_used_up(project: Path, told: dict[str, Any]) -> None:
    told = {"cwd": str(project), **told}
    assert call("user-prompt", {**told, "prompt": PROMPT}).said is None
    begun = call("session-start", {**told, "source": "startup"})
    assert begun.said is not None
    assert ADVICE in said_in(begun.said)[0]


@pytest.mark.parametrize("agent", ["gemini", "cursor", "copilot"])
def test_what_is_pasted_is_heard_and_what_is_heard_is_pasted(agent: Agent) -> None:
    registered = set()
    for _, value in snippets(agent):
        for groups in value.get("hooks", {}).values():
            (group,) = groups
            for hook in group.get("hooks", [group]):
                registered.add(hook["command"].rpartition(" ")[2])
    assert all(is_heard(agent, event) for event in registered)
    spoken = {"session-start", "user-prompt", "pre-tool", "post-tool", "tool-failure"}
    assert {event for event in spoken if is_heard(agent, event)} <= registered
    assert ("pre-compact" in registered) == (agent != "gemini")  # which reports it before every turn


@pytest.mark.slow
def test_cursors_agents_are_known_by_cursors_names(project: Path, tmp_path: Path) -> None:
    told = {
        "conversation_id": "sub",
        "cursor_version": "2.4",
        "cwd": str(project),
        "subagent_type": "helix-builder",
        "agent_transcript_path": str(tmp_path / "missing.jsonl"),
    }
    call("subagent-stop", told)
    log = project / ".helix" / "hooks.log"
    wait_for(lambda: log.exists() and "missing.jsonl" in log.read_text())


def test_what_hooks_said_before_a_prompt_of_gemini_is_no_part_of_it(project: Path) -> None:
    heard = f"<hook_context>&lt;helix-graph-memory&gt;\n{ADVICE}\n&lt;/helix-graph-memory&gt;</hook_context>"
    told = {"session_id": "own", "cwd": str(project), "hook_event_name": "BeforeAgent"}
    assert call("user-prompt", {**told, "prompt": f"{heard}\n\nPaint the garden fence green"}).said is None
    assert ADVICE in call("user-prompt", {**told, "prompt": f"{heard}\n\n{PROMPT}"}).context
