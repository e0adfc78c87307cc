"""What the MCP server costs: its start next to a bare interpreter's in the same run, its declarations, each call.

    python benchmarks/mcp_server.py [--runs N] [--entries N] [--other COMMAND]

Start: in turn and N times, a bare interpreter runs to its end, and each set of tools (and another server's command,
such as that of an older version) is spawned and timed until ``initialize`` and ``tools/list`` are answered; noise of
the machine falls on all. Then one server, on a memory with topics of so many entries, is asked 200 calls of each kind,
timed from the request's line to the answer's. The client is a pipe: an SDK's client is not ours to measure.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from helix_graph import Memory

BARE = "bare interpreter"
HELIX = str(Path(sys.executable).with_name("helix-graph"))
SERVERS = {
    "helix-graph mcp": [HELIX, "mcp"],
    "helix-graph mcp --tools topics": [HELIX, "mcp", "--tools", "topics"],
    "helix-graph mcp --tools all": [HELIX, "mcp", "--tools", "all"],
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


def started(command: list[str], environment: dict[str, str]) -> tuple[float, float, bytes]:
    """Milliseconds from the start to the answer to ``initialize``, and to the list of tools, which is the third."""
    begun = time.perf_counter()
    pipe = Pipe(command, environment)
    pipe.begin()
    ready = time.perf_counter() - begun
    listed = pipe.ask("tools/list")
    done = time.perf_counter() - begun
    pipe.end()
    return 1000 * ready, 1000 * done, listed


def time_starts(environment: dict[str, str], servers: dict[str, list[str]], *, runs: int) -> None:
    bare: list[float] = []
    taken: dict[str, list[tuple[float, float, bytes]]] = {name: [] for name in servers}
    for turn in range(runs + 1):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
        alone = 1000 * (time.perf_counter() - begun)
        found = {name: started(command, environment) for name, command in servers.items()}
        if turn:  # the first compiles modules
            bare.append(alone)
            for name, one in found.items():
                taken[name].append(one)
    print(f"{'start, n = ' + str(runs) + ', ms':<36}{'initialize':>20}{'tools/list':>20}{'tokens':>8}")
    print(f"{BARE + ' (to its end)':<36}{_figures(bare):>20}")
    for name, times in taken.items():
        tools = json.loads(times[0][2])["result"]["tools"]
        shown = json.dumps([{key: one[key] for key in ("name", "description", "inputSchema")} for one in tools])
        ready, done = [one[0] for one in times], [one[1] for one in times]
        print(f"{name:<36}{_figures(ready):>20}{_figures(done):>20}{len(shown) // 4:>8}")
        above = statistics.median(one - other for one, other in zip(done, bare, strict=True))
        print(f"{'':<36}{f'{above:.0f} ms above bare in the median of the pairs':>48}")


def _figures(times: list[float]) -> str:
    return f"least {min(times):.0f} med. {statistics.median(times):.0f}"


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
    print(f"first call: {pipe.call('insight_health'):.0f} ms, which loads what calls need")
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
    parser.add_argument("--other", help="the command of another server, in one argument")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.init(Path(folder))
        environment = environment_of(memory.root)
        other = {options.other: shlex.split(options.other)} if options.other else {}
        time_starts(environment, SERVERS | other, runs=options.runs)
        fill(memory, options.entries)
        pipe = Pipe(SERVERS["helix-graph mcp --tools all"], environment)
        pipe.begin()
        print(f"topics of {options.entries} entries:")
        time_calls(pipe)
        pipe.end()
    print("load of this machine: " + " ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
