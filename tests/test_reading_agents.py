"""What is read from the logs of agents other than Claude Code and Codex? Small logs in each one's shape."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from helix_cli.app import run
from helix_episodes.errors import LogError, LogNotReadable
from helix_episodes.extraction.pipeline import extract
from helix_episodes.ingest import record
from helix_episodes.readers import find_logs, find_reader, read_sessions
from helix_episodes.safe_files import DEEPEST_NESTING
from helix_episodes.store import EpisodeStore
from helix_episodes.verification import verify
from helix_graph import Memory
from thoroughness import few_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from helix_episodes.session import Session, Step
    from session_script import Script

AT = "2026-03-02T09:00:00.000Z"
ROOT = "/work/shop"
Record = dict[str, Any]


def lines(path: Path, *records: Record) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def document(path: Path, value: Record) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def read(path: Path) -> Session:
    (session,) = read_sessions(path)
    return session


def acts(session: Session) -> list[tuple[str, str | None, str]]:
    """Calls and results as (kind, operation, status), the rest as (kind, actor, text)."""
    return [
        (step.kind, step.operation, step.status)
        if step.kind in ("call", "result")
        else (step.kind, step.actor, step.text)
        for step in session.steps
    ]


def only(session: Session, kind: str) -> list[Step]:
    return [step for step in session.steps if step.kind == kind]


def gemini_call(name: str, arguments: Record, answer: str, *, status: str = "success") -> Record:
    response = {"functionResponse": {"id": name, "name": name, "response": {"output": answer}}}
    return {"id": name, "name": name, "args": arguments, "status": status, "result": [response], "timestamp": AT}


GEMINI_HEAD = {"sessionId": "g-1", "projectHash": "ab" * 32, "startTime": AT, "lastUpdated": AT, "kind": "main"}
FAILED = "Command: pytest\nDirectory: (root)\nOutput: 1 failed\nError: (none)\nExit Code: 1\nProcess Group PGID: 7"


def gemini_messages() -> list[Record]:
    failing = gemini_call("run_shell_command", {"command": "pytest"}, FAILED)
    written = gemini_call(
        "write_file", {"file_path": "a.py", "content": "x = 1\n"}, "Successfully created and wrote to new file: a.py."
    )
    said = [{"subject": "Plan", "description": "test first"}]
    return [
        {"id": "m1", "timestamp": AT, "type": "user", "content": "run the tests"},
        {"id": "m2", "timestamp": AT, "type": "gemini", "content": "", "model": "g-pro", "thoughts": said,
         "tokens": {"input": 100, "cached": 40, "output": 5}, "toolCalls": [failing, written]},
        {"id": "m3", "timestamp": AT, "type": "info", "content": "Request cancelled."},
    ]  # fmt: skip


GEMINI_STEPS = [
    ("prompt", "user", "run the tests"),
    ("thought", "agent", "Plan: test first"),
    ("call", "run", "unknown"),
    ("result", "run", "error"),
    ("call", "create", "unknown"),
    ("result", "create", "ok"),
    ("note", "system", "Request cancelled."),
]


def test_gemini_keeps_a_session_as_one_document(tmp_path: Path) -> None:
    path = document(tmp_path / "chats" / "session-1.json", {**GEMINI_HEAD, "messages": gemini_messages()})
    (path.parent.parent / ".project_root").write_text(ROOT + "\n")
    session = read(path)
    assert (session.id, session.agent, session.root, session.model, session.tokens) == (
        "g-1",
        "gemini",
        ROOT,
        "g-pro",
        65,
    )
    assert acts(session)[:4] == GEMINI_STEPS[:4]
    failed = only(session, "result")[0]
    assert (failed.text, failed.exit_code) == ("1 failed", 1)
    assert [step.status for step in session.steps if step.kind == "note"] == ["interrupted"]


def test_gemini_s_hooks_do_not_hide_how_a_command_ended(tmp_path: Path) -> None:
    spoken = "<hook_context>&lt;memory&gt;\n" + "\n".join(f"line {n} of advice" for n in range(9)) + "</hook_context>"
    call = gemini_call("run_shell_command", {"command": "pytest"}, f"{FAILED}\n{spoken}")
    message = {"id": "m2", "timestamp": AT, "type": "gemini", "content": "", "toolCalls": [call]}
    path = document(
        tmp_path / "chats" / "session-1.json", {**GEMINI_HEAD, "messages": [*gemini_messages()[:1], message]}
    )
    (session,) = read_sessions(path)
    (result,) = [step for step in session.steps if step.kind == "result"]
    assert (result.status, result.exit_code, result.text) == ("error", 1, "1 failed")


def test_gemini_s_lines_count_in_their_last_copy(tmp_path: Path) -> None:
    half, *rest = gemini_messages()[1:]
    partial = {**half, "toolCalls": [], "thoughts": []}
    head = [GEMINI_HEAD, gemini_messages()[0], partial, {"$set": {"lastUpdated": AT}}]
    session = read(lines(tmp_path / "session-1.jsonl", *head, half, *rest))
    assert [kind for kind, *_ in acts(session)] == [kind for kind, *_ in GEMINI_STEPS]
    assert session.accounting.skipped == {"change of the header": 1, "earlier copy": 1, "header": 1}


def test_gemini_s_rewind_is_a_boundary(tmp_path: Path) -> None:
    again = {"id": "m9", "timestamp": AT, "type": "user", "content": "otherwise"}
    path = lines(tmp_path / "s.jsonl", GEMINI_HEAD, *gemini_messages(), {"$rewindTo": "m1"}, again)
    (cut,) = only(read(path), "boundary")
    assert cut.arguments == {"reason": "rewind", "abandoned_from_line": 2}


def copilot(kind: str, **data: object) -> Record:
    return {"type": kind, "data": data, "id": f"e-{kind}", "timestamp": AT, "parentId": None}


def test_copilot_announces_a_call_and_starts_it(tmp_path: Path) -> None:
    request = {"toolCallId": "c1", "name": "bash", "arguments": '{"command": "pytest"}'}
    path = lines(
        tmp_path / "c-9" / "events.jsonl",
        copilot("session.start", sessionId="c-9", copilotVersion="1.0.11", context={"cwd": ROOT}),
        copilot("user.message", content="run the tests<reminder>be brief</reminder>"),
        copilot("assistant.message", content="", toolRequests=[request]),
        copilot("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": "pytest"}),
        copilot("tool.execution_complete", toolCallId="c1", success=True,
                result={"content": "1 failed\n<exited with exit code 1>"}),
        copilot("tool.execution_start", toolCallId="c2", toolName="edit", parentToolCallId="c1", arguments={}),
        copilot("tool.execution_complete", toolCallId="c2", success=False, error={"code": "rejected", "message": "no"}),
        copilot("abort", reason="user initiated"),
        copilot("session.compaction_complete", success=True),
        copilot("something.new"),
    )  # fmt: skip
    session = read(path)
    assert (session.id, session.root, session.agent_version) == ("c-9", ROOT, "1.0.11")
    assert acts(session) == [
        ("prompt", "user", "run the tests"),
        ("call", "run", "unknown"),
        ("result", "run", "error"),
        ("call", "edit", "unknown"),
        ("result", "edit", "rejected"),
        ("note", "user", "aborted: user initiated"),
        ("boundary", "system", ""),
    ]
    assert only(session, "result")[0].text == "1 failed"
    assert only(session, "call")[1].actor == "agent:c1"
    assert session.accounting.unknown == {"something.new": 1}


def kimi(kind: str, **event: object) -> Record:
    return {"type": "context.append_loop_event", "event": {"type": kind, **event}, "time": 1772442000000}


def kimi_log(path: Path) -> Path:
    typed = {"role": "user", "content": [{"type": "text", "text": "fix it"}], "origin": {"kind": "user"}}
    injected = {**typed, "origin": {"kind": "injection"}}
    return lines(
        path,
        {"type": "metadata", "protocol_version": "1.4"},
        {"type": "turn.prompt", "input": typed["content"]},
        {"type": "context.append_message", "message": typed, "time": 1772442000000},
        {"type": "context.append_message", "message": injected, "time": 1772442000000},
        kimi("content.part", part={"type": "think", "think": "look first"}),
        kimi("tool.call", toolCallId="b1", name="Bash", args={"command": "pytest"}),
        kimi("tool.result", toolCallId="b1",
             result={"output": "1 failed\nCommand failed with exit code: 1.", "isError": True}),
        {"type": "permission.record_approval_result", "toolCallId": "b2",
         "result": {"decision": "rejected", "feedback": "not that"}},
        kimi("tool.call", toolCallId="b2", name="Write", args={"path": "a.py", "content": "x"}),
        kimi("tool.result", toolCallId="b2", result={"output": "rejected", "isError": True}),
        kimi("step.end", usage={"inputOther": 5, "output": 2, "inputCacheRead": 99}),
        {"type": "turn.cancel", "time": 1772442000000},
        {"type": "context.apply_compaction", "summary": "…", "time": 1772442000000},
    )  # fmt: skip


def test_kimi_s_wire_tells_people_s_words_from_the_program_s(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "wd" / "session_7"
    document(folder / "state.json", {"workDir": ROOT})
    session = read(kimi_log(folder / "agents" / "main" / "wire.jsonl"))
    assert (session.id, session.root, session.tokens) == ("session_7", ROOT, 7)
    assert acts(session) == [
        ("prompt", "user", "fix it"),
        ("thought", "agent", "look first"),
        ("call", "run", "unknown"),
        ("result", "run", "error"),
        ("prompt", "user", "not that"),
        ("call", "edit", "unknown"),
        ("result", "edit", "rejected"),
        ("note", "user", "turn.cancel"),
        ("boundary", "system", ""),
    ]


def test_what_a_kimi_helper_did_stands_before_its_answer(tmp_path: Path) -> None:
    told = {"role": "user", "content": [{"type": "text", "text": "look"}], "origin": {"kind": "system_trigger"}}
    answer = "agent_id: agent-0\nstatus: completed\n\n[summary]\nall seen"
    agents = tmp_path / "session_7" / "agents"
    lines(
        agents / "agent-0" / "wire.jsonl",
        {"type": "context.append_message", "message": told, "time": 1772442000000},
        kimi("tool.call", toolCallId="Bash_0", name="Bash", args={"command": "ls"}),
        kimi("tool.result", toolCallId="Bash_0", result={"output": "a.py"}),
    )
    main = lines(
        agents / "main" / "wire.jsonl",
        {"type": "context.append_message", "message": {**told, "origin": {"kind": "user"}}, "time": 1772442000000},
        kimi("tool.call", toolCallId="Agent_0", name="Agent", args={"subagent_type": "explore", "prompt": "look"}),
        kimi("tool.result", toolCallId="Agent_0", result={"output": answer}),
    )
    session = read(main)
    assert [(step.kind, step.actor, step.source.file) for step in session.steps] == [
        ("prompt", "user", None),
        ("call", "agent", None),
        ("note", "agent:agent-0", "../agent-0/wire.jsonl"),
        ("call", "agent:agent-0", "../agent-0/wire.jsonl"),
        ("result", "agent:agent-0", "../agent-0/wire.jsonl"),
        ("result", "agent", None),
    ]
    assert session.steps[-1].text == "all seen"
    assert session.accounting.lines == 6


def test_a_helper_s_wire_is_a_part_of_its_session(tmp_path: Path) -> None:
    main = kimi_log(tmp_path / "session_7" / "agents" / "main" / "wire.jsonl")
    helper = kimi_log(tmp_path / "session_7" / "agents" / "agent-0" / "wire.jsonl")
    assert find_logs(tmp_path) == [main]
    with pytest.raises(LogNotReadable, match="part of a session"):
        find_reader(helper)


def antigravity(kind: str, *, source: str = "MODEL", **more: object) -> Record:
    return {
        "step_index": 0,
        "source": source,
        "type": kind,
        "status": "DONE",
        "created_at": "2026-03-02T09:00:00Z",
        **more,
    }


def test_an_empty_response_of_antigravity_is_skipped_and_counted(tmp_path: Path) -> None:
    typed = antigravity("USER_INPUT", source="USER_EXPLICIT", content="go")
    session = read(lines(tmp_path / "log.jsonl", typed, antigravity("PLANNER_RESPONSE")))
    assert session.accounting.skipped == {"empty response": 1}


def test_antigravity_s_results_follow_the_calls_in_order(tmp_path: Path) -> None:
    calls = [
        {"name": "run_command", "args": {"CommandLine": '"pytest"'}},
        {"name": "write_to_file", "args": {"TargetFile": '"/work/shop/a.py"', "CodeContent": '"x = 1"'}},
    ]
    typed = "<USER_REQUEST>\nrun the tests\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>model</USER_SETTINGS_CHANGE>"
    path = lines(
        tmp_path / "brain" / "a-1" / ".system_generated" / "logs" / "transcript.jsonl",
        antigravity("USER_INPUT", source="USER_EXPLICIT", content=typed),
        antigravity("PLANNER_RESPONSE", thinking="both", tool_calls=calls),
        antigravity("RUN_COMMAND", content="The command failed with exit code: 1\nOutput:\n1 failed"),
        antigravity(
            "CODE_ACTION", content="Created At: x\nCreated file file:///work/shop/a.py with requested content."
        ),
        antigravity("CHECKPOINT", source="SYSTEM", content="# Resuming"),
        antigravity("VIEW_FILE", content="no call"),
    )
    session = read(path)
    assert session.id == "a-1"
    assert acts(session) == [
        ("prompt", "user", "run the tests"),
        ("thought", "agent", "both"),
        ("call", "run", "unknown"),
        ("call", "create", "unknown"),
        ("result", "run", "error"),
        ("result", "create", "ok"),
        ("boundary", "system", ""),
    ]
    assert only(session, "call")[0].arguments == {"command": "pytest"}
    assert session.accounting.skipped == {"VIEW_FILE without its call": 1}


def atif_step(source: str, message: str, **more: object) -> Record:
    return {"step_id": 1, "timestamp": AT, "source": source, "message": message, **more}


def test_atif_has_no_flag_of_failure(tmp_path: Path) -> None:
    call = {"tool_call_id": "t1", "function_name": "bash", "arguments": {"command": "pytest"}}
    send = {"tool_call_id": "t2", "function_name": "task", "arguments": {"prompt": "look"}}
    told = [{"source_call_id": "t1", "content": "1 failed\n[exit code: 1]"}]
    came = [{"source_call_id": "t2", "content": "seen", "subagent_trajectory_ref": [{"trajectory_id": "h"}]}]
    path = document(
        tmp_path / "trajectory.json",
        {
            "schema_version": "ATIF-v1.7",
            "session_id": "run-1",
            "agent": {"name": "terminus", "version": "2", "model_name": "m"},
            "steps": [
                atif_step("system", "You are an agent."),
                atif_step("user", "copied", is_copied_context=True),
                atif_step("user", "run the tests"),
                atif_step("agent", "on it", tool_calls=[call], observation={"results": told},
                          metrics={"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 1}),
                atif_step("system", "summarised", extra={"context_management": {"type": "compaction"}}),
                atif_step("agent", "", tool_calls=[send], observation={"results": came}),
            ],
            "subagent_trajectories": [{"trajectory_id": "h", "steps": [atif_step("agent", "helping")]}],
        },
    )  # fmt: skip
    session = read(path)
    assert (session.id, session.agent, session.reader, session.model, session.tokens) == (
        "run-1",
        "terminus",
        "atif",
        "m",
        7,
    )
    assert acts(session) == [
        ("prompt", "user", "run the tests"),
        ("message", "agent", "on it"),
        ("call", "run", "unknown"),
        ("result", "run", "error"),
        ("boundary", "system", ""),
        ("call", "delegate", "unknown"),
        ("message", "agent:h", "helping"),
        ("result", "delegate", "unknown"),
    ]
    assert session.accounting.skipped == {"copied context": 1, "system": 1}


OPENCODE = {"id": "ses_1", "projectID": "p", "directory": ROOT, "version": "1.3.17", "time": {"created": 1772442000000}}


def opencode_parts() -> list[Record]:
    def tool(name: str, given: Record, **state: object) -> Record:
        return {"id": f"prt_{name}", "type": "tool", "tool": name, "callID": name, "state": {"input": given, **state}}

    return [
        {"id": "prt_0", "type": "step-start"},
        tool("bash", {"command": "pytest"}, status="completed", output="1 failed", metadata={"exit": 1}),
        tool("write", {"filePath": "a.py", "content": "x"}, status="completed", metadata={"exists": False}),
        tool("edit", {"filePath": "b.py", "oldString": "a", "newString": "b"}, status="error",
             error="The user rejected permission to use this specific tool call."),
        {"id": "prt_9", "type": "text", "text": "done"},
    ]  # fmt: skip


OPENCODE_STEPS = [
    ("prompt", "user", "fix it"),
    ("call", "run", "unknown"),
    ("result", "run", "error"),
    ("call", "create", "unknown"),
    ("result", "create", "ok"),
    ("call", "edit", "unknown"),
    ("result", "edit", "rejected"),
    ("message", "agent", "done"),
]
USER: Record = {"id": "msg_1", "role": "user", "time": {"created": 1772442000000}}
ASSISTANT: Record = {"id": "msg_2", "role": "assistant", "modelID": "m", "time": {"created": 1772442001000}}
TYPED: Record = {"id": "prt_u", "type": "text", "text": "fix it"}
READ_BY_PROGRAM: Record = {"id": "prt_v", "type": "text", "text": "Called the Read tool", "synthetic": True}


def opencode_export(folder: Path) -> Path:
    messages = [{"info": USER, "parts": [TYPED, READ_BY_PROGRAM]}, {"info": ASSISTANT, "parts": opencode_parts()}]
    return document(folder / "export.json", {"info": OPENCODE, "messages": messages})


def opencode_folders(folder: Path) -> Path:
    storage = folder / "storage"
    document(storage / "message" / "ses_1" / "msg_1.json", {**USER, "sessionID": "ses_1"})
    document(storage / "message" / "ses_1" / "msg_2.json", {**ASSISTANT, "sessionID": "ses_1"})
    said: dict[str, list[Record]] = {"msg_1": [TYPED, READ_BY_PROGRAM], "msg_2": opencode_parts()}
    for message, parts in said.items():
        for number, part in enumerate(parts):
            document(storage / "part" / message / f"{number}.json", {**part, "messageID": message})
    return document(storage / "session" / "p" / "ses_1.json", OPENCODE)


def opencode_database(folder: Path, *, helper: bool = False) -> Path:
    path = folder / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE session (id, parent_id, directory, version, time_created)")
        base.execute("CREATE TABLE message (id, session_id, time_created, data)")
        base.execute("CREATE TABLE part (id, message_id, session_id, data)")
        base.execute("INSERT INTO session VALUES ('ses_1', NULL, ?, '1.3.17', 1)", (ROOT,))
        said: list[tuple[Record, list[Record]]] = [(USER, [TYPED, READ_BY_PROGRAM]), (ASSISTANT, opencode_parts())]
        for number, (info, parts) in enumerate(said):
            base.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (info["id"], number, json.dumps(info)))
            for place, part in enumerate(parts):
                row = (f"prt_{number}{place}", info["id"], json.dumps(part))
                base.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", row)
        if helper:
            base.execute("INSERT INTO session VALUES ('ses_2', 'ses_1', ?, '1.3.17', 2)", (ROOT,))
            base.execute("INSERT INTO message VALUES ('msg_3', 'ses_2', 3, ?)", (json.dumps({**USER, "id": "msg_3"}),))
            base.execute("INSERT INTO part VALUES ('prt_3', 'msg_3', 'ses_2', ?)", (json.dumps(TYPED),))
    return path


@pytest.mark.parametrize("store", [opencode_export, opencode_folders, opencode_database])
def test_opencode_s_stores_hold_the_same(tmp_path: Path, store: Any) -> None:  # noqa: ANN401  (one of three functions)
    path = store(tmp_path)
    assert find_logs(tmp_path) == [path]
    session = read(path)
    assert (session.id, session.root, session.agent_version, session.model) == ("ses_1", ROOT, "1.3.17", "m")
    assert acts(session) == OPENCODE_STEPS
    assert session.accounting.skipped == {"message": 2, "step-start": 1, "text of the program": 1}


def test_opencode_s_helpers_belong_to_the_session_that_sent_them(tmp_path: Path) -> None:
    session = read(opencode_database(tmp_path, helper=True))
    assert acts(session) == [*OPENCODE_STEPS, ("note", "agent:ses_2", "fix it")]


def test_a_database_of_another_program_is_refused_with_a_reason(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as base, base:
        base.execute("CREATE TABLE blobs (id)")
    with pytest.raises(Exception, match="a database without the tables session, message and part"):
        find_reader(tmp_path / "other.db")


CALL: Record = {"type": "tool_use", "id": "t1", "name": "Execute", "input": {"command": "pytest"}}
RESULT: Record = {"type": "tool_result", "tool_use_id": "t1", "content": "1 failed", "is_error": True}
DIALECTS = {
    "cursor": (
        {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\ntest it\n</user_query>"}]}},
        {"role": "assistant", "message": {"content": [
            {"type": "tool_use", "name": "Shell", "input": {"command": "pytest"}}]}},
        {"role": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "Exit code: 1\n1 failed"}]}},
    ),
    "droid": (
        {"type": "session_start", "id": "s-1", "title": "t", "cwd": ROOT},
        {"type": "message", "id": "a", "timestamp": AT, "message": {"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>be safe</system-reminder>test it"}]}},
        {"type": "message", "id": "b", "timestamp": AT, "message": {"role": "assistant", "content": [CALL]}},
        {"type": "message", "id": "c", "timestamp": AT, "message": {"role": "user", "content": [RESULT]}},
    ),
    "droid stream": (
        {"type": "system", "session_id": "s-1", "cwd": ROOT, "timestamp": AT},
        {"type": "message", "session_id": "s-1", "role": "user", "text": "test it", "timestamp": AT},
        {"type": "tool_call", "session_id": "s-1", "id": "x", "toolCallId": "c", "toolName": "Shell",
         "parameters": {"command": "pytest"}, "timestamp": AT},
        {"type": "tool_result", "session_id": "s-1", "id": "y", "toolCallId": "c",
         "value": {"stdout": "1 failed", "exitCode": 1}, "timestamp": AT},
    ),
    "pi": (
        {"type": "session", "version": 3, "id": "s-1", "cwd": ROOT, "timestamp": AT},
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "test it"}},
        {"type": "message", "id": "b", "parentId": "a", "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "pytest"}}]}},
        {"type": "message", "id": "c", "parentId": "b", "message": {"role": "toolResult", "toolCallId": "t1",
            "toolName": "bash", "content": [{"type": "text", "text": "1 failed"}], "isError": True}},
    ),
    "qwen": (
        {"type": "user", "uuid": "a", "parentUuid": None, "sessionId": "s-1", "cwd": ROOT, "timestamp": AT,
         "message": {"role": "user", "parts": [{"text": "test it"}, {"text":
            "<qwen:user-prompt-submit-context>hook</qwen:user-prompt-submit-context>"}]}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s-1", "timestamp": AT, "message": {
            "role": "model", "parts": [{"functionCall": {"id": "t1", "name": "run_shell_command",
                                                         "args": {"command": "pytest"}}}]}},
        {"type": "tool_result", "uuid": "c", "parentUuid": "b", "sessionId": "s-1", "timestamp": AT, "message": {
            "role": "user", "parts": [{"functionResponse": {"id": "t1", "name": "run_shell_command",
                                                            "response": {"error": "1 failed"}}}]}},
    ),
    "grok": (
        {"type": "user", "content": [{"type": "text", "text": "<user_info>"}], "synthetic_reason": "environment"},
        {"type": "user", "content": [{"type": "text", "text": "test it"}], "prompt_index": 0},
        {"type": "assistant", "content": "", "model_id": "g", "tool_calls": [
            {"id": "t1", "name": "run_terminal_cmd", "arguments": '{"command": "pytest"}'}]},
        {"type": "tool_result", "tool_call_id": "t1", "content": "1 failed\n[exit code: 1]"},
    ),
    "chat": (
        {"timestamp": AT, "role": "user", "content": "test it"},
        {"timestamp": AT, "type": "tool_call", "function": {"name": "shell"}, "arguments": '{"command": "pytest"}'},
        {"timestamp": AT, "type": "tool_result", "name": "shell", "result": "1 failed\nexit code: 1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIALECTS)
def test_messages_with_roles_say_the_same_in_every_dialect(tmp_path: Path, name: str) -> None:
    path = lines(tmp_path / "log.jsonl", *DIALECTS[name])
    session = read(path)
    assert session.reader == name.partition(" ")[0]
    assert acts(session) == [("prompt", "user", "test it"), ("call", "run", "unknown"), ("result", "run", "error")]
    assert only(session, "call")[0].arguments == {"command": "pytest"}
    assert only(session, "result")[0].text == "1 failed"
    assert session.root == (None if name in {"cursor", "grok", "chat"} else ROOT)
    assert session.accounting.lines == len(DIALECTS[name])


def test_a_part_that_is_marked_as_thought_is_no_message(tmp_path: Path) -> None:
    prompt, *_ = DIALECTS["qwen"]
    parts = [{"text": "first the tests", "thought": True}, {"text": "on it"}]
    answer = {
        **prompt,
        "type": "assistant",
        "uuid": "b",
        "parentUuid": "a",
        "message": {"role": "model", "parts": parts},
    }
    session = read(lines(tmp_path / "log.jsonl", prompt, answer))
    assert [(step.kind, step.text) for step in session.steps[1:]] == [
        ("thought", "first the tests"),
        ("message", "on it"),
    ]


def test_hermes_is_one_document_of_messages(tmp_path: Path) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "shell", "arguments": '{"command": "pytest"}'}}
    path = document(
        tmp_path / "session_1.json",
        {
            "session_id": "h-1",
            "platform": "cli",
            "model_config": {"cwd": ROOT},
            "messages": [
                {"role": "user", "content": "test it"},
                {"role": "assistant", "content": "on it", "reasoning": "first", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "t1", "content": "1 failed\nexit code: 1"},
                {"role": "session_meta"},
            ],
        },
    )
    session = read(path)
    assert (session.id, session.root) == ("h-1", ROOT)
    assert [step.kind for step in session.steps] == ["prompt", "thought", "message", "call", "result"]
    assert only(session, "result")[0].status == "error"


@pytest.mark.parametrize("name", ["pi", "qwen"])
def test_a_prompt_below_an_earlier_record_is_a_rewind(tmp_path: Path, name: str) -> None:
    *_, last = DIALECTS[name]
    first = DIALECTS[name][-3]
    parent = "parentId" if name == "pi" else "parentUuid"
    own = "id" if name == "pi" else "uuid"
    again = {**first, own: "d", parent: "a"}
    after = {**first, own: "e", parent: "d"}
    session = read(lines(tmp_path / "log.jsonl", *DIALECTS[name], again, after))
    assert [step.kind for step in session.steps][3:] == ["boundary", "prompt", "prompt"]
    assert last[own] == "c"


def test_openclaw_logs_as_pi_does_in_a_folder_of_its_own(tmp_path: Path) -> None:
    session = read(lines(tmp_path / ".openclaw" / "agents" / "main" / "sessions" / "1.jsonl", *DIALECTS["pi"]))
    assert (session.agent, session.reader) == ("openclaw", "pi")


def test_cursor_s_helpers_go_with_their_session(tmp_path: Path) -> None:
    main = lines(tmp_path / "x" / "x.jsonl", *DIALECTS["cursor"])
    lines(tmp_path / "x" / "subagents" / "y.jsonl", *DIALECTS["cursor"])
    assert find_logs(tmp_path) == [main]


@pytest.mark.parametrize("fixture", ["gemini", "hermes", "opencode"])
def test_evidence_stands_on_its_line_in_a_document(tmp_path: Path, fixture: str) -> None:
    if fixture == "gemini":
        path = document(tmp_path / "session-1.json", {**GEMINI_HEAD, "messages": gemini_messages()})
    elif fixture == "opencode":
        path = opencode_export(tmp_path)
    else:
        test_hermes_is_one_document_of_messages(tmp_path)
        path = tmp_path / "session_1.json"
    store = EpisodeStore(tmp_path / "episodes")
    (one,) = record([path], store).recorded
    quoted = verify(store.require(one.session), path)
    assert {each.result for each in quoted} == {"found"}


def test_a_document_that_is_written_anew_grows_its_episode(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path / "episodes")
    messages = gemini_messages()
    path = document(tmp_path / "session-1.json", {**GEMINI_HEAD, "messages": messages[:2]})
    assert [one.change for one in record([path], store).recorded] == ["written"]
    document(path, {**GEMINI_HEAD, "lastUpdated": "later", "messages": messages[:2]})
    assert [one.change for one in record([path], store).recorded] == ["unchanged"]
    document(path, {**GEMINI_HEAD, "lastUpdated": "later", "messages": messages})
    assert [one.change for one in record([path], store).recorded] == ["updated"]
    document(path, {**GEMINI_HEAD, "messages": [{**messages[0], "id": "other"}, *messages[1:]]})
    assert "differs" in record([path], store).failed[0].problem


def test_a_document_without_ids_grows_by_its_steps(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path / "episodes")
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "on it"}]
    head = {"session_id": "h-1", "platform": "cli"}
    changes = []
    for messages in (said[:1], said, [{"role": "user", "content": "stop"}, said[1]]):
        report = record([document(tmp_path / "session_1.json", {**head, "messages": messages})], store)
        changes.append([one.change for one in report.recorded])
    assert changes == [["written"], ["updated"], []]


@pytest.mark.parametrize("name", DIALECTS)
def test_a_log_that_is_cut_off_costs_its_last_line_only(tmp_path: Path, name: str) -> None:
    path = lines(tmp_path / "log.jsonl", *DIALECTS[name])
    path.write_bytes(path.read_bytes()[:-20])
    session = read(path)
    assert [bad.line for bad in session.accounting.bad] == [len(DIALECTS[name])]
    assert session.steps


#: What a field may hold that a program has written wrongly.
ODD: tuple[Any, ...] = (None, 0, True, "", "x", [], {}, [1], [{}], {"a": 1}, [[["x"]]], {"type": "text"})


def spoilt(value: Any, chance: Random) -> Any:  # noqa: ANN401  (JSON)
    """The value with some of its parts lost or replaced by something of another type."""
    if chance.random() < 0.05:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {key: spoilt(inner, chance) for key, inner in value.items() if chance.random() > 0.03}
    return [spoilt(inner, chance) for inner in value] if isinstance(value, list) else value


def otlp_traces() -> Record:
    said = [{"role": "user", "parts": [{"type": "text", "content": "go"}, {"type": "tool_call", "name": "bash"}]}]
    about: Record = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(said)}
    tool: Record = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash"}
    spans = [
        {
            "traceId": "t",
            "spanId": str(place),
            "startTimeUnixNano": "1772442000000000000",
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        }
        for place, attributes in enumerate((about, tool))
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def examples() -> Iterator[tuple[str, list[Record]]]:
    """A log of each format that has lines, and of each that is a document."""
    for name, records in DIALECTS.items():
        yield name, list(records)
    yield "gemini", [{**GEMINI_HEAD, "messages": gemini_messages()}]
    yield "opencode", [{"info": OPENCODE, "messages": [{"info": ASSISTANT, "parts": opencode_parts()}]}]
    yield "copilot", [copilot("assistant.message", toolRequests=[{"name": "bash", "arguments": {"command": "ls"}}])]
    yield "kimi", [kimi("tool.call", toolCallId="b", name="Bash", args={}), kimi("tool.result", result={"output": "x"})]
    yield "antigravity", [antigravity("PLANNER_RESPONSE", tool_calls=[{"name": "run_command", "args": {"a": '"b"'}}])]
    yield "otlp", [otlp_traces()]
    yield "atif", [{"agent": {"name": "a"}, "steps": [atif_step("agent", "x", observation={"results": [{}]})]}]


@pytest.mark.parametrize(("name", "records"), few_rows([*list(examples())], 6))
def test_fields_of_another_type_stop_no_reader(tmp_path: Path, name: str, records: list[Record]) -> None:
    for seed in range(12):
        chance = Random(seed)  # noqa: S311  (nothing secret)
        odd = [spoilt(one, chance) for one in records]
        path = document(tmp_path / "log.json", odd[0]) if len(odd) == 1 else lines(tmp_path / "log.jsonl", *odd)
        for how in (name.partition(" ")[0], "auto"):
            with suppress(LogError):
                for session in read_sessions(path, format=how):
                    extract(session)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("odd", [float("nan"), float("-inf"), "deep", "1e999", "9" * 401 + ".5"])
def test_a_value_that_costs_a_line_elsewhere_costs_no_document(tmp_path: Path, odd: object, indent: int | None) -> None:
    """A tool's answer may be nested as it likes, and Python writes numbers that are none of JSON's."""
    deep: Any = "x"
    for _ in range(DEEPEST_NESTING + 10):
        deep = {"a": [deep]} if indent else [deep]
    messages = [
        {"id": "m", "type": "gemini", "content": "", "answer": deep if odd == "deep" else [odd]},
        {"id": "n", "type": "user", "content": "go"},
    ]
    text = json.dumps({**GEMINI_HEAD, "messages": messages}, indent=indent)
    text = text.replace(f'"{odd}"', str(odd))  # a number that Python would not write
    (tmp_path / "session-1.json").write_text(text)
    session = read(tmp_path / "session-1.json")
    assert acts(session) == [("prompt", "user", "go")]
    assert session.steps[0].source.line == text[: text.index('"go"')].count("\n") + 1


def test_depth_is_no_danger(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(DEEPEST_NESTING - 10):
        deep = [deep]
    messages = [{"id": "m", "type": "user", "content": deep}, {"id": "n", "type": "user", "content": "go"}]
    text = json.dumps({**GEMINI_HEAD, "messages": messages})
    (tmp_path / "session-1.json").write_text(text)
    assert acts(read(tmp_path / "session-1.json")) == [("prompt", "user", "go")]


URL = "postgres://ann:" + "Zq3Vb8Xw2Rk6" + "@db.example.com/x"
TOKEN = "gh" + "p_" + "Zq3Vb8Xw2Rk6Tm9Yp4Ls7Nd1Hf5Jc0Ga9Ue3"


@pytest.mark.parametrize("drawn", [URL, TOKEN, "WTDH25ZHTCQ4JS3T5TSPVGAV2W", "l3fr4YSpzaivcj2M"])
def test_an_id_that_would_be_cut_as_a_secret_is_another_one_for_the_same_session(tmp_path: Path, drawn: str) -> None:
    """Agents draw ids by chance, as keys are; others put an address in their place."""
    steps = [atif_step("user", "run the tests"), atif_step("agent", "done")]
    agent = {"name": "terminus", "version": "2", "model_name": "m"}
    written = {"schema_version": "ATIF-v1.7", "session_id": drawn, "agent": agent, "steps": steps}
    memory = Memory.init(tmp_path / "shop")
    (first,) = memory.extract([document(tmp_path / "trajectory.json", written)]).recorded
    assert first.session.startswith("session-")
    steps += [atif_step("user", "and commit it"), atif_step("agent", "done")]
    (again,) = memory.extract([document(tmp_path / "trajectory.json", written)]).recorded
    assert (again.session, again.change) == (first.session, "updated")
    memory.graph.compile()
    hidden = drawn if drawn != URL else "Zq3Vb8Xw2Rk6"
    files = [path for path in memory.root.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if hidden in path.name or hidden.encode() in path.read_bytes()] == []


def test_what_a_log_calls_its_records_is_said_without_secrets(
    tmp_path: Path, script: Callable[..., Script], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    log = script("s-1").prompt("Paint").run("pytest -q", "1 passed in 0.1s").save(tmp_path / "logs")
    with log.open("a") as file:
        file.write(json.dumps({"type": f"record {TOKEN}", "uuid": "u", "sessionId": "s-1", "timestamp": AT}) + "\n")
    for more in ([], ["--force", "-v"]):
        assert run(["episode", "extract", str(log), *more]) == 0
        said = "".join(capsys.readouterr())
        assert "records of unknown type" in said
        assert TOKEN not in said


def test_the_name_of_a_home_folder_in_an_id_is_no_secret(tmp_path: Path) -> None:
    """What was recorded, or forgotten, under that id is the same session."""
    steps = [atif_step("user", "run the tests"), atif_step("agent", "done")]
    agent = {"name": "terminus", "version": "2", "model_name": "m"}
    written = {"schema_version": "ATIF-v1.7", "session_id": "/home/kim/runs/shop-7", "agent": agent, "steps": steps}
    (session,) = read_sessions(document(tmp_path / "trajectory.json", written))
    assert session.id == "home-kim-runs-shop-7"


def test_a_reward_that_a_disk_made_long_is_not_read_whole(tmp_path: Path) -> None:
    steps = [atif_step("user", "run the tests"), atif_step("agent", "done")]
    agent = {"name": "terminus", "version": "2", "model_name": "m"}
    written = {"schema_version": "ATIF-v1.7", "session_id": "run-1", "agent": agent, "steps": steps}
    path = document(tmp_path / "trajectory.json", written)
    (tmp_path / "reward.txt").write_text("1")
    os.truncate(tmp_path / "reward.txt", 64 << 30)
    (session,) = read_sessions(path)
    assert session.reward is None
