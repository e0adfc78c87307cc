"""Which nodes lie on a circle together: strongly connected components.

Kosaraju's algorithm (Sharir, "A strong-connectivity algorithm and its applications in data flow analysis", 1981): nodes
in the order in which a walk along the edges is done with them, then walks against the edges in the reverse of it.
networkx has this too, but takes 150 ms to load, a tenth of the time of a page of 2,000 labels.

>>> components_of(4, [(0, 1), (1, 2), (2, 1), (2, 3)])
[[0], [1, 2], [3]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    """What is reached from a node and was not met before, each node after all that it leads to."""
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
