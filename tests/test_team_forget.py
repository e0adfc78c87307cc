"""Does what somebody forgets leave the server and the others, and nothing else with it?"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from helix_graph.sharing.administration import add_member, remove_member
from helix_graph.sharing.server import ServerObject, TeamServer
from team_world import FAILURE, contents, member, sync

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_server import TeamDatabase

RETRY = "Retry the parcel service once before giving up on a label"


def copied(database: Path) -> bytes:
    """What a backup of the file has."""
    with closing(sqlite3.connect(database)) as connection:
        return connection.serialize()


def everything(database: TeamDatabase) -> str:
    both = "(SELECT data FROM helix_team.object UNION ALL SELECT data FROM helix_team.private) one"
    return str(database.execute(f"SELECT convert_from(data, 'UTF8') FROM {both}"))  # noqa: S608  (a constant)


def test_forgetting_reaches_the_server_and_then_the_others(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = member(tmp_path / "ann", "of-ann-one", "of-ann-two"), member(tmp_path / "bob")
    sync(ann, team_server.url("ann"))
    sync(bob, team_server.url("bob"))
    assert "of-ann-one" in everything(team_server)
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    report = ann.forget(["of-ann-one"])
    assert report.team is not None
    assert (report.team.deleted, report.team.left, report.team.tombstones, report.team.problem) == (1, 0, 1, "")
    assert "of-ann-one" not in everything(team_server)
    assert "of-ann-two" in everything(team_server)
    assert "of-ann-one" not in str(team_server.execute("SELECT * FROM helix_team.tombstone"))
    assert sync(bob, team_server.url("bob")) == (0, 0, 1)
    assert {one.episode for one in bob.graph.seen(FAILURE).precedents} == {"episode-of-ann-two"}
    assert not [path for path in bob.root.rglob("*") if "of-ann-one" in path.name]


@pytest.mark.slow
def test_what_is_forgotten_stays_so_also_from_another_machine(tmp_path: Path, team_server: TeamDatabase) -> None:
    desk, laptop = member(tmp_path / "desk", "one"), member(tmp_path / "laptop", "one")
    sync(desk, team_server.url("ann"))
    desk.forget(["one"])
    sync(desk, team_server.url("ann"))
    done = laptop.team.sync(team_server.url("ann"), project="shop")
    assert (done.pushed, done.refused) == (0, 1)
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(0,)]


def test_a_server_that_is_away_is_named_and_the_next_sync_deletes(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = member(tmp_path / "ann", "one", "two")
    sync(ann, team_server.url("ann"))
    report = ann.forget(["one"])
    assert report.team is not None
    assert "HELIX_DATABASE" in report.team.problem
    monkeypatch.setenv("HELIX_DATABASE", "postgresql://ann@localhost:1/team")
    monkeypatch.setattr("helix_graph.sharing.server._PAUSES", ())
    report = ann.forget(["two"])
    assert report.team is not None
    assert "cannot be reached" in report.team.problem
    assert not report.team.whole
    ann.team.sync(team_server.url("ann"), project="shop")
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(0,)]


@pytest.mark.slow
def test_one_forgets_another_s_session_for_oneself_alone(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = member(tmp_path / "ann", "one"), member(tmp_path / "bob")
    sync(ann, team_server.url("ann"))
    sync(bob, team_server.url("bob"))
    add_member(team_server.url(), "shop", "root_of_all", role="admin")
    boss = member(tmp_path / "boss", "one")  # of the same name
    for memory, role in ((bob, "bob"), (boss, "root_of_all")):
        sync(memory, team_server.url(role))
        monkeypatch.setenv("HELIX_DATABASE", team_server.url(role))
        report = memory.forget(["one"])
        assert report.proof is not None
        assert report.proof.whole
        assert sync(memory, team_server.url(role)) == (0, 0, 0)
    assert team_server.execute("SELECT author FROM helix_team.object") == [("ann",)]
    assert sync(ann, team_server.url("ann")) == (0, 0, 0)
    assert ann.episodes.list()


@pytest.mark.slow
def test_records_leave_with_what_they_are_about(tmp_path: Path, team_server: TeamDatabase) -> None:
    ann, bob = member(tmp_path / "ann"), member(tmp_path / "bob")
    name = str(ann.insights.store(RETRY)["name"])
    for session in ("one", "two"):
        ann.insights.feedback([name], "delivered", [name], episode=session)
    ann.topics.store("rates", "The rates are in cents, and rounded once at the end")
    ann.topics.store("rates", "Rates change in January, on the first working day of it")
    assert sync(ann, team_server.url("ann"))[0] == 5
    sync(bob, team_server.url("bob"))
    bob.insights.store("Labels are printed in batches of forty")
    ann.insights.forget([name])
    ann.topics.edit("delete", "rates", index=0)
    sync(ann, team_server.url("ann"))
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(1,)]
    sync(bob, team_server.url("bob"))
    assert contents(bob) == ["Labels are printed in batches of forty"]
    assert [one.text for one in bob.topics.topics("export").entries] == [
        "Rates change in January, on the first working day of it"
    ]


@pytest.mark.slow
def test_a_lost_database_takes_nothing_off_the_server(tmp_path: Path, team_server: TeamDatabase) -> None:
    ann = member(tmp_path / "ann")
    ann.insights.store(RETRY)
    sync(ann, team_server.url("ann"))
    (ann.root / "helix.db").rename(tmp_path / "lost.db")
    ann.insights.store("Labels are printed in batches of forty")
    sync(ann, team_server.url("ann"))
    assert RETRY in everything(team_server)


@pytest.mark.slow
def test_a_restored_database_takes_nothing_off_the_server(tmp_path: Path, team_server: TeamDatabase) -> None:
    ann, bob = member(tmp_path / "ann"), member(tmp_path / "bob")
    ann.insights.store("Labels are printed in batches of forty")
    ann.topics.store("rates", "The rates are in cents, and rounded once at the end")
    sync(ann, team_server.url("ann"))
    older = copied(ann.root / "helix.db")
    name = str(ann.insights.store(RETRY)["name"])
    ann.insights.feedback([name], "delivered", [name], episode="one")
    ann.topics.store("holidays", "The bindery is closed in the last week of December")
    ann.topics.edit("append", "rates", index=0, text="Never twice")
    sync(ann, team_server.url("ann"))
    before = set(team_server.execute("SELECT subject FROM helix_team.object"))
    inode = (ann.root / "helix.db").stat().st_ino
    for path in ann.root.glob("helix.db-*"):
        path.unlink()
    (ann.root / "helix.db").write_bytes(older)  # as `cp` does: into the same file
    assert (ann.root / "helix.db").stat().st_ino == inode
    restored = Memory(ann.root)
    done = restored.team.sync(team_server.url("ann"), project="shop")
    assert (done.deleted, done.missing) == (0, 4)
    assert set(team_server.execute("SELECT subject FROM helix_team.object")) == before
    sync(bob, team_server.url("bob"))
    assert RETRY in contents(bob)
    restored.insights.forget([str(restored.insights.newest()[0]["name"])])  # forgetting still works
    done = restored.team.sync(team_server.url("ann"), project="shop")
    assert (done.deleted, done.missing) == (1, 4)
    assert "batches of forty" not in everything(team_server)


@pytest.mark.slow
def test_what_an_agent_wrote_in_a_forgotten_session_leaves_with_it(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = member(tmp_path / "ann", "of-ann-one")
    ann.insights.store(RETRY, origin="agent", episode="of-ann-one")
    sync(ann, team_server.url("ann"))
    assert RETRY in everything(team_server)
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    report = ann.forget(["of-ann-one"])
    assert report.team is not None
    assert (report.team.deleted, report.team.left) == (2, 0)
    assert everything(team_server) == "[]"


@pytest.mark.slow
def test_outcomes_of_a_forgotten_session_leave_though_their_id_named_it(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = member(tmp_path / "ann", "of-ann-one")
    name = str(ann.insights.store(RETRY)["name"])
    ann.insights.feedback([name], "delivered", [name], episode="of-ann-one", id="judged-of-ann-one")
    sync(ann, team_server.url("ann"))
    assert "judged-of-ann-one" in everything(team_server)
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    ann.forget(["of-ann-one"])
    assert "of-ann-one" not in everything(team_server)
    assert RETRY in everything(team_server)


def test_an_entry_that_was_changed_stands_there_once(tmp_path: Path, team_server: TeamDatabase) -> None:
    ann = member(tmp_path / "ann")
    ann.topics.store("rates", "The rates are in cents, and rounded once at the end")
    sync(ann, team_server.url("ann"))
    ann.topics.edit("append", "rates", index=0, text="Never twice")
    sync(ann, team_server.url("ann"))
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(1,)]
    assert "Never twice" in everything(team_server)


@pytest.mark.slow
def test_a_forged_forgetting_removes_nothing(tmp_path: Path, team_server: TeamDatabase) -> None:
    ann, bob = member(tmp_path / "ann"), member(tmp_path / "bob")
    ann.insights.store(RETRY)
    ann.topics.store("rates", "The rates are in cents, and rounded once at the end")
    sync(ann, team_server.url("ann"))
    sync(bob, team_server.url("bob"))
    add_member(team_server.url(), "shop", "mallory")
    rows = team_server.execute("SELECT subject, kind, data FROM helix_team.object")
    with TeamServer(team_server.url("mallory"), "shop") as mallory:  # pushes all of hers as his own, and deletes it
        mallory.push([ServerObject(subject=subject, kind=kind, data=data) for subject, kind, data in rows])
        sync(bob, team_server.url("bob"))
        assert mallory.delete([subject for subject, _, _ in rows]) == len(rows)
    for memory, role in ((ann, "ann"), (bob, "bob")):
        sync(memory, team_server.url(role))
        assert contents(memory) == [RETRY]
        assert len(memory.topics.topics("export").entries) == 1


def test_forget_says_whose_sessions_the_server_keeps(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ann, bob = member(tmp_path / "ann", "one"), member(tmp_path / "bob" / "shop")
    sync(ann, team_server.url("ann"))
    sync(bob, team_server.url("bob"))
    monkeypatch.chdir(bob.root.parent)
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("bob"))
    assert run(["forget", "one", "--json"]) == 0
    team = json.loads(capsys.readouterr().out)["team"]
    assert (team["deleted"], team["left"], team["others"], team["authors"]) == (0, 0, 1, ["ann"])
    assert run(["forget", "one"]) == 0
    said = capsys.readouterr().out
    assert "1 session pushed by ann is left there" in said
    assert "nothing of theirs is left" not in said


def test_forget_proves_nothing_to_whom_the_server_hides_it(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member that was removed saw no object of its own, and was told that none is left."""
    ann = member(tmp_path / "ann", "one", "two", "three")
    sync(ann, team_server.url("ann"))
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    add_member(team_server.url(), "shop", "ann", role="reader")
    report = ann.forget(["one"]).team
    assert report is not None
    assert (report.deleted, report.left, report.whole) == (0, 1, False)
    assert "an administrator deletes what is left" in report.problem
    remove_member(team_server.url(), "shop", "ann")
    report = ann.forget(["two"]).team
    assert report is not None
    assert not report.whole
    assert "ann is no member of the project shop" in report.problem
    other = team_server.server.team_database()
    monkeypatch.setenv("HELIX_DATABASE", other.url("ann"))
    report = ann.forget(["three"]).team
    assert report is not None
    assert "another server than the one that this memory takes part in" in report.problem
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(3,)]
