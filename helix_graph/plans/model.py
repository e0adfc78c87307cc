"""What a plan, a task and a workspace are, as frozen values, and the errors of this package.

The fields are the seeds' (``docs/how-to/plans.md`` has the table). Names that begin with an underscore in JSON say what
became of a workspace; the others are what its builder gets.

::

    HelixGraphError              (helix_episodes.errors)
    └── PlanError                    a complete task, or an exploration that is no JSON object
        ├── InvalidPlan              a plan or task that cannot be carried out: the offending part is named
        └── NoWorkTree               the working tree cannot be compared: no git, or not its folder
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from helix_episodes.errors import HelixGraphError

TaskStatus = Literal["pending", "active", "complete", "blocked"]
PlanState = Literal["none", "complete", "in_progress", "stuck", "all_blocked"]
WorkspaceStatus = Literal["active", "complete", "blocked"]
#: How an agent's work can end for the insights that it was given.
AgentOutcome = Literal["delivered", "blocked", "plan_complete"]

TASK_STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)
#: What the seeds write for a task that waits for none.
NO_PARENTS = "none"
#: Of a task that names none: the middle of the seeds' range for builders (5 to 9 tool calls).
DEFAULT_BUDGET = 7


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a plan. ``depends`` is ``none``, or the numbers of other tasks with commas between them."""

    seq: str
    slug: str
    objective: str
    delta: tuple[str, ...] = ()
    verify: str = ""
    depends: str = NO_PARENTS
    budget: int = DEFAULT_BUDGET
    status: TaskStatus = "pending"
    delivered: str = ""
    blocked_reason: str = ""
    utilized_memories: tuple[str, ...] = ()

    @property
    def parents(self) -> tuple[str, ...]:
        """The numbers of the tasks that have to be complete first."""
        return parents_in(self.depends)


class TaskPlan(msgspec.Struct, frozen=True, kw_only=True):
    """An objective, taken apart into tasks."""

    id: int
    objective: str
    framework: str | None = None
    idioms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    tasks: tuple[Task, ...] = ()
    status: Literal["active", "complete"] = "active"
    created_at: str = ""


class SavedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What saving a plan answers."""

    id: int
    task_count: int


class UpdatedTask(msgspec.Struct, frozen=True, kw_only=True):
    """What updating a task answers."""

    status: Literal["updated"] = "updated"
    task_seq: str


class CompletedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What closing a plan answers; ``unfinished`` are the tasks that it leaves undone."""

    status: Literal["complete"] = "complete"
    plan_id: int
    unfinished: tuple[str, ...] = ()


class Unreachable(msgspec.Struct, frozen=True, kw_only=True):
    """A task that can never become ready, and the blocked ones that keep it so, directly or through others."""

    seq: str
    blocked_by: tuple[str, ...]


class PlanStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How far a plan is. ``stalled``: nothing is ready and nobody works, though tasks are left; ``reason`` says why."""

    state: PlanState
    ready: int = 0
    active: int = 0
    complete: int = 0
    blocked: int = 0
    pending: int = 0
    unreachable: tuple[Unreachable, ...] = ()
    stalled: bool = False
    reason: str = ""


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """What explorers found before planning."""

    objective: str
    data: dict[str, Any]
    id: int = msgspec.field(name="_id")
    created_at: str = msgspec.field(name="_created_at")


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """An insight as it was given to a builder. ``effectiveness`` is the causal-adjusted one, 0 to 1.

    ``said_by`` says who wrote it, where that was no person of this project.
    """

    name: str
    content: str
    effectiveness: float = 0.5
    said_by: str = ""


class Parent(msgspec.Struct, frozen=True, kw_only=True):
    """A completed task that this one builds on, and what it delivered."""

    seq: str
    slug: str
    delivered: str


class Lineage(msgspec.Struct, frozen=True, kw_only=True):
    """The completed parents of a task, in the order in which it names them."""

    parents: tuple[Parent, ...] = ()


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one attempt at one task is given, and what became of it.

    ``task_id`` is what prompts, status lines and hand-off files call the attempt; no other attempt has it.
    """

    task_seq: str
    task_slug: str
    objective: str
    delta: tuple[str, ...] = ()
    verify: str = ""
    budget: int = DEFAULT_BUDGET
    framework: str | None = None
    idioms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    failures: tuple[Remembered, ...] = ()
    patterns: tuple[Remembered, ...] = ()
    lineage: Lineage = Lineage()
    id: int = msgspec.field(name="_id", default=0)
    task_id: str = msgspec.field(name="_task_id", default="")
    plan_id: int | None = msgspec.field(name="_plan_id", default=None)
    status: WorkspaceStatus = msgspec.field(name="_status", default="active")
    delivered: str = msgspec.field(name="_delivered", default="")
    utilized: tuple[str, ...] = msgspec.field(name="_utilized", default=())
    injected: tuple[str, ...] = msgspec.field(name="_injected", default=())
    created_at: str = msgspec.field(name="_created_at", default="")


class WorkspaceEnding(msgspec.Struct, frozen=True, kw_only=True):
    """How a workspace ended: what was told, which insights helped (None: nobody said), what git saw change."""

    told: str
    utilized: tuple[str, ...] | None = None
    verified: bool | None = None
    changed: tuple[tuple[str, str], ...] = ()


class EndedWorkspace(msgspec.Struct, frozen=True, kw_only=True):
    """What completing or blocking a workspace answers, the first time and every other time.

    ``feedback`` is what the insights answered, None when none had been injected. ``episode`` is the id of the task's
    episode.
    """

    status: WorkspaceStatus
    workspace_id: int
    delivered: str = ""
    reason: str = ""
    utilized: tuple[str, ...] = ()
    feedback: dict[str, Any] | None = None
    episode: str = ""


class ScopeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a task has changed so far, against what it may change.

    ``outside`` are the changed files that the delta does not name. ``used`` is None when nobody said how many tool
    calls there were; then ``within_budget`` is None as well: not known.
    """

    workspace_id: int
    delta: tuple[str, ...]
    changed: tuple[str, ...]
    outside: tuple[str, ...]
    within_delta: bool
    budget: int
    used: int | None = None
    within_budget: bool | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is known to be out of bounds."""
        return self.within_delta and self.within_budget is not False


def parents_in(depends: str) -> tuple[str, ...]:
    """The task numbers in the seeds' form of a dependency.

    >>> parents_in("001, 002"), parents_in("none"), parents_in("")
    (('001', '002'), (), ())
    """
    parts = (part.strip() for part in depends.split(","))
    return tuple(dict.fromkeys(part for part in parts if part and part != NO_PARENTS))


class PlanError(HelixGraphError):
    """Something is wrong with a plan, a workspace, or what is asked of them."""


class InvalidPlan(PlanError):
    """A plan that is refused as a whole. ``where`` is the part at fault: ``tasks[2].depends``."""

    def __init__(self, where: str, *, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"not a plan that can be carried out: {where}: {problem}")


class NoWorkTree(PlanError):
    """The changed files could not be determined."""

    def __init__(self, folder: Path, *, problem: str) -> None:
        self.folder = folder
        self.problem = problem
        super().__init__(f"{folder}: its changes cannot be compared with a delta ({problem})")
