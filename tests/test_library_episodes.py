"""Do episodes that an application writes count like those from logs? Can networkx's writers write the graph?"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from helix_cli.app import run
from helix_episodes.errors import InvalidEpisode
from helix_episodes.model import Decision, Metrics
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / ".helix"))
    return Memory.init(tmp_path)


def remember(memory: Memory, *, basis: str = "judged") -> None:
    """Forty runs: deploying at once fails 15 of 20 times, with a warm cache once of 20."""
    for number in range(20):
        for name, chosen, good in (
            ("cold", "deploy at once", number % 4 == 0),
            ("warm", "warm the cache first", number > 0),
        ):
            decision = {"chosen": chosen, "type": "implementation", "effects": ["outcome"]}
            outcome = "success" if good else "failure"
            memory.episodes.new(f"{name}-{number}", "deploy", outcome, decisions=[decision], basis=basis)
    memory.graph.compile()


def test_outcomes_of_an_application_count_in_patterns(memory: Memory) -> None:
    remember(memory)
    worst = {(one["action"], one["occurrences"], one["success_rate"]) for one in memory.graph.get_anti_patterns()}
    assert worst == {("deploy once", 20, 0.25)}
    assert {one["success_rate"] for one in memory.graph.get_patterns(min_success_rate=0.9)} == {0.95}


def test_what_only_an_agent_declares_does_not(memory: Memory) -> None:
    remember(memory, basis="declared")
    assert memory.graph.get_anti_patterns() == []


def test_a_decision_can_lead_to_the_outcome(memory: Memory) -> None:
    remember(memory)
    answer = memory.graph.path(source="deploy once", target="failure")
    assert (answer.found, answer.depth, len(answer.whole)) == (True, 1, 15)
    (episode,) = (one for one in memory.episodes.list(max_results=None) if one.session == "cold-1")
    assert episode.decisions[0].effects == ("outcome",)
    assert "unresolved" not in episode.extra


def test_an_unknown_outcome_is_led_to_by_nothing(memory: Memory) -> None:
    made = memory.episodes.new("s", "t", "unknown", decisions=[{"chosen": "x", "type": "test", "effects": ["outcome"]}])
    assert made.extra["unresolved"] == ["d001 -> outcome"]


def test_every_writer_of_networkx_can_write_the_graph(memory: Memory, tmp_path: Path) -> None:
    remember(memory)
    graph = memory.graph.networkx()
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    nx.write_gexf(graph, tmp_path / "graph.gexf")
    nx.write_gml(graph, io.BytesIO())
    read = nx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True)
    assert {node: known["label"] for node, known in read.nodes(data=True)} == {
        node: known["label"] for node, known in graph.nodes(data=True)
    }
    written = json.loads(json.dumps(nx.node_link_data(graph, edges="edges")))
    back: nx.MultiDiGraph[str] = nx.MultiDiGraph(nx.node_link_graph(written, edges="edges"))
    assert sorted(back.edges(keys=True)) == sorted(graph.edges(keys=True))
    rates = {known["label"]: known.get("success_rate") for _, known in graph.nodes(data=True)}
    assert rates["deploy once"] == 0.25


def test_objects_make_the_same_file_as_mappings(memory: Memory) -> None:
    decision = Decision(id="d001", timestamp=None, type="test", chosen="x")
    made = memory.episodes.new("s", "t", "success", decisions=[decision], metrics=Metrics(errors=1))
    assert '"+"' not in memory.episodes.path_of("s").read_text()
    assert made.decisions == (decision,)


def test_a_misspelt_key_is_named(memory: Memory) -> None:
    with pytest.raises(InvalidEpisode, match=r"missing required field `chosen`.*'choosen' may be a misspelling"):
        memory.episodes.new("s", "t", "success", decisions=[{"choosen": "x", "type": "test"}])


def test_listing_has_no_limit_and_names_what_it_left_out(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(103):
        memory.episodes.new(f"s{number}", "t", "success")
    (memory.root / "episodes" / "episode-bad.json").write_text("{")
    assert len(memory.episodes.list(max_results=None)) == 103
    assert [error.path.name for error in memory.episodes.unreadable() if error.path] == ["episode-bad.json"]
    assert run(["sessions", "list", "--all", "--json"]) == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)) == 103
    assert "episode-bad.json" in printed.err
