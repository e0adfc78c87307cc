"""Is what was forgotten gone from every file, and does it stay gone?"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from git_world import git
from helix_episodes import ingest
from helix_episodes.errors import HelixGraphError, NotFound
from helix_episodes.extraction.pipeline import extract
from helix_episodes.safe_files import remove_file
from helix_graph import Memory
from helix_graph.errors import GraphNotCompiled
from helix_graph.insights import harvest, insight_db
from helix_graph.insights.hook_queries import fitting
from helix_graph.shards.files import check_shard
from helix_graph.tombstones import Tombstones
from helix_graph.trust import team_marker
from processes import assert_as_fresh, write_logs
from thoroughness import few, few_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from helix_episodes.model import Episode, Provenance
    from helix_episodes.session import Session
    from session_script import Script

THEIR_TASK = "Prepare the layoffs of the bindery"
THEIR_OUTPUT = "E   BinderyError: the guillotine of hall seven is stuck"


def secret(script: Callable[..., Script]) -> Script:
    return (
        script("the-secret-session", root="/work/bindery", begin=datetime(2026, 4, 1, tzinfo=UTC))
        .prompt(THEIR_TASK)
        .run("pytest -q", f"{THEIR_OUTPUT}\n1 failed in 0.1s", code=1)
        .edit("bindery/guillotine.py")
        .run("pytest -q", "1 passed in 0.1s")
    )


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    memory = Memory(tmp_path / ".helix")
    memory.extract([*write_logs(tmp_path / "logs", script, 3), secret(script).save(tmp_path / "secret")])
    memory.graph.compile()
    return memory


def everything(memory: Memory) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(memory.root.rglob("*")) if path.is_file())


def spoil(path: Path, damage: str) -> None:
    whole = path.read_bytes()
    path.unlink()
    if damage == "pipe":
        os.mkfifo(path)
    elif damage == "link":
        path.symlink_to("/etc/hostname")
    else:
        path.write_bytes(whole[:-40] if damage == "cut" else whole + b"\xff{")


@pytest.mark.parametrize("damage", few(["cut", "junk", "pipe", "link"], 2))
@pytest.mark.parametrize("doctored", [False, True])
def test_a_session_whose_episode_is_damaged_is_forgotten(memory: Memory, damage: str, *, doctored: bool) -> None:
    """By its name, or by a forgetting without one after the doctor has set the file aside."""
    memory.insights.harvest()
    path = memory.episodes.path_of("the-secret-session")
    spoil(path, damage)
    if doctored:
        Tombstones(memory.root).bury(
            "the-secret-session", said=[THEIR_TASK, THEIR_OUTPUT], steps=[]
        )  # as one cut short
        memory.doctor(fix=True)
    report = memory.forget([] if doctored else ["the-secret-session"])
    assert report.sessions == ("the-secret-session",)
    assert report.proof is not None
    assert report.proof.whole, report.proof
    assert not path.exists()
    assert not any(text.encode() in everything(memory) for text in (THEIR_TASK, THEIR_OUTPUT, "bindery/guillotine.py"))
    assert not memory.insights.sessions_named() & {"the-secret-session"}


def test_nothing_of_it_remains_in_any_file(memory: Memory, tmp_path: Path) -> None:
    told = ("the-secret-session", THEIR_TASK, THEIR_OUTPUT, "bindery/guillotine.py")
    before = everything(memory)
    assert all(text.encode() in before for text in told)
    report = memory.forget(["the-secret-session"])
    assert report.sessions == ("the-secret-session",)
    assert report.proof is not None
    assert report.proof.left == ()
    assert report.proof.texts > len(told)
    after = everything(memory)
    assert [text for text in told if text.encode() in after] == []
    assert_as_fresh(memory.root, tmp_path / "fresh")


def test_it_stays_forgotten_until_forced(memory: Memory, tmp_path: Path) -> None:
    memory.forget(["episode-the-secret-session"])
    again = memory.extract([tmp_path / "secret"])
    assert again.recorded == ()
    assert "was forgotten" in again.left_out[0].problem
    forced = memory.extract([tmp_path / "secret"], force=True)
    assert [one.session for one in forced.written] == ["the-secret-session"]
    assert [one.change for one in memory.extract([tmp_path / "secret"]).recorded] == ["unchanged"]


def test_a_tombstone_says_nothing_but_hashes(memory: Memory) -> None:
    memory.forget(["the-secret-session"])
    (stone,) = (memory.root / "forgotten").iterdir()
    assert "secret" not in stone.name
    assert all(len(step) == 32 for step in json.loads(stone.read_text())["steps"])


@pytest.mark.parametrize("copied", [None, 1], ids=["whole", "its beginning"])
def test_a_copy_in_a_resumed_sessions_log_does_not_bring_it_back(
    memory: Memory, tmp_path: Path, script: Callable[..., Script], copied: int | None
) -> None:
    memory.forget(["the-secret-session"])
    later = script("later").prompt("And now something else").write("shop/other.py")
    memory.extract([later.save(tmp_path / "later", copied=secret(script).records[:copied])])
    episode = memory.episodes.require("later")
    assert episode.task == "And now something else"
    assert THEIR_TASK.encode() not in everything(memory)


def test_what_a_kept_session_says_too_stays_and_is_counted(
    memory: Memory, tmp_path: Path, script: Callable[..., Script]
) -> None:
    twin = script("a-kept-session").prompt(THEIR_TASK).write("shop/plan.py")
    memory.extract([twin.save(tmp_path / "twin")])
    memory.graph.compile()
    proof = memory.forget(["the-secret-session"]).proof
    assert proof is not None
    assert proof.left == ()
    assert proof.shared >= 1
    assert memory.episodes.require("a-kept-session").task == THEIR_TASK


def test_a_file_that_still_names_it_is_told(memory: Memory) -> None:
    (memory.root / "notes.txt").write_text(f"see {THEIR_TASK}, the-secret-session")
    proof = memory.forget(["the-secret-session"]).proof
    assert proof is not None
    assert [(trace.file, trace.names_session) for trace in proof.left] == [("notes.txt", True)]


@pytest.mark.parametrize(
    ("conditions", "gone"),
    few_rows(
        [
            ({"project": "BINDERY"}, {"the-secret-session"}),
            ({"since": datetime(2026, 4, 1, tzinfo=UTC)}, {"the-secret-session"}),
            ({"until": datetime(2026, 4, 1)}, {"session-0", "session-1", "session-2"}),  # noqa: DTZ001  (no zone is UTC)
            ({"project": "shop", "since": datetime(2026, 4, 1, tzinfo=UTC)}, set()),
            ({"project": "bindery", "sessions": ["session-1"]}, {"the-secret-session", "session-1"}),
        ],
        2,
    ),
    ids=["project", "since", "until", "project and span", "project or session"],
)
def test_a_project_or_a_span_of_time(memory: Memory, conditions: dict[str, object], gone: set[str]) -> None:
    everyone = {one.session for one in memory.episodes.list()}
    assert set(memory.forget(dry_run=True, **conditions).sessions) == gone  # type: ignore[arg-type]  # drawn above
    assert {one.session for one in memory.episodes.list()} == everyone
    assert set(memory.forget(**conditions).sessions) == gone  # type: ignore[arg-type]  # as above
    assert {one.session for one in memory.episodes.list()} == everyone - gone


def test_an_assertion_that_names_it_goes_too(memory: Memory) -> None:
    folder = memory.root / "causality" / "assertions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gone.json").write_text(json.dumps({"x": {"episode": "episode-the-secret-session"}}))
    (folder / "kept.json").write_text(json.dumps({"x": {"episode": "episode-session-1"}}))
    assert memory.forget(["the-secret-session"]).assertions == ("gone.json",)
    assert [path.name for path in folder.iterdir()] == ["kept.json"]


def test_it_can_be_run_again_after_it_was_cut_short(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as cut:
        cut.setattr("helix_graph.forget.remove_file", lambda _: 1 / 0)  # the first thing that is deleted
        with pytest.raises(ZeroDivisionError):
            memory.forget(["the-secret-session"])
    assert THEIR_OUTPUT.encode() in (memory.root / "causality" / "graph.db").read_bytes()
    report = memory.forget(["the-secret-session"])
    assert report.proof is not None
    assert report.proof.left == ()
    assert THEIR_OUTPUT.encode() not in everything(memory)


def test_what_was_cut_short_is_finished_without_a_name(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = team_marker(memory.root, "episode-the-secret-session")
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text('{"author": "bob", "subject": "a", "hash": "b"}')
    removed: list[Path] = []

    def cut_after_one(path: Path) -> bool:
        removed.append(path)
        return remove_file(path) if len(removed) == 1 else bool(1 / 0)

    with monkeypatch.context() as cut:
        cut.setattr("helix_graph.forget.remove_file", cut_after_one)
        with pytest.raises(ZeroDivisionError):
            memory.forget(["the-secret-session"])
    report = memory.forget()
    assert report.proof is not None
    assert report.proof.left == ()
    assert not marker.exists()


def test_its_rows_are_gone_even_where_the_graph_cannot_be_compiled(memory: Memory) -> None:
    with pytest.MonkeyPatch.context() as full:
        full.setattr("helix_graph.graph.compile.finish_changes", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.forget(["the-secret-session"])
    assert THEIR_OUTPUT.encode() not in everything(memory)
    report = memory.forget()
    assert (report.taken_up, report.proof is not None and report.proof.whole) == (1, True)
    assert memory.graph.compile().episodes_processed == 3


def test_a_spoilt_episode_can_be_named_but_not_judged(memory: Memory) -> None:
    memory.episodes.path_of("the-secret-session").write_text('{"task": "Prepare the layo')
    assert memory.forget(project="bindery").undecided == ("episode-the-secret-session.json",)
    assert memory.forget(["the-secret-session"]).sessions == ("the-secret-session",)
    assert not memory.episodes.path_of("the-secret-session").exists()


def test_temporary_files_of_a_killed_process_are_no_hiding_place(memory: Memory) -> None:
    path = memory.episodes.path_of("the-secret-session")
    path.with_name(f".{path.name}.k3x.tmp").write_bytes(path.read_bytes()[:400])
    proof = memory.forget(["the-secret-session"]).proof
    assert proof is not None
    assert proof.left == ()


@pytest.mark.slow
def test_a_reader_that_holds_the_log_of_the_database_open_is_told(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix_graph.database.BUSY_SECONDS", 0.1)
    reader = sqlite3.connect(memory.root / "causality" / "graph.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM mention").fetchone()
    proof = memory.forget(["the-secret-session"]).proof
    reader.close()
    assert proof is not None
    assert any("graph.db" in trace.file for trace in proof.left)
    again = memory.forget(["the-secret-session"]).proof
    assert again is not None
    assert THEIR_OUTPUT.encode() not in everything(memory)


def test_an_id_that_begins_another_sessions_is_told_apart(
    memory: Memory, tmp_path: Path, script: Callable[..., Script]
) -> None:
    longer = script("the-secret-session-12").prompt("Something else").write("shop/other.py")
    memory.extract([longer.save(tmp_path / "longer")])
    memory.graph.compile()
    (memory.root / "notes.txt").write_text("see the-secret-session.")
    proof = memory.forget(["the-secret-session"]).proof
    assert proof is not None
    assert [trace.file for trace in proof.left] == ["notes.txt"]


@pytest.mark.parametrize("prefix", ["", "episode-"])
def test_a_session_with_the_longest_id_is_forgotten_and_hides_no_other(
    memory: Memory, tmp_path: Path, script: Callable[..., Script], prefix: str
) -> None:
    longest = "s" * 128
    memory.extract([script(longest).prompt("Prepare the bindery").write("bindery/saw.py").save(tmp_path / "longest")])
    memory.graph.compile()
    assert "prepare the bindery" in str(memory.search("bindery")).casefold()
    assert memory.forget([prefix + longest]).sessions == (longest,)
    assert longest.encode() not in everything(memory)


@pytest.mark.parametrize("first", [True, False])
def test_a_log_under_the_name_of_anothers_episode_does_not_stand_in_for_it(
    tmp_path: Path, script: Callable[..., Script], *, first: bool
) -> None:
    memory = Memory(tmp_path / ".helix")
    logs = [script(name).prompt(f"Do {name}").edit(f"{name}.py").save(tmp_path / name) for name in ("it", "episode-it")]
    memory.extract(reversed(logs) if first else logs)
    assert {one.session for one in memory.episodes.list()} == {"it", "session-episode-it"}
    assert (memory.episodes.require("episode-it").task or "") == "Do it"
    assert memory.forget(["episode-it"]).sessions == ("it",)
    assert [one.session for one in memory.episodes.list()] == ["session-episode-it"]


@pytest.mark.parametrize("kept", ["episode-long-session-one", "episode-long-session-one.jsonl"])
def test_a_session_is_proved_gone_though_a_kept_ones_log_has_the_name_of_its_episode(
    tmp_path: Path, script: Callable[..., Script], kept: str
) -> None:
    memory = Memory(tmp_path / ".helix")
    for name, words in (("long-session-one", "the labels of hall seven"), (kept, "the rates of the parcels")):
        log = script(name).prompt(f"Fix {words}").run("pytest -q", "1 passed in 0.1s")
        memory.extract([log.save(tmp_path / "logs" / name)])
    memory.graph.compile()
    (memory.root / "notes.txt").write_text("see long-session-one")
    proof = memory.forget(["long-session-one"]).proof
    assert proof is not None
    assert [trace.file for trace in proof.left] == ["notes.txt"]
    assert [one.session for one in memory.episodes.list()] == [f"session-{kept}"]
    (memory.root / "notes.txt").unlink()
    again = memory.forget().proof
    assert again is not None
    assert again.whole


def test_nothing_and_nobody_are_refused(memory: Memory) -> None:
    with pytest.raises(HelixGraphError, match="say what to forget: sessions, a project"):
        memory.forget()
    with pytest.raises(NotFound):
        memory.forget(["no-such-session"])


@pytest.mark.slow
def test_an_older_copy_brings_nothing_back_unseen(memory: Memory) -> None:
    memory.insights.store(
        "The guillotine of hall seven sticks after lunch", origin="agent", episode="the-secret-session"
    )
    (path,) = (one for one in memory.episodes.files() if "the-secret-session" in one.name)
    copies = {one: one.read_bytes() for one in (path, memory.root / "helix.db")}
    memory.forget(["the-secret-session"])
    for one, data in copies.items():
        one.write_bytes(data)
    memory.graph.compile()
    assert memory.graph.seen(THEIR_OUTPUT).precedents == ()
    found = [one for one in memory.doctor().findings if one.kind == "forgotten"]
    assert {one.file for one in found} == {"helix.db", f"episodes/{path.name}"}
    assert {one.remedy for one in found} == {"helix-graph forget --session the-secret-session"}
    assert memory.forget(["the-secret-session"]).proof is not None
    assert memory.insights.newest() == []
    assert [one for one in memory.doctor().findings if one.kind == "forgotten"] == []


def test_an_older_copy_of_the_graph_answers_nothing_and_a_compile_erases_it(memory: Memory) -> None:
    older = memory.graph.path_of_file.read_bytes()
    memory.forget(["the-secret-session"])
    memory.graph.path_of_file.write_bytes(older)
    with pytest.raises(GraphNotCompiled, match="a session that was forgotten"):
        memory.graph.seen(THEIR_OUTPUT)
    memory.graph.compile()
    assert memory.graph.seen(THEIR_OUTPUT).precedents == ()
    assert THEIR_OUTPUT.encode() not in everything(memory)


def test_what_is_forgotten_while_its_log_is_read_does_not_come_back(
    tmp_path: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(tmp_path / ".helix")
    log = script("s1").prompt("Fix the labels").run("pytest -q", "1 passed in 0.1s")
    memory.extract([log.save(tmp_path / "logs")])
    log.run("pytest -q", "E   ModuleNotFoundError: No module named 'zanzibar'\n1 failed in 0.1s", code=1)

    def forgotten_meanwhile(session: Session, *, provenance: Provenance) -> Episode:
        made = extract(session, provenance=provenance)
        assert memory.forget(["s1"]).sessions == ("s1",)
        return made

    monkeypatch.setattr(ingest, "extract", forgotten_meanwhile)
    report = memory.extract([log.save(tmp_path / "logs")])
    assert report.recorded == ()
    assert ["forgotten while" in one.problem for one in report.left_out] == [True]
    assert memory.episodes.list() == []
    assert not any(b"zanzibar" in path.read_bytes() for path in memory.root.rglob("*") if path.is_file())


def test_what_is_forgotten_while_it_is_harvested_does_not_come_back(
    tmp_path: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(tmp_path / ".helix")
    for name, module in (("s1", "parcels"), ("s2", "ledgers")):
        error = f"E   ModuleNotFoundError: No module named '{module}'\n1 failed in 0.1s"
        log = script(name).prompt("Fix it").run("pytest -q", error, code=1)
        log.edit("pyproject.toml", new=f"{module} = 1").run("pytest -q", "1 passed in 0.1s")
        memory.extract([log.save(tmp_path / "logs")])
    grouping = harvest.grouped

    def forgotten_meanwhile(episodes: Iterable[Episode]) -> list[harvest.HarvestGroup]:
        found = grouping(episodes)
        monkeypatch.setattr(harvest, "grouped", grouping)
        memory.forget(["s1"])
        return found

    monkeypatch.setattr(harvest, "grouped", forgotten_meanwhile)
    memory.insights.harvest()
    said = " ".join(str(one["content"]) for one in memory.insights.newest(limit=None))
    assert "ledgers" in said
    assert "parcels" not in said


def test_what_is_forgotten_while_another_session_is_harvested_leaves_no_link(
    tmp_path: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(tmp_path / ".helix")
    error = "E   ModuleNotFoundError: No module named 'parcels'\n1 failed in 0.1s"
    for name in ("s1", "s2"):
        log = script(name).prompt("Fix it").run("pytest -q", error, code=1)
        log.edit("pyproject.toml", new="parcels = 1").run("pytest -q", "1 passed in 0.1s")
        memory.extract([log.save(tmp_path / "logs")])
    memory.insights.harvest()
    grouping = harvest.grouped

    def forgotten_meanwhile(episodes: Iterable[Episode]) -> list[harvest.HarvestGroup]:
        found = grouping(episodes)
        if any(one.episode == "episode-s1" for group in found for one in group):  # read beside the one that was named
            monkeypatch.setattr(harvest, "grouped", grouping)
            memory.forget(["s1"])
        return found

    monkeypatch.setattr(harvest, "grouped", forgotten_meanwhile)
    memory.insights.harvest("s2")
    assert memory.insights.newest(limit=None)
    assert not any(b"episode-s1" in path.read_bytes() for path in memory.root.rglob("*") if path.is_file())


@pytest.mark.parametrize("kept", ["long-session-one.2", "x.long-session-one"])
def test_a_session_whose_id_is_a_part_of_a_kept_ones_is_proved_gone(
    tmp_path: Path, script: Callable[..., Script], kept: str
) -> None:
    memory = Memory(tmp_path / ".helix")
    for name, words in (("long-session-one", "the labels of hall seven"), (kept, "the rates of the parcels")):
        log = script(name).prompt(f"Fix {words}").run("pytest -q", "1 passed in 0.1s")
        memory.extract([log.save(tmp_path / "logs")])
    memory.graph.compile()
    proof = memory.forget(["long-session-one"]).proof
    assert proof is not None
    assert proof.whole, proof.left
    assert len(list((memory.root / "episodes").glob("*.json"))) == 1


def test_no_word_is_left_of_a_session_whose_file_is_gone(memory: Memory) -> None:
    """As one goes that its author forgot on the team's server; the index of words would keep the words of its rows."""
    chosen = {"id": "d1", "context": "the merger with zanzibarcorp", "chosen": "edit a.py", "type": "implementation"}
    memory.episodes.new("theirs", "Fix it", "success", decisions=[chosen])
    memory.graph.compile()
    assert b"zanzibarcorp" in (memory.root / "causality" / "graph.db").read_bytes()
    memory.episodes.path_of("theirs").unlink()
    memory.graph.compile()
    assert not any(b"zanzibarcorp" in path.read_bytes() for path in memory.root.rglob("*") if path.is_file())


