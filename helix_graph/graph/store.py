"""graph.db as a store: the facts of each episode, and the sums over all of them.

The facts are in ``mention``, ``claim`` and ``repair``, the sums in ``node`` and ``edge``. Where an episode comes or
goes, the sums of the nodes and edges that it touches are made again. So they are always those of a build from nothing,
at the price of the episodes that changed. `fold` gives the same graph in networkx form.

Inside the file, episodes and nodes go by number to keep edges narrow. Numbers depend on the order of arrival and never
leave the file: answers are named and sorted by ids and labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import astuple

from helix_episodes.model import sortable_time
from helix_episodes.msgspec_types import ready
from helix_graph.database import ANY_OF, DamagedRows, as_list
from helix_graph.graph.adjacency import ANY_EDGE_OF, Edge, wording
from helix_graph.graph.graph_db import EXPORT_VERSION, LABEL_VERSION
from helix_graph.graph.model import Claim, CostFact, EpisodeFacts, Mention, Repair, RunFact, mean_weight, rate
from helix_graph.graph.row_checksums import (
    SUMS_OF_EDGE,
    SUMS_OF_NODE,
    checksum,
    is_intact,
    read_digests,
    write_checksum,
)
from helix_graph.graph.similar_decisions import forget_decisions, index_decisions

if TYPE_CHECKING:
    import sqlite3

    import networkx as nx


def updated(connection: sqlite3.Connection) -> str | None:
    """The time of the newest episode or assertion in UTC, or None when none has one."""
    newest = connection.execute(
        "SELECT max(moment) FROM (SELECT moment FROM episode UNION ALL SELECT moment FROM assertion)"
    ).fetchone()[0]
    return newest or None


def digests_but_of(connection: sqlite3.Connection, names: Iterable[str]) -> list[bytes]:
    """The digests of all episodes that have a file, but for the files of these names."""
    left_out = set(names)
    file_of: dict[int, str] = dict(connection.execute("SELECT episode, name FROM file WHERE episode IS NOT NULL"))
    return [
        body for episode, body in read_digests(connection) if episode in file_of and file_of[episode] not in left_out
    ]


EdgeKey = tuple[str, str, str]


def fold(facts: Iterable[EpisodeFacts]) -> nx.MultiDiGraph[str]:
    """The causal graph of a set of facts, as a networkx ``MultiDiGraph``.

    Nodes carry ``type``, ``label``, ``frequency``, ``episodes``, ``success_rate``, ``aliases`` (raw text to number of
    mentions) and ``mentions`` (pairs of episode and `Mention`); edges, keyed by their type, carry ``type``, ``weight``,
    ``evidence_count``, ``reasons`` and ``status``. ``graph.graph["claims"]`` maps each edge to its pairs of episode and
    `Claim`, since episode lists in edge attributes would weigh down every algorithm that copies them.

    The same episode twice counts once; of two versions of an episode the one that sorts last is taken, so that the
    result never depends on the order of ``facts``.
    """
    import networkx as nx

    newest = {each.episode: each for each in sorted(facts, key=lambda one: (one.episode, msgspec.msgpack.encode(one)))}
    episodes = [newest[name] for name in sorted(newest)]
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    _add_nodes(graph, episodes)
    _add_edges(graph, episodes)
    return graph


def writable(graph: nx.MultiDiGraph[str]) -> nx.MultiDiGraph[str]:
    """The same nodes and edges with texts and numbers for attributes, as formats such as GraphML have them."""
    plain: nx.MultiDiGraph[str] = type(graph)(version=EXPORT_VERSION, label_version=LABEL_VERSION)
    for node, known in graph.nodes(data=True):
        rated = {"success_rate": known["success_rate"]} if known["success_rate"] is not None else {}
        kept = {name: known[name] for name in ("type", "label", "frequency")}
        plain.add_node(node, **kept, episodes=len(known["episodes"]), **rated)
    for source, target, kind, known in graph.edges(keys=True, data=True):
        plain.add_edge(source, target, key=kind, **{**known, "reasons": ", ".join(known["reasons"])})
    return plain


def _add_nodes(graph: nx.MultiDiGraph[str], episodes: list[EpisodeFacts]) -> None:
    mentions: defaultdict[str, list[tuple[EpisodeFacts, Mention]]] = defaultdict(list)
    for facts in episodes:
        for mention in facts.mentions:
            mentions[mention.node].append((facts, mention))
    for node, known in sorted(mentions.items()):
        counted = [(facts, mention) for facts, mention in known if mention.counted]
        measured = {facts.episode: facts.succeeded for facts, _ in counted if facts.succeeded is not None}
        graph.add_node(
            node,
            type=known[0][1].type,
            label=known[0][1].label,
            frequency=len(counted),
            episodes=tuple(dict.fromkeys(facts.episode for facts, _ in known if facts.origin != "assertion")),
            success_rate=rate(sum(measured.values()), len(measured)),
            aliases=aliases(mention.raw for _, mention in counted),
            mentions=tuple((facts.episode, mention) for facts, mention in known),
        )


def _add_edges(graph: nx.MultiDiGraph[str], episodes: list[EpisodeFacts]) -> None:
    claims: defaultdict[EdgeKey, list[tuple[str, Claim]]] = defaultdict(list)
    for facts in episodes:
        for claim in facts.claims:
            claims[claim.source, claim.target, claim.type].append((facts.episode, claim))
    for source, target, kind in sorted(claims):
        known = claims[source, target, kind]
        graph.add_edge(
            source,
            target,
            key=kind,
            type=kind,
            weight=mean_weight(sum(claim.weight for _, claim in known), len(known)),
            evidence_count=len({episode for episode, _ in known}),
            reasons=tuple(sorted({claim.reason for _, claim in known})),
            status="asserted",
        )
    graph.graph["claims"] = {edge: tuple(known) for edge, known in claims.items()}


def aliases(raw_texts: Iterable[str]) -> dict[str, int]:
    """How often each raw text stands behind a label, the commonest first."""
    counts: dict[str, int] = {}
    for text in raw_texts:
        if text:
            counts[text] = counts.get(text, 0) + 1
    if len(counts) == 1:
        return counts
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


_MENTION_COLUMNS = (
    "place, thing, raw, timestamp, path, command, message, checked, family, issues, rationale, actor, line, log, quote,"
    " counted, context, outcome, deliberate"
)
#: One place for each of these columns, and for episode, local id and node.
_MENTION_VALUES = ", ".join("?" * (_MENTION_COLUMNS.count(",") + 4))

#: The columns are those of the fields of a `Mention` from its place on, in their order.
_FIRST_COLUMN = Mention.__struct_fields__.index("place")
#: The first fields of `EpisodeFacts`, up to its log, are columns of their own; they come in this order.
_EPISODE_FIELDS = EpisodeFacts.__struct_fields__.index("log") + 1
_Record = TypeVar("_Record", Claim, CostFact, Repair, RunFact)
_INSERT_OF = {
    table: f"INSERT INTO {table} VALUES (?{', ?' * len(fact.__struct_fields__)})"  # noqa: S608  (constants)
    for table, fact in (("run", RunFact), ("cost", CostFact))
}


class GraphChanges(msgspec.Struct, kw_only=True):
    """What one transaction has taken in and out: nodes by id, and the numbers of nodes and edges to be summed again."""

    known_nodes: dict[str, int]
    new_nodes: set[str] = msgspec.field(default_factory=set)
    used_nodes: set[str] = msgspec.field(default_factory=set)
    nodes: set[int] = msgspec.field(default_factory=set)
    edges: set[Edge] = msgspec.field(default_factory=set)


class CompileTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What a transaction did to the graph: nodes and edges that are new, and nodes that had been there before."""

    nodes_added: int
    edges_added: int
    merged: int


