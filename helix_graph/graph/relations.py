"""causes and effects: what leads straight to a thing, and what it leads straight to.

One step along the edges, of every type: an edge of type ``prevents`` into an error is what repaired it. Nodes are found
as in `paths`: by label; if none has it, by the texts of mentions, within the episodes that hold these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.errors import EmptyQuery
from helix_graph.graph.neighbours import Card, Edge, Neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL_TYPES = ("causes", "enables", "prevents", "correlates")


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """The node at the other end of an edge, and the edge.

    ``weight`` is 0 to 1, ``episodes`` are all that claim it, ``assertions`` how many of those do.
    """

    node: Card
    type: str
    reasons: tuple[str, ...]
    weight: float
    evidence_count: int
    episodes: tuple[str, ...]
    assertions: int


class RelationGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One node that was asked about, and what it is joined to; the best evidenced first."""

    node: Card
    relations: tuple[Relation, ...]


class RelationsAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The groups by node, the node with the label as asked first, then the most frequent."""

    found: bool
    groups: tuple[RelationGroup, ...] = ()
    error: str | None = None


def find_relations(graph: Neighbours, label: str, *, direction: Literal["causes", "effects"]) -> RelationsAnswer:
    """What leads to the nodes that match ``label`` (``causes``), or what they lead to (``effects``).

    Raises:
        EmptyQuery: The label is empty.
    """
    if not label.strip():
        raise EmptyQuery("the label")
    groups = [
        RelationGroup(node=graph.card(node), relations=tuple(_relations(graph, node, within, direction)))
        for node, within in _matching(graph, label.strip())
    ]
    if not groups:
        return RelationsAnswer(found=False, error=f"Node not found: {label.strip()}")
    wanted = label.strip().casefold()
    groups.sort(key=lambda each: (each.node.label.casefold() != wanted, -each.node.frequency, _name(each.node)))
    return RelationsAnswer(found=True, groups=tuple(groups))


def _matching(graph: Neighbours, label: str) -> Iterator[tuple[int, frozenset[str] | None]]:
    labelled = graph.labelled(label)
    if labelled:
        yield from ((node, None) for node in labelled)
    else:
        yield from graph.mentioning(label).items()


def _relations(
    graph: Neighbours, node: int, within: frozenset[str] | None, direction: Literal["causes", "effects"]
) -> list[Relation]:
    ask, end = (graph.edges_to, 0) if direction == "causes" else (graph.edges_from, 1)
    edges = ask([node], types=ALL_TYPES, within=within)
    relations = [_relation(graph, edge, edge[0] if end == 0 else edge[1]) for edge in edges]
    return sorted(relations, key=lambda each: (-each.evidence_count, -each.weight, _name(each.node), each.type))


def _relation(graph: Neighbours, edge: Edge, other: int) -> Relation:
    card = graph.edge_card(edge)
    return Relation(
        node=graph.card(other),
        type=edge[2],
        reasons=card.reasons,
        weight=card.weight,
        evidence_count=card.evidence_count,
        episodes=card.episodes,
        assertions=card.assertions,
    )


def _name(card: Card) -> tuple[str, str]:
    return card.label, card.type
