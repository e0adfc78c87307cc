"""Is the proof of a forgetting as strong after a kill, in archives and under names, as it looks?"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from helix_cli.app import run
from helix_episodes.errors import HelixGraphError
from helix_graph import Memory
from helix_graph.tombstones import Searcher, fingerprints_of
from own_memory import own_memory
from processes import PATIENCE, write_logs
from thoroughness import examples, few, few_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from helix_graph.forget import ErasureProof
    from session_script import Script

THEIR_TASK = "Prepare the layoffs of the bindery"
SESSION = "the-secret-session"


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    memory = own_memory(tmp_path / ".helix")
    secret = script(SESSION, root="/work/bindery").prompt(THEIR_TASK).run("pytest -q", "1 failed in 0.1s", code=1)
    memory.extract([*write_logs(tmp_path / "logs", script, 2), secret.edit("bindery/knife.py").save(tmp_path / "own")])
    memory.graph.compile()
    memory.episodes.outcome(SESSION, "failure", because="the guillotine was stuck")
    return memory


def proof_of(memory: Memory) -> ErasureProof:
    proof = memory.forget([SESSION]).proof
    assert proof is not None
    return proof


#: Dies as by kill -9 before or after the n-th thing that a forgetting does.
DIES_AT = """
import os, signal, sys
from pathlib import Path
from helix_graph import Memory, database, forget, tombstones
from helix_graph.graph.api import Graph
memory, when = Memory(Path(sys.argv[1])), int(sys.argv[2])
moments = iter(range(when + 1))
def moment():
    if next(moments) == when:
        os.kill(os.getpid(), signal.SIGKILL)
def dying(function):
    def wrapped(*arguments, **named):
        moment()
        answer = function(*arguments, **named)
        moment()
        return answer
    return wrapped
for module, name in [(tombstones, "write_atomically"), (forget, "remove_file"), (Graph, "compile"),
                     (database, "erase_traces"), (forget, "find_traces")]:
    setattr(module, name, dying(getattr(module, name)))
