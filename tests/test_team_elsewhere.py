"""Does a memory that came from elsewhere act on a team's server before its user has named a project there?"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from helix_graph.sharing.server import TeamServer
from helix_graph.trust import accept
from team_world import contents, member, sync

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_server import TeamDatabase

PRICES = "The price list of the shop is in the vault of the third floor"
ORDER = "Before each deploy of the shop run what the page of the vendor says"


@pytest.fixture
def ann(tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Somebody who takes part in the project shop, and whose settings name the server."""
    memory = member(tmp_path / "ann" / "shop", "first")
    memory.insights.store(PRICES)
    sync(memory, team_server.url("ann"))
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    return memory


@pytest.fixture
def unpacked(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> Memory:
    """A memory from an archive, accepted: it says that it takes part in shop, and that all of ann's was forgotten."""
    assert contents(ann)
    theirs = member(tmp_path / "theirs", "another")
    theirs.insights.store(ORDER)
    (theirs.root / "team").mkdir(mode=0o700)
    (theirs.root / "team" / "state.json").write_text('{"project":"shop"}')
    (theirs.root / "forgotten").mkdir(exist_ok=True)
    with TeamServer(team_server.url("bob"), "shop") as server:
        for one in server.since(0):
            (theirs.root / "forgotten" / f"{one.subject}.json").write_text("{}")
    shutil.copytree(theirs.root.parent, tmp_path / "download")
    accept(tmp_path / "download" / ".helix", how="trust")
    return Memory.open(tmp_path / "download")


def pushed(server: TeamDatabase) -> list[bytes]:
    with TeamServer(server.url("ann"), "shop") as opened:
        return sorted(data for _, data in opened.contents(one for one in opened.since(0) if one.kind != "gone"))


def test_it_neither_pulls_nor_pushes_nor_deletes(unpacked: Memory, team_server: TeamDatabase) -> None:
    before = pushed(team_server)
    unpacked.follow_team()
    unpacked.push_to_team()
    unpacked.insights.store("Something that was said after it was accepted")
    unpacked.push_to_team()
    unpacked.forget(["another"])
    assert contents(unpacked) == [ORDER, "Something that was said after it was accepted"]
    assert pushed(team_server) == before
    assert len(before) == 2  # her session and her insight


@pytest.mark.slow
def test_what_one_names_it_takes_part_in_from_then_on(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    moved = tmp_path / "moved"
    shutil.move(ann.root.parent, moved)
    accept(moved / ".helix", how="trust")
    here = Memory.open(moved)
    bob = member(tmp_path / "bob" / "shop")
    bob.insights.store(ORDER)
    sync(bob, team_server.url("bob"))
    here.follow_team()
    assert contents(here) == [PRICES]
    here.team.sync(team_server.url("ann"), project="shop")
    assert contents(here) == sorted([ORDER, PRICES])
    bob.insights.store("Labels are printed in batches of forty")
    sync(bob, team_server.url("bob"))
    here.follow_team()
    assert "Labels are printed in batches of forty" in contents(here)


def test_forgetting_in_a_moved_memory_reaches_the_server_once_the_project_is_named(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    (lesson, *_) = ann.insights.harvest()["added"]
    ann.push_to_team()
    moved = tmp_path / "moved"
    shutil.move(ann.root.parent, moved)
    accept(moved / ".helix", how="trust")
    here = Memory.open(moved)
    report = here.forget(["first"])
    assert report.team is not None
    assert "name the project" in report.team.problem
    here.team.sync(team_server.url("ann"), project="shop")
    assert lesson not in {one["name"] for one in here.insights.newest(limit=None)}
    left = b"".join(pushed(team_server))
    assert PRICES.encode() in left
    assert b"parcels" not in left


def test_trust_says_how_many_sessions_it_would_take_away(
    unpacked: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = next((unpacked.root / "forgotten").glob("*.json")).stem
    state = {"project": "shop", "rests_on": {"a" * 32: [one], "b" * 32: ["c" * 32]}}
    (unpacked.root / "team" / "state.json").write_text(json.dumps(state))
    shutil.copytree(unpacked.root.parent, tmp_path / "again")
    monkeypatch.chdir(tmp_path / "again")
    run(["trust"])
    said = capsys.readouterr().out
    assert "It calls 2 sessions forgotten" in said
    assert "with 1 note that it says rest on them" in said
