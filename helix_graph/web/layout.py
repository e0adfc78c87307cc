"""Positions of nodes on the page: causes left, effects right, the same on every run.

A layered layout in the manner of Sugiyama, Tagawa and Toda (1981), in four steps. Cycles are opened: within each
strongly connected component edges that run against a greedy order (Eades, Lin and Smyth 1993) are left out. A node's
layer is the length of the longest path to it. Within a layer nodes go to the mean position of their neighbours
(barycentres), in sweeps to and fro. A layer that is too long for the page is set in several columns. Nodes without an
edge are placed below in rows of their own. Only the order in which the nodes are passed decides ties.

Components are found by Kosaraju's algorithm (Sharir, "A strong-connectivity algorithm and its applications in data flow
analysis", 1981). networkx has this too, but takes 150 ms to load, a tenth of the time of a page of 2,000 labels.

>>> components_of(4, [(0, 1), (1, 2), (2, 1), (2, 3)])
[[0], [1, 2], [3]]
>>> layers_of(3, [(0, 1, 1.0), (1, 2, 1.0)])
[[0], [1], [2]]
>>> layers_of(3, [(0, 1, 3.0), (1, 0, 1.0), (1, 2, 1.0)])  # the weaker of two opposite edges is left out
[[0], [1], [2]]
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec


def components_of(count: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The nodes from 0 to ``count`` in groups that lead to each other; each group sorted, by its first node."""
    after: list[list[int]] = [[] for _ in range(count)]
    before: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        after[source].append(target)
        before[target].append(source)
    met: set[int] = set()
    finished = [node for start in range(count) for node in _walk(start, after, met)]
    met.clear()
    return sorted(sorted(group) for start in reversed(finished) if (group := list(_walk(start, before, met))))


def _walk(start: int, neighbours: list[list[int]], met: set[int]) -> Iterable[int]:
    """What is reached from a node and was not visited before, each node after all that it leads to."""
    if start in met:
        return
    met.add(start)
    way = [(start, iter(neighbours[start]))]
    while way:
        node, rest = way[-1]
        following = next((each for each in rest if each not in met), None)
        if following is None:
            way.pop()
            yield node
        else:
            met.add(following)
            way.append((following, iter(neighbours[following])))


#: Distances between nodes in the page's units, wide enough for a label under each.
COLUMN, ROW = 210, 92
#: The width of a picture by its height: that of the part of a screen that is left for it.
_ASPECT = 1.1
#: Positions hardly change after this many sweeps.
_SWEEPS = 12

#: Source and target, as places in the list of nodes, and how much the edge counts.
Edge = tuple[int, int, float]


class Spot(msgspec.Struct, frozen=True, gc=False):
    """The position of a node."""

    x: int
    y: int


def spots_of(count: int, edges: Sequence[Edge]) -> tuple[Spot, ...]:
    """The position of each of ``count`` nodes."""
    layers = layers_of(count, edges)
    linked = {end for source, target, _ in edges if source != target for end in (source, target)}
    columns = _columns([[node for node in layer if node in linked] for layer in layers])
    spots = {
        node: Spot(x=COLUMN * place, y=round(ROW * (row - (len(column) - 1) / 2)))
        for place, column in enumerate(columns)
        for row, node in enumerate(column)
    }
    alone = [node for node in range(count) if node not in linked]
    spots.update(_rows_below(alone, spots.values(), width=len(columns)))
    return tuple(spots[node] for node in range(count))


def _columns(layers: Iterable[list[int]]) -> list[list[int]]:
    """Layers as columns, the long ones over several so that the picture fits a screen."""
    filled = [layer for layer in layers if layer]
    height = _height(filled)
    return [column for layer in filled for column in _folded(layer, height)]


