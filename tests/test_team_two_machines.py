"""Two machines of one person: does each get what was edited and forgotten on the other, and is no edit lost unsaid?"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from git_world import git
from helix_cli.app import run
from helix_graph import Memory
from helix_graph.sharing.administration import add_member
from helix_graph.sharing.server import ServerObject, TeamServer
from helix_graph.trust import accept
from team_world import member
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postgres_server import TeamDatabase

    Machine = Callable[..., tuple[int, str, str]]

RETRY, RETRIED = "Retry the parcel service once before giving up", "retry-the-parcel-service-once-before-giving-up"
CENTS = "Amounts are in cents; round once, when they are printed"
RATES, BATCHES = "The rates are in cents, and rounded once", "Labels are printed in batches of forty"


@pytest.fixture
def on(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Machine:
    """Runs a command on a machine, which has a home folder and a clone of its own; the server only where it is named.

    Without ``online`` the machine works offline.
    """

    def command(machine: str, *arguments: str, online: bool = False, role: str = "ann") -> tuple[int, str, str]:
        clone = tmp_path / machine / "shop"
        (clone / ".git").mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(clone)
        monkeypatch.delenv("HELIX_DIR", raising=False)
        for name, folder in (("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")):
            monkeypatch.setenv(name, str(tmp_path / machine / folder))
        monkeypatch.delenv("HELIX_DATABASE", raising=False)
        if online or arguments[:2] == ("sync", "--to"):
            monkeypatch.setenv("HELIX_DATABASE", team_server.url(role))
        capsys.readouterr()
        code = run(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture
def two(on: Machine) -> Machine:
    """A desk with a session, an insight and two entries, and a laptop that took them back."""
    on("desk", "init")
    on("desk", "insight", "store", "--content", RETRY)
    on("desk", "topic", "store", "rates", RATES)
    on("desk", "topic", "store", "labels", BATCHES)
    session = ("--session", "fix-1", "--task", "Fix the labels of the zorkbindery", "--outcome", "success")
    on("desk", "episode", "new", *session, "--basis", "measured")
    assert exchange(on, "desk", "--mine")["pushed"] == 4
    assert exchange(on, "laptop", "--mine")["taken_back"] == 4
    return on


def exchange(on: Machine, machine: str, *options: str, role: str = "ann") -> dict[str, Any]:
    """What the command says of an exchange with the server."""
    code, said, notes = on(machine, "sync", "--to", *options, "--json", role=role)
    assert (code, "Traceback" in notes) == (0, False), notes
    team: dict[str, Any] = json.loads(said)["team"]
    return team


def settle(on: Machine, *machines: str) -> None:
    """Exchanges until nothing is said to change, and that this is soon so and stays so."""
    for _ in range(2):
        for machine in machines or ("desk", "laptop"):
            exchange(on, machine)
    for machine in machines or ("desk", "laptop"):
        team = exchange(on, machine)
        others = team["other_machines"]
        moved = [team[name] for name in ("pushed", "deleted", "taken_back", "refused", "lines_pushed")]
        assert (moved, others["changed"], others["forgotten"], others["lost"]) == ([0] * 5, 0, 0, [])


def contents(on: Machine, machine: str) -> dict[str, str]:
    """What insights say, and whose word they are."""
    _, said, _ = on(machine, "insight", "list", "--json")
    return {one["content"]: one.get("_said_by", "") for one in json.loads(said)}


def entries(on: Machine, machine: str) -> list[tuple[str, str]]:
    """The topics and texts of entries, in the order that they have in their topics."""
    _, said, _ = on(machine, "topic", "topics", "export")
    return sorted(((one["topic"], one["text"]) for one in json.loads(said)), key=lambda one: one[0])


def edit(on: Machine, machine: str, content: str, *, online: bool = False) -> None:
    assert on(machine, "insight", "edit", RETRIED, "--content", content, online=online)[0] == 0


def left(folder: Path, word: str) -> list[str]:
    """The files below a folder that have a word."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


