"""Can a label or a text of a log run, break the page, or call anyone?"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import zlib
from typing import TYPE_CHECKING

import msgspec
import pytest

from browser import PATIENCE, open_tab
from helix_episodes.model import Event, Evidence, Link
from hostile_texts import HOSTILE
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from helix_graph import Memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A session of hostile errors, in every field that a page shows, linked so that edges are hostile too."""
    events = tuple(
        Event(
            id=f"e{place:03}",
            timestamp="2026-03-01T10:00:00Z",
            type="error",
            content=text,
            check=f"check{place}",
            family=text[:200],
            message=text,
            status="error",
            evidence=Evidence(line=place, quote=text[:240]),
        )
        for place, text in enumerate(HOSTILE, 1)
    )
    one = session("hostile", "run lint", success=False, task="<b onclick=alert(6)>".join(HOSTILE))
    fields = {"events": events, "project": HOSTILE[1], "lessons": HOSTILE}
    links = tuple(
        Link(source=first.id, target=second.id, reason="stated") for first, second in itertools.pairwise(events)
    )
    folder = tmp_path_factory.mktemp("hostile")
    return memory_of(folder, [msgspec.structs.replace(one, **fields, links=links)], compiled=True)


@pytest.fixture(scope="module")
def hostile_page(memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "view.html"
    memory.view(output=path)
    return path


def test_everything_hostile_is_shown_and_nothing_of_it_runs(browser: Browser, hostile_page: Path) -> None:
    with open_tab(browser, hostile_page) as tab:
        tab.page.fill("input[name=q]", "<img src=x")
        assert "<img src=x onerror=alert(2)>" in tab.text(".results")
        tab.follow("a.issue")
        assert "<img src=x onerror=alert(2)>" in tab.text("main")
        assert tab.page.locator(_MARKUP).count() == 0
        tab.go("sessions/hostile")
        for step in tab.page.locator(".step summary").all():
            step.click()
        assert tab.page.locator(".step").count() == len(HOSTILE) + 1
        assert "\u25a1gnp.exe\u25a1 turned round" in tab.text("main")
        assert tab.page.locator(_MARKUP).count() == 0
        tab.go("graph")
        assert tab.page.locator("a.node").count() > 1
        assert tab.page.locator(_MARKUP).count() == 0


#: What a text of a log would have become.
_MARKUP = "img, main script, main b:has(b), [onerror], [onclick], [onload], iframe, object"


def test_no_text_of_a_log_is_in_the_page_as_it_is(hostile_page: Path) -> None:
    page = hostile_page.read_text(encoding="utf-8")
    shown = zlib.decompress(base64.b64decode(re.findall(r'id="pack-trace-0">([^<]*)</script>', page)[0]), wbits=-15)
    quotes = [step.get("quote") for step in msgspec.json.decode(shown)["steps"]]
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[6]} <= set(quotes), "as the log has them"
    assert [text for text in HOSTILE if text in page.partition("<body>")[2].partition("<script>")[0]] == []


def test_the_policy_allows_our_script_and_style_by_hash_and_nothing_else(hostile_page: Path) -> None:
    page = hostile_page.read_text(encoding="utf-8")
    found = re.search(r'Policy" content="([^"]+)"', page)
    assert found is not None
    policy = {name: allowed for name, _, allowed in (part.strip().partition(" ") for part in found[1].split(";"))}
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in page.partition("<title>")[0]
    assert [policy["script-src"]] == [hashed(text) for text in re.findall(r"<script>(.*?)</script>", page, re.DOTALL)]
    assert [policy["style-src"]] == [hashed(text) for text in re.findall(r"<style>(.*?)</style>", page, re.DOTALL)]


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_a_page_refuses_what_is_put_into_it_later(browser: Browser, hostile_page: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(hostile_page.as_uri())
    page.wait_for_selector("body[data-ready]")
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.evaluate(
        "() => { const it = document.createElement('img'); it.src = 'https://example.invalid/x.png';"
        " document.body.append(it); const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s); }"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    assert len(refused) >= 2
    assert all("Content Security Policy" in text for text in refused)
    page.close()


def test_the_page_is_for_its_owner_alone(hostile_page: Path) -> None:
    assert hostile_page.stat().st_mode & 0o077 == 0
