"""What the graph of the page is made of: things that were done and met, and what led to what, at the finest resolution.

A node is a label together with the file, test, symbol or command that a mention is about, so that "edit shop/cart.py"
is a node and not "edit source". Nodes of most sessions come first, and those that do not fit are left out with their
edges. An edge says in how many of the sessions that have its source it is there. The page shows one node with what is
around it, so positions are not computed here.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import msgspec

from helix_graph.graph.mentions import named
from helix_graph.graph.model import short_hash
from helix_graph.graph.paths import NO_WAY
from helix_graph.issues.history import REPORTED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from helix_graph.graph.path_answer import PathAnswer

#: About 4 MB before it is compressed, with the texts of as many nodes.
MOST_NODES, MOST_EDGES = 4000, 12000
#: So many of the newest mentions of a node lead to their sessions.
_SHOWN = 3
#: What a label has in place of what varies.
_MASK = re.compile(r"<\w+>")
_LONGEST = 160
_Fine = tuple[int, str]
#: A type and a label.
_Label = tuple[str, str]
#: The places of its ends, and its type.
_Edge = tuple[int, int, str]


class PageGraph(msgspec.Struct, frozen=True, kw_only=True):
    """The graph in columns; ``met`` has sessions' places and steps of the newest mentions.

    Of a node ``judged`` sessions have an outcome that something other than the agent confirms, ``succeeded`` of these
    succeeded. An edge goes by the places of its ends; ``together`` sessions have it. ``opens`` is the place of the node
    to begin with.
    """

    id: tuple[str, ...]
    type: tuple[str, ...]
    label: tuple[str, ...]
    kind: tuple[str, ...]
    times: tuple[int, ...]
    sessions: tuple[int, ...]
    judged: tuple[int, ...]
    succeeded: tuple[int, ...]
    met: tuple[tuple[tuple[int, str], ...], ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    edge: tuple[str, ...]
    together: tuple[int, ...]
    reasons: tuple[str, ...]
    opens: int
    left: int


class PagePathStep(msgspec.Struct, frozen=True, kw_only=True):
    """One edge of a path: in ``k`` of the ``n`` sessions with its source; ``witness`` is a session and two steps."""

    type: str
    reasons: str
    k: int
    n: int
    witness: tuple[int, str, str] | None


class PagePath(msgspec.Struct, frozen=True, kw_only=True):
    """A path that was asked for, or in ``sentence`` why there is none; ``nodes`` have type, label and id."""

    source: str
    target: str
    sentence: str
    nodes: tuple[tuple[str, str, str], ...] = ()
    steps: tuple[PagePathStep, ...] = ()


def fine_id(kind: str, label: str, fine: str) -> str:
    """The name of a node in addresses; the same in every page."""
    return short_hash("n", f"{kind}\0{label}\0{fine}".encode())


def graph_of(connection: sqlite3.Connection, places: Mapping[int, int]) -> PageGraph:
    """The graph of an open graph.db; ``places`` are those of sessions by their numbers in it."""
    nodes = {
        number: (kind, label) for number, kind, label in connection.execute("SELECT number, type, label FROM node")
    }
    judged = {
        number: outcome == "success"
        for number, outcome in connection.execute(
            "SELECT number, outcome FROM episode WHERE basis IN ('rewarded', 'judged', 'measured')"
            " AND outcome <> 'unknown'"
        )
    }
    fine_of: dict[tuple[int, str], _Fine] = {}
    times: Counter[_Fine] = Counter()
    episodes: defaultdict[_Fine, dict[int, str]] = defaultdict(dict)
    rows = connection.execute(
        "SELECT m.episode, m.local, m.node, coalesce(m.thing, m.place, '') FROM mention m"
        " JOIN episode e ON e.number = m.episode WHERE m.counted ORDER BY e.moment, e.id, m.line, m.local"
    )
    for episode, local, node, fine in rows:
        key = node, fine
        fine_of[episode, local] = key
        times[key] += 1
        episodes[key][episode] = local
    ranked = sorted(times, key=lambda key: (-len(episodes[key]), -times[key], *nodes[key[0]], key[1]))
    chosen = ranked[:MOST_NODES]
    edges, reasons = _edges(connection, fine_of, {key: place for place, key in enumerate(chosen)})
    met = ([(places[one], local) for one, local in episodes[key].items() if one in places] for key in chosen)
    return PageGraph(
        id=tuple(fine_id(*nodes[node], fine) for node, fine in chosen),
        type=tuple(nodes[node][0] for node, _ in chosen),
        label=tuple(
            _MASK.sub("\u2026", named(nodes[node][1], fine or None, resolution="thing"))[:_LONGEST]
            for node, fine in chosen
        ),
        kind=tuple(nodes[node][1][:_LONGEST] for node, _ in chosen),
        times=tuple(times[key] for key in chosen),
        sessions=tuple(len(episodes[key]) for key in chosen),
        judged=tuple(sum(one in judged for one in episodes[key]) for key in chosen),
        succeeded=tuple(sum(judged.get(one, False) for one in episodes[key]) for key in chosen),
        met=tuple(tuple(known[: -_SHOWN - 1 : -1]) for known in met),
        source=tuple(source for (source, _, _), _ in edges),
        target=tuple(target for (_, target, _), _ in edges),
        edge=tuple(kind for (_, _, kind), _ in edges),
        together=tuple(sessions for _, sessions in edges),
        reasons=reasons,
        opens=_opening(
            [nodes[node] for node, _ in chosen], [episodes[key] for key in chosen], [one for one, _ in edges]
        ),
        left=len(ranked) - len(chosen),
    )


def _opening(labels: Sequence[_Label], episodes: Sequence[Mapping[int, str]], edges: Iterable[_Edge]) -> int:
    """Of the failure that most sessions have under one label, the commonest node, among equals that of most edges."""
    linked = Counter(place for source, target, _ in edges for place in (source, target))
    sessions: defaultdict[_Label, set[int]] = defaultdict(set)
    # What people report is of as many failures as there are reports.
    failures = [
        place
        for place, (kind, label) in enumerate(labels)
        if kind == "error" and linked[place] and REPORTED not in label
    ]
    for place in failures:
        sessions[labels[place]].update(episodes[place])

    def rank(place: int) -> tuple[int, int, int]:
        return len(sessions[labels[place]]), len(episodes[place]), linked[place]

    return max(failures, key=rank, default=0)


def _edges(
    connection: sqlite3.Connection, fine_of: Mapping[tuple[int, str], _Fine], place_of: Mapping[_Fine, int]
) -> tuple[list[tuple[_Edge, int]], tuple[str, ...]]:
    """The edges between the nodes chosen with their number of sessions, the most first, and the reasons of each."""
    together: defaultdict[_Edge, set[int]] = defaultdict(set)
    reasons: defaultdict[_Edge, set[str]] = defaultdict(set)
    claims = connection.execute("SELECT episode, source_local, target_local, type, reason FROM claim")
    for episode, source_local, target_local, kind, reason in claims:
        source = place_of.get(fine_of.get((episode, source_local), (-1, "")))
        target = place_of.get(fine_of.get((episode, target_local), (-1, "")))
        if source is not None and target is not None and source != target:
            key = source, target, kind
            together[key].add(episode)
            reasons[key].add(reason)
    ranked = sorted(together, key=lambda key: (-len(together[key]), key))[:MOST_EDGES]
    return [(key, len(together[key])) for key in ranked], tuple(" ".join(sorted(reasons[key])) for key in ranked)


def path_of(
    answer: PathAnswer, *, source: str, target: str, place_of: Mapping[str, int], ids: Mapping[str, str]
) -> PagePath:
    """A path as the page lays it out; ``place_of`` are sessions' places by episode, ``ids`` nodes by label."""
    if not answer.found:
        # That a longer search found none either says it all.
        said = [answer.error, answer.hint] if answer.hint != NO_WAY else [NO_WAY[0].upper() + NO_WAY[1:]]
        return PagePath(source=source, target=target, sentence=f"{': '.join(filter(None, said))}.")
    steps = []
    for step in answer.steps:
        known = next((one for one in step.witnesses if one.episode in place_of), None)
        witness = (place_of[known.episode], known.source.local, known.target.local) if known else None
        k, n = step.frequency.k, step.frequency.n
        steps.append(PagePathStep(type=step.type, reasons=" ".join(step.reasons), k=k, n=n, witness=witness))
    nodes = tuple((node.type, node.label, ids.get(node.label, "")) for node in answer.path)
    return PagePath(source=source, target=target, sentence=_sentence(answer), nodes=nodes, steps=tuple(steps))


def _sentence(answer: PathAnswer) -> str:
    if not answer.steps:
        return "Both texts mean the same thing; name two different ones."
    if not answer.whole:
        return "Joined from several sessions: none has the whole chain, and its links may never have occurred together."
    sessions = "session has" if len(answer.whole) == 1 else "sessions have"
    return f"{len(answer.whole)} {sessions} this path whole."
