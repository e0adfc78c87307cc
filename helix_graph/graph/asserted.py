"""What assertions add to the graph, in the same coin as episodes: mentions and claims, folded by the same sums.

A node of an episode joins that episode's share, since it is one more thing that this episode says. Any other node, and
every edge, is a share of its own under the assertion's name. The ends of an edge have to be nodes, but asserting an
edge is no occurrence of them: such mentions are not ``counted``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import Correction, corrected, unmatched
from helix_graph.graph.assertions import CORRECTIONS, EdgeAssertion, NodeAssertion, PatternAssertion, oldest_first
from helix_graph.graph.facts import facts_of, node_id
from helix_graph.graph.model import Claim, EpisodeFacts, Mention
from helix_graph.graph.weights import MILLION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.model import Episode
    from helix_graph.graph.assertions import Assertion, NodeName

REASON = "asserted"

#: Assertions with their names.
Named = tuple[str, "Assertion"]


def unit_of(name: str, assertion: Assertion) -> str:
    """Whose share an assertion belongs to: an episode's, its own, or nobody's (``""``: patterns are no part of it)."""
    if isinstance(assertion, PatternAssertion):
        return ""
    return name if isinstance(assertion, EdgeAssertion) else assertion.episode or name


def as_corrected(episode: Episode, assertions: Sequence[Named]) -> Episode:
    """The episode as people have corrected it."""
    return corrected(episode, _corrections(assertions)) if assertions else episode


def facts_with(episode: Episode, assertions: Sequence[Named], *, extracted: Episode) -> EpisodeFacts:
    """The facts of an episode that has been corrected, with the nodes that people add to it.

    ``extracted`` is what it was before: corrections name its parts.
    """
    facts = facts_of(episode)
    if not assertions:
        return facts
    added = tuple(_mention(name, one) for name, one in assertions if isinstance(one, NodeAssertion))
    return msgspec.structs.replace(
        facts,
        mentions=tuple(sorted((*facts.mentions, *added), key=lambda mention: mention.local)),
        problems=(*facts.problems, *unmatched(extracted, _corrections(assertions))),
    )


def _corrections(assertions: Sequence[Named]) -> list[Correction]:
    return [one for _, one in oldest_first(assertions) if isinstance(one, CORRECTIONS)]


def facts_alone(unit: str, assertions: Sequence[Named]) -> EpisodeFacts | None:
    """The facts of assertions without an episode's file; None when there are only corrections, which need one."""
    kept = [(name, one) for name, one in assertions if isinstance(one, NodeAssertion | EdgeAssertion)]
    if not kept:
        return None
    (_, first), own = oldest_first(kept)[0], kept[0][0] == unit
    return EpisodeFacts(
        episode=unit,
        session="" if own else unit.removeprefix("episode-"),
        timestamp=first.asserted_at if own else None,
        task="",
        origin="assertion" if own else "named",
        mentions=tuple(sorted(_mentions(kept), key=lambda mention: mention.local)),
        claims=tuple(_claim(name, one) for name, one in kept if isinstance(one, EdgeAssertion)),
    )


def _mentions(kept: Sequence[tuple[str, NodeAssertion | EdgeAssertion]]) -> list[Mention]:
    mentions = []
    for name, one in kept:
        if isinstance(one, NodeAssertion):
            mentions.append(_mention(name, one))
        else:
            mentions += [_end(f"{name}-source", one.source, one), _end(f"{name}-target", one.target, one)]
    return mentions


def _mention(name: str, one: NodeAssertion) -> Mention:
    return Mention(
        local=name,
        node=node_id(one.type, one.label),
        type=one.type,
        label=one.label,
        raw=one.label,
        timestamp=one.asserted_at,
        actor="user",
    )


def _end(local: str, node: NodeName, edge: EdgeAssertion) -> Mention:
    return Mention(
        local=local,
        node=node_id(node.type, node.label),
        type=node.type,
        label=node.label,
        raw=node.label,
        timestamp=edge.asserted_at,
        actor="user",
        counted=False,
    )


def _claim(name: str, edge: EdgeAssertion) -> Claim:
    return Claim(
        source=node_id(edge.source.type, edge.source.label),
        target=node_id(edge.target.type, edge.target.label),
        type=edge.type,
        reason=REASON,
        weight=round(edge.weight * MILLION),
        source_local=f"{name}-source",
        target_local=f"{name}-target",
    )
