"""How does A lead to B?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix_episodes.errors import InvalidArgument
from helix_graph import Memory
from helix_graph.errors import OutOfRange
from helix_graph.graph import shortest_paths
from helix_graph.graph.episode_facts import facts_of
from helix_graph.graph.model import GraphNode
from helix_graph.graph.paths import LEADING
from thoroughness import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from episode_drawing import Draw, Remember
    from helix_episodes.model import Episode
    from helix_graph.graph.path_answer import PathAnswer
    from session_script import Script


def labels(answer: PathAnswer) -> list[str]:
    return [card.label for card in answer.path]


LINT = (
    "run ruff -> ruff fails: E501",
    "ruff fails: E501 -> edit a.py",
    "edit a.py -> ruff passes",
    "ruff passes -> success",
)


def test_a_session_is_retold_from_command_to_outcome(draw: Draw, remember: Remember) -> None:
    answer = remember(draw("s", *LINT)).path(source="run ruff", target="success")
    assert labels(answer) == ["run ruff", "ruff fails: E501", "edit source (.py)", "ruff passes", "success"]
    assert [step.target for step in answer.steps] == ["ruff fails: E501", "edit a.py", "ruff passes", "success"]
    assert (answer.found, answer.depth, answer.whole, answer.stitched) == (True, 4, ("episode-s",), False)
    first = answer.steps[0]
    assert (first.type, first.reasons, first.evidence_count) == ("causes", ("call",), 1)
    (witness,) = first.witnesses
    assert (witness.source.line, witness.target.line, witness.target.quote) == (1, 2, "ruff fails: E501")
    assert answer.steps[-1].reasons == ("decided",)


def test_depth_counts_edges(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", *LINT))
    assert graph.path(source="run ruff", target="success", max_depth=4).found
    shallow = graph.path(source="run ruff", target="success", max_depth=3)
    assert (shallow.found, shallow.error, shallow.depth) == (False, "No path found within depth 3", None)
    assert graph.path(source="run ruff", target="ruff fails", max_depth=1).depth == 1


@pytest.mark.parametrize("depth", [0, 11, -1])
def test_a_depth_out_of_range_is_refused(draw: Draw, remember: Remember, depth: int) -> None:
    with pytest.raises(OutOfRange, match="between 1 and 10"):
        remember(draw("s", *LINT)).path(source="run", target="success", max_depth=depth)


@pytest.mark.parametrize("ends", [("", "success"), ("run", "  ")])
def test_an_empty_end_is_refused(draw: Draw, remember: Remember, ends: tuple[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        remember(draw("s", *LINT)).path(source=ends[0], target=ends[1])


def test_an_unknown_end_is_named(draw: Draw, remember: Remember) -> None:
    answer = remember(draw("s", *LINT)).path(source="run ruff", target="cargo")
    assert (answer.found, answer.error) == (False, 'Nothing matches "cargo"')


def test_case_does_not_matter_and_wildcards_are_letters(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", *LINT))
    assert graph.path(source="RUN RUFF", target="Success").found
    for pattern in ("run*", "run?ruff", "[r]un", "%", "_un"):
        answer = graph.path(source=pattern, target="success")
        assert pattern in answer.read_as or answer.error == f'Nothing matches "{pattern}"'


def test_all_nodes_that_match_take_part(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run aaa -> aaa passes", "run bbb -> bbb fails: x", "bbb fails: x -> commit"))
    assert labels(graph.path(source="run", target="commit")) == ["run bbb", "bbb fails: x", "commit"]


def test_the_same_node_at_both_ends_is_a_path_without_edges(draw: Draw, remember: Remember) -> None:
    answer = remember(draw("s", *LINT)).path(source="ruff passes", target="passes")
    assert (answer.found, answer.depth, labels(answer)) == (True, 0, ["ruff passes"])


def test_cycles_end(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run a -> a fails: x", "a fails: x -> run a#2", "run b -> commit"))
    assert graph.path(source="run a", target="commit", max_depth=10).error == "No path found within depth 10"


def test_fixes_are_followed_only_when_asked(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "edit a.py -| ruff fails: E501"))
    assert not graph.path(source="edit", target="ruff fails").found
    assert graph.path(source="edit", target="ruff fails", follow=("causes", "prevents")).found


def test_a_path_of_many_episodes_wins_over_one_of_few(draw: Draw, remember: Remember) -> None:
    common = ("run a -> b fails: x", "b fails: x -> commit")
    rare = ("run a -> a fails: x", "a fails: x -> commit")
    answer = remember(draw("one", *common), draw("two", *common), draw("three", *rare)).path(
        source="run a", target="commit"
    )
    assert labels(answer) == ["run a", "b fails: x", "commit"]
    assert answer.whole == ("episode-one", "episode-two")


def test_of_two_paths_in_as_many_episodes_the_stronger_wins(draw: Draw, remember: Remember) -> None:
    shared = ("run x -> edit a.py", "edit a.py -| a fails: x", "edit b.go -| a fails: x", "a fails: x -> commit")
    alone = ("run x -> edit a.py", "edit a.py -| b fails: x", "b fails: x -> commit")
    answer = remember(draw("one", *shared), draw("two", *alone)).path(
        source="run x", target="commit", follow=("causes", "prevents")
    )
    assert labels(answer) == ["run x", "edit source (.py)", "b fails: x", "commit"]


def test_equal_paths_are_told_apart_by_label(draw: Draw, remember: Remember) -> None:
    for first, second in (("a", "b"), ("b", "a")):
        drawn = [draw(name, f"run x -> {name} fails: x", f"{name} fails: x -> commit") for name in (first, second)]
        assert labels(remember(*drawn).path(source="run x", target="commit"))[1] == "a fails: x"


def test_a_path_of_several_episodes_is_called_stitched(draw: Draw, remember: Remember) -> None:
    longer = ("run a -> a fails: y", "a fails: y -> edit a.py", "edit a.py -> commit")
    answer = remember(
        draw("one", "run a -> b fails: x"), draw("two", "b fails: x -> commit"), draw("whole", *longer)
    ).path(source="run a", target="commit", resolution="kind")
    assert (labels(answer), answer.whole, answer.stitched) == (["run a", "b fails: x", "commit"], (), True)
    witnessed = answer.witnessed_path
    assert witnessed is not None
    assert (witnessed.depth, witnessed.whole) == (3, ("episode-whole",))
    assert [card.label for card in witnessed.path] == ["run a", "a fails: y", "edit source (.py)", "commit"]


def test_two_links_through_one_label_are_no_whole_path(draw: Draw, remember: Remember) -> None:
    answer = remember(draw("s", "run a -> b fails: x", "b fails: x#2 -> commit")).path(source="run a", target="commit")
    assert (answer.found, answer.stitched, answer.witnessed_path) == (True, True, None)


def test_a_text_is_looked_for_only_where_it_stands(draw: Draw, remember: Remember) -> None:
    graph = remember(
        draw("one", "edit shop/cart.py -> ruff passes"), draw("two", "edit shop/price.py -> pytest passes")
    )
    assert labels(graph.path(source="cart.py", target="passes")) == ["edit source (.py)", "ruff passes"]
    assert not graph.path(source="cart.py", target="pytest passes").found


def test_an_outcome_that_nothing_decided_points_to_patterns(draw: Draw, remember: Remember) -> None:
    answer = remember(draw("s", "run a -> commit", outcome="failure", outcome_basis="judged")).path(
        source="run a", target="failure"
    )
    assert answer.error == "No path found within depth 5"
    assert "patterns" in (answer.hint or "")


def test_the_search_ends_even_when_patience_does(
    draw: Draw, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = [f"run a -> m{i} fails: x" for i in range(9)] + [f"m{i} fails: x -> commit" for i in range(9)]
    graph = remember(draw("s", *links))
    monkeypatch.setattr(shortest_paths, "_MOST_LAYER_STEPS", 0)
    assert graph.path(source="run a", target="commit").depth == 2


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_answer_is_the_best_that_networkx_and_all_walks_know(
    data: st.DataObject, any_episodes: st.SearchStrategy[tuple[Episode, ...]], remember: Remember
) -> None:
    drawn = data.draw(any_episodes)
    graph = remember(*drawn)
    for old in graph.episodes.iterdir():
        if old.stem not in {episode.id for episode in drawn}:
            old.unlink()
    graph.compile()
    query = st.sampled_from(["run", "edit", "ruff", "fails", "passes", "commit", "success", "a.py"])
    source, target, depth = data.draw(query), data.draw(query), data.draw(st.integers(1, 5))
    answer = graph.path(source=source, target=target, max_depth=depth, resolution="kind")
    whole = graph.networkx(details=True)
    for node in answer.path:
        assert isinstance(node, GraphNode)
        assert (node.episodes, node.frequency) == (whole.nodes[node.id]["episodes"], whole.nodes[node.id]["frequency"])
    if answer.found:
        leading = nx.DiGraph([edge[:2] for edge in whole.edges(keys=True) if edge[2] in LEADING])
        leading.add_nodes_from(whole)
        assert len(answer.steps) == nx.shortest_path_length(leading, answer.path[0].id, answer.path[-1].id)
    if "a.py" not in {source, target}:  # the oracle below knows labels only
        assert (_rank(answer, drawn) if answer.found else None) == _best_rank(drawn, source, target, depth)


def _rank(answer: PathAnswer, drawn: tuple[Episode, ...]) -> tuple[int, int]:
    names = [(card.type, card.label) for card in answer.path]
    held = sum(
        _holds(episode, list(zip(pairwise(names), (s.type for s in answer.steps), strict=True))) for episode in drawn
    )
    assert held == len(answer.whole) or not answer.steps
    return len(answer.steps), -len(answer.whole)


def _holds(episode: Episode, steps: list[tuple[tuple[tuple[str, str], tuple[str, str]], str]]) -> bool:
    """Whether an episode's claims chain up along the steps, by trying them all."""
    facts = facts_of(episode)
    names = {mention.local: (str(mention.type), mention.label) for mention in facts.mentions}
    reached = {mention.local for mention in facts.mentions}
    for ends, kind in steps:
        reached = {
            claim.target_local
            for claim in facts.claims
            if claim.source_local in reached
            and claim.type == kind
            and (names[claim.source_local], names[claim.target_local]) == ends
        }
    return bool(reached) and bool(steps)


