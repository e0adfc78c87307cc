"""The pictures of the documentation (docs/images), and one of every tab to look at, made anew from the example logs.

    python benchmarks/pictures.py [--all DIR [--memory DIR]] [--chromium PATH]

Without an option: the issues, a failed session, a graph in the dark theme, a report, and what `explain` and
`issues` print on a terminal. With ``--all`` every tab of the example logs' page, or of another memory's, as a desk and
a phone show it, by day and by night. Look at them before they are committed.
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
from helix_cli.output import short_id
from helix_graph import Memory
from pseudo_terminal import on_terminal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
#: In the documentation a picture is as wide as its text.
PAGE: ViewportSize = {"width": 1200, "height": 760}
#: Columns of the terminal, and the width of one in pixels.
COLUMNS, COLUMN = 80, 8.45
Scheme = Literal["light", "dark"]


def shoot(
    browser: Browser,
    page: Path,
    picture: Path,
    *,
    address: str = "",
    size: ViewportSize = PAGE,
    scheme: Scheme = "light",
) -> None:
    """One view of a page as a picture."""
    tab = browser.new_page(viewport=size, color_scheme=scheme)
    tab.goto(page.as_uri() + address)
    tab.wait_for_selector("body[data-ready], body:not(:has(script))")
    tab.evaluate("() => document.activeElement.blur()")
    tab.wait_for_timeout(300)  # until the last line is drawn
    tab.screenshot(path=picture)
    tab.close()


def shop_in(folder: Path) -> Memory:
    """The memory of the example logs."""
    (folder / "papershop").mkdir()
    return demo_memory_in(folder / "papershop", generated=True)


def failed_session(memory: Memory) -> str:
    """A session to look at: the newest that failed, else the newest."""
    return (memory.episodes.list(outcome="failure") or memory.episodes.list())[0].session


def documentation(browser: Browser, folder: Path) -> None:
    """The pictures that README and docs show."""
    memory = shop_in(folder)
    page, report = folder / "view.html", folder / "report.html"
    memory.view(output=page)
    memory.report(output=report)
    shoot(browser, page, IMAGES / "view-issues.png")
    shoot(browser, page, IMAGES / "view-session.png", address=f"#sessions/{failed_session(memory)}")
    shoot(browser, page, IMAGES / "view-graph.png", address="#graph", scheme="dark")
    shoot(browser, report, IMAGES / "report.png")
    terminal(browser, memory, folder)


def terminal(browser: Browser, memory: Memory, folder: Path) -> None:
    """What two commands print."""
    sheet = Console(record=True, width=COLUMNS, file=(folder / "nothing").open("w"), force_terminal=True)
    for asked in (("issues", "--limit", "4"), ("explain", short_id(failed_session(memory)))):
        told = on_terminal(*asked, columns=COLUMNS, cwd=folder, HELIX_DIR=str(memory.root), COLORTERM="truecolor")
        sheet.print(Text.assemble(("$ ", "dim"), " ".join(("helix-graph", *asked))))
        sheet.print(Text.from_ansi(told))
    (folder / "terminal.html").write_text(sheet.export_html(theme=MONOKAI, inline_styles=True), encoding="utf-8")
    tab = browser.new_page(viewport={"width": round(COLUMNS * COLUMN) + 16, "height": 400})
    tab.goto((folder / "terminal.html").as_uri())
    tab.screenshot(path=IMAGES / "terminal.png", full_page=True)
    tab.close()


def every_tab(browser: Browser, memory: Memory, pictures: Path, folder: Path) -> None:
    """Every kind of view, on a desk and on a phone, by day and by night."""
    pictures.mkdir(parents=True, exist_ok=True)
    page, report = folder / "all.html", folder / "report.html"
    memory.view(output=page)
    memory.report(output=report)
    addresses = {name: f"#{name}" for name in ("issues", "places", "rules", "sessions", "graph")}
    addresses["session"] = f"#sessions/{failed_session(memory)}"
    addresses["compare"] = f"#sessions/{failed_session(memory)}?with="
    for issue in memory.issues.list(limit=1).issues:
        addresses["issue"] = f"#issues/{issue.id}"
    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        for kind, size in (("desk", DESK), ("phone", PHONE)):
            for name, address in addresses.items():
                shoot(
                    browser, page, pictures / f"{name}-{kind}-{scheme}.png", address=address, size=size, scheme=scheme
                )
            shoot(browser, report, pictures / f"report-{kind}-{scheme}.png", size=size, scheme=scheme)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--all", type=Path, metavar="DIR")
    options.add_argument("--memory", type=Path, metavar="DIR")
    options.add_argument("--chromium", type=Path, default=CHROMIUM)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name, open_browser(given.chromium) as browser:
        folder = Path(name)
        if given.all is None:
            documentation(browser, folder)
            print(
                *(f"{picture.stat().st_size:>8} {picture.name}" for picture in sorted(IMAGES.glob("*.png"))), sep="\n"
            )
        else:
            memory = Memory(given.memory) if given.memory else shop_in(folder)
            every_tab(browser, memory, given.all, folder)


if __name__ == "__main__":
    main()
