"""Explorations, plans and workspaces as rows of helix.db.

Functions that take a connection are steps of the caller's transaction; the others are transactions of their own. Of a
workspace, ``data`` holds what its builder got, and the columns what became of it. What agents pass in is stored without
secrets, and on one line where it has to stay on one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import NotFound
from helix_episodes.light_imports import blake2b
from helix_episodes.msgspec_types import ready
from helix_episodes.redaction import for_disk
from helix_episodes.safe_files import remove_file
from helix_graph.database import insert_row
from helix_graph.helix_db import stamp, utc_now
from helix_graph.plans.git_tree import Baseline
from helix_graph.plans.handoff_files import HandoffFiles
from helix_graph.plans.model import (
    CompletedPlan,
    EndedWorkspace,
    Exploration,
    PlanError,
    SavedPlan,
    Task,
    TaskPlan,
    Workspace,
    WorkspaceEnding,
)
from helix_graph.plans.schema import PlanContext, database
from helix_graph.validation import as_int, as_line

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.plans.plan_checks import PlanDraft


#: SQLite's largest row number.
_LARGEST = 2**63 - 1
_COLUMNS = "id, objective, framework, idioms, tasks, status, created_at"


def number_of(option: str, number: int) -> int:
    """A row's number."""
    return as_int(option, number, lowest=0, highest=_LARGEST)


def save_plan(root: Path, draft: PlanDraft) -> SavedPlan:
    """Keeps a plan; from now on it is the active one."""
    values = {
        "objective": draft.objective,
        "framework": draft.framework,
        "idioms": as_json(draft.idioms),
        "tasks": as_json(draft.tasks),
        "created_at": stamp(utc_now()),
    }
    with database(root).writing() as connection:
        return SavedPlan(id=insert_row(connection, "plan", values), task_count=len(draft.tasks))


def find_plan(root: Path, number: int | None) -> TaskPlan | None:
    """The plan of that number, or the newest active one; None when there is none."""
    with database(root).reading() as connection:
        return plan_within(connection, number)


def plan_within(connection: sqlite3.Connection, number: int | None) -> TaskPlan | None:
    """As `find_plan`, within a transaction."""
    where, values = ("status = 'active'", ()) if number is None else ("id = ?", (number_of("plan", number),))
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM plan WHERE {where} ORDER BY id DESC LIMIT 1",  # noqa: S608  (both parts stand above)
        values,
    ).fetchone()
    if row is None and number is not None:
        raise _no_plan(number)
    return row and _plan(row)


def _no_plan(number: int | None) -> NotFound:
    """That there is no plan of that number, or for None that none is active."""
    what = "no plan is active" if number is None else f"no plan {number}"
    return NotFound(f"{what}; `helix-graph plan save FILE` saves one")


def require_plan(connection: sqlite3.Connection, number: int | None) -> TaskPlan:
    """As `plan_within`, but having none is an error."""
    plan = plan_within(connection, number)
    if plan is None:
        raise _no_plan(number)
    return plan


def task_in(plan: TaskPlan, seq: str) -> Task:
    """The task of that number."""
    for task in plan.tasks:
        if task.seq == seq:
            return task
    known = ", ".join(task.seq for task in plan.tasks) or "none"
    raise NotFound(f"plan {plan.id} has no task {seq!r}; it has {known}")


def change_task(connection: sqlite3.Connection, plan: TaskPlan, seq: str, **changes: Any) -> None:  # noqa: ANN401  (fields of a task)
    """Gives a task of the plan new values."""
    task_in(plan, seq)
    tasks = [replace(task, **changes) if task.seq == seq else task for task in plan.tasks]
    connection.execute("UPDATE plan SET tasks = ? WHERE id = ?", (as_json(tasks), plan.id))


def complete(context: PlanContext, plan: int | None = None) -> CompletedPlan:
    """Closes a plan, whatever is left of it; the tasks left undone are named."""
    with database(context.root).writing() as connection:
        found = require_plan(connection, plan)
        connection.execute("UPDATE plan SET status = 'complete' WHERE id = ?", (found.id,))
    unfinished = tuple(task.seq for task in found.tasks if task.status != "complete")
    return CompletedPlan(plan_id=found.id, unfinished=unfinished)


def _plan(row: tuple[Any, ...]) -> TaskPlan:
    number, objective, framework, idioms, tasks, status, created_at = row
    return TaskPlan(
        id=number,
        objective=objective,
        framework=framework,
        idioms=msgspec.json.decode(idioms, type=ready(dict[str, tuple[str, ...]])),
        tasks=msgspec.json.decode(tasks, type=ready(tuple[Task, ...])),
        status=status,
        created_at=created_at,
    )


def as_json(value: object) -> str:
    """A value for a column."""
    return msgspec.json.encode(for_disk(msgspec.to_builtins(value))).decode()


