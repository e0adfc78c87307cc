"""How long a cold process takes to compare all sessions of a large memory that has been compiled.

The world has 340 further things that are seldom done, so that nearly as many comparisons are made as ever are. Timed is
the whole process that opens the memory and asks, less a bare interpreter; the best of three, since other programs run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from world import World, sessions

from helix_episodes.store import encode_episode
from helix_graph import Memory

RARE = 340
WANTED = 5.0
_ASK = (
    "import sys; from pathlib import Path; from helix_graph import Memory; "
    "print(Memory.open(Path(sys.argv[1])).causality.comparisons().tested)"
)


def report(count: int) -> None:
    """Print the time."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.init(Path(folder))
        memory.graph.episodes.mkdir(parents=True, exist_ok=True)
        for one in sessions(World(seed=1, rare=RARE), count):
            (memory.graph.episodes / f"{one.episode.id}.json").write_bytes(encode_episode(one.episode))
        memory.graph.compile()
        bare, bare_work, _ = _best("pass")
        asked, work, tested = _best(_ASK, folder)
    print(
        f"comparisons of {count} compiled sessions: {tested.strip()} made, {asked - bare:.1f} s above a bare "
        f"interpreter (wanted at most {WANTED:.0f}), {work - bare_work:.1f} s of it processor time"
    )


def _best(code: str, *arguments: str) -> tuple[float, float, str]:
    """The fastest of three runs: seconds, seconds of processor time, and what it printed."""
    runs = []
    for _ in range(3):
        begun, worked = time.perf_counter(), _work()
        done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
        runs.append((time.perf_counter() - begun, _work() - worked, done.stdout))
    return min(runs)


def _work() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