def test_an_older_copy_of_a_forgotten_session_is_nowhere(memory: Memory, tmp_path: Path) -> None:
    """The doctor names it; compile leaves it out, and so does all that reads, packs or shares episodes."""
    git(tmp_path, "init", "-q")
    path = memory.episodes.path_of("the-secret-session")
    copy = path.read_bytes()
    memory.forget(["the-secret-session"])
    path.write_bytes(copy)
    memory.graph.compile()
    assert "the-secret-session" not in {one.session for one in memory.episodes.list()}
    assert "the-secret-session" not in {one.session for one in memory.causality.episodes()[0]}
    for asked in (memory.episodes.require, memory.causality.explain, memory.causality.contrast):
        with pytest.raises(NotFound):
            asked("the-secret-session")
    assert "bindery" not in str(memory.insights.harvest())
    memory.pack(tmp_path / "shards")
    assert {name for one in (tmp_path / "shards").rglob("*.parquet") for name in check_shard(one)} == {
        path.stem for path in memory.episodes.files()
    }
    assert not any("the-secret-session" in name for name in memory.sharing.add(episodes=True).staged)
    assert "forgotten" in [one.kind for one in memory.doctor().findings if one.file.endswith(path.name)]
    assert memory.forget().sessions == ("the-secret-session",)
    assert not path.exists()


