"""Chains: paths as single episodes hold them, mention by mention.

An episode holds a path *whole* when its own claims chain up: the mention at which one link ends is the mention at which
the next begins. Two links of one episode that merely pass through the same label are no chain.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from helix_graph.graph.neighbours import Card

if TYPE_CHECKING:
    from collections.abc import Collection

    from helix_graph.graph.neighbours import Edge, Joint, Neighbours

_Sequence = tuple[tuple[str, ...], ...]


class WitnessedPath(msgspec.Struct, frozen=True, kw_only=True):
    """The shortest path that single episodes hold whole."""

    path: tuple[Card, ...]
    types: tuple[str, ...]
    depth: int
    episodes: tuple[str, ...]


class Ends(msgspec.Struct, frozen=True):
    """Where to search from and to, and in which episodes (all, when None)."""

    sources: frozenset[int]
    targets: frozenset[int]
    within: frozenset[str] | None


def chains_of(graph: Neighbours, edges: tuple[Edge, ...], episodes: tuple[str, ...]) -> dict[str, tuple[Joint, ...]]:
    """For each episode that holds the path whole, one chain of its claims: the one with the smallest local ids."""
    joints = graph.joints(edges)
    return {episode: _chain([joints[edge] for edge in edges], episode) for episode in episodes}


def _chain(joints: list[frozenset[Joint]], episode: str) -> tuple[Joint, ...]:
    """The first chain, in order of local ids, through one episode's claims."""
    own = [sorted(joint for joint in each if joint[0] == episode) for each in joints]
    chains: dict[str, tuple[Joint, ...]] = {joint[1]: () for joint in reversed(own[0])}
    for layer in own:
        longer: dict[str, tuple[Joint, ...]] = {}
        for joint in layer:
            if joint[1] in chains:
                longer.setdefault(joint[2], (*chains[joint[1]], joint))
        chains = longer
    return min(chains.values())


def witnessed(graph: Neighbours, ends: Ends, max_depth: int, follow: Collection[str]) -> WitnessedPath | None:
    """The shortest path that a single episode holds whole, and all episodes that hold it."""
    episodes = graph.episodes_of(ends.sources) & graph.episodes_of(ends.targets)
    if ends.within is not None:
        episodes &= ends.within
    found: defaultdict[tuple[int, _Sequence], dict[str, tuple[Edge, ...]]] = defaultdict(dict)
    for episode in sorted(episodes):
        edges = _shortest_within(graph, episode, ends, max_depth, follow)
        if edges:
            found[len(edges), _sequence(graph, edges)][episode] = edges
    if not found:
        return None
    (depth, _), holders = min(found.items())
    edges = next(iter(holders.values()))
    return WitnessedPath(
        path=tuple(graph.card(node) for node in (edges[0][0], *(edge[1] for edge in edges))),
        types=tuple(edge[2] for edge in edges),
        depth=depth,
        episodes=tuple(sorted(holders)),
    )


def _shortest_within(
    graph: Neighbours, episode: str, ends: Ends, max_depth: int, follow: Collection[str]
) -> tuple[Edge, ...]:
    """The edges of the shortest chain of one episode's claims, of several the first by labels; empty without one."""
    claims = [claim for claim in graph.claims_of(episode) if claim[2][2] in follow]
    reached: dict[str, tuple[Edge, ...]] = {source: () for source, _, edge in claims if edge[0] in ends.sources}
    seen = set(reached)
    for _ in range(max_depth):
        longer: dict[str, tuple[Edge, ...]] = {}
        for source, target, edge in claims:
            if source in reached and target not in seen:
                path = (*reached[source], edge)
                held = longer.get(target)
                if held is None or _sequence(graph, path) < _sequence(graph, held):
                    longer[target] = path
        arrived = [path for path in longer.values() if path[-1][1] in ends.targets]
        if arrived:
            return min(arrived, key=lambda path: _sequence(graph, path))
        reached = longer
        seen |= set(longer)
    return ()


def _sequence(graph: Neighbours, edges: tuple[Edge, ...]) -> _Sequence:
    """What a path says, to compare paths by."""
    first = graph.card(edges[0][0])
    later = ((card.label, card.type, edge[2]) for edge in edges for card in (graph.card(edge[1]),))
    return ((first.label, first.type), *later)
