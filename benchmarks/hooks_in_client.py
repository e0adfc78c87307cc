"""What our hooks take within Claude Code itself, beside a bare interpreter as a second hook of the same events.

    python benchmarks/hooks_in_client.py [--sessions N] [--work FOLDER] [--harness FOLDER]

It needs the home and project that ``make agents CLIENTS=claude`` left in ``build/agents/work``, and the harness in
``../shared/agents-harness``. The session in which a known error is met again is played N times; the times are those
that Claude Code writes into its debug log. Both hooks of an event run side by side, so each slows the other: on an
idle machine with two processors that is as near as a client lets one see.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
BARE = f"{sys.executable} -c pass"
FINISHED = re.compile(r"Hooks: (\w+)[^\[]*\[([^\]]*)\] finished with status 0 \((\d+)ms\)")


def with_bare_hooks(settings: str) -> str:
    """The settings with a bare interpreter as one more hook wherever there is one of ours."""
    read = json.loads(settings)
    for groups in read["hooks"].values():
        for group in groups:
            group["hooks"].append({"type": "command", "command": BARE, "timeout": 5})
    return json.dumps(read)


def play(client: Path, harness: Path, number: int) -> str:
    """Plays the session once more; the client's debug log."""
    sys.path.insert(0, str(harness))
    sessions, running = import_module("sessions"), import_module("run_client")
    project, out = client / "project", client / "out" / f"hooks-{number}"
    for words in (("checkout", "-q", "."), ("clean", "-fdq", "-e", ".helix")):
        subprocess.run(["git", *words], cwd=project, check=True)  # noqa: S607  (the git of the PATH, as everywhere)
    told = json.dumps(json.loads(sessions.session("again", "claude", project)))
    running.run("claude", told, project, client / "home", out, [str(Path(sys.executable).parent)], 120)
    return (out / "debug.log").read_text(errors="replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sessions", type=int, default=12)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "agents" / "work")
    parser.add_argument("--harness", type=Path, default=ROOT.parent / "shared" / "agents-harness")
    given = parser.parse_args()
    client = given.work.resolve() / "claude"
    settings = client / "home" / ".claude" / "settings.json"
    if not settings.exists():
        print(f"{settings} is not there: `make agents CLIENTS=claude` makes it")
        return
    os.environ.setdefault("CLIENTS_NPM", str(client.parents[1] / "npm"))
    kept, taken = settings.read_text(), dict[tuple[str, bool], list[int]]()
    settings.write_text(with_bare_hooks(kept))
    try:
        for number in range(given.sessions):
            for event, command, milliseconds in FINISHED.findall(play(client, given.harness.resolve(), number)):
                taken.setdefault((event, command == BARE), []).append(int(milliseconds))
    finally:
        settings.write_text(kept)
    heads = ("n", "bare p50", "p95", "ours p50", "p95", "above p50", "p95")
    print(f"{'ms by the clock':<20}" + "".join(f"{head:>10}" for head in heads))
    for event in sorted({event for event, _ in taken}):
        bare, ours = (quantiles(taken[event, is_bare]) for is_bare in (True, False))
        above = [one - other for one, other in zip(ours, bare, strict=True)]
        figures = (len(taken[event, False]), *bare, *ours, *above)
        print(f"{event:<20}" + "".join(f"{one:>10.0f}" for one in figures))
    print(f"load of the machine in the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def quantiles(times: list[int]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


if __name__ == "__main__":
    main()