@pytest.mark.parametrize("form", ["folder", "pipe", "link"])
def test_whatever_is_in_a_tombstones_place_keeps_the_session_out(
    memory: Memory, tmp_path: Path, script: Callable[..., Script], form: str
) -> None:
    log = script("again").prompt("Fix it").run("pytest -q", "1 passed in 0.1s").save(tmp_path / "logs")
    memory.extract([log])
    memory.forget(["again"])
    (tombstone,) = (memory.root / "forgotten").iterdir()
    tombstone.unlink()
    if form == "folder":
        tombstone.mkdir()
    elif form == "pipe":
        os.mkfifo(tombstone)
    else:
        tombstone.symlink_to("nowhere")
    assert [one.log for one in memory.extract([log]).left_out] == [str(log)]
    assert not memory.episodes.path_of("again").exists()


def put_back(path: Path, copy: bytes) -> None:
    """An older copy in the place of a database, as a person restores one."""
    for side in ("-wal", "-shm"):
        path.with_name(f"{path.name}{side}").unlink(missing_ok=True)
    path.write_bytes(copy)


def test_what_an_older_database_has_of_a_forgotten_session_goes_without_a_name(memory: Memory) -> None:
    memory.insights.store("The guillotine of hall seven sticks", origin="agent", episode="episode-the-secret-session")
    assert "the-secret-session" in memory.insights.sessions_named()
    copy = memory.insights.path.read_bytes()
    memory.forget(["the-secret-session"])
    put_back(memory.insights.path, copy)
    assert "the-secret-session" in memory.insights.sessions_named()
    assert memory.forget().sessions == ("the-secret-session",)
    assert "the-secret-session" not in memory.insights.sessions_named()
    with pytest.raises(HelixGraphError, match="say what to forget"):
        memory.forget()