def add_episode(
    connection: sqlite3.Connection, facts: EpisodeFacts, changes: GraphChanges, trial: bytes | None = None
) -> int:
    """Writes an episode's facts and its packed trial and returns its number; `finish_changes` sums them up."""
    episode = _insert_episode(connection, facts)
    _insert_nodes(connection, facts, changes)
    numbers = changes.known_nodes
    connection.executemany(
        f"INSERT INTO mention (episode, local, node, {_MENTION_COLUMNS}) VALUES ({_MENTION_VALUES})",  # noqa: S608  (constants)
        [(episode, one.local, numbers[one.node], *astuple(one)[_FIRST_COLUMN:]) for one in facts.mentions],
    )
    connection.executemany(
        "INSERT INTO issue VALUES (?, ?, ?)",
        [(key, episode, one.local) for one in facts.mentions if one.issues for key in one.issues.split(" ")],
    )
    connection.execute("INSERT INTO wording VALUES (?, ?)", (episode, wording(facts)))
    index_decisions(connection, episode, facts)
    connection.executemany(
        "INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(numbers[claim.source], numbers[claim.target]),
                *(claim.type, episode, claim.source_local, claim.target_local, claim.reason, claim.weight),
            )
            for claim in facts.claims
        ],
    )
    connection.executemany(
        "INSERT INTO repair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(episode, *astuple(one)) for one in facts.repairs],
    )
    for table, rows in (("run", facts.runs), ("cost", facts.costs)):
        if rows:
            connection.executemany(_INSERT_OF[table], [(episode, *astuple(one)) for one in rows])
    if trial is not None:
        connection.execute("INSERT INTO digest VALUES (?, ?, ?)", (episode, trial, checksum((episode, trial))))
    write_checksum(connection, episode)
    _touch(connection, episode, changes)
    changes.used_nodes.update(mention.node for mention in facts.mentions)
    return episode


