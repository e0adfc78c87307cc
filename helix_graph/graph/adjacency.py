"""The few lookups in graph.db that every path search is made of.

A question from a cold process loads the rows that it touches and nothing else. Nodes go by *handles*: numbers that mean
nothing outside one `Adjacency`. Nothing may be ordered by them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from helix_episodes.store import PREFIX
from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.mentions import MentionGroup, TextMatch, find_texts
from helix_graph.graph.model import mean_weight, rate
from helix_graph.graph.node_labels import check_label
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.mentions import Resolution


#: Source, target, type.
Edge = tuple[int, int, str]
#: Episode, and the local ids of the two mentions that one of its claims joins.
Joint = tuple[str, str, str]
#: As `ANY_OF`, for whole edges: asked one by one, those of a path take longer than the search for it.
_FIELDS = ", ".join(f"json_extract(value, '$[{place}]')" for place in range(3))
ANY_EDGE_OF = f"IN (SELECT {_FIELDS} FROM json_each(?))"  # noqa: S608  (constants)
#: One claim of an episode: local ids, the edge it supports.
EpisodeClaim = tuple[str, str, Edge]

#: What a label has that says how a check came out.
FAILS, PASSES = " fails: ", " passes"

#: Which end of an edge: 0 its source, 1 its target.
End = Literal[0, 1]


class NodeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A node as shown to people: the original schema's fields, with the episodes counted."""

    id: str
    type: str
    label: str
    frequency: int
    episodes: int
    success_rate: float | None


class Frequency(msgspec.Struct, frozen=True, kw_only=True):
    """In ``k`` of the ``n`` sessions in which an edge's source occurred the link is there.

    Of a check's verdict only sessions count that ran the check: in the others it could not be seen.
    ``low`` and ``high`` (0 to 1) are the 95 % Wilson interval. What people assert counts in neither number.
    """

    k: int
    n: int
    low: float
    high: float


def frequency(k: int, n: int) -> Frequency:
    """A frequency with its interval."""
    interval = wilson_interval(k, n)
    return Frequency(k=k, n=n, low=round(interval.low, 6), high=round(interval.high, 6))


#: How firm an edge is: the low end of its frequency's interval, then its weight. A path is as firm as its weakest edge.
Firmness = tuple[float, float]
FIRMEST: Firmness = (1.0, 1.0)


class EdgeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An edge as shown to people. ``weight`` is 0 to 1; ``episodes`` are sorted, ``assertions`` counted."""

    weight: float
    frequency: Frequency
    evidence_count: int
    reasons: tuple[str, ...]
    episodes: tuple[str, ...]
    assertions: int


class EdgeClaim(NamedTuple):
    """What supports an edge: an episode or assertion, why, the weight in millionths, and the local ids of its ends."""

    owner: str
    reason: str
    weight: int
    source: str
    target: str


def summary_of(claims: Collection[EdgeClaim], occurring: int) -> EdgeSummary:
    """An edge of these claims, whose source occurs in so many episodes."""
    claimants = {one.owner for one in claims}  # episodes, and assertions that belong to none
    episodes = sorted(one for one in claimants if one.startswith(PREFIX))
    return EdgeSummary(
        weight=mean_weight(sum(one.weight for one in claims), len(claims)),
        frequency=frequency(len(episodes), max(len(episodes), occurring)),
        evidence_count=len(claimants),
        reasons=tuple(sorted({one.reason for one in claims})),
        episodes=tuple(episodes),
        assertions=len(claimants) - len(episodes),
    )


class MentionPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a mention is: episode and local id, its text, and the line in the log that it was read from."""

    episode: str
    local: str
    text: str = ""
    timestamp: str | None = None
    path: str | None = None
    log: str | None = None
    line: int | None = None
    quote: str = ""


