"""A node with the original's keys: what ``Add-CausalNode`` and ``Get-CausalPath`` give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph.graph.weights import rate

if TYPE_CHECKING:
    import sqlite3


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A node. ``episodes`` are those that mention it, sorted; ``success_rate`` is None when nothing was measured."""

    id: str
    type: str
    label: str
    episodes: tuple[str, ...]
    frequency: int
    success_rate: float | None


def row_of(node: Node) -> dict[str, Any]:
    """A node as the original gives it: a plain dict."""
    return {**msgspec.to_builtins(node), "episodes": list(node.episodes)}


def find_node(connection: sqlite3.Connection, name: str) -> Node:
    """The node of that id, which is there."""
    row = connection.execute(
        "SELECT number, id, type, label, mentions, successes, measured FROM node WHERE id = ?", (name,)
    ).fetchone()
    number, identity, kind, label, frequency, successes, measured = row
    rows = connection.execute(
        "SELECT DISTINCT e.id FROM mention JOIN episode e ON e.number = episode"
        " WHERE node = ? AND e.origin <> 'assertion' ORDER BY e.id",
        (number,),
    )
    return Node(
        id=identity,
        type=kind,
        label=label,
        episodes=tuple(episode for (episode,) in rows),
        frequency=frequency,
        success_rate=rate(successes, measured),
    )
