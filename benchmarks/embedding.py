"""What a vector costs: one question from a cold process, and texts a second, of both engines in one run.

    python benchmarks/embedding.py [--runs N]

Cold: whole processes in turn, N times each after one to warm up: a bare interpreter, one that imports numpy, one that
embeds a question through `embedder`, one that finds its vector in the cache, and where sentence-transformers is
installed one that imports it and one that embeds the question with it. Printed are the least and the median time on
the clock, and the median processor time, which other programs on the machine disturb least.

Throughput: 128 texts of 15 to 35 words (about 30 tokens), handed over 1, 32 and 128 at a time, each engine in a process
of its own, the best of three rounds; below each in brackets texts per second of processor time. Needs the weights
(``helix-graph model install``).
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
from random import Random
from typing import TYPE_CHECKING

from helix_graph.embedding.cache import Cached
from helix_graph.embedding.choice import INSTALL, LightEmbedder, ReferenceEmbedder, has, status

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from helix_graph.embedding.model import Embedder

QUESTION = "why does the import of respx fail in the tests of shop.shipping?"
ASK = "from helix_graph.embedding.choice import embedder; embedder({}).embed([%r])" % QUESTION  # noqa: UP031  (braces)
REFERENCE = f"""
from pathlib import Path
from helix_graph.embedding.choice import ReferenceEmbedder
from helix_graph.embedding.weights_lookup import find
ReferenceEmbedder(find().found.folder).embed([{QUESTION!r}])
"""
WORDS = (
    "error",
    "test",
    "module",
    "import",
    "fails",
    "graph",
    "node",
    "edge",
    "vector",
    "the",
    "a",
    "of",
    "reads",
    "line",
)
AT_A_TIME = (1, 32, 128)
ROUNDS = 3


def commands(cache: Path) -> dict[str, str]:
    found = {
        "bare interpreter": "pass",
        "import numpy": "import numpy",
        "light engine, one question": ASK.format(""),
        "cached question": f"from pathlib import Path; {ASK.format(f'cache=Path({str(cache)!r})')}",
    }
    if has("sentence-transformers"):
        found |= {"import sentence_transformers": "import sentence_transformers", "sentence-transformers": REFERENCE}
    return found


def processor_time() -> float:
    """Of all child processes so far, in milliseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def time_cold(*, runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asked = commands(Path(folder) / "vectors.db")
        wall: dict[str, list[float]] = {name: [] for name in asked}
        processor: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(runs + 1):
            for name, code in asked.items():
                start, used = time.perf_counter(), processor_time()
                subprocess.run([sys.executable, "-c", code], check=True)
                wall[name].append(1000 * (time.perf_counter() - start))
                processor[name].append(processor_time() - used)
    print(f"{'whole process, n = ' + str(runs):<32}{'least ms':>10}{'median ms':>11}{'CPU ms':>9}")
    for name in asked:
        times = wall[name][1:]  # the first one is to warm up
        print(
            f"{name:<32}{min(times):>10.0f}{statistics.median(times):>11.0f}{statistics.median(processor[name][1:]):>9.0f}"
        )


def texts() -> list[str]:
    draw = Random(1)  # noqa: S311  (texts, no secrets)
    return [" ".join(draw.choices(WORDS, k=draw.randint(15, 35))) for _ in range(128)]


def rates(name: str, engine: Embedder) -> None:
    """Prints texts a second, and texts per second of processor time."""
    chosen, lines = texts(), ([f"{name:<32}"], [" " * 32])
    for batch in AT_A_TIME:
        best = [float("inf")] * 2
        for _ in range(ROUNDS):
            starts = time.perf_counter(), time.process_time()
            for first in range(0, len(chosen), batch):
                engine.embed(chosen[first : first + batch])
            ends = time.perf_counter(), time.process_time()
            best = [min(one, end - start) for one, end, start in zip(best, ends, starts, strict=True)]
        lines[0].append(f"{len(chosen) / best[0]:>10.0f}")
        lines[1].append(f"{f'({len(chosen) / best[1]:.0f})':>10}")
    print("\n".join("".join(line) for line in lines))


def time_engine(name: str) -> None:
    weights = status().weights
    assert weights
    engine: Embedder = LightEmbedder(weights.folder) if name == "light" else ReferenceEmbedder(weights.folder)
    engine.embed([QUESTION])
    rates(name, engine)


def time_cache() -> None:
    """What a vector costs that is in the file."""

    class Refusing(LightEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise AssertionError(texts)

    weights = status().weights
    assert weights
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.db"
        Cached(LightEmbedder(weights.folder), file).embed(texts())
        cached = Cached(Refusing(weights.folder), file)
        rates("from the cache", cached)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        time_engine(options.engine)
        return
    found = status()
    if not (found.weights and has("light")):
        sys.exit(f"the light engine is not here: {found.reason or 'its packages are missing'}; {INSTALL}")
    print(f"weights: {found.weights.folder}; load of the machine: {os.getloadavg()[0]:.1f}\n")
    time_cold(runs=options.runs)
    print(f"\n{'texts a second, handed over':<32}" + "".join(f"{batch:>10}" for batch in AT_A_TIME), flush=True)
    for engine in ["light"] + ["sentence-transformers"] * has("sentence-transformers"):
        subprocess.run([sys.executable, __file__, "--engine", engine], check=True)
    time_cache()


if __name__ == "__main__":
    main()
