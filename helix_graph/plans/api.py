"""The API of `memory.plans`: orchestrated work.

An orchestrator explores (`Plans.explorations`), saves a plan (`Plans.save`), makes a workspace for each ready task
(`Plans.workspaces`), waits for its builders (`Plans.wait_builders`) and learns from each that is done (`Plans.learn`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helix_graph.plans.insight_injection import InjectedNames
from helix_graph.plans.insight_injection import batch_inject as inject_batch
from helix_graph.plans.insight_injection import inject as inject_one
from helix_graph.plans.model import TASK_STATUSES, PlanStatus, SavedPlan, Task, TaskPlan, UpdatedTask
from helix_graph.plans.plan_checks import draft_of, ready_among, status_of, waves_of
from helix_graph.plans.schema import PlanContext, database
from helix_graph.plans.store import Explorations, change_task, find_plan, require_plan, save_plan
from helix_graph.plans.store import complete as complete_plan
from helix_graph.plans.waiting import wait_builders as wait_for_builders
from helix_graph.plans.waiting import wait_explorers as wait_for_explorers
from helix_graph.validation import as_choice, as_str, as_text, as_tuple

if TYPE_CHECKING:
    from helix_graph.plans.agent_results import LearnAnswer
    from helix_graph.plans.attempt_assessment import Assessment
    from helix_graph.plans.workspaces import Workspaces

#: When a transcript is read again that has no report yet, in seconds: the original's pauses.
PAUSES = (0.15, 0.35, 0.75)


class Plans(PlanContext):
    """The orchestrated work of the memory in ``root``; a method that is a function of another module is assigned."""

    @property
    def explorations(self) -> Explorations:
        """What explorers found before planning."""
        return Explorations(self.root)

    @property
    def workspaces(self) -> Workspaces:
        """Attempts at tasks: what a builder is given, and how it ended."""
        from helix_graph.plans.workspaces import Workspaces

        return Workspaces(self)

    def save(self, plan: Mapping[str, Any]) -> SavedPlan:
        """Keeps a plan; from now on it is the active one.

        ``plan`` has ``objective`` and ``tasks``, and may have ``framework`` and ``idioms``. A task has ``objective``,
        and may have ``seq``, ``slug``, ``delta``, ``verify``, ``depends`` and ``budget``; what it lacks is filled in.

        Raises:
            InvalidPlan: A part is missing, unknown or of the wrong kind, two tasks have the same number, a task waits
                for an unknown one, or tasks wait for each other in a circle. The part is named.
        """
        return save_plan(self.root, draft_of(plan))

    def load(self, plan: int | None = None) -> TaskPlan | None:
        """The plan of that number, or the newest active one; None when none is active."""
        return find_plan(self.root, plan)

    def ready(self, plan: int | None = None) -> tuple[Task, ...]:
        """The tasks that can begin now: pending ones whose parents are complete. Empty without a plan."""
        found = self.load(plan)
        return ready_among(found.tasks) if found else ()

    def waves(self, plan: int | None = None) -> tuple[tuple[str, ...], ...]:
        """The numbers of all tasks in waves: those of one wave can be done at once, and wait for earlier waves only."""
        found = self.load(plan)
        return waves_of(found.tasks) if found else ()

    def status(self, plan: int | None = None) -> PlanStatus:
        """How far a plan is, and whether blocked tasks keep the rest from ever being done."""
        found = self.load(plan)
        return status_of(found.tasks) if found else PlanStatus(state="none")

    def update(
        self,
        seq: str,
        *,
        plan: int | None = None,
        status: str | None = None,
        delivered: str | None = None,
        blocked_reason: str | None = None,
        utilized_memories: Sequence[str] | None = None,
    ) -> UpdatedTask:
        """Changes the given fields of a task by hand; a workspace does so when it ends, and gives feedback as well.

        Args:
            seq: The task's number.
            plan: The plan's; the active one by default.
            status: pending, active, complete or blocked.
            delivered: What it delivered.
            blocked_reason: Why it is blocked.
            utilized_memories: The names of the insights that helped.

        Raises:
            InvalidArgument: The status is not one of the four. A text contains a control character.
        """
        given = {
            "status": None if status is None else as_choice("status", status, TASK_STATUSES),
            "delivered": None if delivered is None else as_text("delivered", delivered),
            "blocked_reason": None if blocked_reason is None else as_text("blocked_reason", blocked_reason),
            "utilized_memories": None
            if utilized_memories is None
            else as_tuple("utilized_memories", utilized_memories),
        }
        with database(self.root).writing() as connection:
            found = require_plan(connection, plan)
            changes = {name: value for name, value in given.items() if value is not None}
            change_task(connection, found, as_str("seq", seq), **changes)
        return UpdatedTask(task_seq=seq)

    def assess(self, objective: str, approach: str) -> Assessment:
        """Counts an attempt at an objective and says whether to continue, pivot or escalate.

        Raises:
            InvalidArgument: There is nothing in the objective or the approach.
        """
        from helix_graph.plans.attempt_assessment import assess

        return assess(self.root, self.insights, objective, approach)

    def reset_session_tracking(self, session: str) -> int:
        """Lets a session be given all insights again; returns how many it had been given."""
        return InjectedNames(self.root, session).reset()

    def learn(
        self,
        transcript: Path,
        *,
        agent_type: str = "builder",
        agent_id: str | None = None,
        pauses: Sequence[float] = PAUSES,
    ) -> LearnAnswer:
        """Learns from a finished agent: its report ends its workspace, its insight is stored, and waiting calls see it.

        Args:
            transcript: Its log, of any agent that `helix_episodes` can read.
            agent_type: builder, planner, explorer or observer, also as the plugin calls them.
            agent_id: Its id; by the file's name by default.
            pauses: Seconds before looking again when there is no report yet.
        """
        from helix_graph.plans.agent_results import Learning

        return Learning(self, transcript, agent_type=agent_type, agent_id=agent_id, pauses=pauses).learn()

    complete = complete_plan
    inject = inject_one
    batch_inject = inject_batch
    wait_builders = wait_for_builders
    wait_explorers = wait_for_explorers
