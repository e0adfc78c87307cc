"""Do the original's graph functions work as its reference says: parameters, ranges, defaults, keys, errors?"""

from __future__ import annotations

import inspect
import itertools
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_graph import Memory
from helix_graph.errors import AmbiguousNode, NodeNotFound, NotOneOf, OutOfRange
from helix_graph.seed_api import SeedGraph

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def graph(tmp_path: Path) -> SeedGraph:
    return Memory(tmp_path / ".helix").graph


def chain(graph: SeedGraph, *labels: str) -> None:
    for label in labels:
        graph.add_causal_node("decision", label)
    for source, target in itertools.pairwise(labels):
        graph.add_causal_edge(source, target, "causes")


def defaults(function: str) -> dict[str, Any]:
    parameters = inspect.signature(getattr(SeedGraph, function)).parameters
    return {name: one.default for name, one in parameters.items() if name != "self"}


REQUIRED = inspect.Parameter.empty


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("add_causal_node", {"type": REQUIRED, "label": REQUIRED, "episode_id": None}),
        ("add_causal_edge", {"source_id": REQUIRED, "target_id": REQUIRED, "type": REQUIRED, "weight": 0.5}),
        ("get_causal_path", {"from_label": REQUIRED, "to_label": REQUIRED, "max_depth": 5}),
        (
            "add_pattern",
            {"name": REQUIRED, "trigger": REQUIRED, "action": REQUIRED, "description": "", "success_rate": None},
        ),
        ("get_patterns", {"min_success_rate": 0.0, "min_occurrences": 1}),
        ("get_anti_patterns", {"max_success_rate": 0.3}),
        ("get_reflexion_memory_status", {}),
    ],
)
def test_parameters_and_defaults_are_the_originals(function: str, expected: dict[str, Any]) -> None:
    assert defaults(function) == expected


def test_a_node_has_the_originals_keys(graph: SeedGraph) -> None:
    node = graph.add_causal_node("decision", "Choose routing", "episode-126")
    assert list(node) == ["id", "type", "label", "episodes", "frequency", "success_rate"]
    assert {key: node[key] for key in list(node)[1:]} == {
        "type": "decision",
        "label": "Choose routing",
        "episodes": ["episode-126"],
        "frequency": 1,
        "success_rate": None,
    }


@pytest.mark.parametrize("kind", ["decision", "event", "outcome", "pattern", "error"])
def test_the_five_types_of_nodes(graph: SeedGraph, kind: str) -> None:
    assert graph.add_causal_node(kind, "x")["type"] == kind


def test_another_type_is_refused_with_those_there_are(graph: SeedGraph) -> None:
    with pytest.raises(NotOneOf, match=r"milestone.*decision, event, outcome, pattern, error"):
        graph.add_causal_node("milestone", "x")


@pytest.mark.parametrize("label", ["", "  \n"])
def test_an_empty_label_is_refused(graph: SeedGraph, label: str) -> None:
    with pytest.raises(InvalidArgument, match="label is empty"):
        graph.add_causal_node("event", label)


def test_an_existing_label_is_counted_and_its_episodes_joined(graph: SeedGraph) -> None:
    first = graph.add_causal_node("decision", "Choose routing", "episode-1")
    again = graph.add_causal_node("decision", "choose ROUTING", "episode-2")
    assert (again["id"], again["label"]) == (first["id"], "Choose routing")
    assert (again["frequency"], again["episodes"]) == (2, ["episode-1", "episode-2"])


def test_a_repeated_call_counts_but_not_for_the_same_episode(graph: SeedGraph) -> None:
    for _ in range(3):
        free = graph.add_causal_node("event", "deploy")
        bound = graph.add_causal_node("event", "release", "2026-01-01-session-126")
    assert (free["frequency"], free["episodes"]) == (3, [])
    assert (bound["frequency"], bound["episodes"]) == (1, ["episode-2026-01-01-session-126"])


def test_an_edge_has_the_originals_keys_and_a_running_mean(graph: SeedGraph) -> None:
    a, b = (graph.add_causal_node("event", label)["id"] for label in "ab")
    weights = [graph.add_causal_edge(a, b, "causes", weight)["weight"] for weight in (0.5, 0.9, 0.1)]
    assert weights == [0.5, 0.7, 0.5]
    edge = graph.add_causal_edge(a, b, "causes")
    assert list(edge)[:5] == ["source", "target", "type", "weight", "evidence_count"]
    assert (edge["source"], edge["target"], edge["evidence_count"]) == (a, b, 4)


