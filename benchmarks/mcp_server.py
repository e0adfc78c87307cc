"""What the MCP server costs: beside an empty server of the same SDK in the same run, and call by call.

    python benchmarks/mcp_server.py [--runs N] [--entries N]

Start: in turn and N times, an empty server (the SDK's low-level one with nothing in it) and ours are spawned, and timed
until ``initialize`` is answered; noise of the machine falls on both. Then one server of ours, on a memory with topics
of so many entries, is asked for its list of tools, and 200 calls of each kind are timed from the request's line to the
answer's. The client is a pipe: what an SDK's client costs is not ours to measure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from helix_graph import Memory

EMPTY = """
import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def main():
    server = Server("empty")
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
SERVERS = {
    "empty server of the SDK": [sys.executable, "-c", EMPTY],
    "helix-graph mcp": [str(Path(sys.executable).with_name("helix-graph")), "mcp"],
}
CALLS = 200
WORDS = (
    "cache",
    "pool",
    "index",
    "token",
    "branch",
    "retry",
    "queue",
    "parser",
    "socket",
    "shard",
    "merge",
    "epoch",
    "lock",
)


class Pipe:
    """A server and the least client that there is."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0

    def ask(self, method: str, **params: object) -> bytes:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert json.loads(answer)["id"] == self._number
        return answer

    def begin(self) -> None:
        client = {"name": "benchmark", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        assert self.process.stdin is not None
        self.process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def call(self, tool: str, **arguments: object) -> float:
        """Milliseconds of one call."""
        start = time.perf_counter()
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        taken = 1000 * (time.perf_counter() - start)
        assert not json.loads(answer)["result"].get("isError"), answer
        return taken

    def end(self) -> None:
        self.process.communicate()


def environment_of(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"HELIX_DIR": str(root), "HELIX_EMBEDDING": "lexical"}


def time_starts(environment: dict[str, str], *, runs: int) -> None:
    taken: dict[str, list[float]] = {name: [] for name in SERVERS}
    for turn in range(runs + 1):
        for name, command in SERVERS.items():
            start = time.perf_counter()
            pipe = Pipe(command, environment)
            pipe.begin()
            if turn:  # the first compiles modules
                taken[name].append(1000 * (time.perf_counter() - start))
            pipe.end()
    print(f"{'spawn -> initialize answered, n = ' + str(runs):<40}{'least ms':>10}{'median ms':>12}")
    for name, times in taken.items():
        print(f"{name:<40}{min(times):>10.0f}{statistics.median(times):>12.0f}")
    empty, ours = taken.values()
    pairs = statistics.median(one / other for one, other in zip(ours, empty, strict=True))
    least, middle = min(ours) / min(empty), statistics.median(ours) / statistics.median(empty)
    print(f"ours / empty: least {least:.2f}, median {middle:.2f}, of the pairs {pairs:.2f} (wanted: at most 1.3)")


def fill(memory: Memory, entries: int) -> None:
    made = [
        {
            "topic": f"topic-{n % 50}",
            "text": " ".join(WORDS[(n * step + step) % len(WORDS)] for step in (1, 3, 7)) + f" {n}",
        }
        for n in range(entries)
    ]
    for begin in range(0, entries, 1000):
        memory.topics.batch(made[begin : begin + 1000])
    memory.insights.store("When the cache is cold, warm it before the first request", ["cache"])


def time_calls(pipe: Pipe) -> None:
    start = time.perf_counter()
    listed = pipe.ask("tools/list")
    first = 1000 * (time.perf_counter() - start)
    tools = len(json.loads(listed)["result"]["tools"])
    print(f"tools/list: {tools} tools, {len(listed)} bytes, first in {first:.0f} ms")
    kinds: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
        "insight_health": (("insight_health", {}),),
        "read (one entry)": (("read", {"topic": "topic-7", "index": 3}),),
        "search": (("search", {"query": "cache retry"}),),
        "recall": (("recall", {"query": "cold cache"}),),
        "search_memory": (("search_memory", {"query": "cache retry"}),),
        "store": (("store", {"topic": "fresh", "text": "unlike {n} any", "force": True}),),
        "store, then search": (
            ("store", {"topic": "fresh", "text": "unmistakable{n}", "force": True}),
            ("search", {"query": "unmistakable{n}"}),
        ),
    }
    print(f"{'one call, n = ' + str(CALLS):<40}{'p50 ms':>10}{'p95 ms':>12}")
    for kind, calls in kinds.items():
        times = sorted(sum(pipe.call(tool, **_numbered(given, n)) for tool, given in calls) for n in range(CALLS))
        print(f"{kind:<40}{times[CALLS // 2]:>10.1f}{times[CALLS * 95 // 100]:>12.1f}")


def _numbered(given: dict[str, Any], number: int) -> dict[str, Any]:
    return {key: value.replace("{n}", str(number)) if isinstance(value, str) else value for key, value in given.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--entries", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.init(Path(folder))
        environment = environment_of(memory.root)
        time_starts(environment, runs=options.runs)
        fill(memory, options.entries)
        pipe = Pipe(SERVERS["helix-graph mcp"], environment)
        pipe.begin()
        print(f"topics of {options.entries} entries:")
        time_calls(pipe)
        pipe.end()
    print("load of this machine: " + " ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