def remove_episode(connection: sqlite3.Connection, episode: int, changes: GraphChanges) -> None:
    """Deletes an episode's facts; `finish_changes` makes the sums without them.

    Raises:
        DamagedRows: They are not what was added, so other rows may be damaged as well.
    """
    if not is_intact(connection, episode):
        raise DamagedRows(f"the rows of episode {episode} are not those that were written")
    _touch(connection, episode, changes)
    forget_decisions(connection, episode)
    for table in ("mention", "issue", "wording", "claim", "repair", "run", "cost", "digest"):
        connection.execute(f"DELETE FROM {table} WHERE episode = ?", (episode,))  # noqa: S608  (constant names)
    connection.execute("UPDATE file SET episode = NULL WHERE episode = ?", (episode,))
    connection.execute("DELETE FROM episode WHERE number = ?", (episode,))


def finish_changes(connection: sqlite3.Connection, changes: GraphChanges) -> CompileTotals:
    """Sums up what was touched again; nodes and edges that nobody mentions any more are gone."""
    edges, touched = as_list(changes.edges), f"(source, target, type) {ANY_EDGE_OF}"
    connection.execute(
        f"UPDATE node SET (mentions, episodes, measured, successes) = ({SUMS_OF_NODE}) WHERE number {ANY_OF}",  # noqa: S608  (constants)
        (as_list(changes.nodes),),
    )
    edges_before = _count_edges(connection)
    connection.execute(
        f"INSERT OR IGNORE INTO edge SELECT DISTINCT source, target, type, 0, 0, 0 FROM claim WHERE {touched}",  # noqa: S608  (constants)
        (edges,),
    )
    edges_added = _count_edges(connection) - edges_before
    connection.execute(
        f"UPDATE edge SET (weight_sum, claims, episodes) = ({SUMS_OF_EDGE}) WHERE {touched}",  # noqa: S608  (constants)
        (edges,),
    )
    connection.execute("DELETE FROM edge WHERE claims = 0")
    # Nodes that nothing mentions any more; no claim leads to one.
    unused = "mentions = 0 AND NOT EXISTS (SELECT 1 FROM mention WHERE mention.node = node.number)"
    connection.execute(f"DELETE FROM node WHERE {unused}")  # noqa: S608  (a constant)
    return CompileTotals(
        nodes_added=len(changes.new_nodes & changes.used_nodes),
        edges_added=edges_added,
        merged=len(changes.used_nodes - changes.new_nodes),
    )


def read_facts(connection: sqlite3.Connection, episodes: Iterable[int] | None = None) -> Iterator[EpisodeFacts]:
    """The facts of the episodes of these numbers, or of all, as they were taken in; by episode id."""
    numbers = None if episodes is None else sorted(episodes)
    where, values = ("", ()) if numbers is None else (f"WHERE number {ANY_OF}", (as_list(numbers),))
    rows = connection.execute(
        "SELECT number, id, session, timestamp, task, task_kind, outcome, basis, agent, model, branch, log,"  # noqa: S608  (constant parts)
        f" problems, origin FROM episode {where} ORDER BY id",
        values,
    )
    for number, *rest in rows.fetchall():
        yield _facts(connection, number, rest)


