"""Headless Chromium for tests and measurements of pages: the system's own, started so that it asks nobody anything."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Dialog, Page, ViewportSize

CHROMIUM = Path("/usr/bin/chromium")
#: Milliseconds: a machine on which many tests run at once takes many times as long.
PATIENCE = 120_000
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
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(_QUIET))
        yield browser
        browser.close()


class Tab:
    """One open page of ours, with all that it said and asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._listeners: dict[str, Callable[..., None]] = {
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "request": lambda request: self.requests.append(request.url),
            "dialog": self._refuse,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)  # type: ignore[call-overload]  # one overload for each name of an event

    def leave(self) -> None:
        """Makes the browser's page as if it had never been used."""
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self.page.goto("about:blank")

    def _refuse(self, dialog: Dialog) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def text(self, selector: str) -> str:
        """What stands in an element, as it is read."""
        return self.page.locator(selector).inner_text()

    def keys(self, *keys: str) -> None:
        """Presses keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, address: str) -> None:
        """Follows an address of the page, and waits until it is shown."""
        before = self.page.get_attribute("body", "data-ready")
        self.page.evaluate("(address) => { location.hash = address; }", address)
        self.page.wait_for_function("(before) => document.body.dataset.ready !== before", arg=before)

    def follow(self, selector: str) -> None:
        """Clicks a link of the page, and waits until it is shown."""
        before = self.page.get_attribute("body", "data-ready")
        self.page.locator(selector).first.click()
        self.page.wait_for_function("(before) => document.body.dataset.ready !== before", arg=before)


#: Pages that nobody uses now, of each browser: a new one costs three times as much as another load.
_FREE: WeakKeyDictionary[Browser, list[Page]] = WeakKeyDictionary()


@contextmanager
def open_tab(
    browser: Browser,
    path: Path,
    *,
    mark: str = "",
    ready: str = "body[data-ready]",
    viewport: ViewportSize | None = None,
    color_scheme: Literal["light", "dark"] = "light",
) -> Iterator[Tab]:
    """A page that is ready, as a selector says; it must complain about nothing and ask for nothing but itself."""
    free = _FREE.setdefault(browser, [])
    page = free.pop() if free else browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size(viewport or {"width": 1440, "height": 900})
    # Pages are used again: one that was printed would stay so, and its filters hidden.
    page.emulate_media(media="screen", color_scheme=color_scheme)
    tab = Tab(page)
    address = path.as_uri() + mark
    page.goto(address)
    page.wait_for_selector(ready)
    yield tab
    shown = page.inner_text("body")
    tab.leave()
    free.append(page)
    assert "[object" not in shown
    assert "undefined" not in shown.replace("undefined name", "")
    assert tab.complaints == []
    assert set(tab.requests) == {address}
