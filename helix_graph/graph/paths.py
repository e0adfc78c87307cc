"""How does A lead to B, and what leads straight to a node or from it?

A breadth-first search from both ends finds the length of the shortest path and all edges that lie on one. Among those
paths one is chosen: first by the number of episodes that contain it whole, then by strength (the product of its
weights: the chance that every link is right, were they independent), then by its labels, so that the same graph always
gives the same answer. The *strongest* path and `alternatives` have a search of their own
(`helix_graph.graph.shortest_paths`).

If no episode contains the path whole, it is *stitched* from several, which is weaker: its links may never have followed
each other anywhere. It is then shown with the shortest path that a single episode does contain.

Labels come before texts: the ends are looked up in labels, and only where that finds no path, in the texts of mentions,
within the episodes that contain these. `find_relations` looks up a node in the same way and follows edges of every
type for one step: an edge of type ``prevents`` into an error is what repaired it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Literal

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import NO_WORDS
from helix_graph.graph.adjacency import Adjacency, Edge, End, Joint, MentionPlace, NodeSummary
from helix_graph.graph.model import GraphNode, row_of
from helix_graph.graph.shortest_paths import (
    Ends,
    PathChoice,
    RankedPath,
    RankedPaths,
    WitnessedPath,
    chains_of,
    k_best_paths,
    shortest_layers,
    strength_of,
    witnessed,
)


def path_row(answer: PathAnswer) -> dict[str, Any]:
    """A path with the original's keys: ``depth`` only when it was found, ``error`` only when not."""
    nodes = [row_of(node) for node in answer.path if isinstance(node, GraphNode)]
    if answer.found:
        return {"found": True, "path": nodes, "depth": answer.depth}
    error = answer.error or ""
    return {"found": False, "path": [], "error": error.partition(":")[0], "hint": answer.hint}


ALL_TYPES = ("causes", "enables", "prevents", "correlates")


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """The node at the other end of an edge, and the edge.

    ``weight`` is 0 to 1, ``episodes`` are all that claim it, ``assertions`` how many of those do.
    """

    node: NodeSummary
    type: str
    reasons: tuple[str, ...]
    weight: float
    evidence_count: int
    episodes: tuple[str, ...]
    assertions: int


class RelationGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One node that was asked about, and what it is joined to; the best evidenced first."""

    node: NodeSummary
    relations: tuple[Relation, ...]


class RelationsAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The groups by node, the node with the label as asked first, then the most frequent."""

    found: bool
    groups: tuple[RelationGroup, ...] = ()
    error: str | None = None


def find_relations(graph: Adjacency, label: str, *, direction: Literal["causes", "effects"]) -> RelationsAnswer:
    """What leads to the nodes that match ``label`` (``causes``), or what they lead to (``effects``).

    Raises:
        InvalidArgument: The label is empty.
    """
    if not label.strip():
        raise InvalidArgument("the label", NO_WORDS)
    labelled: dict[int, frozenset[str] | None] = dict.fromkeys(graph.labelled(label.strip()))
    matching = labelled.items() or graph.mentioning(label.strip()).items()
    groups = [
        RelationGroup(node=graph.summary(node), relations=tuple(_relations(graph, node, within, direction)))
        for node, within in matching
    ]
    if not groups:
        return RelationsAnswer(found=False, error=f"Node not found: {label.strip()}")
    wanted = label.strip().casefold()
    groups.sort(
        key=lambda one: (one.node.label.casefold() != wanted, -one.node.frequency, one.node.label, one.node.type)
    )
    return RelationsAnswer(found=True, groups=tuple(groups))


def _relations(
    graph: Adjacency, node: int, within: frozenset[str] | None, direction: Literal["causes", "effects"]
) -> list[Relation]:
    at: End = 1 if direction == "causes" else 0
    relations = [
        Relation(
            node=graph.summary(edge[0] if at else edge[1]),
            type=edge[2],
            **msgspec.structs.asdict(graph.edge_summary(edge)),
        )
        for edge in graph.edges([node], at=at, types=ALL_TYPES, within=within)
    ]
    if direction == "causes" and graph.summary(node).type == "error":
        # To have asked is no cause of the answer.
        relations = [one for one in relations if one.reasons != ("call",)]
    return sorted(
        relations, key=lambda one: (-one.evidence_count, -one.weight, one.node.label, one.node.type, one.type)
    )


#: What "leads to" means unless one asks for more: `prevents` and `correlates` lead nowhere.
LEADING = ("causes", "enables")
LOWEST_DEPTH, HIGHEST_DEPTH = 1, 10
#: So many episodes are quoted for each step; all are named.
_QUOTED = 10


class Witness(msgspec.Struct, frozen=True, kw_only=True):
    """One episode behind a step: where its two ends are."""

    episode: str
    source: MentionPlace
    target: MentionPlace


