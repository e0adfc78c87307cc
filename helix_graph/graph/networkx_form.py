"""The networkx form of the graph, as searches see it."""

# ruff: noqa: D102  (the protocol says what each method answers)

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from helix_graph.graph.neighbours import Card, EdgeCard, Neighbours, Place, make_edge_card

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import networkx as nx

    from helix_graph.graph.model import Mention
    from helix_graph.graph.neighbours import Edge, EpisodeClaim, Joint


class NetworkxNeighbours(Neighbours):
    """A networkx graph made by `fold`."""

    def __init__(self, graph: nx.MultiDiGraph[str]) -> None:
        self._graph = graph
        self._names = list(graph.nodes)
        self._handles = {name: handle for handle, name in enumerate(self._names)}
        self._claims: defaultdict[str, list[EpisodeClaim]] = defaultdict(list)
        for (source, target, kind), held in graph.graph["claims"].items():
            edge = (self._handles[source], self._handles[target], kind)
            for episode, claim in held:
                self._claims[episode].append((claim.source_local, claim.target_local, edge))

    def labelled(self, text: str) -> frozenset[int]:
        wanted = text.casefold()
        return frozenset(
            handle for name, handle in self._handles.items() if wanted in self._graph.nodes[name]["label"].casefold()
        )

    def mentioning(self, text: str) -> dict[int, frozenset[str]]:
        wanted, labelled = text.casefold(), self.labelled(text)
        found = {
            handle: frozenset(episode for episode, mention in self._mentions(name) if wanted in mention.folded())
            for name, handle in self._handles.items()
            if handle not in labelled
        }
        return {handle: episodes for handle, episodes in found.items() if episodes}

    def edges_from(
        self, nodes: Collection[int], *, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        return self._chosen(self._graph.out_edges(self._named(nodes), keys=True), types, within)

    def edges_to(
        self, nodes: Collection[int], *, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        return self._chosen(self._graph.in_edges(self._named(nodes), keys=True), types, within)

    def joints(self, edges: Collection[Edge]) -> dict[Edge, frozenset[Joint]]:
        return {edge: frozenset((e, c.source_local, c.target_local) for e, c in self._held(edge)) for edge in edges}

    def episodes_of(self, nodes: Collection[int]) -> frozenset[str]:
        return frozenset(episode for name in self._named(nodes) for episode, _ in self._mentions(name))

    def claims_of(self, episode: str) -> list[EpisodeClaim]:
        return self._claims[episode]

    def card(self, node: int) -> Card:
        fields = self._graph.nodes[self._names[node]]
        return Card(
            id=self._names[node],
            type=fields["type"],
            label=fields["label"],
            frequency=fields["frequency"],
            episodes=len(fields["episodes"]),
            success_rate=fields["success_rate"],
        )

    def cards(self, nodes: Collection[int]) -> dict[int, Card]:
        return {node: self.card(node) for node in nodes}

    def weights(self, edges: Collection[Edge]) -> dict[Edge, float]:
        names, known = self._names, self._graph.edges
        return {edge: known[names[edge[0]], names[edge[1]], edge[2]]["weight"] for edge in edges}

    def edge_card(self, edge: Edge) -> EdgeCard:
        claims = ((episode, claim.reason) for episode, claim in self._held(edge))
        return make_edge_card(self.weights([edge])[edge], claims)

    def place(self, episode: str, local: str) -> Place:
        mention = next(
            mention
            for name in self._names
            for owner, mention in self._mentions(name)
            if owner == episode and mention.local == local
        )
        return Place(
            episode=episode,
            local=local,
            text=mention.raw,
            timestamp=mention.timestamp,
            path=mention.path,
            log=mention.log,
            line=mention.line,
            quote=mention.quote,
        )

    def _named(self, nodes: Collection[int]) -> list[str]:
        return [self._names[node] for node in nodes]

    def _mentions(self, name: str) -> tuple[tuple[str, Mention], ...]:
        mentions: tuple[tuple[str, Mention], ...] = self._graph.nodes[name]["mentions"]
        return mentions

    def _held(self, edge: Edge) -> Any:  # noqa: ANN401  (networkx keeps untyped attributes)
        source, target, kind = edge
        return self._graph.graph["claims"][self._names[source], self._names[target], kind]

    def _chosen(
        self, edges: Iterable[tuple[str, str, str]], types: Collection[str], within: frozenset[str] | None
    ) -> list[Edge]:
        numbered = [(self._handles[source], self._handles[target], kind) for source, target, kind in edges]
        of_type = [edge for edge in numbered if edge[2] in types]
        if within is None:
            return of_type
        return [edge for edge in of_type if any(episode in within for episode, _ in self._held(edge))]