def _insert_episode(connection: sqlite3.Connection, facts: EpisodeFacts) -> int:
    fields = astuple(facts)[:_EPISODE_FIELDS]
    names, about = fields[:3], fields[3:]
    cursor = connection.execute(
        "INSERT INTO episode (id, session, timestamp, moment, task, task_kind, outcome, basis, agent, model, branch,"
        " log, problems, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*names, sortable_time(facts.timestamp), *about, as_list(facts.problems), facts.origin),
    )
    return cursor.lastrowid or 0


def _insert_nodes(connection: sqlite3.Connection, facts: EpisodeFacts, changes: GraphChanges) -> None:
    for mention in facts.mentions:
        if mention.node not in changes.known_nodes:
            cursor = connection.execute(
                "INSERT INTO node (id, type, label, folded) VALUES (?, ?, ?, ?)",
                (mention.node, mention.type, mention.label, mention.label.casefold()),
            )
            changes.known_nodes[mention.node] = cursor.lastrowid or 0
            changes.new_nodes.add(mention.node)


def _touch(connection: sqlite3.Connection, episode: int, changes: GraphChanges) -> None:
    """The sums over this episode's facts have to be made again."""
    nodes = connection.execute("SELECT DISTINCT node FROM mention WHERE episode = ?", (episode,))
    changes.nodes.update(node for (node,) in nodes)
    changes.edges.update(connection.execute("SELECT source, target, type FROM claim WHERE episode = ?", (episode,)))


def _count_edges(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM edge").fetchone()[0])


def _facts(connection: sqlite3.Connection, number: int, row: list[str | None]) -> EpisodeFacts:
    *fields, problems, origin = row
    return msgspec.convert(
        {
            **dict(zip(EpisodeFacts.__struct_fields__[:_EPISODE_FIELDS], fields, strict=True)),
            "mentions": _mentions(connection, number),
            "claims": sorted(_records(connection, Claim, _CLAIMS_OF, number)),
            "repairs": _records(connection, Repair, _REPAIRS_OF, number),
            "runs": _records(connection, RunFact, _RUNS_OF, number),
            "costs": _records(connection, CostFact, _COSTS_OF, number),
            "problems": msgspec.json.decode(problems or "[]"),
            "origin": origin,
        },
        ready(EpisodeFacts),
    )


def _mentions(connection: sqlite3.Connection, episode: int) -> list[Mention]:
    rows = connection.execute(
        f"SELECT local, id, type, label, {_MENTION_COLUMNS} FROM mention JOIN node ON number = node"  # noqa: S608  (constant columns)
        " WHERE episode = ? ORDER BY local",
        (episode,),
    )
    fields = (dict(zip(Mention.__struct_fields__, row, strict=True)) for row in rows)
    truths = ("counted", "deliberate")
    return [Mention(**{**one, **{name: bool(one[name]) for name in truths}}) for one in fields]


_CLAIMS_OF = (
    "SELECT s.id, t.id, c.type, reason, weight, source_local, target_local FROM claim c"
    " JOIN node s ON s.number = source JOIN node t ON t.number = target WHERE episode = ?"
)
_REPAIRS_OF = (
    "SELECT error, change, checked, verified_by, share, quote, line, silences FROM repair WHERE episode = ?"
    " ORDER BY error, change, checked"
)
_RUNS_OF = (
    "SELECT number, checked, kind, passed, command, directory, timestamp, line, log, seconds, fresh, changed, files,"
    " edits, events, deliberate FROM run WHERE episode = ? ORDER BY number"
)
_COSTS_OF = "SELECT local, steps, seconds, tokens, ended FROM cost WHERE episode = ? ORDER BY local"


def _records(connection: sqlite3.Connection, kind: type[_Record], query: str, episode: int) -> list[_Record]:
    """The rows of an episode; the query has the fields of their kind in order."""
    rows = connection.execute(query, (episode,))
    return [kind(**dict(zip(kind.__struct_fields__, row, strict=True))) for row in rows]