@pytest.mark.parametrize("online", few([True, False], 1))
def test_what_was_edited_on_one_machine_is_so_on_the_other(two: Machine, *, online: bool) -> None:
    edited = {"desk": f"{RETRY} (desk)", "laptop": f"{RETRY} (laptop)"}
    for machine, other in (("desk", "laptop"), ("laptop", "desk")):
        edit(two, machine, edited[machine], online=online)
        assert exchange(two, machine)["pushed"] == (not online)
        assert two(other, "sync", "--to")[1].splitlines()[-2] == (
            "From your other machines: 1 changed, 0 forgotten; now so here too."
        )
        assert contents(two, "desk") == contents(two, "laptop") == {edited[machine]: ""}
    settle(two)


@pytest.mark.slow
def test_a_machine_that_never_asked_for_it_replaces_nothing_and_says_so(on: Machine) -> None:
    on("desk", "init")
    on("desk", "insight", "store", "--content", RETRY)
    on("desk", "insight", "store", "--content", CENTS)
    exchange(on, "desk")
    exchange(on, "laptop", "--mine")
    edit(on, "laptop", f"{RETRY} (laptop)")
    assert exchange(on, "laptop")["pushed"] == 1
    on("laptop", "insight", "forget", next(iter(_named(on, "laptop", CENTS))))
    exchange(on, "laptop")
    for _ in range(2):
        code, said, _ = on("desk", "sync", "--to")
        assert code == 0
        assert "2 of yours were changed or forgotten on another machine of yours; nothing was replaced" in said
        assert "Next: helix-graph sync --to --mine makes it so here." in said
    assert contents(on, "desk") == {RETRY: "", CENTS: ""}
    edit(on, "desk", f"{RETRY} (desk)")
    _, _, notes = on("desk", "insight", "mute", RETRIED, online=True)
    assert "changed on another machine of yours too. Next: helix-graph sync --to --mine" in notes
    others = exchange(on, "desk", "--mine")["other_machines"]
    assert (others["forgotten"], [one["lost"] for one in others["lost"]]) == (1, [f"{RETRY} (laptop)"])
    settle(on)
    assert contents(on, "desk") == contents(on, "laptop") == {}  # it is muted
    on("laptop", "insight", "mute", RETRIED, "--off")
    settle(on)
    assert contents(on, "desk") == contents(on, "laptop") == {f"{RETRY} (desk)": ""}


def _named(on: Machine, machine: str, content: str) -> list[str]:
    return [one["name"] for one in json.loads(on(machine, "insight", "list", "--json")[1]) if one["content"] == content]


@pytest.mark.parametrize("first", ["desk", "laptop"])
def test_of_two_edits_the_later_holds_and_the_other_is_named(two: Machine, first: str) -> None:
    second = {"desk": "laptop", "laptop": "desk"}[first]
    edit(two, "desk", f"{RETRY} (desk, earlier)")
    edit(two, "laptop", f"{RETRY} (laptop, later)")
    exchange(two, first)
    _, _, notes = two(second, "sync", "--to")
    whose = "this" if second == "laptop" else "the other"
    said = f"was edited on two machines of yours; the edit of {whose} machine is later and holds, not: "
    assert f'insight {RETRIED} {said}"{RETRY} (desk, earlier)"' in notes
    exchange(two, first)
    assert contents(two, "desk") == contents(two, "laptop") == {f"{RETRY} (laptop, later)": ""}
    settle(two)


def test_edits_of_two_parts_and_links_and_outcomes_come_together(two: Machine, tmp_path: Path) -> None:
    two("laptop", "insight", "store", "--content", CENTS)
    settle(two)
    desk, laptop = (Memory(tmp_path / machine / "shop" / ".helix") for machine in ("desk", "laptop"))
    edit(two, "desk", f"{RETRY} (desk)")
    two("laptop", "insight", "edit", RETRIED, "--tags", '["network"]')
    (other,) = _named(two, "laptop", CENTS)
    laptop.insights.relate(RETRIED, other, "led_to")
    desk.insights.relate(other, RETRIED, "causes")
    laptop.insights.feedback([RETRIED], "delivered", episode="episode-fix-1")
    desk.insights.feedback([RETRIED], "blocked")
    assert exchange(two, "desk")["other_machines"]["lost"] == []
    assert exchange(two, "laptop")["other_machines"]["lost"] == []
    settle(two)
    for memory in (desk, laptop):
        found = memory.insights.why(RETRIED)
        assert (found["content"], found["tags"], found["use_count"]) == (f"{RETRY} (desk)", ["network"], 2)
        assert {(one["from"], one["relation"]) for one in found["links"]} == {(RETRIED, "led_to"), (other, "causes")}
    assert desk.insights.export() == laptop.insights.export()


