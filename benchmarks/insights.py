"""What remembered advice costs: cold commands as whole processes, and calls within one, over many insights.

    python benchmarks/insights.py [--cold N] [--warm N] [--runs N]

Insights of drawn words (12 of a vocabulary of 5,000, frequent ones more often, and an error code each) are laid into a
database with vectors of chance, 384 wide. Cold: a bare interpreter, `insight recall` by words, by meaning with the
engine that is here (if there is one), a process that recalls by meaning with a stub in an engine's place, and, where it
is installed, `import sentence_transformers`, in turn and N times after one run each to warm up. Every run asks another
question, or the engine's vector would come from the cache. Printed are least and median milliseconds by the clock and
by the processor, and what is above the bare interpreter. Warm: calls in one process, the database and the matrix of
vectors being there, with a stub for the engine: each with connections of its own, as a script has them, and then with
connections kept open, as a server has them.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
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

from helix_graph.embedding.choice import status as model_status
from helix_graph.embedding.model import MINILM
from helix_graph.helix_db import kept_open, stamp, utc_now
from helix_graph.insights import rows
from helix_graph.insights.api import Insights
from helix_graph.insights.model import Insight, TextVector
from helix_graph.insights.schema import text_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

DIMENSIONS = 384
FRESH = itertools.count()
WORDS = 5000
QUERY = "why does word7 fail with E00017 after word42 and word311 in the build"
BY_MEANING = """
import sys
from pathlib import Path
from helix_graph.insights.api import Insights
class Stub:
    model, dimensions = "MODEL", 384
    def embed(self, texts):
        import numpy as np
        found = np.sin(np.arange(1, 385, dtype=np.float32))
        return np.tile(found / np.linalg.norm(found), (len(texts), 1))
assert Insights(Path(sys.argv[1]), embedder=Stub).recall(sys.argv[2]) is not None
""".replace("MODEL", MINILM)
COLUMNS = ("least ms", "above bare", "median ms", "above bare", "cpu least", "above bare", "cpu median", "above bare")
Taken = tuple[float, float]


class Stub:
    """A vector of chance for each text."""

    model = MINILM
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
    at = stamp(utc_now())
    with insights.database.writing() as connection:  # a hundred thousand calls of store would take an hour
        for place in range(count):
            words = " ".join(f"word{int(WORDS * chance.random() ** 3)}" for _ in range(12))
            content = f"When {words} fails with E{place:05}, do {place}"
            one = Insight(uid=text_digest(content), slug=f"insight-{place}", content=content, created_at=at)
            number = rows.insert(connection, one, name=one.slug)
            rows.set_vector(connection, number, TextVector(MINILM, vectors[place].tobytes()))
    insights.recall(QUERY)
    return insights


def in_process(work: Callable[[], object]) -> Taken:
    """Milliseconds by the clock and by the processor."""
    start, processor = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - processor)


def as_process(command: list[str], path: Path) -> Taken:
    """The same of a whole process; its caches go beside the database."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["HELIX_DB_PATH"] = str(path)
    start = time.perf_counter()
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, cwd=path.parent, stdout=quiet, stderr=quiet) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return 1000 * (time.perf_counter() - start), 1000 * (used.ru_utime + used.ru_stime)


def cold_commands(path: Path) -> dict[str, list[str]]:
    """What is run; the last argument of a recall is the question, to which each run adds a number."""
    recall = [sys.executable, "-m", "helix_cli", "insight", "recall", "--json"]
    commands = {
        "bare interpreter": [sys.executable, "-c", "pass"],
        "insight recall, by words": [*recall, "--lexical", QUERY],
    }
    if model_status().mode == "semantic":
        commands["insight recall, by meaning"] = [*recall, QUERY]
    commands["recall by meaning (stub engine)"] = [sys.executable, "-c", BY_MEANING, str(path), QUERY]
    if importlib.util.find_spec("sentence_transformers"):
        commands["import sentence_transformers"] = [sys.executable, "-c", "import sentence_transformers"]
    return commands


def time_cold(path: Path, *, count: int, runs: int) -> None:
    commands = cold_commands(path)
    taken: dict[str, list[Taken]] = {name: [] for name in commands}
    for run in range(runs + 1):
        for name, command in commands.items():
            found = as_process([f"{part} {run}" if part == QUERY else part for part in command], path)
            if run:  # the first is to warm up
                taken[name].append(found)
    figures = {
        name: [pick(one) for one in zip(*times, strict=True) for pick in (min, statistics.median)]
        for name, times in taken.items()
    }
    bare = figures["bare interpreter"]
    print(f"{f'{count} insights, cold, n = {runs}':<38}" + "".join(f"{column:>12}" for column in COLUMNS))
    for name, those in figures.items():
        both = [value for one, least in zip(those, bare, strict=True) for value in (one, one - least)]
        print(f"  {name:<36}" + "".join(f"{value:>12.0f}" for value in both))


def time_warm(insights: Insights, *, count: int, runs: int, how: str) -> None:
    calls: dict[str, Callable[[], object]] = {
        "recall by words": lambda: insights.recall(QUERY, semantic=False),
        "recall by meaning and words": lambda: insights.recall(QUERY),
        "store with the look for duplicates": lambda: insights.store(f"A text of its own, {how}, number {next(FRESH)}"),
        "feedback on five": lambda: insights.feedback([f"insight-{place}" for place in range(5)], "delivered"),
        "health": insights.health,
    }
    columns = ("least ms", "median ms", "cpu least", "cpu median")
    print(f"{f'{count} insights, one process, {how}, n = {runs}':<70}" + "".join(f"{column:>12}" for column in columns))
    for name, call in calls.items():
        call()
        times = zip(*(in_process(call) for _ in range(runs)), strict=True)
        print(f"  {name:<68}" + "".join(f"{pick(one):>12.1f}" for one in times for pick in (min, statistics.median)))


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
        time_warm(warm, count=options.warm, runs=options.runs, how="connections of its own")
        with kept_open():
            time_warm(warm, count=options.warm, runs=options.runs, how="connections kept open")


if __name__ == "__main__":
    main()
