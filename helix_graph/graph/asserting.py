"""Asserting by hand: the original API's ``Add-…`` functions and its causal path, over an open graph.db.

Every value is checked (`helix_graph.given`), and secrets are cut before anything is kept.
What comes back are plain dicts with the original's keys, ours behind them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import msgspec

from helix_episodes.model import EdgeType
from helix_graph.errors import AmbiguousNode, EmptyText, NodeNotFound, SameNode, SameTriggerAndAction
from helix_graph.given import one_of, prose, share, text
from helix_graph.graph.assertions import (
    EdgeAssertion,
    NodeAssertion,
    NodeName,
    PatternAssertion,
    now,
)
from helix_graph.graph.facts import node_id
from helix_graph.graph.model import NodeType
from helix_graph.graph.nodes import Node, row_of
from helix_graph.graph.weights import mean_weight

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.paths import PathAnswer

NODE_TYPES: tuple[NodeType, ...] = get_args(NodeType)
EDGE_TYPES: tuple[EdgeType, ...] = get_args(EdgeType)
EPISODE_PREFIX = "episode-"


def node_assertion(
    connection: sqlite3.Connection,
    *,
    type: str,  # noqa: A002  (the original's word)
    label: str,
    episode: str | None,
) -> NodeAssertion:
    """A node to assert. A label that the graph has in another case is the same label.

    Raises:
        EmptyText: The label or the episode is empty.
        NotOneOf: The type is none of the five.
        WrongType: An argument is none of its kind.
        ControlCharacter: The label holds one.
    """
    kind: NodeType = one_of("type", type, NODE_TYPES)
    plain = text("label", label)
    named = None if episode is None else episode_id(episode)
    return NodeAssertion(type=kind, label=_known_spelling(connection, kind, plain), episode=named, asserted_at=now())


def edge_assertion(
    connection: sqlite3.Connection,
    *,
    source: str,
    target: str,
    type: str,  # noqa: A002  (as above)
    weight: float,
) -> EdgeAssertion:
    """An edge to assert between two nodes, each named by its id or its whole label.

    Raises:
        NodeNotFound: One of the nodes does not exist.
        AmbiguousNode: One of the labels belongs to several nodes.
        NotOneOf: The type is none of the four.
        OutOfRange: The weight is not between 0 and 1.
        SameNode: Both ends are one node.
        WrongType: An argument is none of its kind.
        ControlCharacter: One of the labels holds one.
    """
    kind: EdgeType = one_of("type", type, EDGE_TYPES)
    sure = share("weight", weight)
    start = _node("source_id", connection, text("source_id", source))
    end = _node("target_id", connection, text("target_id", target))
    if start == end:
        raise SameNode(start.label)
    return EdgeAssertion(source=start, target=end, type=kind, weight=sure, asserted_at=now())


def pattern_assertion(
    *, name: str, trigger: str, action: str, description: str, success_rate: float | None
) -> PatternAssertion:
    """A pattern to assert.

    Raises:
        EmptyText: Name, trigger or action is empty.
        OutOfRange: The success rate is not between 0 and 1.
        SameTriggerAndAction: Trigger and action are the same text.
        WrongType: An argument is none of its kind.
        ControlCharacter: One of the texts holds one.
    """
    given, answer = text("trigger", trigger), text("action", action)
    if given.casefold() == answer.casefold():
        raise SameTriggerAndAction(given)
    return PatternAssertion(
        name=text("name", name),
        trigger=given,
        action=answer,
        description=" ".join(prose("description", description).split()),
        success_rate=None if success_rate is None else share("success_rate", success_rate),
        asserted_at=now(),
    )


def edge_row(connection: sqlite3.Connection, edge: EdgeAssertion) -> dict[str, Any]:
    """An edge with the original's keys, then ours."""
    source, target = node_id(edge.source.type, edge.source.label), node_id(edge.target.type, edge.target.label)
    where = (
        " JOIN node s ON s.number = x.source JOIN node t ON t.number = x.target"
        " WHERE s.id = ? AND t.id = ? AND x.type = ?"
    )
    weight_sum, claims, episodes = connection.execute(
        f"SELECT weight_sum, claims, x.episodes FROM edge x{where}",  # noqa: S608  (a constant)
        (source, target, edge.type),
    ).fetchone()
    reasons = connection.execute(
        f"SELECT DISTINCT reason FROM claim x{where} ORDER BY reason",  # noqa: S608  (as above)
        (source, target, edge.type),
    )
    return {
        "source": source,
        "target": target,
        "type": edge.type,
        "weight": mean_weight(weight_sum, claims),
        "evidence_count": episodes,
        "reasons": [reason for (reason,) in reasons],
        "status": "asserted",
    }


def path_row(answer: PathAnswer) -> dict[str, Any]:
    """A path with the original's keys: ``depth`` only when it was found, ``error`` only when not."""
    nodes = [row_of(node) for node in answer.path if isinstance(node, Node)]
    if answer.found:
        return {"found": True, "path": nodes, "depth": answer.depth}
    error = answer.error or ""
    return {"found": False, "path": [], "error": error.partition(":")[0], "hint": answer.hint}


def episode_id(name: str) -> str:
    """An episode's id from it or from its session's.

    Raises:
        EmptyText: It is empty.
        InvalidSessionId: It could not name a file.

    >>> episode_id("2026-01-01-session-126")
    'episode-2026-01-01-session-126'
    """
    from helix_episodes.store import check_session_id  # noqa: PLC0415  (questions do without)

    session = text("episode", name).removeprefix(EPISODE_PREFIX)
    if not session:
        raise EmptyText("episode")
    return EPISODE_PREFIX + check_session_id(session)


def _known_spelling(connection: sqlite3.Connection, kind: NodeType, label: str) -> str:
    rows = connection.execute(
        "SELECT label FROM node WHERE type = ? AND folded = ? ORDER BY label = ? DESC, label",
        (kind, label.casefold(), label),
    )
    return next((known for (known,) in rows), label)


def _node(option: str, connection: sqlite3.Connection, name: str) -> NodeName:
    """The node of an id or of a whole label; a label in another case serves when none has it as written."""
    rows = connection.execute(
        "SELECT id, type, label FROM node WHERE id = ?1 OR folded = ?2 ORDER BY type, label", (name, name.casefold())
    ).fetchall()
    exact = [row for row in rows if name in {row[0], row[2]}] or rows
    if not exact:
        raise NodeNotFound(option, name=name)
    if len(exact) > 1:
        raise AmbiguousNode(option, name=name, ids=[f"{row[0]} ({row[1]})" for row in exact])
    return msgspec.convert({"type": exact[0][1], "label": exact[0][2]}, NodeName)