def test_an_entry_that_was_edited_is_so_at_its_place(two: Machine) -> None:
    two("desk", "topic", "store", "rates", "A second one")
    settle(two)
    two("desk", "topic", "edit", "revise", "rates", "--index", "0", "--text", "The rates are in euros")
    two("desk", "topic", "edit", "tag", "labels", "--index", "0", "--tags", "printer")
    exchange(two, "desk")
    assert exchange(two, "laptop")["other_machines"]["changed"] == 2
    assert entries(two, "desk") == entries(two, "laptop")
    assert ("rates", "The rates are in euros") in entries(two, "laptop")
    two("laptop", "topic", "edit", "rename", "rates", "--new-name", "tariffs")
    settle(two)
    assert entries(two, "desk") == entries(two, "laptop")
    assert entries(two, "desk")[1:] == [("tariffs", "The rates are in euros"), ("tariffs", "A second one")]


def test_an_entry_whose_tag_is_removed_again_stays_on_both(two: Machine) -> None:
    for options in (("--tags", "printer"), ("--remove", "printer")):
        assert two("desk", "topic", "edit", "tag", "labels", "--index", "0", *options, online=True)[0] == 0
        exchange(two, "laptop")
        assert entries(two, "laptop") == entries(two, "desk") == [("labels", BATCHES), ("rates", RATES)]
    settle(two)


