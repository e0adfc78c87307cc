"""Anchors: references from outside the graph that survive a change of labels.

Each version of the label grammar works out labels again, and with them nodes and their ids. So a reference from outside
stores where it came from: the node's type, the raw text, and the episode, if there was one. The node is looked up at
each question. An anchor that finds none is kept by its owner: the episode may be on another machine, or come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from helix_graph.graph.model import NodeType, node_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator


#: ``episode`` anchors a whole session: what was learnt there rests on no single step of it.
AnchorType = Literal[NodeType, "episode"]
ANCHOR_TYPES: tuple[str, ...] = (*get_args(NodeType), "episode")


class NodeAnchor(msgspec.Struct, frozen=True, kw_only=True):
    """What is spoken of: ``type``, the raw ``text`` (or a label), and the id of the ``episode`` it is from, or ""."""

    type: str
    text: str
    episode: str = ""


class AnchoredNode(msgspec.Struct, frozen=True, kw_only=True):
    """The node of an anchor now; ``command`` and ``path`` are those of the step it was made from, where it has any."""

    node: str
    type: str
    label: str
    command: str | None = None
    path: str | None = None


class NodeExample(msgspec.Struct, frozen=True, kw_only=True):
    """A node, with an anchor that leads to it: its first mention, by episode."""

    node: str
    label: str
    anchor: NodeAnchor


_STEP = (
    "SELECT n.id, n.type, n.label, m.command, m.path FROM mention m JOIN node n ON n.number = m.node"
    " JOIN episode e ON e.number = m.episode"
)


def find_anchored(connection: sqlite3.Connection, anchors: Iterable[NodeAnchor]) -> dict[NodeAnchor, AnchoredNode]:
    """The node of each anchor that has one."""
    found = ((anchor, _find(connection, anchor)) for anchor in anchors)
    return {anchor: node for anchor, node in found if node is not None}


def examples(connection: sqlite3.Connection, types: Iterable[str]) -> Iterator[NodeExample]:
    """The nodes of these types, by type and label, each with an anchor."""
    query = (
        "SELECT n.id, n.label, m.raw, min(e.id) FROM node n JOIN mention m ON m.node = n.number"
        " JOIN episode e ON e.number = m.episode"
        " WHERE n.type = ? AND e.origin <> 'assertion' GROUP BY n.number ORDER BY n.label"
    )
    for kind in types:
        for identity, label, raw, episode in connection.execute(query, (kind,)):
            anchor = NodeAnchor(type=kind, text=raw or label, episode=episode)
            yield NodeExample(node=identity, label=label, anchor=anchor)


def _find(connection: sqlite3.Connection, anchor: NodeAnchor) -> AnchoredNode | None:
    if anchor.type == "episode":
        return _session(connection, anchor)
    if anchor.episode:
        return _step(connection, anchor, "e.id = ?", anchor.episode)
    return _labelled(connection, anchor) or _step(connection, anchor, "? = ''", "")


def _session(connection: sqlite3.Connection, anchor: NodeAnchor) -> AnchoredNode | None:
    row = connection.execute("SELECT id, task FROM episode WHERE id = ?", (anchor.episode,)).fetchone()
    return AnchoredNode(node=row[0], type="episode", label=row[1]) if row else None


def _step(connection: sqlite3.Connection, anchor: NodeAnchor, condition: str, value: str) -> AnchoredNode | None:
    """The step of that very text; its label will do, since an outcome has no other text."""
    query = f"{_STEP} WHERE {condition} AND n.type = ? AND (m.raw = ? OR n.label = ?) ORDER BY e.id, m.local LIMIT 1"
    row = connection.execute(query, (value, anchor.type, anchor.text, anchor.text)).fetchone()
    return AnchoredNode(node=row[0], type=row[1], label=row[2], command=row[3], path=row[4]) if row else None


def _labelled(connection: sqlite3.Connection, anchor: NodeAnchor) -> AnchoredNode | None:
    row = connection.execute(
        "SELECT id, type, label FROM node WHERE id = ?", (node_id(_as_type(anchor.type), anchor.text),)
    ).fetchone()
    return AnchoredNode(node=row[0], type=row[1], label=row[2]) if row else None


def _as_type(kind: str) -> NodeType:
    return next(one for one in get_args(NodeType) if one == kind)
