"""causal-graph.json: the graph as a file for other programs, in the original schema with our additions.

The same truth gives the same bytes: everything is sorted by what it is, numbers are exact, and ``updated`` is the
newest episode's time, not the clock's.

::

    {"version", "updated", "labels": {"version", "mode"}+, "nodes": […], "edges": […], "patterns": […]}
    node     id  type  label  episodes  frequency  success_rate  aliases+  aliases_left_out+  mentions+
    edge     source  target  type  weight  evidence_count  reasons+  status+

``mentions`` name episode (or assertion) and local id, joined by ``#``. Of the aliases the commonest `ALIAS_LIMIT` are
written and the rest counted; graph.db has them all.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph.graph.fold import aliases
from helix_graph.graph.version import EXPORT_VERSION, LABEL_MODE, LABEL_VERSION
from helix_graph.graph.weights import mean_weight, rate

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

#: Enough to see what a label stands for.
ALIAS_LIMIT = 20


def export_bytes(connection: sqlite3.Connection) -> bytes:
    """The canonical file for the graph in an open graph.db."""
    import orjson  # noqa: PLC0415  (only compile writes; questions start without it)

    return orjson.dumps(document(connection), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def document(connection: sqlite3.Connection) -> dict[str, Any]:
    """The graph as plain values, in canonical order."""
    bodies = connection.execute("SELECT body FROM pattern ORDER BY id")
    return {
        "version": EXPORT_VERSION,
        "updated": updated(connection),
        "labels": {"version": LABEL_VERSION, "mode": LABEL_MODE},
        "nodes": _nodes(connection),
        "edges": _edges(connection),
        "patterns": [msgspec.json.decode(body) for (body,) in bodies],
    }


def updated(connection: sqlite3.Connection) -> str | None:
    """The time of the newest episode or assertion in UTC, or None when none has one."""
    newest = connection.execute(
        "SELECT max(moment) FROM (SELECT moment FROM episode UNION ALL SELECT moment FROM assertion)"
    ).fetchone()[0]
    return newest or None


class _Named:
    """What the mentions of a node add up to, in their order."""

    def __init__(self) -> None:
        self.mentions: list[str] = []
        self.episodes: dict[str, None] = {}
        self.texts: list[str] = []


def _nodes(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    named: defaultdict[int, _Named] = defaultdict(_Named)
    rows = connection.execute(
        "SELECT node, id, local, raw, counted, origin <> 'assertion' FROM episode CROSS JOIN mention"
        " ON episode = number ORDER BY id, local"  # episodes outside, so that both are read in order and none is sorted
    )
    for node, episode, local, raw, counted, in_episode in rows:
        held = named[node]
        held.mentions.append(f"{episode}#{local}")
        if in_episode:
            held.episodes[episode] = None
        if counted:
            held.texts.append(raw)
    nodes = connection.execute(
        "SELECT number, id, type, label, mentions, measured, successes FROM node ORDER BY type, label"
    )
    return [_node(row, named[row[0]]) for row in nodes]


def _node(row: tuple[Any, ...], held: _Named) -> dict[str, Any]:
    _, name, kind, label, frequency, measured, successes = row
    called = aliases(held.texts)
    return {
        "id": name,
        "type": kind,
        "label": label,
        "episodes": list(held.episodes),
        "frequency": frequency,
        "success_rate": rate(successes, measured),
        "aliases": called if len(called) <= ALIAS_LIMIT else dict(islice(called.items(), ALIAS_LIMIT)),
        "aliases_left_out": max(0, len(called) - ALIAS_LIMIT),
        "mentions": held.mentions,
    }


def _edges(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Edges by the type and label of their ends. Sorting by the places of the nodes takes half of SQLite's time."""
    nodes = connection.execute("SELECT number, id FROM node ORDER BY type, label").fetchall()
    place = {number: place for place, (number, _) in enumerate(nodes)}
    edges = connection.execute(
        "SELECT source, target, type, weight_sum, claims, episodes FROM edge ORDER BY source, target, type"
    )
    ordered = sorted(
        (place[source], place[target], kind, mean_weight(weight_sum, claims), episodes, reasons)
        for (source, target, kind, weight_sum, claims, episodes), reasons in zip(
            edges, _reasons(connection), strict=True
        )
    )
    return [
        {
            "source": nodes[source][1],
            "target": nodes[target][1],
            "type": kind,
            "weight": weight,
            "evidence_count": episodes,
            "reasons": reasons,
            "status": "asserted",
        }
        for source, target, kind, weight, episodes, reasons in ordered
    ]


def _reasons(connection: sqlite3.Connection) -> Iterator[tuple[str, ...]]:
    """The reasons of each edge, in the order of the edges' primary key; nearly all have one, which an index tells."""
    rows = connection.execute(
        "SELECT source, target, type, min(reason), max(reason) FROM claim"
        " GROUP BY source, target, type ORDER BY source, target, type"
    )
    several = "SELECT DISTINCT reason FROM claim WHERE source = ? AND target = ? AND type = ? ORDER BY reason"
    for *edge, first, last in rows:
        yield (first,) if first == last else tuple(reason for (reason,) in connection.execute(several, edge))
