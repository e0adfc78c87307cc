"""Are the runs of SWE-agent, mini-swe-agent and OpenHands read as what was thought, done and seen?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import LogNotReadable, UnknownLogFormat
from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import find_reader, read_sessions
from helix_episodes.verification import verify

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.session import Session


def read(path: Path, document: object, *, reader: str) -> Session:
    """The one session in the document, written as programs do: indented."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    assert find_reader(path).name == reader
    (session,) = read_sessions(path)
    return session


def kinds(session: Session) -> list[tuple[str, str | None]]:
    return [(step.kind, step.operation) for step in session.steps]


def turn(action: str, observation: str = "", *, opened: str = "n/a", thought: str = "") -> dict[str, Any]:
    state = json.dumps({"open_file": opened, "working_dir": "/shop"})
    return {"action": action, "observation": observation, "thought": thought, "response": "", "state": state}


def traj(*turns: dict[str, Any], order: str = "ISSUE:\nThe cart is empty.\n\nINSTRUCTIONS:\nGo on.") -> dict[str, Any]:
    history = [
        {"role": "system", "content": "be an agent", "agent": "primary"},
        {"role": "user", "content": "a demonstration", "agent": "primary", "is_demo": True},
        {"role": "user", "content": order, "agent": "primary"},
        {"role": "assistant", "content": "the same again", "agent": "primary", "action": "ls"},
    ]
    return {"trajectory": list(turns), "history": history, "info": {"exit_status": "submitted", "submission": ""}}


# SWE-agent.


def test_a_turn_is_a_thought_a_call_and_its_result(tmp_path: Path) -> None:
    run = traj(turn("pytest -q", "1 failed", thought="Does it fail?"), turn("submit"))
    session = read(tmp_path / "run-1" / "shop-7" / "shop-7.traj", run, reader="swe-agent")
    assert kinds(session)[:4] == [("prompt", None), ("thought", None), ("call", "run"), ("result", "run")]
    assert (session.id, session.task_id, session.task) == ("run-1-shop-7", "shop-7", "The cart is empty.")
    assert (session.root, session.project) == ("/shop", "shop")
    assert session.accounting.lines == 6
    assert session.accounting.skipped == {"demonstration": 1, "history, which the turns have": 1, "system prompt": 1}
    assert session.steps[-1].text == "exit status: submitted"


@pytest.mark.parametrize(
    ("action", "operation", "expected"),
    [
        ("edit 4:4\nx = 2\nend_of_edit", "edit", {"path": "/shop/a.py", "old": "", "new": "x = 2"}),
        ("edit\nx = 2\nend_of_edit", "edit", {"path": "/shop/a.py", "old": "", "new": "x = 2"}),
        ("edit 'x = 1' 'x = 2' False", "edit", {"path": "/shop/a.py", "old": "x = 1", "new": "x = 2"}),
        ("insert 'x = 2'", "edit", {"path": "/shop/a.py", "old": "", "new": "x = 2"}),
        ("create b.py", "create", {"path": "b.py", "new": ""}),
        (
            "str_replace_editor str_replace b.py --old_str x --new_str y",
            "edit",
            {"path": "b.py", "old": "x", "new": "y"},
        ),
        ("str_replace_editor view b.py", "look", {"path": "b.py"}),
        ('open "b.py" 12', "look", {"path": "b.py"}),
        ("search_dir cart src", "look", {"pattern": "cart", "path": "src"}),
        ("goto 12", "look", {"path": "/shop/a.py"}),
        ("make edit", "run", {"command": "make edit"}),
    ],
)
def test_the_commands_of_the_interface_are_translated(
    tmp_path: Path, action: str, operation: str, expected: dict[str, str]
) -> None:
    session = read(tmp_path / "a.traj", traj(turn(action, opened="/shop/a.py")), reader="swe-agent")
    call = next(step for step in session.steps if step.kind == "call")
    assert (call.operation, call.arguments) == (operation, expected)


def test_an_edit_that_the_interface_refused_is_an_error_and_the_next_one_repairs_it(tmp_path: Path) -> None:
    refused = "Your proposed edit has introduced new syntax error(s). Read this.\n- E999 IndentationError"
    run = traj(
        turn("edit 4:4\n x = 2\nend_of_edit", refused, opened="/shop/a.py"),
        turn("edit 4:4\nx = 2\nend_of_edit", "File updated.", opened="/shop/a.py"),
    )
    episode = extract(read(tmp_path / "a.traj", run, reader="swe-agent"))
    (error,) = (event for event in episode.events if event.type == "error")
    (fix,) = episode.fixes
    assert (error.family, error.path) == ("edit breaks the syntax", "a.py")
    assert (fix.error, fix.check) == (error.id, "edit")


