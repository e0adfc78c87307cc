"""The graph at a finer resolution: the same lookups as `Adjacency`, over nodes split by place or thing.

A handle means a node together with the place or thing that some of its mentions have (or have none). What joins two of
them is read from the claims and the mentions of each episode: nothing of it is stored, so that the graph stays small.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.adjacency import (
    Adjacency,
    Edge,
    EdgeClaim,
    End,
    EpisodeClaim,
    Firmness,
    NodeSummary,
    summary_of,
)
from helix_graph.graph.mentions import named
from helix_graph.graph.shortest_paths import Ends

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.label_lookup import Match

#: A node's number, and the place or thing of its mentions, if they have one.
_State = tuple[int, str | None]


class FinerAdjacency(Adjacency):
    """The graph in an open graph.db at the resolution ``place`` or ``thing``, for one question."""

    def __init__(
        self, connection: sqlite3.Connection, resolution: Literal["place", "thing"], *, firm: bool = False
    ) -> None:
        super().__init__(connection, firm=firm)
        self.by_kind = Adjacency(connection, firm=firm)
        self.resolution = resolution
        self._handles: dict[_State, int] = {}
        self._states: list[_State] = []
        self._claims: dict[int, dict[Edge, list[EdgeClaim]]] = {}
        #: The mentions of some states, which are given as JSON; an index of names has all of it but for those without.
        self._mentions = (
            f"(SELECT o.node, o.{resolution} AS name, o.episode, o.local FROM json_each(?1) w CROSS JOIN mention o"  # noqa: S608  (one of two names of columns)
            f" ON o.{resolution} = json_extract(w.value, '$[1]') AND o.node = json_extract(w.value, '$[0]') UNION ALL"
            " SELECT o.node, NULL, o.episode, o.local FROM json_each(?1) w CROSS JOIN mention o"
            f" ON o.node = json_extract(w.value, '$[0]') AND o.{resolution} IS NULL"
            " WHERE json_extract(w.value, '$[1]') IS NULL)"
        )

    def meant_by(self, match: Match) -> frozenset[int]:
        """The handles of what a text stands for."""
        if match.groups is not None:
            by_place = self.resolution == "place"
            return frozenset(self._handle(node, place if by_place else thing) for node, place, thing in match.groups)
        rows = self._ask(
            f"SELECT DISTINCT node, {self.resolution} FROM mention WHERE node {ANY_OF}",  # noqa: S608  (constants)
            (as_list(match.nodes),),
        )
        return frozenset(self._handle(*row) for row in rows)

    def ends(self, start: Match, goal: Match) -> Ends:
        """Where to search; a name that also stands for some of what the other end is begins with the rest of it."""
        sources, targets = self.meant_by(start), self.meant_by(goal)
        if start.how != "label" and not sources <= targets:
            sources -= targets
        elif goal.how != "label" and not targets <= sources:
            targets -= sources
        within = start.within if goal.within is None else goal.within
        if start.within is not None and goal.within is not None:
            within = start.within & goal.within
        return Ends(sources, targets, within)

    def refined(self, edge: Edge, within: Collection[str]) -> frozenset[Edge]:
        """What an edge between two labels is at this resolution, in some episodes."""
        rows = self._ask(
            f"SELECT DISTINCT s.node, s.{self.resolution}, t.node, t.{self.resolution}, c.type FROM {self._claim} c"  # noqa: S608  (constants)
            " JOIN mention s ON s.episode = c.episode AND s.local = c.source_local"
            " JOIN mention t ON t.episode = c.episode AND t.local = c.target_local"
            f" WHERE (c.source, c.target) = (?1, ?2) AND c.episode {_NUMBERED} AND c.type = ?4",
            (*edge[:2], as_list(within), edge[2]),
        )
        return frozenset(self._edge(*row) for row in rows)

    def edges(
        self, nodes: Collection[int], *, at: End, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        """As `Adjacency.edges`."""
        here, there = ("target", "source") if at else ("source", "target")
        asked, other = "m.node, m.name", f"o.node, o.{self.resolution}"
        query = (
            f"SELECT DISTINCT {other if at else asked}, {asked if at else other}, c.type FROM {self._mentions} m"  # noqa: S608  (constants)
            f" CROSS JOIN {self._claim} c ON c.episode = m.episode AND c.{here}_local = m.local"
            f" JOIN mention o ON o.episode = c.episode AND o.local = c.{there}_local WHERE c.type IN"
            " (SELECT value FROM json_each(?2))"
        )
        values = [self._as_states(nodes), as_list(types)]
        if within is not None:
            query += f" AND c.episode {_NUMBERED}"
            values.append(as_list(within))
        return [self._edge(*row) for row in self._ask(query, values)]

    def episodes_of(self, nodes: Collection[int]) -> frozenset[str]:
        """As `Adjacency.episodes_of`."""
        query = f"SELECT DISTINCT id FROM {self._mentions} JOIN episode ON number = episode"  # noqa: S608  (a constant)
        return frozenset(episode for (episode,) in self._ask(query, (self._as_states(nodes),)))

    def claims_of(self, episode: str) -> list[EpisodeClaim]:
        """As `Adjacency.claims_of`."""
        rows = self._ask(
            f"SELECT source_local, target_local, s.node, s.{self.resolution}, t.node, t.{self.resolution}, c.type"  # noqa: S608  (constants)
            f" FROM {self._claim} c JOIN mention s ON s.episode = c.episode AND s.local = c.source_local"
            " JOIN mention t ON t.episode = c.episode AND t.local = c.target_local"
            " WHERE c.episode = (SELECT number FROM episode WHERE id = ?)",
            (episode,),
        )
        return [(source, target, self._edge(*edge)) for source, target, *edge in rows]

    def summaries(self, nodes: Collection[int]) -> dict[int, NodeSummary]:
        """As `Adjacency.summaries`, of the node; the label has the place or thing in it."""
        states = {node: self._states[node] for node in nodes}
        known = super().summaries({number for number, _ in states.values()})
        return {
            node: replace(known[number], label=named(known[number].label, name, resolution=self.resolution))
            for node, (number, name) in states.items()
        }

    def occurring(self, nodes: Collection[int]) -> dict[int, int]:
        """As `Adjacency.occurring`."""
        rows = self._ask(
            f"SELECT m.node, name, count(DISTINCT m.episode) FROM {self._mentions} m JOIN episode ON number = m.episode"  # noqa: S608  (a constant)
            " WHERE origin <> 'assertion' GROUP BY 1, 2",
            (self._as_states(nodes),),
        )
        return dict.fromkeys(nodes, 0) | {self._handle(node, name): count for node, name, count in rows}

    def claims(self, edges: Collection[Edge]) -> dict[Edge, list[EdgeClaim]]:
        """As `Adjacency.claims`; all claims of a source are read together, and once."""
        new = {edge[0] for edge in edges} - self._claims.keys()
        self._claims |= {source: {} for source in new}
        rows = self._ask(
            f"SELECT m.node, m.name, t.node, t.{self.resolution}, c.type, e.id, c.reason, c.weight, c.source_local,"  # noqa: S608  (constants)
            f" c.target_local FROM {self._mentions} m"
            f" CROSS JOIN {self._claim} c ON c.episode = m.episode AND c.source_local = m.local"
            " JOIN mention t ON t.episode = c.episode AND t.local = c.target_local"
            " JOIN episode e ON e.number = c.episode",
            (self._as_states(new),),
        )
        for *ends, owner, reason, weight, source, target in rows if new else ():
            edge = self._edge(*ends)
            self._claims[edge[0]].setdefault(edge, []).append(EdgeClaim(owner, reason, weight, source, target))
        return {edge: self._claims[edge[0]].get(edge, []) for edge in edges}

    def firmness(self, edges: Collection[Edge]) -> dict[Edge, Firmness]:
        """As `Adjacency.firmness`."""
        occurring, known = self.occurring({edge[0] for edge in edges}), self.claims(edges)
        summaries = {edge: summary_of(claims, occurring[edge[0]]) for edge, claims in known.items()}
        return {edge: (one.frequency.low, one.weight) for edge, one in summaries.items()}

    def kinds(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        """The same edges between labels."""
        return tuple((self._states[source][0], self._states[target][0], kind) for source, target, kind in edges)

    def _edge(self, source: int, source_name: str | None, target: int, target_name: str | None, kind: str) -> Edge:
        return self._handle(source, source_name), self._handle(target, target_name), kind

    def _handle(self, node: int, name: str | None) -> int:
        if (node, name) not in self._handles:
            self._handles[node, name] = len(self._states)
            self._states.append((node, name))
        return self._handles[node, name]

    def _as_states(self, nodes: Iterable[int]) -> str:
        return as_list(self._states[node] for node in nodes)


#: The episodes of some ids, by number.
_NUMBERED = "IN (SELECT number FROM episode WHERE id IN (SELECT value FROM json_each(?3)))"
