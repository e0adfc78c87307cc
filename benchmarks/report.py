"""How long a report takes, as one file and as a folder with the page of the memory.

    python benchmarks/report.py [--sessions N]

On a generated memory of N sessions (1,000 without the option), compiled before. Each is a whole cold process, the
middle of three, by the clock and by the processor, since other work on the machine multiplies what the clock says.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generated import write_episodes

from helix_graph import Memory

RUNS = 3


def measured(memory: Memory, output: Path) -> str:
    """The middle of some runs, in milliseconds."""
    command = [sys.executable, "-m", "helix_cli", "report", "--output", str(output)]
    taken = []
    for _ in range(RUNS):
        start, busy = time.perf_counter(), children()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "HELIX_DIR": str(memory.root)})
        taken.append((time.perf_counter() - start, children() - busy))
    clock, processor = (1000 * statistics.median(column) for column in zip(*taken, strict=True))
    return f"{clock:6.0f} ms, {processor:6.0f} of the processor"


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        memory = Memory.init(Path(name))
        write_episodes(memory.graph.episodes, count=given.sessions)
        memory.graph.compile()
        print(f"{given.sessions} sessions")
        print("  one file    ", measured(memory, Path(name) / "report.html"))
        print("  with pages  ", measured(memory, Path(name) / "week"))


if __name__ == "__main__":
    main()
