"""Whether extraction's time and memory grow with a log's length and no faster.

    python benchmarks/growth.py [--log FILE] [--times 1,4,16] [--size MB] [--runs N]

One session is repeated 1, 4 and 16 times into one log, each copy with ids of its own, as a session that went on and
on would be written; then until it has ``--size`` megabytes. Without ``--log`` two sessions are taken: a generated one
that is made of nothing but failures and repairs, which is the worst for links and fixes, and of the Claude Code
corpus (where it is) the largest log. Each measurement is a process of its own, so that its peak memory is only its
own.

Printed for each length: the least processor time of N runs, how many times as long that is as orjson needs to parse
the same lines (wanted: at most 10), seconds for each megabyte (the same at every length when growth is linear), the
peak memory and how much of it a bare interpreter with the library loaded takes. The 50 MB session is wanted under 300
MB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "claude-code" / "sessions"
MEGABYTE = 1_000_000
#: Fields by which records and calls are told apart.
IDENTITIES = ("uuid", "parentUuid", "sourceToolAssistantUUID", "id", "tool_use_id", "messageId")
FAILS = (
    "FAILED tests/test_cart.py::test_total - AssertionError: assert 2 == 3\n===== 1 failed, 40 passed in 0.12s ====="
)
PASSES = "===== 41 passed in 0.10s ====="


def generated() -> Iterator[dict[str, Any]]:
    """A prompt and twenty rounds of read, edit, failure, edit, pass; every round about another file.

    In real logs most bytes are files that were read: the largest of the corpus has 36 kB for each decision.
    """
    yield record({"role": "user", "content": "Fix the cart"}, kind="user", number=0)
    source = "".join(f"    {line}: total = rounded(price, digits=2)\n" for line in range(1500))
    for number in range(20):
        path = f"/work/shop/cart{number}.py"
        edit = {"file_path": path, "old_string": "a = 1", "new_string": f"a = {number}\n" * 40}
        yield from call(10 * number + 1, "Read", {"file_path": path}, source)
        yield from call(10 * number + 3, "Edit", edit, "The file has been updated successfully.")
        yield from call(10 * number + 5, "Bash", {"command": f"pytest tests/{number}"}, FAILS, failed=True)
        yield from call(10 * number + 7, "Edit", edit, "The file has been updated successfully.")
        yield from call(10 * number + 9, "Bash", {"command": f"pytest tests/{number}"}, PASSES)


def call(
    number: int, tool: str, arguments: dict[str, Any], output: str, *, failed: bool = False
) -> Iterator[dict[str, Any]]:
    use = {"type": "tool_use", "id": f"call-{number}", "name": tool, "input": arguments}
    message = {"role": "assistant", "id": f"message-{number}", "model": "generated", "content": [use]}
    yield record(message, kind="assistant", number=number)
    result = {"type": "tool_result", "tool_use_id": f"call-{number}", "content": output, "is_error": failed}
    yield record({"role": "user", "content": [result]}, kind="user", number=number + 1)


def record(message: dict[str, Any], *, kind: str, number: int) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"line-{number}",
        "parentUuid": f"line-{number - 1}" if number else None,
        "timestamp": "2026-03-02T09:00:00.000Z",
        "sessionId": "generated",
        "cwd": "/work/shop",
        "version": "2.1.0",
        "isSidechain": False,
        "message": message,
    }


def read(log: Path) -> list[dict[str, Any]]:
    """The records of a log that are JSON objects; damaged lines would be as damaged in every copy."""
    found = []
    for line in log.read_bytes().splitlines():
        try:
            found.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            continue
    return [one for one in found if isinstance(one, dict)]


def renamed(value: Any, copy: int) -> Any:  # noqa: ANN401  (any JSON)
    """A record with ids that no other copy has."""
    if isinstance(value, list):
        return [renamed(part, copy) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{part}~{copy}" if name in IDENTITIES and isinstance(part, str) else renamed(part, copy)
        for name, part in value.items()
    }


def repeat(records: list[dict[str, Any]], path: Path, *, times: int) -> Path:
    with path.open("wb") as log:
        for copy in range(times):
            for one in records:
                log.write(orjson.dumps(renamed(one, copy)) + b"\n")
    return path


def measure(log: Path) -> dict[str, float]:
    """In this process: the peak memory with the library loaded and after extraction, and the time it took."""
    from helix_episodes.extraction.pipeline import extract
    from helix_episodes.readers import read_sessions

    loaded = peak()
    start = time.process_time()
    decisions = sum(len(extract(session).decisions) for session in read_sessions(log))
    return {"seconds": time.process_time() - start, "loaded": loaded, "peak": peak(), "decisions": decisions}


def peak() -> float:
    """Megabytes. Linux's getrusage also counts the parent's before this program was loaded, its own status does not."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / MEGABYTE
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS counts in bytes
    return most / MEGABYTE


def bare(log: Path) -> float:
    """Seconds that parsing every line takes, the lines being read already."""
    lines = log.read_bytes().splitlines()
    start = time.process_time()
    for line in lines:
        orjson.loads(line)
    return time.process_time() - start


def in_a_process(log: Path, *, runs: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", str(log)]
    found = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(runs)]
    return min(found, key=lambda one: one["seconds"])


def report(name: str, records: list[dict[str, Any]], *, times: list[int], size: float, runs: int) -> None:
    once = sum(len(orjson.dumps(one)) + 1 for one in records) / MEGABYTE
    print(f"\n{name} ({once:.2f} MB, {len(records)} lines; least of {runs} runs)")
    columns = ("MB", "seconds", "of parse", "s/MB", "peak MB", "loaded", "decisions")
    print(f"{'':>8}" + "".join(f"{name:>10}" for name in columns))
    with tempfile.TemporaryDirectory() as folder:
        for copies in [*times, max(1, round(size / once))]:
            log = repeat(records, Path(folder) / "session.jsonl", times=copies)
            long = log.stat().st_size / MEGABYTE
            least = min(bare(log) for _ in range(runs))
            got = in_a_process(log, runs=runs)
            print(
                f"{copies:>7}x{long:>10.1f}{got['seconds']:>10.2f}{got['seconds'] / least:>10.1f}"
                f"{got['seconds'] / long:>10.3f}{got['peak']:>10.0f}{got['loaded']:>10.0f}{got['decisions']:>10.0f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--times", type=lambda text: [int(part) for part in text.split(",")], default=[1, 4, 16])
    parser.add_argument("--size", type=float, default=50.0, metavar="MB")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    real = options.log or max(CORPUS.glob("*.jsonl"), key=lambda log: log.stat().st_size, default=None)
    if options.log is None:
        report("generated", list(generated()), times=options.times, size=options.size, runs=options.runs)
    if real is not None:
        report(real.name, read(real), times=options.times, size=options.size, runs=options.runs)


if __name__ == "__main__":
    main()
