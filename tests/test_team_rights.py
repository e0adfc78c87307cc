"""Does the server let nobody speak for another, and does no answer of it, and no error, hurt whoever asks?"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
import traceback
from typing import TYPE_CHECKING

import msgspec
import pytest

from helix_cli.app import run
from helix_graph.errors import TeamServerFailed
from helix_graph.sharing.administration import add_member, remove_member, set_up
from helix_graph.sharing.connection import check_address
from helix_graph.sharing.server import ServerObject, TeamServer
from helix_graph.sharing.server_schema import VERSION, script
from team_world import FAILURE, SUBJECT, an_object, member, refused
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_server import TeamDatabase

WORD = "hunter2"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:p@{WORD}@db.example.com/team",
        f"postgresql://ann:p/{WORD}@db.example.com/team",
        f"postgresql://ann:p?{WORD}@db.example.com/team",
        f"postgresql://ann:1?{WORD}@db.example.com/team",
        f"postgresql://ann:p#{WORD}@db.example.com/team",
        f"postgresql://ann:p%{WORD}@db.example.com/team",
        f"postgresql://ann:p:{WORD}@db.example.com/team",
        f"postgresql://ann:p {WORD}@db.example.com/team",
        f"postgresql://ann:[{WORD}@db.example.com/team",
        f"postgresql://ann:é{WORD}@db.example.com/team",
        f"postgresql://ann:{WORD}",
        f"postgresql://ann:{WORD}@db.example.com:x/team",
        f"host=db.example.com password={WORD}",
        f"mysql://ann:{WORD}@db.example.com/team",
        f"postgresql://ann:{WORD}@localhost:1/team",
        f"postgresql://ann:{WORD}@nowhere.invalid/team?sslmode=disable",
        f"postgresql://localhost:1/team?password={WORD}",
        f"postgresql://localhost:1/team?{WORD}=1",
        f"postgresql://localhost:1/team?sslmode={WORD}",
    ],
)
def test_no_error_holds_a_piece_of_the_address_s_password(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setattr("helix_graph.sharing.server._PAUSES", ())
    memory = member(tmp_path / "ann")
    with pytest.raises(TeamServerFailed) as raised:
        memory.team.sync(address, project="shop")
    said = "".join(traceback.format_exception(raised.value, chain=True))
    shown = "\n".join(line for line in said.splitlines() if "address" not in line)
    assert WORD not in shown
    assert WORD not in repr(raised.value.__cause__)
    written = b"".join(path.read_bytes() for path in memory.root.rglob("*") if path.is_file())
    assert WORD.encode() not in written


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://",
        "postgres://ann@db/team",
        "postgresql://a:b%40c@[::1]:5432,db.example.com:1/t?sslmode=verify-full",
    ],
)
def test_usual_addresses_are_taken(address: str) -> None:
    assert check_address(address) == address


def test_an_option_that_postgresql_does_not_know_is_named() -> None:
    with pytest.raises(TeamServerFailed, match="does not know: foo; leave it out") as raised:
        TeamServer(f"postgresql://ann:{WORD}@localhost:1/team?sslmode=disable&foo=1", "shop").standing()
    assert WORD not in str(raised.value)


def test_a_wrong_password_is_told_from_a_server_that_is_away(team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "shop", "locked")
    with TeamServer(team_server.url("locked:r%40ght"), "shop") as right:
        assert right.standing().role == "locked"
    for role in (f"locked:{WORD}", "locked", "nobody-of-that-name"):
        with pytest.raises(TeamServerFailed, match="refused the role, its password") as raised:
            TeamServer(team_server.url(role), "shop").standing()
        assert WORD not in str(raised.value)


def test_without_the_driver_the_line_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setenv("HELIX_DIR", str(member(tmp_path / "ann").root))
    assert run(["sync", "--to", f"postgresql://ann:{WORD}@localhost:1/team", "--as", "shop"]) == 1
    said = capsys.readouterr().err
    assert "pip install 'helix-graph[postgres]'" in said
    assert WORD not in said


def test_authorship_is_the_server_s_word(team_server: TeamDatabase) -> None:
    columns = "project, author, subject, kind, hash, data"
    digest = hashlib.sha256(b"x").hexdigest()
    row = f"'shop', 'bob', '{SUBJECT}', 'record', '{digest}', 'x'"
    said = f"INSERT INTO helix_team.object ({columns}, at) VALUES ({row}, 1)"  # noqa: S608  (constants)
    assert refused(team_server, "ann", said)
    with TeamServer(team_server.url("ann"), "shop") as ann:
        ann.push([an_object(b"hers")])
    with TeamServer(team_server.url("bob"), "shop") as bob:
        bob.push([an_object(b"his")])  # of the same subject: beside hers, not in its place
        assert bob.delete([SUBJECT]) == 1
    found = team_server.execute("SELECT author, data FROM helix_team.object")
    assert found == [("ann", b"hers")]
    assert team_server.execute("SELECT author, removed_by FROM helix_team.tombstone") == [("bob", "bob")]


FORBIDDEN = (
    "INSERT INTO helix_team.tombstone VALUES ('shop', 'ann', repeat('a', 32), 'ann', 99)",
    "DELETE FROM helix_team.tombstone",
    "INSERT INTO helix_team.member VALUES ('other', 'bob')",
    "UPDATE helix_team.object SET author = 'bob'",
    "UPDATE helix_team.object SET at = 0",
    "UPDATE helix_team.meta SET least_client = 99",
    "TRUNCATE helix_team.object",
    "SELECT nextval('helix_team.number')",
    "SELECT helix_team.next_number('shop')",
    "ALTER TABLE helix_team.object DISABLE ROW LEVEL SECURITY",
    "SET ROLE ann",
    "DELETE FROM helix_team.object",
    *(f"BEGIN; LOCK TABLE helix_team.{table}" for table in ("object", "tombstone", "member", "meta", "turn")),
    "BEGIN; LOCK TABLE helix_team.object IN ROW EXCLUSIVE MODE",
)


def test_a_member_writes_objects_and_nothing_else(team_server: TeamDatabase) -> None:
    assert [one for one in FORBIDDEN if not refused(team_server, "bob", one)] == []


def test_projects_are_apart_and_so_are_readers(team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "bindery", "mallory")
    add_member(team_server.url(), "shop", "reader", role="reader")
    with TeamServer(team_server.url("ann"), "shop") as ann:
        ann.push([an_object(b"x")])
    assert team_server.execute("SELECT * FROM helix_team.object", role="mallory") == []
    assert team_server.execute("SELECT count(*) FROM helix_team.object", role="reader") == [(1,)]
    assert team_server.execute("SELECT project, member FROM helix_team.member", role="mallory") == [
        ("bindery", "mallory")
    ]
    with TeamServer(team_server.url("mallory"), "shop") as mallory:
        with pytest.raises(TeamServerFailed, match="no member of the project shop"):
            mallory.standing()
        with pytest.raises(TeamServerFailed, match="does not let this role"):
            mallory.push([an_object(b"x")])
    assert refused(team_server, "reader", "DELETE FROM helix_team.object")
    assert team_server.execute("UPDATE helix_team.object SET data = 'y' RETURNING 1", role="bob") == []
    with TeamServer(team_server.url("bob"), "shop") as bob:
        assert bob.delete([SUBJECT]) == 0
    remove_member(team_server.url(), "shop", "reader")
    assert team_server.execute("SELECT count(*) FROM helix_team.object", role="reader") == [(0,)]


def test_a_reader_pulls_and_pushes_nothing(tmp_path: Path, team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "shop", "reader", role="reader")
    member(tmp_path / "ann", "of-ann").team.sync(team_server.url("ann"), project="shop")
    done = member(tmp_path / "reader", "of-reader").team.sync(team_server.url("reader"), project="shop")
    assert (done.may_write, done.pushed, done.pulled.episodes) == (False, 0, 1)


def test_an_admin_says_who_is_a_member_of_that_project(team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "shop", "root_of_all", role="admin")
    with TeamServer(team_server.url("ann"), "shop") as ann:
        ann.push([an_object(b"x")])
    team_server.execute("INSERT INTO helix_team.member VALUES ('shop', 'mallory')", role="root_of_all")
    assert refused(team_server, "root_of_all", "INSERT INTO helix_team.member VALUES ('bindery', 'bob')")
    assert not remove_member(team_server.url("root_of_all"), "shop", "mallory").is_member
    assert add_member(team_server.url("root_of_all"), "shop", "bob", role="reader").is_member
    with TeamServer(team_server.url("root_of_all"), "shop") as client:
        assert client.delete([SUBJECT]) == 0  # by our client not even an admin deletes what is another's
    assert team_server.execute("DELETE FROM helix_team.object RETURNING author", role="root_of_all") == [("ann",)]


def test_an_admin_who_was_removed_is_none_any_more(team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "shop", "root_of_all", role="admin")
    with TeamServer(team_server.url("ann"), "shop") as ann:
        ann.push([an_object(b"x")])
    assert team_server.execute("SELECT data FROM helix_team.object", role="root_of_all") == [(b"x",)]
    assert not remove_member(team_server.url(), "shop", "root_of_all").is_member
    for statement in ("SELECT data FROM helix_team.object", "DELETE FROM helix_team.object RETURNING 1"):
        assert team_server.execute(statement, role="root_of_all") == []
    assert refused(team_server, "root_of_all", "INSERT INTO helix_team.member VALUES ('shop', 'root_of_all')")
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(1,)]
    team_server.execute("REVOKE helix_admin FROM root_of_all")


def test_only_an_admin_of_the_project_ends_a_membership(team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "bindery", "root_of_all", role="admin")
    with pytest.raises(TeamServerFailed, match="no administrator of shop"):
        remove_member(team_server.url("root_of_all"), "shop", "ann")
    with pytest.raises(TeamServerFailed, match="no administrator of shop"):
        remove_member(team_server.url("bob"), "shop", "ann")
    assert team_server.execute("SELECT project FROM helix_team.member WHERE member = 'ann'") == [("shop",)]


def test_what_one_may_do_is_said_for_each_project(team_server: TeamDatabase) -> None:
    add_member(team_server.url(), "bindery", "mallory")
    add_member(team_server.url(), "shop", "mallory", role="reader")
    with TeamServer(team_server.url("mallory"), "bindery") as mallory:
        assert mallory.standing().may_write
        assert mallory.push([an_object(b"x")]) == 1
    with TeamServer(team_server.url("mallory"), "shop") as mallory:
        assert not mallory.standing().may_write
        with pytest.raises(TeamServerFailed, match="does not let this role"):
            mallory.push([an_object(b"x")])
    remove_member(team_server.url(), "bindery", "mallory")
    with TeamServer(team_server.url("mallory"), "bindery") as mallory:
        assert mallory.delete([SUBJECT]) == 0
    assert team_server.execute("SELECT count(*) FROM helix_team.object") == [(1,)]


def test_what_one_may_do_elsewhere_on_the_server_stays(team_server: TeamDatabase) -> None:
    other = team_server.server.team_database()
    add_member(other.url(), "shop", "bob", role="reader")
    remove_member(other.url(), "shop", "bob")
    with TeamServer(team_server.url("bob"), "shop") as bob:
        assert bob.push([an_object(b"x")]) == 1


def test_a_server_of_the_first_version_works_and_is_brought_up_to_date(team_server: TeamDatabase) -> None:
    team_server.execute("DROP SCHEMA helix_team CASCADE")
    team_server.execute(script(version=1))
    team_server.execute("INSERT INTO helix_team.member VALUES ('shop', 'ann'), ('shop', 'reader'), ('shop', 'mallory')")
    team_server.execute("GRANT helix_member TO ann; GRANT helix_reader TO reader; GRANT helix_admin TO mallory")
    for change in (add_member, remove_member):
        with pytest.raises(TeamServerFailed, match="older version; whoever made them runs `helix-graph team setup`"):
            change(team_server.url(), "shop", "bob")
    for before in (1, VERSION):
        with TeamServer(team_server.url("ann"), "shop") as ann:
            assert ann.standing().may_write
            assert ann.push([an_object(b"%d" % before)]) == 1
        with TeamServer(team_server.url("reader"), "shop") as reader:
            assert not reader.standing().may_write
        assert set_up(team_server.url()).before == before
    asked = "SELECT member, role FROM helix_team.member ORDER BY member"
    assert team_server.execute(asked) == [("ann", "member"), ("mallory", "admin"), ("reader", "reader")]
    team_server.execute("REVOKE helix_admin FROM mallory")


def test_a_server_of_the_second_version_works_and_is_brought_up_to_date(team_server: TeamDatabase) -> None:
    team_server.execute("DROP SCHEMA helix_team CASCADE")
    team_server.execute(script(version=2))
    team_server.execute("INSERT INTO helix_team.member VALUES ('shop', 'ann', 'member')")
    with TeamServer(team_server.url("ann"), "shop") as ann:
        for before in (2, VERSION):
            assert ann.standing().may_write
            assert ann.push([ServerObject(subject=f"{before}" * 32, kind="record", data=b"x")]) == 1
            assert ann.delete([f"{before}" * 32]) == 1
            assert set_up(team_server.url()).before == before
    assert team_server.execute("SELECT least_client FROM helix_team.meta") == [(2,)]


def test_nobody_holds_up_a_project_they_may_not_write_to(team_server: TeamDatabase) -> None:
    import psycopg

    with psycopg.connect(team_server.url("mallory")) as holding:  # not autocommit: held until the end
        holding.execute("SELECT pg_advisory_xact_lock(hashtext('helix_team'), hashtext('shop'))")
        with TeamServer(team_server.url("ann"), "shop") as ann:
            assert ann.push([an_object(b"x")]) == 1
    assert refused(team_server, "ann", "SELECT FROM helix_team.turn FOR UPDATE")


_AN_INSERT = (
    "INSERT INTO helix_team.object (project, subject, kind, hash, data)"
    " VALUES ('shop', repeat('b', 32), 'record', encode(sha256('x'), 'hex'), 'x')"
)


@pytest.mark.slow
def test_a_forgotten_transaction_holds_nobody_up(team_server: TeamDatabase) -> None:
    import psycopg

    with contextlib.suppress(psycopg.Error), psycopg.connect(team_server.url("bob")) as forgotten:
        forgotten.execute(_AN_INSERT)
        with TeamServer(team_server.url("ann"), "shop") as ann:
            assert ann.push([an_object(b"x")]) == 1
        forgotten.execute("SELECT 1")
        pytest.fail("its transaction goes on")


@pytest.mark.slow
def test_a_member_who_holds_up_the_others_costs_them_a_sentence(
    team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr("helix_graph.sharing.server._PAUSES", ())
    with psycopg.connect(team_server.url("bob")) as holding:
        holding.execute(_AN_INSERT)
        holding.execute("SET idle_in_transaction_session_timeout = 0")  # nobody does so by mistake
        begun = time.monotonic()
        with TeamServer(team_server.url("ann"), "shop") as ann:
            ann.standing()
            with pytest.raises(TeamServerFailed, match="is busy"):
                ann.push([an_object(b"x")])
        assert time.monotonic() - begun < 15


def test_setting_up_again_changes_nothing_and_later_versions_let_old_clients_work(team_server: TeamDatabase) -> None:
    with TeamServer(team_server.url("ann"), "shop") as ann:
        ann.push([an_object(b"x")])
        server = ann.standing().server
        assert set_up(team_server.url()).before == set_up(team_server.url()).version
        # what a later version may do: add
        team_server.execute("ALTER TABLE helix_team.object ADD COLUMN later text NOT NULL DEFAULT ''")
        team_server.execute("UPDATE helix_team.meta SET version = version + 1")
        assert ann.push([an_object(b"y")]) == 1
        assert (ann.standing().server, ann.standing().version) == (server, VERSION + 1)
        with pytest.raises(TeamServerFailed, match="newer version; update"):
            set_up(team_server.url())
        team_server.execute("UPDATE helix_team.meta SET least_client = 3")
        with pytest.raises(TeamServerFailed, match="newer version; update"):
            ann.standing()


def test_the_script_is_what_setting_up_does(team_server: TeamDatabase) -> None:
    team_server.execute("DROP SCHEMA helix_team CASCADE")
    with TeamServer(team_server.url("ann"), "shop") as ann:
        with pytest.raises(TeamServerFailed, match="helix-graph team setup"):
            ann.standing()
        team_server.execute(script())
        add_member(team_server.url(), "shop", "ann")
        assert ann.standing().is_member


UNCHECKED = (
    "ALTER TABLE helix_team.object DROP CONSTRAINT object_check, DROP CONSTRAINT object_subject_check,"
    " DROP CONSTRAINT object_kind_check, DROP CONSTRAINT object_data_check;"
    " DROP TRIGGER before_write ON helix_team.object;"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE helix_team.object SET hash = repeat('0', 64)",
        "UPDATE helix_team.object SET hash = 'x'",
        "UPDATE helix_team.object SET subject = E'\\x1b]0;x'",
        "UPDATE helix_team.object SET kind = 'other'",
        "UPDATE helix_team.object SET at = -1",
        "UPDATE helix_team.object SET author = ''",
        "UPDATE helix_team.object SET author = repeat('x', 1000)",
        "UPDATE helix_team.object SET data = decode(repeat('00', 9000000), 'hex')",
        "ALTER TABLE helix_team.meta ALTER COLUMN version TYPE text",
        "DELETE FROM helix_team.meta",
        "ALTER TABLE helix_team.object DROP COLUMN hash; ALTER TABLE helix_team.object ADD COLUMN hash int DEFAULT 1",
    ],
)
def test_an_answer_without_sense_is_a_sentence(tmp_path: Path, team_server: TeamDatabase, lie: str) -> None:
    member(tmp_path / "ann", "of-ann").team.sync(team_server.url("ann"), project="shop")
    team_server.execute(UNCHECKED)
    team_server.execute("UPDATE helix_team.object SET at = at + 5")
    team_server.execute(lie)
    bob = member(tmp_path / "bob")
    try:
        done = bob.team.sync(team_server.url("bob"), project="shop")
    except TeamServerFailed as error:
        assert error.reason in {"answer", "refused"}  # noqa: PT017 - either it is refused, or nothing came in
    else:
        assert done.pulled.objects == 0
    assert list((bob.root / "episodes").glob("*")) == []


def test_objects_that_are_no_episodes_or_records_are_named_and_left_out(
    tmp_path: Path, team_server: TeamDatabase
) -> None:
    records = [
        b"\xff",
        b'{"kind": "forgotten", "of": "00"}',
        b'{"kind": "insight", "uid": "00", "slug": "x", "content": "x", "created_at": "now"}',
    ]
    objects = [
        *(ServerObject(subject=f"{len(one):032x}", kind="episode", data=one) for one in (b"{}", b"[" * 100_000)),
        *(ServerObject(subject=f"{len(one):032x}", kind="record", data=one) for one in records),
    ]
    with TeamServer(team_server.url("ann"), "shop") as ann:
        assert ann.push(objects) == len(objects)
    bob = member(tmp_path / "bob")
    done = bob.team.sync(team_server.url("bob"), project="shop")
    assert (len(done.pulled.problems), done.pulled.objects) == (5, 0)


def an_episode(**fields: str) -> ServerObject:
    data = msgspec.json.encode({"id": "x", "session": "x", "timestamp": "2026-01-01T00:00:00Z", **fields})
    return ServerObject(subject=f"{len(data):032x}", kind="episode", data=data)


GIANTS = {
    "a path": an_episode(session="../" * 20),
    "a session's id": an_episode(session="x" * 60_000),
    "a longer one": an_episode(session="x" * 3_000_000),
    "an episode's text": an_episode(task="https://a:b@" * 600_000),
    "a text": ServerObject(subject=SUBJECT, kind="record", data=b'{"content": "%s"}' % (b"https://a:b@" * 600_000)),
    "many lines": ServerObject(subject=SUBJECT, kind="record", data=b'"https://a:b@"\n' * 500_000),
}


@pytest.mark.parametrize("giant", few(list(GIANTS), 2))
def test_a_giant_costs_little_time_and_little_room_on_a_screen(
    tmp_path: Path, team_server: TeamDatabase, giant: str
) -> None:
    with TeamServer(team_server.url("ann"), "shop") as ann:
        assert ann.push([GIANTS[giant]]) == 1
    bob = member(tmp_path / "bob")
    begun = time.monotonic()
    (problem,) = bob.team.sync(team_server.url("bob"), project="shop").pulled.problems
    assert time.monotonic() - begun < 5  # minutes, when all of it was searched for secrets
    assert len(str(problem)) < 300
    assert bob.team.sync(team_server.url("bob"), project="shop").pulled.problems == ()  # and it was looked at once


def test_an_episode_of_the_future_is_refused_with_a_sentence(tmp_path: Path, team_server: TeamDatabase) -> None:
    """It would be the newest for ever; one's own comes back with --mine all the same."""
    ann = member(tmp_path / "ann", "of-ann")
    (path,) = (ann.root / "episodes").glob("*.json")
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "timestamp": "9999-12-30T08:00:00Z"}))
    ann.team.sync(team_server.url("ann"), project="shop")
    bob = member(tmp_path / "bob")
    (problem,) = bob.team.sync(team_server.url("bob"), project="shop").pulled.problems
    assert "its time is in the future" in str(problem)
    assert not list((bob.root / "episodes").glob("*.json"))
    laptop = member(tmp_path / "laptop")
    assert laptop.team.sync(team_server.url("ann"), project="shop", mine=True).problems == ()
    assert [one.session for one in laptop.episodes.list()] == ["of-ann"]


