"""Does setup keep one dated copy of what it edits, and the file's owner and permissions?"""

from __future__ import annotations

import json
import os
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

    from agents_home import AgentsHome

#: Any that this machine's own files do not have.
SOMEBODY = (1234, 4321)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


def copies(path: Path) -> list[Path]:
    return sorted(one for one in path.parent.iterdir() if one.name.endswith(".bak"))


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_an_edit_leaves_one_dated_copy_beside_the_file(
    agents_home: AgentsHome, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = agents_home.put(agents_home.claude, '{"model": "x"}')
    config = agents_home.put(agents_home.codex / "config.toml", 'model = "x"\n')
    path = settings if agent == "claude-code" else config
    path.chmod(0o640)
    before = path.read_bytes()
    assert run(["setup", agent]) == 0
    (copy,) = copies(path)
    assert re.fullmatch(re.escape(path.name) + r"\.helix-graph-\d{4}-\d\d-\d\d\.bak", copy.name)
    assert copy.read_bytes() == before
    assert copy.stat().st_mode & 0o777 == 0o640
    assert f"kept: {copy.name}" in capsys.readouterr().out
    assert run(["setup", agent]) == 0
    assert copies(path) == [copy]


def test_a_copy_goes_when_the_bytes_are_back(agents_home: AgentsHome) -> None:
    agents_home.put(agents_home.claude, '{"model": "x"}')
    before = agents_home.files
    assert run(["setup", "claude-code"]) == 0
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert agents_home.files == before


def test_copies_do_not_pile_up(agents_home: AgentsHome) -> None:
    path = agents_home.put(agents_home.claude, '{"model": "x"}')
    older = agents_home.put(path.with_name("settings.json.helix-graph-2024-01-01.bak"), "old")
    foreign = agents_home.put(path.with_name("settings.json.2024-01-01.bak"), "theirs")
    assert run(["setup", "claude-code"]) == 0
    path.write_text(path.read_text() + "\n")
    written = path.read_bytes()
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert not older.exists()
    ours = [one for one in copies(path) if one != foreign]
    assert [one.read_bytes() for one in ours] == [written]
    assert foreign.read_text() == "theirs"


def test_a_file_that_we_make_has_no_copy(agents_home: AgentsHome) -> None:
    assert run(["setup", "claude-code", "--scope", "project"]) == 0
    assert not [name for name in agents_home.files if name.endswith(".bak")]


def test_the_copy_of_a_linked_file_lies_beside_the_file(agents_home: AgentsHome) -> None:
    real = agents_home.put(agents_home.root / "dotfiles" / "claude.json", "{}\n")
    agents_home.claude.parent.mkdir()
    agents_home.claude.symlink_to(real)
    assert run(["setup", "claude-code"]) == 0
    assert [one.read_text() for one in copies(real)] == ["{}\n"]
    assert copies(agents_home.claude) == []


@needs_root
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_owner_stays_through_putting_in_and_out(agents_home: AgentsHome, agent: str) -> None:
    settings = agents_home.put(agents_home.claude, '{"model": "x"}')
    config = agents_home.put(agents_home.codex / "config.toml", 'model = "x"\n')
    path = settings if agent == "claude-code" else config
    path.chmod(0o2640)
    os.chown(path, *SOMEBODY)
    path.chmod(0o2640)
    assert run(["setup", agent]) == 0
    for one in (path, *copies(path)):
        assert (one.stat().st_uid, one.stat().st_gid) == SOMEBODY
        assert one.stat().st_mode & 0o7777 == 0o2640
    assert run(["setup", agent, "--remove"]) == 0
    assert (path.stat().st_uid, path.stat().st_gid) == SOMEBODY


@needs_root
def test_what_root_makes_in_somebodys_home_is_theirs(agents_home: AgentsHome) -> None:
    before = set(agents_home.root.rglob("*"))
    for path in (agents_home.root, *before):
        os.chown(path, *SOMEBODY)
    for agent in ("claude-code", "codex"):
        assert run(["setup", agent]) == 0
    made = set(agents_home.root.rglob("*")) - before
    assert len(made) > 10
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {SOMEBODY}


def test_a_file_that_cannot_stay_its_owners_is_left_alone(
    agents_home: AgentsHome, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents_home.put(agents_home.claude, "{}")
    found = os.fstat

    def another(handle: int) -> SimpleNamespace:
        """As if what is written belonged to somebody else than the file does."""
        told = found(handle)
        return SimpleNamespace(st_uid=told.st_uid + 1, st_gid=told.st_gid, st_mode=told.st_mode)

    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr("helix_episodes.safe_files.os.fstat", another)
    monkeypatch.setattr("helix_episodes.safe_files.os.fchown", refuse)
    assert run(["setup", "claude-code"]) == 1
    monkeypatch.undo()
    assert "it belongs to somebody else" in capsys.readouterr().err
    assert agents_home.files == {".claude/settings.json": b"{}"}


def test_without_the_backup_our_entries_still_go(agents_home: AgentsHome) -> None:
    text = '{\n\t"model": "x",\n\t"hooks": {"Stop": []}\n}'
    path = agents_home.put(agents_home.claude, text)
    assert run(["setup", "claude-code"]) == 0
    for one in copies(path):
        one.unlink()
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert json.loads(path.read_text()) == {"model": "x", "hooks": {"Stop": []}}


def test_a_backup_that_somebody_changed_is_not_restored(agents_home: AgentsHome) -> None:
    path = agents_home.put(agents_home.claude, '{"model": "x"}')
    assert run(["setup", "claude-code"]) == 0
    (copy,) = copies(path)
    copy.write_text('{"model": "another"}')
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert json.loads(path.read_text()) == {"model": "x"}