@pytest.mark.parametrize("kind", ["causes", "enables", "prevents", "correlates"])
def test_the_four_types_of_edges_are_kept_apart(graph: SeedGraph, kind: str) -> None:
    chain(graph, "a", "b")
    edge = graph.add_causal_edge("a", "b", kind, 1.0)
    assert (edge["type"], edge["evidence_count"]) == (kind, 2 if kind == "causes" else 1)


@pytest.mark.parametrize("weight", [-0.01, 1.01, float("nan")])
def test_a_weight_lies_between_0_and_1(graph: SeedGraph, weight: float) -> None:
    chain(graph, "a", "b")
    with pytest.raises(OutOfRange, match="weight"):
        graph.add_causal_edge("a", "b", "causes", weight)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_both_ends_of_the_range_are_weights(graph: SeedGraph, weight: float) -> None:
    chain(graph, "a", "b")
    assert graph.add_causal_edge("a", "b", "correlates", weight)["weight"] == weight


def test_an_edge_from_a_node_to_itself_is_refused(graph: SeedGraph) -> None:
    chain(graph, "Deploy")
    with pytest.raises(InvalidArgument, match="from one node to another"):
        graph.add_causal_edge("Deploy", "deploy", "correlates")


@pytest.mark.parametrize("label", ["red \x1b[31mtext", "nul\0", "half \ud800"])
def test_control_characters_are_refused(graph: SeedGraph, label: str) -> None:
    with pytest.raises(InvalidArgument, match=r"label .* U\+\w{4}, at place \d"):
        graph.add_causal_node("event", label)
    with pytest.raises(InvalidArgument, match="action"):
        graph.add_pattern("n", "t", label)
    with pytest.raises(InvalidArgument, match="description"):
        graph.add_pattern("n", "t", "a", label)
    assert graph.add_causal_node("event", "two\r\n\tlines")["label"] == "two lines"


def test_an_end_that_is_no_node_is_refused(graph: SeedGraph) -> None:
    graph.add_causal_node("event", "a")
    with pytest.raises(NodeNotFound, match="target_id: Node not found: n002"):
        graph.add_causal_edge("a", "n002", "causes")


def test_a_label_of_two_types_asks_for_the_id(graph: SeedGraph) -> None:
    ids = [graph.add_causal_node(kind, "deploy")["id"] for kind in ("event", "error")]
    with pytest.raises(AmbiguousNode) as refused:
        graph.add_causal_edge("deploy", ids[0], "causes")
    assert all(name in str(refused.value) for name in ids)
    assert graph.add_causal_edge(ids[1], ids[0], "causes")["evidence_count"] == 1


def test_a_path_has_the_originals_keys(graph: SeedGraph) -> None:
    chain(graph, "alpha", "beta", "gamma")
    found = graph.get_causal_path("ALPH", "gam")
    assert set(found) == {"found", "path", "depth"}
    assert (found["found"], found["depth"], [node["label"] for node in found["path"]]) == (
        True,
        2,
        ["alpha", "beta", "gamma"],
    )
    assert set(found["path"][0]) == {"id", "type", "label", "episodes", "frequency", "success_rate"}


def test_no_path_has_an_error_and_no_depth(graph: SeedGraph) -> None:
    chain(graph, "alpha", "beta", "gamma")
    assert graph.get_causal_path("gamma", "alpha")["error"] == "No path found within depth 5"
    missing = graph.get_causal_path("alpha", "omega")
    assert (missing["found"], missing["path"], missing["error"]) == (False, [], "Node not found")
    assert "depth" not in missing


@pytest.mark.parametrize("depth", [0, 11])
def test_the_depth_lies_between_1_and_10(graph: SeedGraph, depth: int) -> None:
    chain(graph, "a", "b")
    with pytest.raises(OutOfRange, match="between 1 and 10"):
        graph.get_causal_path("a", "b", depth)


def test_an_empty_query_is_refused(graph: SeedGraph) -> None:
    chain(graph, "a", "b")
    with pytest.raises(InvalidArgument):
        graph.get_causal_path("", "b")


def test_a_pattern_has_the_originals_keys_and_default(graph: SeedGraph) -> None:
    row = graph.add_pattern("Lint bypass", "Unrelated lint errors", "Use --no-verify with justification")
    assert list(row) == [
        "id",
        "name",
        "description",
        "trigger",
        "action",
        "success_rate",
        "occurrences",
        "last_used",
        "measured",
    ]
    assert (row["success_rate"], row["occurrences"], row["measured"]) == (1.0, 1, False)


