"""The pictures of the documentation, made anew from the example logs: docs/images.

    python benchmarks/pictures.py [--chromium PATH]

A graph with an error chosen, a path in the dark theme, a failed session with its first suspect, and what `explain` and
`patterns` print on a terminal. Look at them before they are committed.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from browser import CHROMIUM, open_browser
from demo_logs import demo_memory_in
from pseudo_terminal import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page, ViewportSize

    from helix_graph import Memory

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE: ViewportSize = {"width": 1200, "height": 700}
#: Columns of the terminal, and the width of one in pixels.
COLUMNS, COLUMN = 104, 8.45


def pages(browser: Browser, memory: Memory, folder: Path) -> None:
    graph, path, session = (folder / f"view-{name}.html" for name in ("graph", "path", "session"))
    memory.view(output=graph)
    shoot(browser, graph, look=_search)
    memory.view(output=path, source="ruff fails: E501", target="success")
    shoot(browser, path, scheme="dark")
    memory.view(output=session, episode=memory.episodes.list(outcome="failure")[0].session)
    shoot(browser, session, look=lambda tab: tab.click("#timeline .links button >> nth=0"))


def _search(tab: Page) -> None:
    tab.fill("#search", "pytest fails: AssertionError")
    tab.keyboard.press("Enter")


def shoot(
    browser: Browser,
    page: Path,
    *,
    scheme: Literal["light", "dark"] = "light",
    look: Callable[[Page], object] = lambda _: None,
) -> None:
    tab = browser.new_page(viewport=SIZE, color_scheme=scheme)
    tab.goto(page.as_uri())
    tab.wait_for_selector("body[data-ready]")
    look(tab)
    tab.mouse.move(1, 1)
    tab.evaluate("() => { document.activeElement.blur(); document.getElementById('timeline').scrollTop = 0; }")
    tab.wait_for_timeout(500)  # until the last line is drawn
    tab.screenshot(path=IMAGES / f"{page.stem}.png")
    tab.close()


def terminal(browser: Browser, memory: Memory, folder: Path) -> None:
    failed = memory.episodes.list(outcome="failure")[0].session
    sheet = Console(record=True, width=COLUMNS, file=(folder / "nothing").open("w"), force_terminal=True)
    for asked in (("explain", failed), ("patterns", "--min-occurrences", "5")):
        told = on_terminal(*asked, columns=COLUMNS, cwd=folder, HELIX_DIR=str(memory.root), COLORTERM="truecolor")
        sheet.print(Text.assemble(("$ ", "dim"), " ".join(("helix-graph", *asked))))
        sheet.print(Text.from_ansi(told))
    (folder / "terminal.html").write_text(sheet.export_html(theme=MONOKAI, inline_styles=True), encoding="utf-8")
    tab = browser.new_page(viewport={"width": round(COLUMNS * COLUMN) + 16, "height": 400})
    tab.goto((folder / "terminal.html").as_uri())
    tab.screenshot(path=IMAGES / "terminal.png", full_page=True)
    tab.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--chromium", type=Path, default=CHROMIUM)
    with tempfile.TemporaryDirectory() as name, open_browser(options.parse_args().chromium) as browser:
        folder = Path(name) / "papershop"
        folder.mkdir()
        memory = demo_memory_in(folder)
        pages(browser, memory, folder)
        terminal(browser, memory, folder)
    print(*(f"{picture.stat().st_size:>8} {picture.name}" for picture in sorted(IMAGES.glob("*.png"))), sep="\n")


if __name__ == "__main__":
    main()