def test_a_program_that_died_last_is_an_error_although_no_exit_code_tells(tmp_path: Path) -> None:
    died = 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 7\n'
    run = traj(
        turn("python a.py", died),
        turn("cat log.txt", died),
        turn("python a.py", f"{died}went on all the same"),
        turn("python slow.py", "\nEXECUTION TIMED OUT"),
        turn("submit flag", "Wrong flag!"),
    )
    episode = extract(read(tmp_path / "a.traj", run, reader="swe-agent"))
    families = [(event.check, event.family) for event in episode.events if event.type == "error"]
    assert families == [("python a.py", "KeyError"), ("python slow.py", "timeout"), ("submit", "Wrong flag!")]
    assert episode.decisions[-1].chosen == "use submit: flag"


def test_quotations_stand_on_their_lines_of_a_document_over_many_lines(tmp_path: Path) -> None:
    refused = "Your edit was not applied: it names no file"
    edit = turn("edit 'x' 'y'", refused, opened="/shop/a.py", thought="A change.")
    run = traj(edit, turn("rm -r build"), turn("rm -r dist"))
    log = tmp_path / "a.traj"
    quoted = verify(extract(read(log, run, reader="swe-agent")), log)
    assert {one.result for one in quoted} == {"found"}
    assert len({one.line for one in quoted}) == len(quoted) >= 3


def test_a_run_without_turns_is_read_by_its_history(tmp_path: Path) -> None:
    history = [
        {"role": "system", "content": "be an agent", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "ISSUE:\nNo colon.", "agent": "main", "message_type": "observation"},
        {"role": "assistant", "content": "", "thought": "Look.", "action": "open a.py", "agent": "main"},
        {"role": "tool", "content": "1:x", "agent": "main", "message_type": "observation"},
    ]
    session = read(tmp_path / "a.traj", {"history": history}, reader="swe-agent")
    assert kinds(session) == [("prompt", None), ("thought", None), ("call", "look"), ("result", "look")]


# mini-swe-agent.


def bash(command: str, words: str = "") -> dict[str, Any]:
    return {"role": "assistant", "content": f"{words}\n\n```mswea_bash_command\n{command}\n```"}


def observed(code: int, output: str) -> dict[str, Any]:
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"}


ORDER = [
    {"role": "system", "content": "be an agent"},
    {"role": "user", "content": "Please solve this issue: The cart is empty.\n\nYou can execute bash commands."},
]


