"""An excerpt: a part of the graph with everything that somebody who looks at it may want to see.

`choosing` says which nodes are in it. Of each node and edge the excerpt has the counts, and of the evidence the newest
pieces: a label that stands in ten thousand sessions needs no ten thousand quotations, only their number. The order is
that of labels and times, never of numbers inside the file, so the same truth gives the same excerpt.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.choosing import Chosen, choose
from helix_graph.graph.export import updated
from helix_graph.graph.paths import PathAnswer
from helix_graph.graph.weights import mean_weight

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.choosing import Wanted

#: As many pieces of evidence, and wordings, as a person reads of one node or edge; the rest is counted.
EVIDENCE_KEPT = 8
WORDINGS_KEPT = 8


class Session(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One episode behind the excerpt. An assertion that belongs to no episode counts as one and has ``asserted``."""

    id: str
    session: str
    timestamp: str | None
    task: str
    outcome: str
    basis: str
    log: str | None
    asserted: bool


class Sighting(msgspec.Struct, frozen=True, gc=False):
    """One mention: its episode (a place in `Excerpt.sessions`), its text and where that stands in the log."""

    session: int
    local: str
    text: str
    timestamp: str | None
    log: str | None
    line: int | None
    quote: str


class ExcerptNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node: ``measured`` of its sessions have an outcome that somebody vouches for, ``successes`` of these succeeded.

    ``sightings`` are places in `Excerpt.sightings`, the newest first; ``sessions`` all places in `Excerpt.sessions`.
    """

    id: str
    type: str
    label: str
    frequency: int
    episodes: int
    measured: int
    successes: int
    wordings: tuple[tuple[str, int], ...]
    wordings_left: int
    sightings: tuple[int, ...]
    sessions: tuple[int, ...]


class ExcerptEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge between two nodes of the excerpt, by their places. ``weight`` is 0 to 1.

    ``evidence_count`` has the distinct episodes and assertions, ``joints`` pairs of sightings, the newest first.
    """

    source: int
    target: int
    type: str
    weight: float
    evidence_count: int
    reasons: tuple[str, ...]
    joints: tuple[tuple[int, int], ...]
    sessions: tuple[int, ...]


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the graph. ``nodes_in_all`` and ``edges_in_all`` are those of the whole graph.

    ``marked`` are the places of the nodes that were asked for, ``path`` the answer to a question for a path, and
    ``updated`` the time of the newest episode or assertion.
    """

    nodes: tuple[ExcerptNode, ...]
    edges: tuple[ExcerptEdge, ...]
    sessions: tuple[Session, ...]
    sightings: tuple[Sighting, ...]
    marked: tuple[int, ...]
    path: PathAnswer | None
    nodes_in_all: int
    edges_in_all: int
    updated: str | None


def find_excerpt(connection: sqlite3.Connection, wanted: Wanted) -> Excerpt:
    """The excerpt of an open graph.db.

    Raises:
        EmptyQuery: A label to look for is empty.
        LabelNotMet: No label or text contains what is looked for.
        EpisodeNotFound: The graph has no such episode.
    """
    return _Reading(connection, choose(connection, wanted)).excerpt()


class _Reading:
    """Reads one excerpt; numbers of the file are translated into places as they turn up."""

    def __init__(self, connection: sqlite3.Connection, chosen: Chosen) -> None:
        self._ask = connection.execute
        self._connection = connection
        self._chosen = chosen
        self._numbers = as_list(chosen.nodes)
        self._place = {number: place for place, number in enumerate(chosen.nodes)}
        self._only = "" if chosen.episode is None else f" AND episode = {chosen.episode:d}"
        self._sessions, self._session_place = self._read_sessions()
        self._sighting_place: dict[tuple[int, str], int] = {}

    def excerpt(self) -> Excerpt:
        edges = self._read_edges()
        newest = self._newest_mentions()
        return Excerpt(
            nodes=self._read_nodes(newest),
            edges=edges,
            sessions=self._sessions,
            sightings=self._read_sightings(),
            marked=tuple(sorted(self._place[number] for number in self._chosen.marked)),
            path=self._chosen.path,
            nodes_in_all=self._count("node"),
            edges_in_all=self._count("edge"),
            updated=updated(self._connection),
        )

    def _count(self, table: str) -> int:
        return int(self._ask(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608  (two names of tables)

    def _read_sessions(self) -> tuple[tuple[Session, ...], dict[int, int]]:
        """Every episode and assertion that mentions one of the nodes, oldest first."""
        rows = self._ask(
            "SELECT number, id, session, timestamp, task, outcome, basis, log, origin = 'assertion' FROM episode"  # noqa: S608  (a constant)
            f" WHERE number IN (SELECT episode FROM mention WHERE node {ANY_OF}{self._only}) ORDER BY moment, id",
            (self._numbers,),
        ).fetchall()
        names = Session.__struct_fields__
        found = [Session(**{**dict(zip(names, row[1:], strict=True)), "asserted": bool(row[-1])}) for row in rows]
        return tuple(found), {row[0]: place for place, row in enumerate(rows)}

    def _sighting(self, episode: int, local: str) -> int:
        """The place that a mention has or gets; it is read when all that are wanted are known."""
        return self._sighting_place.setdefault((episode, local), len(self._sighting_place))

    def _read_sightings(self) -> tuple[Sighting, ...]:
        """The mentions that got a place, in the order of their places."""
        rows = self._ask(
            "SELECT m.episode, m.local, m.raw, m.timestamp, coalesce(m.log, e.log), m.line, m.quote"
            " FROM json_each(?) wanted CROSS JOIN mention m ON m.episode = json_extract(wanted.value, '$[0]')"
            " AND m.local = json_extract(wanted.value, '$[1]') JOIN episode e ON e.number = m.episode"
            " ORDER BY wanted.key",
            (json.dumps(list(self._sighting_place)),),
        )
        return tuple(Sighting(self._session_place[episode], *row) for episode, *row in rows)

    def _read_edges(self) -> tuple[ExcerptEdge, ...]:
        held = self._read_claims()
        if self._chosen.episode is None:
            # The + keeps SQLite from looking up each pair of nodes by itself: 4 million for 2,000 of them.
            rows = self._ask(
                "SELECT source, target, type, weight_sum, claims, episodes FROM edge"  # noqa: S608  (a constant)
                f" WHERE source {ANY_OF} AND +target {ANY_OF}",
                (self._numbers, self._numbers),
            ).fetchall()
        else:
            rows = [self._summed(edge) for edge in held]
        found = [
            ExcerptEdge(
                source=self._place[source],
                target=self._place[target],
                type=kind,
                weight=mean_weight(weight_sum, claims),
                evidence_count=episodes,
                reasons=tuple(sorted(held[source, target, kind].reasons)),
                joints=tuple(held[source, target, kind].joints),
                sessions=tuple(sorted(held[source, target, kind].sessions)),
            )
            for source, target, kind, weight_sum, claims, episodes in rows
        ]
        return tuple(sorted(found, key=lambda edge: (edge.source, edge.target, edge.type)))

    def _summed(self, edge: tuple[int, int, str]) -> tuple[Any, ...]:
        """An edge's sums over the whole graph: its weight does not depend on the part that is looked at."""
        query = "SELECT weight_sum, claims, episodes FROM edge WHERE source = ? AND target = ? AND type = ?"
        return (*edge, *self._ask(query, edge).fetchone())

    def _read_claims(self) -> dict[tuple[int, int, str], _Held]:
        rows = self._ask(
            "SELECT c.source, c.target, c.type, c.episode, reason, source_local, target_local"  # noqa: S608  (constants)
            " FROM claim c JOIN episode e ON e.number = c.episode"
            f" WHERE c.source {ANY_OF} AND +c.target {ANY_OF}{self._only.replace('episode', 'c.episode')}"
            " ORDER BY e.moment DESC, e.id, source_local, target_local, reason",
            (self._numbers, self._numbers),
        )
        held: defaultdict[tuple[int, int, str], _Held] = defaultdict(_Held)
        for source, target, kind, episode, reason, source_local, target_local in rows:
            one = held[source, target, kind]
            session = self._session_place[episode]
            one.reasons.add(reason)
            if session not in one.sessions and len(one.joints) < EVIDENCE_KEPT:
                one.joints.append((self._sighting(episode, source_local), self._sighting(episode, target_local)))
            one.sessions.add(session)
        return held

    def _newest_mentions(self) -> dict[int, list[int]]:
        """The places of the newest mentions of each node."""
        rows = self._ask(
            "SELECT node, episode, local FROM (SELECT m.node, m.episode, m.local,"  # noqa: S608  (constants)
            " row_number() OVER (PARTITION BY m.node ORDER BY e.moment DESC, e.id, m.local) place"
            f" FROM mention m JOIN episode e ON e.number = m.episode WHERE node {ANY_OF}{self._only}"
            ") WHERE place <= ? ORDER BY place",
            (self._numbers, EVIDENCE_KEPT),
        )
        found: defaultdict[int, list[int]] = defaultdict(list)
        for node, episode, local in sorted(rows, key=lambda row: self._place[row[0]]):
            found[node].append(self._sighting(episode, local))
        return found

    def _read_nodes(self, newest: dict[int, list[int]]) -> tuple[ExcerptNode, ...]:
        query = "SELECT number, id, type, label, mentions, episodes, measured, successes FROM node"
        rows = {row[0]: row[1:] for row in self._ask(f"{query} WHERE number {ANY_OF}", (self._numbers,))}
        wordings, sessions = self._read_wordings(), self._read_mentioning()
        return tuple(
            ExcerptNode(
                **dict(zip(ExcerptNode.__struct_fields__[:7], rows[number], strict=True)),
                wordings=tuple(wordings[number][:WORDINGS_KEPT]),
                wordings_left=max(0, len(wordings[number]) - WORDINGS_KEPT),
                sightings=tuple(newest[number]),
                sessions=tuple(sorted(sessions[number])),
            )
            for number in self._chosen.nodes
        )

    def _read_wordings(self) -> defaultdict[int, list[tuple[str, int]]]:
        """The texts behind each label, the commonest first."""
        rows = self._ask(
            "SELECT node, raw, count(*) AS times FROM mention"  # noqa: S608  (constants)
            f" WHERE counted AND raw <> '' AND node {ANY_OF}{self._only} GROUP BY node, raw ORDER BY times DESC, raw",
            (self._numbers,),
        )
        found: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
        for node, text, times in rows:
            found[node].append((text, times))
        return found

    def _read_mentioning(self) -> defaultdict[int, list[int]]:
        query = f"SELECT DISTINCT node, episode FROM mention WHERE node {ANY_OF}{self._only}"  # noqa: S608  (constants)
        found: defaultdict[int, list[int]] = defaultdict(list)
        for node, episode in self._ask(query, (self._numbers,)):
            found[node].append(self._session_place[episode])
        return found


class _Held:
    """What the claims of one edge add up to."""

    def __init__(self) -> None:
        self.reasons: set[str] = set()
        self.joints: list[tuple[int, int]] = []
        self.sessions: set[int] = set()
