"""With nothing but ``HELIX_DATABASE``: does a fresh machine answer at once, and does everybody see what one stores?"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_cli.mcp.dispatch import answer
from helix_cli.mcp.tool_declaration import tools_by_name
from helix_graph.sharing.administration import add_member
from hook_calls import call
from team_world import FAILURE, member
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph import Memory
    from postgres_server import TeamDatabase

    Client = Callable[..., tuple[int, str, str]]

RETRY = "Retry the parcel service once before giving up on a label"
RATES = "The rates are in cents, and rounded once at the end"


@pytest.fixture
def client(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Client:
    """Runs a command as somebody, in a clone of the project on a machine of their own."""

    def command(who: str, *arguments: str, folder: str = "shop") -> tuple[int, str, str]:
        here(tmp_path, team_server, monkeypatch, who, folder=folder)
        capsys.readouterr()
        code = run(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def here(
    tmp_path: Path, server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, who: str, *, folder: str = "shop"
) -> Path:
    """Goes to somebody's clone, which has no memory before the first question."""
    clone = tmp_path / who / folder
    (clone / ".git").mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(clone)
    monkeypatch.delenv("HELIX_DIR", raising=False)
    monkeypatch.setenv("HELIX_DATABASE", server.url(who))
    return clone


@pytest.fixture
def ann(tmp_path: Path, team_server: TeamDatabase) -> Memory:
    """Somebody whose memory the team has."""
    memory = member(tmp_path / "of-ann" / "shop", "first", "second")
    memory.insights.store(RETRY)
    memory.topics.store("rates", RATES)
    memory.team.sync(team_server.url("ann"), project="shop")
    memory.graph.compile()
    return memory


QUESTIONS = (
    ("seen", FAILURE),
    ("issues",),
    ("insight", "list"),
    ("topic", "search", "rates"),
    ("search", "parcel service"),
    ("search", "rates in cents"),
    ("runbook",),
    ("insight", "recall", "parcel service"),
    ("topic", "topics"),
    ("highlights",),
)


#: What says whose something is: the one thing in which what a team has differs from what is one's own.
_WHOSE = {"shared", "shared_fixed", "author", "_said_by", "said_by", "source", "path"}


