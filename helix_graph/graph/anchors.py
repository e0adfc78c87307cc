"""Anchors: references from outside the graph that survive a change of labels.

Each version of the label grammar works out labels again, and with them nodes and their ids. So an anchor stores where
it came from: the node's type, the raw text, and the episode, if there was one; the node is looked up at each question.
An anchor that finds none is kept by its owner: the episode may be on another machine, or come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

from helix_graph.graph.model import NodeType

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

#: ``episode`` anchors a whole session: what was learnt there rests on no single step of it.
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
    row = None
    if anchor.type == "episode":
        query = "SELECT id, 'episode', task, NULL, NULL FROM episode WHERE id = ?"
        row = connection.execute(query, (anchor.episode,)).fetchone()
    elif not anchor.episode:
        query = "SELECT id, type, label, NULL, NULL FROM node WHERE type = ? AND label = ?"
        row = connection.execute(query, (anchor.type, anchor.text)).fetchone()
    if row is None and anchor.type != "episode":
        within = "e.id = ?" if anchor.episode else "? = ''"
        query = f"{_STEP} WHERE {within} AND n.type = ? AND (m.raw = ? OR n.label = ?) ORDER BY e.id, m.local LIMIT 1"
        row = connection.execute(query, (anchor.episode, anchor.type, anchor.text, anchor.text)).fetchone()
    return AnchoredNode(**dict(zip(AnchoredNode.__struct_fields__, row, strict=True))) if row else None
