"""Several ways from A to B, in order: the shortest first, or the strongest first.

The *strength* of a path is the product of its weights. It says how sure its links are taken together, if they were
independent of each other; it is **not** the probability that the end follows the start. Weights say how often a link
that was read from a log is right, not how often the one thing is followed by the other, and links of different sessions
may never have followed each other at all. So each path is told with the episodes that hold it whole.

The search is best-first. First the edges are gathered that lie on some way of at most ``depth`` edges, and of parallel
edges the best is kept: two paths are different when they pass through different nodes. Then, from the goals backwards,
the best that can still come of each node with 0, 1, 2 … edges is found (Bellman and Ford's recursion). With that, the
partial path looked at next is always one that the best path left begins with, so paths arrive in their order and few
are made that are not wanted. Nothing is rounded: weights are integer millionths, and strengths of paths of different
lengths are brought to one power of a million.

Ends that match several nodes count as one: no path leads through a second match, since a part of it would do.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from helix_graph.graph.neighbours import Edge
from helix_graph.graph.weights import MILLION

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from helix_graph.graph.chains import Ends
    from helix_graph.graph.neighbours import Joint, Neighbours

#: Once it has gathered so many edges, the search goes no further from its ends; they take about a second to read.
_MOST_EDGES = 100_000
#: So many partial paths are looked at, as in `routes`.
_PATIENCE = 20_000
#: Of so many paths of one rank the one that most episodes hold comes first; beyond, the first by label do.
_MOST_TIED = 100

#: Length and strength, or the other way round, so that the least is the best.
Rank = tuple[int, int]
Nodes = tuple[int, ...]


class Way(msgspec.Struct, frozen=True):
    """A path: its first node, its edges, its strength (0 to 1), and the episodes that hold it whole."""

    start: int
    edges: tuple[Edge, ...]
    strength: float
    whole: tuple[str, ...]

    @property
    def nodes(self) -> Nodes:
        """The nodes it passes through."""
        return (self.start, *(edge[1] for edge in self.edges))


class Ways(msgspec.Struct, frozen=True):
    """The paths in their order. Not ``complete`` when the search gave up before it had looked at all there is."""

    found: tuple[Way, ...]
    complete: bool


def best_ways(
    graph: Neighbours, ends: Ends, *, depth: int, types: Collection[str], strongest: bool, count: int
) -> Ways:
    """The ``count`` best simple paths of at most ``depth`` edges.

    The shortest come first, of equally long ones those that most episodes hold whole, then the strongest; or with
    ``strongest`` the strongest, then the shortest, then those that most episodes hold; at last labels decide.
    """
    edges, complete = _gather(graph, ends, depth, types)
    search = _Search(graph, ends, edges, depth=depth, strongest=strongest)
    decisive = 2 if strongest else 1  # so much of a rank counts before the episodes that hold a path
    ways: list[tuple[Rank, Way]] = []
    for rank, nodes in search.paths():
        alike = bool(ways) and rank[:decisive] == ways[-1][0][:decisive]
        if len(ways) >= count and (not alike or len(ways) >= count + _MOST_TIED):
            break
        ways.append((rank, search.way(nodes)))
    ways.sort(key=lambda pair: (pair[0][:decisive], -len(pair[1].whole), pair[0]))  # stable: labels decided before
    return Ways(tuple(way for _, way in ways[:count]), complete and not search.gave_up)


def strength_of(graph: Neighbours, edges: Collection[Edge]) -> float:
    """The product of the weights of some edges, to twelve digits; 1 of none."""
    product, weights = 1, _millionths(graph, edges)
    for edge in edges:
        product *= weights[edge]
    return float(round(product / MILLION ** len(edges), 12))


def _gather(graph: Neighbours, ends: Ends, depth: int, types: Collection[str]) -> tuple[list[Edge], bool]:
    """All edges on a way of at most ``depth`` edges, and whether these are all.

    The first half of any such way is met from its beginning and the second from its end, so neither front goes further.
    """
    forth, all_forth = _sweep(
        lambda nodes: graph.edges_from(nodes, types=types, within=ends.within), ends.sources, (depth + 1) // 2, end=1
    )
    back, all_back = _sweep(
        lambda nodes: graph.edges_to(nodes, types=types, within=ends.within), ends.targets, depth // 2, end=0
    )
    inner = [edge for edge in forth | back if edge[1] not in ends.sources and edge[0] not in ends.targets]
    after, before = _distances(inner, ends.sources, end=1), _distances(inner, ends.targets, end=0)
    kept = [
        edge for edge in inner if edge[0] in after and edge[1] in before and after[edge[0]] + before[edge[1]] < depth
    ]
    return kept, all_forth and all_back


def _sweep(
    ask: Callable[[frozenset[int]], list[Edge]], start: frozenset[int], steps: int, *, end: int
) -> tuple[set[Edge], bool]:
    """The edges within so many steps of some nodes, and whether these are all."""
    found: set[Edge] = set()
    seen, front = set(start), start
    for _ in range(steps):
        if len(found) > _MOST_EDGES:
            return found, not front
        edges = ask(front)
        found.update(edges)
        front = frozenset(_end(edge, end) for edge in edges) - seen
        seen |= front
    return found, True


def _distances(edges: Collection[Edge], start: frozenset[int], *, end: int) -> dict[int, int]:
    """How many edges each node is away from the nearest of ``start``, forwards (``end`` 1) or backwards (0)."""
    onwards: defaultdict[int, list[int]] = defaultdict(list)
    for edge in edges:
        onwards[_end(edge, 1 - end)].append(_end(edge, end))
    found = dict.fromkeys(start, 0)
    front, distance = set(start), 0
    while front:
        distance += 1
        front = {node for one in front for node in onwards[one]} - found.keys()
        found.update(dict.fromkeys(front, distance))
    return found


def _end(edge: Edge, end: int) -> int:
    return edge[1] if end else edge[0]


def _millionths(graph: Neighbours, edges: Collection[Edge]) -> dict[Edge, int]:
    return {edge: round(weight * MILLION) for edge, weight in graph.weights(edges).items()}


class _Search:
    """A best-first search over gathered edges."""

    def __init__(self, graph: Neighbours, ends: Ends, edges: Collection[Edge], *, depth: int, strongest: bool) -> None:
        self.gave_up = False
        self._graph = graph
        self._ends = ends
        self._depth = depth
        self._strongest = strongest
        self._weights = _millionths(graph, edges)
        self._best: dict[tuple[int, int], Edge] = {}
        for edge in sorted(edges, key=lambda each: (-self._weights[each], each[2])):
            self._best.setdefault(edge[:2], edge)
        self._after: defaultdict[int, list[int]] = defaultdict(list)
        for source, target in self._best:
            self._after[source].append(target)
        self._onwards = self._look_back()
        self._names: dict[int, tuple[str, str]] = {}
        self._joints: dict[Edge, frozenset[Joint]] = {}

    def paths(self) -> Iterator[tuple[Rank, Nodes]]:
        """Every simple path, best first; of one rank by labels."""
        heap = [self._entry((start,), 1) for start in self._ends.sources if self._is_open(start, 0)]
        heapq.heapify(heap)
        looks = 0
        while heap:
            rank, _, nodes, product = heapq.heappop(heap)
            if nodes[-1] in self._ends.targets:
                yield rank, nodes
                continue
            looks += 1
            if looks > _PATIENCE:
                self.gave_up = True
                return
            for target in self._after[nodes[-1]]:
                if target not in nodes and self._is_open(target, len(nodes)):
                    weight = self._weights[self._best[nodes[-1], target]]
                    heapq.heappush(heap, self._entry((*nodes, target), product * weight))

    def way(self, nodes: Nodes) -> Way:
        """A path with all that is told of it."""
        edges = tuple(self._best[pair] for pair in pairwise(nodes))
        missing = [edge for edge in edges if edge not in self._joints]
        self._joints.update(self._graph.joints(missing))
        whole = holders([self._joints[edge] for edge in edges], self._ends.within)
        return Way(nodes[0], edges, strength_of(self._graph, edges), whole)

    def _look_back(self) -> list[dict[int, int]]:
        """By number of edges: from each node that leads to a goal in that many, the greatest strength."""
        layers = [dict.fromkeys(self._ends.targets, 1)]
        for _ in range(self._depth):
            layer: dict[int, int] = {}
            for (source, target), edge in self._best.items():
                if target in layers[-1]:
                    layer[source] = max(layer.get(source, 0), self._weights[edge] * layers[-1][target])
            layers.append(layer)
        return layers

    def _is_open(self, node: int, used: int) -> bool:
        """Whether a goal can be reached from here once so many edges are used."""
        return any(node in layer for layer in self._onwards[: self._depth - used + 1])

    def _entry(self, nodes: Nodes, product: int) -> tuple[Rank, tuple[tuple[str, str], ...], Nodes, int]:
        used = len(nodes) - 1
        rank = min(
            self._rank(used + more, product * layer[nodes[-1]])
            for more, layer in enumerate(self._onwards[: self._depth - used + 1])
            if nodes[-1] in layer
        )
        return rank, tuple(map(self._name, nodes)), nodes, product

    def _rank(self, length: int, product: int) -> Rank:
        strength = product * MILLION ** (self._depth - length)
        return (-strength, length) if self._strongest else (length, -strength)

    def _name(self, node: int) -> tuple[str, str]:
        if node not in self._names:
            card = self._graph.card(node)
            self._names[node] = (card.label, card.type)
        return self._names[node]


def holders(joints: Collection[frozenset[Joint]], within: frozenset[str] | None) -> tuple[str, ...]:
    """The episodes whose claims chain up along edges with these joints, mention by mention."""
    reached: set[tuple[str, str]] | None = None
    for each in joints:
        reached = {
            (episode, to)
            for episode, from_, to in each
            if (within is None or episode in within) and (reached is None or (episode, from_) in reached)
        }
    return tuple(sorted({episode for episode, _ in reached or ()}))
