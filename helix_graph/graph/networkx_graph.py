"""The facts of graph.db, read back as they were taken in, and the causal graph that they fold to in networkx form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import msgspec

from helix_episodes.msgspec_types import ready
from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.episode_rows import EPISODE_FIELDS
from helix_graph.graph.graph_db import EXPORT_VERSION, LABEL_VERSION
from helix_graph.graph.model import Claim, CostFact, EpisodeFacts, Mention, Repair, RunFact, mean_weight, rate

if TYPE_CHECKING:
    import sqlite3

    import networkx as nx


_MENTION_COLUMNS = (
    "place, thing, raw, timestamp, path, command, message, checked, family, issues, rationale, actor, line, log, quote,"
    " counted, context, outcome, deliberate, replaced"
)
_Record = TypeVar("_Record", Claim, CostFact, Repair, RunFact)


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


def _facts(connection: sqlite3.Connection, number: int, row: list[str | None]) -> EpisodeFacts:
    *fields, problems, origin = row
    return msgspec.convert(
        {
            **dict(zip(EpisodeFacts.__struct_fields__[:EPISODE_FIELDS], fields, strict=True)),
            "mentions": _mentions(connection, number),
            "claims": _records(connection, Claim, _CLAIMS_OF, number),
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
    "SELECT s.id, t.id, c.type, reason, weight, source_local, target_local, loose, line, quote, lines FROM claim c"
    " JOIN node s ON s.number = source JOIN node t ON t.number = target WHERE episode = ?"
    " ORDER BY source_local, target_local, c.type, reason"
)
_REPAIRS_OF = (
    "SELECT error, change, checked, verified_by, share, quote, replaced, line, silences FROM repair WHERE episode = ?"
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
        for claim in sorted(facts.claims):
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
