"""Workspaces as rows of helix.db: what was given stands in ``data``, what has become of it in the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_graph.plans.changes import Baseline
from helix_graph.plans.errors import NoWorkspace
from helix_graph.plans.model import EndedWorkspace, Ending, Workspace
from helix_graph.plans.saved import number_of

if TYPE_CHECKING:
    import sqlite3


def as_json(value: object) -> str:
    """A value for a column."""
    return msgspec.json.encode(value).decode()


def named(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    """A row by the names of its columns, as a cursor's factory of rows."""
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def find_row(connection: sqlite3.Connection, number: int) -> dict[str, Any]:
    """The row of a workspace.

    Raises:
        NoWorkspace: There is none of that number.
    """
    cursor = connection.execute("SELECT * FROM workspace WHERE id = ?", (number_of("workspace", number),))
    row = cursor.fetchone()
    if row is None:
        raise NoWorkspace(number)
    return named(cursor, row)


def workspace_of(row: dict[str, Any]) -> Workspace:
    """What was given stands in ``data``; what has become of it in the columns."""
    return replace(
        msgspec.json.decode(row["data"], type=Workspace),
        status=row["status"],
        delivered=row["delivered"],
        utilized=msgspec.json.decode(row["utilized"], type=tuple[str, ...]),
    )


def baseline_of(row: dict[str, Any]) -> Baseline | None:
    """What the working tree was like when the workspace was made; None where there was no repository."""
    return msgspec.json.decode(row["baseline"], type=Baseline | None)


def ended_of(row: dict[str, Any]) -> EndedWorkspace:
    """How a workspace ended, once all it owed is paid."""
    found, ending = workspace_of(row), msgspec.json.decode(row["ending"], type=Ending)
    return EndedWorkspace(
        status=found.status,
        workspace_id=found.id,
        delivered=ending.told if found.status == "complete" else "",
        reason=ending.told if found.status == "blocked" else "",
        utilized=found.utilized,
        feedback=msgspec.json.decode(row["feedback"]),
        episode=row["episode"],
    )
