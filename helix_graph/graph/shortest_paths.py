"""Path searches over the graph: shortest, strongest, the k best, and the paths that single episodes contain.

An episode contains a path *whole* when its own claims chain up: the mention at which one link ends is the mention at
which the next begins. Two links of one episode that merely pass through the same label are no chain.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import pairwise

import msgspec

from helix_episodes.store import PREFIX
from helix_graph.graph.adjacency import FIRMEST, Adjacency, Edge, End, Firmness, Joint
from helix_graph.graph.mentions import MentionKey

_Sequence = tuple[tuple[str, ...], ...]


class Ends(msgspec.Struct, frozen=True):
    """Where to search from and to, and in which episodes (all, when None)."""

    sources: frozenset[int]
    targets: frozenset[int]
    within: frozenset[str] | None


def chains_of(graph: Adjacency, edges: tuple[Edge, ...], episodes: tuple[str, ...]) -> dict[str, tuple[Joint, ...]]:
    """For each episode that contains the path whole, one chain of its claims: the first to end, and the shortest."""
    joints = graph.joints(edges)
    return {episode: _chain([joints[edge] for edge in edges], episode) for episode in episodes}


def _chain(joints: list[frozenset[Joint]], episode: str) -> tuple[Joint, ...]:
    """The chain through one episode's claims that ends first in order of local ids; of several the last to begin."""
    own = [sorted((joint for joint in each if joint[0] == episode), reverse=True) for each in joints]
    chains: dict[str, tuple[Joint, ...]] = {joint[1]: () for joint in own[0]}
    for layer in own:
        longer: dict[str, tuple[Joint, ...]] = {}
        for joint in layer:
            if joint[1] in chains:
                longer.setdefault(joint[2], (*chains[joint[1]], joint))
        chains = longer
    return chains[min(chains)]


def witnessed(graph: Adjacency, ends: Ends, max_depth: int, follow: Collection[str]) -> RankedPath | None:
    """The shortest path that single sessions contain whole; of equally short ones the one of most sessions."""
    episodes = graph.episodes_of(ends.sources) & graph.episodes_of(ends.targets)
    if ends.within is not None:
        episodes &= ends.within
    found: defaultdict[tuple[Edge, ...], list[str]] = defaultdict(list)
    for episode in sorted(one for one in episodes if one.startswith(PREFIX)):  # an assertion is no session
        edges = _shortest_within(graph, episode, ends, max_depth, follow)
        if edges:
            found[edges].append(episode)
    if not found:
        return None
    edges = min(found, key=lambda path: (len(path), -len(found[path]), _sequence(graph, path)))
    return RankedPath(edges[0][0], edges, tuple(found[edges]))


