"""Does a log that is made to hurt cost more than itself? A clear message, bounded time, bounded memory."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from growing import LINEAR, growth
from helix_episodes.errors import LogNotReadable
from helix_episodes.ingest import record
from helix_episodes.readers import find_logs, read_sessions, reader_names
from helix_episodes.safe_files import DEEPEST_NESTING, LONGEST_LINE
from helix_episodes.store import EpisodeStore
from thoroughness import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.ingest import ExtractReport
    from session_script import Script

FIXTURES = Path(__file__).parent / "fixtures"
LOGS = sorted(path for path in FIXTURES.rglob("*") if path.suffix in {".jsonl", ".json", ".md"} and path.is_file())


def said(text: str, uuid: str = "1") -> bytes:
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "uuid": uuid, "sessionId": "s1", "message": message}).encode() + b"\n"


def recorded(path: Path, folder: Path, *, strict: bool = False) -> ExtractReport:
    return record([path], EpisodeStore(folder / "episodes"), strict=strict)


@pytest.mark.parametrize(
    "deep",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 100_000,
        b'{"type":"user","uuid":"2","message":{"content":' + b"[" * 1000 + b"]" * 1000 + b"}}",
        b'{"type":"user","uuid":"2","x":"\\ud83d","message":' + b'{"a":' * 900 + b"1" + b"}" * 901,
        b'{"type":"assistant","uuid":"2","message":{"content":[{"type":"tool_use","name":"X","input":'
        + b'{"a":' * (DEEPEST_NESTING + 1)
        + b"1"
        + b"}" * (DEEPEST_NESTING + 1)
        + b"}]}}",
    ],
    ids=["lists", "objects", "never closed", "in a message", "with half a character", "just too deep"],
)
def test_a_line_nested_without_end_costs_that_line_only(tmp_path: Path, deep: bytes) -> None:
    log = tmp_path / "s1.jsonl"
    log.write_bytes(said("hello") + deep + b"\n")
    (one,) = recorded(log, tmp_path).recorded
    assert [bad.line for bad in one.accounting.bad] == [2]


def test_json_nested_as_deep_as_it_may_be_goes_all_the_way_into_the_store(tmp_path: Path) -> None:
    deep = b'{"a":' * (DEEPEST_NESTING - 6) + b"1" + b"}" * (DEEPEST_NESTING - 6)
    call = b'{"type":"assistant","uuid":"2","message":{"content":[{"type":"tool_use","name":"X","id":"c","input":'
    log = tmp_path / "s1.jsonl"
    log.write_bytes(said("hello") + call + deep + b"}]}}\n")
    (one,) = recorded(log, tmp_path).recorded
    assert not one.accounting.bad


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_is_named_and_never_held_whole(tmp_path: Path) -> None:
    log = tmp_path / "s1.jsonl"
    log.write_bytes(said("before"))
    with log.open("ab") as file:
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + said("after", "2"))
    tracemalloc.start()
    try:
        (session,) = read_sessions(log)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (bad,) = session.accounting.bad
    assert (bad.line, "longer than 32 MB" in bad.problem) == (2, True)
    assert [step.text for step in session.steps] == ["before", "after"]
    # One buffer of the longest line, and the one it was copied from.
    assert peak < 3 * LONGEST_LINE


def test_a_log_of_one_line_that_is_too_long_is_not_called_empty(tmp_path: Path) -> None:
    log = tmp_path / "s1.jsonl"
    log.write_bytes(b"x" * (LONGEST_LINE + 1))
    with pytest.raises(LogNotReadable, match="its lines are longer than 32 MB"):
        read_sessions(log)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (said("hello").decode().encode("utf-16"), "UTF-16"),
        (said("hello").decode().encode("utf-16-le"), "not text"),
        (gzip.compress(said("hello")), r"compressed \(gzip\); unpack it first"),
        (b"PK\x03\x04" + bytes(200), "compressed"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(200), r"compressed \(7z\)"),
        (bytes(range(256)) * 50, "not text"),
        (bytes(100_000), "not text"),
        (b"\x7fELF" + bytes(5000), "not text"),
        (b"", "empty"),
    ],
    ids=["UTF-16", "UTF-16 without a mark", "gzip", "zip", "7z", "all bytes", "NUL bytes", "a program", "empty"],
)
def test_what_is_no_text_is_refused_with_a_reason(tmp_path: Path, content: bytes, problem: str) -> None:
    log = tmp_path / "s1.jsonl"
    log.write_bytes(content)
    with pytest.raises(LogNotReadable, match=problem):
        read_sessions(log)


def test_lines_in_another_encoding_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    log = tmp_path / "s1.jsonl"
    latin = json.dumps({"type": "user", "message": {"content": "café"}}, ensure_ascii=False).encode("latin-1")
    log.write_bytes(b"\xef\xbb\xbf" + said("before") + latin + b"\n" + b"\0" * 64 + b"\n" + said("after", "2"))
    (session,) = read_sessions(log)
    assert [bad.line for bad in session.accounting.bad] == [2, 3]
    assert [step.text for step in session.steps] == ["before", "after"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "dangling"])
@pytest.mark.parametrize("reader", ["auto", *reader_names()])
def test_what_is_no_file_is_refused_by_every_reader(tmp_path: Path, kind: str, reader: str) -> None:
    log = tmp_path / "s1.jsonl"
    if kind == "folder":
        log.mkdir()
    elif kind == "pipe":
        os.mkfifo(log)
    else:
        log.symlink_to(log if kind == "loop" else tmp_path / "nowhere")
    with pytest.raises(LogNotReadable):
        read_sessions(log, format=reader)


def test_a_folder_with_loops_and_pipes_in_it_is_walked_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    (tmp_path / "itself.jsonl").symlink_to(tmp_path / "itself.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "deep" / "s1.jsonl").write_bytes(said("hello"))
    assert tmp_path / "deep" / "s1.jsonl" in find_logs(tmp_path)
    assert tmp_path / "pipe.jsonl" not in find_logs(tmp_path)


def test_parents_in_a_circle_and_helpers_that_call_each_other_come_to_an_end(tmp_path: Path) -> None:
    lines = [
        {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "isSidechain": side, "message": message}
        for kind, uuid, parent, side, message in [
            ("user", "1", "2", False, {"content": "a"}),
            ("user", "2", "1", False, {"content": "b"}),
            ("system", "3", "3", False, {}),
            ("user", "4", "4", True, {"content": "c"}),
            ("user", "5", "3", False, {"content": "d"}),
        ]
    ]
    log = tmp_path / "s1.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    (session,) = read_sessions(log)
    assert {step.text for step in session.steps if step.kind == "prompt"} == {"a", "b", "d"}


@pytest.mark.slow
def test_a_thousand_helpers_each_sent_by_the_one_before_are_no_stack_too_deep(tmp_path: Path) -> None:
    def sends(number: int) -> bytes:
        call = {"type": "tool_use", "name": "Task", "id": f"c{number}", "input": {"prompt": "go", "description": "x"}}
        record = {"type": "assistant", "uuid": f"u{number}", "sessionId": "s1", "message": {"content": [call]}}
        return json.dumps(record).encode() + b"\n"

    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / "s1.jsonl").write_bytes(said("hello") + sends(0))
    for number in range(1, 1200):
        (folder / f"agent-a{number}.jsonl").write_bytes(sends(number))
        (folder / f"agent-a{number}.meta.json").write_text(json.dumps({"toolUseId": f"c{number - 1}"}))
    (session,) = read_sessions(tmp_path / "s1.jsonl")
    assert [step.call_id for step in session.steps if step.kind == "call"] == [f"c{number}" for number in range(1200)]


@pytest.mark.parametrize(
    ("damage", "place", "problem"),
    [
        (b'{"type":"user","mess\n', "line 2", "not JSON"),
        (b'{"type":"hologram"}\n', "line 2", "unknown type 'hologram'"),
    ],
)
def test_strict_refuses_a_log_whole_and_names_the_line(tmp_path: Path, damage: bytes, place: str, problem: str) -> None:
    log = tmp_path / "s1.jsonl"
    log.write_bytes(said("before") + damage + said("after", "2"))
    (failure,) = recorded(log, tmp_path, strict=True).failed
    assert f"{log}, {place}: " in failure.problem
    assert problem in failure.problem
    assert not list((tmp_path / "episodes").glob("*"))
    assert recorded(log, tmp_path).written


def test_strict_takes_what_it_understands_and_leaves_other_logs_alone(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    good = script("s2").prompt("Add a cart").write("shop/cart.py").save(tmp_path)
    bad = tmp_path / "s1.jsonl"
    bad.write_bytes(said("hello") + b"{oops\n")
    report = record([bad, good], EpisodeStore(tmp_path / "episodes"), strict=True)
    assert [one.session for one in report.written] == ["s2"]
    assert len(report.failed) == 1


@pytest.mark.slow
def test_a_log_of_nothing_but_damage_is_counted_and_not_listed(tmp_path: Path) -> None:
    log = tmp_path / "s1.jsonl"
    types = b"".join(b'{"type":"%d%s"}\n' % (number, b"x" * 300) for number in range(500))
    log.write_bytes(said("hello") + b"x\n" * 20_000 + types)
    (session,) = read_sessions(log)
    counted = session.accounting
    assert (counted.lines, len(counted.bad) + counted.more_bad) == (20_501, 20_000)
    assert (len(counted.bad), counted.bad[-1].line) == (1000, 1001)
    assert (sum(counted.unknown.values()), len(counted.unknown)) == (500, 101)
    assert "19000 more damaged lines" in recorded(log, tmp_path).recorded[0].warnings


MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "flip", "twice", "drop", "swap", "nul"]), st.integers(0, 10**6), st.integers(0, 255)
    ),
    min_size=1,
    max_size=6,
)


def mutated(data: bytes, mutations: list[tuple[str, int, int]]) -> bytes:
    for kind, place, value in mutations:
        lines, at = data.split(b"\n"), place % max(len(data), 1)
        line = place % len(lines)
        if kind == "cut":
            data = data[:at]
        elif kind == "flip":
            data = data[:at] + bytes([value]) + data[at + 1 :]
        elif kind == "nul":
            data = data[:at] + bytes(value) + data[at:]
        elif kind == "swap":
            lines[line], lines[value % len(lines)] = lines[value % len(lines)], lines[line]
            data = b"\n".join(lines)
        else:
            data = b"\n".join([*lines[:line], *([lines[line]] * (2 if kind == "twice" else 0)), *lines[line + 1 :]])
    return data


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(LOGS), MUTATIONS)
def test_a_damaged_log_ends_in_an_episode_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, log: Path, mutations: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    copy = folder / log.name
    copy.write_bytes(mutated(log.read_bytes(), mutations))
    report = recorded(copy, folder)
    assert len(report.recorded) + len(report.failed) == 1
    assert all(one.problem for one in report.failed)


@pytest.mark.parametrize(
    ("command", "piece"),
    [
        ("pytest tests/test_a.py {}", "-" * 4),
        ("pytest tests/test_a.py {}", "--a"),
        ("npx eslint src", "@.aa"),
        ("npx biome check .", "@.aa"),
    ],
    ids=["hyphens", "options", "eslint", "biome"],
)
@pytest.mark.slow
def test_a_line_four_times_as_long_takes_four_times_as_long(
    tmp_path: Path, script: Callable[..., Script], command: str, piece: str
) -> None:
    def extracted(line: str) -> None:
        run, output = command.replace("{}", line), "1 failed in 0.1s" if "{}" in command else f"{line}\nFound 1 error."
        log = script("s1").edit("tests/test_a.py").edit("src/a.js").run(run, output, code=1)
        log = log.edit("src/a.js", new="y").edit("tests/test_a.py").run(run, "1 passed in 0.1s")
        shutil.rmtree(tmp_path / "episodes", ignore_errors=True)
        (one,) = recorded(log.save(tmp_path / "logs"), tmp_path).recorded
        assert one.decisions

    assert growth(extracted, piece * 50_000) < LINEAR


@pytest.mark.parametrize("is_narrow", [False, True])
@pytest.mark.slow
def test_a_session_of_four_times_as_many_repaired_failures_takes_four_times_as_long(
    tmp_path: Path, script: Callable[..., Script], *, is_narrow: bool
) -> None:
    def extracted(pieces: str) -> None:
        log = script("s1").prompt("Fix the labels")
        for number in range(len(pieces) // 400):
            run = f"pytest -q tests/test_{number}.py" if is_narrow else "pytest -q"
            named = f"FAILED tests/test_{number}.py::test_x{number} - assert {number} == 0\n1 failed in 0.1s"
            log = log.run(run, named, code=1).edit(f"shop/a{number}.py").run(run, "1 passed in 0.1s")
        shutil.rmtree(tmp_path / "episodes", ignore_errors=True)
        (one,) = recorded(log.save(tmp_path / "logs"), tmp_path).recorded
        assert one.decisions

    assert growth(extracted, "." * 250_000) < LINEAR


def stored_by_opencode(path: Path, *, data: str = "data", more: str = "") -> Path:
    """A database of OpenCode with one session; ``data`` is how its messages' column is declared."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session(id, parent_id, directory, version, time_created)")
        database.execute(f"CREATE TABLE message(id, session_id, time_created, {data})")
        database.execute("CREATE TABLE part(id, message_id, session_id, data)")
        database.execute("INSERT INTO session VALUES ('ses_x', NULL, '/shop', '1.2', 1)")
        part = json.dumps({"type": "text", "text": "Fix the labels"})
        database.execute("INSERT INTO part VALUES ('p1', 'm1', 'ses_x', ?)", (part,))
        database.execute("INSERT INTO message(id, session_id, time_created) VALUES ('m1', 'ses_x', 1)")
        if data == "data":
            message = json.dumps({"role": "user", "time": {"created": 1_760_000_000_000}})
            database.execute("UPDATE message SET data = ?", (message,))
        database.executescript(more)
        database.commit()
    return path


