"""Are the streams that agents print read (Codex's, Cursor's), and the trajectories that harnesses make of logs?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import find_reader, read_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.session import Session

FAILED = "FAILED test_cart.py::test_sum - TypeError: price is missing\n1 failed in 0.1s"


def read(folder: Path, records: list[dict[str, Any]], *, reader: str) -> Session:
    log = folder / "run.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert find_reader(log).name == reader
    (session,) = read_sessions(log)
    assert session.accounting.lines == len(records)
    assert session.accounting.unknown == {}
    return session


def steps(session: Session, kind: str) -> list[tuple[str | None, str | None]]:
    named = ("command", "path", "query", "items")
    found = (step for step in session.steps if step.kind == kind)
    return [
        (one.operation, next((str(one.arguments[name]) for name in named if name in one.arguments), None))
        for one in found
    ]


def item(kind: str, number: int, event: str = "completed", **fields: Any) -> dict[str, Any]:  # noqa: ANN401  (fields of the log)
    return {"type": f"item.{event}", "item": {"id": f"item_{number}", "type": kind, **fields}}


THREAD: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "0199-a"},
    {"type": "turn.started"},
    item("reasoning", 0, text="I run the tests."),
    item("command_execution", 1, "started", command="bash -lc 'pytest -q'", status="in_progress"),
    item(
        "command_execution", 1, command="bash -lc 'pytest -q'", aggregated_output=FAILED, exit_code=1, status="failed"
    ),
    item(
        "file_change",
        2,
        changes=[{"path": "cart.py", "kind": "update"}, {"path": "tax.py", "kind": "add"}],
        status="completed",
    ),
    item(
        "mcp_tool_call",
        3,
        server="tracker",
        tool="get_issue",
        arguments={"id": "A-1"},
        result={"content": [{"type": "text", "text": "open"}]},
    ),
    item(
        "mcp_tool_call",
        4,
        server="tracker",
        tool="get_issue",
        arguments={"id": "A-2"},
        error={"message": "no such issue"},
    ),
    item("web_search", 5, query="decimal rounding"),
    item("todo_list", 6, "updated", items=[{"text": "fix it", "completed": True}]),
    item("agent_message", 7, text="The cart sums up again."),
    {"type": "turn.completed", "usage": {"input_tokens": 90, "cached_input_tokens": 60, "output_tokens": 5}},
]


def test_codex_exec_is_a_session_of_codex(tmp_path: Path) -> None:
    session = read(tmp_path, THREAD, reader="codex-exec")
    assert (session.agent, session.id, session.tokens) == ("codex", "0199-a", 35)
    assert steps(session, "call") == [
        ("run", "pytest -q"),
        ("edit", "cart.py"),
        ("create", "tax.py"),
        ("look", "A-1"),
        ("look", "A-2"),
        ("look", "decimal rounding"),
        ("track", "['fix it']"),
    ]
    results = [(step.status, step.exit_code) for step in session.steps if step.kind == "result"]
    assert results[:5] == [("error", 1), ("ok", None), ("ok", None), ("ok", None), ("error", None)]
    assert [step.text for step in session.steps if step.kind in {"thought", "message"}] == [
        "I run the tests.",
        "The cart sums up again.",
    ]
    errors = [(event.check, event.family) for event in extract(session).events if event.type == "error"]
    assert ("pytest", "TypeError") in errors


def test_codex_exec_that_was_stopped_shows_what_was_under_way(tmp_path: Path) -> None:
    stopped = [*THREAD[:4], {"type": "turn.failed", "error": {"message": "stream disconnected"}}]
    session = read(tmp_path, stopped, reader="codex-exec")
    assert steps(session, "call") == [("run", "pytest -q")]
    assert [step.text for step in session.steps if step.kind == "note"] == ["stream disconnected"]


def test_codex_exec_works_in_the_folder_that_holds_what_it_changed(tmp_path: Path) -> None:
    def changed(number: int, path: str) -> dict[str, Any]:
        return item("file_change", number, changes=[{"path": path, "kind": "update"}], status="completed")

    ran = {"command": "bash -lc 'pytest -q'"}
    session = read(
        tmp_path,
        [
            THREAD[0],
            item("command_execution", 1, **ran, aggregated_output=FAILED, exit_code=1, status="failed"),
            changed(2, "/work/shop/cart.py"),
            changed(3, "/work/shop/tests/test_cart.py"),
            item("command_execution", 4, **ran, aggregated_output="3 passed in 0.1s", exit_code=0, status="completed"),
        ],
        reader="codex-exec",
    )
    assert session.root == "/work/shop"
    episode = extract(session)
    assert (episode.outcome, len(episode.fixes)) == ("success", 1)


def called(call: str, tool: str, arguments: dict[str, Any], **result: Any) -> list[dict[str, Any]]:  # noqa: ANN401  (as above)
    about = {"type": "tool_call", "call_id": call, "session_id": "s-1", "timestamp_ms": 1774380269473}
    begun = {**about, "subtype": "started", "tool_call": {tool: {"args": arguments}}}
    return [begun, {**about, "subtype": "completed", "tool_call": {tool: {"args": arguments, "result": result}}}]


CURSOR: list[dict[str, Any]] = [
    {
        "type": "system",
        "subtype": "init",
        "apiKeySource": "env",
        "cwd": "/work/shop",
        "session_id": "s-1",
        "model": "Opus",
    },
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": "Fix the cart."}]},
        "session_id": "s-1",
    },
    {"type": "thinking", "subtype": "delta", "text": "The tests ", "session_id": "s-1"},
    {"type": "thinking", "subtype": "delta", "text": "first.", "session_id": "s-1"},
    {"type": "thinking", "subtype": "completed", "session_id": "s-1"},
    {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "I ru"}]},
        "timestamp_ms": 1,
    },
    {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "I run them."}]},
        "session_id": "s-1",
    },
    *called("c1", "shellToolCall", {"command": "pytest -q"}, failure={"exitCode": 1, "stdout": FAILED, "stderr": ""}),
    *called("c2", "readToolCall", {"path": "/work/shop/cart.py"}, success={"content": "x = 1"}),
    *called("c3", "readToolCall", {"path": "/work/shop/none.py"}, error={"errorMessage": "File not found"}),
    *called(
        "c4",
        "editToolCall",
        {"path": "/work/shop/cart.py", "streamContent": "x = 2"},
        success={"diffString": "-x = 1\n+x = 2"},
    )[1:],
    *called("c5", "shellToolCall", {"command": "git push"}, rejected={"command": "git push", "reason": "not now"}),
    *called(
        "c6",
        "updateTodosToolCall",
        {"todos": [{"content": "fix it", "status": "TODO_STATUS_COMPLETED"}]},
        success={"todos": []},
    ),
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "Done.",
        "usage": {"inputTokens": 7, "outputTokens": 3},
    },
]


@pytest.mark.parametrize("wrapped", [False, True], ids=["lines", "document"])
def test_cursors_stream_is_a_session_of_cursor(tmp_path: Path, *, wrapped: bool) -> None:
    if wrapped:
        log = tmp_path / "trajectory.json"
        log.write_text(json.dumps({"schema_version": "cursor-jsonl-v1", "steps": CURSOR}, indent=1), encoding="utf-8")
        assert find_reader(log).name == "cursor-stream"
        (session,) = read_sessions(log)
    else:
        session = read(tmp_path, CURSOR, reader="cursor-stream")
    assert (session.agent, session.id, session.root, session.tokens) == ("cursor", "s-1", "/work/shop", 10)
    assert [(step.kind, step.text) for step in session.steps[:3]] == [
        ("prompt", "Fix the cart."),
        ("thought", "The tests first."),
        ("message", "I run them."),
    ]
    assert steps(session, "call") == [
        ("run", "pytest -q"),
        ("look", "/work/shop/cart.py"),
        ("look", "/work/shop/none.py"),
        ("edit", "/work/shop/cart.py"),
        ("run", "git push"),
        ("track", "['fix it']"),
    ]
    edit = next(step for step in session.steps if step.operation == "edit" and step.kind == "call")
    assert (edit.arguments["old"], edit.arguments["new"]) == ("x = 1", "x = 2")
    results = [(step.status, step.exit_code) for step in session.steps if step.kind == "result"]
    assert results == [("error", 1), ("ok", None), ("error", None), ("ok", None), ("rejected", None), ("ok", None)]
    (error, *_) = [event for event in extract(session).events if event.type == "error"]
    assert (error.check, error.family) == ("pytest", "TypeError")


def atif(folder: Path, agent: dict[str, Any], *trajectory: dict[str, Any]) -> Session:
    log = folder / "trajectory.json"
    run = {"schema_version": "ATIF-v1.5", "session_id": "t-1", "agent": agent, "steps": list(trajectory)}
    log.write_text(json.dumps(run), encoding="utf-8")
    (session,) = read_sessions(log)
    assert session.reader == "atif"
    return session


def acted(message: str, tool: str, arguments: dict[str, Any], content: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401  (as above)
    call = {"tool_call_id": "toolu_1", "function_name": tool, "arguments": arguments}
    return {
        "source": "agent",
        "message": message,
        "tool_calls": [call],
        "observation": {"results": [{"content": content}]},
        **more,
    }


def test_claude_code_as_a_trajectory(tmp_path: Path) -> None:
    session = atif(
        tmp_path,
        {"name": "claude-code", "version": "2.1.47", "extra": {"cwds": ["/workspace"]}},
        {"source": "user", "message": "Fix the cart."},
        acted(
            "Executed Bash toolu_1",
            "Bash",
            {"command": "pytest"},
            f"Exit code 1\n{FAILED}\n\n[error] tool reported failure",
        ),
        acted("Executed Bash toolu_1", "Bash", {"command": "pytest"}, "3 passed in 0.1s", reasoning_content="null"),
        acted("Now the notes.", "Read", {"file_path": "a.md"}, "no such file", extra={"tool_result_is_error": True}),
        acted(
            "Executed Read toolu_1",
            "Read",
            {"file_path": "b.md"},
            "<tool_use_error>Sibling tool call errored</tool_use_error>\n\n[error] tool reported failure",
        ),
    )
    assert (session.agent, session.root) == ("claude-code", "/workspace")
    results = [(step.status, step.exit_code) for step in session.steps if step.kind == "result"]
    assert results == [("error", 1), ("ok", None), ("error", None), ("cancelled", None)]
    assert [step.text for step in session.steps if step.kind in {"message", "thought"}] == ["Now the notes."]


def test_openhands_as_a_trajectory(tmp_path: Path) -> None:
    session = atif(
        tmp_path,
        {"name": "openhands", "version": "1.5.0"},
        {"source": "user", "message": "Fix the cart."},
        {"source": "system", "message": "Added workspace context"},
        acted("Running command: pytest -q", "execute_bash", {"command": "pytest -q", "security_risk": "LOW"}, FAILED),
        acted(
            "I edited the file /workspace/cart.py.",
            "str_replace_editor",
            {"command": "str_replace", "path": "/workspace/cart.py", "old_str": "a", "new_str": "b"},
            "The file was edited.",
        ),
        {"source": "agent", "message": "The cart sums up again."},
    )
    assert session.agent == "openhands"
    assert steps(session, "call") == [("run", "pytest -q"), ("edit", "/workspace/cart.py")]
    assert [step.text for step in session.steps if step.kind == "message"] == ["The cart sums up again."]
    errors = [(event.check, event.family) for event in extract(session).events if event.type == "error"]
    assert errors == [("pytest", "TypeError")]
