"""Forgetting the sessions of tasks: what plans, other tasks' lineage and the hand-off files say of them goes as well.

The task keeps its number and its status in the plan, since other tasks wait for it; its words go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_graph.database import ANY_OF, as_list, erase_traces
from helix_graph.helix_db import HELIX_DB, HelixDatabase
from helix_graph.plans.assessment import forget_attempts
from helix_graph.plans.handoff_files import HandoffFiles
from helix_graph.plans.model import Lineage, Workspace
from helix_graph.plans.schema import PLAN_TABLES
from helix_graph.plans.store import as_json, change_task, named, require_plan, workspace_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path


#: What stands where the words of a forgotten task stood.
FORGOTTEN = "(forgotten)"


def forget_tasks(root: Path, sessions: Iterable[str], *, path: Path) -> int:
    """Removes the workspaces in the database at ``path`` whose episodes these sessions are, and all that tells of them.

    The answer is how many there were.
    """
    database = HelixDatabase(path, PLAN_TABLES)
    episodes = as_list(f"episode-{session}" for session in sessions)
    with database.reading() as connection:
        cursor = connection.execute(f"SELECT * FROM workspace WHERE episode {ANY_OF}", (episodes,))  # noqa: S608  (constants)
        cursor.row_factory = named
        gone = [workspace_of(row) for row in cursor.fetchall()]
    if not gone:
        return 0
    files = HandoffFiles(root)
    for workspace in gone:
        files.forget_task(workspace.task_id)
    with database.writing() as connection:
        for workspace in gone:
            _forget(connection, workspace)
    erase_traces(path, HELIX_DB)
    return len(gone)


def _forget(connection: sqlite3.Connection, workspace: Workspace) -> None:
    connection.execute("DELETE FROM workspace WHERE id = ?", (workspace.id,))
    forget_attempts(connection, workspace.objective)
    if workspace.plan_id is None:
        return
    plan = require_plan(connection, workspace.plan_id)
    if any(task.seq == workspace.task_seq for task in plan.tasks):
        words = dict.fromkeys(("slug", "objective", "verify", "delivered", "blocked_reason"), FORGOTTEN)
        change_task(connection, plan, workspace.task_seq, **words, delta=())
    _silence_lineage(connection, workspace)


def _silence_lineage(connection: sqlite3.Connection, parent: Workspace) -> None:
    """Takes what a task delivered out of the workspaces of the tasks that were built on it."""
    rows = connection.execute("SELECT id, data FROM workspace WHERE plan_id = ?", (parent.plan_id,)).fetchall()
    for number, data in rows:
        child = msgspec.json.decode(data, type=Workspace)
        parents = tuple(
            replace(one, slug=FORGOTTEN, delivered=FORGOTTEN) if one.seq == parent.task_seq else one
            for one in child.lineage.parents
        )
        if parents != child.lineage.parents:
            quiet = replace(child, lineage=Lineage(parents=parents))
            connection.execute("UPDATE workspace SET data = ? WHERE id = ?", (as_json(quiet), number))
