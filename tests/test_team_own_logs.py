"""Does what a colleague pushed stand in the way of what this user's own logs say, or pass for it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from git_world import git
from helix_graph.sharing.replica import subject_of_session
from helix_graph.sharing.server import ServerObject, TeamServer
from helix_graph.trust import shared_episodes
from session_script import Script
from team_world import FAILURE, member
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory
    from postgres_server import TeamDatabase

SESSION = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
EMPTY: dict[str, Any] = {"decisions": [], "events": [], "edges": [], "provenance": {"sha256": "0" * 64}}
WORDS = "what bob would have this session say"


def said_by_bob(memory: Memory, **changes: object) -> dict[str, Any]:
    """An episode that bob made of the one in this memory."""
    said: dict[str, Any] = json.loads((memory.root / "episodes" / f"episode-{SESSION}.json").read_text())
    provenance = said["provenance"] | changes.pop("provenance", {})
    said |= {"task": WORDS, **changes, "provenance": provenance}
    return said | {"id": f"episode-{said['session']}"}


def session() -> Script:
    """A session whose steps have ids that are unique in the world."""
    log = Script(SESSION).prompt("Fix the labels").run("pytest -q", f"E   {FAILURE}\n1 failed in 0.1s", code=1)
    return numbered(log.edit("pyproject.toml", new="parcels = 1").run("pytest -q", "1 passed in 0.1s"))


def numbered(log: Script) -> Script:
    for number, record in enumerate(log.records):
        record |= {"uuid": f"7a3cf82d-9284-4b61-9e6b-d409226e{number:04x}", "parentUuid": None}
    return log


def pushed_by_bob(memory: Memory, server: TeamDatabase, **changes: object) -> None:
    said = said_by_bob(memory, **changes)
    data = json.dumps(said).encode()
    with TeamServer(server.url("bob"), "shop") as opened:
        opened.push([ServerObject(subject=subject_of_session(said["session"]), kind="episode", data=data)])


@pytest.fixture
def desk(tmp_path: Path, team_server: TeamDatabase) -> Memory:
    """Ann's memory at her desk, whose session she has pushed."""
    memory = member(tmp_path / "desk")
    memory.extract([session().save(tmp_path / "logs")])
    assert memory.team.sync(team_server.url("ann"), project="shop").pushed == 1
    return memory


def test_no_session_of_theirs_is_the_origin_of_an_own_one(
    desk: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    pushed_by_bob(desk, team_server, session="bobs", **EMPTY)
    assert desk.team.sync(team_server.url("ann"), project="shop").pulled.episodes == 1
    keeps_its_own_steps(desk, tmp_path)


def test_no_committed_session_is_the_origin_of_an_own_one(desk: Memory, tmp_path: Path) -> None:
    theirs = desk.root / "episodes" / "episode-bobs.json"
    theirs.write_text(json.dumps(said_by_bob(desk, session="bobs", **EMPTY)))
    (desk.root.parent / ".git").rmdir()
    git(desk.root.parent, "init", "-q")
    git(desk.root.parent, "add", "-f", str(theirs))
    keeps_its_own_steps(desk, tmp_path)


def keeps_its_own_steps(desk: Memory, tmp_path: Path) -> None:
    """The session goes on, and what it was before is there as it was."""
    before = desk.episodes.get(SESSION)
    assert before is not None
    assert before.events
    grown = session().prompt("And now the readme").edit("README.md").run("pytest -q", "2 passed in 0.1s")
    desk.extract([numbered(grown).save(tmp_path / "logs")])
    after = desk.episodes.get(SESSION)
    assert after is not None
    assert after.events[: len(before.events)] == before.events
    assert [one.id for one in before.decisions] == [one.id for one in after.decisions][: len(before.decisions)]


@pytest.mark.parametrize(
    "changes",
    few(
        [
            {"provenance": {"sha256": "0" * 64}},  # of another log
            {},  # of this very log
            {"session": "bobs", "provenance": {"log": "another.jsonl"}},  # of this log under another name
        ],
        1,
    ),
)
def test_an_own_log_says_what_an_own_session_is(
    desk: Memory, tmp_path: Path, team_server: TeamDatabase, changes: dict[str, Any]
) -> None:
    pushed_by_bob(desk, team_server, **changes)
    desk.forget([SESSION])
    laptop = member(tmp_path / "laptop")
    desk.team.sync(team_server.url("ann"), project="shop")  # hers is gone there, so bob's is what a new machine gets
    assert laptop.team.sync(team_server.url("ann"), project="shop").pulled.episodes == 1
    done = laptop.extract([session().save(tmp_path / "logs")])
    assert [(one.session, one.change) for one in done.recorded] == [(SESSION, "written")]
    own = laptop.episodes.get(SESSION)
    assert own is not None
    assert own.task == "Fix the labels"
    theirs = {f"episode-{changes['session']}"} if "session" in changes else set()
    assert shared_episodes(laptop.root, [f"episode-{SESSION}", "episode-bobs"]) == theirs
    again = laptop.extract([session().save(tmp_path / "logs")])
    assert [(one.session, one.change) for one in again.recorded] == [(SESSION, "unchanged")]
