"""Answer `causes` and `effects`: what leads straight to a thing, and what it leads straight to.

One step along edges of every type: one of type ``prevents`` into an error is what repaired it. What is asked about is a
label, place or thing; what stands at the other end is shown as finely as its mentions have a name, unless a resolution
is asked for. Each relation says in how many of the sessions with its source it is there.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_episodes.extraction.shell.commands import plain_command
from helix_episodes.store import PREFIX
from helix_graph.errors import NO_WORDS
from helix_graph.graph.adjacency import Adjacency, EdgeClaim, End, Frequency, NodeSummary, summary_of
from helix_graph.graph.finer_adjacency import FinerAdjacency
from helix_graph.graph.label_lookup import Match, TextReading, matches
from helix_graph.graph.label_search import LabelMatch
from helix_graph.graph.mentions import MentionKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from helix_graph.graph.mentions import Resolution

#: What the label of a command begins with, and what a shortened one ends with.
_RUN, _CUT = "run ", "\u2026"
ALL_TYPES = ("causes", "enables", "prevents", "correlates")


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """What is at the other end of an edge, and the edge.

    ``weight`` is 0 to 1, ``episodes`` are all that claim it, ``assertions`` how many of those do. ``frequency`` counts
    the sessions in which the edge's source occurred, which is the other end for a cause.
    """

    node: NodeSummary
    type: str
    reasons: tuple[str, ...]
    weight: float
    frequency: Frequency
    evidence_count: int
    episodes: tuple[str, ...]
    assertions: int


class RelationGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was asked about, the sessions that have it, and what it is joined to; the best evidenced first."""

    node: NodeSummary
    sessions: int
    relations: tuple[Relation, ...]


class RelationsAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The groups: what is named as asked first, then the most frequent.

    ``read_as`` says what a text that names nothing was taken for, by its words, ``nearest`` what it may have meant.
    """

    found: bool
    groups: tuple[RelationGroup, ...] = ()
    error: str | None = None
    read_as: dict[str, str] = {}
    nearest: tuple[LabelMatch, ...] = ()


def find_relations(
    graph: Adjacency, label: str, *, direction: Literal["causes", "effects"], resolution: Resolution | None = None
) -> RelationsAnswer:
    """What leads to what ``label`` stands for (``causes``), or what that leads to (``effects``).

    Raises:
        InvalidArgument: The label is empty.
    """
    wanted = label.strip()
    if not wanted:
        raise InvalidArgument("the label", NO_WORDS)
    at: End = 1 if direction == "causes" else 0
    base = graph if resolution == "kind" else FinerAdjacency(graph.connection, resolution or "thing")
    groups = [_group(base, one, at) for one in _asked_about(base, graph, wanted)]
    if not groups:
        return RelationsAnswer(found=False, error=f'Nothing matches "{wanted}"')
    groups.sort(
        key=lambda one: (one.node.label.casefold() != wanted.casefold(), -one.sessions, one.node.label, one.node.type)
    )
    return RelationsAnswer(found=True, groups=tuple(groups))


class _Asked(msgspec.Struct, frozen=True):
    """One thing that was asked about: how it is shown, its nodes in the graph asked, and its mentions if limited."""

    node: NodeSummary
    handles: frozenset[int]
    mentions: frozenset[MentionKey] | None = None


def _asked_about(base: Adjacency, graph: Adjacency, wanted: str) -> Iterator[_Asked]:
    """Nodes with the text in their label; else what has it as a name, with failures in such a file; else in a text."""
    first: Match | None = None
    known: set[int] = set()
    for match in matches(graph, wanted):
        if first and (match.how, first.how) not in {("label", "label"), ("file", "name")}:
            return
        first = first or match
        for handles, node in _handles(base, graph, match):
            if not handles <= known:
                about = f" (in {wanted})" if match.how == "file" else ""
                yield _Asked(msgspec.structs.replace(node, label=node.label + about), handles, match.mentions)
            known |= handles


def _handles(base: Adjacency, graph: Adjacency, match: Match) -> Iterator[tuple[frozenset[int], NodeSummary]]:
    if isinstance(base, FinerAdjacency) and match.how != "label":
        for handle in base.meant_by(match):
            yield frozenset({handle}), base.summary(handle)
        return
    for node in match.nodes:
        alone = msgspec.structs.replace(match, nodes=frozenset({node}))
        yield base.meant_by(alone) if isinstance(base, FinerAdjacency) else alone.nodes, graph.summary(node)


def _group(base: Adjacency, asked: _Asked, at: End) -> RelationGroup:
    within = None if asked.mentions is None else frozenset(episode for episode, _ in asked.mentions)
    episodes = base.episodes_of(asked.handles)
    sessions = sum(one.startswith(PREFIX) for one in (episodes if within is None else episodes & within))
    claims: defaultdict[tuple[int, str], list[EdgeClaim]] = defaultdict(list)
    for edge, known in base.claims(base.edges(asked.handles, at=at, types=ALL_TYPES, within=within)).items():
        claims[edge[0] if at else edge[1], edge[2]] += [
            one
            for one in known
            if asked.mentions is None or (one.owner, one.target if at else one.source) in asked.mentions
        ]
    others = base.summaries({other for other, _ in claims})
    occurring = base.occurring(others) if at else dict.fromkeys(others, sessions)
    for same, command in _same_commands(others):
        others[same[0]] = msgspec.structs.replace(others[same[0]], label=command)
        if at:
            occurring[same[0]] = sum(one.startswith(PREFIX) for one in base.episodes_of(same))
        for other, kind in [edge for edge in claims if edge[0] in same[1:]]:
            claims[same[0], kind] += claims.pop((other, kind))
    relations = [
        Relation(node=others[other], type=kind, **msgspec.structs.asdict(summary_of(known, occurring[other])))
        for (other, kind), known in claims.items()
        if known
    ]
    if at and asked.node.type == "error":
        # To have asked is no cause of the answer.
        relations = [one for one in relations if one.reasons != ("call",)]
    relations.sort(
        key=lambda one: (
            *(-one.evidence_count, -one.frequency.low, -one.weight),
            *(one.node.label, one.node.type, one.type),
        )
    )
    return RelationGroup(node=asked.node, sessions=sessions, relations=tuple(relations))


def _same_commands(nodes: Mapping[int, NodeSummary]) -> list[tuple[list[int], str]]:
    """The nodes that are one command but for where it went first and what became of its output, and its label."""
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for handle, node in nodes.items():
        if node.type == "decision" and node.label.startswith(_RUN) and not node.label.endswith(_CUT):
            found[node.id, _RUN + plain_command(node.label.removeprefix(_RUN))].append(handle)
    return [(sorted(same), label) for (_, label), same in found.items() if len(same) > 1]


def relations_by_words(graph: Adjacency, ask: Callable[[str], RelationsAnswer], label: str) -> RelationsAnswer:
    """What ``ask`` finds for the text, or for what its words may mean."""
    reading = TextReading(graph, label)
    alone: RelationsAnswer | None = None
    for name, text in reading.texts:
        answer = ask(text)
        if not answer.found:
            continue
        answer = msgspec.structs.replace(answer, read_as={label: name}) if name else answer
        if not name or any(group.relations for group in answer.groups):
            return answer
        alone = alone or answer
    return alone or msgspec.structs.replace(ask(label), nearest=reading.nearest)
