"""Do memories that share through a PostgreSQL server come to know the same, whoever is away in between?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_graph.errors import TeamServerFailed
from helix_graph.shared_authors import entries_of_others
from helix_graph.sharing.replica import Replica
from helix_graph.topics.ranking import busiest_topics
from helix_graph.trust import shared_episodes
from team_world import FAILURE, contents, member, sync

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph import Memory
    from helix_graph.sharing.records import ShareProblem
    from helix_graph.sharing.server import ServerEntry
    from postgres_server import TeamDatabase

RETRY = "Retry the parcel service once before giving up on a label"
SAID = "Vic says retry once, and no more"


@pytest.fixture
def ann(tmp_path: Path) -> Memory:
    return member(tmp_path / "ann", "ann-session-one", "ann-session-two")


@pytest.fixture
def bob(tmp_path: Path) -> Memory:
    return member(tmp_path / "bob")


def test_what_one_pushes_the_other_knows_with_its_author(ann: Memory, bob: Memory, team_server: TeamDatabase) -> None:
    for text in (RETRY, SAID):
        ann.insights.store(text)
    ann.topics.store("rates", "The rates are in cents, and rounded once at the end")
    assert sync(ann, team_server.url("ann")) == (5, 0, 0)
    assert sync(bob, team_server.url("bob")) == (0, 5, 0)
    answer = bob.graph.seen(FAILURE)
    assert {one.episode for one in answer.precedents} <= {"episode-ann-session-one", "episode-ann-session-two"}
    assert {one.author for one in answer.precedents} == {"ann"}
    assert shared_episodes(bob.root, ["episode-ann-session-one"])
    assert contents(bob) == sorted([RETRY, SAID])
    assert [one.file for one in bob.doctor().findings] == [".gitignore"]  # a memory of `helix-graph init` has one
    assert [one.source for one in bob.topics.topics("export").entries] == ["shared (team server, by ann)"]
    assert busiest_topics(bob.root, since=0, limit=5, without=entries_of_others(bob.root)) == []  # hooks name none
    assert busiest_topics(ann.root, since=0, limit=5, without=entries_of_others(ann.root)) == [("rates", 1)]
    assert "team server, by ann" in str(bob.insights.why(bob.insights.newest()[0]["name"]))


def test_syncing_again_changes_nothing_and_nobody_pushes_what_is_another_s(
    ann: Memory, bob: Memory, team_server: TeamDatabase
) -> None:
    ann.insights.store(RETRY)
    sync(ann, team_server.url("ann"))
    sync(bob, team_server.url("bob"))
    before = team_server.execute("SELECT * FROM helix_team.object ORDER BY at")
    known = contents(bob), bob.graph.seen(FAILURE)
    for memory, role in ((ann, "ann"), (bob, "bob"), (ann, "ann")):
        assert sync(memory, team_server.url(role)) == (0, 0, 0)
    assert team_server.execute("SELECT * FROM helix_team.object ORDER BY at") == before
    assert (contents(bob), bob.graph.seen(FAILURE)) == known


def test_work_goes_on_without_the_server_and_edits_reach_it_later(
    ann: Memory, bob: Memory, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(ann.insights.store(RETRY)["name"])
    sync(ann, team_server.url("ann"))
    sync(bob, team_server.url("bob"))
    monkeypatch.setattr("helix_graph.sharing.server._PAUSES", ())
    with pytest.raises(TeamServerFailed, match="cannot be reached"):
        ann.team.sync("postgresql://ann@localhost:1/nowhere")
    ann.insights.edit(name, content=f"{RETRY}, and then twice")
    bob.insights.store(SAID)
    assert sync(bob, team_server.url("bob")) == (1, 0, 0)
    assert sync(ann, team_server.url("ann")) == (1, 1, 0)
    assert sync(bob, team_server.url("bob")) == (0, 1, 0)
    assert contents(bob) == contents(ann) == sorted([SAID, f"{RETRY}, and then twice"])


def test_an_own_session_is_never_replaced(ann: Memory, bob: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    sync(ann, team_server.url("ann"))
    other = member(tmp_path / "other", "ann-session-one")
    path = other.root / "episodes" / "episode-ann-session-one.json"
    path.write_text(path.read_text().replace("Fix the labels", "Something else"))
    before = path.read_bytes()
    other.team.sync(team_server.url("bob"), project="shop")
    assert path.read_bytes() == before
    assert not shared_episodes(other.root, [path.stem])
    sync(bob, team_server.url("bob"))
    assert "Something else" not in (bob.root / "episodes" / path.name).read_text()  # the first of a name stays


def test_what_is_recorded_here_is_one_s_own_again(tmp_path: Path, ann: Memory, team_server: TeamDatabase) -> None:
    sync(ann, team_server.url("ann"))
    laptop = member(tmp_path / "laptop")
    assert sync(laptop, team_server.url("ann")) == (0, 2, 0)
    assert shared_episodes(laptop.root, ["episode-ann-session-one"])
    laptop.extract([tmp_path / "ann" / "logs"])
    assert not shared_episodes(laptop.root, ["episode-ann-session-one", "episode-ann-session-two"])
    assert sync(laptop, team_server.url("ann")) == (0, 0, 0)


@pytest.mark.slow
def test_a_memory_that_was_cut_short_goes_on(ann: Memory, bob: Memory, team_server: TeamDatabase) -> None:
    ann.insights.store(RETRY)
    sync(ann, team_server.url("ann"))
    take_in, failed = type(bob.sharing).take_in, OSError("the power is gone")

    def cut_short(*_: object, **__: object) -> None:
        raise failed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(bob.sharing), "take_in", cut_short)
        with pytest.raises(OSError, match="power"):
            sync(bob, team_server.url("bob"))
    assert contents(bob) == []
    assert type(bob.sharing).take_in is take_in
    sync(bob, team_server.url("bob"))
    assert contents(bob) == [RETRY]


@pytest.mark.slow
def test_who_is_killed_while_reading_goes_on_where_it_was(
    ann: Memory, bob: Memory, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.insights.store(RETRY)
    sync(ann, team_server.url("ann"))
    looked_at: list[int] = []
    keep = Replica.keep

    def killed(self: Replica, entry: ServerEntry, data: bytes) -> ShareProblem | None:
        looked_at.append(entry.at)
        if len(looked_at) == 3:
            raise KeyboardInterrupt
        return keep(self, entry, data)

    monkeypatch.setattr("helix_graph.sharing.team._SAVED_EVERY", 0.0)
    monkeypatch.setattr(Replica, "keep", killed)
    with pytest.raises(KeyboardInterrupt):
        bob.team.sync(team_server.url("bob"), project="shop")
    assert sync(bob, team_server.url("bob")) == (0, 1, 0)
    assert looked_at == [*sorted(set(looked_at)), looked_at[-1]]  # only the one it was killed at comes again
    assert contents(bob) == [RETRY]


@pytest.mark.slow
def test_a_server_that_was_set_up_anew_gets_everything_again(
    ann: Memory, bob: Memory, team_server: TeamDatabase
) -> None:
    ann.insights.store(RETRY)
    assert sync(ann, team_server.url("ann"))[0] == 3
    sync(bob, team_server.url("bob"))
    again = team_server.server.team_database()
    assert sync(bob, again.url("bob")) == (0, 0, 0)
    assert sync(ann, again.url("ann")) == (3, 0, 0)
    assert sync(bob, again.url("bob")) == (0, 0, 0)
    assert contents(bob) == [RETRY]


def test_secrets_and_giants_stay_here_and_are_named(ann: Memory, team_server: TeamDatabase) -> None:
    path = ann.root / "episodes" / "episode-ann-session-one.json"
    path.write_text(path.read_text().replace("Fix the labels", "gh" + "p_" + "Zq3Vb8Xw2Rk6Tm9Yp4Ls7Nd1Hf5Jc0Ga9Ue3"))
    done = ann.team.sync(team_server.url("ann"), project="shop")
    assert done.pushed == 1
    assert {one.file for one in done.problems} == {f"episodes/{path.name}"}
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(1,)]


def test_sessions_come_as_their_people_have_corrected_them(ann: Memory, bob: Memory, team_server: TeamDatabase) -> None:
    sync(ann, team_server.url("ann"))
    name = ann.episodes.list()[0].id
    ann.episodes.outcome(name, "failure", because="the labels came out wrong in production")
    assert sync(ann, team_server.url("ann"))[0] == 1
    assert sync(ann, team_server.url("ann"))[0] == 0
    sync(bob, team_server.url("bob"))
    found = bob.episodes.require(name)
    assert found.outcome == "failure"
    assert found == ann.episodes.require(name)


@pytest.mark.slow
def test_entries_that_are_the_same_in_all_are_one_on_the_server(
    ann: Memory, bob: Memory, team_server: TeamDatabase
) -> None:
    twice = '[{"topic": "rates", "text": "in cents", "stored": "2026-03-01T10:00:00Z"}]'
    for _ in range(2):
        ann.topics.topics("import", json=twice, force=True)
    assert len(ann.topics.read("rates").entries) == 2
    assert sync(ann, team_server.url("ann")) == (3, 0, 0)
    assert sync(ann, team_server.url("ann")) == (0, 0, 0)
    sync(bob, team_server.url("bob"))
    assert len(bob.topics.read("rates").entries) == 1
    assert sync(bob, team_server.url("bob")) == (0, 0, 0)


@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o666), lambda path: (path.unlink(), path.mkdir())])
def test_an_episode_that_cannot_be_read_here_stops_no_sync_and_is_named(
    ann: Memory, bob: Memory, team_server: TeamDatabase, spoil: Callable[[Path], object]
) -> None:
    spoil(ann.root / "episodes" / "episode-ann-session-one.json")
    told = ann.team.sync(team_server.url("ann"), project="shop")
    assert [one.file for one in told.problems] == ["episodes/episode-ann-session-one.json"]
    assert "cannot be read" in told.problems[0].problem
    assert sync(bob, team_server.url("bob"))[1] == 1
