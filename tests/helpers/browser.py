"""Headless Chromium for tests and measurements of pages: the system's own, started so that it asks nobody anything."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CHROMIUM = Path("/usr/bin/chromium")
#: Without these Chromium looks for its maker's hosts at every start. CI runs as root, where it has no sandbox.
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def open_browser(chromium: Path = CHROMIUM) -> Iterator[Browser]:
    """A running Chromium."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (not on every machine)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(_QUIET))
        yield browser
        browser.close()
