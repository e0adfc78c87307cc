"""A part of the graph with its evidence, for pages and exports.

It has all nodes, those around a label, a path with its surroundings, or those of one session. Where there are more than
wanted, the most frequent stay; around a label or a path nearness comes first. Of each node and edge it has the counts,
and of the evidence the newest pieces. The order is that of labels and times, never of numbers inside the file, so the
same truth gives the same excerpt.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

import msgspec

from helix_episodes.errors import InvalidArgument, NotFound
from helix_episodes.model import EdgeType
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import NO_WORDS, NodeNotFound
from helix_graph.graph.adjacency import ANY_EDGE_OF, Adjacency
from helix_graph.graph.model import find_node, mean_weight
from helix_graph.graph.path_answer import PathAnswer
from helix_graph.graph.paths import find_path
from helix_graph.graph.store import updated

if TYPE_CHECKING:
    import sqlite3


#: How many edges away from a label, or from a path, is still shown: two show causes of causes, and a path is its own
#: context.
AROUND_A_LABEL = 2
AROUND_A_PATH = 1
_EVERY_TYPE: tuple[str, ...] = get_args(EdgeType)


class ExcerptNodes(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of nodes, the most frequent first; ``episode`` is the number of the only one looked at, if so."""

    nodes: tuple[int, ...]
    marked: tuple[int, ...] = ()
    path: PathAnswer | None = None
    episode: int | None = None


def choose(
    connection: sqlite3.Connection,
    *,
    focus: str | None = None,
    source: str | None = None,
    target: str | None = None,
    episode: str | None = None,
    max_nodes: int,
) -> ExcerptNodes:
    """The nodes that are wanted of an open graph.db.

    Raises:
        InvalidArgument: A label to look for is empty.
        NodeNotFound: No label or text contains what is looked for.
    """
    if episode is not None:
        return _of_episode(connection, episode, max_nodes)
    if focus is not None:
        return _around_label(connection, focus, max_nodes)
    if source is not None and target is not None:
        return _around_path(connection, source, target, max_nodes)
    return ExcerptNodes(nodes=_numbers(connection, "1", limit=max_nodes))


def _numbers(connection: sqlite3.Connection, condition: str, *values: str | int, limit: int = -1) -> tuple[int, ...]:
    """The nodes that meet a condition, the most frequent first; a ``limit`` of -1 is none."""
    query = f"SELECT number FROM node WHERE {condition} ORDER BY mentions DESC, type, label LIMIT ?"  # noqa: S608  (constants)
    return tuple(number for (number,) in connection.execute(query, (*values, limit)))


def _ordered(connection: sqlite3.Connection, nodes: Iterable[int]) -> tuple[int, ...]:
    return _numbers(connection, f"number {ANY_OF}", as_list(nodes))


def _of_episode(connection: sqlite3.Connection, name: str, limit: int) -> ExcerptNodes:
    row = connection.execute(
        "SELECT number FROM episode WHERE origin = 'episode' AND (id = ? OR session = ?) ORDER BY id = ? DESC LIMIT 1",
        (name, name, name),
    ).fetchone()
    if row is None:
        raise NotFound.of_episode(name)
    within = "number IN (SELECT node FROM mention WHERE episode = ?)"
    return ExcerptNodes(nodes=_numbers(connection, within, row[0], limit=limit), episode=row[0])


def _around_label(connection: sqlite3.Connection, label: str, limit: int) -> ExcerptNodes:
    wanted = label.strip()
    if not wanted:
        raise InvalidArgument("focus", NO_WORDS)
    graph = Adjacency(connection)
    seeds = graph.labelled(wanted) or frozenset(graph.mentioning(wanted))
    if not seeds:
        raise NodeNotFound.of_label(wanted)
    marked = _ordered(connection, seeds)[:limit]
    return ExcerptNodes(nodes=_grown(connection, graph, marked, AROUND_A_LABEL, limit), marked=marked)


def _around_path(connection: sqlite3.Connection, source: str, target: str, limit: int) -> ExcerptNodes:
    """The path and what is next to it; if there is no path, both ends and their neighbours."""
    graph = Adjacency(connection)
    answer = find_path(graph, source=source, target=target)
    if answer.found:
        ids = [node.id for node in answer.path]
        rows = connection.execute(f"SELECT number, id FROM node WHERE id {ANY_OF}", (as_list(ids),))  # noqa: S608  (a constant)
        numbers = {name: number for number, name in rows}
        marked = tuple(numbers[name] for name in ids)
        answer = msgspec.structs.replace(answer, path=tuple(find_node(connection, name) for name in ids))
    else:
        marked = _ordered(connection, graph.labelled(source.strip()) | graph.labelled(target.strip()))[:limit]
    if not marked:
        raise NodeNotFound.of_label(source.strip())
    return ExcerptNodes(nodes=_grown(connection, graph, marked, AROUND_A_PATH, limit), marked=marked, path=answer)


def _grown(
    connection: sqlite3.Connection, graph: Adjacency, seeds: Iterable[int], steps: int, limit: int
) -> tuple[int, ...]:
    """The seeds and what is around them, as many as are wanted, the nearest first and then the most frequent."""
    near_first = dict.fromkeys(seeds)
    edge = list(near_first)
    for _ in range(steps):
        edges = (*graph.edges(edge, at=0, types=_EVERY_TYPE), *graph.edges(edge, at=1, types=_EVERY_TYPE))
        near = {end for pair in edges for end in pair[:2]}
        edge = list(_ordered(connection, near - near_first.keys()))[: max(0, limit - len(near_first))]
        near_first.update(dict.fromkeys(edge))
    return _ordered(connection, near_first)