def test_a_pattern_of_that_name_is_used_once_more(graph: SeedGraph) -> None:
    first = graph.add_pattern("Retry", "timeout", "try again", "first words", 1.0)
    graph.add_pattern("retry", "another", "thing", success_rate=0.5)
    third = graph.add_pattern("RETRY", "another", "thing")
    assert (third["id"], third["name"], third["trigger"]) == (first["id"], "Retry", "timeout")
    assert (third["occurrences"], third["success_rate"], third["measured"]) == (3, 0.75, True)
    assert third["last_used"] > first["last_used"]


@pytest.mark.parametrize("rate", [-0.1, 1.1])
def test_a_rate_lies_between_0_and_1(graph: SeedGraph, rate: float) -> None:
    with pytest.raises(OutOfRange, match="success_rate"):
        graph.add_pattern("n", "t", "a", success_rate=rate)


@pytest.mark.parametrize(
    ("texts", "option"),
    [((" ", "t", "a"), "name"), (("n", "", "a"), "trigger"), (("n", "t", "\n"), "action")],
)
def test_a_pattern_needs_its_texts(graph: SeedGraph, texts: tuple[str, str, str], option: str) -> None:
    with pytest.raises(InvalidArgument, match=option):
        graph.add_pattern(*texts)


def test_a_pattern_that_recommends_its_trigger_is_refused(graph: SeedGraph) -> None:
    with pytest.raises(InvalidArgument):
        graph.add_pattern("n", "Run the tests", "run  the tests")


def test_patterns_are_filtered_and_ordered(graph: SeedGraph) -> None:
    for name, rates in {"good": (1.0, 0.8), "fair": (0.5,), "bad": (0.2, 0.0), "poor once": (0.1,)}.items():
        for rate in rates:
            graph.add_pattern(name, f"when {name}", "do it", success_rate=rate)
    assert [row["name"] for row in graph.get_patterns()] == ["good", "fair", "bad", "poor once"]
    assert [row["name"] for row in graph.get_patterns(0.5)] == ["good", "fair"]
    assert [row["name"] for row in graph.get_patterns(0.0, 2)] == ["good", "bad"]
    assert [row["name"] for row in graph.get_anti_patterns()] == ["bad"]
    assert [row["name"] for row in graph.get_anti_patterns(0.9)] == ["bad", "good"]


def test_patterns_without_a_rate_come_behind_measured_ones(graph: SeedGraph) -> None:
    graph.add_pattern("a guess", "t", "a")
    graph.add_pattern("measured", "t", "b", success_rate=1.0)
    assert [(row["name"], row["measured"]) for row in graph.get_patterns()] == [("measured", True), ("a guess", False)]


@pytest.mark.parametrize(
    ("function", "options"),
    [
        ("get_patterns", {"min_success_rate": 1.1}),
        ("get_patterns", {"min_success_rate": -1}),
        ("get_patterns", {"min_occurrences": 0}),
        ("get_patterns", {"min_occurrences": 1001}),
        ("get_anti_patterns", {"max_success_rate": 1.5}),
    ],
)
def test_filters_have_ranges(graph: SeedGraph, function: str, options: dict[str, Any]) -> None:
    with pytest.raises(OutOfRange):
        getattr(graph, function)(**options)


def test_the_status_has_the_originals_keys_before_there_is_anything(graph: SeedGraph) -> None:
    status = graph.get_reflexion_memory_status()
    assert {name: list(part) for name, part in status.items()} == {
        "Episodes": ["Path", "Count"],
        "CausalGraph": ["Path", "Version", "Updated", "Nodes", "Edges", "Patterns"],
        "Configuration": ["EpisodesPath", "CausalityPath"],
    }
    assert status["CausalGraph"]["Nodes"] == 0


def test_the_status_counts(graph: SeedGraph) -> None:
    chain(graph, "a", "b")
    graph.add_pattern("n", "t", "a")
    found = graph.get_reflexion_memory_status()["CausalGraph"]
    assert (found["Nodes"], found["Edges"], found["Patterns"]) == (2, 1, 1)
    assert found["Updated"].startswith("20")


def test_every_refusal_is_of_the_one_family(graph: SeedGraph) -> None:
    assert all(issubclass(one, HelixGraphError) for one in (NotOneOf, InvalidArgument, NodeNotFound, AmbiguousNode))
    assert graph.get_patterns() == []