def test_what_an_older_database_has_of_a_forgotten_session_is_shown_to_nobody(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    """Whatever is asked, before anybody asks the doctor; what a person stored in the session stays."""
    memory, oiled = Memory(tmp_path / ".helix"), "The press of hall seven needs oil"
    for name, module in (("s1", "parcels"), ("s2", "ledgers")):
        error = f"E   ModuleNotFoundError: No module named '{module}'\n1 failed in 0.1s"
        log = script(name).prompt("Fix it").run("pytest -q", error, code=1)
        log.edit("pyproject.toml", new=f"{module} = 1").run("pytest -q", "1 passed in 0.1s")
        memory.extract([log.save(tmp_path / "logs")])
    insights = memory.insights
    insights.harvest()
    insights.store("The guillotine of hall seven sticks", origin="agent", episode="episode-s1")
    insights.store("Hall seven closes at noon", episode="episode-s1")
    insights.store(oiled, origin="agent", episode="episode-s2")
    before, copy = {one["content"] for one in insights.newest()}, insights.path.read_bytes()
    theirs = {one for one in before if "sticks" in one or "parcels" in one}
    assert len(theirs) == 2
    memory.forget(["s1"])
    put_back(insights.path, copy)

    def shown() -> set[str]:
        asked = "what of hall seven: guillotine sticks, parcels, ledgers, noon, oil for the press"
        answers = (insights.recall(asked, 50, min_relevance=0.0), fitting(memory.root, asked, 50), insights.newest())
        return {one["content"] for answer in answers for one in answer}

    assert shown() == before - theirs
    assert insights.health()["total_insights"] == len(before - theirs)
    insights.store("Something else entirely", origin="agent")  # whoever writes does not take that for all
    assert shown() == (before - theirs) | {"Something else entirely"}
    assert memory.forget().sessions == ("s1",)
    assert shown() == (before - theirs) | {"Something else entirely"}


def test_what_a_person_says_anew_in_words_of_a_forgotten_session_is_their_own(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    """An older database has it as that session's: it was merged into a row that nobody saw, and went with it."""
    memory = Memory(tmp_path / ".helix")
    error = "E   ModuleNotFoundError: No module named 'parcels'\n1 failed in 0.1s"
    log = script("the-secret-session").prompt("Fix it").run("pytest -q", error, code=1)
    log.edit("pyproject.toml", new="parcels = 1").run("pytest -q", "1 passed in 0.1s")
    memory.extract([log.save(tmp_path / "logs")])
    insights = memory.insights
    insights.harvest()
    (harvested,) = insights.newest()
    copy = insights.path.read_bytes()
    memory.forget(["the-secret-session"])
    put_back(insights.path, copy)
    assert insights.newest() == []
    insights.store(harvested["content"])
    for _ in range(2):
        (found,) = insights.newest()
        assert (found["content"], "the-secret-session" in json.dumps(found)) == (harvested["content"], False)
        with suppress(HelixGraphError):  # nothing of the session may be left to forget
            memory.forget()


def test_a_database_of_which_nothing_was_forgotten_is_not_looked_through(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks read it with every prompt: only where something was forgotten since are all its sessions looked at."""
    memory.insights.store("The press of hall seven needs oil", origin="agent", episode="episode-run-1")
    memory.forget(["the-secret-session"])
    memory.insights.store("Oil the cutter as well", origin="agent", episode="episode-run-1")
    looked: list[Path] = []
    monkeypatch.setattr(insight_db, "forgotten_digests", looked.append)
    assert len(fitting(memory.root, "oil the press of hall seven", 5)) == 1
    assert len(memory.insights.newest()) == 2
    assert looked == []
