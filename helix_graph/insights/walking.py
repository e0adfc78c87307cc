"""Walking along links: from insights to insights and nodes of the graph, and back.

A node stands for all anchors that lead to it now, so two insights whose anchors were written down differently meet in
it. Each insight and each node is met once, so circles end.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_graph.insights import rows
from helix_graph.insights.links import links_of, links_where
from helix_graph.insights.seed_form import public

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from helix_graph.graph.anchors import Anchor, Anchored
    from helix_graph.insights.experience import Experience
    from helix_graph.insights.model import Kept, Link


class _Step(NamedTuple):
    """One place on the way: an insight's row or a node's id, its name, how to show it, and what led there."""

    key: int | str
    name: str
    shown: dict[str, Any]
    relation: str
    at: Kept | Anchored


class Walk:
    """A walk over the links of one state of the database; ``least`` is the score that a link must have."""

    def __init__(self, connection: sqlite3.Connection, experience: Experience | None, *, least: float) -> None:
        self._connection = connection
        self._experience = experience
        self._least = least

    def from_insight(self, start: Kept, *, hops: int) -> Iterator[dict[str, Any]]:
        """Everything within so many links, the nearest first."""
        met: set[int | str] = {start.number}
        edge = [_Step(start.number, start.name, {}, "", start)]
        for hop in range(1, hops + 1):
            reached = []
            for here in edge:
                for step in self._beside(here):
                    if step.key not in met:
                        met.add(step.key)
                        reached.append(step)
                        yield {**step.shown, "_hop": hop, "_via": here.name, "_relation": step.relation}
            edge = reached

    def _beside(self, here: _Step) -> Iterator[_Step]:
        if isinstance(here.key, int):
            own = rows.own_uids(self._connection, here.at.insight.uid)  # type: ignore[union-attr]  # a row's is a Kept
            yield from self._of_insight(own)
        else:
            yield from self._of_node(here.key)

    def _of_insight(self, own: frozenset[str]) -> Iterator[_Step]:
        for link in links_of(self._connection, own):
            if link.score < self._least:
                continue
            if link.node_type:
                found = self._node_of(link)
                if found:
                    yield _node_step(found, link.relation)
            else:
                other = link.target if link.insight in own else link.insight
                yield from self._insight_step(other, link.relation)

    def _of_node(self, node: str) -> Iterator[_Step]:
        for link in self._by_node.get(node, ()):
            if link.score >= self._least:
                yield from self._insight_step(link.insight, link.relation)

    def _insight_step(self, uid: str, relation: str) -> Iterator[_Step]:
        found = rows.by_uid(self._connection, uid)
        kept = found and rows.standing_for(self._connection, found)
        if kept and kept.insight.state == "active":
            yield _Step(kept.number, kept.name, {"_kind": "insight", **public(kept)}, relation, kept)

    def _node_of(self, link: Link) -> Anchored | None:
        return self._nodes.get(anchor_of(link))

    @cached_property
    def _by_anchor(self) -> dict[Anchor, list[Link]]:
        """The links to nodes by what they speak of, the strongest first."""
        found: dict[Anchor, list[Link]] = defaultdict(list)
        for link in links_where(self._connection, "node_type != '' ORDER BY score DESC, id"):
            found[anchor_of(link)].append(link)
        return found

    @cached_property
    def _nodes(self) -> dict[Anchor, Anchored]:
        """Where every anchor leads."""
        return self._experience.anchored(sorted(self._by_anchor, key=_place)) if self._experience else {}

    @cached_property
    def _by_node(self) -> dict[str, list[Link]]:
        """The links that lead to each node."""
        found: dict[str, list[Link]] = defaultdict(list)
        for anchor, node in self._nodes.items():
            found[node.node] += self._by_anchor[anchor]
        return found


def anchor_of(link: Link) -> Anchor:
    """What a link to a node speaks of."""
    from helix_graph.graph.anchors import Anchor  # noqa: PLC0415  (recall does without the graph's grammar: 40 ms to load)

    return Anchor(type=link.node_type, text=link.node_text, episode=link.episode)


def _place(anchor: Anchor) -> tuple[str, str, str]:
    return anchor.type, anchor.text, anchor.episode


def _node_step(found: Anchored, relation: str) -> _Step:
    shown = {"_kind": "node", "name": found.label, "node": found.node, "type": found.type}
    return _Step(found.node, found.label, shown, relation, found)
