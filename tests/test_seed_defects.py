"""Is every defect of the original right here? One test for each in the list of ``docs/internals/seed.md``."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidEpisode
from helix_graph import Memory
from helix_graph.errors import DatabaseUnreadable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / ".helix")


def test_list_gives_the_newest_not_the_oldest(memory: Memory) -> None:
    for day in range(1, 8):
        memory.episodes.new(f"s{day}", "t", "success", timestamp=f"2026-01-0{day}T10:00:00Z")
    assert [one.session for one in memory.episodes.list(max_results=3)] == ["s7", "s6", "s5"]


def test_time_zones_are_sorted_as_times_not_as_texts(memory: Memory) -> None:
    times = {
        "late": "2026-01-01T20:00:00-08:00",
        "early": "2026-01-02T01:00:00+09:00",
        "middle": "2026-01-01T17:00:00Z",
    }
    for session, at in times.items():
        memory.episodes.new(session, "t", "success", timestamp=at)
    assert [one.session for one in memory.episodes.list()] == ["late", "middle", "early"]


def test_the_reference_s_own_episode_id_finds_its_session(memory: Memory) -> None:
    one = {"id": "d001", "timestamp": None, "type": "design", "chosen": "Serena first"}
    memory.episodes.new("2026-01-01-session-126", "t", "success", decisions=[one])
    assert [each.chosen for each in memory.episodes.decision_sequence("episode-2026-01-01-126")] == ["Serena first"]


def test_all_matches_take_part_in_a_path_not_the_first_one(memory: Memory) -> None:
    graph = memory.graph
    for label in ("route alone", "route joined", "end alone", "end joined"):
        graph.add_causal_node("decision", label)
    graph.add_causal_edge("route joined", "end joined", "causes")
    assert [node["label"] for node in graph.get_causal_path("route", "end")["path"]] == ["route joined", "end joined"]


def test_a_query_s_wildcards_are_letters(memory: Memory) -> None:
    memory.graph.add_causal_node("decision", "pick [fast] path?")
    assert memory.graph.get_causal_path("[fast]", "path?")["depth"] == 0
    assert memory.graph.get_causal_path("[abc]", "path?")["error"] == "Node not found"
    assert memory.graph.get_causal_path("p*path", "path?")["error"] == "Node not found"


def test_depth_counts_edges(memory: Memory) -> None:
    labels = [f"step {number}" for number in range(6)]
    for label in labels:
        memory.graph.add_causal_node("event", label)
    for source, target in itertools.pairwise(labels):
        memory.graph.add_causal_edge(source, target, "causes")
    assert memory.graph.get_causal_path("step 0", "step 1", 1)["depth"] == 1
    assert memory.graph.get_causal_path("step 0", "step 2", 1)["found"] is False
    assert memory.graph.get_causal_path("step 0", "step 5", 5)["depth"] == 5


def test_a_node_s_success_rate_follows_its_episodes(memory: Memory) -> None:
    for number, outcome in enumerate(["success", "failure"]):
        memory.episodes.new(f"s{number}", "t", "unknown")
        memory.episodes.outcome(f"s{number}", outcome, because="seen in CI")
        node = memory.graph.add_causal_node("decision", "Choose routing", f"s{number}")
    assert (node["frequency"], node["success_rate"]) == (2, 0.5)
    memory.episodes.outcome("s1", "success", because="the failure was another job's")
    assert memory.graph.add_causal_node("decision", "Choose routing", "s0")["success_rate"] == 1.0


def test_compiling_again_counts_nothing_twice(memory: Memory, script: Callable[..., Script], tmp_path: Path) -> None:
    log = script("s").prompt("fix it").run("pytest -q", "1 failed", code=1).edit("a.py").run("pytest -q", "1 passed")
    memory.extract([log.save(tmp_path / "logs")])
    memory.graph.compile()
    before = memory.graph.export()
    memory.extract([tmp_path / "logs"], force=True)
    report = memory.graph.compile()
    assert (report.nodes_added, report.edges_added) == (0, 0)
    assert memory.graph.export() == before


def test_links_become_edges_between_the_same_nodes(memory: Memory) -> None:
    decision = {"id": "d001", "timestamp": None, "type": "design", "chosen": "Cache the rates", "effects": ["e001"]}
    events = [
        {"id": "e001", "timestamp": None, "type": "milestone", "content": "Rates load", "leads_to": ["e002"]},
        {"id": "e002", "timestamp": None, "type": "commit", "content": "abc", "caused_by": ["e001"]},
    ]
    memory.episodes.new("s", "t", "success", decisions=[decision], events=events)
    memory.graph.compile()
    found = memory.graph.get_causal_path("Cache the rates", "commit")
    assert (found["depth"], found["path"][0]["frequency"]) == (2, 1)


def test_a_pattern_s_rate_lies_between_0_and_1(memory: Memory) -> None:
    for number, worked in enumerate([True, True, False]):
        session = f"s{number}"
        decision = {"id": "d001", "timestamp": None, "type": "design", "chosen": "Cache the rates"}
        memory.episodes.new(session, "t", "unknown", decisions=[decision])
        memory.episodes.outcome(session, "success" if worked else "failure", because="measured by hand")
    (row,) = [row for row in memory.graph.get_patterns() if row["basis"] == "outcome"]
    assert (row["success_rate"], row["successes"], row["occurrences"]) == (2 / 3, 2, 3)
    memory.graph.add_pattern("told", "t", "a", success_rate=1.0)
    assert memory.graph.add_pattern("told", "t", "a", success_rate=0.0)["success_rate"] == 0.5


def test_labels_of_other_types_are_other_nodes(memory: Memory) -> None:
    first = memory.graph.add_causal_node("event", "deploy")
    other = memory.graph.add_causal_node("error", "deploy")
    assert (first["id"] != other["id"], other["type"], other["frequency"]) == (True, "error", 1)


def test_a_corrupt_graph_is_built_anew_from_the_truth(memory: Memory) -> None:
    memory.graph.add_causal_node("event", "deploy")
    memory.graph.compile()
    before = memory.graph.export()
    file = memory.graph.path_of_file
    data = bytearray(file.read_bytes())
    data[100:4000] = bytes(3900)
    file.write_bytes(data)
    with pytest.raises(DatabaseUnreadable, match="helix-graph sync"):
        memory.graph.get_causal_path("deploy", "deploy")
    report = memory.graph.compile()
    assert report.rebuilt
    assert memory.graph.export() == before


def test_a_corrupt_episode_is_named_and_never_replaced(memory: Memory) -> None:
    memory.episodes.new("good", "t", "success")
    bad = memory.root / "episodes" / "episode-bad.json"
    bad.write_text('{"id": "episode-bad", "outcome": ')
    assert [one.session for one in memory.episodes.list()] == ["good"]
    with pytest.raises(InvalidEpisode, match=r"episode-bad\.json"):
        memory.episodes.get("bad")
    (skipped,) = memory.graph.compile().skipped
    assert skipped.path == str(bad)
    assert bad.read_text() == '{"id": "episode-bad", "outcome": '


def test_the_export_follows_its_schema(memory: Memory) -> None:
    memory.graph.add_causal_node("event", "deploy")
    memory.graph.add_pattern("n", "t", "a")
    memory.graph.compile()
    document = json.loads(memory.graph.export())
    assert document["version"] == "1.0"
    assert [set(document[part][0]) >= keys for part, keys in SCHEMA.items()] == [True, True]


SCHEMA = {
    "nodes": {"id", "type", "label", "episodes", "frequency", "success_rate"},
    "patterns": {
        "id",
        "name",
        "description",
        "trigger",
        "action",
        "success_rate",
        "occurrences",
        "last_used",
    },
}
