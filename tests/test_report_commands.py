"""Does the command write where it is told, the same bytes each time, and refuse in a sentence?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from browser import PATIENCE
from helix_cli.app import run
from learnt_world import remember, repaired

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from helix_graph import Memory


@pytest.fixture
def memory(demo_memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    return demo_memory


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(arguments) == code
    printed = capsys.readouterr()
    return printed.out if code == 0 else printed.err


def test_without_options_it_is_a_page_in_the_memory(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "report")
    path = memory.root / "pages" / "report.html"
    assert str(path) in told
    assert "2026-09-10 to 2026-09-16: 5 sessions of 12" in told
    assert "excerpts of your sessions" in told
    assert path.stat().st_mode & 0o077 == 0


def test_json_is_the_whole_value_and_markdown_goes_to_the_terminal(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    value = orjson.loads(said(capsys, "report", "--format", "json", "--days", "30"))
    assert (value["days"], value["sessions"], value["since"]) == (30, 12, "2026-08-18")
    assert value == orjson.loads(memory.report(format="json", days=30).data)
    printed = said(capsys, "report", "--format", "markdown")
    assert printed.startswith("# papershop")
    as_json = orjson.loads(said(capsys, "report", "--format", "markdown", "--json"))
    assert as_json == {"format": "markdown", "text": printed}


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(("form", "name"), [("html", "index.html"), ("markdown", "report.md"), ("json", "report.json")])
def test_a_folder_gets_a_file_of_the_format(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str, name: str
) -> None:
    told = orjson.loads(said(capsys, "report", "--format", form, "--output", str(tmp_path / "week"), "--json"))
    written = tmp_path / "week" / name
    assert (told["path"], told["format"], told["bytes"]) == (str(written), form, written.stat().st_size)
    assert told["page"] is (tmp_path / "week" / "view.html").exists() is (form == "html")


def test_a_file_is_written_as_it_is_called(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "notes" / "week.md"
    path.parent.mkdir()
    made = memory.report(output=path, format="markdown")
    assert path.read_bytes() == made.data
    assert [one.name for one in path.parent.iterdir()] == ["week.md"]


def test_the_same_memory_gives_the_same_bytes(memory: Memory, tmp_path: Path) -> None:
    for name in ("one", "two"):
        memory.report(output=tmp_path / name)
    files = [sorted(one for one in (tmp_path / name).rglob("*") if one.is_file()) for name in ("one", "two")]
    assert [one.name for one in files[0]] == [one.name for one in files[1]]
    assert [one.read_bytes() for one in files[0]] == [one.read_bytes() for one in files[1]]


def test_a_click_on_evidence_opens_the_session_at_the_step(browser: Browser, memory: Memory, tmp_path: Path) -> None:
    memory.report(output=tmp_path / "week")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "week" / "index.html").as_uri())
    link = page.locator("#fixes .evidence-links a").first
    line, step = link.inner_text().rpartition(" ")[2], (link.get_attribute("href") or "").rpartition("/")[2]
    link.click()
    page.wait_for_selector("body[data-ready]")
    opened = page.locator(".step:has(details[open])")
    assert opened.get_attribute("data-step") == step
    assert f"line {line}" in opened.inner_text()
    assert complaints == []
    page.close()


@pytest.mark.usefixtures("memory")
def test_what_cannot_be_done_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>My site</h1>")
    refusals = [
        (("--output", str(tmp_path)), 1, "is of no earlier report of helix-graph"),
        (("--days", "0"), 2, "--days is 0; it must be between 1 and 366"),
        (("--until", "yesterday"), 2, "is not an ISO 8601 date or time"),
        (("--output", "/proc/no/such/place.html"), 1, "/proc/no"),
        (("--output", ""), 2, "the path is empty"),
        (("--output", f"{tmp_path}/index.html/"), 1, "index.html is of no earlier report"),
    ]
    for arguments, code, sentence in refusals:
        assert sentence in said(capsys, "report", *arguments, code=code)
    assert (tmp_path / "index.html").read_text() == "<h1>My site</h1>"
    assert [one.name for one in tmp_path.iterdir()] == ["index.html"]


def test_a_session_that_is_not_in_the_graph_yet_has_its_evidence_on_the_page(tmp_path: Path) -> None:
    memory = remember(tmp_path / "project", repaired("s1"))
    memory.episodes.save(repaired("s2", day=2))
    made = memory.report(output=tmp_path / "week")
    assert made.page
    page = made.data.decode()
    assert 'href="view.html#sessions/s1/e1"' in page
    assert 'href="view.html#sessions/s2' not in page
    assert 'href="#e' in page


def test_to_forget_a_session_takes_reports_along_wherever_in_the_pages_they_lie(tmp_path: Path) -> None:
    memory = remember(tmp_path, repaired("s1"))
    memory.report()
    memory.report(output=memory.root / "pages" / "week")
    memory.forget(["s1"])
    assert [one for one in (memory.root / "pages").rglob("*") if one.is_file()] == []
