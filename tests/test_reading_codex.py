"""Does a Codex rollout become what was said and done, each once, however often the log holds it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import LogNotReadable
from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import find_reader, read_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.session import Session, Step

META = {"id": "r-1", "cwd": "/work/shop", "cli_version": "0.146.0", "source": "cli"}
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** Add File: b.py\n+y = 3\n*** End Patch"


class Rollout:
    """Writes a rollout, one method for each kind of record."""

    def __init__(self, **meta: Any) -> None:  # noqa: ANN401  (fields of the log)
        self.lines: list[dict[str, Any]] = []
        self.record("session_meta", **(META | meta))

    def record(self, kind: str, **payload: Any) -> Rollout:  # noqa: ANN401  (fields of the log)
        at = f"2026-03-02T09:00:{len(self.lines):02}Z"
        self.lines.append({"timestamp": at, "type": kind, "payload": payload})
        return self

    def item(self, kind: str, **payload: Any) -> Rollout:  # noqa: ANN401  (as above)
        return self.record("response_item", type=kind, **payload)

    def event(self, kind: str, **payload: Any) -> Rollout:  # noqa: ANN401  (as above)
        return self.record("event_msg", type=kind, **payload)

    def user_item(self, text: str) -> Rollout:
        return self.item("message", role="user", content=[{"type": "input_text", "text": text}])

    def run(self, call: str, command: list[str] | str) -> Rollout:
        return self.item("function_call", name="shell", arguments=json.dumps({"command": command}), call_id=call)

    def output(self, call: str, output: object) -> Rollout:
        return self.item("function_call_output", call_id=call, output=output)

    def read(self, folder: Path) -> Session:
        log = folder / "rollout.jsonl"
        log.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        assert find_reader(log).name == "codex"
        (session,) = read_sessions(log)
        assert session.accounting.lines == len(self.lines)
        assert session.accounting.unknown == {}
        return session


def results(session: Session) -> list[Step]:
    return [step for step in session.steps if step.kind == "result"]


def words(session: Session) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in session.steps if step.text]


def test_the_session_is_described_by_its_first_meta_and_its_turns(tmp_path: Path) -> None:
    rollout = Rollout().record("turn_context", model="gpt-5.6", cwd="/work/shop").event("user_message", message="go")
    rollout.record("session_meta", id="older", cwd="/elsewhere", cli_version="0.1")
    for total in (100, 100, 130):
        usage = {"input_tokens": total, "cached_input_tokens": 40, "output_tokens": 5}
        rollout.event("token_count", info={"total_token_usage": usage, "last_token_usage": usage})
    session = rollout.read(tmp_path)
    assert (session.id, session.root, session.project) == ("r-1", "/work/shop", "shop")
    assert (session.agent_version, session.model, session.tokens) == ("0.146.0", "gpt-5.6", 95)


def test_a_prompt_is_what_an_event_tells_and_the_item_is_its_mirror(tmp_path: Path) -> None:
    rollout = Rollout().user_item("<environment_context><cwd>/x</cwd></environment_context>")
    rollout.user_item("# AGENTS.md instructions for /work\nbe kind").user_item("fix the cart")
    rollout.event("user_message", message="fix the cart").user_item("a reminder of the program's")
    session = rollout.read(tmp_path)
    assert words(session) == [("prompt", "fix the cart"), ("note", "a reminder of the program's")]
    assert session.accounting.skipped == {"injected": 2, "mirror": 1, "session_meta": 1}


def test_without_such_events_items_are_prompts(tmp_path: Path) -> None:
    session = Rollout().user_item("<permissions instructions>").user_item("fix the cart").read(tmp_path)
    assert words(session) == [("prompt", "fix the cart")]


def test_what_an_editor_puts_before_the_words_is_cut(tmp_path: Path) -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix the cart\n"
    assert words(Rollout().event("user_message", message=text).read(tmp_path)) == [("prompt", "fix the cart")]


def test_messages_and_thoughts_stand_once_whichever_record_comes_first(tmp_path: Path) -> None:
    rollout = Rollout().event("agent_reasoning", text="Look first.")
    rollout.item("reasoning", summary=[{"type": "summary_text", "text": "Look first."}])
    rollout.item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
    rollout.event("agent_message", message="Done.")
    content = [{"type": "Text", "text": "Done."}]
    rollout.event("item_completed", item={"type": "AgentMessage", "id": "m", "content": content})
    assert words(rollout.read(tmp_path)) == [("thought", "Look first."), ("message", "Done.")]


@pytest.mark.parametrize("event_first", [True, False])
def test_the_event_wins_over_the_output_that_the_model_was_given(tmp_path: Path, event_first: bool) -> None:  # noqa: FBT001  (a parameter of the test)
    rollout = Rollout().run("c1", ["bash", "-lc", "pytest -q"])
    end = {"call_id": "c1", "command": ["bash", "-lc", "pytest -q"], "aggregated_output": "all of it", "exit_code": 1}
    if event_first:
        rollout.event("exec_command_end", **end).output("c1", "Exit code: 0\nOutput:\ncut")
    else:
        rollout.output("c1", "Exit code: 0\nOutput:\ncut").event("exec_command_end", **end)
    session = rollout.read(tmp_path)
    (call, result) = session.steps
    assert (call.operation, call.arguments) == ("run", {"command": "pytest -q"})
    assert (result.text, result.status, result.exit_code) == ("all of it", "error", 1)


def test_an_end_that_is_told_twice_is_that_of_the_first_event(tmp_path: Path) -> None:
    first = {"call_id": "c1", "command": ["ls"], "stdout": "all of it", "exit_code": 0}
    rollout = Rollout().event("exec_command_end", **first).event("exec_command_end", **{**first, "stdout": "again"})
    session = rollout.read(tmp_path)
    assert [step.text for step in results(session)] == ["all of it"]


def test_a_command_of_which_only_the_event_tells_is_a_call_too(tmp_path: Path) -> None:
    session = Rollout().event("exec_command_end", call_id="c1", command=["ls"], stdout="a", exit_code=0).read(tmp_path)
    assert [(step.kind, step.operation, step.status) for step in session.steps] == [
        ("call", "run", "unknown"),
        ("result", "run", "ok"),
    ]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"output":"no\\n","metadata":{"exit_code":2,"duration_seconds":0.1}}', ("no\n", "error", 2)),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nfine", ("fine", "ok", 0)),
        ("Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 1\nOutput:\nbad", ("bad", "error", 1)),
        ([{"type": "input_text", "text": "Exit code: 3\nOutput:\nbad"}], ("bad", "error", 3)),
        (
            {"content": "patch rejected by user", "success": False},
            ("patch rejected by user", "rejected", None),
        ),
        ("Wall time: 2 seconds\naborted by user", ("aborted by user", "interrupted", None)),
        ("said nothing of its end", ("said nothing of its end", "unknown", None)),
        ('{"output": "mine", "rows": 2}', ('{"output": "mine", "rows": 2}', "unknown", None)),
    ],
)
def test_how_a_command_came_out(tmp_path: Path, output: object, expected: tuple[str, str, int | None]) -> None:
    (result,) = results(Rollout().run("c1", "make").output("c1", output).read(tmp_path))
    assert (result.text, result.status, result.exit_code) == expected


def test_a_patch_is_one_change_for_each_file_and_fails_once(tmp_path: Path) -> None:
    rollout = Rollout().item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c1")
    rollout.item("custom_tool_call_output", call_id="c1", output="apply_patch verification failed: no such lines")
    session = rollout.read(tmp_path)
    calls = [step for step in session.steps if step.kind == "call"]
    assert [(call.operation, call.arguments["path"]) for call in calls] == [("edit", "a.py"), ("create", "b.py")]
    assert [result.status for result in results(session)] == ["error", "cancelled"]
    errors = [event for event in extract(session).events if event.type == "error"]
    assert len(errors) == 1


def test_a_patch_that_fails_for_one_of_its_files_is_that_files_failure(tmp_path: Path) -> None:
    rollout = Rollout().item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c1")
    rollout.item("custom_tool_call_output", call_id="c1", output="apply_patch verification failed: b.py: file exists")
    session = rollout.read(tmp_path)
    assert [(result.call_id, result.status) for result in results(session)] == [("c1/2", "error"), ("c1", "cancelled")]
    (error,) = [event for event in extract(session).events if event.type == "error"]
    assert error.path == "b.py"


def test_a_patch_in_the_shell_and_one_that_only_the_event_tells_are_edits(tmp_path: Path) -> None:
    rollout = Rollout().run("c1", ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"])
    rollout.output("c1", '{"output":"Success.","metadata":{"exit_code":0}}')
    diff = {"type": "update", "unified_diff": "@@ -1 +1 @@\n-old\n+new\n", "move_path": None}
    rollout.event("patch_apply_end", call_id="c2", success=True, stdout="Success.", changes={"/work/shop/c.py": diff})
    session = rollout.read(tmp_path)
    calls = [step for step in session.steps if step.kind == "call"]
    assert [call.arguments["path"] for call in calls] == ["a.py", "b.py", "/work/shop/c.py"]
    assert calls[2].arguments == {"path": "/work/shop/c.py", "old": "old", "new": "new"}
    assert {result.status for result in results(session)} == {"ok"}


def test_a_command_that_outlives_its_call_ends_when_it_ends(tmp_path: Path) -> None:
    arguments = json.dumps({"cmd": "make all"})
    rollout = Rollout().item("function_call", name="exec_command", arguments=arguments, call_id="c1")
    rollout.output("c1", "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\nhalf")
    poll = json.dumps({"session_id": 7, "chars": ""})
    rollout.item("function_call", name="write_stdin", arguments=poll, call_id="c2")
    rollout.output("c2", "Wall time: 5 seconds\nProcess exited with code 2\nOutput:\nmake: *** [all] Error 2")
    session = rollout.read(tmp_path)
    outcome = {result.call_id: (result.operation, result.status, result.exit_code) for result in results(session)}
    assert outcome["c1"] == ("run", "error", 2)
    assert outcome["c2"][0] == "look"
    # Who waited for it did not fail as well.
    assert [one.check for one in extract(session).events if one.type == "error"] == ["make all"]


def polled(*printed: str, ends: str | None = "Process exited with code 0") -> Rollout:
    """A watch of CI that prints bit by bit, and how it ends; None where the agent leaves it running."""
    arguments = json.dumps({"cmd": "gh pr checks 7 --watch"})
    rollout = Rollout().item("function_call", name="exec_command", arguments=arguments, call_id="c0")
    running = "Process running with session ID 7\nOutput:\n"
    rollout.output("c0", running)
    for number, text in enumerate(printed, 1):
        poll = json.dumps({"session_id": 7, "chars": ""})
        rollout.item("function_call", name="write_stdin", arguments=poll, call_id=f"c{number}")
        last = number == len(printed) and ends is not None
        rollout.output(f"c{number}", (f"{ends}\nOutput:\n" if last else running) + text)
    return rollout


NIGHTLY = "nightly\tfail\t1m35s\thttps://x/actions/runs/12/job/77\n"


@pytest.mark.parametrize(
    ("printed", "ends"),
    [
        (["lint\tpending\t0\thttps://x/1\n", NIGHTLY, ""], "Process exited with code 1"),
        (["lint\tpending\t0\thttps://x/1\n", NIGHTLY, "lint\tpass\t9s\thttps://x/1\n"], "Process exited with code 1"),
        # The agent looks no further.
        (["lint\tpending\t0\thttps://x/1\n", NIGHTLY], None),
    ],
)
def test_what_a_command_prints_before_its_end_counts_where_it_was_printed(
    tmp_path: Path, printed: list[str], ends: str | None
) -> None:
    session = polled(*printed, ends=ends).read(tmp_path)
    (ran,) = (result for result in results(session) if result.operation == "run")
    assert ran.text == "".join(printed)
    (failed,) = (event for event in extract(session).events if event.type == "error")
    (shown,) = (result for result in results(session) if result.text == NIGHTLY)
    assert failed.content == "CI fails: nightly"
    assert failed.evidence is not None
    assert failed.evidence.line == shown.source.line


def test_a_watch_that_the_agent_stops_is_one_interruption(tmp_path: Path) -> None:
    rollout = polled("lint\tpending\t0\thttps://x/1\n", ends=None)
    stop = json.dumps({"session_id": 7, "chars": "\u0003"})
    rollout.item("function_call", name="write_stdin", arguments=stop, call_id="stop")
    session = rollout.output("stop", "Process exited with code 130\nOutput:\n").read(tmp_path)
    errors = [event.content for event in extract(session).events if event.type == "error"]
    assert errors == ["gh pr checks fails: interrupted"]


def test_a_watch_that_is_stopped_because_a_job_failed_is_both(tmp_path: Path) -> None:
    rollout = polled(NIGHTLY, ends=None)
    stop = json.dumps({"session_id": 7, "chars": "\u0003"})
    rollout.item("function_call", name="write_stdin", arguments=stop, call_id="stop")
    session = rollout.output("stop", "Process exited with code 130\nOutput:\n").read(tmp_path)
    errors = [event for event in extract(session).events if event.type == "error"]
    assert [one.content for one in errors] == ["CI fails: nightly", "gh pr checks fails: interrupted"]
    places = [one.evidence.line for one in errors if one.evidence]
    assert places[0] < places[1]


def test_a_secret_that_is_printed_in_two_parts_is_cut(tmp_path: Path) -> None:
    token = "ghp_" + "Zq7Lw2Xn9Rt4Vb6Kd1Mf8Hs3Jp5Gc0Ya2Ue7"
    printed = [f"fatal: Authentication failed with {token[:20]}", f"{token[20:]}\n"]
    session = polled(*printed, ends="Process exited with code 1").read(tmp_path)
    episode = extract(session)
    assert [event.status for event in episode.events] == ["error"]
    assert token[:20] not in repr(episode)
    assert token[20:] not in repr(episode)


def test_servers_tools_and_their_errors(tmp_path: Path) -> None:
    invocation = {"server": "tracker", "tool": "close_issue", "arguments": {"id": "7"}}
    rollout = Rollout().event("mcp_tool_call_end", call_id="c1", invocation=invocation, result={"Err": "no such issue"})
    looked = {"server": "tracker", "tool": "get_issue", "arguments": {"id": "7"}}
    answer = {"Ok": {"content": [{"type": "text", "text": "open"}], "isError": False}}
    session = rollout.event("mcp_tool_call_end", call_id="c2", invocation=looked, result=answer).read(tmp_path)
    assert [(step.operation, step.status, step.text) for step in results(session)] == [
        ("use", "error", "no such issue"),
        ("look", "ok", "open"),
    ]


def test_a_helper_is_sent_and_comes_back_with_its_answer(tmp_path: Path) -> None:
    arguments = json.dumps({"agent_type": "explorer", "message": "find the cart"})
    rollout = Rollout().item("function_call", name="spawn_agent", arguments=arguments, call_id="c1")
    rollout.output("c1", '{"agent_id":"h-1"}')
    rollout.item("function_call", name="wait_agent", arguments='{"ids":["h-1"]}', call_id="c2")
    rollout.output("c2", '{"status":{"h-1":{"completed":"in cart.py"}},"timed_out":false}')
    came = [(step.operation, step.text) for step in results(rollout.read(tmp_path)) if step.call_id == "c1"]
    assert came == [("delegate", "in cart.py")]


def test_nobody_typed_what_a_helper_was_told(tmp_path: Path) -> None:
    rollout = Rollout(source={"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}})
    session = rollout.event("user_message", message="find the cart").read(tmp_path)
    assert [(step.kind, step.text) for step in session.steps] == [("note", "find the cart")]
    assert session.task == "find the cart"


def test_interruptions_compactions_and_troubles_of_the_program(tmp_path: Path) -> None:
    rollout = Rollout().event("user_message", message="go").event("turn_aborted", reason="interrupted")
    rollout.event("context_compacted").record("compacted", message="", replacement_history=[])
    session = rollout.event("error", message="stream closed").read(tmp_path)
    assert [(step.kind, step.actor, step.status) for step in session.steps] == [
        ("prompt", "user", "unknown"),
        ("note", "user", "interrupted"),
        ("boundary", "system", "unknown"),
        ("note", "system", "unknown"),
    ]


def test_records_without_an_envelope_are_read_and_unknown_ones_counted(tmp_path: Path) -> None:
    lines = [
        {"id": "old-1", "timestamp": "2025-06-01T10:00:00Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list files"}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls","-a"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":".","metadata":{"exit_code":0}}'},
        {"type": "event_msg", "payload": {"type": "never_met"}},
    ]
    log = tmp_path / "old.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (session,) = read_sessions(log)
    assert [(step.kind, step.status) for step in session.steps] == [
        ("prompt", "unknown"),
        ("call", "unknown"),
        ("result", "ok"),
    ]
    assert session.id == "old-1"
    assert session.accounting.unknown == {"event_msg/never_met": 1}


def test_a_rollout_without_a_step_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(LogNotReadable, match="contains no session"):
        Rollout().event("turn.completed", message="ok").read(tmp_path)
