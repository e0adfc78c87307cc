"""The shortest paths between two sets of nodes, and the best of them.

`shortest_layers` searches breadth-first from both ends, always growing the smaller front, and returns every edge that
lies on a shortest path. `Choice` picks one path out of them. There may be exponentially many, so it never lists them.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.graph.neighbours import Edge
from helix_graph.graph.weights import MILLION

if TYPE_CHECKING:
    from collections.abc import Collection

    from helix_graph.graph.neighbours import Neighbours

#: So many partial paths are compared before the search for the best one settles for the best it has.
_PATIENCE = 20_000
#: Episode and local id of a mention.
MentionKey = tuple[str, str]
#: Which end of an edge: its source or its target.
_End = Literal[0, 1]
Layers = tuple[frozenset[Edge], ...]


class Route(msgspec.Struct, frozen=True):
    """A path through the layers: its first node, its edges, and the mentions at its end by which episodes hold it."""

    start: int
    edges: tuple[Edge, ...]
    reached: frozenset[MentionKey]


def shortest_layers(
    graph: Neighbours,
    sources: frozenset[int],
    targets: frozenset[int],
    *,
    depth: int,
    types: Collection[str],
    within: frozenset[str] | None = None,
) -> Layers | None:
    """All edges that lie on a shortest path, by their distance from the sources; None when there is no path.

    No layers at all means that a source is a target.
    """
    forth, back = _Front(sources), _Front(targets)
    while not (met := forth.edge & back.edge):
        if len(forth.layers) + len(back.layers) == depth or not (forth.edge and back.edge):
            return None
        if len(forth.edge) <= len(back.edge):
            forth.grow(graph.edges_from(forth.edge, types=types, within=within), end=1)
        else:
            back.grow(graph.edges_to(back.edge, types=types, within=within), end=0)
    return (*reversed(forth.leading_to(met, end=1)), *back.leading_to(met, end=0))


class _Front:
    """One end of the search: the nodes at its edge, all it has seen, and the layers of edges it has crossed."""

    def __init__(self, start: frozenset[int]) -> None:
        self.edge: frozenset[int] = start
        self.seen: set[int] = set(start)
        self.layers: list[list[Edge]] = []

    def grow(self, edges: list[Edge], *, end: _End) -> None:
        """Steps over ``edges`` to the nodes at their ``end`` (0 source, 1 target) that are new."""
        self.layers.append([edge for edge in edges if edge[end] not in self.seen])
        self.edge = _nodes_at(end, self.layers[-1])
        self.seen |= self.edge

    def leading_to(self, met: frozenset[int], *, end: _End) -> list[frozenset[Edge]]:
        """The edges that lead to the nodes where the two searches met, the last layer first."""
        needed, kept = met, []
        for layer in reversed(self.layers):
            kept.append(frozenset([edge for edge in layer if edge[end] in needed]))
            needed = _nodes_at(0 if end else 1, kept[-1])
        return kept


def _nodes_at(end: _End, edges: Collection[Edge]) -> frozenset[int]:
    return frozenset([edge[1] for edge in edges] if end else [edge[0] for edge in edges])


class Choice:
    """Picks the best of all shortest paths, looking first at the partial path that can still become the best.

    A partial path is ranked by the most that it can reach: the episodes that hold it so far and hold some way on from
    there, the greatest strength there is, and its labels. None of the three can rise as the path grows, so the first
    path that arrives is the best one.
    """

    def __init__(self, graph: Neighbours, layers: Layers, within: frozenset[str] | None) -> None:
        self._layers = layers
        self._joints = {
            edge: frozenset(joint for joint in joints if within is None or joint[0] in within)
            for edge, joints in graph.joints({edge for layer in layers for edge in layer}).items()
        }
        self._weights = {edge: round(weight * MILLION) for edge, weight in graph.weights(self._joints).items()}
        cards = graph.cards({node for edge in self._joints for node in edge[:2]})
        self._names = {node: (card.label, card.type) for node, card in cards.items()}
        self._onwards: defaultdict[int, list[Edge]] = defaultdict(list)
        for edge in self._joints:
            self._onwards[edge[0]].append(edge)
        self._finish, self._strength = self._look_back()

    def best(self) -> Route:
        """The best path."""
        starts = {edge[0] for edge in self._layers[0]}
        heap = [self._entry(Route(start, (), self._finish.get(start, frozenset()))) for start in starts]
        heapq.heapify(heap)
        looks = 0
        while True:
            route = heapq.heappop(heap)[-1]
            if len(route.edges) == len(self._layers):
                return route
            looks += 1
            if looks > _PATIENCE:
                heap.clear()
            end = route.edges[-1][1] if route.edges else route.start
            for edge in self._onwards[end]:
                heapq.heappush(heap, self._entry(self._extended(route, edge)))

    def _look_back(self) -> tuple[dict[int, frozenset[MentionKey]], dict[int, int]]:
        """For each node, the mentions from which an episode leads on to a target, and the greatest strength onwards."""
        finish: defaultdict[int, set[MentionKey]] = defaultdict(set)
        strength: dict[int, int] = {}
        last = len(self._layers) - 1
        for depth in range(last, -1, -1):
            for edge in self._layers[depth]:
                source, target, _ = edge
                for episode, from_, to in self._joints[edge]:
                    if depth == last or (episode, to) in finish[target]:
                        finish[source].add((episode, from_))
                onwards = self._weights[edge] * strength.get(target, 1)
                strength[source] = max(strength.get(source, 0), onwards)
        return {node: frozenset(mentions) for node, mentions in finish.items()}, strength

    def _extended(self, route: Route, edge: Edge) -> Route:
        reached = {(episode, to) for episode, from_, to in self._joints[edge] if (episode, from_) in route.reached}
        arrived = len(route.edges) + 1 == len(self._layers)
        held = reached if arrived else reached & self._finish.get(edge[1], frozenset())
        return Route(route.start, (*route.edges, edge), frozenset(held))

    def _entry(self, route: Route) -> tuple[int, int, tuple[tuple[str, ...], ...], Route]:
        end = route.edges[-1][1] if route.edges else route.start
        strength = self._strength.get(end, 1) if len(route.edges) < len(self._layers) else 1
        for edge in route.edges:
            strength *= self._weights[edge]
        names = (self._names[route.start], *((*self._names[edge[1]], edge[2]) for edge in route.edges))
        return (-len({episode for episode, _ in route.reached}), -strength, names, route)