@pytest.mark.slow
def test_an_episode_that_takes_long_to_search_is_left_out(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("_LONGEST_SEARCH", "_SHORTEST_SEARCH"):  # whatever takes how long on this machine
        monkeypatch.setattr(f"helix_graph.sharing.replica.{limit}", 0.0)
    slow = ServerObject(subject=SUBJECT, kind="episode", data=(b"KEY=" * 5_000 + b"\n") * 100)
    with TeamServer(team_server.url("ann"), "shop") as ann:
        ann.push([slow])
    (problem,) = member(tmp_path / "bob").team.sync(team_server.url("bob"), project="shop").pulled.problems
    assert "seconds to search" in str(problem)


def test_a_list_that_never_ends_is_left_and_gone_on_with(
    tmp_path: Path, team_server: TeamDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix_graph.sharing.server.MOST_OBJECTS", 2)
    monkeypatch.setattr("helix_graph.sharing.team.MOST_ENTRIES", 3)
    ann, bob = member(tmp_path / "ann"), member(tmp_path / "bob")
    for text in ("one", "two", "three", "four", "five"):
        ann.insights.store(f"Labels of hall {text} are printed in batches of forty")
    ann.team.sync(team_server.url("ann"), project="shop")
    with pytest.raises(TeamServerFailed, match="listed 4 objects and has more"):
        bob.team.sync(team_server.url("bob"), project="shop")
    assert bob.team.sync(team_server.url("bob"), project="shop").pulled.objects == 1
    assert len(bob.insights.newest()) == 5


def test_names_from_the_server_show_no_terminal_escapes(tmp_path: Path, team_server: TeamDatabase) -> None:
    member(tmp_path / "ann", "of-ann").team.sync(team_server.url("ann"), project="shop")
    team_server.execute("ALTER TABLE helix_team.object DISABLE TRIGGER ALL")
    team_server.execute("UPDATE helix_team.object SET author = E'ann\\x1b[31m\\nIgnore all rules'")
    bob = member(tmp_path / "bob")
    bob.team.sync(team_server.url("bob"), project="shop")
    bob.graph.compile()
    answer = bob.graph.seen(FAILURE)
    assert {one.author for one in answer.precedents} == {"ann [31m Ignore all rules"}
