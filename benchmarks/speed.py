"""How long reading and extraction take, beside orjson's bare parse of the same bytes.

    python benchmarks/speed.py [--corpus NAME]... [--runs N] [--shares]

Every log of a corpus that a reader knows and that is not sealed is read once and extracted once, in a process of its
own, since what was read before would be remembered; the expressions are compiled within it, which weighs on small
corpora. Right after each log the same process parses its bytes with orjson, line by line where it holds a record a
line, so that a machine that other work shares slows both alike. All times are the processor's. Of N runs the one with
the least ratio is printed: n (logs and sessions), milliseconds for each megabyte of orjson, of the reader and of
extraction, and reader and extraction together in times orjson (wanted for logs of events: at most 12) and in
milliseconds for 10 kB (wanted for prose: at most 10).

``--shares`` asks every few milliseconds which stage of extraction is at work and prints the share of each, n being
how often it asked.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson
from sealed_sessions import open_logs
from tallies import CORPORA

from helix_episodes.errors import HelixGraphError
from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from helix_episodes.workers import collecting_rarely

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

NAMES = ("claude-code", "agent-transcripts", "tau-bench", "trajectories", "ai-agents", "who-and-when")
MEGABYTE = 1_000_000
#: A share below this is told together with the others.
SMALLEST_SHARE = 0.02


def measure(name: str, stages: Counter[str] | None = None) -> dict[str, float]:
    """Seconds of the processor, over all logs of one corpus; cycles are looked for as seldom as ingestion does."""
    found = {"logs": 0.0, "sessions": 0.0, "bytes": 0.0, "parse": 0.0, "read": 0.0, "extract": 0.0}
    if stages is not None:
        sample(stages)
    with collecting_rarely():
        for log in open_logs(name):
            for part, amount in measure_log(log).items():
                found[part] += amount
    if stages is not None:
        signal.setitimer(signal.ITIMER_PROF, 0)  # before the interpreter ends and nobody takes the signal
    return found


def measure_log(log: Path) -> dict[str, float]:
    """The same of one log; nothing where no reader knows it."""
    start = time.process_time()
    try:
        sessions = read_sessions(log)
    except HelixGraphError:
        return {}
    read = time.process_time()
    for session in sessions:
        extract(session)
    end = time.process_time()
    data = log.read_bytes()
    took = {"parse": bare(data, log), "read": read - start, "extract": end - read}
    return took | {"logs": 1, "sessions": len(sessions), "bytes": len(data)}


def bare(data: bytes, log: Path) -> float:
    """Seconds that parsing takes, once more warm than cold: the bytes were read just before."""
    texts = data.splitlines() if log.suffix == ".jsonl" else [data]
    start = time.process_time()
    for text in texts:
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            continue
    return time.process_time() - start


def sample(stages: Counter[str]) -> None:
    """Enters the stage at work into ``stages``, as often as the machine's clock allows."""

    def enter(_: int, frame: FrameType | None) -> None:
        stage = stage_of(frame)
        if stage is not None:
            stages[stage] += 1

    signal.signal(signal.SIGPROF, enter)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)


def stage_of(frame: FrameType | None) -> str | None:
    """The function that `extract` called; None outside of it."""
    called = "extract"
    for name in callers(frame):
        if name == "extract":
            return called
        called = name
    return None


def callers(frame: FrameType | None) -> Iterator[str]:
    while frame:
        yield frame.f_code.co_name
        frame = frame.f_back


def in_a_process(*options: str) -> dict[str, Any]:
    command = [sys.executable, __file__, *options]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def report(name: str, *, runs: int) -> None:
    one = min((in_a_process("--measure", name) for _ in range(runs)), key=ratio)
    size = one["bytes"] / MEGABYTE
    print(
        f"{name:>18}{one['logs']:>6.0f}{one['sessions']:>6.0f}{size:>7.2f}"
        + "".join(f"{1000 * one[part] / size:>9.1f}" for part in ("parse", "read", "extract"))
        + f"{ratio(one):>10.1f}{10 * (one['read'] + one['extract']) / size:>10.1f}"
    )


def ratio(one: dict[str, float]) -> float:
    return (one["read"] + one["extract"]) / one["parse"]


def report_shares(name: str) -> None:
    stages = Counter(in_a_process("--sample", name))
    told = {stage: count / stages.total() for stage, count in stages.most_common()}
    large = {stage: share for stage, share in told.items() if share >= SMALLEST_SHARE}
    parts = [f"{stage} {share:.0%}" for stage, share in large.items()]
    print(f"{name:>18}  {', '.join(parts)}, others {1 - sum(large.values()):.0%} (n = {stages.total()})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", choices=NAMES)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--shares", action="store_true")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--sample", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
    elif options.sample:
        stages: Counter[str] = Counter()
        measure(options.sample, stages)
        print(json.dumps(stages))
    else:
        show(options.corpus or list(NAMES), runs=options.runs, shares=options.shares)


def show(names: list[str], *, runs: int, shares: bool) -> None:
    here = [name for name in names if (CORPORA / name).is_dir()]
    print(f"{'ms a MB':>18}{'logs':>6}{'n':>6}{'MB':>7}{'orjson':>9}{'reader':>9}{'extract':>9}", end="")
    print(f"{'of orjson':>10}{'ms/10 kB':>10}")
    for name in here:
        report(name, runs=runs)
    for name in here if shares else ():
        report_shares(name)


if __name__ == "__main__":
    main()