def without_authors(value: object) -> object:
    """An answer without what says whose each part is; a source that was not searched says where it would be."""
    if isinstance(value, dict):
        return {key: without_authors(one) for key, one in value.items() if key not in _WHOSE and key != "problem"}
    return [without_authors(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("question", few(QUESTIONS, 1), ids=" ".join)
def test_a_fresh_machine_answers_its_first_question_as_a_memory_of_the_same_sessions(
    ann: Memory,
    client: Client,
    question: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, said, notes = client("bob", *question, "--json")
    assert code == 0
    assert "The memory began from the team project shop: 2 sessions, 2 other records." in notes
    code, again, notes = client("bob", *question, "--json")
    assert (code, again) == (0, said)
    assert "began" not in notes
    monkeypatch.delenv("HELIX_DATABASE")
    monkeypatch.chdir(ann.root.parent)
    assert run((*question, "--json")) == 0
    own = capsys.readouterr().out
    assert without_authors(json.loads(said)) == without_authors(json.loads(own))
    if question in {("issues",), ("runbook",), ("topic", "topics")}:
        assert said == own
    assert json.loads(said)


@pytest.mark.usefixtures("ann")
def test_a_tool_of_an_agent_answers_on_a_fresh_machine(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(tmp_path, team_server, monkeypatch, "bob")
    said = answer("seen", {"text": FAILURE}, lambda *_: None, tools=tools_by_name("all"))
    assert 'shared by "ann"' in said.text


@pytest.mark.usefixtures("ann")
@pytest.mark.slow
def test_of_several_questions_at_once_one_begins_the_memory(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here(tmp_path, team_server, monkeypatch, "bob")
    with ThreadPoolExecutor(4) as agents:
        asked = [
            agents.submit(answer, "search", {"query": "rates"}, lambda *_: None, tools=tools_by_name("all"))
            for _ in range(4)
        ]
    assert all("in cents" in one.result().text for one in asked)
    assert capsys.readouterr().err.count("The memory began") == 1


@pytest.mark.slow
def test_what_one_stores_changes_or_forgets_is_so_for_everybody_at_once(client: Client) -> None:
    def done(who: str, *arguments: str) -> str:
        code, said, notes = client(who, *arguments)
        assert code == 0, notes
        return said

    done("ann", "insight", "store", "--content", RETRY)
    done("ann", "topic", "store", "rates", RATES)
    assert RETRY in done("bob", "insight", "list")
    assert "by ann" in done("bob", "topic", "search", "cents", "--json")
    done("bob", "topic", "store", "labels", "Labels are printed in batches of forty")
    assert "forty" in done("ann", "topic", "search", "labels")

    done("ann", "topic", "edit", "revise", "rates", "--index", "0", "--text", "The rates are in euros since March")
    found = done("bob", "topic", "search", "rates")
    assert "euros" in found
    assert "cents" not in found
    name = json.loads(done("ann", "insight", "list", "--json"))[0]["name"]
    done("ann", "insight", "edit", name, "--content", "Retry the parcel service twice before giving up")
    assert "twice" in done("bob", "insight", "list")
    done("ann", "insight", "forget", name)
    assert "twice" not in done("bob", "insight", "list")
    done("ann", "topic", "edit", "delete", "rates", "--all")
    assert "euros" not in done("bob", "topic", "search", "rates")


def test_what_an_agent_stores_is_known_to_the_others_at_once(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    here(tmp_path, team_server, monkeypatch, "ann")
    stored = answer("remember", {"content": RETRY}, lambda *_: None, tools=tools_by_name("all"))
    assert not stored.failed, stored.text
    assert RETRY in client("bob", "insight", "list")[1]


@pytest.mark.slow
def test_what_was_stored_while_the_server_was_away_follows_with_the_next_question(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client("ann", "insight", "list")
    client("bob", "insight", "list")
    monkeypatch.chdir(tmp_path / "ann" / "shop")
    monkeypatch.setenv("HELIX_DATABASE", "postgresql://ann@localhost:1/team")
    assert run(("insight", "store", "--content", RETRY)) == 0
    assert RETRY not in client("bob", "insight", "list")[1]
    (tmp_path / "ann" / "shop" / ".helix" / "team" / "away").unlink()  # a minute later
    assert RETRY in client("ann", "insight", "list")[1]
    assert RETRY in client("bob", "insight", "list")[1]


def test_a_reader_is_told_that_what_one_stores_stays_here(client: Client, team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "shop", "reader", role="reader")
    assert "may only read" not in client("reader", "insight", "list")[2]
    code, _, notes = client("reader", "insight", "store", "--content", RETRY)
    assert code == 0
    assert "reader may only read on the server: it stays here" in notes
    assert "may only read" not in client("reader", "insight", "list")[2]
    assert RETRY not in client("bob", "insight", "list")[1]


def test_a_folder_that_is_no_project_of_the_team_gets_no_memory(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said, notes = client("bob", "seen", FAILURE, folder="elsewhere")
    assert (code, said) == (1, "")
    assert "bob is no member of the project elsewhere on the team's server" in notes
    assert "helix-graph sync --to --as NAME" in notes
    assert not (tmp_path / "bob" / "elsewhere" / ".helix").exists()
    monkeypatch.setenv("HELIX_DATABASE", "postgresql://bob@localhost:1/team")
    monkeypatch.chdir(tmp_path / "bob" / "elsewhere")
    assert run(("seen", FAILURE)) == 1
    assert not (tmp_path / "bob" / "elsewhere" / ".helix").exists()


@pytest.mark.usefixtures("ann")
def test_hooks_begin_no_memory(tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = here(tmp_path, team_server, monkeypatch, "bob")
    call("session-start", {"session_id": "s", "cwd": str(clone)})
    assert not (clone / ".helix").exists()


@pytest.mark.usefixtures("ann")
@pytest.mark.slow
def test_a_first_answer_comes_within_its_time_and_says_that_more_is_left(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "helix-graph").mkdir(parents=True)
    (tmp_path / "config" / "helix-graph" / "config.toml").write_text("[team]\nfirst_seconds = 0.0\n")
    code, _, notes = client("bob", "issues")
    assert code == 0
    assert "more are left. Next: helix-graph sync --to" in notes
    for _ in range(3):
        client("bob", "issues")
    found = client("bob", "seen", FAILURE, "--json")[1]
    assert len(json.loads(found)["precedents"]) == 2
