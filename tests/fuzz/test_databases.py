"""Databases that were damaged: found, named and mended where they are derived, and never a wrong answer in silence."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from demo_logs import demo_memory_in
from fuzzing import mutated, named, rounds
from helix_episodes.errors import HelixGraphError
from helix_graph.errors import DatabaseUnreadable

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from helix_graph import Memory

pytestmark = pytest.mark.fuzz
VALUES: tuple[object, ...] = (None, -1, 1 << 62, 0.5, "", "x", b"\xc1\xff", "[", b"", "episode-none")


def ask_everything(memory: Memory) -> None:
    """Questions of every kind; our errors are answers."""
    for ask in (
        memory.graph.status,
        memory.graph.networkx,
        lambda: memory.graph.seen("KeyError: 'sku'"),
        lambda: memory.graph.causes("pytest"),
        memory.causality.patterns,
        memory.view,
    ):
        with suppress(HelixGraphError):
            ask()


def spoil_a_cell(path: Path, chance: random.Random) -> str:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        table = chance.choice([name for (name,) in rows if not name.startswith("decided")])
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = chance.choice(columns)
        key = ", ".join(columns)
        row = connection.execute(f"SELECT {key} FROM {table} ORDER BY random() LIMIT 1").fetchone()  # noqa: S608  (names of our tables)
        if row is None:
            return ""
        where = " AND ".join(f"{name} IS ?" for name in columns)
        value = chance.choice(VALUES)
        with suppress(sqlite3.Error):
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value, *row))  # noqa: S608  (as above)
            connection.commit()
        return f"{table}.{column} = {value!r}"


def test_graph(tmp_path: Path) -> None:
    memory = demo_memory_in(tmp_path)
    path = memory.graph.path_of_file
    sound, whole = memory.graph.export(), path.read_bytes()
    for chance in rounds():
        if chance.random() < 0.5:
            tried: object = spoil_a_cell(path, chance)
        else:
            data = mutated(path.read_bytes(), chance)
            path.write_bytes(data)
            tried = "bytes"
        with named(chance, tried):
            ask_everything(memory)
            memory.doctor()
            if "not ours" in str(foreign(memory)):
                path.unlink()
            memory.graph.compile()
            # A compile with nothing to do does not read every page; what it leaves, readers refuse, the doctor mends.
            with suppress(DatabaseUnreadable):
                assert memory.graph.export() == sound
            memory.doctor(fix=True)
            assert memory.doctor().healthy
            assert memory.graph.export() == sound
        path.write_bytes(whole)


def foreign(memory: Memory) -> str | None:
    """Whether the file is no longer one of ours: then only its owner can move it away."""
    kinds = {one.kind for one in memory.doctor().findings}
    return "not ours" if "foreign database" in kinds else None


def test_insights_and_topics(tmp_path: Path) -> None:
    memory = demo_memory_in(tmp_path)
    memory.insights.store("When the parcel service fails with a timeout, retry it twice with the same key.")
    memory.topics.store("shop", "The cart is in cart.py.")
    path = memory.root / "helix.db"
    whole = path.read_bytes()
    for chance in rounds():
        data = mutated(whole, chance)
        path.write_bytes(data)
        with named(chance, data if len(data) < 2000 else len(data)):
            for ask in (
                lambda: memory.insights.recall("parcel"),
                lambda: memory.topics.brief("shop"),
                lambda: memory.topics.store("shop", "More of it."),
                lambda: memory.plans.current() if hasattr(memory.plans, "current") else None,
                memory.doctor,
            ):
                with suppress(HelixGraphError):
                    ask()
        for side in path.parent.glob("helix.db-*"):
            side.unlink()
        shutil.rmtree(memory.root / "set-aside", ignore_errors=True)
