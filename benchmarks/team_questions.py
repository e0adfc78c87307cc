"""What does a team's server cost a question, and the first one on a machine that has nothing?

One member pushes generated episodes, and insights of her own. Another, in an empty clone with nothing but
``HELIX_DATABASE``, asks; then asks again, stores an insight, and does the same without a server. Each command is a
process of its own, on one machine, over a socket.

    python benchmarks/team_questions.py --episodes 10000 --insights 1000 --runs 9
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from generated import write_episodes

from postgres_server import PostgresServer
from team_world import member

if TYPE_CHECKING:
    from helix_graph import Memory

QUESTION = ("seen", "the check names a value computed twice")


def timed(folder: Path, state: Path, server: str, *arguments: str) -> tuple[float, float, str]:
    """The seconds that a command took in a folder by the clock and of the processor, and what it said on stderr."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HELIX_")}
    environment |= {"HOME": str(state), "XDG_STATE_HOME": str(state), "XDG_CONFIG_HOME": str(state)}
    environment |= {"HELIX_EMBEDDING": "lexical"} | ({"HELIX_DATABASE": server} if server else {})
    program = Path(sys.executable).with_name("helix-graph")
    begun, before = time.perf_counter(), used()
    done = subprocess.run([program, *arguments], cwd=folder, env=environment, capture_output=True, check=True)
    return time.perf_counter() - begun, used() - before, done.stderr.decode().strip()


def used() -> float:
    """The processor's seconds of all commands so far."""
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--insights", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=9)
    asked = parser.parse_args()
    server = PostgresServer(durable=True)
    try:
        with tempfile.TemporaryDirectory() as name:
            compare(server, Path(name), asked)
    finally:
        server.close()


def compare(server: PostgresServer, folder: Path, asked: argparse.Namespace) -> None:
    """Pushes what was asked for and prints the times."""
    database = server.team_database()
    ann = member(folder / "ann" / "shop")
    write_episodes(ann.root / "episodes", count=asked.episodes)
    store_insights(ann, asked.insights)
    begun = time.perf_counter()
    pushed = ann.team.sync(database.url("ann"), project="shop")
    print(f"sync --to pushed {pushed.pushed} objects in {time.perf_counter() - begun:.1f} s")
    clone = folder / "bob" / "shop"
    (clone / ".git").mkdir(parents=True)
    url = database.url("bob")
    first, cpu, said = timed(clone, folder, url, *QUESTION)
    print(f"first question: {first:.1f} s ({cpu:.1f} of the processor); {said}")
    if "more are left" in said:
        rest, cpu, _ = timed(clone, folder, url, "sync", "--to")
        print(f"the rest by sync --to: {rest:.1f} s ({cpu:.1f} of the processor)")
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"the largest process had {own.ru_maxrss / 1024:.0f} MB")
    for title, words in (("seen", QUESTION), ("insight store", ("insight", "store", "--content"))):
        for where, address in (("with the server", url), ("without", "")):
            times: list[tuple[float, float]] = []
            for number in range(asked.runs):
                last = f"What was learnt in round {number} {where} stands here" if title != "seen" else "--json"
                times.append(timed(clone, folder, address, *words, last)[:2])
            clock, cpu = (median(one) * 1000 for one in zip(*times, strict=True))
            print(f"{title} {where}: {clock:.0f} ms, {cpu:.0f} of the processor (medians of {asked.runs})")


def store_insights(memory: Memory, count: int) -> None:
    """Insights that say different things."""
    os.environ["HELIX_EMBEDDING"] = "lexical"
    for number in range(count):
        memory.insights.store(f"Part {number:05} of the machine is oiled by hand {number * 7919 % 100003} times a year")


if __name__ == "__main__":
    main()
