"""On a second machine, or after a disk was lost: is what one pushed one's own again, and only where one asks for it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from damaged_rows import damage
from helix_cli.app import run
from helix_episodes.safe_files import write_atomically
from helix_graph import Memory
from helix_graph.sharing.server import ServerObject, TeamServer
from helix_graph.trust import shared_episodes
from team_world import FAILURE, contents, member, sync

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_server import TeamDatabase

RETRY = "Retry the parcel service once before giving up on a label"
CENTS = "Amounts are in cents; round once, when the invoice is printed"
BATCHES = "Labels are printed in batches of forty, the printer stops at more"


@pytest.fixture
def ann(tmp_path: Path, team_server: TeamDatabase) -> Memory:
    """Somebody who has pushed what she has: sessions, advice with its links and outcomes, and entries."""
    memory = member(tmp_path / "desk" / "shop", "first", "second")
    told = memory.insights.store(RETRY, ["network"])["name"]
    written = memory.insights.store(CENTS, origin="agent", episode="episode-first")["name"]
    memory.insights.relate(told, written, "led_to")
    memory.insights.feedback([told], "delivered", episode="episode-first", session="first")
    memory.insights.feedback([told, written], "blocked", causal_names=[written])
    for text in ("The rates are in cents", BATCHES):
        memory.topics.store("labels", text, links="labels:0" if text == BATCHES else ())
    memory.topics.store("arrears", "The arrears are sent on Mondays", links="labels:1")
    sync(memory, team_server.url("ann"))
    return memory


def restored(folder: Path, server: TeamDatabase, *, role: str = "ann") -> Memory:
    memory = member(folder)
    report = memory.team.sync(server.url(role), project="shop", mine=True)
    assert report.problems == ()
    assert bool(report.taken_back) == (role == "ann") == (not report.pulled.objects)
    memory.graph.compile()
    return memory


def all_of(memory: Memory) -> tuple[Any, ...]:
    """What a user sees of it."""
    names = [one["name"] for one in memory.insights.newest(limit=None)]
    return (
        sorted(map(str, memory.insights.newest(limit=None))),
        {name: sorted(map(str, memory.insights.neighbors(name))) for name in names},
        memory.topics.topics("export").entries,
        memory.graph.seen(FAILURE),
        memory.issues.list(),
    )


def episode(memory: Memory) -> bytes:
    return (memory.root / "episodes" / "episode-first.json").read_bytes()


def test_what_one_pushed_is_as_it_was(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    laptop = restored(tmp_path / "laptop" / "shop", team_server)
    assert all_of(laptop) == all_of(ann)
    assert not shared_episodes(laptop.root, ["episode-first", "episode-second"])
    said = {one["content"]: one.get("_said_by") for one in laptop.insights.newest(limit=None)}
    assert said[RETRY] is None
    assert str(said[CENTS]).startswith("written by an agent")
    assert [one.index for one in laptop.topics.read("labels").entries] == [0, 1]


def test_a_text_that_the_disk_changed_is_not_pushed_and_named(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    damage(ann, "parcel service", b"patcel service")
    ann.insights.store("Rates are fetched once a day", origin="agent")
    report = ann.team.sync(team_server.url("ann"))
    assert [one.problem.partition(",")[0] for one in report.problems] == ["its text is not what was stored"]
    laptop = restored(tmp_path / "laptop" / "shop", team_server)
    texts = {one["content"]: one["use_count"] for one in laptop.insights.newest(limit=None)}
    assert (RETRY in texts, RETRY.replace("parcel", "patcel") in texts) == (True, False)
    assert texts[RETRY] == 2


@pytest.mark.slow
def test_again_it_changes_nothing_and_nothing_is_pushed_anew(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    laptop = restored(tmp_path / "laptop" / "shop", team_server)
    before = all_of(laptop)
    report = laptop.team.sync(team_server.url("ann"), mine=True)
    assert (report.taken_back, report.pushed, report.deleted, report.pulled.objects) == (0, 0, 0, 0)
    assert all_of(laptop) == before == all_of(ann)


def test_unasked_it_is_a_quotation(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    laptop = member(tmp_path / "laptop" / "shop")
    sync(laptop, team_server.url("ann"))
    assert contents(laptop) == contents(ann)
    assert all("team server, by ann" in str(one["_said_by"]) for one in laptop.insights.newest())
    report = laptop.team.sync(team_server.url("ann"), mine=True)
    laptop.graph.compile()
    assert report.taken_back
    before, *others, seen, issues = all_of(ann)
    found, links, entries, *answers = all_of(laptop)
    assert (found, links, answers) == (before, others[0], [seen, issues])
    assert [one.text for one in entries] == [one.text for one in ann.topics.topics("export").entries]


def test_others_things_stay_theirs(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    bob = restored(tmp_path / "bob" / "shop", team_server, role="bob")
    assert contents(bob) == contents(ann)
    assert shared_episodes(bob.root, ["episode-first"])
    assert all("by ann" in str(one["_said_by"]) for one in bob.insights.newest())


def test_a_session_that_somebody_pushed_as_well_is_ones_own_again(tmp_path: Path, team_server: TeamDatabase) -> None:
    bob = member(tmp_path / "bob" / "shop", "second", "first")  # under the same id, on another day
    sync(bob, team_server.url("bob"))
    ann = member(tmp_path / "desk" / "shop", "first")
    ann.team.sync(team_server.url("ann"), project="shop")
    laptop = member(tmp_path / "laptop" / "shop")
    sync(laptop, team_server.url("ann"))
    assert episode(laptop) == episode(bob) != episode(ann)
    assert laptop.team.sync(team_server.url("ann"), mine=True).taken_back == 1
    assert episode(laptop) == episode(ann)
    assert not shared_episodes(laptop.root, ["episode-first"])
    again = laptop.team.sync(team_server.url("ann"), mine=True)
    assert (again.taken_back, again.pulled.objects) == (0, 0)
    assert episode(laptop) == episode(ann)


@pytest.mark.usefixtures("ann")
def test_nobody_keeps_what_is_ones_own_alone(tmp_path: Path, team_server: TeamDatabase) -> None:
    bob = restored(tmp_path / "bob" / "shop", team_server, role="bob")
    kept = "".join(path.read_text() for path in (bob.root / "team" / "records").glob("*.json"))
    assert RETRY in kept
    assert '\\"own\\"' not in kept
    with TeamServer(team_server.url("ann"), "shop") as server:
        listed = [data for _, data in server.contents(one for one in server.since(0) if one.kind == "record")]
    assert b'"own"' in b"".join(listed)


@pytest.mark.slow
def test_what_was_forgotten_here_does_not_come_back(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    laptop = restored(tmp_path / "laptop" / "shop", team_server)
    name = next(one["name"] for one in laptop.insights.newest() if one["content"] == RETRY)
    laptop.insights.forget([name])
    laptop.topics.edit("delete", "labels", index=1)
    assert laptop.team.sync(team_server.url("ann"), mine=True).taken_back == 0
    assert contents(laptop) == [CENTS]
    laptop.forget(["first"])
    assert laptop.team.sync(team_server.url("ann"), mine=True).taken_back == 0
    assert "first" not in str(laptop.insights.newest())
    assert len(laptop.topics.read("labels").entries) == 1
    assert not (laptop.root / "episodes" / "episode-first.json").exists()
    with TeamServer(team_server.url("ann"), "shop") as server:
        listed = list(server.contents(one for one in server.since(0) if one.kind != "gone"))
    assert not any(RETRY.encode() in data or BATCHES.encode() in data for _, data in listed)
    assert contents(ann) != contents(laptop)  # a machine keeps its own until it is told


@pytest.mark.slow
def test_a_lesson_that_was_forgotten_elsewhere_is_not_harvested(tmp_path: Path, team_server: TeamDatabase) -> None:
    desk = member(tmp_path / "desk" / "shop", "first", "second")
    (lesson, *_) = desk.insights.harvest()["added"]
    sync(desk, team_server.url("ann"))
    desk.insights.forget([lesson])
    sync(desk, team_server.url("ann"))
    laptop = restored(tmp_path / "laptop" / "shop", team_server)
    kept_out = laptop.insights.harvest()
    assert (lesson in kept_out["added"], kept_out["kept_out"]) == (False, 1)
    assert contents(laptop) == contents(desk)
    bob = member(tmp_path / "bob" / "shop", "third")  # who did not forget it
    assert bob.insights.harvest()["kept_out"] == 0
    laptop.insights.store(CENTS)  # what one says oneself is no harvest
    assert CENTS in contents(laptop)


def test_a_colleagues_session_teaches_no_lesson_of_ones_own(tmp_path: Path, team_server: TeamDatabase) -> None:
    ann = member(tmp_path / "ann" / "shop", "first")
    sync(ann, team_server.url("ann"))
    bob = member(tmp_path / "bob" / "shop")
    sync(bob, team_server.url("bob"))
    assert [one.id for one in bob.episodes.list()] == ["episode-first"]
    assert bob.insights.harvest()["added"] == []
    assert ann.insights.harvest()["added"]


@pytest.mark.usefixtures("ann")
@pytest.mark.slow
def test_a_session_that_is_forgotten_while_it_comes_in_stays_away(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = member(tmp_path / "bob" / "shop", "first")
    for path in (bob.root / "episodes").iterdir():
        path.unlink()
    writing = "helix_graph.sharing.replica.write_atomically"

    def forgotten_before(path: Path, data: bytes, *, synced: bool = True) -> None:
        if path.name == "episode-first.json" and path.parent.name == "episodes":
            monkeypatch.setattr(writing, write_atomically)
            assert bob.forget(["first"]).sessions == ("first",)
        write_atomically(path, data, synced=synced)

    monkeypatch.setattr(writing, forgotten_before)
    bob.team.sync(team_server.url("bob"), project="shop")
    assert not list(bob.root.rglob("episode-first.json"))
    assert list(bob.root.rglob("episode-second.json"))


@pytest.mark.slow
def test_a_record_that_is_out_of_its_bounds_costs_itself_alone(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    with TeamServer(team_server.url("ann"), "shop") as server:
        (entry, data) = next(
            (entry, data)
            for entry, data in server.contents(one for one in server.since(0) if one.kind == "record")
            if RETRY.encode() in data
        )
        spoilt = json.loads(data)
        spoilt["own"]["source"] = "x" * 9000
        server.push([ServerObject(subject=entry.subject, kind="record", data=json.dumps(spoilt).encode())])
    laptop = member(tmp_path / "laptop" / "shop")
    report = laptop.team.sync(team_server.url("ann"), project="shop", mine=True)
    assert ["9000" in one.problem for one in report.problems] == [True]
    assert [one["content"] for one in laptop.insights.newest(limit=None) if "_said_by" not in one] == []
    assert CENTS in contents(laptop)
    assert contents(ann) == sorted([CENTS, RETRY])


@pytest.mark.slow
def test_a_lost_database_comes_back_beside_the_episodes(ann: Memory, team_server: TeamDatabase) -> None:
    before = all_of(ann)
    for path in ann.root.glob("helix.db*"):
        path.unlink()
    again = Memory(ann.root)
    again.team.sync(team_server.url("ann"), mine=True)
    assert all_of(again) == before


@pytest.mark.usefixtures("ann")
@pytest.mark.slow
def test_the_command_says_what_came_back(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "laptop" / "shop" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "laptop" / "shop")
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    assert run(("sync", "--to", "--mine")) == 0
    assert "9 taken back as your own" in capsys.readouterr().out
    assert run(("sync", "--mine")) == 2
    assert "give --to as well" in capsys.readouterr().err
