"""The fold: facts of many episodes become one graph.

Each episode has a *share* in the graph: how often it mentions each node, and which weights it adds to each edge. A
share consists of integers only, and the graph is the sum of the shares. From this follows everything that is asked of
it: any order, any grouping and any machine give the same sums; merging is addition; taking an episode out is
subtraction, exact to the last bit. `file` keeps the same sums in SQLite and updates them by the same shares.

======================= =============================================================================================
of a node
``frequency``           mentions, over all episodes
``episodes``            the episodes that mention it
``success_rate``        of those whose outcome is rewarded, judged or measured: the share that succeeded; None of none
of an edge
``weight``              mean weight of its claims, 0 to 1, to six digits
``evidence_count``      distinct episodes that claim it, and assertions
``status``              ``asserted``: logs or people claim it, nothing has tested it
======================= =============================================================================================
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_graph.graph.weights import mean_weight, rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    import networkx as nx

    from helix_graph.graph.model import Claim, EpisodeFacts, Mention

EdgeKey = tuple[str, str, str]


class NodeShare(NamedTuple):
    """Mentions, episodes, episodes with a measured outcome, and successes among these."""

    mentions: int
    episodes: int
    measured: int
    successes: int


class EdgeShare(NamedTuple):
    """Sum of weights in millionths, number of claims, distinct episodes."""

    weight_sum: int
    claims: int
    episodes: int


def node_shares(facts: EpisodeFacts) -> dict[str, NodeShare]:
    """What one episode adds to each node."""
    measured, success = facts.succeeded is not None, facts.succeeded is True
    episodes = int(facts.origin != "assertion")
    counts: dict[str, int] = {}
    for mention in facts.mentions:
        if mention.counted:
            counts[mention.node] = counts.get(mention.node, 0) + 1
    return {node: NodeShare(count, episodes, int(measured), int(success)) for node, count in counts.items()}


def edge_shares(facts: EpisodeFacts) -> dict[EdgeKey, EdgeShare]:
    """What one episode adds to each edge."""
    shares: dict[EdgeKey, EdgeShare] = {}
    for claim in facts.claims:
        edge = (claim.source, claim.target, claim.type)
        held = shares.get(edge)
        shares[edge] = EdgeShare(held[0] + claim.weight, held[1] + 1, 1) if held else EdgeShare(claim.weight, 1, 1)
    return shares


def fold(facts: Iterable[EpisodeFacts]) -> nx.MultiDiGraph[str]:
    """The causal graph of a set of facts, as a networkx ``MultiDiGraph``.

    Nodes carry ``type``, ``label``, ``frequency``, ``episodes``, ``success_rate``, ``aliases`` (raw text to number of
    mentions) and ``mentions`` (pairs of episode and `Mention`); edges, keyed by their type, carry ``type``, ``weight``,
    ``evidence_count``, ``reasons`` and ``status``. ``graph.graph["claims"]`` maps each edge to its pairs of episode and
    `Claim`, since episode lists in edge attributes would weigh down every algorithm that copies them.

    The same episode twice counts once; of two versions of an episode the one that sorts last is taken, so that the
    result never depends on the order of ``facts``.
    """
    import networkx as nx  # noqa: PLC0415  (loaded only when a graph is wanted)

    newest = {each.episode: each for each in sorted(facts, key=_version)}
    episodes = [newest[name] for name in sorted(newest)]
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    _add_nodes(graph, episodes)
    _add_edges(graph, episodes)
    return graph


def _version(facts: EpisodeFacts) -> tuple[str, bytes]:
    return facts.episode, msgspec.msgpack.encode(facts)


def _add_nodes(graph: nx.MultiDiGraph[str], episodes: list[EpisodeFacts]) -> None:
    mentions: defaultdict[str, list[tuple[str, Mention]]] = defaultdict(list)
    shares: defaultdict[str, list[NodeShare]] = defaultdict(list)
    alone = {facts.episode for facts in episodes if facts.origin == "assertion"}
    for facts in episodes:
        for mention in facts.mentions:
            mentions[mention.node].append((facts.episode, mention))
        for node, share in node_shares(facts).items():
            shares[node].append(share)
    for node in sorted(mentions):
        first = mentions[node][0][1]
        graph.add_node(
            node,
            type=first.type,
            label=first.label,
            frequency=sum(share.mentions for share in shares[node]),
            episodes=tuple(dict.fromkeys(episode for episode, _ in mentions[node] if episode not in alone)),
            success_rate=rate(sum(s.successes for s in shares[node]), sum(s.measured for s in shares[node])),
            aliases=aliases(mention.raw for _, mention in mentions[node] if mention.counted),
            mentions=tuple(mentions[node]),
        )


def _add_edges(graph: nx.MultiDiGraph[str], episodes: list[EpisodeFacts]) -> None:
    claims: defaultdict[EdgeKey, list[tuple[str, Claim]]] = defaultdict(list)
    for facts in episodes:
        for claim in facts.claims:
            claims[claim.source, claim.target, claim.type].append((facts.episode, claim))
    for source, target, kind in sorted(claims):
        held = claims[source, target, kind]
        graph.add_edge(
            source,
            target,
            key=kind,
            type=kind,
            weight=mean_weight(sum(claim.weight for _, claim in held), len(held)),
            evidence_count=len({episode for episode, _ in held}),
            reasons=tuple(sorted({claim.reason for _, claim in held})),
            status="asserted",
        )
    graph.graph["claims"] = {edge: tuple(held) for edge, held in claims.items()}


def aliases(raw_texts: Iterable[str]) -> dict[str, int]:
    """How often each raw text stands behind a label, the commonest first."""
    counts: dict[str, int] = {}
    for text in raw_texts:
        if text:
            counts[text] = counts.get(text, 0) + 1
    if len(counts) == 1:
        return counts
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
