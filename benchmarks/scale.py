"""How long compiling and asking take as a memory grows, each beside what it is compared with, in one run.

    python benchmarks/scale.py [--episodes N] [--nodes N] [--growth]

*Compile*: N generated episodes (6 decisions, 12 events, half of the labels repeated, about 9 kB a file) are compiled
from nothing; beside it the time orjson needs to parse the same bytes in this run. Wanted: at most 20 times. *Again*:
the unchanged re-run, beside a bare scan of the directory (names, sizes, times). Wanted: at most 3 times.
*Path*: on a graph of N nodes and about five times as many edges, 20 fixed pairs of labels that match at most 1,000
nodes each; whole cold processes beside a bare interpreter, warm calls in one process, and networkx's shortest path on
the same graph. Wanted: 100 ms above the interpreter cold, 15 ms warm.
*After a change*: one episode more, compiled. That grows with the memory, since the export is written whole.
*Growth*: the same from 1,000 to 100,000 episodes.

Compiling is measured in seconds of the processor and so is its reference, because other work on the machine doubles
what the clock says; asking is measured by the clock, as a person would, and by the processor beside it.
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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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


def scan(folder: Path) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            entry.stat()


def time_compile(count: int) -> None:
    with tempfile.TemporaryDirectory() as root:
        memory = Memory(Path(root))
        folder = memory.root / "episodes"
        write_episodes(folder, count=count)
        size = sum(path.stat().st_size for path in folder.iterdir()) / count / 1000
        bare = min(busy(lambda: parse(folder)) for _ in range(3))
        first = busy(memory.graph.compile)
        scanned = min(busy(lambda: scan(folder)) for _ in range(5))
        again = min(busy(memory.graph.compile) for _ in range(5))
        write_episodes(folder, count=1, first=count)
        one_more = busy(memory.graph.compile)
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(
            f"{count:>8} episodes of {size:.1f} kB: compile {first:.2f} s = {first / bare:.1f} x orjson ({bare:.2f} s);"
        )
        print(f"{'':>9}unchanged {1000 * again:.0f} ms = {again / scanned:.1f} x the scan ({1000 * scanned:.0f} ms)")
        print(f"{'':>9}after one more {one_more:.2f} s = {one_more / first:.2f} x the whole")


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
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--growth", action="store_true", help="also 1,000 to 100,000 episodes")
    options = parser.parse_args()
    for count in (1_000, 10_000, 100_000) if options.growth else (options.episodes,):
        time_compile(count)
    time_paths(options.nodes)


if __name__ == "__main__":
    main()