def named(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    """A row by the names of its columns, as a cursor's factory of rows."""
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def find_row(connection: sqlite3.Connection, number: int) -> dict[str, Any]:
    """The row of a workspace."""
    cursor = connection.execute("SELECT * FROM workspace WHERE id = ?", (number_of("workspace", number),))
    row = cursor.fetchone()
    if row is None:
        raise NotFound(f"no workspace {number}; `helix-graph workspace create SEQ` makes one")
    return named(cursor, row)


def workspace_of(row: dict[str, Any]) -> Workspace:
    """What was given stands in ``data``; what has become of it in the columns."""
    return replace(
        msgspec.json.decode(row["data"], type=ready(Workspace)),
        status=row["status"],
        delivered=row["delivered"],
        utilized=msgspec.json.decode(row["utilized"], type=ready(tuple[str, ...])),
    )


def baseline_of(row: dict[str, Any]) -> Baseline | None:
    """What the working tree was like when the workspace was made; None where there was no repository."""
    return msgspec.json.decode(row["baseline"], type=ready(Baseline | None))


def ended_of(row: dict[str, Any]) -> EndedWorkspace:
    """How a workspace ended, once all it owed is paid."""
    found, ending = workspace_of(row), msgspec.json.decode(row["ending"], type=ready(WorkspaceEnding))
    return EndedWorkspace(
        status=found.status,
        workspace_id=found.id,
        delivered=ending.told if found.status == "complete" else "",
        reason=ending.told if found.status == "blocked" else "",
        utilized=found.utilized,
        feedback=msgspec.json.decode(row["feedback"]),
        episode=row["episode"],
    )


class SavedExploration(msgspec.Struct, frozen=True, kw_only=True):
    """What saving an exploration answers."""

    id: int
    status: Literal["saved"] = "saved"


class ClearedExplorations(msgspec.Struct, frozen=True, kw_only=True):
    """What clearing answers: how many explorations and how many results of explorers were removed."""

    status: Literal["cleared"] = "cleared"
    explorations: int = 0
    results: int = 0


class Explorations:
    """The explorations of the memory in ``root``; the newest counts."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def save(self, data: Mapping[str, Any], *, objective: str | None = None) -> SavedExploration:
        """Saves what was found: structure, patterns, memory, targets, or whatever the explorers were asked for.

        Args:
            data: A JSON object.
            objective: What it was for; the ``objective`` in ``data``, when not given.

        Raises:
            PlanError: ``data`` is no JSON object, or nothing says what it is for.
        """
        found = _object(data)
        purpose = found.get("objective") if objective is None else objective
        if not isinstance(purpose, str):
            raise _not_an_exploration("it does not say what it is for: objective is missing")
        objective, text = as_line("objective", purpose), as_json(found)
        values = {
            "objective": objective,
            "data": text,
            "created_at": stamp(utc_now()),
            "digest": _digest(objective.encode(), text.encode()),
        }
        with database(self.root).writing() as connection:
            return SavedExploration(id=insert_row(connection, "exploration", values))

    def load(self) -> Exploration | None:
        """The newest exploration; None when there is none.

        Raises:
            PlanError: It is not what was saved.
        """
        with database(self.root).reading() as connection:
            row = connection.execute(f"{_EXPLORATIONS} DESC LIMIT 1").fetchone()
        if row is None:
            return None
        if (found := _as_saved(*row)) is None:
            damaged = f"exploration {row[0]} is not what was saved"
            raise PlanError(f"{damaged}; explore again, or remove it with `helix-graph exploration clear`")
        return found

    def last_saved(self) -> str | None:
        """When the newest was saved; None when there is none."""
        with database(self.root).reading() as connection:
            row = connection.execute("SELECT created_at FROM exploration ORDER BY id DESC LIMIT 1").fetchone()
        return row and str(row[0])

    def unreadable(self) -> list[int]:
        """The ids of explorations that are not what was saved any more."""
        with database(self.root).reading() as connection:
            rows = connection.execute(_EXPLORATIONS).fetchall()
        return [row[0] for row in rows if _as_saved(*row) is None]

    def clear(self) -> ClearedExplorations:
        """Forgets all explorations, and the results that explorers left behind, so that the next wave starts again."""
        with database(self.root).writing() as connection:
            gone = connection.execute("DELETE FROM exploration").rowcount
        results = sum(remove_file(path) for path in HandoffFiles(self.root).result_files())
        return ClearedExplorations(explorations=gone, results=results)


#: Bytes, because a text that is damaged may be no text.
_EXPLORATIONS = (
    "SELECT id, CAST(objective AS BLOB), CAST(data AS BLOB), created_at, digest FROM exploration ORDER BY id"
)


def _as_saved(number: int, objective: bytes, data: bytes, created_at: str, digest: str) -> Exploration | None:
    """An exploration, or None of one that is not what was saved."""
    if digest and digest != _digest(objective, data):
        return None
    try:
        found = msgspec.json.decode(data, type=dict[str, Any])
        return Exploration(id=number, objective=objective.decode(), data=found, created_at=created_at)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _digest(objective: bytes, data: bytes) -> str:
    return blake2b(objective + b"\0" + data, digest_size=16).hexdigest()


def _not_an_exploration(problem: str) -> PlanError:
    """What to raise of findings that are no JSON object, or do not say what they are for."""
    return PlanError(f"not an exploration: {problem}; give a JSON object")


def _object(data: object) -> dict[str, Any]:
    try:
        found = for_disk(msgspec.to_builtins(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise _not_an_exploration(str(error)) from error
    if not isinstance(found, dict):
        raise _not_an_exploration(f"it is of type {type(data).__name__}")
    return found
