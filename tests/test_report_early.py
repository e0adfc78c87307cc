"""Is the report honest where there is little: too early, unknown, nothing yet, old or damaged?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from helix_graph.errors import GraphNotCompiled
from learnt_world import repaired
from small_worlds import group, keep, memory_of, session

if TYPE_CHECKING:
    from pathlib import Path


def markdown(memory: Memory) -> str:
    return memory.report(format="markdown").data.decode()


def page(memory: Memory) -> str:
    return memory.report(output=memory.root / "page.html").data.decode()


def test_a_memory_without_a_graph_says_what_to_do(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("a", "run lint")])
    with pytest.raises(GraphNotCompiled, match="helix-graph sync"):
        memory.report()
    assert not (memory.root / "pages").exists()


def test_an_empty_memory_has_an_empty_report(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    memory.graph.compile()
    made = memory.report()
    assert (made.report.since, made.report.outcomes, made.report.evidence) == ("", None, ())
    for text in (made.data.decode(), markdown(memory)):
        assert "No session with a date yet." in text
        assert "No fix was seen to work in these days." in text
        assert "Nothing stands out" in text


def test_nine_sessions_have_counts_and_no_rate_ten_have_one(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, group("a", "run lint", of=9, succeed=8), compiled=True)
    early = memory.report().report.outcomes
    assert early is not None
    assert early.period.rate.too_early
    assert "8 of 9, too early" in markdown(memory)
    assert "89 %" not in markdown(memory)
    assert "89 %" not in page(memory)
    keep(memory, session("tenth", "run lint", success=True))
    memory.graph.compile()
    assert "9 of 10, 90 % (60 to 98 %)" in markdown(memory)
    assert "90 %" in page(memory)


def test_only_the_agents_own_word_is_in_no_rate(tmp_path: Path) -> None:
    sessions = group("a", "run lint", of=20, succeed=20, outcome_basis="declared")
    memory = memory_of(tmp_path, sessions, compiled=True)
    found = memory.report().report.outcomes
    assert found is not None
    assert (found.period.claimed, found.period.succeeded, found.period.rate.n) == (20, 0, 0)
    assert "sessions with a known outcome" in page(memory)
    assert "20 sessions only the agent says how they ended" in markdown(memory)


def test_sessions_without_a_date_are_named_and_in_no_period(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("a", "run lint", timestamp=None, success=True)], compiled=True)
    assert memory.report().report.since == ""
    assert "1 session without a date: in no period." in markdown(memory)


def test_a_graph_that_is_behind_is_named_and_new_sessions_count(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [repaired("s1")], compiled=True)
    keep(memory, repaired("s2", day=2))
    found = memory.report().report
    assert (found.sessions, found.pending) == (2, 1)
    assert "1 file changed since the graph was compiled" in page(memory)
    assert "run helix-graph sync" in page(memory)


def test_a_damaged_file_is_named_and_hides_no_other(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [repaired("s1")], compiled=True)
    (memory.root / "episodes" / "episode-bad.json").write_text("{")
    found = memory.report().report
    assert found.sessions == 1
    assert [one.file for one in found.damaged] == ["episodes/episode-bad.json"]
    for text in (page(memory), markdown(memory).replace("\\", "")):
        assert "1 file of the memory could not be read" in text
        assert "episodes/episode-bad.json" in text
    assert str(tmp_path) not in page(memory)
