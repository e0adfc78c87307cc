"""What the team's server keeps for its author alone: does it come back, unseen by others, and can it be forgotten?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph.sharing.administration import add_member, set_up
from helix_graph.sharing.records import session_hash
from helix_graph.sharing.server import TeamServer
from helix_graph.sharing.server_schema import script
from team_world import an_object, contents, member, refused, sync
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory
    from postgres_server import TeamDatabase

RETRY = "Retry the parcel service once before giving up on a label"
CENTS = "Amounts are in cents; round once, when the invoice is printed"
QUESTION = "why do the labels of the bindery fail"
UID = "ab" * 16


@pytest.fixture
def ann(tmp_path: Path) -> Memory:
    """Somebody to whom advice was shown in a session, and who said what came of it."""
    memory = member(tmp_path / "desk" / "shop", "first", "second")
    names = [str(memory.insights.store(text)["name"]) for text in (RETRY, CENTS)]
    memory.insights.hand_over(names, session="first", about=QUESTION)
    memory.insights.feedback(names, "delivered", causal_names=names[:1], episode="episode-first")
    return memory


def elsewhere(folder: Path, server: TeamDatabase, role: str = "ann") -> Memory:
    """A second machine of that role, with all that it may take back."""
    memory = member(folder)
    assert memory.team.sync(server.url(role), project="shop", mine=True).problems == ()
    return memory


def after_the_third_version(ann: Memory, folder: Path, server: TeamDatabase) -> Memory:
    """A second machine of hers that took back what a server without lines had, before that server got her lines."""
    server.execute("DROP SCHEMA helix_team CASCADE")
    server.execute(script(version=3))
    server.execute("INSERT INTO helix_team.member VALUES ('shop', 'ann', 'member')")
    sync(ann, server.url("ann"))
    laptop = elsewhere(folder, server)
    set_up(server.url())
    sync(laptop, server.url("ann"))
    assert lines_of(server) == ""  # it knows no more than everybody
    sync(ann, server.url("ann"))
    return laptop


def name_of(memory: Memory, content: str) -> str:
    return next(str(one["name"]) for one in memory.insights.newest(limit=None) if one["content"] == content)


def lines_of(server: TeamDatabase) -> str:
    return "".join(
        text for (text,) in server.execute("SELECT convert_from(data, 'UTF8') FROM helix_team.private ORDER BY at")
    )


def records_of(server: TeamDatabase) -> str:
    return str(server.execute("SELECT convert_from(data, 'UTF8') FROM helix_team.object WHERE kind = 'record'"))


def brought(folder: Path, *, uid: str = UID, content: str = "Prices of the shop are rounded up, always") -> Path:
    """A file of somebody else that praises its own advice."""
    insight = {"record": "insight", "uid": uid, "slug": "theirs", "content": content, "created_at": _THEN}
    praise = {"effectiveness": 1.0, "use_count": 9, "causal_hits": 9}
    entry: dict[str, Any] = {"record": "feedback", "id": "1" * 32, "ts": _THEN, "kind": "given", "standing": praise}
    entry |= {"verdicts": [{"uid": uid, "name": "theirs", "causal": True}]}
    return written(folder / "theirs.jsonl", insight, entry)


def written(path: Path, *records: dict[str, Any]) -> Path:
    """An export of these records."""
    header = {"record": "helix-insights", "version": 2}
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in (header, *records)))
    return path


_THEN = "2026-01-02T00:00:00Z"


def test_what_was_shown_and_why_it_was_judged_come_back(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    sync(ann, team_server.url("ann"))
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    assert laptop.insights.export() == ann.insights.export()
    why = laptop.insights.why(name_of(laptop, RETRY))
    assert [(one["session"], one["query"]) for one in why["injected"]] == [("first", QUESTION)]
    assert why["feedback"][0]["reason"] == "named as causal"


def test_again_nothing_is_pushed_and_the_report_counts_them_apart(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    report = ann.team.sync(team_server.url("ann"), project="shop")
    assert (report.pushed, report.lines_pushed) == (5, 2)  # two sessions and insights and an outcome
    assert ann.team.sync(team_server.url("ann")).lines_pushed == 0
    laptop = member(tmp_path / "laptop" / "shop")
    back = laptop.team.sync(team_server.url("ann"), project="shop", mine=True)
    assert (back.taken_back, back.lines_taken_back, back.lines_pushed) == (5, 2, 0)
    again = laptop.team.sync(team_server.url("ann"), mine=True)
    assert (again.taken_back, again.lines_taken_back, again.pushed, again.deleted) == (0, 0, 0, 0)


def test_unasked_nothing_of_it_comes_in(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    sync(ann, team_server.url("ann"))
    laptop = member(tmp_path / "laptop" / "shop")
    sync(laptop, team_server.url("ann"))
    assert contents(laptop) == contents(ann)
    assert QUESTION not in laptop.insights.export()


def test_nobody_else_reads_it_or_writes_it(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    sync(ann, team_server.url("ann"))
    add_member(team_server.url(), "shop", "root_of_all", role="admin")
    assert QUESTION in lines_of(team_server)
    reading = "SELECT subject FROM helix_team.private"
    # Roles belong to the whole server: she may read where another test made her a reader, and finds nothing.
    assert refused(team_server, "mallory", reading) or team_server.execute(reading, role="mallory") == []
    for role in ("bob", "root_of_all"):
        assert team_server.execute(reading, role=role) == []
        assert refused(team_server, role, "DELETE FROM helix_team.private")
        assert refused(team_server, role, "UPDATE helix_team.private SET data = ''")
    named = "INSERT INTO helix_team.private (project, author, subject, key, rests_on, hash, data)"
    values = "VALUES ('shop', 'ann', repeat('b', 32), repeat('c', 32), '{}', encode(sha256('x'), 'hex'), 'x')"
    assert refused(team_server, "bob", f"{named} {values}")
    bob = elsewhere(tmp_path / "bob" / "shop", team_server, role="bob")
    assert contents(bob) == contents(ann)
    kept = [path.read_bytes() for path in bob.root.rglob("*") if path.is_file()]
    assert not any(QUESTION.encode() in data for data in kept)


def test_who_may_only_read_or_is_no_member_has_no_place_there(ann: Memory, team_server: TeamDatabase) -> None:

    sync(ann, team_server.url("ann"))
    columns = "INSERT INTO helix_team.private (project, subject, key, rests_on, hash, data)"
    values = "VALUES ('shop', repeat('b', 32), repeat('c', 32), '{}', encode(sha256('x'), 'hex'), 'x')"
    for role in ("reader", "mallory"):
        assert refused(team_server, role, f"{columns} {values}")
    locking = "SELECT has_table_privilege('helix_team.private', 'UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')"
    assert team_server.execute(locking, role="ann") == [(False,)]
    assert not refused(team_server, "bob", f"{columns} {values}")


@pytest.mark.slow
def test_a_forgotten_session_leaves_the_lines_and_stays_away(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(ann, team_server.url("ann"))
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    proof = ann.forget(["first"]).proof
    assert proof is not None
    assert proof.whole
    assert QUESTION not in lines_of(team_server)
    assert '"first"' not in lines_of(team_server)
    laptop.team.sync(team_server.url("ann"))  # it has all of it as it was
    assert QUESTION not in lines_of(team_server)
    third = elsewhere(tmp_path / "third" / "shop", team_server)
    assert "episode-first" not in third.insights.export()
    assert third.insights.why(name_of(third, RETRY))["use_count"] == 1  # as a number it still counts


@pytest.mark.slow
def test_a_second_machine_names_no_session_that_was_forgotten_on_the_first(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    of_the_session = session_hash("episode-first")
    sync(ann, team_server.url("ann"))
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    assert of_the_session in records_of(team_server)
    ann.forget(["first"])
    assert of_the_session not in records_of(team_server)
    laptop.insights.store("The bindery closes at noon on Fridays")
    laptop.team.push()
    assert of_the_session not in records_of(team_server)
    for memory, pushed in ((laptop, 0), (ann, 0), (laptop, 0)):
        assert sync(memory, team_server.url("ann"))[0] == pushed
    assert of_the_session not in records_of(team_server)


@pytest.mark.parametrize(
    "named", few(["'{not hex}'", "array[null::text]", "'{abab}'", "array[concat_ws(',', h, h)]"], 2)
)
def test_a_line_names_nothing_but_hashes(ann: Memory, team_server: TeamDatabase, named: str) -> None:
    from psycopg import errors

    sync(ann, team_server.url("ann"))
    columns = "INSERT INTO helix_team.private (project, subject, key, rests_on, hash, data) SELECT 'shop'"
    values = f"h, h, {named}, encode(sha256(''), 'hex'), '' FROM (VALUES (repeat('8', 32))) one (h)"
    with pytest.raises(errors.CheckViolation):
        team_server.execute(f"{columns}, {values}", role="ann")


@pytest.mark.slow
def test_new_lines_wait_for_sync(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(ann, team_server.url("ann"))
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    ann.insights.hand_over([name_of(ann, CENTS)], session="second", about="what about the invoices")
    ann.insights.forget([name_of(ann, RETRY)])
    assert ann.team.push().away == ""
    ann.forget(["first"])
    assert "invoices" not in lines_of(team_server)
    sync(ann, team_server.url("ann"))
    assert "invoices" in lines_of(team_server)
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    assert laptop.insights.export() == ann.insights.export()


def test_a_forgotten_insight_leaves_the_lines_at_once(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(ann, team_server.url("ann"))
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    name = name_of(ann, RETRY)
    monkeypatch.setenv("HELIX_DATABASE", team_server.url("ann"))
    ann.insights.forget([name])
    ann.team.push()
    assert name not in lines_of(team_server)
    laptop.team.sync(team_server.url("ann"))
    assert name not in lines_of(team_server)
    third = elsewhere(tmp_path / "third" / "shop", team_server)
    assert contents(third) == [CENTS]
    third.insights.import_from(_export(laptop, tmp_path))  # that it was forgotten is known there as well
    assert contents(third) == [CENTS]


def _export(memory: Memory, folder: Path) -> Path:
    memory.insights.export_to(folder / "export.jsonl")
    return folder / "export.jsonl"


@pytest.mark.slow
def test_what_a_file_brought_stays_a_quotation_without_rank(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    ann.insights.import_from(brought(tmp_path))
    sync(ann, team_server.url("ann"))
    bob = elsewhere(tmp_path / "bob" / "shop", team_server, role="bob")
    assert contents(bob) == sorted([CENTS, RETRY])
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    for memory in (ann, laptop):
        why = memory.insights.why("theirs")
        assert why["said_by"].startswith("imported from theirs.jsonl")
        assert (why["use_count"], why["effectiveness"]) == (0, 0.5)
    assert laptop.insights.export() == ann.insights.export()
    laptop.insights.forget_import("theirs.jsonl")
    sync(laptop, team_server.url("ann"))
    assert "rounded up" not in lines_of(team_server)
    assert contents(laptop) == contents(bob)


def test_what_one_says_oneself_is_ones_own_whatever_a_line_says(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    desk = elsewhere(tmp_path / "other" / "shop", team_server)
    own = str(desk.insights.store("Prices of the shop are rounded up, always")["name"])
    uid = next(one for one in map(json.loads, desk.insights.export().splitlines()) if one.get("slug") == own)["uid"]
    ann.insights.import_from(brought(tmp_path, uid=uid))
    sync(ann, team_server.url("ann"))
    sync(desk, team_server.url("ann"))
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    assert laptop.insights.why(name_of(laptop, "Prices of the shop are rounded up, always"))["said_by"] == ""


def test_merges_come_back_under_both_names(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    insight = {"record": "insight", "uid": UID, "slug": "again", "content": RETRY, "created_at": _THEN}
    ann.insights.import_from(written(tmp_path / "mine.jsonl", insight), own=True)
    kept, gone = name_of(ann, RETRY), "again"
    sync(ann, team_server.url("ann"))
    ann.insights.consolidate()
    sync(ann, team_server.url("ann"))
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    assert laptop.insights.export() == ann.insights.export()
    assert laptop.insights.why(gone)["name"] == laptop.insights.why(kept)["name"]


def test_entries_that_are_the_same_in_all_are_as_many_and_a_deleted_one_stays_away(
    tmp_path: Path, team_server: TeamDatabase
) -> None:
    memory = member(tmp_path / "desk" / "shop")
    for text in ("once", "twice", "twice", "gone"):
        memory.topics.store("labels", text)
    memory.topics.edit("delete", "labels", index=3)
    sync(memory, team_server.url("ann"))
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    assert laptop.topics.topics("export") == memory.topics.topics("export")
    assert laptop.topics.store("labels", "new").entry.id > 4
    memory.topics.edit("delete", "labels", index=2)
    sync(memory, team_server.url("ann"))
    third = elsewhere(tmp_path / "third" / "shop", team_server)
    assert [one.text for one in third.topics.read("labels").entries] == ["once", "twice"]


def test_nobody_can_count_what_was_written_and_forgotten_for_its_author_alone(
    ann: Memory, team_server: TeamDatabase
) -> None:
    seen = "SELECT (SELECT count(*) FROM helix_team.tombstone), (SELECT max(at) FROM helix_team.object)"
    sync(ann, team_server.url("ann"))
    ((stones, number),) = team_server.execute(seen, role="bob")
    with TeamServer(team_server.url("ann"), "shop") as server:
        lines = {one.subject for one in server.private()}
        assert lines
        assert server.delete(lines) == len(lines)
        assert server.deleted(lines) == lines  # she knows, from whichever machine
        server.push([an_object(b"x")])
    assert team_server.execute(seen, role="bob") == [(stones, number + 1)]


def test_a_server_of_the_third_version_does_without(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    team_server.execute("DROP SCHEMA helix_team CASCADE")
    team_server.execute(script(version=3))
    team_server.execute("INSERT INTO helix_team.member VALUES ('shop', 'ann', 'member')")
    assert sync(ann, team_server.url("ann"))[0] == 5
    assert set_up(team_server.url()).before == 3
    report = ann.team.sync(team_server.url("ann"))
    assert (report.pushed, report.lines_pushed) == (0, 2)
    laptop = elsewhere(tmp_path / "laptop" / "shop", team_server)
    assert laptop.insights.export() == ann.insights.export()


def test_reasons_come_back_where_the_outcomes_are_already(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    laptop = after_the_third_version(ann, tmp_path / "laptop" / "shop", team_server)
    laptop.team.sync(team_server.url("ann"), mine=True)
    assert laptop.insights.export() == ann.insights.export()


def test_an_entry_comes_back_beside_one_like_it_that_is_here_already(
    ann: Memory, tmp_path: Path, team_server: TeamDatabase
) -> None:
    for text in ("twice", "once", "twice"):
        ann.topics.store("labels", text, force=True)
    laptop = after_the_third_version(ann, tmp_path / "laptop" / "shop", team_server)
    assert sorted(one.text for one in laptop.topics.read("labels").entries) == ["once", "twice"]
    assert laptop.team.sync(team_server.url("ann"), mine=True).lines_taken_back > 0
    assert sorted(one.text for one in laptop.topics.read("labels").entries) == ["once", "twice", "twice"]
    assert laptop.team.sync(team_server.url("ann"), mine=True).lines_taken_back == 0


def test_a_line_that_is_none_costs_itself_alone(ann: Memory, tmp_path: Path, team_server: TeamDatabase) -> None:
    sync(ann, team_server.url("ann"))
    forged = {
        "1": '{"record":"insight","uid":"x","slug":"a","content":"no","created_at":"never"}',
        "2": '{"kind":"topic-numbers","last":99999999999999999}',
        "3": "not even JSON",
        "4": '{"kind":"topic","topic":"t","text":"the password is hunter2hunter2","stored":"2999-01-01T00:00:00Z"}',
        "5": '{"record":"imported","id":"x","file":"f","sha256":"","ts":"2026-01-02T00:00:00Z"}',
    }
    with TeamServer(team_server.url("ann"), "shop"):
        for digit, text in forged.items():
            team_server.execute(
                "INSERT INTO helix_team.private (project, subject, key, rests_on, hash, data) VALUES ('shop',"  # noqa: S608
                f" repeat('{digit}', 32), repeat('{digit}', 32), '{{}}', encode(sha256('{text}'), 'hex'), '{text}')",
                role="ann",
            )
    laptop = member(tmp_path / "laptop" / "shop")
    report = laptop.team.sync(team_server.url("ann"), project="shop", mine=True)
    assert len(report.problems) == len(forged)
    assert report.lines_taken_back == 2
    assert laptop.insights.export() == ann.insights.export()