def _best_rank(drawn: tuple[Episode, ...], source: str, target: str, depth: int) -> tuple[int, int] | None:
    """Edges and episodes of the best path, by walking every walk there is."""
    edges: set[tuple[tuple[str, str], str, tuple[str, str]]] = set()
    names: set[tuple[str, str]] = set()
    for episode in drawn:
        facts = facts_of(episode)
        own = {mention.local: (str(mention.type), mention.label) for mention in facts.mentions}
        names |= set(own.values())
        edges |= {
            (own[claim.source_local], claim.type, own[claim.target_local])
            for claim in facts.claims
            if claim.type != "prevents"
        }
    walks: list[list[tuple[tuple[str, str], str, tuple[str, str]]]] = []
    if any(source in label and target in label for _, label in names):
        return 0, 0
    frontier = [[edge] for edge in edges if source in edge[0][1]]
    for _ in range(depth):
        walks = [walk for walk in frontier if target in walk[-1][2][1]]
        if walks:
            break
        frontier = [[*walk, edge] for walk in frontier for edge in edges if walk[-1][2] == edge[0]]
    counts = [sum(_holds(e, [((s, t), kind) for s, kind, t in walk]) for e in drawn) for walk in walks]
    return (len(walks[0]), -max(counts)) if walks else None


