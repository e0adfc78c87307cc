"""Is every place emptied that may hold a forgotten session's words, by whichever way they came to stand there?"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.api import Graph
from own_memory import own_memory
from processes import write_logs
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph.forget import ErasureProof
    from session_script import Script

SESSION = "the-secret-session"
THEIR_TASK = "Prepare the layoffs of the bindery"
MARK = "0123456789ab"


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    memory = own_memory(tmp_path / ".helix")
    secret = script(SESSION, root="/work/bindery").prompt(THEIR_TASK).run("pytest -q", "1 failed in 0.1s", code=1)
    memory.extract([*write_logs(tmp_path / "logs", script, 2), secret.edit("bindery/knife.py").save(tmp_path / "own")])
    memory.graph.compile()
    memory.insights.store("Knives are sharpened on Fridays")
    memory.topics.store("knives", "They are in the drawer of hall seven")
    return memory


def proof_of(memory: Memory, *sessions: str) -> ErasureProof:
    proof = memory.forget(sessions).proof
    assert proof is not None
    return proof


@pytest.mark.parametrize(
    "place",
    few(
        [
            "cache/anti-patterns.json",
            "cache/highlights.json",
            "cache/shared-authors.json",
            "cache/helix.db-vectors-stub",
            "hooks.log",
            "pages/index.html",
            "pages/sessions/one.html",
            f"team/episodes/episode-{SESSION}.json",
            f"set-aside/episodes/episode-{SESSION}.{MARK}.json",
            f"set-aside/assertions/said.{MARK}.json",
            "causality/assertions/said.json",
            "causality/graph.db.new",
            f"episodes/.episode-{SESSION}.json.{MARK}.tmp",
        ],
        2,
    ),
)
def test_a_file_that_holds_their_words_goes_with_them(memory: Memory, place: str) -> None:
    path = memory.root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"task": THEIR_TASK, "episode": f"episode-{SESSION}"}))
    assert proof_of(memory, SESSION).whole
    assert not path.exists()


def leave_in_free_pages(path: Path, text: str) -> None:
    """As an SQLite does that was built without ``SECURE_DELETE``: what it deletes stays where it was."""
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA secure_delete = OFF")
        other.execute("CREATE TABLE page (words TEXT)")
        other.executemany("INSERT INTO page VALUES (?)", [(text * 100,)] * 20)
        other.execute("DROP TABLE page")
        other.commit()
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert text.encode() in path.read_bytes()


@pytest.mark.parametrize("name", ["causality/graph.db", "helix.db"])
def test_free_pages_of_a_database_are_given_back(memory: Memory, name: str) -> None:
    leave_in_free_pages(memory.root / name, THEIR_TASK)
    assert proof_of(memory, SESSION).whole
    assert THEIR_TASK.encode() not in (memory.root / name).read_bytes()


@pytest.mark.parametrize("name", few(["causality/graph.db", "helix.db"], 1))
def test_free_pages_are_given_back_also_where_no_row_is_left_to_delete(memory: Memory, name: str) -> None:
    notes = memory.root / "notes.txt"
    notes.write_text(THEIR_TASK)
    assert not proof_of(memory, SESSION).whole
    notes.unlink()
    leave_in_free_pages(memory.root / name, THEIR_TASK)
    assert proof_of(memory).whole


def test_entries_that_were_deleted_before_leave_the_log_of_topics(memory: Memory) -> None:
    memory.topics.store("bindery", THEIR_TASK)
    memory.topics.edit("delete", "bindery", index=0)
    assert proof_of(memory, SESSION).whole


@pytest.mark.parametrize("name", few(["causality/graph.db", "helix.db"], 1))
def test_the_log_of_a_database_is_emptied_while_others_have_it_open(memory: Memory, name: str) -> None:
    path = memory.root / name
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE page (words TEXT)")
        other.execute("INSERT INTO page VALUES (?)", (THEIR_TASK,))
        other.execute("DROP TABLE page")
        assert THEIR_TASK.encode() in path.with_name(f"{path.name}-wal").read_bytes()
        assert proof_of(memory, SESSION).whole


def test_a_database_elsewhere_is_searched_with_its_log(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "elsewhere.db"
    monkeypatch.setenv("HELIX_DB_PATH", str(path))
    memory = Memory(memory.root)
    memory.insights.store(f"See {THEIR_TASK}")
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM insight").fetchone()
        monkeypatch.setattr("helix_graph.database.BUSY_SECONDS", 0.1)
        left = {trace.file for trace in proof_of(memory, SESSION).left}
    assert str(path) in left
    assert any(name.startswith(f"{path}-") for name in left)


def test_deleted_words_leave_the_indexes_of_insights_and_topics(memory: Memory) -> None:
    """An index of words keeps only once what neighbours share, so not every word stands there whole."""
    memory.insights.store("Wombats sleep in the bindery", origin="agent", episode=SESSION)
    memory.topics.store("animals", "Wombats sleep in the bindery")
    memory.topics.edit("delete", "animals", index=0)
    assert b"ombat" in (memory.root / "helix.db").read_bytes()
    assert proof_of(memory, SESSION).whole
    assert [path for path in memory.root.rglob("*") if path.is_file() and b"ombat" in path.read_bytes()] == []


@pytest.mark.parametrize("text", few(['He said: "layoffs"', "first line\nsecond line", "a tab\tbetween words"], 1))
def test_a_text_is_found_as_it_stands_and_as_json_has_it(
    memory: Memory, tmp_path: Path, script: Callable[..., Script], text: str
) -> None:
    memory.extract([script("quoted").prompt(text).write("shop/sign.py").save(tmp_path / "quoted")])
    said = json.loads(memory.episodes.path_of("quoted").read_text())["task"]
    (memory.root / "plain.txt").write_text(said)
    (memory.root / "escaped.txt").write_text(json.dumps(said))
    assert [trace.file for trace in proof_of(memory, "quoted").left] == ["escaped.txt", "plain.txt"]


def test_a_graph_that_still_has_a_session_is_deleted_however_short_its_id(
    memory: Memory, tmp_path: Path, script: Callable[..., Script], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.extract([script("s1").prompt("Open").write("shop/door.py").save(tmp_path / "short")])
    memory.graph.compile()
    monkeypatch.setattr(Graph, "compile", lambda _: None)  # one that takes nothing out
    with pytest.raises(GraphNotCompiled, match="was forgotten"):
        memory.forget(["s1"])
    assert not memory.graph.path_of_file.exists()


@pytest.mark.slow
def test_what_two_attempts_have_seen_is_searched_for(memory: Memory) -> None:
    """An older copy of the episode comes back between them, with other words."""
    older = memory.episodes.path_of(SESSION).read_text().replace(THEIR_TASK, "Sell the guillotine of hall seven")
    notes = memory.root / "notes.txt"
    notes.write_text(f"{THEIR_TASK}. Sell the guillotine of hall seven.")
    assert [trace.texts for trace in proof_of(memory, SESSION).left] == [1]
    memory.episodes.path_of(SESSION).write_text(older)
    assert [trace.texts for trace in proof_of(memory).left] == [2]
    notes.unlink()
    assert proof_of(memory).whole
