"""Do questions know what the team knows by now, within their time, and does nothing else ask the server?"""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING

import pytest
from team_server import measured

from helix_cli.app import run
from helix_cli.mcp.dispatch import answer
from helix_cli.mcp.tool_declaration import tools_by_name
from helix_graph.sharing.server import TeamServer
from hook_calls import call
from team_world import FAILURE, an_object, contents, member, sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph import Memory
    from postgres_server import PostgresServer, TeamDatabase

RETRY = "Retry the parcel service once before giving up on a label"


@pytest.fixture
def bob(tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Somebody who takes part, stands in the project and has named the server for good."""
    memory = member(tmp_path / "bob")
    sync(memory, team_server.url("bob"))
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("bob"))
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    return memory


@pytest.fixture
def silent_server() -> Iterator[tuple[str, list[int]]]:
    """An address at which somebody listens and never answers; and how many connections there were."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        found: list[int] = []
        yield f"postgresql://bob@127.0.0.1:{listening.getsockname()[1]}/team", found
        try:
            while True:
                listening.accept()[0].close()
                found.append(1)
        except (BlockingIOError, TimeoutError):
            pass


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    capsys.readouterr()
    assert run(arguments) == 0
    said = capsys.readouterr()
    return said.out, said.err


@pytest.mark.slow
@pytest.mark.usefixtures("bob")
def test_questions_know_what_others_have_pushed_since(
    tmp_path: Path, team_server: TeamDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "not seen" in asked(capsys, "seen", FAILURE)[0].lower()
    ann = member(tmp_path / "ann", "of-ann", "of-ann-too")
    ann.insights.store(RETRY)
    ann.topics.store("rates", "The rates are in cents, and rounded once at the end")
    ann.team.sync(team_server.url("ann"), project="shop")
    seen, said = asked(capsys, "seen", FAILURE, "--json")
    assert {one["author"] for one in json.loads(seen)["precedents"]} == {"ann"}
    assert said == ""
    assert RETRY in asked(capsys, "insight", "list")[0]
    assert "rounded once" in asked(capsys, "topic", "search", "rates")[0]
    assert RETRY in asked(capsys, "search", "parcel service")[0]
    assert "parcels" in asked(capsys, "issues")[0]
    assert "pytest -q" in asked(capsys, "runbook")[0]


@pytest.mark.usefixtures("bob")
def test_tools_of_agents_know_it_too(tmp_path: Path, team_server: TeamDatabase) -> None:
    member(tmp_path / "ann", "of-ann").team.sync(team_server.url("ann"), project="shop")
    tools = tools_by_name("all")
    said = answer("seen", {"text": FAILURE}, lambda *_: None, tools=tools)
    assert not said.failed
    assert 'shared by "ann"' in said.text


def test_a_server_that_is_away_is_named_once_a_minute_and_answers_come_all_the_same(
    bob: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bob.insights.store(RETRY)
    monkeypatch.setenv("HELIX_DATABASE", "postgresql://bob:word@localhost:1/team")
    found, said = asked(capsys, "insight", "list")
    assert RETRY in found
    assert "the team's server at localhost:1 cannot be reached" in said
    assert "word" not in said
    assert asked(capsys, "insight", "list") == (found, "")


@pytest.mark.usefixtures("bob")
def test_a_wrong_address_does_not_keep_the_right_one_waiting(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = member(tmp_path / "ann")
    ann.insights.store(RETRY)
    ann.team.sync(team_server.url("ann"), project="shop")
    monkeypatch.setenv("HELIX_DATABASE", "postgresql://bob:word@localhost:1/team")
    assert "cannot be reached" in asked(capsys, "insight", "list")[1]
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("bob"))
    assert RETRY in asked(capsys, "insight", "list")[0]


@pytest.mark.slow
def test_a_server_that_never_answers_costs_a_question_few_seconds(
    bob: Memory, silent_server: tuple[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_DATABASE", silent_server[0])
    begun = time.monotonic()
    pulled = bob.follow_team()
    assert pulled is not None
    assert "cannot be reached" in pulled.away
    assert time.monotonic() - begun < 10  # about two on a quiet machine


def test_a_memory_that_takes_no_part_asks_nobody(
    tmp_path: Path, silent_server: tuple[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, connections = silent_server
    monkeypatch.setenv("HELIX_DATABASE", address)
    assert member(tmp_path / "alone").follow_team() is None
    assert connections == []


@pytest.mark.slow
def test_hooks_ask_no_server(
    bob: Memory, silent_server: tuple[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, connections = silent_server
    monkeypatch.setenv("HELIX_DATABASE", address)
    monkeypatch.delenv("HELIX_DIR")
    where = {"session_id": "s", "cwd": str(bob.root.parent)}
    for event, more in (
        ("session-start", {}),
        ("user-prompt-submit", {"prompt": "Fix the labels of the parcel service"}),
        ("post-tool-use", {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_response": FAILURE}),
    ):
        assert call(event, {**where, **more}).code == 0
    assert connections == []


def test_a_repository_s_settings_name_no_server(
    bob: Memory, silent_server: tuple[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, connections = silent_server
    monkeypatch.delenv("HELIX_DATABASE")
    (bob.root / "config.toml").write_text(f'[team]\ndatabase = "{address}"\n')
    pulled = bob.follow_team()
    assert pulled is not None
    assert (pulled.objects, pulled.away, connections) == (0, "", [])


def test_the_user_s_own_settings_do(
    tmp_path: Path, bob: Memory, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = member(tmp_path / "ann")
    ann.insights.store(RETRY)
    sync(ann, team_server.url("ann"))
    monkeypatch.delenv("HELIX_DATABASE")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "helix-graph").mkdir(parents=True)
    written = f'[team]\ndatabase = "{team_server.url("bob")}"\nseconds = 5\n'
    (tmp_path / "config" / "helix-graph" / "config.toml").write_text(written)
    bob.follow_team()
    assert contents(bob) == [RETRY]


@pytest.mark.slow
def test_a_restarted_server_is_found_again(postgres: PostgresServer, team_server: TeamDatabase) -> None:
    with TeamServer(team_server.url("ann"), "shop") as ann:
        assert ann.push([an_object(b"one")]) == 1
        postgres.stop("immediate")
        postgres.start()
        assert ann.push([an_object(b"two")]) == 1
    assert team_server.execute("SELECT data FROM helix_team.object") == [(b"two",)]


@pytest.mark.slow
@pytest.mark.usefixtures("postgres")
def test_nothing_acknowledged_is_lost_when_a_writer_is_killed_and_the_server_restarted() -> None:
    found = measured(writers=4, seconds=4)
    assert found.acknowledged > 20
    assert (found.lost, found.missed, found.sums_exact) == (0, 0, True)
    assert found.unsaid <= 1  # what the killed writer had under way