memory.forget(["the-secret-session"])
"""


def killed_at(steps: Iterable[int], memory: Memory, folder: Path) -> list[int]:
    """Forgetting is killed at these steps, each time in a copy, and run again; the steps at which it was killed."""
    (memory.root / "notes.txt").write_text(f"see {THEIR_TASK}")
    whole = folder / "whole"
    shutil.copytree(memory.root, whole)
    expected = proof_of(Memory(whole))
    assert [trace.file for trace in expected.left] == ["notes.txt"]
    killed: list[int] = []
    for when in steps:
        cut = folder / f"cut-{when}"
        shutil.copytree(memory.root, cut)
        code = [sys.executable, "-c", DIES_AT, str(cut), str(when)]
        ended = subprocess.run(code, check=False, timeout=PATIENCE).returncode
        again = proof_of(Memory(cut))
        assert replace(again, files=0, bytes=0) == replace(expected, files=0, bytes=0), when
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        killed.append(when)
    return killed


@pytest.mark.slow
def test_killed_midway_the_next_run_proves_the_same(memory: Memory, tmp_path: Path) -> None:
    assert killed_at([5], memory, tmp_path) == [5]


@pytest.mark.slow
def test_killed_at_every_step_the_next_run_proves_the_same(memory: Memory, tmp_path: Path) -> None:
    assert len(killed_at(range(100), memory, tmp_path)) >= 10, "it was killed at too few places"


def test_what_was_left_is_looked_for_again_until_it_is_gone(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = memory.root / "notes.txt"
    notes.write_text(f"see {THEIR_TASK}")
    first = proof_of(memory)
    assert not first.whole
    (stone,) = (memory.root / "forgotten").iterdir()
    assert json.loads(stone.read_text())["unproved"]
    assert THEIR_TASK.encode() not in stone.read_bytes()
    assert [one.kind for one in memory.doctor().findings if one.severity == "fault"] == ["not proved forgotten"]
    notes.unlink()
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    assert run(["forget"]) == 0
    assert "unproved" not in stone.read_text()
    assert memory.doctor().healthy
    with pytest.raises(HelixGraphError):
        memory.forget()


def test_a_later_run_takes_up_what_an_earlier_one_has_not_proved(memory: Memory) -> None:
    (memory.root / "notes.txt").write_text(f"see {THEIR_TASK}")
    proof_of(memory)
    report = memory.forget(["session-0"])
    assert (report.sessions, report.taken_up) == (("session-0",), 1)
    assert report.proof is not None
    assert [trace.file for trace in report.proof.left] == ["notes.txt"]


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("backup/episode.json", data)
    return file.getvalue()


def tarred(data: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("backup/episode.json.gz")
        member.size = len(packed := gzip.compress(data))
        archive.addfile(member, io.BytesIO(packed))
    return file.getvalue()


@pytest.mark.parametrize(
    "pack",
    few(
        [
            *(gzip.compress, bz2.compress, lzma.compress, zipped, tarred),
            lambda data: gzip.compress(zipped(bz2.compress(data))),
            lambda data: gzip.compress(tarred(data)),
        ],
        1,
    ),
    ids=["gz", "bz2", "xz", "zip", "gz in tar", "one in another", "gz in tar.gz"],
)
def test_archives_are_looked_into(memory: Memory, pack: Callable[[bytes], bytes]) -> None:
    (memory.root / "backup.bin").write_bytes(pack(b"x" * 3_000_000 + THEIR_TASK.encode()))
    (trace,) = proof_of(memory).left
    assert (trace.file, trace.texts) == ("backup.bin", 1)


def columns(data: bytes) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    file = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"labels": [[data.decode(), "x"]] * 3}), file)
    return file.getvalue()


def arrow(data: bytes, *, file: bool) -> bytes:
    """As Feather writes it, or as a stream; in a map, whose names and values are texts as well."""
    pyarrow, ipc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.ipc")
    of_maps = pyarrow.map_(pyarrow.string(), pyarrow.string())
    table = pyarrow.table({"labels": pyarrow.array([[(data.decode(), "x")]] * 3, of_maps)})
    out, options = io.BytesIO(), ipc.IpcWriteOptions(compression="zstd")
    with (ipc.new_file if file else ipc.new_stream)(out, table.schema, options=options) as writer:
        writer.write_table(table)
    return out.getvalue()


def orc(data: bytes) -> bytes:
    """Its values are bytes, which are packed themselves."""
    pyarrow, out = pytest.importorskip("pyarrow"), io.BytesIO()
    pytest.importorskip("pyarrow.orc").write_table(pyarrow.table({"bodies": [gzip.compress(data)] * 3}), out)
    return out.getvalue()


COLUMNAR = {
    "parquet": columns,
    "packed": lambda data: gzip.compress(columns(data)),
    "feather": partial(arrow, file=True),
    "stream": partial(arrow, file=False),
    "orc": orc,
}


@pytest.mark.parametrize("pack", COLUMNAR.values(), ids=COLUMNAR)
def test_columns_are_looked_into(memory: Memory, pack: Callable[[bytes], bytes]) -> None:
    """They are compressed, so that a shard, a sum or an export below the memory hides what it says."""
    memory.root.joinpath("sums").mkdir()
    memory.root.joinpath("sums", "labels").write_bytes(pack(f"{'x' * 300} {THEIR_TASK} {'x' * 300}".encode()))
    (trace,) = proof_of(memory).left
    assert (trace.file, trace.texts) == ("sums/labels", 1)


@pytest.mark.parametrize(("pack", "module"), [(columns, "parquet"), (partial(arrow, file=True), "ipc")])
def test_columns_that_cannot_be_read_are_named(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes], module: str
) -> None:
    memory.root.joinpath("labels").write_bytes(pack(b"some words of another session"))
    monkeypatch.setitem(sys.modules, f"pyarrow.{module}", None)
    (unsearched,) = proof_of(memory).unsearched
    assert unsearched.file == "labels"
    assert "pip install" in unsearched.problem


def test_what_only_begins_like_columns_is_searched(memory: Memory) -> None:
    memory.root.joinpath("notes").write_text(f"ORCHARDS: {THEIR_TASK}")
    (trace,) = proof_of(memory).left
    assert trace.file == "notes"


@pytest.mark.parametrize(
    ("data", "problem"),
    few_rows(
        [
            (b"\x28\xb5\x2f\xfd rest", "zstd"),
            (b"Obj\x01 rest", "it is Avro"),
            (gzip.compress(b"x" * 1000)[:-12], "Compressed file ended"),
            (b"PK\x03\x04 no zip", "zip"),
            (gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"x")))), "more than 3 times"),
        ],
        2,
    ),
    ids=["zstd", "Avro", "cut off", "no zip", "too deep"],
)
def test_what_cannot_be_unpacked_is_named(
    memory: Memory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: bytes, problem: str
) -> None:
    (memory.root / "backup.bin").write_bytes(data)
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    assert run(["forget", "--session", SESSION]) == 1
    said = capsys.readouterr().out
    assert "not searched: backup.bin" in said
    assert problem in said


def test_what_people_wrote_and_keep_is_said_with_the_way_to_delete_it(
    memory: Memory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.topics.store("knives", "They are sharpened on Fridays", source="bindery/knife.py:3")
    (memory.root / "mine.txt").write_text(THEIR_TASK)
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    assert run(["forget", "--session", SESSION]) == 1
    said = capsys.readouterr().out.replace("\n", " ")
    assert "`topic read TOPIC` shows entries with their sources" in said
    assert "not the memory's own are left alone: delete those" in said
    (memory.root / "mine.txt").unlink()
    assert run(["topic", "edit", "delete", "knives", "--index", "0"]) == 0
    assert run(["forget"]) == 0


def test_a_bomb_is_named_and_not_unpacked(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helix_graph.forget._MOST_BYTES", 10_000)
    (memory.root / "backup.bin").write_bytes(gzip.compress(b"\0" * 20_000_000))
    (unsearched,) = proof_of(memory).unsearched
    assert "gigabyte" in unsearched.problem


@pytest.mark.parametrize("damage", few(["head", "cut", "folder"], 1))
def test_what_a_damaged_database_may_hold_keeps_nothing_else_and_is_taken_up_later(memory: Memory, damage: str) -> None:
    memory.insights.store("Knives are sharpened on Fridays")
    database = memory.root / "helix.db"
    sound = database.read_bytes()
    database.unlink()
    if damage == "folder":
        database.mkdir()
    else:
        database.write_bytes(b"x" * 100 + sound[100:] if damage == "head" else sound[: len(sound) // 2 + 7])
    proof = proof_of(memory)
    assert not proof.whole
    assert "helix.db" in {one.file for one in proof.unsearched}
    assert not memory.episodes.path_of(SESSION).exists()
    assert all(THEIR_TASK.encode() not in path.read_bytes() for path in memory.root.rglob("*") if path.is_file())
    still = memory.forget().proof
    assert still is not None
    assert not still.whole
    if damage == "folder":
        database.rmdir()
    database.write_bytes(sound)
    again = memory.forget().proof
    assert again is not None
    assert again.whole


def test_a_files_name_is_searched_too(memory: Memory) -> None:
    (memory.root / f"state-of-{SESSION}.txt").write_text("nothing")
    (trace,) = proof_of(memory).left
    assert (trace.file, trace.names_session) == (f"state-of-{SESSION}.txt", True)


def test_a_file_without_permission_is_named(memory: Memory) -> None:
    locked = memory.root / "locked.txt"
    locked.write_text(THEIR_TASK)
    locked.chmod(0)
    try:
        locked.read_bytes()
    except PermissionError:
        assert [one.file for one in proof_of(memory).unsearched] == ["locked.txt"]
    else:
        pytest.skip("nothing is forbidden to this user")


LONGER = (b"session-000001.2", b"x.session-000001")


def found_in(content: bytes, texts: Iterable[str], *, chunk: int, bounded: bool = False) -> bool:
    """Whether one of the texts is found in content that is read in pieces of this size."""
    wanted = fingerprints_of(texts, names=bounded)
    pieces = [content[place : place + chunk] for place in range(0, len(content), chunk)]
    return any(Searcher(wanted, longer=dict.fromkeys(wanted, LONGER) if bounded else None).search(pieces))


@settings(max_examples=examples(60), deadline=None)
@given(
    before=st.binary(max_size=40),
    text=st.text(min_size=12, max_size=300),
    after=st.binary(max_size=40),
    chunk=st.integers(16, 64),
)
def test_a_text_is_found_wherever_it_stands(before: bytes, text: str, after: bytes, chunk: int) -> None:
    assert found_in(before + text.encode("utf-8", "replace") + after, [text], chunk=chunk)
    escaped = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
    assert found_in(before + escaped + after, [text], chunk=chunk)


@settings(max_examples=examples(60), deadline=None)
@given(content=st.binary(max_size=300), text=st.text("ab", min_size=12, max_size=13), chunk=st.integers(1, 64))
def test_what_is_not_there_is_not_found(content: bytes, text: str, chunk: int) -> None:
    assert found_in(content, [text], chunk=chunk) == (text.encode() in content)


@pytest.mark.parametrize("chunk", [7, 16, 17, 1 << 20])
@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"session-0000012", False),
        (b"x session-000001 y", True),
        (b"session-000001", True),
        (b"my-session-000001", False),
        (b"session-000001.2", False),
        (b"session-000001.3", True),
        (b"x.session-000001 is kept", False),
        (b"session-000001.2, session-000001", True),
    ],
)
def test_a_bounded_name_is_a_word_whatever_the_pieces(chunk: int, content: bytes, *, found: bool) -> None:
    assert found_in(content, ["session-000001"], chunk=chunk, bounded=True) == found
