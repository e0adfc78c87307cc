"""Facts of assertions, and those of an episode as people have corrected and completed it.

Assertions give facts of the same kind. A node asserted for an episode joins that episode's facts. Any other node, and
every edge, stands under the assertion's own name. The ends of an asserted edge are mentions too, but they are not
``counted`` as occurrences.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import Correction, corrected, unmatched
from helix_graph.graph import MILLION
from helix_graph.graph.assertions import (
    CORRECTIONS,
    EdgeAssertion,
    IssueAssertion,
    NodeAssertion,
    PatternAssertion,
    oldest_first,
)
from helix_graph.graph.episode_facts import facts_of
from helix_graph.graph.model import Claim, EpisodeFacts, Mention, node_id

if TYPE_CHECKING:
    from helix_episodes.model import Episode
    from helix_graph.graph.assertions import Assertion, NodeName
    from helix_graph.graph.node_labels import EpisodeLabels

REASON = "asserted"

#: Assertions with their names.
Named = tuple[str, "Assertion"]


def unit_of(name: str, assertion: Assertion) -> str:
    """Whose share an assertion belongs to: an episode's, its own, or nobody's (``""``: patterns, words on issues)."""
    if isinstance(assertion, PatternAssertion | IssueAssertion):
        return ""
    return name if isinstance(assertion, EdgeAssertion) else assertion.episode or name


def as_corrected(episode: Episode, assertions: Sequence[Named]) -> Episode:
    """The episode as people have corrected it."""
    return corrected(episode, _corrections(assertions)) if assertions else episode


def facts_with(
    episode: Episode, assertions: Sequence[Named], *, extracted: Episode, labels: EpisodeLabels | None = None
) -> EpisodeFacts:
    """The facts of an episode that has been corrected, with the nodes that people add to it.

    ``extracted`` is what it was before: corrections name its parts. ``labels`` as `facts_of` takes them.
    """
    facts = facts_of(episode, labels)
    if not assertions:
        return facts
    added = tuple(
        _asserted_mention(name, one, one.asserted_at) for name, one in assertions if isinstance(one, NodeAssertion)
    )
    return msgspec.structs.replace(
        facts,
        mentions=tuple(sorted((*facts.mentions, *added), key=lambda mention: mention.local)),
        problems=(*facts.problems, *unmatched(extracted, _corrections(assertions))),
    )


def _corrections(assertions: Sequence[Named]) -> list[Correction]:
    return [one for _, one in oldest_first(assertions) if isinstance(one, CORRECTIONS)]


def facts_alone(unit: str, assertions: Sequence[Named]) -> EpisodeFacts | None:
    """The facts of assertions without an episode's file; None when there are only corrections, which need one."""
    added = [(name, one) for name, one in assertions if isinstance(one, NodeAssertion | EdgeAssertion)]
    if not added:
        return None
    (_, first), own = oldest_first(added)[0], added[0][0] == unit
    mentions, claims = [], []
    for name, one in added:
        if isinstance(one, NodeAssertion):
            mentions.append(_asserted_mention(name, one, one.asserted_at))
            continue
        source, target = (
            _asserted_mention(f"{name}-{end}", node, one.asserted_at, counted=False)
            for end, node in (("source", one.source), ("target", one.target))
        )
        mentions += [source, target]
        claims.append(
            Claim(
                source=source.node,
                target=target.node,
                type=one.type,
                reason=REASON,
                weight=round(one.weight * MILLION),
                source_local=source.local,
                target_local=target.local,
            )
        )
    return EpisodeFacts(
        episode=unit,
        session="" if own else unit.removeprefix("episode-"),
        timestamp=first.asserted_at if own else None,
        task="",
        origin="assertion" if own else "named",
        mentions=tuple(sorted(mentions, key=lambda mention: mention.local)),
        claims=tuple(sorted(claims, key=attrgetter("source_local", "target_local", "type", "reason"))),
    )


def _asserted_mention(local: str, node: NodeAssertion | NodeName, when: str, *, counted: bool = True) -> Mention:
    return Mention(
        local=local,
        node=node_id(node.type, node.label),
        type=node.type,
        label=node.label,
        raw=node.label,
        timestamp=when,
        actor="user",
        counted=counted,
    )