class Adjacency:
    """The graph in an open graph.db, for one question: what was asked once is not asked again."""

    resolution: Resolution = "kind"

    def __init__(self, connection: sqlite3.Connection, *, firm: bool = False) -> None:
        self.connection = connection
        self.firm = firm
        self._ask = connection.execute
        #: The claims that are looked at: with ``firm`` not those of which the log shows only that one thing followed.
        self._claim = "(SELECT * FROM claim WHERE NOT loose)" if firm else "claim"

        self._labelled: dict[str, frozenset[int]] = {}
        self._summaries: dict[int, NodeSummary] = {}
        self._mentioned: dict[str, list[TextMatch]] = {}
        self._names: dict[str, list[str]] = {}
        #: Some sessions, and which checks each of them ran.
        self._ran_in: tuple[set[str], set[tuple[str, str]]] = (set(), set())

    def firmly(self) -> Adjacency:
        """The same graph without its loose links; what was found for a text is known there too."""
        firm = Adjacency(self.connection, firm=True)
        firm._labelled, firm._mentioned, firm._names = self._labelled, self._mentioned, self._names
        return firm

    def labelled(self, text: str) -> frozenset[int]:
        """The nodes whose label contains ``text``, in any case; ``*``, ``?`` and ``[`` are letters.

        Where labels begin with it, those are left out that have it within a word: ``go test`` is no ``cargo test``.
        """
        if text not in self._labelled:
            folded = text.casefold()
            rows = self._ask("SELECT number, folded FROM node WHERE instr(folded, ?)", (folded,)).fetchall()
            if any(label.startswith(folded) for _, label in rows):
                begins = re.compile(rf"(?<!\w){re.escape(folded)}")
                rows = [row for row in rows if begins.search(row[1])]
            self._labelled[text] = frozenset(number for number, _ in rows)
        return self._labelled[text]

    def mentioning(self, text: str) -> dict[int, frozenset[str]]:
        """The other nodes with a mention whose text contains ``text``, and the episodes of these mentions."""
        found: defaultdict[int, set[str]] = defaultdict(set)
        for (node, *_), (episode, _) in self.texts_containing(text):
            found[node].add(episode)
        return {node: frozenset(episodes) for node, episodes in found.items()}

    def texts_containing(self, text: str) -> list[TextMatch]:
        """The mentions whose text, but not their label, contains ``text``."""
        if text not in self._mentioned:  # it reads every text of the graph
            self._mentioned[text] = find_texts(self.connection, text)
        return self._mentioned[text]

    def names_containing(self, text: str) -> list[str]:
        """The places and things that contain ``text``, in any case of the letters a to z."""
        if text not in self._names:  # it reads every name of the graph
            rows = self._ask("SELECT name FROM name WHERE instr(lower(name), lower(?))", (text,))
            self._names[text] = [name for (name,) in rows]
        return self._names[text]

    def groups_named(self, names: Collection[str]) -> set[MentionGroup]:
        """The groups of mentions that have one of these places or things."""
        query = " UNION ".join(
            f"SELECT node, place, thing FROM mention WHERE {column} IN (SELECT value FROM json_each(?1))"  # noqa: S608  (constants)
            for column in ("place", "thing")
        )
        return set(self._ask(query, (as_list(names),)))

    def failures_in(self, file: str) -> list[TextMatch]:
        """The errors about a file, given by its whole path or by the last parts of it."""
        rows = self._ask(
            "SELECT node, place, thing, e.id, local FROM mention JOIN episode e ON number = episode"
            " WHERE family IS NOT NULL AND (lower(path) = lower(?1) OR lower(path) LIKE '%/' || lower(?2) ESCAPE '^')",
            (file, re.sub(r"[%_^]", r"^\g<0>", file)),
        )
        return [((node, place, thing), (episode, local)) for node, place, thing, episode, local in rows]

    def edges(
        self, nodes: Collection[int], *, at: End, types: Collection[str], within: frozenset[str] | None = None
    ) -> list[Edge]:
        """The edges of some types that have one of the nodes as their source (``at`` 0) or target (1).

        With ``within`` only edges that one of these episodes claims.
        """
        end = "target" if at else "source"
        if within is None and not self.firm:
            query = f"SELECT source, target, type FROM edge WHERE {end} {ANY_OF} AND type {ANY_OF}"  # noqa: S608  (two names of columns)
            return self._ask(query, (as_list(nodes), as_list(types))).fetchall()
        query = (
            f"SELECT source, target, type FROM edge e WHERE {end} {ANY_OF} AND type {ANY_OF} AND EXISTS ("  # noqa: S608  (as above)
            f"SELECT 1 FROM {self._claim} c WHERE c.source = e.source AND c.target = e.target AND c.type = e.type"
        )
        values = [as_list(nodes), as_list(types)]
        if within is not None:
            query += f" AND episode IN (SELECT number FROM episode WHERE id {ANY_OF})"  # noqa: S608  (a constant)
            values.append(as_list(within))
        return self._ask(f"{query})", values).fetchall()

    def episodes_of(self, nodes: Collection[int]) -> frozenset[str]:
        """The episodes that mention one of ``nodes``."""
        query = f"SELECT DISTINCT id FROM mention JOIN episode ON number = episode WHERE node {ANY_OF}"  # noqa: S608  (a constant)
        return frozenset(episode for (episode,) in self._ask(query, (as_list(nodes),)))

    def claims_of(self, episode: str) -> list[EpisodeClaim]:
        """All that one episode claims."""
        rows = self._ask(
            f"SELECT source_local, target_local, source, target, type FROM {self._claim}"  # noqa: S608  (one of two)
            " WHERE episode = (SELECT number FROM episode WHERE id = ?)",
            (episode,),
        )
        return [(source_local, target_local, (*edge,)) for source_local, target_local, *edge in rows]

    def summary(self, node: int) -> NodeSummary:
        """A node as shown to people."""
        return self.summaries([node])[node]

    def summaries(self, nodes: Collection[int]) -> dict[int, NodeSummary]:
        """Several nodes as shown to people, at the price of one query."""
        new = [node for node in nodes if node not in self._summaries]
        query = (
            f"SELECT number, id, type, label, mentions, episodes, successes, measured FROM node WHERE number {ANY_OF}"  # noqa: S608  (a constant)
        )
        for number, *shown, successes, measured in self._ask(query, (as_list(new),)) if new else ():
            fields = dict(zip(NodeSummary.__struct_fields__, shown, strict=False))
            self._summaries[number] = NodeSummary(**fields, success_rate=rate(successes, measured))
        return {node: self._summaries[node] for node in nodes}

    def occurring(self, nodes: Collection[int]) -> dict[int, int]:
        """In how many episodes each node occurs."""
        return {number: one.episodes for number, one in self.summaries(nodes).items()}

    def claims(self, edges: Collection[Edge]) -> dict[Edge, list[EdgeClaim]]:
        """All that supports each edge."""
        found: dict[Edge, list[EdgeClaim]] = {edge: [] for edge in edges}
        rows = self._ask(
            f"SELECT source, target, type, id, reason, weight, source_local, target_local FROM {self._claim}"  # noqa: S608  (constants)
            f" JOIN episode ON number = episode WHERE (source, target, type) {ANY_EDGE_OF}",
            (as_list(edges),),
        )
        for *edge, owner, reason, weight, source, target in rows:
            found[(*edge,)].append(EdgeClaim(owner, reason, weight, source, target))
        return found

    def joints(self, edges: Collection[Edge]) -> dict[Edge, frozenset[Joint]]:
        """For each edge, which mentions of which episodes it joins."""
        return {
            edge: frozenset((one.owner, one.source, one.target) for one in known)
            for edge, known in self.claims(edges).items()
        }

    def firmness(self, edges: Collection[Edge]) -> dict[Edge, Firmness]:
        """How firm each edge is; of a hundred thousand edges SQLite counts the claims faster than Python."""
        occurring = self.occurring({edge[0] for edge in edges})
        rows = self._ask(
            "SELECT source, target, type, weight_sum, claims, (SELECT count(DISTINCT episode)"  # noqa: S608  (constants)
            f" FROM {self._claim} c"
            " JOIN episode ON number = c.episode WHERE c.source = e.source AND c.target = e.target AND c.type = e.type"
            f" AND origin <> 'assertion') FROM edge e WHERE (source, target, type) {ANY_EDGE_OF}",
            (as_list(edges),),
        )
        return {
            (source, target, kind): (frequency(k, max(k, occurring[source])).low, mean_weight(weight_sum, claims))
            for source, target, kind, weight_sum, claims, k in rows
        }

    def edge_summary(self, edge: Edge) -> EdgeSummary:
        """An edge as shown to people."""
        return summary_of(self.claims([edge])[edge], self.sessions_able([edge[0]], self.summary(edge[1])))

    def sessions_able(self, sources: Collection[int], target: NodeSummary) -> int:
        """In how many sessions with one of the sources the target could be seen: a verdict where its check ran."""
        sessions = {one for one in self.episodes_of(sources) if one.startswith(PREFIX)}
        check = _check_of(target.label) if target.type in {"error", "event"} else None
        if check is None or not sessions:
            return len(sessions)
        if sessions != self._ran_in[0]:
            rows = self._ask(
                f"SELECT DISTINCT id, checked FROM episode JOIN run ON episode = episode.number WHERE id {ANY_OF}",  # noqa: S608  (a constant)
                (as_list(sessions),),
            )
            self._ran_in = (sessions, {(session, check_label(name).removesuffix(FAILS)) for session, name in rows})
        return sum((session, check) in self._ran_in[1] for session in sessions) or len(sessions)

    def kinds_of_checks(self) -> dict[str, str]:
        """The checks that ran, as labels have them (``go test``), with their kinds; mere commands are none."""
        rows = self._ask("SELECT DISTINCT kind, checked FROM run WHERE kind <> 'command' ORDER BY kind DESC")
        return {check_label(name).removesuffix(FAILS): kind for kind, name in rows}

    def speaking_edit(self, episode: str, source: str, target: str) -> tuple[str, int, str] | None:
        """Of a change and what failed, either way: the change, and line and text of the edit that is about it.

        None where that is the edit by which the change is quoted.
        """
        row = self._ask(
            "SELECT change, line, quote FROM repair WHERE episode = (SELECT number FROM episode WHERE id = ?1)"
            " AND error = ?2 AND change = ?3 AND line IS NOT NULL UNION ALL"
            " SELECT source_local, line, quote FROM claim WHERE episode = (SELECT number FROM episode WHERE id = ?1)"
            " AND source_local = ?2 AND target_local = ?3 AND line IS NOT NULL",
            (episode, source, target),
        ).fetchone()
        return (row[0], row[1], row[2] or "") if row else None

    def edit_lines(self, episode: str, source: str, target: str) -> tuple[int, ...]:
        """The lines of the edits that a pass rests on, where there are several."""
        row = self._ask(
            "SELECT lines FROM claim WHERE episode = (SELECT number FROM episode WHERE id = ?)"
            " AND source_local = ? AND target_local = ? AND lines IS NOT NULL",
            (episode, source, target),
        ).fetchone()
        return tuple(map(int, row[0].split())) if row else ()

    def place(self, episode: str, local: str) -> MentionPlace:
        """Where a mention is."""
        row = self._ask(
            "SELECT raw, m.timestamp, path, m.log, line, quote FROM mention m"
            " WHERE episode = (SELECT number FROM episode WHERE id = ?) AND local = ?",
            (episode, local),
        ).fetchone()
        fields = dict(zip(MentionPlace.__struct_fields__[2:], row, strict=True))
        return MentionPlace(episode=episode, local=local, **fields)


def _check_of(label: str) -> str | None:
    """The check whose verdict a label is.

    >>> _check_of("go test passes"), _check_of("ruff check fails: F401: os"), _check_of("commit")
    ('go test', 'ruff check', None)
    """
    if label.endswith(PASSES):
        return label.removesuffix(PASSES)
    check, found, _ = label.partition(FAILS)
    return check if found else None