#: At most this many quotations and wordings per node or edge are included; the rest is only counted.
EVIDENCE_KEPT = 8
WORDINGS_KEPT = 8


class ExcerptSession(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One episode behind the excerpt. An assertion that belongs to no episode counts as one and has ``asserted``."""

    id: str
    session: str
    timestamp: str | None
    task: str
    outcome: str
    basis: str
    log: str | None
    asserted: bool


class NodeMention(msgspec.Struct, frozen=True, gc=False):
    """One mention: its episode (a place in `Excerpt.sessions`), its text and where that is in the log."""

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
    sessions: tuple[ExcerptSession, ...]
    sightings: tuple[NodeMention, ...]
    marked: tuple[int, ...]
    path: PathAnswer | None
    nodes_in_all: int
    edges_in_all: int
    updated: str | None


def find_excerpt(connection: sqlite3.Connection, *, max_nodes: int, **part: str) -> Excerpt:
    """The excerpt of an open graph.db; ``part`` is at most one of focus, source with target, and episode.

    Raises:
        InvalidArgument: A label to look for is empty.
        NodeNotFound: No label or text contains what is looked for.
    """
    return _Reading(connection, choose(connection, **part, max_nodes=max_nodes)).excerpt()


class _Reading:
    """Reads one excerpt; numbers of the file are translated into places as they turn up."""

    def __init__(self, connection: sqlite3.Connection, chosen: ExcerptNodes) -> None:
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

    def _read_sessions(self) -> tuple[tuple[ExcerptSession, ...], dict[int, int]]:
        """Every episode and assertion that mentions one of the nodes, oldest first."""
        rows = self._ask(
            "SELECT number, id, session, timestamp, task, outcome, basis, log, origin = 'assertion' FROM episode"  # noqa: S608  (a constant)
            f" WHERE number IN (SELECT episode FROM mention WHERE node {ANY_OF}{self._only}) ORDER BY moment, id",
            (self._numbers,),
        ).fetchall()
        names = ExcerptSession.__struct_fields__
        found = [
            ExcerptSession(**{**dict(zip(names, row[1:], strict=True)), "asserted": bool(row[-1])}) for row in rows
        ]
        return tuple(found), {row[0]: place for place, row in enumerate(rows)}

    def _sighting(self, episode: int, local: str) -> int:
        """The place that a mention has or gets; it is read when all that are wanted are known."""
        return self._sighting_place.setdefault((episode, local), len(self._sighting_place))

    def _read_sightings(self) -> tuple[NodeMention, ...]:
        """The mentions that got a place, in the order of their places."""
        rows = self._ask(
            "SELECT m.episode, m.local, m.raw, m.timestamp, coalesce(m.log, e.log), m.line, m.quote"
            " FROM json_each(?) wanted CROSS JOIN mention m ON m.episode = json_extract(wanted.value, '$[0]')"
            " AND m.local = json_extract(wanted.value, '$[1]') JOIN episode e ON e.number = m.episode"
            " ORDER BY wanted.key",
            (json.dumps(list(self._sighting_place)),),
        )
        return tuple(NodeMention(self._session_place[episode], *row) for episode, *row in rows)

    def _read_edges(self) -> tuple[ExcerptEdge, ...]:
        evidence = self._read_claims()
        # The sums are those of the whole graph: a weight does not depend on the part that is looked at.
        rows = self._ask(
            "SELECT source, target, type, weight_sum, claims, episodes FROM edge"  # noqa: S608  (a constant)
            f" WHERE (source, target, type) {ANY_EDGE_OF}",
            (as_list(evidence),),
        ).fetchall()
        found = [
            ExcerptEdge(
                source=self._place[source],
                target=self._place[target],
                type=kind,
                weight=mean_weight(weight_sum, claims),
                evidence_count=episodes,
                reasons=tuple(sorted(evidence[source, target, kind].reasons)),
                joints=tuple(evidence[source, target, kind].joints),
                sessions=tuple(sorted(evidence[source, target, kind].sessions)),
            )
            for source, target, kind, weight_sum, claims, episodes in rows
        ]
        return tuple(sorted(found, key=lambda edge: (edge.source, edge.target, edge.type)))

    def _read_claims(self) -> dict[tuple[int, int, str], _EdgeEvidence]:
        # The + keeps SQLite from looking up each pair of nodes by itself: 4 million for 2,000 of them.
        rows = self._ask(
            "SELECT c.source, c.target, c.type, c.episode, reason, source_local, target_local"  # noqa: S608  (constants)
            " FROM claim c JOIN episode e ON e.number = c.episode"
            f" WHERE c.source {ANY_OF} AND +c.target {ANY_OF}{self._only.replace('episode', 'c.episode')}"
            " ORDER BY e.moment DESC, e.id, source_local, target_local, reason",
            (self._numbers, self._numbers),
        )
        evidence: defaultdict[tuple[int, int, str], _EdgeEvidence] = defaultdict(_EdgeEvidence)
        for source, target, kind, episode, reason, source_local, target_local in rows:
            one = evidence[source, target, kind]
            session = self._session_place[episode]
            one.reasons.add(reason)
            if session not in one.sessions and len(one.joints) < EVIDENCE_KEPT:
                one.joints.append((self._sighting(episode, source_local), self._sighting(episode, target_local)))
            one.sessions.add(session)
        return evidence

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


class _EdgeEvidence:
    """What the claims of one edge add up to."""

    def __init__(self) -> None:
        self.reasons: set[str] = set()
        self.joints: list[tuple[int, int]] = []
        self.sessions: set[int] = set()
