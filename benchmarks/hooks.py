"""What the hooks take: whole processes beside a bare interpreter, on a memory of 1,000 insights and 1,000 episodes.

    python benchmarks/hooks.py [--runs N] [--episodes N] [--insights N] [--clients FOLDER]

A memory is made in a temporary folder. Then, in turn and N times, a bare ``python -c pass`` and each event are run as
whole processes, after two runs each to warm up, so that noise of the machine falls on all alike. Printed are p50 and
p95 and, beside the budget, how far p50 and p95 lie above the bare interpreter's; each run is of a session of its own,
so that nothing is left out as given already. The memory has something to say to a beginning, a prompt and a failure,
and those that said nothing are named. Bytecode is kept, as it is of an installed package.

The load of the machine is printed too: with other work on it the clock means little. The processor's time, which is
printed beside it, says more then: that of the hook and of the child that answers, without what goes on in the
background after the answer. It needs Linux. With ``--clients`` also the times that Claude Code itself took of the hooks
in its sessions under `make agents`, whose folder (``build/agents/work``) is given.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from generated import write_episodes

from helix_graph import Memory
from helix_graph.hook_caches import write_anti_patterns
from helix_graph.trust import begin

#: As the installed script does it.
HOOK = [sys.executable, "-c", "from helix_cli.entry import main; main()", "hook"]
BUDGETS = {"session-start": 60, "user-prompt": 60, "pre-tool": 30, "post-tool": 15, "tool-failure": 60}
BARE = "bare interpreter"
PR_SET_CHILD_SUBREAPER = 36
#: A line of Claude Code's debug log.
FINISHED = re.compile(r"Hooks: (\w+)\S* \[\S*helix-graph hook \S+\] finished with status 0 \((\d+)ms\)")
ANSWERED = ("session-start", "user-prompt", "tool-failure")
#: What a session of the demo met, which is in the memory as well, and repaired.
FAILURE = "E   ModuleNotFoundError: No module named 'respx'\n1 failed in 0.10s"
#: So many insights are proven, and so many entries stand in topics.
PROVEN, ENTRIES = 5, 100
WORDS = "cart till shop order refund stock price tax checkout basket voucher invoice courier parcel label".split()  # noqa: SIM905  (a list to read)


def fill(root: Path, *, episodes: int, insights: int) -> None:
    memory = Memory(root)
    write_episodes(root / "episodes", count=episodes)
    with as_file(files("helix_cli") / "demo" / "logs") as logs:
        memory.extract([logs])
    dice = np.random.default_rng(7)
    for number in range(insights):
        one, other, third = (str(dice.choice(WORDS)) for _ in range(3))
        memory.insights.store(
            f"When the {one} of branch{number} meets the {other}, look at {third}{number}.py first",
            ["user-provided"] if number < PROVEN else [],
        )
    for number in range(ENTRIES):
        one, other = (str(dice.choice(WORDS)) for _ in range(2))
        memory.topics.store(one, f"The {other} of branch{number} is older than its {one}")
    memory.insights.feedback([hit["name"] for hit in memory.insights.recall("cart till shop", 50)], "delivered")
    memory.graph.compile()
    write_anti_patterns(root, memory.causality)


def told(event: str, session: str, folder: Path) -> bytes:
    fields = {
        "session_id": session,
        "cwd": str(folder),
        "source": "startup",
        "prompt": "the cart of branch17 meets the till and the price of the order is wrong",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
    }
    if event == "tool-failure":
        fields["error"] = FAILURE
    if event == "post-tool":
        fields["tool_response"] = {"stdout": "3 passed in 0.10s", "stderr": "", "interrupted": False, "isImage": False}
    return json.dumps(fields).encode()


class Run(NamedTuple):
    """Milliseconds by the clock and of the processor, and whether anything was said."""

    clock: float
    processor: float
    said: bool


def run(command: list[str], stdin: bytes) -> Run:
    before, start = processor_seconds(), time.perf_counter()
    done = subprocess.run(command, input=stdin, check=True, stdout=subprocess.PIPE)
    clock = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):  # there is none any more
        while True:  # the child that answered; what goes on in the background has left our group
            os.waitpid(-os.getpgrp(), 0)
    return Run(1000 * clock, 1000 * (processor_seconds() - before), bool(done.stdout))


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def adopt_orphans() -> None:
    """Lets this process wait for the children of a hook that has ended, and so count their time."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def time_events(folder: Path, *, runs: int) -> dict[str, list[Run]]:
    bare = [sys.executable, "-c", "pass"]
    taken: dict[str, list[Run]] = {name: [] for name in (BARE, *BUDGETS)}
    for number in range(runs + 2):
        for name, times in taken.items():
            command = bare if name == BARE else [*HOOK, name]
            times.append(run(command, told(name, f"{name}-{number}", folder)))
    return {name: times[2:] for name, times in taken.items()}


def show(taken: dict[str, list[float]], *, what: str) -> None:
    print(f"\n{what:<24}{'p50':>8}{'p95':>8}{'p50 above':>12}{'p95 above':>12}{'budget':>9}")
    bare_50, bare_95 = quantiles(taken[BARE])
    for name, times in taken.items():
        middle, late = quantiles(times)
        print(
            f"{name:<24}{middle:>8.0f}{late:>8.0f}{middle - bare_50:>12.0f}{late - bare_95:>12.0f}"
            f"{BUDGETS.get(name, ''):>9}"
        )


def show_clients(work: Path) -> None:
    """What Claude Code says in its debug logs."""
    for client in sorted(work.glob("claude*")):
        taken: dict[str, list[float]] = {}
        for log in client.glob("out/*/debug.log"):
            for event, milliseconds in FINISHED.findall(log.read_text(errors="replace")):
                taken.setdefault(event, []).append(float(milliseconds))
        for event, times in taken.items():
            if len(times) > 1:
                middle, late = quantiles(times)
                print(f"{client.name} {event:<24} n {len(times):>4}  p50 {middle:>5.0f}  p95 {late:>5.0f}")


def quantiles(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--insights", type=int, default=1000)
    parser.add_argument("--clients", type=Path, help="a folder of `make agents`; its own times are shown too")
    given = parser.parse_args()
    adopt_orphans()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ |= {"HELIX_DIR": str(folder / ".helix"), "XDG_STATE_HOME": str(folder / "state")}
        os.environ["HOME"] = place  # no logs of this machine's agents are looked for in the background
        begin(folder / ".helix")
        fill(folder / ".helix", episodes=given.episodes, insights=given.insights)
        taken = time_events(folder, runs=given.runs)
    for name in ANSWERED:
        silent = sum(not one.said for one in taken[name])
        if silent:
            print(f"{name}: nothing was said in {silent} of {given.runs} runs; what it takes is not what is shown")
    show({name: [one.clock for one in times] for name, times in taken.items()}, what="ms by the clock")
    if sys.platform == "linux":
        show({name: [one.processor for one in times] for name, times in taken.items()}, what="ms of the processor")
    if given.clients:
        show_clients(given.clients)
    print(f"\nload of the machine in the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
