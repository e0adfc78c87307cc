"""The few lookups in graph.db that every path search is made of.

A question from a cold process loads the rows that it touches and nothing else. Nodes go by *handles*: numbers that mean
nothing outside one `Adjacency`. Nothing may be ordered by them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.model import mean_weight, rate
from helix_graph.graph.text_index import nodes_labelled, read_pages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable

    import networkx as nx

    from helix_graph.graph.model import Mention


#: The id of an episode begins so; what belongs to none goes by the name of its assertion.
_EPISODE = "episode-"
#: Source, target, type.
Edge = tuple[int, int, str]
#: Episode, and the local ids of the two mentions that one of its claims joins.
Joint = tuple[str, str, str]
#: As `ANY_OF`, for whole edges: asked one by one, those of a path take longer than the search for it.
_FIELDS = ", ".join(f"json_extract(value, '$[{place}]')" for place in range(3))
_ANY_EDGE_OF = f"IN (SELECT {_FIELDS} FROM json_each(?))"  # noqa: S608  (constants)
#: One claim of an episode: local ids, the edge it supports.
EpisodeClaim = tuple[str, str, Edge]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Ask = Callable[[list[_Key]], dict[_Key, _Value]]


class NodeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A node as shown to people: the original schema's fields, with the episodes counted."""

    id: str
    type: str
    label: str
    frequency: int
    episodes: int
    success_rate: float | None


class EdgeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An edge as shown to people. ``weight`` is 0 to 1; ``episodes`` are sorted, ``assertions`` counted."""

    weight: float
    evidence_count: int
    reasons: tuple[str, ...]
    episodes: tuple[str, ...]
    assertions: int


class MentionPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a mention stands: episode and local id, its text, and the line in the log that it was read from."""

    episode: str
    local: str
    text: str = ""
    timestamp: str | None = None
    path: str | None = None
    log: str | None = None
    line: int | None = None
    quote: str = ""


