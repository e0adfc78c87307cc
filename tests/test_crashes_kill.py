"""Is the memory valid after a process was killed in the middle of its work, whenever that was?"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from own_memory import own_memory
from processes import PATIENCE, assert_as_fresh, command, finish, start, write_logs
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

#: Kills a test; each takes a third of a second, mostly Python's start.
KILLS = 12


def kill_at(moment: float, *arguments: str | Path, memory: Path) -> bool:
    """Starts a command and kills it after so many seconds; whether it was still at work."""
    process = start(*arguments, memory=memory)
    time.sleep(moment)
    at_work = process.poll() is None
    if at_work:
        os.killpg(process.pid, signal.SIGKILL)
    finish(process)
    return at_work


@pytest.fixture
def duration(tmp_path: Path, script: Callable[..., Script]) -> float:
    """How long the work takes when nobody disturbs it, so that the kills fall into it on any machine."""
    logs = write_logs(tmp_path / "trial-logs", script, 20)
    began = time.monotonic()
    command("episode", "extract", *logs, memory=tmp_path / "trial")
    return time.monotonic() - began


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_where_it_was(
    tmp_path: Path, script: Callable[..., Script], duration: float
) -> None:
    logs, memory = write_logs(tmp_path / "logs", script, 20), tmp_path / "memory"
    memory.mkdir()
    moments = random.Random(7)  # noqa: S311  (any moments will do, the same ones in each run)
    at_work = 0
    for place in range(KILLS):
        work: tuple[str | Path, ...] = ("compile",) if place % 2 else ("episode", "extract", *logs, "--force")
        was_at_work = kill_at(moments.uniform(0.3, 1.0) * duration, *work, memory=memory)
        at_work += was_at_work
        duration *= 1 if was_at_work else 0.8  # it was measured while the machine was busier
        for path, episode in Memory(memory).episodes.scan():
            assert path.stem == getattr(episode, "id", None), "half an episode was left behind"
    assert at_work, "every command was over before it could be killed"
    assert command("episode", "extract", *logs, memory=memory)[0::2] == (0, "")
    assert command("compile", memory=memory)[0::2] == (0, "")
    assert_as_fresh(memory, tmp_path / "fresh")


#: Dies as by kill -9 when everything is written, before the transaction ends.
DIES_IN_BETWEEN = """
import os, signal, sys
from pathlib import Path
from helix_graph import Memory
from helix_graph.graph import compile as compiling
compiling.finish_changes = lambda _: os.kill(os.getpid(), signal.SIGKILL)
Memory(Path(sys.argv[1])).graph.compile()
"""


@pytest.mark.parametrize("before", few([0, 3], 1))
def test_killed_before_the_end_of_the_transaction(tmp_path: Path, script: Callable[..., Script], before: int) -> None:
    """The one moment at which everything is unfinished, hit for certain: of a first graph, and of one more change."""
    memory = own_memory(tmp_path / "memory")
    logs = write_logs(tmp_path / "logs", script)
    if before:
        memory.extract(logs[:before])
        memory.graph.compile()
    memory.extract(logs)
    killed = subprocess.run([sys.executable, "-c", DIES_IN_BETWEEN, str(memory.root)], check=False, timeout=PATIENCE)
    assert killed.returncode == -signal.SIGKILL
    assert memory.graph.path_of_file.exists() == bool(before)
    memory.graph.compile()
    assert memory.graph.status().episodes == len(logs)
    assert not list(memory.graph.causality.glob("*.new*"))
    assert_as_fresh(memory.root, tmp_path / "fresh")