def _shortest_within(
    graph: Adjacency, episode: str, ends: Ends, max_depth: int, follow: Collection[str]
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
                known = longer.get(target)
                if known is None or _sequence(graph, path) < _sequence(graph, known):
                    longer[target] = path
        arrived = [path for path in longer.values() if path[-1][1] in ends.targets]
        if arrived:
            return min(arrived, key=lambda path: _sequence(graph, path))
        reached = longer
        seen |= set(longer)
    return ()


def _sequence(graph: Adjacency, edges: tuple[Edge, ...]) -> _Sequence:
    """What a path says, to compare paths by."""
    first = graph.summary(edges[0][0])
    later = ((card.label, card.type, edge[2]) for edge in edges for card in (graph.summary(edge[1]),))
    return ((first.label, first.type), *later)


#: So many partial paths are compared before the search for the best one settles for the best it has.
_MOST_LAYER_STEPS = 20_000
Layers = tuple[frozenset[Edge], ...]


class Route(msgspec.Struct, frozen=True):
    """A path through the layers: its first node, its edges, and the mentions at its end that episodes reach by it."""

    start: int
    edges: tuple[Edge, ...]
    reached: frozenset[MentionKey]


def shortest_layers(
    graph: Adjacency,
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
    while not (reached_nodes := forth.edge & back.edge):
        if len(forth.layers) + len(back.layers) == depth or not (forth.edge and back.edge):
            return None
        if len(forth.edge) <= len(back.edge):
            forth.grow(graph.edges(forth.edge, at=0, types=types, within=within), end=1)
        else:
            back.grow(graph.edges(back.edge, at=1, types=types, within=within), end=0)
    return (*reversed(forth.leading_to(reached_nodes, end=1)), *back.leading_to(reached_nodes, end=0))


class _Front:
    """One end of the search: the nodes at its edge, all it has seen, and the layers of edges it has crossed."""

    def __init__(self, start: frozenset[int]) -> None:
        self.edge: frozenset[int] = start
        self.seen: set[int] = set(start)
        self.layers: list[list[Edge]] = []

    def grow(self, edges: list[Edge], *, end: End) -> None:
        """Steps over ``edges`` to the nodes at their ``end`` (0 source, 1 target) that are new."""
        self.layers.append([edge for edge in edges if edge[end] not in self.seen])
        self.edge = frozenset(_end(edge, end) for edge in self.layers[-1])
        self.seen |= self.edge

    def leading_to(self, reached_nodes: frozenset[int], *, end: End) -> list[frozenset[Edge]]:
        """The edges that lead to the nodes where the two searches met, the last layer first."""
        needed, pruned = reached_nodes, []
        for layer in reversed(self.layers):
            pruned.append(frozenset([edge for edge in layer if edge[end] in needed]))
            needed = frozenset(_end(edge, 0 if end else 1) for edge in pruned[-1])
        return pruned


class PathChoice:
    """Picks the best of all shortest paths, looking first at the partial path that can still become the best.

    A partial path is ranked by the most that it can reach: the episodes that contain it so far and some way on from
    there, the greatest firmness there is, and its labels. None of the three can rise as the path grows, so the first
    path that arrives is the best one.
    """

    def __init__(self, graph: Adjacency, layers: Layers, within: frozenset[str] | None) -> None:
        self._layers = layers
        self._joints = {
            edge: frozenset(joint for joint in joints if within is None or joint[0] in within)
            for edge, joints in graph.joints({edge for layer in layers for edge in layer}).items()
        }
        self._firmness = graph.firmness(self._joints)
        cards = graph.summaries({node for edge in self._joints for node in edge[:2]})
        self._names = {node: (card.label, card.type) for node, card in cards.items()}
        self._onwards: defaultdict[int, list[Edge]] = defaultdict(list)
        for edge in self._joints:
            self._onwards[edge[0]].append(edge)
        self._finish, self._firmest = self._look_back()

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
            if looks > _MOST_LAYER_STEPS:
                heap.clear()
            end = route.edges[-1][1] if route.edges else route.start
            for edge in self._onwards[end]:
                reached = {
                    (episode, to) for episode, from_, to in self._joints[edge] if (episode, from_) in route.reached
                }
                arrived = len(route.edges) + 1 == len(self._layers)
                alive = reached if arrived else reached & self._finish.get(edge[1], frozenset())
                heapq.heappush(heap, self._entry(Route(route.start, (*route.edges, edge), frozenset(alive))))

    def _look_back(self) -> tuple[dict[int, frozenset[MentionKey]], dict[int, Firmness]]:
        """For each node, the mentions from which an episode leads on to a target, and the greatest firmness onwards."""
        finish: defaultdict[int, set[MentionKey]] = defaultdict(set)
        firmest: dict[int, Firmness] = {}
        last = len(self._layers) - 1
        for depth in range(last, -1, -1):
            for edge in self._layers[depth]:
                source, target, _ = edge
                for episode, from_, to in self._joints[edge]:
                    if depth == last or (episode, to) in finish[target]:
                        finish[source].add((episode, from_))
                onwards = min(self._firmness[edge], firmest.get(target, FIRMEST))
                firmest[source] = max(firmest.get(source, onwards), onwards)
        return {node: frozenset(mentions) for node, mentions in finish.items()}, firmest

    def _entry(self, route: Route) -> tuple[int, float, float, tuple[tuple[str, ...], ...], Route]:
        end = route.edges[-1][1] if route.edges else route.start
        onwards = self._firmest.get(end, FIRMEST) if len(route.edges) < len(self._layers) else FIRMEST
        low, weight = min((onwards, *(self._firmness[edge] for edge in route.edges)))
        names = (self._names[route.start], *((*self._names[edge[1]], edge[2]) for edge in route.edges))
        return (-len({episode for episode, _ in route.reached}), -low, -weight, names, route)


#: Once it has gathered so many edges, the search goes no further from its ends; they take about a second to read.
_MOST_EDGES = 100_000
#: The search gives up after this many partial paths.
_PATIENCE = 20_000
#: Of so many paths of one rank the one that most episodes contain comes first; beyond, the first by label do.
_MOST_TIED = 100

#: Length and firmness, or the other way round, so that the least is the best.
Rank = tuple[float, float, float]
Nodes = tuple[int, ...]


class RankedPath(msgspec.Struct, frozen=True):
    """A path: its first node, its edges, and the episodes that contain it whole."""

    start: int
    edges: tuple[Edge, ...]
    whole: tuple[str, ...]

    @property
    def nodes(self) -> Nodes:
        """The nodes it passes through."""
        return (self.start, *(edge[1] for edge in self.edges))


class RankedPaths(msgspec.Struct, frozen=True):
    """The paths in their order. Not ``complete`` when the search gave up before it had looked at all there is."""

    found: tuple[RankedPath, ...]
    complete: bool


def k_best_paths(
    graph: Adjacency, ends: Ends, *, depth: int, types: Collection[str], strongest: bool, count: int
) -> RankedPaths:
    """The ``count`` best simple paths of at most ``depth`` edges.

    The shortest come first, of equally long ones those that most episodes contain whole, then the firmest; or with
    ``strongest`` the firmest, then the shortest, then those that most episodes contain; at last labels decide. A path
    is as firm as its weakest edge: how the steps of different sessions depend on each other is not known, so nothing is
    multiplied.
    """
    edges, complete = _gather(graph, ends, depth, types)
    search = _Search(graph, ends, edges, depth=depth, strongest=strongest)
    decisive = 3 if strongest else 1  # so much of a rank counts before the episodes that contain a path
    paths: list[tuple[Rank, RankedPath]] = []
    for rank, nodes in search.paths():
        alike = bool(paths) and rank[:decisive] == paths[-1][0][:decisive]
        if len(paths) >= count and (not alike or len(paths) >= count + _MOST_TIED):
            break
        paths.append((rank, search.way(nodes)))
    paths.sort(key=lambda pair: (pair[0][:decisive], -len(pair[1].whole), pair[0]))  # stable: labels decided before
    return RankedPaths(tuple(way for _, way in paths[:count]), complete and not search.gave_up)


def _gather(graph: Adjacency, ends: Ends, depth: int, types: Collection[str]) -> tuple[list[Edge], bool]:
    """All edges on a way of at most ``depth`` edges, and whether these are all.

    The first half of any such way is met from its beginning and the second from its end, so neither front goes further.
    """
    forth, all_forth = _sweep(graph, ends.sources, (depth + 1) // 2, end=1, types=types, within=ends.within)
    back, all_back = _sweep(graph, ends.targets, depth // 2, end=0, types=types, within=ends.within)
    inner = [edge for edge in forth | back if edge[1] not in ends.sources and edge[0] not in ends.targets]
    after, before = _distances(inner, ends.sources, end=1), _distances(inner, ends.targets, end=0)
    pruned = [
        edge for edge in inner if edge[0] in after and edge[1] in before and after[edge[0]] + before[edge[1]] < depth
    ]
    return pruned, all_forth and all_back


def _sweep(
    graph: Adjacency,
    start: frozenset[int],
    steps: int,
    *,
    end: End,
    types: Collection[str],
    within: frozenset[str] | None,
) -> tuple[set[Edge], bool]:
    """The edges within so many steps of some nodes, and whether these are all."""
    found: set[Edge] = set()
    seen, front = set(start), start
    for _ in range(steps):
        if len(found) > _MOST_EDGES:
            return found, not front
        edges = graph.edges(front, at=0 if end else 1, types=types, within=within)
        found.update(edges)
        front = frozenset(_end(edge, end) for edge in edges) - seen
        seen |= front
    return found, True


def _distances(edges: Collection[Edge], start: frozenset[int], *, end: End) -> dict[int, int]:
    """How many edges each node is away from the nearest of ``start``, forwards (``end`` 1) or backwards (0)."""
    onwards: defaultdict[int, list[int]] = defaultdict(list)
    for edge in edges:
        onwards[_end(edge, 0 if end else 1)].append(_end(edge, end))
    found = dict.fromkeys(start, 0)
    front, distance = set(start), 0
    while front:
        distance += 1
        front = {node for one in front for node in onwards[one]} - found.keys()
        found.update(dict.fromkeys(front, distance))
    return found


def _end(edge: Edge, end: End) -> int:
    return edge[1] if end else edge[0]


class _Search:
    """A best-first search over gathered edges."""

    def __init__(self, graph: Adjacency, ends: Ends, edges: Collection[Edge], *, depth: int, strongest: bool) -> None:
        self.gave_up = False
        self._graph = graph
        self._ends = ends
        self._depth = depth
        self._strongest = strongest
        self._firmness = graph.firmness(edges)
        self._best: dict[tuple[int, int], Edge] = {}
        for edge in sorted(sorted(edges, key=lambda each: each[2]), key=self._firmness.__getitem__, reverse=True):
            self._best.setdefault(edge[:2], edge)
        self._after: defaultdict[int, list[int]] = defaultdict(list)
        for source, target in self._best:
            self._after[source].append(target)
        self._onwards = self._look_back()

    def paths(self) -> Iterator[tuple[Rank, Nodes]]:
        """Every simple path, best first; of one rank by labels."""
        heap = [self._entry((start,), FIRMEST) for start in self._ends.sources if self._is_open(start, 0)]
        heapq.heapify(heap)
        looks = 0
        while heap:
            rank, _, nodes, firmness = heapq.heappop(heap)
            if nodes[-1] in self._ends.targets:
                yield rank, nodes
                continue
            looks += 1
            if looks > _PATIENCE:
                self.gave_up = True
                return
            for target in self._after[nodes[-1]]:
                if target not in nodes and self._is_open(target, len(nodes)):
                    step = self._firmness[self._best[nodes[-1], target]]
                    heapq.heappush(heap, self._entry((*nodes, target), min(firmness, step)))

    def way(self, nodes: Nodes) -> RankedPath:
        """The path through these nodes, and the episodes that contain it whole."""
        edges = tuple(self._best[pair] for pair in pairwise(nodes))
        joints = self._graph.joints(edges)
        whole = holders([joints[edge] for edge in edges], self._ends.within)
        return RankedPath(nodes[0], edges, whole)

    def _look_back(self) -> list[dict[int, Firmness]]:
        """By number of edges: from each node that leads to a goal in that many, the greatest firmness."""
        layers = [dict.fromkeys(self._ends.targets, FIRMEST)]
        for _ in range(self._depth):
            layer: dict[int, Firmness] = {}
            for (source, target), edge in self._best.items():
                if target in layers[-1]:
                    onwards = min(self._firmness[edge], layers[-1][target])
                    layer[source] = max(layer.get(source, onwards), onwards)
            layers.append(layer)
        return layers

    def _is_open(self, node: int, used: int) -> bool:
        """Whether a goal can be reached from here once so many edges are used."""
        return any(node in layer for layer in self._onwards[: self._depth - used + 1])

    def _entry(self, nodes: Nodes, firmness: Firmness) -> tuple[Rank, tuple[tuple[str, str], ...], Nodes, Firmness]:
        used = len(nodes) - 1
        rank = min(
            self._rank(used + more, min(firmness, layer[nodes[-1]]))
            for more, layer in enumerate(self._onwards[: self._depth - used + 1])
            if nodes[-1] in layer
        )
        cards = self._graph.summaries(nodes)
        return rank, tuple((cards[node].label, cards[node].type) for node in nodes), nodes, firmness

    def _rank(self, length: int, firmness: Firmness) -> Rank:
        low, weight = firmness
        return (-low, -weight, length) if self._strongest else (length, -low, -weight)


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
