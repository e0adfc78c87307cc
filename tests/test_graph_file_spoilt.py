"""What is said and done about a graph.db that is foreign, zeroed, a folder, or left by a killed process?"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from helix_graph.errors import GraphNotCompiled
from own_memory import own_memory
from processes import answered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = own_memory(tmp_path / "memory")
    memory.episodes.new("s1", "Ship it", "success")
    memory.graph.compile()
    return memory


def faults(memory: Memory, *, fix: bool = False) -> list[tuple[str, str]]:
    return [(one.kind, one.file) for one in memory.doctor(fix=fix).findings if one.severity == "fault"]


def foreign(path: Path) -> None:
    path.write_text("hi\n", encoding="utf-8")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("spoil", [foreign, a_folder, a_pipe])
@pytest.mark.parametrize(
    "said",
    [
        ("pattern", "add", "--name", "n", "--trigger", "t", "--action", "a"),
        ("episode", "outcome", "s1", "--failure", "--because", "it broke"),
        ("node", "add", "--type", "event", "--label", "deploy"),
    ],
)
def test_what_is_refused_is_not_kept(memory: Memory, spoil: Callable[[Path], None], said: tuple[str, ...]) -> None:
    spoil(memory.graph.path_of_file)
    code, _, err = answered(*said, memory=memory.root)
    assert (code, "move it elsewhere" in err) == (1, True), err
    assert not list((memory.root / "causality").glob("assertions/*"))


@pytest.mark.parametrize("spoil", [foreign, a_folder, a_pipe])
def test_the_doctor_goes_on_and_says_what_to_do(memory: Memory, spoil: Callable[[Path], None]) -> None:
    spoil(memory.graph.path_of_file)
    memory.episodes.path_of("s1").write_text("{", encoding="utf-8")
    assert faults(memory) == [
        ("unreadable episode", "episodes/episode-s1.json"),
        ("foreign database", "causality/graph.db"),
    ]
    assert "move" in memory.doctor().findings[-1].remedy


@pytest.mark.parametrize("mend", [lambda memory: memory.doctor(fix=True), lambda memory: memory.graph.compile()])
@pytest.mark.parametrize("head", [bytes(4096), b"SQLite format 3\0"])
def test_a_head_that_a_crash_has_spoilt_is_ours_and_made_anew(
    memory: Memory, head: bytes, mend: Callable[[Memory], object]
) -> None:
    path = memory.graph.path_of_file
    path.write_bytes(head + (path.read_bytes()[4096:] if len(head) > 100 else b""))
    assert faults(memory) == [("damaged database", "causality/graph.db")]
    mend(memory)
    assert faults(memory) == []
    assert memory.graph.status().episodes == 1


def hot_journal(path: Path) -> None:
    """As a process leaves it that is killed while it writes without a write-ahead log."""
    script = (
        "import os, signal, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA journal_mode = DELETE'); c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN')\n"
        "c.execute('CREATE TABLE t (x)')\n"
        "for _ in range(50): c.execute('INSERT INTO t VALUES (randomblob(5000))')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.with_name(path.name + "-journal").stat().st_size


def test_a_compile_that_was_cut_short_is_called_that(memory: Memory) -> None:
    hot_journal(memory.graph.path_of_file)
    with pytest.raises(GraphNotCompiled, match="a compile was cut short; run `helix-graph sync`"):
        memory.graph.status()
    (fault,) = memory.doctor().findings
    assert "a compile was cut short" in fault.problem
    memory.graph.compile()
    assert memory.graph.status().episodes == 1


def test_a_file_without_tables_is_not_another_versions(memory: Memory) -> None:
    path = memory.graph.path_of_file
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    with pytest.raises(GraphNotCompiled, match="a compile was cut short; run `helix-graph sync`"):
        memory.graph.status()
    (fault,) = memory.doctor().findings
    assert (fault.kind, "cut short" in fault.problem) == ("damaged database", True)
    assert memory.doctor(fix=True).healthy
    assert faults(memory) == []
