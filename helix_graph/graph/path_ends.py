"""What the two texts of a question for a path mean, and where to search for it.

``passes`` and ``fails`` fit labels of every check. From a failure to ``passes`` asks for the passing of the check that
failed: of a linter's rule that its linter is content, not that tests pass. ``fails`` asks for a failing check before a
call of an agent's tool that did not work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.graph.label_lookup import Match, matches
from helix_graph.graph.shortest_paths import Ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.graph.adjacency import Adjacency
    from helix_graph.graph.finer_adjacency import FinerAdjacency

_FAILS, _PASSES = " fails: ", " passes"


def is_part_of(found: tuple[Match, Match], whole: tuple[Match, Match]) -> bool:
    """Whether a pair is another with fewer goals."""
    return found[0] is whole[0] and found[1].nodes < whole[1].nodes


def pairs(graph: Adjacency, source: str, target: str) -> Iterator[tuple[int, Match, Match]]:
    """What the two texts may stand for with its place in order; of a goal that means several the likeliest first."""
    for place, (start, goal) in enumerate(_whole_pairs(graph, source, target)):
        goals = _likeliest_goals(graph, start.nodes, goal.nodes) if goal.how == "label" else (goal.nodes,)
        for nodes in goals:
            yield place, start, goal if nodes == goal.nodes else replace(goal, nodes=nodes)


def _whole_pairs(graph: Adjacency, source: str, target: str) -> Iterator[tuple[Match, Match]]:
    """What the two texts may stand for, the best together first; the worse are not even looked for before."""
    waiting = matches(graph, source), matches(graph, target)
    known: tuple[list[Match], list[Match]] = ([], [])
    for total in range(len(_RANKS) * 2):
        for end in (0, 1):
            if len(known[end]) == total and (found := next(waiting[end], None)):
                known[end].append(found)
        starts, goals = known
        for place in range(total + 1):
            if place < len(starts) and total - place < len(goals):
                yield starts[place], goals[total - place]


#: `matches` gives at most so many: its ranks.
_RANKS = range(8)


def ends_of(finer: FinerAdjacency, start: Match, goal: Match) -> Ends:
    """Where to search; a name that also stands for some of what the other end is begins with the rest of it."""
    sources, targets = finer.meant_by(start), finer.meant_by(goal)
    if start.how != "label" and not sources <= targets:
        sources -= targets
    elif goal.how != "label" and not targets <= sources:
        targets -= sources
    return Ends(sources, targets, _within(start, goal))


def _within(start: Match, goal: Match) -> frozenset[str] | None:
    if start.within is None or goal.within is None:
        return start.within or goal.within
    return start.within & goal.within


def ends_at_kind(graph: Adjacency, source: str, target: str) -> Iterator[Ends]:
    """Where to search, in order: labels at both ends, then texts at one, then at both.

    Texts are read only when labels led nowhere: there are many more of them.
    """
    for by_text in ((False, False), (False, True), (True, False), (True, True)):
        (starts, one), (goals, other) = (
            _one_end(graph, text.strip(), by_text=texts) for text, texts in zip((source, target), by_text, strict=True)
        )
        if starts and goals:
            within = one if other is None else other if one is None else one & other
            for meant in (goals,) if by_text[1] else _likeliest_goals(graph, starts, goals):
                yield Ends(starts, meant, within)


def _one_end(graph: Adjacency, text: str, *, by_text: bool) -> tuple[frozenset[int], frozenset[str] | None]:
    """The nodes at one end, and the episodes that a match by text is restricted to."""
    if not by_text:
        return graph.labelled(text), None
    found = graph.mentioning(text)
    return frozenset(found), frozenset().union(*found.values())


def _likeliest_goals(graph: Adjacency, sources: frozenset[int], targets: frozenset[int]) -> Iterator[frozenset[int]]:
    """The nodes that are meant, the likeliest first; each is a part of ``targets``.

    The whole is the last, but where the start is a failure whose own check is among them: no other pass is a pass of
    what failed.
    """
    goals = graph.summaries(targets)
    failed = {node for node, card in goals.items() if card.type == "error"}
    passed = {node for node, card in goals.items() if card.label.endswith(_PASSES)}
    if len(passed) > 1:
        starts = graph.summaries(sources).values()
        checks = {card.label.partition(_FAILS)[0] for card in starts if card.type == "error"}
        own = frozenset(node for node in passed if goals[node].label.removesuffix(_PASSES) in checks)
        if own and all(card.type == "error" for card in starts):
            yield own
            return
    if len(failed) > 1:
        known = graph.kinds_of_checks()
        of_tools = {node for node in failed if goals[node].label.partition(_FAILS)[0] not in known}
        if of_tools and of_tools != failed:
            yield targets - of_tools
    yield targets


def most_telling(graph: Adjacency, goals: frozenset[int]) -> Iterator[frozenset[int]]:
    """Of several passes those that say most of a change: tests, then builds and types, before linters."""
    labels = {node: card.label for node, card in graph.summaries(goals).items()}
    if len(goals) > 1 and all(label.endswith(_PASSES) for label in labels.values()):
        kinds = graph.kinds_of_checks()
        for some in ({"test"}, {"build", "typecheck"}):
            yield frozenset(node for node in goals if kinds.get(labels[node].removesuffix(_PASSES)) in some)
