"""Are the calls that a script makes in Codex's code mode read as the agent's own, and the script as nothing?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import find_reader, read_sessions
from helix_episodes.readers.codex.code_mode import calls_in
from whole_tables import each_row

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.session import Session, Step

FAILED = "E   TypeError: price is missing\nFAILED test_cart.py::test_sum - TypeError: pri...\n1 failed in 0.1s"
HEAD = "Script completed\nWall time 0.4 seconds\nOutput:\n"


def text(value: str) -> dict[str, str]:
    return {"type": "input_text", "text": value}


def script(call: str, code: str) -> dict[str, Any]:
    return {"type": "custom_tool_call", "name": "exec", "call_id": call, "input": code}


def printed(call: str, *parts: str, head: str = HEAD) -> dict[str, Any]:
    return {"type": "custom_tool_call_output", "call_id": call, "output": [text(head), *map(text, parts)]}


def read(folder: Path, *records: dict[str, Any]) -> Session:
    log = folder / "rollout.jsonl"
    meta = {"type": "session_meta", "payload": {"id": "r-1", "cwd": "/work/shop", "cli_version": "0.169.0"}}
    lines = [meta]
    for payload in records:
        kind = "event_msg" if payload["type"] in {"item_completed", "exec_command_end"} else "response_item"
        lines.append({"type": kind, "payload": payload})
    for at, line in enumerate(lines):
        line["timestamp"] = f"2026-07-02T09:00:{at:02}Z"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert find_reader(log).name == "codex"
    (session,) = read_sessions(log)
    assert session.accounting.unknown == {}
    return session


def calls(session: Session) -> list[tuple[str | None, str | None]]:
    return [(step.operation, step.arguments.get("command")) for step in session.steps if step.kind == "call"]


def results(session: Session) -> list[Step]:
    return [step for step in session.steps if step.kind == "result"]


def test_a_command_is_the_step_and_its_result_the_objects(tmp_path: Path) -> None:
    outcome = json.dumps({"wall_time_seconds": 0.4, "exit_code": 1, "output": FAILED})
    session = read(
        tmp_path,
        script("c1", 'const r = await tools.exec_command({cmd: "python -m pytest -q"}); text(r);'),
        printed("c1", outcome),
    )
    assert calls(session) == [("run", "python -m pytest -q")]
    (result,) = results(session)
    assert (result.status, result.exit_code, result.text) == ("error", 1, FAILED)
    (error,) = [event for event in extract(session).events if event.type == "error"]
    assert (error.check, error.family) == ("pytest", "TypeError")


def test_what_the_program_records_itself_is_no_second_step(tmp_path: Path) -> None:
    item = {
        "type": "CommandExecution",
        "id": "exec-7",
        "command": ["bash", "-lc", "pytest -q"],
        "aggregated_output": FAILED,
        "exit_code": 1,
        "status": "failed",
    }
    session = read(
        tmp_path,
        script("c1", 'const r = await tools.exec_command({cmd: "pytest -q"}); text(r.output);'),
        {"type": "item_completed", "item": item},
        printed("c1", FAILED),
    )
    assert calls(session) == [("run", "pytest -q")]
    assert [(one.exit_code, one.text) for one in results(session)] == [(1, FAILED)]


def test_a_command_that_a_script_computes_is_known_from_the_programs_record(tmp_path: Path) -> None:
    item = {"type": "CommandExecution", "id": "e1", "command": ["bash", "-lc", "ls"], "exit_code": 0}
    session = read(
        tmp_path,
        script("c1", "for (const cmd of commands()) text(await tools.exec_command({cmd}));"),
        {"type": "item_completed", "item": item},
        {"type": "item_completed", "item": item | {"id": "e2", "command": ["bash", "-lc", "pwd"]}},
        printed("c1", "a.py", "/work"),
    )
    assert calls(session) == [("run", "ls"), ("run", "pwd")]
    assert [one.exit_code for one in results(session)] == [0, 0]


def test_several_calls_each_have_their_own_output(tmp_path: Path) -> None:
    code = """
    // run both: tools.exec_command({cmd: "not this one"})
    const note = 'nor tools.exec_command({cmd: "this"})';
    const [a, b] = await Promise.all([
      tools.exec_command({cmd: 'ruff check .', yield_time_ms: 1_000}),
      tools.exec_command({"cmd": `pytest -q`}),
    ]);
    text([a, b]);
    """
    outcomes = json.dumps([{"exit_code": 0, "output": "All checks passed!"}, {"exit_code": 1, "output": FAILED}])
    session = read(tmp_path, script("c1", code), printed("c1", outcomes))
    assert calls(session) == [("run", "ruff check ."), ("run", "pytest -q")]
    assert [(one.exit_code, one.text) for one in results(session)] == [(0, "All checks passed!"), (1, FAILED)]
    session = read(tmp_path, script("c1", code), printed("c1", "All checks passed!", FAILED))
    assert [(one.status, one.text) for one in results(session)] == [
        ("unknown", "All checks passed!"),
        ("unknown", FAILED),
    ]


def test_output_in_parts_is_that_of_the_script_that_was_waited_for(tmp_path: Path) -> None:
    wait = {"type": "function_call", "name": "wait", "call_id": "w1", "arguments": '{"cell_id": "7"}'}
    session = read(
        tmp_path,
        script("c1", 'const r = await tools.exec_command({cmd: "pytest"}); text(r);'),
        printed("c1", head="Script running with cell ID 7\nWall time 9.0 seconds\nOutput:\n"),
        wait,
        {
            "type": "function_call_output",
            "call_id": "w1",
            "output": [text(HEAD), text(json.dumps({"exit_code": 1, "output": FAILED}))],
        },
    )
    assert calls(session) == [("run", "pytest")]
    assert [(one.exit_code, one.text) for one in results(session)] == [(1, FAILED)]


def test_a_command_that_goes_on_ends_when_it_is_polled(tmp_path: Path) -> None:
    session = read(
        tmp_path,
        script("c1", 'text(await tools.exec_command({cmd: "pytest"}));'),
        printed("c1", json.dumps({"session_id": 4, "output": "collecting\n"})),
        script("c2", "text(await tools.write_stdin({session_id: 4, chars: ''}));"),
        printed("c2", json.dumps({"exit_code": 1, "output": FAILED})),
    )
    ended = [one for one in results(session) if one.operation == "run"]
    assert [(one.exit_code, one.text) for one in ended] == [(1, f"collecting\n{FAILED}")]


def test_a_patch_is_edits_and_a_script_that_fails_is_its_last_calls_error(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: cart.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
    session = read(
        tmp_path,
        script("c1", f"const r = await tools.apply_patch(`{patch}`); text(r);"),
        printed("c1", "Success"),
        script("c2", 'text(await tools.exec_command({cmd: "pytest"}));'),
        printed(
            "c2",
            "Script error:\nexec_command failed: no such folder",
            head="Script failed\nWall time 0.1 seconds\nOutput:\n",
        ),
    )
    assert [(step.operation, step.arguments.get("path")) for step in session.steps if step.kind == "call"] == [
        ("edit", "cart.py"),
        ("run", None),
    ]
    assert [one.status for one in results(session)] == ["ok", "error"]


@each_row(
    ("code", "arguments"),
    [
        ("tools.exec_command({cmd: 'it\\'s ' + \"a\\ttest\"})", {"cmd": "it's a\ttest"}),
        (
            "tools['exec_command']({cmd: ['a', \"b\"].join(' && '), n: -1.5, on: true, off: null,})",
            {"cmd": "a && b", "n": -1.5, "on": True, "off": None},
        ),
        ("const cmd = `echo \\${HOME}`; tools.exec_command({ cmd /* short */ })", {"cmd": "echo ${HOME}"}),
        ("tools.exec_command({cmd: String.raw`grep '\\d+' a.py`})", {"cmd": "grep '\\d+' a.py"}),
        ("tools.exec_command({cmd: `echo ${name}`})", None),
        ("tools.exec_command({cmd: name.trim()})", None),
        ("tools.exec_command(", None),
        ('tools.exec_command({cmd: "half', None),
        ("tools.exec_command(" + "[" * 5000, None),
    ],
)
def test_an_argument_that_is_written_out_is_read(code: str, arguments: dict[str, Any] | None) -> None:
    assert [call.arguments for call in calls_in(code)] == ([] if arguments is None else [arguments])