@pytest.mark.parametrize("wrapped", [True, False])
def test_answers_are_commands_and_the_next_message_their_output(tmp_path: Path, wrapped: bool) -> None:  # noqa: FBT001  (a parameter of the test)
    messages = [*ORDER, bash("cat a.py", "Look first."), observed(1, "cat: a.py: No such file or directory")]
    messages += [bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"), {"role": "user", "content": "diff"}]
    info = {"mini_version": "1.14", "config": {"model": {"model_name": "some-model"}}}
    run = {"messages": messages, "info": info} if wrapped else messages
    session = read(tmp_path / "shop-7.traj.json", run, reader="mini-swe-agent")
    assert kinds(session)[:4] == [("prompt", None), ("message", None), ("call", "run"), ("result", "run")]
    assert session.steps[1].text == "Look first."
    assert (session.steps[3].text, session.steps[3].status) == ("cat: a.py: No such file or directory", "error")
    # The last output is what the run hands in: nothing says how the command ended.
    assert (session.steps[-1].text, session.steps[-1].status) == ("diff", "unknown")
    assert (session.task, session.task_id, session.accounting.lines) == ("The cart is empty.", "shop-7", 6)
    assert session.model == ("some-model" if wrapped else None)


def test_commands_may_be_tool_calls_and_a_refused_answer_is_no_command(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    messages = [
        *ORDER,
        {"role": "assistant", "content": "```bash\nls\n```\nor\n```bash\npwd\n```"},
        {"role": "user", "content": "Please always provide exactly one command."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
    ]
    session = read(tmp_path / "x.traj.json", messages, reader="mini-swe-agent")
    assert kinds(session) == [
        *(("prompt", None), ("message", None), ("note", None), ("call", "run"), ("result", "run")),
    ]
    assert session.steps[-1].status == "ok"


# OpenHands.


def action(number: int, kind: str, source: str = "agent", **args: Any) -> dict[str, Any]:  # noqa: ANN401  (fields of the log)
    return {"id": number, "source": source, "message": "", "action": kind, "args": args}


def seen(number: int, cause: int, kind: str, content: str, **extras: Any) -> dict[str, Any]:  # noqa: ANN401  (as above)
    return {
        "id": number,
        "source": "agent",
        "message": "",
        "cause": cause,
        "observation": kind,
        "content": content,
        "extras": extras,
    }


def test_an_observation_is_the_result_of_its_cause(tmp_path: Path) -> None:
    events = [
        action(0, "message", "user", content="make the cart"),
        action(1, "run", command="make", thought="First build."),
        seen(2, 1, "run", "Error 2", metadata={"exit_code": 2, "working_dir": "/workspace"}),
        action(3, "run", command="serve"),
        seen(4, 3, "run", "serving", metadata={"exit_code": -1}),
        action(5, "change_agent_state", agent_state="stopped"),
        action(6, "finish", final_thought="It is made."),
    ]
    session = read(tmp_path / "run.json", events, reader="openhands")
    assert [(step.kind, step.status, step.exit_code) for step in session.steps] == [
        ("prompt", "unknown", None),
        ("message", "unknown", None),
        ("call", "unknown", None),
        ("result", "error", 2),
        ("call", "unknown", None),
        ("result", "unknown", None),
        ("message", "unknown", None),
    ]
    assert session.root == "/workspace"
    assert session.accounting.skipped == {"action change_agent_state": 1}
    assert session.accounting.lines == len(events)


def test_the_last_words_may_stand_beside_the_action(tmp_path: Path) -> None:
    finish = {**action(1, "finish"), "message": "It is made."}
    session = read(tmp_path / "run.json", [action(0, "run", command="make"), finish], reader="openhands")
    assert [step.text for step in session.steps if step.kind == "message"] == ["It is made."]


def test_edits_are_what_the_editor_was_told(tmp_path: Path) -> None:
    code = "print(file_editor(**{'command': 'create', 'path': '/workspace/a.py', 'file_text': 'x = 1\\n'}))"
    events = [
        action(1, "edit", path="/workspace/a.py", content="", translated_ipython_code=code),
        seen(2, 1, "edit", "+x = 1", prev_exist=False),
        action(3, "edit", path="/workspace/a.py", command="str_replace", old_str="x = 1", new_str="x = 2"),
        seen(4, 3, "edit", "ERROR:\nNo replacement was performed"),
        action(5, "read", path="/workspace/a.py"),
        seen(6, 5, "error", "File not found"),
        action(7, "write", path="/workspace/b.py", content="y = 1"),
        seen(8, 7, "write", "written", prev_exist=False),
    ]
    session = read(tmp_path / "run.json", events, reader="openhands")
    calls = [(step.operation, step.arguments.get("new")) for step in session.steps if step.kind == "call"]
    assert calls == [("create", "x = 1\n"), ("edit", "x = 2"), ("look", None), ("create", "y = 1")]
    assert [step.status for step in session.steps if step.kind == "result"] == ["ok", "error", "error", "ok"]
    assert session.root == "/workspace"


@pytest.mark.parametrize(
    "foreign",
    [{"trajectory": [{"step": 1}]}, [{"role": "user", "content": "hi"}], [{"source": "agent"}], {}, [], 7, "x"],
)
def test_other_documents_are_declined(tmp_path: Path, foreign: object) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(foreign), encoding="utf-8")
    with pytest.raises(UnknownLogFormat):
        find_reader(path)


@pytest.mark.parametrize("reader", ["swe-agent", "mini-swe-agent", "openhands", "tau-bench", "who-and-when"])
@pytest.mark.parametrize("content", ["{", "[]", "[1, null]", '{"history": [7], "messages": 3}', '"x"'])
def test_what_is_no_run_is_refused_with_a_sentence_by_the_reader_that_is_asked_for(
    tmp_path: Path, reader: str, content: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(LogNotReadable):
        read_sessions(path, format=reader)