class PathStep(msgspec.Struct, frozen=True, kw_only=True):
    """One edge of a path. ``episodes`` are all that claim it, ``assertions`` how many of those do.

    ``evidence_count`` is both together; at most ten are quoted as ``witnesses``.
    """

    source: str
    target: str
    type: str
    reasons: tuple[str, ...]
    weight: float
    evidence_count: int
    episodes: tuple[str, ...]
    assertions: int
    witnesses: tuple[Witness, ...]


class AlternativePath(msgspec.Struct, frozen=True, kw_only=True):
    """Another path between the same ends, through other nodes; its fields are those of `PathAnswer`."""

    path: tuple[NodeSummary, ...]
    steps: tuple[PathStep, ...]
    depth: int
    whole: tuple[str, ...]
    stitched: bool
    strength: float


class PathAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The path, or why there is none.

    ``path`` are its nodes; `Graph.path` names their episodes. ``depth`` counts edges. ``whole`` names the episodes that
    contain the path whole; with none it is ``stitched``.
    ``error`` has the sentence of the original, ``hint`` what to do about it.

    Asked for the strongest path or for several, it has a ``strength`` (the product of the weights of its steps, 0 to 1;
    ``strength_means`` says what that is and is not) and ``alternatives``, the others in their order. ``complete`` is
    false when there was too much to look at all of it.
    """

    found: bool
    path: tuple[NodeSummary, ...] | tuple[GraphNode, ...]
    steps: tuple[PathStep, ...] = ()
    depth: int | None = None
    whole: tuple[str, ...] = ()
    stitched: bool = False
    witnessed_path: WitnessedPath | None = None
    strength: float | None = None
    strength_means: str | None = None
    alternatives: tuple[AlternativePath, ...] = ()
    complete: bool = True
    error: str | None = None
    hint: str | None = None


def find_path(  # noqa: PLR0913  (the options of the question)
    graph: Adjacency,
    *,
    source: str,
    target: str,
    max_depth: int = 5,
    follow: Collection[str] = LEADING,
    strongest: bool = False,
    alternatives: int = 1,
) -> PathAnswer:
    """The shortest path from a node that matches ``source`` to one that matches ``target``.

    Args:
        graph: The causal graph.
        source: Part of a label or of a mention's text, in any case.
        target: The same for the other end.
        max_depth: The most edges it may have, 1 to 10.
        follow: The types of edges to go along.
        strongest: The greatest product of weights first, instead of the fewest edges.
        alternatives: How many different paths at most, the first included.

    Raises:
        InvalidArgument: One of the texts is empty.
    """
    for option, text in (("source", source), ("target", target)):
        if not text.strip():
            raise InvalidArgument(option, NO_WORDS)
    for ends in _pairs_of_ends(graph, source, target):
        answer = (_strongest if strongest else _shortest)(graph, ends, max_depth, follow, alternatives)
        if answer:
            return answer
    missing = [
        text for text in (source, target) if not (graph.labelled(text.strip()) or graph.mentioning(text.strip()))
    ]
    if missing:
        return PathAnswer(found=False, path=(), error=f"Node not found: {missing[0]}", hint=_NO_NODE)
    hint = _hint(graph, source, target, follow)
    return PathAnswer(found=False, path=(), error=f"No path found within depth {max_depth}", hint=hint)


#: Said with every strength, because a product of numbers from 0 to 1 looks like a probability.
STRENGTH_MEANS = (
    "the product of the weights: how sure all links are together, were they independent; a weight says how sure one "
    "link is, and neither is the probability that its end follows its start"
)
_NO_NODE = "no label, message, command or path of an episode contains it; `helix-graph status` shows what there is"
_NO_WAY = f"no path of up to {HIGHEST_DEPTH} edges connects them"
_NO_DECIDER = "no event in these episodes decided that outcome, so no edge leads to it; see `helix-graph patterns`"


def _hint(graph: Adjacency, source: str, target: str, follow: Collection[str]) -> str:
    ends = graph.labelled(target.strip())
    outcomes = {end for end in ends if graph.summary(end).type == "outcome"}
    if outcomes and outcomes == ends and not graph.edges(outcomes, at=1, types=LEADING):
        return _NO_DECIDER
    depths = [
        len(layers)
        for ends in _pairs_of_ends(graph, source, target)
        if (
            layers := shortest_layers(
                graph, ends.sources, ends.targets, depth=HIGHEST_DEPTH, types=follow, within=ends.within
            )
        )
    ]
    return f"there is one of depth {min(depths)}" if depths else _NO_WAY


def _pairs_of_ends(graph: Adjacency, source: str, target: str) -> Iterator[Ends]:
    """Where to search, in order: labels at both ends, then texts at one, then at both.

    Texts are read only when labels led nowhere: there are many more of them.
    """
    for by_text in ((False, False), (False, True), (True, False), (True, True)):
        (starts, one), (goals, other) = (
            _one_end(graph, text.strip(), by_text=texts) for text, texts in zip((source, target), by_text, strict=True)
        )
        if starts and goals:
            within = one if other is None else other if one is None else one & other
            yield Ends(starts, goals, within)


def _one_end(graph: Adjacency, text: str, *, by_text: bool) -> tuple[frozenset[int], frozenset[str] | None]:
    """The nodes at one end, and the episodes that a match by text is restricted to."""
    if not by_text:
        return graph.labelled(text), None
    found = graph.mentioning(text)
    return frozenset(found), frozenset().union(*found.values())


def _shortest(graph: Adjacency, ends: Ends, max_depth: int, follow: Collection[str], count: int) -> PathAnswer | None:
    layers = shortest_layers(graph, ends.sources, ends.targets, depth=max_depth, types=follow, within=ends.within)
    if layers is None:
        return None
    if not layers:
        return _same_node(graph, ends)
    route = PathChoice(graph, layers, ends.within).best()
    whole = tuple(sorted({episode for episode, _ in route.reached}))
    first = RankedPath(route.start, route.edges, strength_of(graph, route.edges), whole)
    if count == 1:
        return _answer(graph, first, ends, max_depth, follow)
    paths = k_best_paths(graph, ends, depth=max_depth, types=follow, strongest=False, count=count)
    others = tuple(path for path in paths.found if path.nodes != first.nodes)[: count - 1]
    return _among_others(
        _answer(graph, first, ends, max_depth, follow), graph, RankedPaths((first, *others), paths.complete), ends
    )


def _strongest(graph: Adjacency, ends: Ends, max_depth: int, follow: Collection[str], count: int) -> PathAnswer | None:
    if ends.sources & ends.targets:
        return _same_node(graph, ends)
    paths = k_best_paths(graph, ends, depth=max_depth, types=follow, strongest=True, count=count)
    if not paths.found:
        return None
    return _among_others(_answer(graph, paths.found[0], ends, max_depth, follow), graph, paths, ends)


def _answer(graph: Adjacency, path: RankedPath, ends: Ends, max_depth: int, follow: Collection[str]) -> PathAnswer:
    witnessed_path = None if path.whole else witnessed(graph, ends, max_depth, follow)
    return PathAnswer(found=True, **_shown(graph, path, ends), witnessed_path=witnessed_path)


def _shown(graph: Adjacency, path: RankedPath, ends: Ends) -> dict[str, Any]:
    """The fields that the path and its alternatives share."""
    chains = chains_of(graph, path.edges, path.whole[:_QUOTED])
    return {
        "path": tuple(graph.summary(node) for node in path.nodes),
        "steps": tuple(_step(graph, edge, place, chains, ends.within) for place, edge in enumerate(path.edges)),
        "depth": len(path.edges),
        "whole": path.whole,
        "stitched": not path.whole,
    }


def _among_others(answer: PathAnswer, graph: Adjacency, paths: RankedPaths, ends: Ends) -> PathAnswer:
    first, *others = paths.found
    return msgspec.structs.replace(
        answer,
        strength=first.strength,
        strength_means=STRENGTH_MEANS,
        alternatives=tuple(AlternativePath(**_shown(graph, path, ends), strength=path.strength) for path in others),
        complete=paths.complete,
    )


def _same_node(graph: Adjacency, ends: Ends) -> PathAnswer:
    both = [graph.summary(node) for node in ends.sources & ends.targets]
    first = min(both, key=lambda node: (node.label, node.type))
    return PathAnswer(found=True, path=(first,), depth=0)


def _step(
    graph: Adjacency, edge: Edge, place: int, chains: dict[str, tuple[Joint, ...]], within: frozenset[str] | None
) -> PathStep:
    return PathStep(
        source=graph.summary(edge[0]).label,
        target=graph.summary(edge[1]).label,
        type=edge[2],
        **msgspec.structs.asdict(graph.edge_summary(edge)),
        witnesses=tuple(_witnesses(graph, edge, {name: chain[place] for name, chain in chains.items()}, within)),
    )


def _witnesses(
    graph: Adjacency, edge: Edge, whole: dict[str, Joint], within: frozenset[str] | None
) -> Iterator[Witness]:
    """The episodes that contain the path whole first, each with the mentions of its chain; then the others."""
    firsts: dict[str, Joint] = {}
    for joint in sorted(graph.joints([edge])[edge]):
        firsts.setdefault(joint[0], joint)
    others = [name for name in sorted(firsts) if name not in whole and (within is None or name in within)]
    for name in [*sorted(whole), *others][:_QUOTED]:
        episode, from_, to = whole.get(name, firsts[name])
        yield Witness(episode=episode, source=graph.place(episode, from_), target=graph.place(episode, to))