@pytest.mark.parametrize("first", few(["desk", "laptop"], 1))
def test_of_two_edits_of_an_entry_the_later_holds(two: Machine, first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    two("desk", "topic", "edit", "append", "rates", "--index", "0", "--text", "desk")
    monkeypatch.setattr("helix_graph.topics.api.Topics._now", lambda _: 2**31 - 1)  # an hour, and more, later
    two("laptop", "topic", "edit", "append", "rates", "--index", "0", "--text", "laptop")
    monkeypatch.undo()
    second = {"desk": "laptop", "laptop": "desk"}[first]
    exchange(two, first)
    (lost,) = exchange(two, second)["other_machines"]["lost"]
    assert (lost["what"], lost["lost"].split()[-1]) == ("an entry of rates", "desk")
    settle(two)
    assert [text.split()[-1] for topic, text in entries(two, "desk") if topic == "rates"] == ["laptop"]
    assert entries(two, "desk") == entries(two, "laptop")


@pytest.mark.parametrize("first", few(["desk", "laptop"], 1))
def test_edits_of_different_parts_of_an_entry_come_together(two: Machine, first: str) -> None:
    two("desk", "topic", "edit", "revise", "rates", "--index", "0", "--text", "The rates are in euros")
    two("laptop", "topic", "edit", "tag", "rates", "--index", "0", "--tags", "money")
    two("desk", "topic", "edit", "tag", "labels", "--index", "0", "--tags", "printer,paper")
    two("laptop", "topic", "edit", "tag", "labels", "--index", "0", "--tags", "ink,paper")
    exchange(two, first)
    changes = exchange(two, {"desk": "laptop", "laptop": "desk"}[first])["other_machines"]
    assert (changes["changed"], changes["lost"]) == (2, [])
    settle(two)
    for machine in ("desk", "laptop"):
        found = {
            one["topic"]: (one["text"], set(one["tags"]))
            for topic in ("rates", "labels")
            for one in json.loads(two(machine, "topic", "read", topic, "--json")[1])["entries"]
        }
        assert found == {
            "rates": ("The rates are in euros", {"money"}),
            "labels": (BATCHES, {"printer", "paper", "ink"}),
        }


@pytest.mark.parametrize("first", few(["desk", "laptop"], 1))
def test_an_entry_that_one_machine_deleted_and_the_other_edited_is_deleted(two: Machine, first: str) -> None:
    two("desk", "topic", "edit", "append", "labels", "--index", "0", "--text", "or fifty")
    two("laptop", "topic", "edit", "delete", "labels", "--index", "0")
    exchange(two, first)
    _, _, notes = two({"desk": "laptop", "laptop": "desk"}[first], "sync", "--to")
    said = "was deleted on one of your machines and edited on another; it stays deleted, not: "
    assert f'an entry of labels {said}"{BATCHES} or fifty"' in notes
    settle(two)
    assert entries(two, "desk") == entries(two, "laptop") == [("rates", RATES)]


def test_a_question_brings_in_what_is_new_on_the_other_machine(two: Machine) -> None:
    two("desk", "topic", "edit", "revise", "rates", "--index", "0", "--text", "The rates are in euros", online=True)
    two("desk", "insight", "store", "--content", CENTS, online=True)
    edit(two, "desk", f"{RETRY} (desk)", online=True)
    edit(two, "laptop", f"{RETRY} (laptop)")
    _, found, notes = two("laptop", "topic", "search", "euros", online=True)
    assert "The rates are in euros" in found
    assert f'the edit of this machine is later and holds, not: "{RETRY} (desk)"' in notes
    assert contents(two, "laptop") == {f"{RETRY} (laptop)": "", CENTS: ""}  # both of them this user's own
    assert entries(two, "laptop") == entries(two, "desk")
    two("desk", "insight", "forget", *_named(two, "desk", CENTS), online=True)
    two("laptop", "insight", "list", online=True)
    assert contents(two, "laptop") == {f"{RETRY} (laptop)": ""}
    settle(two)
    assert contents(two, "laptop") == contents(two, "desk")


@pytest.mark.slow
def test_what_a_question_quoted_before_is_ones_own_later(on: Machine) -> None:
    on("desk", "init")
    on("desk", "topic", "store", "rates", RATES)
    exchange(on, "desk")
    on("laptop", "topic", "search", "rates", online=True)  # its memory begins from the server
    exchange(on, "laptop", "--mine")
    on("desk", "topic", "edit", "revise", "rates", "--index", "0", "--text", "The rates are in euros", online=True)
    exchange(on, "laptop")
    assert entries(on, "laptop") == [("rates", "The rates are in euros")]
    exchange(on, "desk", "--mine")
    settle(on)


def test_a_session_is_as_it_was_corrected_last_on_either_machine(two: Machine, tmp_path: Path) -> None:
    two("laptop", "episode", "outcome", "fix-1", "--failure", "--because", "CI was red")
    exchange(two, "laptop")
    assert exchange(two, "desk")["other_machines"]["changed"] == 1
    two("laptop", "episode", "outcome", "fix-1", "--partial", "--because", "half of it")
    two("desk", "episode", "outcome", "fix-1", "--unknown", "--because", "nobody looked")
    exchange(two, "desk")
    (lost,) = exchange(two, "laptop")["other_machines"]["lost"]
    assert (lost["what"], lost["kept"], lost["lost"]) == (
        "the outcome of session fix-1",
        "there",
        "partial: half of it",
    )
    settle(two)
    exchange(two, "bob", "--as", "shop", role="bob")
    for machine in ("desk", "laptop", "bob"):
        found = Memory(tmp_path / machine / "shop" / ".helix").episodes.get("fix-1")
        assert found is not None
        assert (found.outcome, found.outcome_evidence and found.outcome_evidence.quote) == ("unknown", "nobody looked")


@pytest.mark.slow
def test_of_a_decision_corrected_on_both_machines_each_part_is_as_it_was_corrected_last(
    two: Machine, tmp_path: Path
) -> None:
    decision = {"type": "design", "chosen": "Retry", "rationale": "It may pass", "context": "A timeout"}
    (tmp_path / "data.json").write_text(json.dumps({"decisions": [decision]}))
    session = ("--session", "fix-2", "--task", "Fix the rates", "--outcome", "success")
    assert two("desk", "episode", "new", *session, "--data", str(tmp_path / "data.json"))[0] == 0
    settle(two)
    correct = ("episode", "correct", "fix-2", "--decision", "d001")
    two("laptop", *correct, "--chosen", "Wait", "--context", "A slow server")
    two("desk", *correct, "--chosen", "Give up", "--rationale", "It never passes")
    settle(two)
    exchange(two, "bob", "--as", "shop", role="bob")
    for machine in ("desk", "laptop", "bob"):
        found = Memory(tmp_path / machine / "shop" / ".helix").episodes.get("fix-2")
        assert found is not None
        (one,) = found.decisions
        assert (one.chosen, one.rationale, one.context) == ("Give up", "It never passes", "A slow server")


def test_what_was_forgotten_on_one_machine_is_forgotten_on_the_other(two: Machine, tmp_path: Path) -> None:
    two("desk", "insight", "store", "--content", "The parcels go to the quuxdepot, never elsewhere")
    settle(two)
    exchange(two, "bob", "--as", "shop", role="bob")
    (name,) = _named(two, "laptop", "The parcels go to the quuxdepot, never elsewhere")
    Memory(tmp_path / "laptop" / "shop" / ".helix").insights.hand_over([name], session="fix-1", about="quuxdepot")
    exchange(two, "laptop")
    two("desk", "insight", "forget", name, online=True)
    two("laptop", "forget", "--session", "fix-1")
    two("laptop", "topic", "edit", "delete", "labels", "--index", "0")
    for machine, said in (("laptop", "1 forgotten"), ("desk", "2 forgotten (1 session)")):
        assert f"From your other machines: 0 changed, {said}; now so here too." in two(machine, "sync", "--to")[1]
    for machine in ("desk", "laptop"):
        assert left(tmp_path / machine, "zorkbindery") == left(tmp_path / machine, "quuxdepot") == []
        assert contents(two, machine) == {RETRY: ""}
        assert entries(two, machine) == [("rates", RATES)]
    settle(two)
    exchange(two, "bob", role="bob")
    assert left(tmp_path / "bob", "quuxdepot") == []  # nor does the index of bob's database keep its words
    assert (
        left(tmp_path / "bob", "zorkbindery") == left(tmp_path / "bob" / "shop" / ".helix" / "episodes", "fix-1") == []
    )


def test_a_session_that_git_has_stays_until_it_is_forgotten_here_and_that_is_said(two: Machine, tmp_path: Path) -> None:
    git(tmp_path / "laptop" / "shop", "init", "-q")
    assert two("laptop", "share", "add", "--episodes")[0] == 0
    two("desk", "forget", "--session", "fix-1", online=True)
    code, _, notes = two("laptop", "sync", "--to")
    assert code == 1
    assert "forgotten on another machine of yours; git tracks it, so `helix-graph forget fix-1` does it here" in notes
    assert two("laptop", "forget", "fix-1", online=True)[0] == 0
    assert two("laptop", "sync", "--to")[::2] == (0, "")


def test_what_was_edited_here_and_forgotten_there_is_forgotten(two: Machine) -> None:
    edit(two, "laptop", f"{RETRY} (laptop)")
    two("desk", "insight", "forget", RETRIED, online=True)
    _, out, notes = two("laptop", "sync", "--to")
    assert f"insight {RETRIED} was forgotten on another machine of yours and edited here since" in notes
    assert "0 changed, 1 forgotten; now so here too" in out
    assert contents(two, "laptop") == contents(two, "desk") == {}
    settle(two)


@pytest.mark.slow
def test_what_was_merged_on_one_machine_is_merged_on_the_other(two: Machine, tmp_path: Path) -> None:
    desk, laptop = (Memory(tmp_path / machine / "shop" / ".helix") for machine in ("desk", "laptop"))
    again = {
        "record": "insight",
        "uid": "ab" * 16,
        "slug": "again",
        "content": RETRY,
        "created_at": "2026-01-02T00:00:00Z",
    }
    lines = [{"record": "helix-insights", "version": 2}, again]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in lines))
    desk.insights.import_from(tmp_path / "own.jsonl", own=True)
    settle(two)
    desk.insights.feedback(["again"], "delivered")
    assert desk.insights.consolidate()["merged"] == 1
    two("desk", "insight", "list", online=True)  # pushed by a command, without a sync
    exchange(two, "laptop")
    assert laptop.insights.why("again")["name"] == laptop.insights.why(RETRIED)["name"]
    settle(two)
    assert laptop.insights.export() == desk.insights.export()


