"""Is a mistyped path of an output refused by every command, with nothing made on the way to it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from demo_logs import demo_memory_in
from helix_cli.app import run
from own_memory import accepted
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = [
    "view --output nowhere/x/page.html",
    "graph export --format neo4j --output nowhere/x/tables",
    "report --output nowhere/x/week/",
    "report --output nowhere/x/week.html",
    "explain last --html nowhere/x/session.html",
    "graph export --output nowhere/x/graph.json",
    "insight export --output nowhere/x/insights.jsonl",
    "episode extract log.jsonl --output nowhere/x/episodes",
    "pack --output nowhere/x/shards",
    "fold --engine local --output nowhere/x/sums",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("project")
    demo_memory_in(folder)
    folder.joinpath("log.jsonl").write_text("")
    folder.joinpath("link").symlink_to(folder / "nowhere" / "y" / "page.html")
    return folder


@pytest.mark.parametrize("command", few([*COMMANDS, "view --output link"], 2))
def test_an_output_makes_no_folders_on_the_way(
    project: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HELIX_DIR", str(accepted(project / ".helix")))
    assert run(command.split()) == 1
    assert "there is no folder" in capsys.readouterr().err
    assert not (project / "nowhere").exists()


@pytest.mark.parametrize("command", few([one.replace("nowhere/x/", "") for one in COMMANDS if "extract" not in one], 1))
def test_a_folder_that_is_named_is_made_itself(project: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HELIX_DIR", str(accepted(project / ".helix")))
    words = command.split()
    if words[0] in ("pack", "fold"):
        pytest.importorskip("pyarrow")
    assert run(words) == 0
    assert (project / words[-1]).exists()