class Adjacency(Protocol):
    """A causal graph, as far as a search needs it."""

    @abstractmethod
    def labelled(self, text: str) -> frozenset[int]:
        """The nodes whose label contains ``text``, in any case; ``*``, ``?`` and ``[`` are letters."""

    @abstractmethod
    def mentioning(self, text: str) -> dict[int, frozenset[str]]:
        """The other nodes with a mention whose text contains ``text``, and the episodes of these mentions."""

    @abstractmethod
    def edges_from(
        self, nodes: Collection[int], *, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        """The edges that leave ``nodes``; only those that one of the episodes ``within`` claims, if given."""

    @abstractmethod
    def edges_to(
        self, nodes: Collection[int], *, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        """The edges that enter ``nodes``; otherwise as `edges_from`."""

    @abstractmethod
    def joints(self, edges: Collection[Edge]) -> dict[Edge, frozenset[Joint]]:
        """For each edge, which mentions of which episodes it joins."""

    @abstractmethod
    def episodes_of(self, nodes: Collection[int]) -> frozenset[str]:
        """The episodes that mention one of ``nodes``."""

    @abstractmethod
    def claims_of(self, episode: str) -> list[EpisodeClaim]:
        """All that one episode claims."""

    @abstractmethod
    def card(self, node: int) -> NodeSummary:
        """A node as shown to people."""

    @abstractmethod
    def cards(self, nodes: Collection[int]) -> dict[int, NodeSummary]:
        """The cards of several nodes, at the price of one question."""

    @abstractmethod
    def weights(self, edges: Collection[Edge]) -> dict[Edge, float]:
        """The weights of edges, without all else that their cards say."""

    @abstractmethod
    def edge_card(self, edge: Edge) -> EdgeSummary:
        """An edge as shown to people."""

    @abstractmethod
    def place(self, episode: str, local: str) -> MentionPlace:
        """Where a mention stands."""


class FileAdjacency(Adjacency):
    """The graph in an open graph.db, for one question: what was asked once is not asked again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._ask = connection.execute
        self._pages: list[tuple[int, str]] = []
        self._labelled: dict[str, frozenset[int]] = {}
        self._cards: dict[int, NodeSummary] = {}
        self._weights: dict[Edge, float] = {}
        self._joints: dict[Edge, frozenset[Joint]] = {}
        self._mentioned: dict[str, dict[int, frozenset[str]]] = {}

    def labelled(self, text: str) -> frozenset[int]:
        if text not in self._labelled:
            self._pages = self._pages or read_pages(self._connection)  # one question looks for both ends of a path
            self._labelled[text] = nodes_labelled(self._connection, self._pages, text)
        return self._labelled[text]

    def mentioning(self, text: str) -> dict[int, frozenset[str]]:
        from helix_graph.graph.text_index import nodes_mentioning

        if text not in self._mentioned:  # it reads every text of the graph
            self._mentioned[text] = nodes_mentioning(self._connection, text)
        return self._mentioned[text]

    def edges_from(
        self, nodes: Collection[int], *, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        return self._edges("source", nodes, types, within)

    def edges_to(
        self, nodes: Collection[int], *, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        return self._edges("target", nodes, types, within)

    def _edges(
        self, end: str, nodes: Collection[int], types: Collection[str], within: frozenset[str] | None
    ) -> list[Edge]:
        if within is None:
            query = f"SELECT source, target, type FROM edge WHERE {end} {ANY_OF} AND type {ANY_OF}"  # noqa: S608  (two names of columns)
            return self._ask(query, (as_list(nodes), as_list(types))).fetchall()
        query = (
            f"SELECT source, target, type FROM edge e WHERE {end} {ANY_OF} AND type {ANY_OF} AND EXISTS ("  # noqa: S608  (as above)
            "SELECT 1 FROM claim c WHERE c.source = e.source AND c.target = e.target AND c.type = e.type"
            f" AND episode IN (SELECT number FROM episode WHERE id {ANY_OF}))"
        )
        return self._ask(query, (as_list(nodes), as_list(types), as_list(within))).fetchall()

    def joints(self, edges: Collection[Edge]) -> dict[Edge, frozenset[Joint]]:
        return _recall(self._joints, edges, self._ask_joints)

    def _ask_joints(self, edges: list[Edge]) -> dict[Edge, frozenset[Joint]]:
        found: defaultdict[Edge, set[Joint]] = defaultdict(set)
        rows = self._ask(
            "SELECT source, target, type, id, source_local, target_local FROM claim JOIN episode ON number = episode"  # noqa: S608  (a constant)
            f" WHERE (source, target, type) {_ANY_EDGE_OF}",
            (_as_rows(edges),),
        )
        for source, target, kind, *joint in rows:
            found[source, target, kind].add((*joint,))
        return {edge: frozenset(joints) for edge, joints in found.items()}

    def episodes_of(self, nodes: Collection[int]) -> frozenset[str]:
        query = f"SELECT DISTINCT id FROM mention JOIN episode ON number = episode WHERE node {ANY_OF}"  # noqa: S608  (a constant)
        return frozenset(episode for (episode,) in self._ask(query, (as_list(nodes),)))

    def claims_of(self, episode: str) -> list[EpisodeClaim]:
        rows = self._ask(
            "SELECT source_local, target_local, source, target, type FROM claim"
            " WHERE episode = (SELECT number FROM episode WHERE id = ?)",
            (episode,),
        )
        return [(source_local, target_local, (*edge,)) for source_local, target_local, *edge in rows]

    def card(self, node: int) -> NodeSummary:
        return self.cards([node])[node]

    def cards(self, nodes: Collection[int]) -> dict[int, NodeSummary]:
        return _recall(self._cards, nodes, self._ask_cards)

    def _ask_cards(self, nodes: list[int]) -> dict[int, NodeSummary]:
        query = (
            f"SELECT number, id, type, label, mentions, episodes, successes, measured FROM node WHERE number {ANY_OF}"  # noqa: S608  (a constant)
        )
        return {
            number: NodeSummary(
                id=name,
                type=kind,
                label=label,
                frequency=mentions,
                episodes=episodes,
                success_rate=rate(successes, measured),
            )
            for number, name, kind, label, mentions, episodes, successes, measured in self._ask(
                query, (as_list(nodes),)
            )
        }

    def weights(self, edges: Collection[Edge]) -> dict[Edge, float]:
        return _recall(self._weights, edges, self._ask_weights)

    def _ask_weights(self, edges: list[Edge]) -> dict[Edge, float]:
        query = f"SELECT source, target, type, weight_sum, claims FROM edge WHERE (source, target, type) {_ANY_EDGE_OF}"  # noqa: S608  (a constant)
        return {
            (source, target, kind): mean_weight(weight_sum, claims)
            for source, target, kind, weight_sum, claims in self._ask(query, (_as_rows(edges),))
        }

    def edge_card(self, edge: Edge) -> EdgeSummary:
        query = (
            "SELECT id, reason FROM claim JOIN episode ON number = episode WHERE source = ? AND target = ? AND type = ?"
        )
        return make_edge_summary(self.weights([edge])[edge], self._ask(query, edge).fetchall())

    def place(self, episode: str, local: str) -> MentionPlace:
        row = self._ask(
            "SELECT raw, m.timestamp, path, m.log, line, quote FROM mention m"
            " WHERE episode = (SELECT number FROM episode WHERE id = ?) AND local = ?",
            (episode, local),
        ).fetchone()
        text, timestamp, path, log, line, quote = row
        return MentionPlace(
            episode=episode, local=local, text=text, timestamp=timestamp, path=path, log=log, line=line, quote=quote
        )


def _recall(held: dict[_Key, _Value], wanted: Collection[_Key], ask: _Ask[_Key, _Value]) -> dict[_Key, _Value]:
    """What is held of each; what is not yet is asked for first, in one question."""
    new = [each for each in wanted if each not in held]
    if new:
        held.update(ask(new))
    return {each: held[each] for each in wanted}


def _as_rows(edges: Iterable[Edge]) -> str:
    """Edges for `_ANY_EDGE_OF`."""
    return msgspec.json.encode(list(edges)).decode()


def make_edge_summary(weight: float, claims: Iterable[tuple[str, str]]) -> EdgeSummary:
    """The card of an edge from the episode, or the assertion that belongs to none, and reason of each of its claims."""
    pairs = list(claims)
    claimants = {claimant for claimant, _ in pairs}
    episodes = sorted(one for one in claimants if one.startswith(_EPISODE))
    return EdgeSummary(
        weight=weight,
        evidence_count=len(claimants),
        reasons=tuple(sorted({reason for _, reason in pairs})),
        episodes=tuple(episodes),
        assertions=len(claimants) - len(episodes),
    )


class NetworkxAdjacency(Adjacency):
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

    def card(self, node: int) -> NodeSummary:
        fields = self._graph.nodes[self._names[node]]
        return NodeSummary(
            id=self._names[node],
            type=fields["type"],
            label=fields["label"],
            frequency=fields["frequency"],
            episodes=len(fields["episodes"]),
            success_rate=fields["success_rate"],
        )

    def cards(self, nodes: Collection[int]) -> dict[int, NodeSummary]:
        return {node: self.card(node) for node in nodes}

    def weights(self, edges: Collection[Edge]) -> dict[Edge, float]:
        names, known = self._names, self._graph.edges
        return {edge: known[names[edge[0]], names[edge[1]], edge[2]]["weight"] for edge in edges}

    def edge_card(self, edge: Edge) -> EdgeSummary:
        claims = ((episode, claim.reason) for episode, claim in self._held(edge))
        return make_edge_summary(self.weights([edge])[edge], claims)

    def place(self, episode: str, local: str) -> MentionPlace:
        mention = next(
            mention
            for name in self._names
            for owner, mention in self._mentions(name)
            if owner == episode and mention.local == local
        )
        return MentionPlace(
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
