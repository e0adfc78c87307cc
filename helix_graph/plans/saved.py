"""Plans as they stand in helix.db: written, read, and their tasks brought up to date, each in one transaction.

The functions that take a connection are steps of somebody's transaction; the others are transactions of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_graph.given import whole
from helix_graph.insights.clock import now, stamp
from helix_graph.plans.errors import NoPlan, NoTask
from helix_graph.plans.model import CompletedPlan, Plan, SavedPlan, Task
from helix_graph.plans.tables import database

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from helix_graph.plans.drafts import Draft

#: SQLite's largest row number.
_LARGEST = 2**63 - 1
_COLUMNS = "id, objective, framework, idioms, tasks, status, created_at"


def number_of(option: str, number: int) -> int:
    """A row's number.

    Raises:
        WrongType: It is no whole number.
        OutOfRange: No row can have it.
    """
    return whole(option, number, lowest=0, highest=_LARGEST)


def save_plan(root: Path, draft: Draft) -> SavedPlan:
    """Keeps a plan; from now on it is the active one."""
    row = (draft.objective, draft.framework, _json(draft.idioms), _json(draft.tasks), stamp(now()))
    with database(root).writing() as connection:
        made = connection.execute(
            "INSERT INTO plan (objective, framework, idioms, tasks, created_at) VALUES (?, ?, ?, ?, ?)", row
        )
        return SavedPlan(id=made.lastrowid or 0, task_count=len(draft.tasks))


def find_plan(root: Path, number: int | None) -> Plan | None:
    """The plan of that number, or the newest active one; None when there is none.

    Raises:
        NoPlan: A number was given that no plan has.
    """
    with database(root).reading() as connection:
        return plan_within(connection, number)


def plan_within(connection: sqlite3.Connection, number: int | None) -> Plan | None:
    """As `find_plan`, within a transaction."""
    where, values = ("status = 'active'", ()) if number is None else ("id = ?", (number,))
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM plan WHERE {where} ORDER BY id DESC LIMIT 1",  # noqa: S608  (both parts stand above)
        values,
    ).fetchone()
    if row is None and number is not None:
        raise NoPlan(number)
    return row and _plan(row)


def require_plan(connection: sqlite3.Connection, number: int | None) -> Plan:
    """As `plan_within`, but having none is an error.

    Raises:
        NoPlan: There is none.
    """
    plan = plan_within(connection, number)
    if plan is None:
        raise NoPlan(number)
    return plan


def task_in(plan: Plan, seq: str) -> Task:
    """The task of that number.

    Raises:
        NoTask: The plan has none.
    """
    for task in plan.tasks:
        if task.seq == seq:
            return task
    raise NoTask(seq, plan=plan.id, known=[task.seq for task in plan.tasks])


def change_task(connection: sqlite3.Connection, plan: Plan, seq: str, **changes: Any) -> None:  # noqa: ANN401  (fields of a task)
    """Gives a task of the plan new values.

    Raises:
        NoTask: The plan has no such task.
    """
    task_in(plan, seq)
    tasks = [replace(task, **changes) if task.seq == seq else task for task in plan.tasks]
    connection.execute("UPDATE plan SET tasks = ? WHERE id = ?", (_json(tasks), plan.id))


def close_plan(root: Path, number: int | None) -> CompletedPlan:
    """Closes a plan, whatever state its tasks are in.

    Raises:
        NoPlan: There is none.
    """
    with database(root).writing() as connection:
        plan = require_plan(connection, number)
        connection.execute("UPDATE plan SET status = 'complete' WHERE id = ?", (plan.id,))
    unfinished = tuple(task.seq for task in plan.tasks if task.status != "complete")
    return CompletedPlan(plan_id=plan.id, unfinished=unfinished)


def _plan(row: tuple[Any, ...]) -> Plan:
    number, objective, framework, idioms, tasks, status, created_at = row
    return Plan(
        id=number,
        objective=objective,
        framework=framework,
        idioms=msgspec.json.decode(idioms, type=dict[str, tuple[str, ...]]),
        tasks=msgspec.json.decode(tasks, type=tuple[Task, ...]),
        status=status,
        created_at=created_at,
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
