"""Is damage inside the rows of graph.db found, named and mended, whatever row it is in?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from demo_logs import demo_memory_in
from helix_graph.errors import DatabaseUnreadable
from processes import answered
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory

#: Statements that spoil rows without SQLite noticing; each is named by the table that it spoils.
DAMAGE = {
    "digest": "UPDATE digest SET body = x'c1ff'",
    "mention": "UPDATE mention SET raw = 'what nobody said' WHERE episode = 1",
    "an outcome": "UPDATE episode SET outcome = 'no such outcome' WHERE number = 2",
    "text": "UPDATE mention SET quote = CAST(x'c3' AS TEXT) WHERE episode = 1",
    "a number": "UPDATE claim SET weight = 'heavy' WHERE episode = 1",
    "a number of an edge": "UPDATE edge SET claims = 'x'",
    "claim": "DELETE FROM claim WHERE episode = 3",
    "episode": "UPDATE episode SET problems = '[' WHERE number = 1",
    "sums": "UPDATE node SET successes = successes + 1 WHERE number = 1",
    "edge": "UPDATE edge SET episodes = 90",
    "label": "UPDATE node SET label = label || '!' WHERE number = 3",
    "telling": "UPDATE telling SET body = x'00' WHERE body IS NOT NULL",
    "file": "UPDATE file SET sha256 = x'00' WHERE episode = 3",
    "words": "UPDATE decided_data SET block = x'00' WHERE id > 10",
    "repair": "DELETE FROM repair",
    "wording": "UPDATE wording SET folded = ''",
    "pattern": "DELETE FROM pattern",
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return demo_memory_in(tmp_path)


def spoil(memory: Memory, statement: str) -> None:
    with closing(sqlite3.connect(memory.graph.path_of_file)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        assert connection.execute(statement).rowcount
        connection.commit()


def said(memory: Memory) -> object:
    with memory.graph._open() as connection:
        facts = sorted(connection.execute("SELECT * FROM node").fetchall())
    return memory.graph.export(), facts


@pytest.mark.parametrize("what", few(list(DAMAGE), 2))
def test_the_doctor_names_it_and_mends_it(memory: Memory, what: str) -> None:
    before = said(memory)
    spoil(memory, DAMAGE[what])
    faults = [one for one in memory.doctor().findings if one.severity == "fault"]
    assert {one.file for one in faults} - {"causality/causal-graph.json"} == {"causality/graph.db"}, faults
    assert memory.doctor(fix=True).healthy
    assert said(memory) == before


@pytest.mark.parametrize("what", few(["an outcome", "text", "digest", "telling", "episode"], 2))
@pytest.mark.slow
def test_no_command_ends_in_a_traceback(memory: Memory, what: str) -> None:
    spoil(memory, DAMAGE[what])
    for ask in (("view",), ("report",), ("seen", "KeyError"), ("patterns",), ("doctor",), ("status",)):
        code, _, complaint = answered(*ask, memory=memory.root)
        assert (code in {0, 1}, "Traceback" in complaint) == (True, False), (ask, complaint)
        assert "cannot be read" not in complaint or "helix-graph doctor --fix" in complaint


def test_a_question_that_fails_on_a_row_says_that_the_file_is_damaged(memory: Memory) -> None:
    spoil(memory, DAMAGE["an outcome"])
    with pytest.raises(DatabaseUnreadable, match=r"the rows of episode-.* are not those .* `helix-graph doctor --fix`"):
        memory.graph.networkx()


def test_a_session_is_forgotten_although_its_rows_are_damaged(memory: Memory) -> None:
    (one, *_) = memory.episodes.list()
    spoil(memory, "UPDATE episode SET task = 'x', outcome = 'y'")
    report = memory.forget([one.session])
    assert report.proof is not None
    assert report.proof.whole
    assert memory.graph.status().episodes == 11
    assert memory.doctor().healthy


def test_the_totals_of_topics_never_give_a_number_twice(memory: Memory) -> None:
    memory.topics.store("shop", "The cart is in cart.py.")
    with closing(sqlite3.connect(memory.root / "helix.db")) as connection:
        connection.execute("UPDATE topic_totals SET numbers = 0")
        connection.commit()
    memory.topics.store("shop", "The till is in till.py.")
    assert len(memory.topics.read("shop").entries) == 2
