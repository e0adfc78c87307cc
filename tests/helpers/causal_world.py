"""Small worlds of which it is known what led to what, and questions to them with their answers.

A world is a graph of things that people did and that happened (``caused``, ``enabled``, ``prevented``, ``similar_to``,
``invalidates``) and questions of seven categories. It is told to a memory by hand, node by node and edge by edge:

================ ======================================================================================================
``caused``       ``causes``
``enabled``      ``enables``
``prevented``    ``prevents``
``similar_to``   ``correlates``: both are met together in a way, and neither leads to the other
``invalidates``  nothing: no edge says that a later belief replaces an earlier one
polarity         of what leads to nothing more: an edge to the outcome ``success`` or ``failure``
================ ======================================================================================================

Then each question is asked through the public API alone: ``causes``, ``effects`` and ``path``.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from helix_graph.graph.relations import Relation
    from helix_graph.seed_api import SeedGraph

World = dict[str, Any]
Verdict = Literal["right", "wrong", "cannot"]

CATEGORIES = {
    11: "root cause",
    12: "what follows",
    13: "which option",
    14: "what prevents",
    15: "which came first",
    16: "the like case elsewhere",
    17: "what holds now",
}
_EDGES = {"caused": "causes", "enabled": "enables", "prevented": "prevents", "similar_to": "correlates"}
_LEADING = frozenset({"causes", "enables"})
_OUTCOMES = {"positive": "success", "negative": "failure"}
_QUOTED = re.compile(r'"([^"]+)"')
_FIRST = re.compile(r"first: (.+) or (.+)\?")


def tell(graph: SeedGraph, world: World) -> None:
    """Adds a world to a graph by hand."""
    nodes = {node["id"]: node for node in world["graph"]["nodes"]}
    ids: dict[int, str] = {}
    for number, node in nodes.items():
        ids[number] = graph.add_causal_node("event", node["action"])["id"]
    for edge in world["graph"]["edges"]:
        if edge["relation"] in _EDGES:
            graph.add_causal_edge(ids[edge["from"]], ids[edge["to"]], _EDGES[edge["relation"]])
    leading = {edge["from"] for edge in world["graph"]["edges"] if edge["relation"] in {"caused", "enabled"}}
    led_to = {edge["to"] for edge in world["graph"]["edges"] if edge["relation"] in {"caused", "enabled"}}
    for number in sorted(led_to - leading):
        outcome = _OUTCOMES.get(nodes[number]["polarity"])
        if outcome:
            end = graph.add_causal_node("outcome", outcome)["id"]
            graph.add_causal_edge(ids[number], end, "causes")


def score(graph: SeedGraph, world: World) -> Counter[tuple[int, Verdict]]:
    """How the questions of a world are answered, by category."""
    return Counter((asked["category"], _verdict(graph, asked)) for asked in world["qa"])


def _verdict(graph: SeedGraph, asked: dict[str, Any]) -> Verdict:
    answer = _ANSWERS.get(asked["category"])
    if answer is None:
        return "cannot"
    return "right" if answer(graph, asked["question"]) == asked["answer"] else "wrong"


def _root_cause(graph: SeedGraph, question: str) -> str | None:
    """The chain from where nothing leads further back; several such places are no answer."""
    (happened,) = _QUOTED.findall(question)
    roots = set(_ends(graph, happened, "causes"))
    if len(roots) != 1:
        return None
    found = graph.path(source=roots.pop(), target=happened, max_depth=10)
    return " → ".join(card.label for card in found.path)


def _what_follows(graph: SeedGraph, question: str) -> str | None:
    (done,) = _QUOTED.findall(question)
    last = set(_ends(graph, done, "effects"))
    return last.pop() if len(last) == 1 else None


def _which_option(graph: SeedGraph, question: str) -> str | None:
    """The option that leads to success and not to failure, with what follows it."""
    options = _QUOTED.findall(question)
    good = [one for one in options if _leads(graph, one, "success") and not _leads(graph, one, "failure")]
    return f"{good[0]} ({', '.join(sorted(set(_ends(graph, good[0], 'effects'))))})" if len(good) == 1 else None


def _what_prevents(graph: SeedGraph, question: str) -> str | None:
    (happened,) = _QUOTED.findall(question)
    prevents = [one.node.label for one in _relations(graph, happened, "causes") if one.type == "prevents"]
    return prevents[0] if len(prevents) == 1 else None


def _which_first(graph: SeedGraph, question: str) -> str | None:
    """What leads to something came before it; of two things that are not joined nothing is known."""
    found = _FIRST.search(question)
    assert found
    one, other = found.groups()
    forth, back = _leads(graph, one, other), _leads(graph, other, one)
    return None if forth == back else one if forth else other


_ANSWERS: dict[int, Callable[[SeedGraph, str], str | None]] = {
    11: _root_cause,
    12: _what_follows,
    13: _which_option,
    14: _what_prevents,
    15: _which_first,
}


def _leads(graph: SeedGraph, source: str, target: str) -> bool:
    return graph.path(source=source, target=target, max_depth=10).found


def _ends(
    graph: SeedGraph, label: str, direction: Literal["causes", "effects"], seen: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Where the edges lead at last, from a node on; outcomes and what is met again are no places to go to."""
    onwards = [
        one.node.label
        for one in _relations(graph, label, direction)
        if one.type in _LEADING and one.node.type != "outcome" and one.node.label not in seen
    ]
    if not onwards:
        yield label
    for each in onwards:
        yield from _ends(graph, each, direction, seen | {label})


def _relations(graph: SeedGraph, label: str, direction: Literal["causes", "effects"]) -> tuple[Relation, ...]:
    answer = graph.causes(label) if direction == "causes" else graph.effects(label)
    first = answer.groups[0]  # the node with the label as asked comes first
    assert first.node.label.casefold() == label.casefold()
    return first.relations
