"""What stands on a page: the same bytes from the same truth, each figure that of the graph, each thing in its place?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import networkx as nx  # here, so that no example pays for loading it
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_episodes.errors import EpisodeNotFound, InvalidArgument
from helix_graph.errors import GraphNotCompiled, NodeNotFound, OutOfRange
from helix_graph.memory import Memory
from helix_graph.web.graph_content import groups_of
from helix_graph.web.layout import components_of, layers_of, spots_of
from small_worlds import group, keep, memory_of, session
from thoroughness import examples

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.graph.subgraph import Excerpt

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.floats(0.1, 9)), max_size=40)


def test_the_same_memory_gives_the_same_page(demo_memory: Memory, tmp_path: Path) -> None:
    pages = []
    for name in ("one", "two"):
        demo_memory.view(output=tmp_path / f"{name}.html")
        pages.append((tmp_path / f"{name}.html").read_bytes())
    assert pages[0] == pages[1]


def test_the_order_in_which_episodes_came_does_not_show(tmp_path: Path) -> None:
    episodes = [
        *group("a", "run lint", "pytest fails: KeyError", of=3, succeed=2),
        session("b", "edit x", success=True),
    ]
    excerpts: list[Excerpt] = []
    for order in (episodes, episodes[::-1]):
        memory = Memory.init(tmp_path / str(len(excerpts)))
        for one in order:
            keep(memory, one)
            memory.graph.compile()
        excerpts.append(memory.graph.excerpt())
    assert excerpts[0] == excerpts[1]


def test_figures_are_those_of_the_graph(demo_memory: Memory) -> None:
    graph, excerpt = demo_memory.graph.networkx(details=True), demo_memory.graph.excerpt()
    assert {node.id for node in excerpt.nodes} == set(graph)
    assert excerpt.nodes
    assert excerpt.edges
    for node in excerpt.nodes:
        told = graph.nodes[node.id]
        assert (node.frequency, node.episodes) == (told["frequency"], len(told["episodes"]))
        assert (node.successes / node.measured if node.measured else None) == pytest.approx(told["success_rate"])
        assert dict(node.wordings).items() <= told["aliases"].items()
    for edge in excerpt.edges:
        told = graph.edges[excerpt.nodes[edge.source].id, excerpt.nodes[edge.target].id, edge.type]
        assert (edge.weight, edge.evidence_count, edge.reasons) == (
            told["weight"],
            told["evidence_count"],
            told["reasons"],
        )


def test_evidence_leads_to_what_it_is_evidence_of(demo_memory: Memory) -> None:
    excerpt = demo_memory.graph.excerpt()
    mentions = {
        (episode, mention.local): (node, mention)
        for node, told in demo_memory.graph.networkx(details=True).nodes(data=True)
        for episode, mention in told["mentions"]
    }
    assert any(node.sightings for node in excerpt.nodes)
    for node in excerpt.nodes:
        for place in node.sightings:
            sighting = excerpt.sightings[place]
            owner, mention = mentions[excerpt.sessions[sighting.session].id, sighting.local]
            assert (owner, mention.line, mention.quote) == (node.id, sighting.line, sighting.quote)


def test_an_excerpt_takes_the_most_frequent(demo_memory: Memory) -> None:
    whole, part = demo_memory.graph.excerpt(), demo_memory.graph.excerpt(max_nodes=5)
    assert part.nodes_in_all == len(whole.nodes)
    assert [node.id for node in part.nodes] == [node.id for node in whole.nodes[:5]]
    assert min(node.frequency for node in part.nodes) >= max(node.frequency for node in whole.nodes[5:])


def test_one_session_shows_only_its_own_evidence(demo_memory: Memory) -> None:
    name = demo_memory.episodes.list(outcome="failure")[0].id
    excerpt = demo_memory.graph.excerpt(episode=name)
    assert [one.id for one in excerpt.sessions] == [name]
    assert excerpt.edges


def test_what_cannot_be_shown_is_refused_in_a_sentence(demo_memory: Memory, tmp_path: Path) -> None:
    refused: tuple[tuple[dict[str, Any], type[Exception]], ...] = (
        ({"focus": "zebra"}, NodeNotFound),
        ({"focus": " "}, InvalidArgument),
        ({"source": "success"}, InvalidArgument),
        ({"focus": "success", "episode": "x"}, InvalidArgument),
        ({"episode": "nobody"}, EpisodeNotFound),
        ({"source": "zebra", "target": "yak"}, NodeNotFound),
    )
    for part, error in refused:
        with pytest.raises(error):
            demo_memory.view(output=tmp_path / "no.html", **part)
    with pytest.raises(OutOfRange):
        demo_memory.view(output=tmp_path / "no.html", max_nodes=0)
    with pytest.raises(GraphNotCompiled):
        Memory.init(tmp_path / "empty").view()
    assert not (tmp_path / "no.html").exists()


def test_an_empty_memory_has_a_page(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [], compiled=True)
    assert memory.view().nodes == 0


def test_pages_go_when_a_session_is_forgotten(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("secret-task", "run lint", success=True)], compiled=True)
    path = memory.view().path
    assert [one for one in memory.doctor().findings if "pages" in one.file] == []
    report = memory.forget(["secret-task"])
    assert report.proof is not None
    assert report.proof.whole
    assert not (memory.root / path).exists()


@settings(max_examples=examples(60), deadline=None)
@given(edges=EDGES)
def test_every_node_has_a_place_of_its_own(edges: list[tuple[int, int, float]]) -> None:
    spots = [(spot.x, spot.y) for spot in spots_of(12, edges)]
    assert len(set(spots)) == 12
    for (x, y), (other_x, other_y) in itertools.combinations(spots, 2):
        assert abs(x - other_x) >= 200 or abs(y - other_y) >= 90


@settings(max_examples=examples(60), deadline=None)
@given(edges=EDGES)
def test_most_weight_runs_from_left_to_right(edges: list[tuple[int, int, float]]) -> None:
    layer = {node: place for place, layer in enumerate(layers_of(12, edges)) for node in layer}
    assert sorted(layer) == list(range(12))
    forward = sum(weight for source, target, weight in edges if layer[source] < layer[target])
    backward = sum(weight for source, target, weight in edges if layer[source] >= layer[target] and source != target)
    assert forward >= backward - 1e-9


@settings(max_examples=examples(60), deadline=None)
@given(edges=EDGES)
def test_without_cycles_every_edge_runs_from_left_to_right(edges: list[tuple[int, int, float]]) -> None:
    upwards = [(source, target, weight) for source, target, weight in edges if source < target]
    assert nx.is_directed_acyclic_graph(nx.DiGraph([edge[:2] for edge in upwards]))
    layer = {node: place for place, layer in enumerate(layers_of(12, upwards)) for node in layer}
    assert all(layer[source] < layer[target] for source, target, _ in upwards)


@settings(max_examples=examples(60), deadline=None)
@given(edges=EDGES)
def test_what_lies_on_a_circle_together_is_what_networkx_says(edges: list[tuple[int, int, float]]) -> None:
    graph = nx.DiGraph([edge[:2] for edge in edges])
    graph.add_nodes_from(range(12))
    theirs = sorted(sorted(group) for group in nx.strongly_connected_components(graph))
    assert components_of(12, [edge[:2] for edge in edges]) == theirs


def test_a_chain_without_cycles_runs_in_one_direction() -> None:
    assert layers_of(4, [(2, 0, 1), (0, 3, 1), (3, 1, 1)]) == [[2], [0], [3], [1]]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["decision", "error"]), st.text(max_size=12)), max_size=60))
def test_every_label_is_in_exactly_one_group_of_its_type(nodes: list[tuple[str, str]]) -> None:
    groups = groups_of(nodes)
    assert sorted(member for one in groups for member in one.members) == list(range(len(nodes)))
    assert all(nodes[member][0] == one.type for one in groups for member in one.members)
