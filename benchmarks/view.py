"""How long the page of a graph takes: to build, and in the browser until it can be used.

    python benchmarks/view.py [--nodes N] [--chromium PATH]

*Build*: `helix-graph view` on a generated memory of N labels (2,000 without the option), in a process that has loaded
the library, and as a whole cold process. Wanted: under 2 seconds. *Use*: from the navigation in headless Chromium until
the page has drawn and answers, once with groups as it opens and once with every label (``#all``). Wanted: under 2
seconds. Each is the middle of five; Chromium itself has started before the clock does.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from generated import write_episodes

from browser import CHROMIUM, open_browser
from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5


def middle(work: Callable[[], object]) -> float:
    """The middle of some runs, in milliseconds."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def make_memory(folder: Path, nodes: int) -> Memory:
    """A memory of at least so many labels; the page takes the most frequent of them."""
    memory = Memory.init(folder)
    write_episodes(memory.graph.episodes, count=nodes // 4)
    memory.graph.compile()
    return memory


def cold(memory: Memory, page: Path, nodes: int) -> None:
    command = [sys.executable, "-m", "helix_cli", "view", "--output", str(page), "--max-nodes", str(nodes)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "HELIX_DIR": str(memory.root)})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", type=int, default=2000)
    options.add_argument("--chromium", type=Path, default=CHROMIUM)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory, page = make_memory(Path(folder), given.nodes), Path(folder) / "page.html"
        report = memory.view(output=page, max_nodes=given.nodes)
        print(f"{report.nodes} labels, {report.edges} edges, {report.bytes / 1e6:.1f} MB")
        print(f"build, warm      {middle(lambda: memory.view(output=page, max_nodes=given.nodes)):6.0f} ms")
        print(f"build, cold      {middle(lambda: cold(memory, page, given.nodes)):6.0f} ms")
        use(page, given.chromium)


def use(page: Path, chromium: Path) -> None:
    with open_browser(chromium) as browser:
        for words, mark in (("groups", ""), ("every label", "#all")):
            print(f"use, {words:12}{middle(lambda: once(browser, page, mark)):6.0f} ms")  # noqa: B023  (used at once)


def once(browser: object, page: Path, mark: str) -> None:
    tab = browser.new_page(viewport={"width": 1440, "height": 900})  # type: ignore[attr-defined]  # playwright is not on every machine
    tab.goto(page.as_uri() + mark)
    tab.wait_for_selector("body[data-ready]")
    # Two frames later the first picture is on the screen and the next event is answered.
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    tab.close()


if __name__ == "__main__":
    main()
