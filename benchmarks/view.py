"""How large the page of a memory is, how long it takes to build, and until it can be used in a browser.

    python benchmarks/view.py [--sessions N] [--chromium PATH]

On a memory of N sessions (10,000 without the option), made of the demo's sessions with other names and days, and the
demo's two rules. Wanted:
under 15 MB, built in under 10 seconds, used in under 2. *Use*: from the navigation in headless Chromium until the page
has drawn and answers. Each is the middle of three, by the clock and by the processor (of the browser: its main
thread's), since other work on the machine multiplies what the clock says.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from datetime import timedelta
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from browser import CHROMIUM, PATIENCE, open_browser
from helix_cli.commands.demo import write_rules
from helix_episodes.model import CommandRun, Decision, Episode, Event, parse_timestamp
from helix_episodes.store import encode_episode
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

RUNS = 3
#: All sessions lie within as many days.
DAYS = 700


def middle(work: Callable[[], float]) -> str:
    """The middle of some runs in milliseconds: by the clock, and what ``work`` says of the processor."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        busy = work()
        taken.append((time.perf_counter() - start, busy))
    clock, busy = (1000 * statistics.median(column) for column in zip(*taken, strict=True))
    return f"{clock:6.0f} ms, {busy:6.0f} of the processor"


def make_memory(folder: Path, sessions: int) -> Memory:
    """A memory of so many sessions, compiled."""
    sample = Memory.init(folder / "sample")
    with as_file(files("helix_cli") / "demo") as demo:
        sample.extract([demo])
    known = sample.episodes.list(max_results=None)
    memory = Memory.init(folder / "large")
    write_rules(folder / "large")
    memory.graph.episodes.mkdir(parents=True)
    for number in range(sessions):
        one = known[number % len(known)]
        name = f"{number:06}-{one.session[:13]}"
        task = f"{one.task} ({number})"
        episode = moved(one, timedelta(days=-DAYS * number / sessions))
        episode = replace(episode, id=f"episode-{name}", session=name, task=task)
        if one.provenance is not None:
            episode = replace(episode, provenance=replace(one.provenance, first=name, last=name))
        (memory.graph.episodes / f"{episode.id}.json").write_bytes(encode_episode(episode))
    memory.graph.compile()
    return memory


Moved = TypeVar("Moved", Decision, Event, CommandRun, Episode)


def at_another_time(one: Moved, delta: timedelta) -> Moved:
    at = parse_timestamp(one.timestamp)
    return one if at is None else replace(one, timestamp=(at + delta).isoformat())


def moved(episode: Episode, delta: timedelta) -> Episode:
    """The episode at another time, with all that is in it: what has the same time and words is counted as a copy."""
    return replace(
        at_another_time(episode, delta),
        decisions=tuple(at_another_time(one, delta) for one in episode.decisions),
        events=tuple(at_another_time(one, delta) for one in episode.events),
        runs=tuple(at_another_time(one, delta) for one in episode.runs),
    )


def build(memory: Memory, page: Path) -> float:
    before = time.process_time()
    memory.view(output=page)
    return time.process_time() - before


def use(browser: Browser, page: Path, address: str) -> float:
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.set_default_timeout(PATIENCE)
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable")
    tab.goto(page.as_uri() + address)
    tab.wait_for_selector("body[data-ready]")
    # Two frames later the first picture is on the screen and the next event is answered.
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    tab.close()
    return float(metrics["ThreadTime"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sessions", type=int, default=10_000)
    options.add_argument("--chromium", type=Path, default=CHROMIUM)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory, page = make_memory(Path(folder), given.sessions), Path(folder) / "page.html"
        print("build        ", middle(lambda: build(memory, page)))
        report = memory.view(output=page)
        print(
            f"{report.sessions} sessions, {report.traces} traces, {report.issues} issues, {report.bytes / 1e6:.1f} MB"
        )
        with open_browser(given.chromium) as browser:
            for address in ("#issues", "#places", "#sessions", "#graph"):
                print(f"{address:<13}", middle(lambda at=address: use(browser, page, at)))  # type: ignore[misc]


if __name__ == "__main__":
    main()