@pytest.mark.parametrize("who", few(["mallory", "an admin", "an archive"], 1))
def test_what_somebody_else_deleted_or_says_to_be_forgotten_stays(
    two: Machine, tmp_path: Path, team_server: TeamDatabase, who: str
) -> None:
    rows = team_server.execute("SELECT subject, kind, data FROM helix_team.object WHERE author = 'ann'")
    subjects = [subject for subject, _, _ in rows]
    if who == "mallory":
        add_member(team_server.url(), "shop", "mallory")
        with TeamServer(team_server.url("mallory"), "shop") as server:
            server.push([ServerObject(subject=subject, kind=kind, data=data) for subject, kind, data in rows])
            server.delete(subjects)
    elif who == "an admin":
        add_member(team_server.url(), "shop", "root_of_all", role="admin")
        team_server.execute("DELETE FROM helix_team.object WHERE author = 'ann'", role="root_of_all")
    else:
        theirs = member(tmp_path / "theirs", "another")
        (theirs.root / "team").mkdir(mode=0o700)
        (theirs.root / "team" / "state.json").write_text(json.dumps({"project": "shop", "mine": True}))
        (theirs.root / "forgotten").mkdir(exist_ok=True)
        for subject in subjects:
            (theirs.root / "forgotten" / f"{subject}.json").write_text("{}")
        shutil.copytree(theirs.root.parent, tmp_path / "download" / "shop")
        accept(tmp_path / "download" / "shop" / ".helix", how="trust")
        assert two("download", "sync", "--to", "--as", "shop")[0] in {0, 1}
        assert two("download", "forget", "--session", "another", online=True)[0] in {0, 1}
    for machine in ("desk", "laptop"):
        others = exchange(two, machine)["other_machines"]
        assert (others["changed"], others["forgotten"]) == (0, 0)
        assert contents(two, machine) == {RETRY: ""}
        assert len(entries(two, machine)) == 2
        assert (tmp_path / machine / "shop" / ".helix" / "episodes" / "episode-fix-1.json").exists()


