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


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return remember(tmp_path / "project", repaired("s1"))


@pytest.fixture
def week(tmp_path: Path) -> Path:
    return tmp_path / "week"


@pytest.mark.parametrize(
    ("form", "place"),
    [
        ("html", "index.html"),
        ("html", "view.html"),
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


def test_a_slash_at_the_end_asks_for_a_folder(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    assert run(["report", "--output", f"{tmp_path}/week.2026/"]) == 0
    assert "the memory's page next to it" in capsys.readouterr().out
    assert (tmp_path / "week.2026" / "index.html").is_file()
    assert memory.report(output=f"{tmp_path}/week.2027/").page