def test_greater_depth_is_advised_only_where_there_is_a_path(tmp_path: Path) -> None:
    graph = Memory(tmp_path / "memory").graph
    chain = ("rain", "mud", "slip", "fall")
    for label in (*chain, "sun"):
        graph.add_causal_node("event", label)
    for source, target in pairwise(chain):
        graph.add_causal_edge(source, target, "causes")
    assert graph.path(source="rain", target="fall", max_depth=2).hint == "there is one of depth 3"
    for depth in (2, 10):
        hint = graph.path(source="fall", target="sun", max_depth=depth).hint
        assert hint == "no path of up to 10 links connects them"


def test_assertions_are_counted_beside_the_episodes(tmp_path: Path) -> None:
    graph = Memory(tmp_path / "memory").graph
    for label in ("rain", "mud"):
        graph.add_causal_node("event", label)
    for _ in range(2):
        graph.add_causal_edge("rain", "mud", "causes")
    (step,) = graph.path(source="rain", target="mud").steps
    assert (step.episodes, step.assertions, step.evidence_count) == ((), 2, 2)
    (relation,) = graph.effects("rain").groups[0].relations
    assert (relation.episodes, relation.assertions) == ((), 2)


def test_a_file_whose_name_has_a_null_character_is_in_a_path_like_any_other(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    log = script("null").prompt("Mend the totals").run("pytest -q", "E   KeyError: 'vat'\n1 failed in 0.1s", code=1)
    memory = Memory(tmp_path / ".helix")
    memory.extract([log.edit("src/ca\0rt.py").run("pytest -q", "1 passed in 0.1s").save(tmp_path / "logs")])
    memory.graph.compile()
    answer = memory.graph.path(source="pytest fails: KeyError", target="success")
    assert [step.target for step in answer.steps if "rt.py" in step.target] == [
        "edit src/ca\N{REPLACEMENT CHARACTER}rt.py"
    ]
