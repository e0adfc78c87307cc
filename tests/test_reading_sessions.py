"""What does a reader of Claude Code's logs say happened, and who said it?"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.readers import read_sessions
from helix_episodes.readers.claude_code import ClaudeCodeReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.session import Session, Step

FIXTURES = Path(__file__).parent / "fixtures" / "claude_code"
CART = FIXTURES / "5f0c2a1e-0001-4000-8000-00000000cafe.jsonl"

Record = dict[str, Any]
_NUMBERS = count(1)


def user(content: object, **more: object) -> Record:
    return _record("user", message={"role": "user", "content": content}, **more)


def says(text: str) -> Record:
    return _record("assistant", message={"role": "assistant", "content": [{"type": "text", "text": text}]})


def calls(tool: str, call_id: str = "c1", /, **arguments: object) -> Record:
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}
    return _record("assistant", message={"role": "assistant", "content": [block]})


def result(
    content: object, call_id: str = "c1", *, error: bool = False, extra: object = None, **more: object
) -> Record:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": error}
    return user([block], toolUseResult=extra, **more)


def _record(kind: str, **more: object) -> Record:
    record: Record = {
        "type": kind,
        "uuid": f"r{next(_NUMBERS)}",
        "parentUuid": None,
        "sessionId": "s1",
        "isSidechain": False,
        "timestamp": "2026-03-02T09:00:00.000Z",
    }
    return {**record, **more}


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Session]:
    def write_and_read(*records: Record) -> Session:
        log = tmp_path / "s1.jsonl"
        log.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
        (session,) = read_sessions(log)
        return session

    return write_and_read


def kinds(session: Session) -> list[str]:
    return [step.kind for step in session.steps]


def only(session: Session, kind: str) -> Step:
    (step,) = [step for step in session.steps if step.kind == kind]
    return step


def texts(session: Session, kind: str) -> list[str]:
    return [step.text for step in session.steps if step.kind == kind]


REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). "
)
STOP = REJECTED + "STOP what you are doing and wait for the user to tell you how to proceed."
SAID = REJECTED + "To tell you how to proceed, the user said:\n"


class TestAWholeSession:
    def test_is_told_in_order_with_the_helper_between_its_call_and_its_answer(self) -> None:
        (session,) = read_sessions(CART)
        assert [(step.kind, step.actor) for step in session.steps] == [
            ("prompt", "user"),
            ("thought", "agent"),
            ("message", "agent"),
            ("call", "agent"),
            ("note", "agent:a1b2c3"),
            ("call", "agent:a1b2c3"),
            ("result", "agent:a1b2c3"),
            ("message", "agent:a1b2c3"),
            ("result", "agent"),
            ("call", "agent"),
            ("result", "agent"),
            ("call", "agent"),
            ("result", "agent"),
            ("call", "agent"),
            ("result", "agent"),
            ("message", "agent"),
            ("prompt", "user"),
        ]

    def test_knows_whose_it_is_and_when_it_was(self) -> None:
        (session,) = read_sessions(CART)
        assert (session.id, session.agent, session.agent_version) == (CART.stem, "claude-code", "2.1.40")
        assert (session.model, session.root, session.project) == ("claude-sonnet-4-5", "/home/kim/shop", "shop")
        assert session.started == datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)
        assert session.ended == datetime(2026, 3, 2, 9, 1, 0, tzinfo=UTC)

    def test_counts_an_answers_tokens_once_by_its_last_line_and_leaves_cache_reads_out(self) -> None:
        (session,) = read_sessions(CART)
        answers = [30, 20, 20, 20, 20, 7, 8]
        assert session.tokens == sum(answers) + len(answers) * (10 + 100)

    def test_calls_and_results_say_what_was_done_in_common_words(self) -> None:
        (session,) = read_sessions(CART)
        by_id = {step.call_id: step for step in session.steps if step.kind == "call"}
        assert by_id["call_task"].operation == "delegate"
        assert by_id["call_task"].arguments["agent"] == "Explore"
        assert by_id["call_grep"].operation == "look"
        assert by_id["call_edit"].arguments == {
            "path": "/home/kim/shop/cart.py",
            "old": "sum(prices)",
            "new": "sum(prices, start=0)",
        }
        outcomes = {step.call_id: (step.status, step.exit_code) for step in session.steps if step.kind == "result"}
        assert outcomes["call_test"] == ("error", 1)
        assert outcomes["call_again"] == ("ok", 0)
        assert outcomes["call_edit"] == ("ok", None)

    def test_what_the_program_put_in_is_no_part_of_anyones_words(self) -> None:
        (session,) = read_sessions(CART)
        assert session.steps[0].text == "the total of an empty cart is wrong"
        everything = "\n".join(step.text for step in session.steps)
        assert "reminder" not in everything
        assert "agentId" not in everything
        assert "opened" not in everything

    def test_each_step_can_be_found_again_in_its_file(self) -> None:
        (session,) = read_sessions(CART)
        assert session.steps
        for step in session.steps:
            file = CART.parent / (step.source.file or CART.name)
            line = file.read_text(encoding="utf-8").splitlines()[step.source.line - 1]
            assert json.loads(line)["uuid"] == step.source.id

    def test_every_line_of_both_files_is_accounted_for(self) -> None:
        (session,) = read_sessions(CART)
        assert session.accounting.lines == 16 + 4
        assert session.accounting.used == 13 + 4
        assert session.accounting.skipped == {"file-history-snapshot": 1, "summary": 1, "system/turn_duration": 1}


class TestWhoseWords:
    @pytest.mark.parametrize(
        "text",
        [
            "<local-command-stdout>Bye!</local-command-stdout>",
            "<local-command-caveat>Caveat: not for you</local-command-caveat>",
            "Caveat: The messages below were generated by the user while running local commands. DO NOT respond.",
            "<system-reminder>Remember the rules.</system-reminder>",
            "<user-prompt-submit-hook>branch: main</user-prompt-submit-hook>",
            "<command-name>/model</command-name><command-message>model</command-message><command-args>opus</command-args>",
            "<bash-stdout></bash-stdout><bash-stderr></bash-stderr>",
        ],
    )
    def test_the_programs_lines_are_nobodys(self, read: Callable[..., Session], text: str) -> None:
        session = read(user("hello"), user(text))
        assert texts(session, "prompt") == ["hello"]
        assert len(session.steps) == 1

    @pytest.mark.parametrize(
        ("text", "actor"),
        [
            ("Operation stopped by hook: another session is active", "system"),
            ('<teammate-message teammate_id="reviewer">Looks fine.</teammate-message>', "agent:reviewer"),
            ("<task-notification><task-id>x</task-id><summary>Done</summary></task-notification>", "system"),
            ("<bash-input>make</bash-input>", "user"),
            ("<command-message>pr</command-message><command-name>/pr</command-name>", "user"),
        ],
    )
    def test_other_voices_are_noted_under_their_own_name(
        self, read: Callable[..., Session], text: str, actor: str
    ) -> None:
        session = read(says("hello"), user(text))
        assert kinds(session) == ["message", "note"]
        assert session.steps[1].actor == actor

    def test_a_commands_arguments_are_the_users_words_and_its_expanded_body_is_not(
        self, read: Callable[..., Session]
    ) -> None:
        command = "<command-name>/review</command-name><command-args>only the cart</command-args>"
        session = read(user(command), user([{"type": "text", "text": "Review with great care."}], isMeta=True))
        assert texts(session, "prompt") == ["only the cart"]

    def test_a_line_of_another_origin_is_no_prompt(self, read: Callable[..., Session]) -> None:
        session = read(user("hello", origin={"kind": "human"}), user("go on", origin={"kind": "task-notification"}))
        assert texts(session, "prompt") == ["hello"]

    def test_a_prompt_that_a_hook_stopped_counts_when_it_is_said_again(self, read: Callable[..., Session]) -> None:
        session = read(user("fix it"), user("Operation stopped by hook: not now"), user("fix it"), says("Yes."))
        assert kinds(session) == ["note", "note", "prompt", "message"]

    def test_words_typed_while_the_agent_works_are_a_prompt_when_it_gets_them(
        self, read: Callable[..., Session]
    ) -> None:
        def queue(operation: str, content: str | None = None) -> Record:
            return {"type": "queue-operation", "operation": operation, "content": content, "sessionId": "s1"}

        session = read(
            user("hello"),
            queue("enqueue", "only this branch"),
            says("Looking."),
            queue("remove"),
            queue("enqueue", "/model"),
            queue("remove"),
            queue("enqueue", "never mind"),
            queue("popAll"),
        )
        assert kinds(session) == ["prompt", "message", "prompt"]
        assert (session.steps[2].text, session.steps[2].source.line) == ("only this branch", 2)

    def test_words_that_the_log_attaches_are_a_prompt_and_what_the_program_attaches_is_not(
        self, read: Callable[..., Session]
    ) -> None:
        typed = _record("attachment", attachment={"type": "queued_command", "prompt": "and the till, please"})
        reminder = _record("attachment", attachment={"type": "todo_reminder", "content": "a list", "prompt": "a list"})
        session = read(user("mend the cart"), typed, reminder)
        assert [step.text for step in session.steps] == ["mend the cart", "and the till, please"]

    def test_text_cut_inside_an_emoji_is_still_read(self, tmp_path: Path) -> None:
        log = tmp_path / "s1.jsonl"
        log.write_text(json.dumps(user("all good \ud83d")) + "\n", encoding="utf-8")
        (session,) = read_sessions(log)
        assert texts(session, "prompt") == ["all good ?"]


class TestHowACallCameOut:
    @pytest.mark.parametrize(
        ("content", "error", "extra", "status", "exit_code"),
        [
            ("3 passed", False, {"stdout": "3 passed", "interrupted": False}, "ok", 0),
            ("Error: nothing is wrong, this is grep's output", False, {"interrupted": False}, "ok", 0),
            ("started", False, {"backgroundTaskId": "b1"}, "ok", None),
            ("", False, {"returnCodeInterpretation": "No matches found"}, "ok", 1),
            ("half", False, {"stdout": "half", "interrupted": True}, "interrupted", None),
            ("Exit code 2\nmake: *** [all] Error 2", True, "Error: Exit code 2", "error", 2),
            ("Exit code 137\n[Request interrupted by user for tool use]", True, None, "interrupted", 137),
            ("[Request interrupted by user for tool use]", True, None, "interrupted", None),
            (STOP, True, "User rejected tool use", "rejected", None),
            ("<tool_use_error>Sibling tool call errored</tool_use_error>", True, None, "cancelled", None),
            ("This command requires approval", True, None, "denied", None),
            ("Claude requested permissions to use Bash, but you haven't granted it yet.", True, None, "denied", None),
            ("<tool_use_error>File does not exist.</tool_use_error>", True, None, "error", None),
            ("something odd", False, "Error: something odd", "error", None),
        ],
    )
    def test_is_told_by_flag_code_and_sentence_only(
        self,
        read: Callable[..., Session],
        content: str,
        error: bool,  # noqa: FBT001  (a column of the table)
        extra: object,
        status: str,
        exit_code: int | None,
    ) -> None:
        session = read(calls("Bash", command="make"), result(content, error=error, extra=extra))
        step = only(session, "result")
        assert (step.status, step.exit_code, step.call_id) == (status, exit_code, "c1")

    def test_a_denial_named_by_the_log_is_believed(self, read: Callable[..., Session]) -> None:
        session = read(calls("Bash", command="x"), result("no", error=True, toolDenialKind="config-deny"))
        assert only(session, "result").status == "denied"

    def test_a_command_whose_output_quotes_a_refusal_still_failed(self, read: Callable[..., Session]) -> None:
        text = "Exit code 1\nrequest has been denied: This command requires approval"
        assert only(read(calls("Bash", command="x"), result(text, error=True)), "result").status == "error"

    def test_wrappers_and_codes_are_cut_from_the_text(self, read: Callable[..., Session]) -> None:
        session = read(
            calls("Read", "c1", file_path="a"),
            result("<tool_use_error>File does not exist.</tool_use_error>", "c1", error=True),
            calls("Bash", "c2", command="make"),
            result("Exit code 2\nno rule", "c2", error=True),
        )
        assert texts(session, "result") == ["File does not exist.", "no rule"]

    def test_words_said_with_a_rejection_are_the_users(self, read: Callable[..., Session]) -> None:
        session = read(calls("Edit", file_path="a"), result(SAID + "use a constant", error=True))
        assert kinds(session) == ["call", "result", "prompt"]
        assert (session.steps[2].text, session.steps[2].actor) == ("use a constant", "user")
        assert session.steps[2].source.line == 2

    def test_questions_waved_away_are_not_words(self, read: Callable[..., Session]) -> None:
        waved = SAID + "The user wants to clarify these questions.\n    This means they may have more."
        assert kinds(read(calls("AskUserQuestion", questions=[]), result(waved, error=True))) == ["call", "result"]

    def test_a_background_call_is_answered_by_its_notification(self, read: Callable[..., Session]) -> None:
        notice = (
            "<task-notification><task-id>b1</task-id><status>failed</status>"
            "<summary>Command failed with exit code 2</summary></task-notification>"
        )
        session = read(
            calls("Bash", command="make", run_in_background=True),
            result("Command running in background with ID: b1", extra={"backgroundTaskId": "b1"}),
            user(notice),
        )
        assert kinds(session) == ["call", "note", "result"]
        assert session.steps[0].arguments["background"] is True
        assert (session.steps[2].call_id, session.steps[2].status, session.steps[2].exit_code) == ("c1", "error", 2)

    def test_logs_without_ids_are_paired_in_order(self, read: Callable[..., Session]) -> None:
        call, answer = calls("Bash", command="ls"), result("a.txt")
        del call["message"]["content"][0]["id"], answer["message"]["content"][0]["tool_use_id"]
        session = read(call, answer)
        assert session.steps[0].call_id == session.steps[1].call_id


class TestWhatToolsMean:
    @pytest.mark.parametrize(
        ("tool", "given", "operation", "arguments"),
        [
            (
                "MultiEdit",
                {
                    "file_path": "a",
                    "edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": "4"}],
                },
                "edit",
                {"path": "a", "old": "1\n3", "new": "2\n4"},
            ),
            ("NotebookEdit", {"notebook_path": "a", "new_source": "x"}, "edit", {"path": "a", "old": "", "new": "x"}),
            (
                "Skill",
                {"skill": "review", "args": "cart"},
                "delegate",
                {"agent": "review", "prompt": "cart", "description": "", "inline": True},
            ),
            ("Grep", {"pattern": "x", "path": "src"}, "look", {"path": "src", "pattern": "x"}),
            ("WebFetch", {"url": "https://example.com", "prompt": "p"}, "look", {"url": "https://example.com"}),
            ("BashOutput", {"bash_id": "b1"}, "look", {"query": "b1"}),
            ("mcp__linear__get_issue", {"id": "A-1"}, "look", {"query": "A-1"}),
            ("mcp__linear__linear_search_issues", {"query": "cart"}, "look", {"query": "cart"}),
            ("mcp__ide__getDiagnostics", {}, "look", {}),
            ("mcp__linear__create_comment", {"body": "hi"}, "use", {"body": "hi"}),
            ("SomethingNew", {"x": 1}, "use", {"x": 1}),
            (
                "TodoWrite",
                {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]},
                "track",
                {"items": ["a", "b"], "completed": ["a"], "current": ["b"]},
            ),
            (
                "task_tracker",
                {"command": "plan", "task_list": [{"title": "a", "status": "done"}]},
                "track",
                {"items": ["a"], "completed": ["a"], "current": []},
            ),
            ("keyword_search", {"query": "cart"}, "look", {"query": "cart"}),
            ("ExitPlanMode", {"plan": "# P"}, "plan", {"plan": "# P"}),
        ],
    )
    def test_each_has_one_operation(
        self, read: Callable[..., Session], tool: str, given: Record, operation: str, arguments: Record
    ) -> None:
        call = only(read(calls(tool, **given)), "call")
        assert (call.tool, call.operation, call.arguments) == (tool, operation, arguments)

    def test_a_written_file_is_created_only_when_the_result_says_so(self, read: Callable[..., Session]) -> None:
        new = read(calls("Write", file_path="a", content="x"), result("done", extra={"type": "create"}))
        old = read(calls("Write", file_path="a", content="x"), result("done", extra={"type": "update"}))
        assert [step.operation for step in new.steps] == ["create", "create"]
        assert new.steps[0].arguments == {"path": "a", "new": "x"}
        assert [step.operation for step in old.steps] == ["edit", "edit"]

    def test_a_task_named_by_its_number_gets_its_subject(self, read: Callable[..., Session]) -> None:
        session = read(
            calls("TaskCreate", "c1", subject="Fix the cart"),
            result("Task #1 created", "c1", extra={"task": {"id": "1", "subject": "Fix the cart"}}),
            calls("TaskUpdate", "c2", taskId="1", status="completed"),
        )
        assert session.steps[2].arguments["completed"] == ["Fix the cart"]


PLAN = "# Plan: Cache prices\n\n## Context\nThe page is slow.\n\n## Steps\n1. Cache"


class TestStatedDecisions:
    def test_an_accepted_plan_is_one(self, read: Callable[..., Session]) -> None:
        session = read(calls("ExitPlanMode", plan=PLAN), result("User has approved your plan."))
        decision = only(session, "decision")
        assert (decision.text, decision.actor) == ("Plan: Cache prices", "user")
        assert decision.arguments == {"context": "The page is slow.", "plan": PLAN}

    def test_a_rejected_plan_is_none(self, read: Callable[..., Session]) -> None:
        session = read(calls("ExitPlanMode", plan=PLAN), result(SAID + "smaller steps", error=True))
        assert kinds(session) == ["call", "result", "prompt"]

    def test_a_plan_taken_into_a_fresh_context_was_approved_not_rejected(self, read: Callable[..., Session]) -> None:
        tail = "\n\nIf you need specific details from before exiting plan mode, read the full transcript at: /tmp/x"
        session = read(
            calls("ExitPlanMode", plan=PLAN),
            result(STOP, error=True),
            user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
            user(f"Implement the following plan:\n\n{PLAN}{tail}", planContent=PLAN),
        )
        assert kinds(session) == ["call", "result", "note", "decision", "prompt"]
        assert {step.status for step in session.steps[1:3]} == {"ok", "unknown"}
        assert session.steps[3].text == "Plan: Cache prices"
        assert "transcript" not in session.steps[4].text

    def test_an_ordinary_rejection_stays_one_when_a_plan_comes_later(self, read: Callable[..., Session]) -> None:
        session = read(
            calls("Edit", file_path="a"),
            result(STOP, error=True),
            user(f"Implement the following plan:\n\n{PLAN}"),
        )
        assert only(session, "result").status == "rejected"

    @pytest.mark.parametrize(
        "extra", [{"answers": {"Which store?": "SQLite"}}, None], ids=["as an object", "in the text alone"]
    )
    def test_each_answered_question_is_one(self, read: Callable[..., Session], extra: object) -> None:
        questions = [{"question": "Which store?", "options": [{"label": "SQLite"}, {"label": "files"}]}]
        answer = 'User has answered your questions: "Which store?"="SQLite". You can now continue.'
        session = read(calls("AskUserQuestion", questions=questions), result(answer, extra=extra))
        decision = only(session, "decision")
        assert (decision.text, decision.actor) == ("SQLite", "user")
        assert decision.arguments == {"context": "Which store?", "options": ["SQLite", "files"]}


class TestWhereTheContextWasCut:
    def test_a_compaction_is_a_boundary_and_its_summary_nobodys_words(self, read: Callable[..., Session]) -> None:
        boundary = _record("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
        summary = user("This session is being continued from a previous conversation: …", isCompactSummary=True)
        session = read(user("hello"), boundary, summary, says("Going on."))
        assert kinds(session) == ["prompt", "boundary", "message"]
        assert session.steps[1].arguments == {"reason": "compaction", "trigger": "auto"}

    def test_a_summary_alone_marks_the_cut_too(self, read: Callable[..., Session]) -> None:
        session = read(user("hello"), user("This session is being continued from a previous conversation that …"))
        assert kinds(session) == ["prompt", "boundary"]

    def test_going_back_and_asking_something_else_is_a_rewind(self, read: Callable[..., Session]) -> None:
        first, answer = user("hello"), says("Hi.")
        duration = _record("system", subtype="turn_duration", parentUuid=answer["uuid"])
        session = read(
            first,
            answer,
            duration,
            user("use redis", parentUuid=duration["uuid"]),
            says("Using redis."),
            user("use sqlite", parentUuid=answer["uuid"]),
        )
        assert kinds(session) == ["prompt", "message", "prompt", "message", "boundary", "prompt"]
        assert session.steps[4].arguments == {"reason": "rewind", "abandoned_from_line": 4}

    def test_the_same_words_again_and_parallel_calls_are_none(self, read: Callable[..., Session]) -> None:
        start = says("Hi.")
        session = read(
            start,
            user("go", parentUuid=start["uuid"]),
            user("go", parentUuid=start["uuid"]),
            {**calls("Read", "c1", file_path="a"), "parentUuid": start["uuid"]},
            {**calls("Read", "c2", file_path="b"), "parentUuid": start["uuid"]},
        )
        assert "boundary" not in kinds(session)

    def test_history_of_another_session_ends_at_a_boundary(self, read: Callable[..., Session]) -> None:
        session = read(user("before", sessionId="s0"), user("after"))
        assert kinds(session) == ["prompt", "boundary", "prompt"]
        assert session.steps[1].arguments == {"reason": "resume", "from_session": "s0"}
        assert session.id == "s1"

    def test_parents_in_a_circle_do_no_harm(self, read: Callable[..., Session]) -> None:
        first = _record("system", subtype="turn_duration", uuid="x", parentUuid="y")
        second = _record("system", subtype="turn_duration", uuid="y", parentUuid="x")
        assert kinds(read(first, second, user("hello", parentUuid="x"))) == ["prompt"]

    def test_a_replayed_record_counts_once(self, read: Callable[..., Session]) -> None:
        hello = user("hello")
        session = read(hello, hello)
        assert kinds(session) == ["prompt"]
        assert session.accounting.skipped == {"duplicate": 1}


class TestHelpers:
    def test_inline_ones_keep_their_place_under_their_own_name(self, read: Callable[..., Session]) -> None:
        told = user("List the callers.", isSidechain=True, uuid="side-root")
        answer = {**says("Two."), "isSidechain": True, "parentUuid": "side-root"}
        session = read(calls("Task", prompt="List the callers."), told, answer, result("Two."))
        assert [(step.kind, step.actor) for step in session.steps] == [
            ("call", "agent"),
            ("note", "agent:side-roo"),
            ("message", "agent:side-roo"),
            ("result", "agent"),
        ]

    def test_progress_tells_what_a_helper_did_when_nothing_else_does(self, read: Callable[..., Session]) -> None:
        def progress(message: Record) -> Record:
            data = {"type": "agent_progress", "agentId": "a9", "message": message}
            return _record("progress", data=data, parentToolUseID="c1")

        session = read(
            calls("Task", "c1", prompt="List."),
            says("Meanwhile."),
            progress(calls("Grep", "g1", pattern="x")),
            progress(result("a.py", "g1")),
            result("Done.", "c1"),
        )
        assert [(step.actor, step.source.line) for step in session.steps] == [
            ("agent", 1),
            ("agent:a9", 3),
            ("agent:a9", 4),
            ("agent", 2),
            ("agent", 5),
        ]

    def test_progress_of_a_helper_with_a_file_is_a_copy(self, tmp_path: Path) -> None:
        data = {"type": "agent_progress", "agentId": "a9", "message": says("Two.")}
        main = [calls("Task", "c1", prompt="List."), _record("progress", data=data, parentToolUseID="c1")]
        _write(tmp_path / "s1.jsonl", main)
        _write(tmp_path / "agent-a9.jsonl", [{**says("Two."), "isSidechain": True, "agentId": "a9"}])
        (session,) = read_sessions(tmp_path / "s1.jsonl")
        assert [(step.kind, step.source.file) for step in session.steps] == [
            ("call", None),
            ("message", "agent-a9.jsonl"),
        ]
        assert session.accounting.skipped == {"progress of a helper with a file": 1}

    def test_one_whose_call_is_not_named_is_found_by_its_instruction_or_its_time(self, tmp_path: Path) -> None:
        early, late = "2026-03-02T09:00:00Z", "2026-03-02T09:10:00Z"
        main = [{**calls("Task", "c1", prompt="List."), "timestamp": early}, {**says("End."), "timestamp": late}]
        _write(tmp_path / "s1.jsonl", main)
        folder = tmp_path / "s1" / "subagents"
        folder.mkdir(parents=True)
        _write(folder / "agent-b1.jsonl", [user("List.", timestamp="2026-03-02T09:20:00Z")])
        _write(folder / "agent-b2.jsonl", [user("Other.", timestamp="2026-03-02T09:05:00Z")])
        (session,) = read_sessions(tmp_path / "s1.jsonl")
        assert [step.actor for step in session.steps] == ["agent", "agent:b1", "agent:b2", "agent"]

    def test_a_helpers_log_by_itself_can_be_read(self) -> None:
        (session,) = ClaudeCodeReader().read(CART.parent / CART.stem / "subagents" / "agent-a1b2c3.jsonl")
        assert kinds(session) == ["prompt", "call", "result", "message"]


class TestTime:
    def test_a_moment_without_a_zone_is_not_guessed(self, read: Callable[..., Session]) -> None:
        session = read(user("a", timestamp="2026-03-02T09:00:00"), user("b", timestamp="2026-03-02T10:00:00+01:00"))
        assert [step.at for step in session.steps] == [None, datetime(2026, 3, 2, 9, 0, tzinfo=UTC)]


class TestWhere:
    @pytest.mark.parametrize(
        ("folders", "root", "project"),
        [
            (["/home/kim/shop"], "/home/kim/shop", "shop"),
            (["/home/kim/shop/web", "/home/kim/shop"], "/home/kim/shop", "shop"),
            (["/home/kim/shop", "/home/kim/shop/web"], "/home/kim/shop", "shop"),
            (["/home/kim/shop", "/home/kim", "/"], "/home/kim/shop", "shop"),
            (["/home/kim/shop/.worktrees/3"], "/home/kim/shop/.worktrees/3", "shop"),
            (["/home/kim/shop/.claude/worktrees/x"], "/home/kim/shop/.claude/worktrees/x", "shop"),
            (["C:\\code\\shop"], "C:\\code\\shop", "shop"),
        ],
    )
    def test_the_project_is_the_repository_not_the_folder_of_the_moment(
        self, read: Callable[..., Session], folders: list[str], root: str, project: str
    ) -> None:
        session = read(*(user("hello", cwd=folder) for folder in folders))
        assert (session.root, session.project) == (root, project)


def _write(path: Path, records: list[Record]) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
