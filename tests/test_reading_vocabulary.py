"""Do agents' tools, whatever they are called, become the few operations that extraction knows?"""

from __future__ import annotations

from typing import Any

from helix_episodes.readers.common.fields import RecordPosition
from helix_episodes.readers.common.session_builder import Dialogue
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, Translation, read_patch, translate
from helix_episodes.session import Source
from whole_tables import each_row


@each_row(
    ("tool", "arguments", "operation", "expected"),
    [
        ("run_shell_command", {"command": "ls"}, "run", {"command": "ls"}),
        ("exec_command", {"cmd": "ls"}, "run", {"command": "ls"}),
        ("shell", {"command": ["git", "commit", "-m", "a b"]}, "run", {"command": "git commit -m 'a b'"}),
        ("readFile", {"filePath": "a.py"}, "look", {"path": "a.py"}),
        (
            "search_replace",
            {"file": "a.py", "old_str": "x", "new_str": "y"},
            "edit",
            {"path": "a.py", "old": "x", "new": "y"},
        ),
        ("write_file", {"absolute_path": "a.py", "content": "x"}, "edit", {"path": "a.py", "old": "", "new": "x"}),
        ("create_file", {"path": "a.py", "content": "x"}, "create", {"path": "a.py", "new": "x"}),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "look", {"path": "a.py"}),
        (
            "str_replace_editor",
            {"command": "create", "path": "a", "file_text": "x"},
            "create",
            {"path": "a", "new": "x"},
        ),
        ("apply_patch", {"input": "no patch"}, "use", {"input": "no patch"}),
        ("frobnicate", {"level": 3}, "use", {"level": 3}),
        ("list_widgets", {"query": "red"}, "look", {"query": "red"}),
    ],
)
def test_tools_are_translated(tool: str, arguments: dict[str, Any], operation: str, expected: dict[str, Any]) -> None:
    assert translate(tool, arguments, tools=COMMON_TOOLS) == (Translation(operation, expected),)  # type: ignore[arg-type]  # a word of the table


def test_the_agents_own_list_keeps_what_is_done_and_under_way() -> None:
    plan = [{"step": "read", "status": "completed"}, {"step": "write", "status": "in_progress"}, {"step": "test"}]
    ((operation, arguments),) = translate("update_plan", {"plan": plan}, tools=COMMON_TOOLS)
    assert operation == "track"
    assert arguments == {"items": ["read", "write", "test"], "completed": ["read"], "current": ["write"]}


@each_row(
    ("tool", "operation"),
    [
        *(("get_order", "look"), ("searchFlights", "look"), ("list_all_airports", "look"), ("calculate", "look")),
        *(("think", "look"), ("cancel_order", "use"), ("update_booking", "use"), ("send_certificate", "use")),
        *(("write", "use"), ("execute", "use")),
    ],
)
def test_tools_of_a_trade_are_told_apart_by_their_verbs_alone(tool: str, operation: str) -> None:
    assert translate(tool, {}, tools={})[0].operation == operation


def test_a_moved_file_goes_in_one_place_and_comes_in_another() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch\n"
    assert [(change.operation, change.path) for change in read_patch(patch)] == [("delete", "a.py"), ("edit", "b.py")]


def place(line: int) -> RecordPosition:
    return RecordPosition(Source(line=line))


RUN = [Translation("run", {"command": "ls"})]


def test_an_id_that_is_used_twice_names_two_calls() -> None:
    dialogue = Dialogue()
    for line in (1, 3):
        dialogue.add_call(place(line), tool="sh", call_id="c", translations=RUN)
        dialogue.add_result("c", place(line + 1), text=str(line), status="ok")
    assert [(step.kind, step.call_id) for step in dialogue.steps] == [
        ("call", "c"),
        ("result", "c"),
        ("call", "c~2"),
        ("result", "c~2"),
    ]


def test_results_without_an_id_go_to_the_oldest_call_that_waits() -> None:
    dialogue = Dialogue()
    for line in (1, 2):
        dialogue.add_call(place(line), tool="sh", call_id=None, translations=RUN)
    dialogue.add_result(None, place(3), text="first", status="ok")
    assert dialogue.steps[-1].call_id == dialogue.steps[0].call_id
    dialogue.add_result("unheard of", place(4), text="whose?", status="ok")
    assert dialogue.steps[-1].operation is None
