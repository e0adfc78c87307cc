"""How long the page of a graph takes: to build, and in the browser until it can be used.

    python benchmarks/view.py [--nodes N] [--chromium PATH]

*Build*: `helix-graph view` on a generated memory of N labels (2,000 without the option), in a process that has loaded
the library, and as a whole cold process. Wanted: under 2 seconds. *Use*: from the navigation in headless Chromium until
the page has drawn and answers, once with groups as it opens and once with every label (``#all``). Wanted: under 2
seconds. Each is the middle of three, by the clock and by the processor (of the browser: its main thread's), since other
work on the machine multiplies what the clock says; Chromium itself has started before either begins.
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
from pathlib import Path
from typing import TYPE_CHECKING

from generated import write_episodes

from browser import CHROMIUM, PATIENCE, open_browser
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

RUNS = 3


def middle(work: Callable[[], float]) -> str:
    """The middle of some runs in milliseconds: by the clock, and what ``work`` says of the processor."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        busy = work()
        taken.append((time.perf_counter() - start, busy))
    clock, busy = (1000 * statistics.median(column) for column in zip(*taken, strict=True))
    return f"{clock:6.0f} ms, {busy:6.0f} of the processor"


def make_memory(folder: Path, nodes: int) -> Memory:
    """A memory of at least so many labels; the page takes the most frequent of them."""
    memory = Memory.init(folder)
    write_episodes(memory.graph.episodes, count=nodes // 4)
    memory.graph.compile()
    return memory


def warm(memory: Memory, page: Path, nodes: int) -> float:
    before = time.process_time()
    memory.view(output=page, max_nodes=nodes)
    return time.process_time() - before


def cold(memory: Memory, page: Path, nodes: int) -> float:
    command = [sys.executable, "-m", "helix_cli", "view", "--output", str(page), "--max-nodes", str(nodes)]
    before = children()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "HELIX_DIR": str(memory.root)})
    return children() - before


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def once(browser: Browser, page: Path, mark: str) -> float:
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.set_default_timeout(PATIENCE)
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable")
    tab.goto(page.as_uri() + mark)
    tab.wait_for_selector("body[data-ready]")
    # Two frames later the first picture is on the screen and the next event is answered.
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    tab.close()
    return float(metrics["ThreadTime"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", type=int, default=2000)
    options.add_argument("--chromium", type=Path, default=CHROMIUM)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory, page = make_memory(Path(folder), given.nodes), Path(folder) / "page.html"
        report = memory.view(output=page, max_nodes=given.nodes)
        print(f"{report.nodes} labels, {report.edges} edges, {report.bytes / 1e6:.1f} MB")
        print("build, warm     ", middle(lambda: warm(memory, page, given.nodes)))
        print("build, cold     ", middle(lambda: cold(memory, page, given.nodes)))
        with open_browser(given.chromium) as browser:
            print("use, groups     ", middle(lambda: once(browser, page, "")))
            print("use, every label", middle(lambda: once(browser, page, "#all")))


if __name__ == "__main__":
    main()
