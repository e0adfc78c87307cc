"""Real processes that work on one memory: started, waited for, killed."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, NoReturn

import pytest

from helix_cli.app import run
from helix_graph import Memory
from own_memory import accepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from session_script import Script

COMMAND = (sys.executable, "-m", "helix_cli")
#: Far longer than any of these takes; a process that hangs fails its test instead of the whole run.
PATIENCE = 120


def start(*arguments: str | Path, memory: Path, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """``helix-graph ARGUMENTS`` on a memory, as a process of its own, in a group of its own."""
    command = [*prefix, *COMMAND, *map(str, arguments)]
    accepted(memory.resolve())
    environment = {**os.environ, "HELIX_DIR": str(memory)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """How it ended and what it said, on stdout and on stderr."""
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def command(*arguments: str | Path, memory: Path, prefix: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """One command from start to end."""
    return finish(start(*arguments, memory=memory, prefix=prefix))


def answered(*arguments: str | Path, memory: Path) -> tuple[int, str, str]:
    """The same in the test's own process, which takes a tenth of the time; a command that waits too long fails."""
    accepted(memory.resolve())
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(one, encoding="utf-8", write_through=True) for one in written)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err), _patience():
        patch.setenv("HELIX_DIR", str(memory))
        code = run([*map(str, arguments)])
    return code, written[0].getvalue().decode(), written[1].getvalue().decode()


@contextmanager
def _patience() -> Iterator[None]:
    def give_up(*_: object) -> NoReturn:
        pytest.fail(f"no answer in {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def write_logs(folder: Path, script: Callable[..., Script], count: int = 6) -> list[Path]:
    """Logs of sessions that meet in their errors and edits."""
    return [
        script(f"session-{place}")
        .prompt(f"Fix the cart, part {place}")
        .run("pytest -q", "E   KeyError: 'sku'\n1 failed in 0.1s", code=1)
        .edit(f"shop/cart{place % 3}.py")
        .run("pytest -q", "1 passed in 0.1s")
        .save(folder)
        for place in range(count)
    ]


def assert_as_fresh(memory: Path, fresh: Path) -> None:
    """The graph is what one process would have made of the same episodes, byte for byte, and SQLite finds it whole."""
    for truth in ("episodes", "causality/assertions", "forgotten"):
        if (memory / truth).exists():
            shutil.copytree(memory / truth, fresh / truth)
    Memory(fresh).graph.compile()
    assert Memory(memory).graph.export() == Memory(fresh).graph.export()
    connection = sqlite3.connect(memory / "causality" / "graph.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