@pytest.mark.slow
def test_a_machine_that_noted_no_exchange_yet_takes_part_as_the_others(two: Machine, tmp_path: Path) -> None:
    edit(two, "desk", f"{RETRY} (desk)")
    exchange(two, "desk")
    (tmp_path / "laptop" / "shop" / ".helix" / "team" / "exchanged.json").unlink()  # an older version wrote none
    assert exchange(two, "laptop")["other_machines"]["changed"] == 1
    assert contents(two, "laptop") == {f"{RETRY} (desk)": ""}
    (tmp_path / "laptop" / "shop" / ".helix" / "team" / "exchanged.json").unlink()
    two("desk", "insight", "forget", RETRIED, online=True)
    assert exchange(two, "laptop")["other_machines"]["forgotten"] == 1
    settle(two)


@pytest.mark.usefixtures("two")
def test_of_what_both_pushed_at_once_nothing_is_replaced(team_server: TeamDatabase) -> None:
    with TeamServer(team_server.url("ann"), "shop") as server:
        (entry, data) = next((one, data) for one, data in server.contents(server.own_entries()) if b"parcel" in data)
        newer = ServerObject(subject=entry.subject, kind="record", data=data.replace(b"once", b"twice"))
        assert server.store([newer], replacing=["0" * 64]) == set()
        assert server.store([newer], replacing=[entry.hash]) == {entry.subject}