def _height(layers: Sequence[Sequence[int]]) -> int:
    """The least number of rows with which the picture is no wider than its aspect allows."""
    height = 1
    while COLUMN * sum(-(-len(layer) // height) for layer in layers) > _ASPECT * ROW * height:
        height += 1
    return height


def _folded(layer: list[int], height: int) -> list[list[int]]:
    """A layer in columns of even length: neighbours in the order stay close by."""
    number = -(-len(layer) // height)
    return [layer[place::number] for place in range(number)]


def _rows_below(nodes: Sequence[int], above: Iterable[Spot], *, width: int) -> dict[int, Spot]:
    floor = max((spot.y for spot in above), default=-2 * ROW) + round(1.5 * ROW)
    # Alone on the page they fill it; below others they are as wide as these.
    wide = max(width, round((len(nodes) * _ASPECT * ROW / COLUMN) ** 0.5), 1)
    return {node: Spot(x=COLUMN * (place % wide), y=floor + ROW * (place // wide)) for place, node in enumerate(nodes)}


def columns_of(count: int, edges: Sequence[Edge]) -> list[list[int]]:
    """Columns of even length for an overview: layer follows layer, but none has a column of its own.

    >>> columns_of(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)])
    [[0, 1], [2, 3]]
    """
    ordered = [node for layer in layers_of(count, edges) for node in layer]
    number = max(1, round((count * _ASPECT * ROW / COLUMN) ** 0.5 + 0.5))
    height = -(-count // number)
    return [ordered[start : start + height] for start in range(0, count, max(1, height))]


def layers_of(count: int, edges: Sequence[Edge]) -> list[list[int]]:
    """The layers, first to last, each in its order."""
    kept = _without_cycles(count, edges)
    layer = _longest_paths(count, kept)
    layers: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for node in range(count):
        layers[layer[node]].append(node)
    return _ordered(layers, kept)


def _without_cycles(count: int, edges: Sequence[Edge]) -> list[tuple[int, int]]:
    """The edges that run forward; of opposite ones those that count less are left out."""
    weights: defaultdict[tuple[int, int], float] = defaultdict(float)
    for source, target, weight in edges:
        if source != target:
            weights[source, target] += weight
    rank = [0] * count
    component_of: dict[int, int] = {}
    for number, component in enumerate(components_of(count, weights)):
        for place, node in enumerate(_greedy_order(component, weights)):
            component_of[node], rank[node] = number, place
    return [
        (source, target)
        for source, target in sorted(weights)
        if component_of[source] != component_of[target] or rank[source] < rank[target]
    ]


def _greedy_order(nodes: list[int], weights: dict[tuple[int, int], float]) -> list[int]:
    """An order in which little weight runs backwards: what gives most more than it takes goes first."""
    if len(nodes) == 1:
        return nodes
    within = set(nodes)
    touching = defaultdict[int, list[tuple[int, float]]](list)
    surplus = dict.fromkeys(nodes, 0.0)
    for (source, target), weight in weights.items():
        if source in within and target in within:
            surplus[source] += weight
            surplus[target] -= weight
            touching[source].append((target, weight))
            touching[target].append((source, -weight))
    waiting = [(-value, node) for node, value in surplus.items()]
    heapq.heapify(waiting)
    order: list[int] = []
    while waiting:
        value, node = heapq.heappop(waiting)
        if node not in within or -value != surplus[node]:  # taken already, or an entry from before a change
            continue
        within.remove(node)
        order.append(node)
        for other, weight in touching[node]:
            if other in within:
                surplus[other] += weight
                heapq.heappush(waiting, (-surplus[other], other))
    return order


def _longest_paths(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The layer of each node: one more than the last of those that lead to it.

    A node to which nothing leads is placed right before what it leads to, not at the far left.
    """
    after, before = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for source, target in edges:
        after[source].append(target)
        before[target].append(source)
    waiting = [len(before[node]) for node in range(count)]
    ready = [node for node in range(count) if not waiting[node]]
    layer = [0] * count
    for node in ready:  # grows while it is read
        for target in after[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    for node in range(count):
        if after[node] and not before[node]:
            layer[node] = min(layer[target] for target in after[node]) - 1
    return layer


def _ordered(layers: list[list[int]], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    after, before = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for source, target in edges:
        after[source].append(target)
        before[target].append(source)
    height = {node: _relative(place, layer) for layer in layers for place, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        neighbours = after if sweep % 2 else before
        for layer in reversed(layers) if sweep % 2 else layers:
            mean = {}
            for node in layer:
                near = neighbours[node]
                mean[node] = sum(height[each] for each in near) / len(near) if near else height[node]
            layer.sort(key=lambda node: (mean[node], node))
            height.update({node: _relative(place, layer) for place, node in enumerate(layer)})
    return layers


def _relative(place: int, layer: Sequence[int]) -> float:
    """A place in a layer from the middle, so that long and short layers compare."""
    return place - (len(layer) - 1) / 2
