"""Can a database that came from somebody else run SQL, lead elsewhere, or make a command wait?"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from helix_graph.database import open_for_writing
from helix_graph.errors import DatabaseRefused, MemoryDamaged, NotOurDatabase
from helix_graph.helix_db import HELIX_DB
from hook_calls import call
from own_memory import own_memory
from processes import answered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph import Memory

TRIGGER = "CREATE TRIGGER e AFTER INSERT ON insight_injection BEGIN DELETE FROM insight; END"
GENERATED = "CREATE TABLE junk (x, y GENERATED ALWAYS AS (zeroblob(900000)))"
CASCADE = "CREATE TABLE junk (x REFERENCES insight (uid) ON DELETE CASCADE)"
FOREIGN = [TRIGGER, "CREATE VIEW v AS SELECT * FROM insight", GENERATED, CASCADE, "CREATE INDEX i ON insight (state)"]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = own_memory(tmp_path / ".helix")
    memory.insights.store("When the parcel service fails with a timeout, retry it twice with the same key.")
    memory.topics.store("shop", "The cart is in cart.py.")
    memory.episodes.new("s1", "Ship it", "success")
    memory.graph.compile()
    return memory


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize("statement", FOREIGN)
def test_what_is_not_ours_in_helix_db_is_refused_and_named(memory: Memory, statement: str) -> None:
    execute(memory.root / "helix.db", statement)
    with pytest.raises(MemoryDamaged, match="helix-graph did not make"):
        memory.insights.store("Another one, which must not be written while a trigger may act on it.")
    with pytest.raises(MemoryDamaged, match="helix-graph did not make"):
        memory.topics.brief("shop")
    (fault,) = (one for one in memory.doctor().findings if one.severity == "fault")
    assert (fault.kind, fault.file) == ("damaged database", "helix.db")


def test_a_trigger_does_not_act_when_a_prompt_is_answered(memory: Memory) -> None:
    large = TRIGGER.replace("DELETE FROM insight", "INSERT INTO junk VALUES (randomblob(90000000))")
    execute(memory.root / "helix.db", "CREATE TABLE junk (x)", large)
    told = {"session_id": "s", "prompt": "the parcel service fails with a timeout again", "cwd": str(memory.root)}
    answer = call("user-prompt", told, environment={"HELIX_DIR": str(memory.root)})
    assert (answer.code, answer.said, answer.errors) == (0, None, b"")
    assert "did not make" in (memory.root / "hooks.log").read_text()
    assert sum(path.stat().st_size for path in memory.root.glob("helix.db*")) < 1 << 20


@pytest.mark.parametrize("statement", ["CREATE VIEW v AS SELECT 1", "CREATE TABLE junk (x)"])
def test_a_graph_with_something_foreign_is_built_again(memory: Memory, statement: str) -> None:
    execute(memory.graph.path_of_file, statement)
    (fault,) = (one for one in memory.doctor().findings if one.severity == "fault")
    assert (fault.kind, fault.file) == ("damaged database", "causality/graph.db")
    assert "did not make" in (memory.graph.compile().rebuilt or "")
    assert memory.graph.status().episodes == 1
    assert memory.doctor().healthy


def test_a_trigger_does_not_act_when_old_tables_are_dropped(memory: Memory) -> None:
    path = memory.graph.path_of_file
    execute(
        path,
        "PRAGMA user_version = 1",
        "CREATE TABLE kept (x)",
        "CREATE TRIGGER e AFTER INSERT ON meta BEGIN INSERT INTO kept VALUES (1); END",
        "CREATE VIEW v AS SELECT 1",
    )
    memory.graph.compile()
    with closing(sqlite3.connect(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert names & {"kept", "e", "v"} == set()
    assert memory.graph.status().episodes == 1


def test_a_file_cannot_grow_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "helix.db"
    small = HELIX_DB._replace(most_pages=20)
    with closing(open_for_writing(path, small)) as connection, pytest.raises(sqlite3.OperationalError, match="full"):
        connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (randomblob(200000))")


def as_pipe(path: Path) -> None:
    os.mkfifo(path)


def as_link(path: Path) -> None:
    outside = next(each for each in path.parents if each.name == ".helix").parent / "precious.txt"
    outside.write_text("precious")
    path.symlink_to(outside)


@pytest.mark.parametrize("make", [as_pipe, as_link])
@pytest.mark.parametrize("name", ["helix.db", "helix.db-wal", "helix.db-journal", "causality/graph.db-wal"])
def test_pipes_and_links_are_refused_without_waiting(memory: Memory, make: Callable[[Path], None], name: str) -> None:
    path = memory.root / name
    for each in path.parent.glob(path.name + "*"):
        each.unlink()
    make(path)
    before = path.lstat()
    ask: tuple[str, ...] = ("topic", "store", "shop", "x") if name.startswith("helix") else ("compile",)
    code, _, complaint = answered(*ask, memory=memory.root)
    assert (code, "not a regular file" in complaint, "Traceback" in complaint) == (1, True, False), complaint
    assert path.lstat() == before
    if make is as_link:
        assert (memory.root.parent / "precious.txt").read_text() == "precious"


def test_a_link_that_its_owner_named_is_followed(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.move(memory.root / "helix.db", tmp_path / "moved.db")
    (tmp_path / "named.db").symlink_to(tmp_path / "moved.db")
    monkeypatch.setenv("HELIX_DB_PATH", str(tmp_path / "named.db"))
    assert memory.topics.brief("shop")
    monkeypatch.setenv("HELIX_DB_PATH", "/dev/null")
    with pytest.raises((NotOurDatabase, DatabaseRefused)):
        memory.topics.brief("shop")
