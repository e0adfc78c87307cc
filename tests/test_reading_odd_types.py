"""What if a log has the right shape and wrong types in it? Every reader ends in an episode or in an error of ours."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix_episodes.errors import HelixGraphError
from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions, reader_names
from thoroughness import examples, few

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

AT = "2026-03-02T09:00:00Z"
READERS = ("auto", *reader_names())
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e300, 2**70, "", "x", AT, [], {}, [[]], [None], [5], ["x"], {"type": 1}, {"type": []}),
    *({"role": {}}, {"content": [1]}, {"content": {"text": 1}}, [{"type": {}}], [{"role": []}], [{"content": None}]),
)


def claude(kind: str, uuid: str, content: Any) -> dict[str, Any]:  # noqa: ANN401  (any JSON)
    message = {"role": kind, "id": uuid, "model": "m", "content": content, "usage": {"output_tokens": 1}}
    return {"type": kind, "uuid": uuid, "parentUuid": "0", "sessionId": "s", "timestamp": AT, "message": message}


def used(name: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401  (any JSON)
    return {"type": "tool_use", "id": name, "name": name, "input": given}


CALLED = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
SAID = {"role": "user", "content": [{"type": "text", "text": "Fix it"}]}
ANSWERED = {"role": "assistant", "content": "```bash\nls\n```", "tool_calls": [CALLED], "agent": "a", "action": "ls"}
SHOWN = {"role": "tool", "tool_call_id": "c", "name": "bash", "content": "<returncode>0</returncode>", "tool_calls": []}
TURN = {"action": "ls", "observation": "a", "thought": "t", "response": "", "state": '{"open_file": "n/a"}'}
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"

#: Logs of one record a line.
LINES: tuple[list[dict[str, Any]], ...] = (
    [
        claude("user", "1", "Fix it"),
        claude("assistant", "2", [used("TaskCreate", subject="a"), used("X", task="1", state="completed")]),
        claude("assistant", "3", [used("Bash", command="pytest"), used("TodoWrite", todos=[{"content": "a"}])]),
        claude("user", "4", [{"type": "tool_result", "tool_use_id": "Bash", "content": "1 failed", "is_error": True}]),
        claude("user", "5", [{"type": "tool_result", "tool_use_id": "TaskCreate", "content": "ok"}])
        | {"toolUseResult": {"task": {"id": "1", "subject": "a"}}},
        {"type": "attachment", "uuid": "6", "attachment": {"type": "queued_command", "prompt": "go"}},
        {"type": "system", "subtype": "compact_boundary", "uuid": "7", "compactMetadata": {"trigger": "auto"}},
    ],
    [
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "r", "cwd": "/w", "cli_version": "1"}},
        {"timestamp": AT, "type": "response_item", "payload": SAID | {"type": "message"}},
        {
            "timestamp": AT,
            "type": "response_item",
            "payload": {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c"},
        },
        {
            "timestamp": AT,
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": "c", "output": {"content": "x", "success": True}},
        },
        {
            "timestamp": AT,
            "type": "response_item",
            "payload": {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "d"},
        },
        {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {}}}},
    ],
    [
        {"type": "session", "id": "s", "cwd": "/w", "version": 1, "timestamp": AT},
        {"type": "message", "id": "1", "parentId": None, "timestamp": AT, "message": SAID},
        {"type": "message", "id": "2", "parentId": "1", "timestamp": AT, "message": ANSWERED},
        {"type": "message", "id": "3", "parentId": "2", "timestamp": AT, "message": SHOWN},
    ],
    [
        {"type": "session.start", "id": "1", "timestamp": AT, "data": {"sessionId": "s", "context": {"cwd": "/w"}}},
        {"type": "user.message", "id": "2", "timestamp": AT, "data": {"content": "Fix it"}},
        {"type": "assistant.message", "id": "3", "data": {"content": "", "toolRequests": [{"toolCallId": "c"}]}},
        {"type": "tool.execution_start", "id": "4", "data": {"toolCallId": "c", "toolName": "bash", "arguments": {}}},
        {"type": "tool.execution_complete", "id": "5", "data": {"toolCallId": "c", "success": True, "result": {}}},
    ],
)
#: Logs that are one document.
DOCUMENTS: tuple[Any, ...] = (
    {"messages": [SAID, ANSWERED, SHOWN], "info": {"exit_status": "submitted", "model_stats": {}}, "id": "s"},
    {"trajectory": [TURN], "history": [SAID | {"agent": "a"}, ANSWERED], "info": {"exit_status": "submitted"}},
    [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it"}, "timestamp": AT},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}, "message": "m"},
        {"id": 2, "cause": 1, "source": "agent", "observation": "run", "content": "a", "extras": {"exit_code": 0}},
    ],
    [{"task_id": 1, "reward": 1.0, "traj": [SAID, ANSWERED, SHOWN], "info": {"task": {"instruction": "x"}}}],
    {"question": "q", "history": [SAID | {"name": "A"}, ANSWERED], "is_correct": False, "mistake_step": "1"},
    {
        "sessionId": "g",
        "projectHash": "ab",
        "startTime": AT,
        "messages": [
            {"id": "1", "type": "user", "content": "Fix it", "timestamp": AT},
            {
                "id": "2",
                "type": "gemini",
                "content": "ok",
                "toolCalls": [{"id": "c", "name": "read_file", "args": {}, "status": "success", "result": []}],
            },
        ],
    },
    {
        "schema_version": "ATIF-v1.4",
        "session_id": "s",
        "agent": {"name": "a", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Fix it", "timestamp": AT},
            {
                "step_id": 2,
                "source": "agent",
                "message": "ok",
                "tool_calls": [{"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "ls"}}],
                "observation": {"results": [{"source_call_id": "c", "content": "a"}]},
            },
        ],
    },
    {"session": "s", "date": "2026-03-02", "summary": "Fixed it", "decisions": [{"decision": "d", "rationale": "r"}]},
)


def spoilt(value: Any, draw: Random, *, share: float) -> Any:  # noqa: ANN401  (any JSON)
    """The same with some values, at any level, of a type that does not belong there."""
    if draw.random() < share:
        return draw.choice(ODD)
    if isinstance(value, dict):
        return {name: spoilt(each, draw, share=share) for name, each in value.items()}
    return [spoilt(each, draw, share=share) for each in value] if isinstance(value, list) else value


def written(log: Any, draw: Random, share: float) -> str:  # noqa: ANN401  (any JSON)
    if any(log is one for one in LINES):
        return "".join(f"{json.dumps(spoilt(record, draw, share=share))}\n" for record in log)
    return json.dumps(spoilt(log, draw, share=share), indent=draw.choice([None, 1]))


def read_by_all(path: Path) -> None:
    for name in READERS:
        with suppress(HelixGraphError):
            for session in read_sessions(path, format=name):
                extract(session)


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    log=st.sampled_from([*LINES, *DOCUMENTS]),
    draw=st.randoms(use_true_random=False),
    share=st.sampled_from([0.0, 0.03, 0.1, 0.3]),
)
def test_wrong_types_at_any_level_end_in_an_episode_or_in_our_own_errors(
    tmp_path_factory: pytest.TempPathFactory,
    log: Any,  # noqa: ANN401  (any JSON)
    draw: Random,
    share: float,
) -> None:
    path = tmp_path_factory.mktemp("log") / "s1.jsonl"
    path.write_text(written(log, draw, share), encoding="utf-8")
    read_by_all(path)


@pytest.mark.parametrize("odd", few([*ODD], 10), ids=repr)
def test_a_log_that_is_nothing_but_one_odd_value_is_refused_by_every_reader(tmp_path: Path, odd: object) -> None:
    path = tmp_path / "s1.json"
    path.write_text(json.dumps(odd), encoding="utf-8")
    read_by_all(path)
