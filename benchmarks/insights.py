"""What remembered advice costs: cold commands as whole processes, and calls within one, over many insights.

    python benchmarks/insights.py [--cold N] [--warm N] [--runs N]

Insights of drawn words (12 of a vocabulary of 5,000, frequent ones more often, and an error code each) are laid into a
database with vectors of chance, 384 wide. Cold: a bare interpreter, `insight recall` by words, a process that recalls
by meaning with a stub in an engine's place, and, where it is installed, `import sentence_transformers`, in turn and N
times after one run each to warm up. Printed are least and median milliseconds, and what is above the bare interpreter.
Warm: recall and store in one process, the database and the matrix of vectors being there. An engine's own time to embed
a query is not in any of these figures.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helix_graph.insights import rows
from helix_graph.insights.clock import now, stamp
from helix_graph.insights.door import Insights
from helix_graph.insights.model import Insight
from helix_graph.insights.rows import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

DIMENSIONS = 384
WORDS = 5000
QUERY = "why does word7 fail with E00017 after word42 and word311 in the build"
BY_MEANING = """
import sys
from pathlib import Path
import numpy as np
from helix_graph.insights.door import Insights
class Stub:
    model, dimensions = "stub", 384
    def embed(self, texts):
        found = np.random.default_rng(1).standard_normal((len(texts), 384)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)
assert Insights(Path(sys.argv[1]), embedder=Stub).recall(sys.argv[2]) is not None
"""


class Stub:
    """A vector of chance for each text."""

    model = "stub"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.chance = np.random.default_rng(7)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return unit(self.chance.standard_normal((len(texts), DIMENSIONS)).astype(np.float32))


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def fill(path: Path, count: int) -> Insights:
    """A database of so many insights, written in one transaction, and its matrix."""
    chance = random.Random(count)  # noqa: S311  (drawing texts)
    insights = Insights(path, embedder=Stub)
    vectors = unit(np.random.default_rng(count).standard_normal((count, DIMENSIONS)).astype(np.float32))
    at = stamp(now())
    with insights._database.writing() as connection:  # noqa: SLF001  (a hundred thousand calls of store would take an hour)
        for place in range(count):
            words = " ".join(f"word{int(WORDS * chance.random() ** 3)}" for _ in range(12))
            content = f"When {words} fails with E{place:05}, do {place}"
            one = Insight(uid=digest(content), slug=f"insight-{place}", content=content, created_at=at)
            number = rows.insert(connection, one, name=one.slug)
            rows.set_vector(connection, number, model="stub", vector=vectors[place].tobytes())
    insights.recall(QUERY)
    return insights


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - start)


def process(command: list[str], path: Path) -> Callable[[], object]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["HELIX_DB_PATH"] = str(path)
    return lambda: subprocess.run(
        command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def time_cold(path: Path, *, count: int, runs: int) -> None:
    commands = {
        "bare interpreter": [sys.executable, "-c", "pass"],
        "insight recall, by words": [
            sys.executable,
            "-m",
            "helix_cli",
            "insight",
            "recall",
            QUERY,
            "--lexical",
            "--json",
        ],
        "recall by meaning (stub engine)": [sys.executable, "-c", BY_MEANING, str(path), QUERY],
    }
    if importlib.util.find_spec("sentence_transformers"):
        commands["import sentence_transformers"] = [sys.executable, "-c", "import sentence_transformers"]
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        process(command, path)()
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].append(milliseconds(process(command, path)))
    bare = taken["bare interpreter"]
    print(
        f"{count} insights, cold, n = {runs:<12}{'least ms':>10}{'above bare':>12}{'median ms':>12}{'above bare':>12}"
    )
    for name, times in taken.items():
        least, middle = min(times), statistics.median(times)
        above = (least - min(bare), middle - statistics.median(bare))
        print(f"  {name:<36}{least:>10.0f}{above[0]:>12.0f}{middle:>12.0f}{above[1]:>12.0f}")


def time_warm(insights: Insights, *, count: int, runs: int) -> None:
    fresh = iter(range(10**9))
    calls: dict[str, Callable[[], object]] = {
        "recall by words": lambda: insights.recall(QUERY, semantic=False),
        "recall by meaning and words": lambda: insights.recall(QUERY),
        "store with the look for duplicates": lambda: insights.store(f"A text of its own, number {next(fresh)}"),
        "feedback on five": lambda: insights.feedback([f"insight-{place}" for place in range(5)], "delivered"),
        "health": insights.health,
    }
    print(f"{count} insights, one process, n = {runs:<6}{'least ms':>10}{'median ms':>12}")
    for name, call in calls.items():
        call()
        times = [milliseconds(call) for _ in range(runs)]
        print(f"  {name:<36}{min(times):>10.1f}{statistics.median(times):>12.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cold", type=int, default=10_000)
    parser.add_argument("--warm", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    print(f"SQLite {sqlite3.sqlite_version}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        cold = Path(folder) / "cold" / "helix.db"
        fill(cold, options.cold)
        time_cold(cold, count=options.cold, runs=options.runs)
        warm = fill(Path(folder) / "warm" / "helix.db", options.warm)
        time_warm(warm, count=options.warm, runs=options.runs)


if __name__ == "__main__":
    main()
