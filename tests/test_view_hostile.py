"""Can a label or a text of a log run, break the page, or call anyone?"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
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
def page_file(memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "graph.html"
    memory.view(output=path)
    return path


@pytest.mark.everyday
def test_everything_hostile_is_shown_and_nothing_of_it_runs(browser: Browser, page_file: Path) -> None:
    with open_tab(browser, page_file) as tab:
        assert len(tab.shown()) == len(HOSTILE) + 2
        for place in range(len(tab.shown())):
            tab.page.evaluate(f"() => {{ document.getElementById('graph')._cyreg.cy.nodes()[{place}].emit('tap'); }}")
        tab.page.fill("#search", "<img src=x")
        assert "<img src=x onerror=" in tab.text("#results")
        tab.keys("Enter")
        assert "<img src=x onerror=alert(2)>" in tab.text("#panel")
        assert tab.page.locator("img, #panel script, [onerror], [onclick], [onload], iframe, object").count() == 0


def test_a_hostile_session_has_a_timeline(browser: Browser, memory: Memory, tmp_path: Path) -> None:
    memory.view(output=tmp_path / "session.html", episode="hostile")
    with open_tab(browser, tmp_path / "session.html") as tab:
        for step in tab.page.locator(".step").all():
            step.click()
        assert tab.page.locator(".step").count() == len(HOSTILE) + 1
        assert tab.page.locator("img, #timeline script, #timeline b, [onerror], iframe").count() == 0


def test_marks_that_turn_the_direction_are_shown_as_boxes(browser: Browser, page_file: Path) -> None:
    with open_tab(browser, page_file) as tab:
        tab.page.fill("#search", "turned round")
        tab.keys("Enter")
        assert "□gnp.exe□ turned round" in tab.text("#panel h2")


def test_the_data_holds_no_character_of_html(page_file: Path) -> None:
    page = page_file.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert set("<>&\u2028\u2029") & set(data[1]) == set()
    shown = [sighting["quote"] for sighting in msgspec.json.decode(data[1])["sightings"]]
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[6]} <= set(shown), "as the log has them"


def test_the_policy_allows_our_scripts_and_styles_by_hash_and_nothing_else(page_file: Path) -> None:
    page = page_file.read_text(encoding="utf-8")
    found = re.search(r'Policy" content="([^"]+)"', page)
    assert found is not None
    policy = {name: allowed for name, _, allowed in (part.strip().partition(" ") for part in found[1].split(";"))}
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in page.partition("<title>")[0]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL)
    assert policy["script-src"].split() == [hashed(text) for text in scripts]
    assert sorted(policy["style-src"].split()) == sorted(hashed(text) for text in styles)


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_a_page_refuses_what_is_put_into_it_later(browser: Browser, page_file: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(page_file.as_uri())
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


def test_the_page_is_for_its_owner_alone(page_file: Path) -> None:
    assert page_file.stat().st_mode & 0o077 == 0
