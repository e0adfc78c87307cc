"""Do the plugin's agents and skills come with setup, leave with it, and stay whose they are?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run

if TYPE_CHECKING:
    from agents_home import AgentsHome

PLUGIN = Path(__file__).parents[1] / "cli" / "helix_cli" / "plugin"
#: What setup puts into the settings, and so not a second time into the plugin.
IN_SETTINGS = {"hooks/hooks.json", ".mcp.json", ".claude-plugin/marketplace.json"}


@pytest.fixture
def folder(agents_home: AgentsHome) -> Path:
    return agents_home.claude.parent / "skills" / "helix-graph"


def below(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_all_but_hooks_and_server_come_and_go(folder: Path) -> None:
    assert run(["setup", "claude-code"]) == 0
    assert below(folder) == {name: text for name, text in below(PLUGIN).items() if name not in IN_SETTINGS}
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert not folder.exists()
    assert not folder.parent.exists()


def test_twice_is_once_and_a_check_looks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["setup", "claude-code"])
    once = below(folder)
    capsys.readouterr()
    assert run(["setup", "claude-code", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == []
    assert below(folder) == once
    (folder / "agents" / "helix-builder.md").unlink()
    assert run(["setup", "claude-code", "--check"]) == 1
    assert "The plugin's files of claude-code (user) are not all in place" in capsys.readouterr().out
    assert run(["setup", "claude-code"]) == 0
    assert run(["setup", "claude-code", "--check"]) == 0


def test_what_somebody_changed_is_theirs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["setup", "claude-code"])
    theirs = folder / "agents" / "helix-builder.md"
    theirs.write_text("mine")
    for words in ([], ["--remove"]):
        capsys.readouterr()
        assert run(["setup", "claude-code", *words]) == 0
        assert f"{theirs}: somebody has changed it; it is left alone" in capsys.readouterr().out
        assert theirs.read_text() == "mine"
    assert below(folder) == {"agents/helix-builder.md": b"mine"}


def test_a_folder_that_was_there_before_is_not_taken_over(folder: Path) -> None:
    manifest = folder / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "theirs"}')
    assert run(["setup", "claude-code"]) == 0
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert below(folder) == {".claude-plugin/plugin.json": b'{"name": "theirs"}'}


def test_an_upgrade_replaces_what_the_older_version_wrote(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older = {Path("agents/helix-builder.md"): b"older", Path("agents/helix-gone.md"): b"gone"}
    monkeypatch.setattr("helix_cli.setup.own_files.plugin_contents", lambda: older)
    run(["setup", "claude-code"])
    assert below(folder) == {name.as_posix(): text for name, text in older.items()}
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(folder.parents[2]))
    monkeypatch.setenv("PATH", "")
    assert run(["setup", "claude-code"]) == 0
    assert below(folder) == {name: text for name, text in below(PLUGIN).items() if name not in IN_SETTINGS}
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert not folder.exists()


def test_without_a_record_what_we_wrote_still_goes(agents_home: AgentsHome, folder: Path) -> None:
    run(["setup", "claude-code"])
    (agents_home.root / ".local" / "state" / "helix-graph" / "setup.json").unlink()
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert not folder.exists()


@pytest.mark.parametrize("words", [["claude-code", "--scope", "project"], ["codex"]])
def test_nobody_else_gets_it(agents_home: AgentsHome, words: list[str]) -> None:
    assert run(["setup", *words]) == 0
    assert not [name for name in agents_home.files if "skills" in name]
