"""One search over a real memory: insights, topics and episodes together, as a method and as a command."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph import Memory
from helix_graph.embedding.model import NoEmbedder
from helix_graph.insights.api import Insights
from helix_graph.search.sources import InsightSource
from own_memory import own_memory
from stub_embedder import StubEmbedder
from thoroughness import few_rows

if TYPE_CHECKING:
    from pathlib import Path

ADVICE = "Set the discount before the tax when an order is refunded"
NOTE = "Refunds: the discount is kept in the order\nand nowhere else"


@pytest.fixture
def memory(demo_memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    root = tmp_path / "project" / ".helix"
    shutil.copytree(demo_memory.root, root)
    monkeypatch.chdir(root.parent)
    memory = own_memory(root)
    memory.insights.store(ADVICE, ["orders"])
    memory.topics.store("orders", NOTE, source="shop/orders.py:3")
    return memory


def test_all_parts_answer_one_question(memory: Memory) -> None:
    answer = memory.search("refund discount order")
    found = {one.source: one for one in answer.results}
    assert found["Insights"].content == ADVICE
    assert (found["Topics"].name, found["Topics"].content) == ("orders:0", NOTE)
    assert found["Topics"].path == "shop/orders.py:3"
    assert "decided:" in found["Episodes"].content
    assert {one.state for one in answer.sources if one.name != "Serena"} == {"searched"}
    assert all(one.sha256 == hashlib.sha256(one.content.encode()).hexdigest() for one in answer.results)


def test_the_best_of_each_come_before_the_second_ones(memory: Memory) -> None:
    first = memory.search("refund discount order").results[:3]
    assert [one.source for one in first] == ["Insights", "Topics", "Episodes"]


def test_what_was_stored_is_found_at_once(memory: Memory) -> None:
    memory.topics.store("orders", "unmistakable")
    assert [one.name for one in memory.search("unmistakable").results] == ["orders:1"]


@pytest.mark.parametrize("query", ["-", "the of a", "x" * 500, " ".join(f"word{n}" for n in range(60))])
def test_any_query_that_is_allowed_is_answered_by_every_source(memory: Memory, query: str) -> None:
    answer = memory.search(query)
    assert [one for one in answer.sources if one.state == "failed"] == []


def test_without_a_graph_the_others_answer(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    memory.topics.store("orders", NOTE)
    answer = memory.search("refunds")
    assert [one.source for one in answer.results] == ["Topics"]
    states = {one.name: one.state for one in answer.sources}
    assert states == {"Insights": "searched", "Topics": "searched", "Episodes": "absent", "Serena": "absent"}


def test_meanings_alone_leave_out_what_only_words_find(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db", embedder=StubEmbedder)
    insights.store(ADVICE)
    insights.store("Error E4711 comes of a clock that runs ahead of the server")
    source = InsightSource(insights)
    assert len(source.search("E4711", limit=5, manner="both")) == 1  # the code alone is far from the sentence
    assert source.search("E4711", limit=5, manner="semantic") == []
    assert [one.content for one in source.search(ADVICE, limit=5, manner="semantic")] == [ADVICE]


def test_where_meanings_are_switched_off_it_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELIX_EMBEDDING", "lexical")
    source = InsightSource(Memory(memory.root).insights)
    with pytest.raises(NoEmbedder, match="HELIX_EMBEDDING is set to lexical; unset HELIX_EMBEDDING"):
        source.search("refunds", limit=5, manner="semantic")


def test_the_command_shows_what_was_found_and_where(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.root
    assert run(["search", "refund discount order", "--max-results", "3"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^orders:0  \(Topics: recorded [-\d]+\)  shop/orders.py:3$", shown, re.MULTILINE)
    assert "\n  > Refunds: the discount is kept in the order\n  > and nowhere else\n" in shown
    assert "3 results. Matches: 1 in Insights, 1 in Topics, 3 in Episodes." in shown


def test_the_command_answers_programs(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "refund discount order", "--lexical-only", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown["results"][0]) >= {"name", "content", "source", "score", "path", "sha256"}
    assert run(["search", "--status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["Sources"]["Insights"]["Available"]
    assert status["Serena"]["Path"] == str(memory.root.parent / ".serena/memories")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    few_rows(
        [
            (["a;b"], 2, "Cannot validate argument on parameter 'Query': character 2 is ';'"),
            (["x", "--semantic-only", "--lexical-only"], 2, "Cannot specify both --semantic-only and --lexical-only"),
            (["x", "--semantic-only"], 1, "--semantic-only was specified"),
            (["x", "--max-results", "0"], 2, "--max-results is 0; it must be between 1 and 100"),
            ([], 2, "Give words to search for, or --status."),
            (["x", "--status"], 2, "Give words to search for, or --status."),
        ],
        3,
    ),
)
def test_the_command_refuses_with_the_seeds_sentences(
    memory: Memory, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert memory.root
    assert run(["search", *arguments]) == code
    assert said in capsys.readouterr().err


def test_a_text_of_four_lines_is_shown_whole(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    for lines in (4, 5):
        memory.topics.store("orders", "\n".join(f"unmistakable {number}" for number in range(lines)))
    assert run(["search", "unmistakable"]) == 0
    shown = capsys.readouterr().out
    assert (shown.count("> unmistakable"), shown.count("more line")) == (8, 1)
    assert "… 1 more line" in shown
