"""How else does A lead to B, and which way is the strongest?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_graph import database
from helix_graph.errors import OutOfRange
from helix_graph.graph import MILLION, shortest_paths
from helix_graph.graph.adjacency import Adjacency
from helix_graph.graph.episode_rows import rows_of
from helix_graph.graph.graph_db import GRAPH_FILE
from helix_graph.graph.model import Claim, EpisodeFacts, Mention, node_id
from helix_graph.graph.networkx_graph import fold
from helix_graph.graph.paths import find_path
from helix_graph.graph.store import GraphChanges, add_episode, finish_changes
from helix_graph.seed_api import SeedGraph
from helix_graph.stats.intervals import wilson_interval
from thoroughness import examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from episode_drawing import Draw, Remember
    from helix_graph.graph.path_answer import FoundPath, PathAnswer

#: A short weak way, a longer strong one, and one in between that is the weakest.
WAYS = (("start", "end", 0.2), ("start", "one", 0.9), ("one", "end", 0.8), ("start", "two", 0.3), ("two", "end", 0.5))


@pytest.fixture(scope="module")
def asserted(tmp_path_factory: pytest.TempPathFactory) -> SeedGraph:
    """A graph made by hand, its weights as given."""
    tmp_path = tmp_path_factory.mktemp("asserted")
    graph = SeedGraph(tmp_path / "episodes", tmp_path / "causality")
    for label in dict.fromkeys(end for way in WAYS for end in way[:2]):
        graph.add_causal_node("decision", label)
    for source, target, weight in WAYS:
        graph.add_causal_edge(source, target, "causes", weight)
    return graph


def labels(path: FoundPath) -> list[str]:
    return [card.label for card in path.path]


def all_labels(answer: PathAnswer) -> list[list[str]]:
    return [labels(answer), *map(labels, answer.alternatives)]


def test_the_strongest_path_need_not_be_the_shortest(asserted: SeedGraph) -> None:
    shortest = asserted.path(source="start", target="end")
    strongest = asserted.path(source="start", target="end", strongest=True)
    assert labels(shortest) == ["start", "end"]
    assert labels(strongest) == ["start", "one", "end"]
    assert [step.weight for step in strongest.steps] == [0.9, 0.8]


def test_the_depth_bounds_the_strongest_path_too(asserted: SeedGraph) -> None:
    assert labels(asserted.path(source="start", target="end", strongest=True, max_depth=1)) == ["start", "end"]


def test_alternatives_come_shortest_first_or_strongest_first(asserted: SeedGraph) -> None:
    direct, strong, weak = ["start", "end"], ["start", "one", "end"], ["start", "two", "end"]
    short_first = asserted.path(source="start", target="end", alternatives=10)
    assert all_labels(short_first) == [direct, strong, weak]
    strong_first = asserted.path(source="start", target="end", alternatives=10, strongest=True)
    assert all_labels(strong_first) == [strong, weak, direct], "a path is as strong as its weakest edge"
    assert all_labels(asserted.path(source="start", target="end", alternatives=2)) == [direct, strong]


def test_the_strongest_path_has_the_surest_weakest_edge(draw: Draw, remember: Remember) -> None:
    often = ("run x -> a fails: y", "a fails: y -> edit a.py", "edit a.py -> commit")
    seldom = ("run x -> commit",)
    graph = remember(*(draw(name, *often) for name in "abcd"), draw("e", *often, *seldom))
    answer = graph.path(source="run x", target="commit", strongest=True, alternatives=2)
    assert [step.target for step in answer.steps] == ["a fails: y", "edit a.py", "commit: a commit"]
    assert answer.weakest is not None
    assert (answer.weakest.k, answer.weakest.n, round(answer.weakest.low, 2)) == (5, 5, 0.57)
    (direct,) = answer.alternatives
    assert direct.weakest is not None
    assert (direct.weakest.k, direct.weakest.n) == (1, 5), "in one of the five sessions that ran x"


@pytest.mark.parametrize("count", [0, 11])
def test_a_number_of_alternatives_out_of_range_is_refused(asserted: SeedGraph, count: int) -> None:
    with pytest.raises(OutOfRange, match="between 1 and 10"):
        asserted.path(source="start", target="end", alternatives=count)


def test_each_alternative_says_whether_a_session_holds_it_whole(draw: Draw, remember: Remember) -> None:
    graph = remember(
        draw("one", "run a -> b fails: x", "b fails: x -> commit", "run a -> a fails: y"),
        draw("two", "a fails: y -> commit"),
    )
    answer = graph.path(source="run a", target="commit", alternatives=5)
    assert (labels(answer)[1], answer.whole, answer.stitched) == ("b fails: x", ("episode-one",), False)
    (other,) = answer.alternatives
    assert (labels(other)[1], other.whole, other.stitched) == ("a fails: y", (), True)
    assert [step.witnesses[0].episode for step in other.steps] == ["episode-one", "episode-two"]


def test_of_equally_strong_paths_the_one_that_most_sessions_hold_comes_first(draw: Draw, remember: Remember) -> None:
    chained = ("run a -> b fails: x", "b fails: x -> commit")
    apart = ("run a -> a fails: x", "a fails: x#2 -> commit")
    graph = remember(draw("s", *chained, *apart), draw("t", *chained, *apart))
    answer = graph.path(source="run a", target="commit", strongest=True, alternatives=2, resolution="kind")
    assert all_labels(answer) == [["run a", "b fails: x", "commit"], ["run a", "a fails: x", "commit"]]


def test_no_path_leads_through_a_second_match_or_twice_through_a_node(draw: Draw, remember: Remember) -> None:
    graph = remember(
        draw("s", "run a -> run b", "run b -> x fails: y", "x fails: y -> run b#2", "x fails: y -> commit")
    )
    assert all_labels(graph.path(source="run", target="commit", alternatives=9)) == [["run b", "x fails: y", "commit"]]


def test_where_nothing_leads_there_is_nothing_else_either(asserted: SeedGraph) -> None:
    answer = asserted.path(source="end", target="start", strongest=True, alternatives=3)
    assert (answer.found, answer.error) == (False, "No path found within depth 5")
    assert asserted.path(source="start", target="start", strongest=True).depth == 0


def test_a_search_that_gives_up_says_so(asserted: SeedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asserted.path(source="start", target="end", alternatives=3).complete
    monkeypatch.setattr(shortest_paths, "_PATIENCE", 1)
    cut = asserted.path(source="start", target="end", alternatives=3)
    assert (labels(cut), cut.complete) == (["start", "end"], False)


NAMES = ("a", "b", "c", "d", "e", "f")
drawn_edges = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from(["causes", "enables"]),
        st.integers(0, 2),
        st.sampled_from([0, 1, 250_000, 500_000, 999_999, MILLION]),
    ),
    max_size=18,
)


def _facts(edges: Iterable[tuple[str, str, str, int, int]]) -> list[EpisodeFacts]:
    """Three episodes that claim these edges, with weights in millionths; each mentions a label once."""
    given = sorted({(*edge[:4],): edge for edge in edges if edge[0] != edge[1]}.values())
    return [
        EpisodeFacts(
            episode=f"episode-{number}",
            session=f"{number}",
            timestamp=None,
            task="",
            mentions=tuple(
                Mention(local=name, node=node_id("decision", name), type="decision", label=name) for name in NAMES
            ),
            claims=tuple(
                Claim(
                    source=node_id("decision", source),
                    target=node_id("decision", target),
                    type=kind,  # type: ignore[arg-type]  # one of the two drawn
                    reason="drawn",
                    weight=weight,
                    source_local=source,
                    target_local=target,
                )
                for source, target, kind, owner, weight in given
                if owner == number
            ),
        )
        for number in range(3)
    ]


def _in_a_file(facts: Sequence[EpisodeFacts]) -> Adjacency:
    connection = database.open_in_memory()
    database.create_tables(connection, GRAPH_FILE)
    changes = GraphChanges(connection, empty=False)
    for number, each in enumerate(facts):
        add_episode(rows_of(each, number), changes)
    finish_changes(changes)
    return Adjacency(connection)


@settings(max_examples=examples(60), deadline=None)
@given(edges=drawn_edges, depth=st.integers(1, 6), count=st.integers(1, 10), strongest=st.booleans())
def test_networkx_finds_nothing_better_and_nothing_is_left_out(
    edges: list[tuple[str, str, str, int, int]], depth: int, count: int, *, strongest: bool
) -> None:
    if not strongest:  # of parallel edges the shortest path takes the one of more episodes, this oracle the strongest
        edges = [(source, target, "causes", owner, weight) for source, target, _, owner, weight in edges]
    facts = _facts(edges)
    graph = fold(facts)
    answer = find_path(
        _in_a_file(facts),
        source="a",
        target="f",
        max_depth=depth,
        strongest=strongest,
        alternatives=count,
        resolution="kind",
    )
    found = [tuple(names) for names in all_labels(answer)] if answer.found else []
    assert len(set(found)) == len(found)
    assert [_rank(graph, names, strongest=strongest) for names in found] == _best_ranks(
        graph, depth, strongest=strongest
    )[:count]


def _best_ranks(graph: nx.MultiDiGraph[str], depth: int, *, strongest: bool) -> list[tuple[float, ...]]:
    """What every path is ranked by, the best first; networkx finds them by trying them all."""
    source, target = node_id("decision", "a"), node_id("decision", "f")
    paths = nx.all_simple_paths(nx.DiGraph(graph), source, target, cutoff=depth)
    named = ([graph.nodes[node]["label"] for node in path] for path in paths)
    return sorted(_rank(graph, names, strongest=strongest) for names in named)


def _rank(graph: nx.MultiDiGraph[str], names: Sequence[str], *, strongest: bool) -> tuple[float, ...]:
    """A path is as strong as its weakest edge; of parallel edges the strongest, of equals the first by type."""
    weakest, owners = (1.0, 1.0), {f"episode-{number}" for number in range(3)}
    for source, target in pairwise(node_id("decision", name) for name in names):
        strongest_edge = []
        for edge in graph[source][target].values():
            claimed = {episode for episode, _ in graph.graph["claims"][source, target, edge["type"]]}
            low = round(wilson_interval(len(claimed), 3).low, 6)  # each episode mentions every label
            strongest_edge.append((-low, -edge["weight"], edge["type"], claimed))
        low, weight, _, claimed = min(strongest_edge, key=lambda one: one[:3])
        weakest = min(weakest, (-low, -weight))
        owners &= claimed
    length, held = len(names) - 1, len(owners)
    return (-weakest[0], -weakest[1], length, -held) if strongest else (length, -held, -weakest[0], -weakest[1])
