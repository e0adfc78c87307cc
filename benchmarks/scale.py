"""How long compiling and asking take as a memory grows, each beside what it is compared with, in one run.

    python benchmarks/scale.py [--episodes N …] [--workers N] [--first CHECKOUT] [--nodes N]

*Compile*: N generated episodes (6 decisions, 12 events, half of the labels repeated, about 9 kB a file) are compiled
from nothing on all cores, by the clock; beside it the time that orjson needs to parse the same bytes on one, in this
run. Wanted: at most 10 times. *One more*: one episode more, compiled: at most 0.3 s into 10,000, 1 s into 100,000.
*Memory*: the most that the compiling process had resident, and its workers each: below 1 GB. *Growth*: the same for
several N. With ``--first`` a checkout of another version (`git worktree add DIR 58fbaabd`, the last that wrote the
export with every compile) is measured on the same files.
*Path*: on a graph of N nodes and about five times as many edges, 20 fixed pairs of labels that match at most 1,000
nodes each; whole cold processes beside a bare interpreter, warm calls in one process, and networkx's shortest path on
the same graph. Wanted: 100 ms above the interpreter cold, 15 ms warm.

The clock is what a user waits for, but other work on the machine doubles it: each line says the load and has the
seconds of the processor, those of workers included, next to the clock's.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson
from generated import Labels, spelled, write_episodes

from helix_graph import Memory
from helix_graph.trust import begin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAIRS = 20
COMMAND = str(Path(sys.executable).with_name("helix-graph"))


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def busy(work: Callable[[], object]) -> float:
    """Seconds of the processor."""
    return seconds(work, time.process_time)


def both(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and seconds of the processor, those of processes that it starts and awaits included."""
    processor = processor_seconds()
    return seconds(work), processor_seconds() - processor


def processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def medians(taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The middle milliseconds by the clock and of the processor."""
    clock, processor = zip(*taken, strict=True)
    return 1000 * statistics.median(clock), 1000 * statistics.median(processor)


def parse(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        orjson.loads(path.read_bytes())


class Compiled(NamedTuple):
    """What one process says of compiling a folder: seconds by the clock and of the processor, peak megabytes."""

    clock: float
    processor: float
    own: float
    of_workers: float


#: Compiles the memory in the folder and prints a `Compiled`; run by the Python of the version that is measured.
_COMPILE = """
import json, resource, sys, time
from pathlib import Path
from helix_graph import Memory
def main():
    begun, graph = time.perf_counter(), Memory(Path(sys.argv[1])).graph
    graph.compile(**json.loads(sys.argv[2]))
    clock = time.perf_counter() - begun
    own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    busy = sum(one.ru_utime + one.ru_stime for one in (own, workers))
    print(json.dumps([clock, busy, own.ru_maxrss / 1024, workers.ru_maxrss / 1024]))
if __name__ == "__main__":
    main()
"""


def compiled(root: Path, *, checkout: Path | None = None, **options: object) -> Compiled:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = [str(checkout / part) for part in (".", "episodes", "cli")] if checkout else []
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(_COMPILE)
        script.flush()
        said = subprocess.run(
            [sys.executable, script.name, str(root), orjson.dumps(options).decode()],
            env={**environment, "PYTHONPATH": os.pathsep.join(path)}, check=True, stdout=subprocess.PIPE,
        ).stdout  # fmt: skip
    return Compiled(*orjson.loads(said))


def time_compile(count: int, *, workers: int | None, first: Path | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folder = root / "episodes"
        write_episodes(folder, count=count)
        size = sum(path.stat().st_size for path in folder.iterdir()) / count / 1000
        bare = min(busy(lambda: parse(folder)) for _ in range(2))
        print(
            f"{count:>8} episodes of {size:.1f} kB; orjson parses them in {bare:.2f} s; load {os.getloadavg()[0]:.1f}"
        )
        versions: list[tuple[str, Path | None, dict[str, object]]] = [("now", None, {"workers": workers})]
        versions += [("first", first, {})] if first else []
        for title, checkout, options in versions:
            shutil.rmtree(root / "causality", ignore_errors=True)
            whole = compiled(root, checkout=checkout, **options)
            write_episodes(folder, count=1, first=count)
            more = compiled(root, checkout=checkout, **options)
            (folder / f"episode-generated-{count:06}.json").unlink()
            print(
                f"{title:>8}: {whole.clock:.1f} s = {whole.clock / bare:.1f} x (of the processor"
                f" {whole.processor:.1f} s = {whole.processor / bare:.1f} x); one more {more.clock:.2f} s"
                f" ({more.processor:.2f}); {whole.own:.0f} MB, a worker {whole.of_workers:.0f} MB",
                flush=True,
            )


def pairs(stock: int) -> list[tuple[str, str]]:
    pick = Labels(stock, repeated=0)
    return [(f"run tool{spelled(pick())} check", f"tool{spelled(pick())} passes") for _ in range(PAIRS)]


def time_paths(nodes: int) -> None:
    """Labels are spread evenly, about 25 mentions to an episode, so that no node is a hub; five edges a node."""
    stock = nodes // 2
    with tempfile.TemporaryDirectory() as root:
        os.environ["XDG_STATE_HOME"] = f"{root}/state"
        begin(Path(root))
        memory = Memory(Path(root))
        write_episodes(memory.root / "episodes", count=nodes // 8, decisions=20, events=20, stock=stock, repeated=0)
        memory.graph.compile()
        status = memory.graph.status()
        answers: list[bool] = []
        warm = [both(partial(ask, memory, source, target, answers)) for source, target in pairs(stock)]
        bare, cold = time_cold(root, stock)
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"path on {status.nodes} nodes, {status.edges} edges, {PAIRS} pairs, {sum(answers)} of them joined:")
        clock, processor = medians(warm)
        worst = 1000 * max(processor for _, processor in warm)
        print(f"{'':>9}warm median {clock:.1f} ms, of the processor {processor:.1f}, at worst {worst:.1f}")
        above = [after - before for after, before in zip(cold, bare, strict=True)]
        print(
            f"{'':>9}whole cold process {above[0]:.0f} ms above a bare interpreter ({bare[0]:.0f});"
            f" of the processor {above[1]:.0f} ({bare[1]:.0f})"
        )
        loaded, taken = time_networkx(memory)
        print(f"{'':>9}networkx: {loaded:.1f} s to load the graph, then {1000 * taken:.1f} ms for a path, medians")


def ask(memory: Memory, source: str, target: str, answers: list[bool]) -> None:
    answers.append(memory.graph.path(source=source, target=target, max_depth=10).found)


def time_cold(root: str, stock: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """The `medians` of a bare interpreter and of a whole `path`, run in turn."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["HELIX_DIR"] = root
    bare, cold = [], []
    for source, target in pairs(stock):
        bare.append(both(partial(run, [sys.executable, "-c", "pass"], environment)))
        command = [COMMAND, "path", "--from", source, "--to", target, "--max-depth", "10", "--json"]
        cold.append(both(partial(run, command, environment)))
    return medians(bare), medians(cold)


def run(command: list[str], environment: dict[str, str]) -> None:
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def time_networkx(memory: Memory) -> tuple[float, float]:
    """Seconds to load the graph, and the median for a shortest path in it."""
    import networkx as nx

    start = time.perf_counter()
    graph = memory.graph.networkx()
    loaded = time.perf_counter() - start
    ends = sorted(graph)[:: max(1, len(graph) // (2 * PAIRS))]
    taken = [seconds(partial(nx.has_path, graph, a, b)) for a, b in zip(ends[::2], ends[1::2], strict=False)]
    return loaded, statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--workers", type=int, help="processes that read (default: the cores)")
    parser.add_argument("--first", type=Path, help="a checkout of the version to compare with")
    parser.add_argument("--nodes", type=int, default=100_000, help="of the graph on which paths are timed; 0: none")
    options = parser.parse_args()
    for count in options.episodes:
        time_compile(count, workers=options.workers, first=options.first)
    if options.nodes:
        time_paths(options.nodes)


if __name__ == "__main__":
    main()
