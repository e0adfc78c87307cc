"""status: how large the graph is, and whether its labels are any good.

Labels are good when sessions meet in them without everything meeting in one. Four figures watch that:

``mentions_per_node``  how often a label recurs
``shared_mentions``    share of mentions whose label another episode has too: what can be learnt from others
``largest_label``      the commonest label and its share of mentions: near the whole, it says nothing
``isolated_share``     share of the labels of decisions and errors that no link joins to another label

Outcomes are left out of all four: there are only three of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.model import latest_time, sortable_time
from helix_graph.graph.graph_db import EXPORT_NAME, EXPORT_VERSION, FILE_NAME, LABEL_VERSION
from helix_graph.graph.source_files import scan
from helix_graph.graph.store import updated

if TYPE_CHECKING:
    import sqlite3


class LargestLabel(msgspec.Struct, frozen=True, kw_only=True):
    """The commonest label and its share of all mentions, 0 to 1."""

    label: str
    type: str
    share: float


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The graph in figures. Shares are 0 to 1, and None where there is nothing to share.

    ``outcomes`` counts episodes by basis and outcome. ``revisions`` counts those ``assertions`` that were derived
    from later sessions; people made the others. ``skipped`` and ``pending`` count files that could not be read, and
    that have changed since the last compile. ``updated`` is the time of the
    newest episode or assertion, ``newest_episode`` that of the newest episode that is not ``ahead``: so many are dated
    in the future.
    """

    episodes: int
    nodes: int
    edges: int
    mentions: int
    assertions: int
    revisions: int
    patterns: int
    mentions_per_node: float | None
    largest_label: LargestLabel | None
    shared_mentions: float | None
    isolated_share: float | None
    node_types: dict[str, int]
    edge_types: dict[str, int]
    reasons: dict[str, int]
    outcomes: dict[str, dict[str, int]]
    skipped: int
    pending: int
    version: str
    label_version: str
    updated: str | None
    newest_episode: str | None
    ahead: int = 0
    episodes_path: str
    graph_path: str
    export_path: str


def find_status(connection: sqlite3.Connection, *, episodes: Path, causality: Path, pending: int) -> Status:
    """The figures of an open graph.db; ``pending`` is how many files have changed since it was compiled."""
    newest, ahead = connection.execute(
        "SELECT max(timestamp) FILTER (WHERE moment BETWEEN '0' AND ?1), count(*) FILTER (WHERE moment > ?1)"
        " FROM episode WHERE origin = 'episode'",
        (sortable_time(latest_time().isoformat()),),
    ).fetchone()
    named, mentions, shared = connection.execute(
        "SELECT count(*), coalesce(sum(mentions), 0), coalesce(sum(mentions) FILTER (WHERE episodes > 1), 0)"
        " FROM node WHERE type <> 'outcome'"
    ).fetchone()
    isolated, connectable = connection.execute(  # a link from a label to itself joins it to nothing
        "SELECT coalesce(sum(NOT EXISTS (SELECT 1 FROM edge WHERE source = number AND target <> number)"
        " AND NOT EXISTS (SELECT 1 FROM edge WHERE target = number AND source <> number)), 0), count(*)"
        " FROM node WHERE type IN ('decision', 'error')"
    ).fetchone()
    row = connection.execute(
        "SELECT label, type, mentions FROM node WHERE type <> 'outcome' ORDER BY mentions DESC, label, type LIMIT 1"
    ).fetchone()
    return Status(
        episodes=_count(connection, "episode WHERE origin = 'episode'"),
        assertions=_count(connection, "assertion WHERE problem IS NULL"),
        revisions=_count(
            connection, "assertion WHERE problem IS NULL AND json_extract(CAST(body AS TEXT), '$.kind') = 'revision'"
        ),
        nodes=_count(connection, "node"),
        edges=_count(connection, "edge"),
        mentions=_count(connection, "mention"),
        patterns=_count(connection, "pattern"),
        mentions_per_node=mentions / named if named else None,
        largest_label=LargestLabel(label=row[0], type=row[1], share=row[2] / mentions) if row else None,
        shared_mentions=shared / mentions if mentions else None,
        isolated_share=isolated / connectable if connectable else None,
        node_types=_counts(connection, "node", "type"),
        edge_types=_counts(connection, "edge", "type"),
        reasons=_counts(connection, "claim", "reason"),
        outcomes=_outcomes(connection),
        skipped=sum(_count(connection, f"{table} WHERE problem IS NOT NULL") for table in ("file", "assertion")),
        pending=pending,
        version=EXPORT_VERSION,
        label_version=LABEL_VERSION,
        updated=updated(connection),
        newest_episode=newest,
        ahead=ahead,
        episodes_path=str(episodes),
        graph_path=str(causality / FILE_NAME),
        export_path=str(causality / EXPORT_NAME),
    )


def original_status(
    connection: sqlite3.Connection | None, *, episodes: Path, causality: Path
) -> dict[str, dict[str, Any]]:
    """The original's status with its own keys; without a graph there are no nodes, edges and patterns yet."""
    files = len(scan(episodes))
    counts = {name: _count(connection, name.lower()[:-1]) if connection else 0 for name in _COUNTED}
    return {
        "Episodes": {"Path": str(episodes), "Count": files},
        "CausalGraph": {
            "Path": str(causality / EXPORT_NAME),
            "Version": EXPORT_VERSION,
            "Updated": updated(connection) if connection else None,
            **counts,
        },
        "Configuration": {"EpisodesPath": str(episodes), "CausalityPath": str(causality)},
    }


_COUNTED = ("Nodes", "Edges", "Patterns")


def _count(connection: sqlite3.Connection, rows: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])  # noqa: S608  (our tables and conditions)


def _counts(connection: sqlite3.Connection, table: str, column: str) -> dict[str, int]:
    query = f"SELECT {column}, count(*) FROM {table} GROUP BY {column} ORDER BY {column}"  # noqa: S608  (our own names)
    return dict(connection.execute(query).fetchall())


def _outcomes(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
    outcomes: dict[str, dict[str, int]] = {}
    rows = connection.execute(
        "SELECT basis, outcome, count(*) FROM episode WHERE origin = 'episode'"
        " GROUP BY basis, outcome ORDER BY basis, outcome"
    )
    for basis, outcome, count in rows:
        outcomes.setdefault(basis, {})[outcome] = count
    return outcomes
