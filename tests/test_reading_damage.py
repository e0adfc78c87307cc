"""What becomes of a log that is cut off or damaged? Nothing is lost in silence, and nothing stops."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers import read_sessions
from helix_episodes.readers.claude_code import ClaudeCodeReader
from helix_episodes.readers.common.jsonl import LineLedger, read_records

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.session import Session


def said(text: str, uuid: str) -> bytes:
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "uuid": uuid, "sessionId": "s1", "message": message}).encode()


def read(path: Path, content: bytes) -> Session:
    path.write_bytes(content)
    (session,) = read_sessions(path)
    return session


def prompts(session: Session) -> list[str]:
    return [step.text for step in session.steps if step.kind == "prompt"]


@pytest.mark.parametrize(
    ("damage", "line", "problem"),
    [
        (b'{"type":"user","mess', 2, "cut off"),
        (b'{"type":{"user":"mess"}', 2, "cut off"),
        (b'{"a":"\xff\xfe"}', 2, "not JSON in UTF-8"),
        (b'{"a":' + b"9" * 400 + b"}", 2, "not JSON (number is infinity"),
        (b"\0\0\0\0\n", 2, "NUL bytes"),
        (b'{"type":"user"\n', 2, "not JSON"),
        (b'{"a":"\xff\xfe"}\n', 2, "not JSON"),
        (b"[1, 2]\n", 2, "not a JSON object but a list"),
        (b"null\n", 2, "not a JSON object but null"),
    ],
)
def test_a_bad_line_is_reported_by_number_and_the_rest_goes_on(
    tmp_path: Path, damage: bytes, line: int, problem: str
) -> None:
    content = said("before", "1") + b"\n" + damage
    if damage.endswith(b"\n"):
        content += said("after", "2") + b"\n"
    session = read(tmp_path / "s1.jsonl", content)
    (bad,) = session.accounting.bad
    assert bad.line == line
    assert problem in bad.problem
    assert prompts(session) == (["before", "after"] if damage.endswith(b"\n") else ["before"])


def test_byte_order_marks_windows_line_ends_and_blank_lines_are_no_damage(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + said("one", "1") + b"\r\n\r\n   \r\n" + said("two", "2")
    session = read(tmp_path / "s1.jsonl", content)
    assert prompts(session) == ["one", "two"]
    assert (session.accounting.lines, session.accounting.blank, session.accounting.bad) == (4, 2, ())


def test_a_bad_line_in_a_helpers_file_names_that_file(tmp_path: Path) -> None:
    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-b1.jsonl").write_bytes(b"{oops\n")
    (bad,) = read(tmp_path / "s1.jsonl", said("hello", "1")).accounting.bad
    assert (bad.file, bad.line) == ("s1/subagents/agent-b1.jsonl", 1)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "UTF-16"])
def test_a_helpers_file_that_cannot_be_read_costs_only_itself(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    bad_file = folder / "agent-b1.jsonl"
    if kind == "folder":
        bad_file.mkdir()
    elif kind == "pipe":
        os.mkfifo(bad_file)
        os.mkfifo(folder / "agent-b2.meta.json")
    elif kind == "device":
        bad_file.symlink_to("/dev/zero")
    else:
        bad_file.write_bytes(said("lost", "2").decode().encode("utf-16"))
    (folder / "agent-b2.jsonl").write_bytes(said("kept", "3") + b"\n")
    session = read(tmp_path / "s1.jsonl", said("hello", "1"))
    (bad,) = session.accounting.bad
    assert bad.file == "s1/subagents/agent-b1.jsonl"
    assert bad.problem.startswith("it is ")
    assert [step.text for step in session.steps] == ["hello", "kept"]


def test_a_log_of_nothing_but_bad_lines_holds_no_session_even_beside_helpers(tmp_path: Path) -> None:
    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-b1.jsonl").write_bytes(said("hello", "1"))
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"{oops\n[1]\n")
    with pytest.raises(LogNotReadable, match="contains no session"):
        read_sessions(path, format="claude-code")


def test_types_never_met_are_counted_by_name(tmp_path: Path) -> None:
    strange = b'{"type":"hologram"}\n{"type":"system","subtype":"levitate"}\n{"type":"user","uuid":"9"}\n'
    session = read(tmp_path / "s1.jsonl", strange + said("hello", "1"))
    assert session.accounting.unknown == {"hologram": 1, "system/levitate": 1, "user without content": 1}


def test_a_log_without_a_step_holds_no_session(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text('{"type":"summary","summary":"x","leafUuid":"y"}\n', encoding="utf-8")
    with pytest.raises(LogNotReadable, match="contains no session"):
        read_sessions(path)


def test_the_session_is_named_by_its_file_when_its_records_name_none(tmp_path: Path) -> None:
    record = {"type": "user", "uuid": "1", "message": {"role": "user", "content": "hello"}}
    assert read(tmp_path / "mine.jsonl", json.dumps(record).encode()).id == "mine"


# Anything that JSON can say in the places where the reader looks.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "content",
                    "id",
                    "name",
                    "input",
                    "tool_use_id",
                    "subtype",
                    "message",
                    "agentId",
                    "todos",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
KINDS = st.sampled_from(
    [
        "user",
        "assistant",
        "system",
        "progress",
        "attachment",
        "queue-operation",
        "pr-link",
        "summary",
        "compact_boundary",
        "?",
    ]
)
BLOCKS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image", "?"])},
        optional={
            "text": VALUES,
            "id": st.sampled_from(["c1", "c2"]),
            "tool_use_id": st.sampled_from(["c1", "c2"]),
            "name": st.sampled_from(["Bash", "Edit", "Write", "TodoWrite", "Task", "AskUserQuestion", "ExitPlanMode"]),
            "input": VALUES,
            "content": VALUES,
            "is_error": st.booleans(),
        },
    ),
    max_size=3,
)
RECORDS = st.fixed_dictionaries(
    {"type": KINDS},
    optional={
        "uuid": st.sampled_from(["1", "2", "3"]),
        "parentUuid": st.sampled_from(["1", "2", "3", None]),
        "sessionId": st.sampled_from(["s1", "s2"]),
        "message": st.fixed_dictionaries(
            {}, optional={"content": BLOCKS | st.text(max_size=9), "usage": VALUES, "id": VALUES}
        ),
        "isSidechain": st.booleans(),
        "toolUseResult": VALUES,
        "toolDenialKind": VALUES,
        "data": VALUES,
        "attachment": VALUES,
        "operation": st.sampled_from(["enqueue", "remove", "dequeue", "popAll"]),
        "content": VALUES,
        "timestamp": VALUES | st.just("2026-03-02T09:00:00Z"),
        "planContent": VALUES,
        "subtype": VALUES,
        "cwd": VALUES,
    },
)
LINES = st.one_of(
    RECORDS.map(lambda record: json.dumps(record).encode()),
    st.binary(max_size=12).map(lambda junk: junk.replace(b"\n", b"")),
    st.just(b""),
)


@given(st.lists(LINES, max_size=8))
@pytest.mark.slow
def test_whatever_stands_in_a_log_every_line_is_counted_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("log") / "s1.jsonl"
    # A blank line first: a file may begin as compressed ones do, which is refused before any line is read.
    path.write_bytes(b"\n" + b"".join(line + b"\n" for line in lines) + said("hello", "last"))
    (session,) = ClaudeCodeReader().read(path)
    accounting = session.accounting
    columns = (accounting.used, *accounting.skipped.values(), *accounting.unknown.values(), accounting.blank)
    assert accounting.lines == sum(columns) + len(accounting.bad) == len(lines) + 2
    results = [step.call_id for step in session.steps if step.kind == "result" and step.call_id]
    assert len(results) == len(set(results))


def test_reading_records_stops_nowhere_but_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a":1}\nbad\n{"a":2}\n')
    assert [number for number, _ in read_records(path, ledger=LineLedger())] == [1, 3]
