"""What a command costs above a bare interpreter: whole processes, side by side in one run.

    python benchmarks/startup.py [--runs N] [--corpus DIR]

A memory of the Claude Code corpus is made in a temporary folder. Then, in turn and N times, a bare ``python -c pass``
and each command are run as whole processes, after one run each to warm up, so that noise of the machine falls on all
alike. Printed are the least time (what the command costs when nothing else runs), the median, their differences from
the bare interpreter's, and the spread of the bare runs as a measure of the noise. Extraction is timed log by log
against the size of each log.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from helix_episodes.readers import find_logs
from helix_graph import Memory
from helix_graph.trust import begin

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "claude-code" / "sessions"
COMMAND = str(Path(sys.executable).with_name("helix-graph"))
ERROR = "settings_test.go:35:3: Error return value of `os.Chdir` is not checked (errcheck)"
COMMANDS = {
    "bare interpreter": [sys.executable, "-c", "pass"],
    "--version": [COMMAND, "--version"],
    "seen": [COMMAND, "seen", ERROR, "--json"],
    "path": [COMMAND, "path", "--from", "golangci-lint fails", "--to", "success", "--json"],
    "status": [COMMAND, "status", "--json"],
    "patterns": [COMMAND, "patterns", "--json"],
}


def milliseconds(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return 1000 * (time.perf_counter() - start)


def time_commands(environment: dict[str, str], *, runs: int) -> None:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        milliseconds(command, environment)
    for _ in range(runs):
        for name, command in COMMANDS.items():
            taken[name].append(milliseconds(command, environment))
    bare = taken["bare interpreter"]
    print(f"{'n = ' + str(runs) + ' each':<24}{'least ms':>10}{'above bare':>12}{'median ms':>12}{'above bare':>12}")
    for name, times in taken.items():
        least, middle = min(times), statistics.median(times)
        above = (f"{least - min(bare):>12.0f}", f"{middle - statistics.median(bare):>12.0f}")
        print(f"{name:<24}{least:>10.0f}{above[0]}{middle:>12.0f}{above[1]}")
    print(f"noise: the bare interpreter took {min(bare):.0f} to {max(bare):.0f} ms")


def environment_of_a_user(folder: str) -> dict[str, str]:
    """This environment, with modules compiled once as an installed package's are, whatever a developer has set."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"HELIX_DIR": folder}


def time_extraction(memory: Memory, logs: list[Path]) -> None:
    per_megabyte: list[tuple[float, str]] = []
    start = time.perf_counter()
    for log in logs:
        before = time.perf_counter()
        memory.extract([log])
        per_megabyte.append(((time.perf_counter() - before) / (log.stat().st_size / 1e6), log.name))
    total, size = time.perf_counter() - start, sum(log.stat().st_size for log in logs) / 1e6
    slowest, name = max(per_megabyte)
    print(f"extraction: {len(logs)} logs, {size:.1f} MB in {total:.1f} s; slowest {slowest:.2f} s per MB ({name})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        begin(Path(folder))
        memory = Memory(Path(folder))
        time_extraction(memory, find_logs(options.corpus))
        memory.graph.compile()
        time_commands(environment_of_a_user(folder), runs=options.runs)


if __name__ == "__main__":
    main()
