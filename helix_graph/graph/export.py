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
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from helix_graph.graph.fold import aliases
from helix_graph.graph.version import EXPORT_VERSION, LABEL_MODE, LABEL_VERSION
from helix_graph.graph.weights import mean_weight, rate

if TYPE_CHECKING:
    import sqlite3

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


def _nodes(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    names: defaultdict[int, list[_Mention]] = defaultdict(list)
    rows = connection.execute(
        "SELECT node, id, local, raw, counted, origin <> 'assertion' FROM mention JOIN episode ON number = episode"
        " ORDER BY id, local"
    )
    for node, *mention in rows:
        names[node].append(_Mention(*mention))
    nodes = connection.execute(
        "SELECT number, id, type, label, mentions, measured, successes FROM node ORDER BY type, label"
    )
    return [_node(row, names[row[0]]) for row in nodes]


class _Mention(NamedTuple):
    episode: str
    local: str
    raw: str
    counted: bool
    in_episode: bool


def _node(row: tuple[Any, ...], mentions: list[_Mention]) -> dict[str, Any]:
    _, name, kind, label, frequency, measured, successes = row
    called = aliases(mention.raw for mention in mentions if mention.counted)
    return {
        "id": name,
        "type": kind,
        "label": label,
        "episodes": list(dict.fromkeys(mention.episode for mention in mentions if mention.in_episode)),
        "frequency": frequency,
        "success_rate": rate(successes, measured),
        "aliases": dict(list(called.items())[:ALIAS_LIMIT]),
        "aliases_left_out": max(0, len(called) - ALIAS_LIMIT),
        "mentions": [f"{mention.episode}#{mention.local}" for mention in mentions],
    }


def _edges(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    reasons: defaultdict[tuple[int, int, str], list[str]] = defaultdict(list)
    for source, target, kind, reason in connection.execute(
        "SELECT DISTINCT source, target, type, reason FROM claim ORDER BY reason"
    ):
        reasons[source, target, kind].append(reason)
    rows = connection.execute(
        "SELECT source, target, e.type, s.id, t.id, weight_sum, claims, e.episodes FROM edge e"
        " JOIN node s ON s.number = source JOIN node t ON t.number = target"
        " ORDER BY s.type, s.label, t.type, t.label, e.type"
    )
    return [
        {
            "source": source_id,
            "target": target_id,
            "type": kind,
            "weight": mean_weight(weight_sum, claims),
            "evidence_count": episodes,
            "reasons": reasons[source, target, kind],
            "status": "asserted",
        }
        for source, target, kind, source_id, target_id, weight_sum, claims, episodes in rows
    ]
