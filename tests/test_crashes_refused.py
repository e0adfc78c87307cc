"""What happens when the file system refuses: a full disk, a folder that may not be written?"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory, database
from helix_graph.errors import DatabaseRefused
from own_memory import own_memory
from processes import assert_as_fresh, command, write_logs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from session_script import Script

#: A shell that lets no file grow beyond so many blocks of 1 KB (bash) or 512 bytes (dash): less than the graph needs.
LIMITED = ("bash", "-c", 'ulimit -f 24; exec "$@"', "limited")
#: Root may write everywhere; without this capability it may not.
WITHOUT_POWER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()


def assert_one_sentence(answer: tuple[int, str, str], *words: str) -> None:
    code, _, err = answer
    assert code == 1, answer
    assert "Traceback" not in err
    assert all(line.startswith("helix-graph: ") for line in err.splitlines())
    assert any(word in err for word in words), err


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    memory = own_memory(tmp_path / "memory")
    memory.extract(write_logs(tmp_path / "logs", script, 3))
    memory.graph.compile()
    return memory


def test_a_disk_that_fails_while_a_graph_is_made_fails_the_compile(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.root / "causality" / "graph.db").unlink()
    errors, sync = [OSError(errno.EIO, "Input/output error")], os.fsync

    def fails_once(file: int) -> None:  # as Linux does: whoever asks again is told that all is well
        if errors:
            raise errors.pop()
        sync(file)

    monkeypatch.setattr(os, "fsync", fails_once)
    with pytest.raises(DatabaseRefused, match=r"graph\.db.*Input/output error"):
        memory.graph.compile()
    assert not list((memory.root / "causality").glob("graph.db*.new*"))
    memory.graph.compile()
    assert memory.graph.status().episodes == 3


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash to limit the size of files")
def test_a_file_that_may_not_grow_leaves_what_was_there(
    memory: Memory, tmp_path: Path, script: Callable[..., Script]
) -> None:
    write_logs(tmp_path / "more", script, 12)
    memory.extract([tmp_path / "more"])
    before = memory.graph.export()
    assert_one_sentence(command("compile", memory=memory.root, prefix=LIMITED), "space", "written", "used")
    assert memory.graph.export() == before
    assert memory.graph.status().episodes == 3
    assert command("compile", memory=memory.root)[0] == 0
    assert_as_fresh(memory.root, tmp_path / "fresh")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KB, where one may be made."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)], check=False)
    if made.returncode:
        pytest.skip("a small file system cannot be made here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root can make a small file system")
@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_is_lost(
    small_disk: Path, tmp_path: Path, script: Callable[..., Script]
) -> None:
    logs, root = write_logs(tmp_path / "logs", script, 12), small_disk / "memory"
    own_memory(root).extract(logs[:2])
    ballast = small_disk / "ballast"
    free = os.statvfs(small_disk)
    ballast.write_bytes(bytes(free.f_bavail * free.f_frsize))
    assert_one_sentence(command("compile", memory=root), "space", "full", "written", "used")
    assert_one_sentence(command("episode", "extract", *logs, memory=root), "No space left")
    assert {path.name for path in (root / "episodes").iterdir()} == {"episode-session-0.json", "episode-session-1.json"}
    ballast.unlink()
    assert command("episode", "extract", *logs[:6], memory=root)[0] == 0
    assert command("compile", memory=root)[0] == 0
    assert_as_fresh(root, tmp_path / "fresh")


@pytest.mark.slow
@pytest.mark.skipif(
    bool(WITHOUT_POWER) and not shutil.which("setpriv"), reason="root needs setpriv to give up its power"
)
def test_a_read_only_memory_answers_questions_and_refuses_the_rest(
    memory: Memory, tmp_path: Path, script: Callable[..., Script]
) -> None:
    for path in (memory.root / "causality").glob("graph.db-*"):
        path.unlink()
    folders = [memory.root, *(path for path in memory.root.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        log = write_logs(tmp_path / "more", script, 4)[-1]
        asked, answer, _ = command("seen", "KeyError: 'sku'", memory=memory.root, prefix=WITHOUT_POWER)
        assert asked == 0
        assert "Seen before" in answer
        assert command("status", memory=memory.root, prefix=WITHOUT_POWER)[0] == 0
        code, said, _ = command("doctor", memory=memory.root, prefix=WITHOUT_POWER)
        assert code == 1
        assert "cannot be written" in said
        refused = command("episode", "extract", log, memory=memory.root, prefix=WITHOUT_POWER)
        assert_one_sentence(refused, "Permission denied")
        refused = command("forget", "--session", "session-1", memory=memory.root, prefix=WITHOUT_POWER)
        assert_one_sentence(refused, "Permission denied")
        assert_one_sentence(command("off", memory=memory.root, prefix=WITHOUT_POWER), "Permission denied")
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert_as_fresh(memory.root, tmp_path / "fresh")


def test_an_episode_that_may_not_be_read_is_a_sentence(memory: Memory) -> None:
    memory.episodes.path_of("session-1").chmod(0)
    answer = command("episode", "show", "session-1", memory=memory.root, prefix=WITHOUT_POWER)
    assert_one_sentence(answer, "Permission denied")
    code, listed, _ = command("episode", "list", memory=memory.root, prefix=WITHOUT_POWER)
    assert code == 0
    assert "session-2" in listed


def test_a_transaction_that_sqlite_has_ended_keeps_its_reason() -> None:
    """A full disk makes SQLite undo a large transaction by itself; our own undoing must not hide why."""
    with closing(database.open_in_memory()) as connection, pytest.raises(OSError, match="the reason"):
        ended_by_itself(connection)


def ended_by_itself(connection: sqlite3.Connection) -> None:
    with database.transaction(connection):
        connection.execute("ROLLBACK")
        raise OSError("the reason")