def test_a_database_with_other_values_than_texts_costs_these_values_only(tmp_path: Path) -> None:
    more = (
        "INSERT INTO message VALUES ('m2', 'ses_x', 2, 12), (NULL, 'ses_x', 3, NULL), (7, 'ses_x', 4, x'00');"
        "INSERT INTO part VALUES (5, NULL, 'ses_x', 9), (x'01', 'm1', 'ses_x', x'02');"
    )
    (one,) = recorded(stored_by_opencode(tmp_path / "opencode.db", more=more), tmp_path).recorded
    assert one.accounting.bad
    assert EpisodeStore(tmp_path / "episodes").require("ses_x").task == "Fix the labels"


def test_a_column_that_is_worked_out_is_not_read(tmp_path: Path) -> None:
    path = stored_by_opencode(tmp_path / "opencode.db", data="data AS (printf('%.*c', 1000, 'x'))")
    (one,) = recorded(path, tmp_path).failed
    assert "worked out" in one.problem


@pytest.mark.parametrize("leads", ["absolute", "relative", "link"])
def test_an_id_in_a_store_reads_no_file_outside_of_it(tmp_path: Path, leads: str) -> None:
    other, storage = tmp_path / "other" / "part" / "msg1", tmp_path / "store" / "storage"
    for folder in (other, storage / "session" / "shop", storage / "message" / "ses_x", storage / "part"):
        folder.mkdir(parents=True)
    part = {"id": "prt1", "messageID": "msg1", "type": "text", "text": "what another project is about"}
    (other / "prt1.json").write_text(json.dumps(part))
    message = {"absolute": str(other), "relative": "../../../other/part/msg1", "link": "msg1"}[leads]
    if leads == "link":
        (storage / "part" / "msg1").symlink_to(other)
    created = {"time": {"created": 1_760_000_000_000}}
    own = storage / "session" / "shop" / "ses_x.json"
    own.write_text(json.dumps({"id": "ses_x", "projectID": "shop", "directory": "/shop", "version": "0.9", **created}))
    said_there = {"id": message, "sessionID": "ses_x", "role": "user", **created}
    (storage / "message" / "ses_x" / "m.json").write_text(json.dumps(said_there))
    done = recorded(own, tmp_path)
    assert "another project" not in "".join(path.read_text() for path in (tmp_path / "episodes").glob("*.json"))
    assert "another project" not in str(done)


def test_a_pipe_beside_a_log_is_not_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "shop" / "chats" / "session.json"
    log.parent.mkdir(parents=True)
    os.mkfifo(log.parent.parent / ".project_root")
    message = {"id": "m1", "timestamp": "2026-09-01T09:00:00Z", "type": "user", "content": "Fix the labels"}
    log.write_text(
        json.dumps(
            {"sessionId": "s1", "projectHash": "ab", "startTime": "2026-09-01T09:00:00Z",
             "lastUpdated": "2026-09-01T09:00:00Z", "messages": [message]}
        )
    )  # fmt: skip
    assert [one.session for one in recorded(log, tmp_path).recorded] == ["s1"]
