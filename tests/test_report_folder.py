"""Does a report in a folder leave alone whatever it has not written itself?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph.errors import FolderInUse
from learnt_world import remember, repaired

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory

OURS = "episode-s1.html"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return remember(tmp_path / "project", repaired("s1"))


@pytest.fixture
def week(tmp_path: Path) -> Path:
    return tmp_path / "week"


def test_pages_of_sessions_no_longer_cited_go_and_all_else_stays(memory: Memory, week: Path) -> None:
    memory.report(output=week)
    sessions = week / "sessions"
    stale, named_alike, notes = (sessions / name for name in ("episode-old.html", "episode-notes.html", "notes.html"))
    stale.write_bytes((sessions / OURS).read_bytes())
    for path in (named_alike, notes):
        path.write_text("mine", encoding="utf-8")
    memory.report(output=week)
    assert sorted(one.name for one in sessions.iterdir()) == [named_alike.name, OURS, notes.name]


def test_where_no_report_lies_nothing_is_deleted(memory: Memory, week: Path) -> None:
    kept = week / "sessions" / "episode-kept.html"
    memory.view(output=kept)
    before = kept.read_bytes()
    memory.report(output=week)
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    ("form", "place"),
    [
        ("html", "index.html"),
        ("html", f"sessions/{OURS}"),
        ("html", "sessions"),
        ("markdown", "report.md"),
        ("json", "report.json"),
    ],
)
def test_a_file_of_somebody_else_is_not_replaced(memory: Memory, week: Path, form: str, place: str) -> None:
    theirs = week / place
    theirs.parent.mkdir(parents=True)
    theirs.write_text("{}", encoding="utf-8")
    with pytest.raises(FolderInUse, match=place):
        memory.report(output=week, format=form)
    assert [one for one in week.rglob("*") if one.is_file()] == [theirs]
    assert theirs.read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize("form", ["html", "markdown", "json"])
def test_an_earlier_report_is_replaced(memory: Memory, week: Path, form: str) -> None:
    memory.report(output=week, format=form, days=30)
    again = memory.report(output=week, format=form)
    assert memory.report(output=week, format=form).data == again.data


def test_a_link_in_the_folder_is_not_followed_to_other_pages(memory: Memory, week: Path, tmp_path: Path) -> None:
    memory.report(output=tmp_path / "other")
    elsewhere = tmp_path / "other" / "sessions"
    (elsewhere / OURS).rename(elsewhere / "episode-theirs.html")
    memory.report(output=week)
    for page in (week / "sessions").iterdir():
        page.unlink()
    (week / "sessions").rmdir()
    (week / "sessions").symlink_to(elsewhere)
    with pytest.raises(FolderInUse, match="sessions is of no earlier report"):
        memory.report(output=week)
    assert [one.name for one in elsewhere.iterdir()] == ["episode-theirs.html"]


def test_a_slash_at_the_end_asks_for_a_folder(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    assert run(["report", "--output", f"{tmp_path}/week.2026/"]) == 0
    assert "1 session page next to it" in capsys.readouterr().out
    assert (tmp_path / "week.2026" / "index.html").is_file()
    assert memory.report(output=f"{tmp_path}/week.2027/").pages == 1
