"""Can a label, an insight, a path or a text of a log run in the report, break it, or call anyone?"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from browser import open_tab
from helix_episodes.model import Action, Decision, Event, Evidence, Fix
from hostile_texts import HOSTILE
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from helix_episodes.model import Episode
    from helix_graph import Memory

#: A report shows six errors that came again.
GROUPS = [HOSTILE[:5], HOSTILE[5:10], HOSTILE[10:]]


def hostile(name: str, texts: tuple[str, ...]) -> Episode:
    """A session that met and repaired an error for each text, with the text wherever a report shows one."""
    events: list[Event] = []
    decisions: list[Decision] = []
    fixes: list[Fix] = []
    for place, text in enumerate(texts, 1):
        evidence = Evidence(line=place, quote=text[:240], file=text[:60])
        common: dict[str, Any] = {
            "content": text,
            "check": f"check{place}",
            "message": text,
            "evidence": evidence,
            "timestamp": None,
        }
        events += [
            Event(id=f"e{place}a", type="error", status="error", family=text[:200], **common),
            Event(id=f"e{place}b", type="test", status="ok", **common),
        ]
        action = Action(verb="run", program=text[:40])
        decisions.append(
            Decision(id=f"d{place}", timestamp=None, type="recovery", chosen=text, action=action, evidence=evidence)
        )
        fixes.append(Fix(error=f"e{place}a", changes=(f"d{place}",), check=text, verified_by=f"e{place}b"))
    made = {"events": tuple(events), "decisions": tuple(decisions), "fixes": tuple(fixes)}
    return replace(session(name, success=True, task=" ".join(texts)), **made)


@pytest.fixture(params=GROUPS, ids=range(len(GROUPS)))
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Memory:
    texts: tuple[str, ...] = request.param
    folder = tmp_path / '"><img src=x onerror=alert(7)>'
    folder.mkdir()
    memory = memory_of(folder, [hostile("one", texts), hostile("two", texts)], compiled=True)
    (memory.root / "episodes" / "episode-<img src=x onerror=alert(9)>.json").write_text("{")
    return memory


def test_everything_hostile_is_shown_and_nothing_of_it_runs(browser: Browser, memory: Memory, tmp_path: Path) -> None:
    memory.report(output=tmp_path / "report.html")
    with open_tab(browser, tmp_path / "report.html", ready="footer") as tab:
        assert tab.text("h1").startswith('"><img src=x onerror=alert(7)>')
        assert "episode-<img src=x onerror=alert(9)>.json" in tab.text("main")
        assert tab.page.locator("#new ol > li, #fixes ol > li").count() >= 2
        assert tab.page.locator("script, img, iframe, object, style:not(head style), [onerror], [onclick]").count() == 0
        sections = tab.page.evaluate("[...document.querySelectorAll('main > section')].map((one) => one.id)")
        assert sections == ["highlights", "outcomes", "new", "regressed", "fixes", "rules", "", "evidence"]
        addresses = tab.page.evaluate("[...document.links].map((one) => one.getAttribute('href'))")
        assert [one for one in addresses if not re.fullmatch(r"#(report|e\d+)", one)] == []
        shown = tab.text("body")
    assert "\u202e" not in shown
    assert "\x1b" not in shown


def test_the_policy_allows_one_style_by_its_hash_and_no_script(memory: Memory) -> None:
    page = memory.report().data.decode()
    found = re.search(r'Policy" content="([^"]+)"', page)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert found
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert found[1] == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert " style=" not in page


def test_markdown_has_no_line_markup_or_table_of_a_logs_making(memory: Memory) -> None:
    text = memory.report(format="markdown").data.decode()
    assert "\x1b" not in text
    assert "\u202e" not in text
    # The one thing of ours: an empty comment that parts a sign from a name.
    assert re.findall(r"(?<!\\)[<>]", text.replace("@<!-- -->", "@")) == [], "nothing opens a tag"
    assert re.findall(r"(?<!\\)\]\(([^)]*)\)", text) == []
    titles = [line for line in text.splitlines() if line.startswith("#")]
    assert [line.split()[0] for line in titles] == ["#", *["##"] * 6]
    assert [line for line in text.splitlines() if line.startswith("|")] == []


def test_what_nobody_can_see_is_a_box_on_the_page_and_an_escape_in_json(tmp_path: Path) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all rules")
    unseen = f"\x9b31m\u202e\u200b\u2060\ufeff\x7f{hidden}"
    texts = tuple(f"broken{number}{unseen}" for number in range(6))
    memory = memory_of(tmp_path, [hostile("one", texts), hostile("two", texts)], compiled=True)
    page, whole = (memory.report(format=form).data.decode() for form in ("html", "json"))
    assert "broken0" in page
    assert [letter for letter in unseen if not letter.isprintable() and letter in page + whole] == []
    assert f"broken0{unseen}" in json.dumps(json.loads(whole), ensure_ascii=False)


def test_a_card_is_one_image_of_text(memory: Memory) -> None:
    card = ET.fromstring(memory.report(format="card").data)  # noqa: S314  (our own)
    assert {one.tag.rpartition("}")[2] for one in card.iter() if isinstance(one.tag, str)} == {
        "svg",
        "style",
        "rect",
        "text",
    }
    texts = [one.text for one in card.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == '"><img src=x onerror=alert(7)>'
    assert {"sessions", "2", "2 of 2"} <= set(texts)
