"""helix.db keeps what nothing else could bring back: transactions, versions, other programs' files, killed writers."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from helix_graph.errors import MemoryDamaged, MemoryNewer, NotOurDatabase
from helix_graph.helix_db import HelixDatabase, Tables, database_path, kept_open
from schema_objects import made_by

if TYPE_CHECKING:
    from pathlib import Path

ONE = "CREATE TABLE note (text TEXT NOT NULL); CREATE TRIGGER t AFTER INSERT ON note BEGIN SELECT 1; SELECT 2; END"
LETTERS = "abcdefghijklmnop"
NEWER_STEPS = (ONE, "ALTER TABLE note ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
THING = "CREATE TABLE thing (n INTEGER)"
KNOWN = made_by([*NEWER_STEPS, THING])
NOTES = Tables(room="notes", steps=(ONE,), known=KNOWN)
NEWER = Tables(room="notes", steps=NEWER_STEPS, known=KNOWN)

_WRITER = """
import sys, time
from pathlib import Path
from helix_graph.helix_db import HelixDatabase, Tables
tables = Tables(room="notes", steps=(sys.argv[2],), known=frozenset(sys.argv[3].split()))
database = HelixDatabase(Path(sys.argv[1]), tables)
with database.writing() as connection:
    connection.execute("INSERT INTO note VALUES ('acknowledged')")
print("kept", flush=True)
with database.writing() as connection:
    connection.execute("INSERT INTO note VALUES ('half done')")
    print("half", flush=True)
    time.sleep(60)
"""

_ONE_NOTE = """
from pathlib import Path
from helix_graph.helix_db import HelixDatabase, Tables
tables = Tables(room="notes", steps=(sys.argv[3],), known=frozenset(sys.argv[4].split()))
with HelixDatabase(Path(sys.argv[1]), tables).writing() as connection:
    connection.execute("INSERT INTO note VALUES ('from outside')")
"""


def texts(database: HelixDatabase) -> list[str]:
    with database.reading() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM note")]


def note(database: HelixDatabase, text: str) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO note (text) VALUES (?)", (text,))


def test_reading_makes_no_file(tmp_path: Path) -> None:
    assert texts(HelixDatabase(tmp_path / "helix.db", NOTES)) == []
    assert list(tmp_path.iterdir()) == []


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    database = HelixDatabase(tmp_path / "helix.db", NOTES)
    with pytest.raises(sqlite3.IntegrityError), database.writing() as connection:
        connection.executemany("INSERT INTO note VALUES (?)", [("a",), (None,)])
    assert texts(database) == []


def test_an_older_file_takes_the_steps_it_lacks_and_keeps_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    note(HelixDatabase(path, NOTES), "old")
    newer = HelixDatabase(path, NEWER)
    with newer.reading() as connection:
        assert connection.execute("SELECT text, mood FROM note").fetchall() == [("old", "calm")]


def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    note(HelixDatabase(path, NEWER), "new")
    before = path.read_bytes()
    with pytest.raises(MemoryNewer, match="update it"):
        texts(HelixDatabase(path, NOTES))
    with pytest.raises(MemoryNewer):
        note(HelixDatabase(path, NOTES), "x")
    assert path.read_bytes() == before


def test_rooms_keep_their_versions_apart(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    note(HelixDatabase(path, NEWER), "new")
    other = HelixDatabase(path, Tables(room="other", steps=(THING,), known=KNOWN))
    with other.writing() as connection:
        connection.execute("INSERT INTO thing VALUES (1)")
    assert texts(HelixDatabase(path, NEWER)) == ["new"]


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    with sqlite3.connect(path) as foreign:
        foreign.execute("CREATE TABLE insight (name TEXT)")
    foreign.close()
    before = path.read_bytes()
    for attempt in (texts, lambda database: note(database, "x")):
        with pytest.raises(NotOurDatabase, match="not written by helix-graph"):
            attempt(HelixDatabase(path, NOTES))
    assert path.read_bytes() == before


def test_a_damaged_file_is_named_and_never_deleted(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    note(HelixDatabase(path, NOTES), "x")
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(MemoryDamaged, match="nowhere else"):
        texts(HelixDatabase(path, NOTES))
    assert path.exists()


def test_a_killed_writer_leaves_what_it_acknowledged_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), ONE, " ".join(KNOWN)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert [writer.stdout.readline().strip() for _ in range(2)] == ["kept", "half"]
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    assert texts(HelixDatabase(path, NOTES)) == ["acknowledged"]


def test_a_reader_sees_one_state_while_another_writes(tmp_path: Path) -> None:
    database = HelixDatabase(tmp_path / "helix.db", NOTES)
    note(database, "first")
    with database.reading() as connection:
        assert len(connection.execute("SELECT text FROM note").fetchall()) == 1
        note(database, "second")
        assert len(connection.execute("SELECT text FROM note").fetchall()) == 1
    assert texts(database) == ["first", "second"]


def test_the_environment_is_looked_at_in_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert database_path(tmp_path) == tmp_path / "helix.db"
    monkeypatch.setenv("HELIX_DB_PATH", str(tmp_path / "other.db"))
    assert database_path(tmp_path) == tmp_path / "other.db"


def test_connections_that_are_kept_open_write_for_every_thread_and_see_other_processes(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    database = HelixDatabase(path, NOTES)
    with kept_open(), ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: note(database, str(number)), range(40)))
        subprocess.run(
            [sys.executable, "-c", "import sys" + _ONE_NOTE, str(path), "", ONE, " ".join(KNOWN)], check=True
        )
        assert sorted(texts(database)) == sorted([*map(str, range(40)), "from outside"])
    assert not path.with_name("helix.db-wal").exists()


def test_a_file_that_was_replaced_is_not_written_through_an_old_connection(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    database = HelixDatabase(path, NOTES)
    with kept_open():
        note(database, "old")
        for leftover in tmp_path.glob("helix.db*"):
            leftover.unlink()
        note(database, "new")
        assert texts(database) == ["new"]


def test_what_fails_is_undone_on_a_connection_that_is_kept(tmp_path: Path) -> None:
    database = HelixDatabase(tmp_path / "helix.db", NOTES)
    with kept_open():
        note(database, "first")
        with pytest.raises(sqlite3.IntegrityError), database.writing() as connection:
            connection.executemany("INSERT INTO note VALUES (?)", [("a",), (None,)])
        note(database, "second")
        assert texts(database) == ["first", "second"]


@pytest.mark.slow
def test_many_that_begin_a_memory_at_once_all_write(tmp_path: Path) -> None:
    for number in range(25):
        together = Barrier(len(LETTERS))
        database = HelixDatabase(tmp_path / str(number) / "helix.db", NOTES)

        def begin(text: str, *, database: HelixDatabase = database, together: Barrier = together) -> None:
            together.wait()
            note(database, text)

        with ThreadPoolExecutor(len(LETTERS)) as threads:
            list(threads.map(begin, LETTERS))
        assert sorted(texts(database)) == list(LETTERS)
        assert not list(database.path.parent.glob("*.lock"))
