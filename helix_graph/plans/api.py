"""Plans: orchestrated work; what ``memory.plans`` is.

An orchestrator explores (`Plans.explorations`), saves a plan (`Plans.save`), makes a workspace for each ready task
(`Plans.workspaces`), waits for its builders (`Plans.wait_builders`) and learns from each that is done (`Plans.learn`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_graph.plans.dag import ready_among, status_of, waves_of
from helix_graph.plans.handoff_files import HandoffFiles
from helix_graph.plans.injection import DEFAULT_LIMIT, InjectedNames, Injector
from helix_graph.plans.model import TASK_STATUSES, PlanStatus, UpdatedTask
from helix_graph.plans.schema import database
from helix_graph.plans.store import change_task, close_plan, find_plan, number_of, require_plan, save_plan
from helix_graph.validation import as_choice, as_str, as_text, as_tuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from helix_episodes.store import EpisodeStore
    from helix_graph.insights.api import Insights
    from helix_graph.plans.assessment import Assessment
    from helix_graph.plans.injection import BatchInjection, PromptInjection
    from helix_graph.plans.learning import LearnAnswer
    from helix_graph.plans.model import CompletedPlan, SavedPlan, Task, TaskPlan
    from helix_graph.plans.store import Explorations
    from helix_graph.plans.waiting import BuildersWait, ExplorersWait
    from helix_graph.plans.workspaces import Workspaces

#: How long is waited for agents, and from one look to the next, in seconds: the seeds' own.
TIMEOUT, POLL_INTERVAL = 300.0, 2.0
#: When a transcript is read again that has no report yet, in seconds: the original's pauses.
PAUSES = (0.15, 0.35, 0.75)


class Plans:
    """The orchestrated work of the memory in ``root``."""

    def __init__(self, root: Path, *, insights: Insights, episodes: EpisodeStore) -> None:
        self.root = root
        self._insights = insights
        self._episodes = episodes

    @property
    def explorations(self) -> Explorations:
        """What explorers found before planning."""
        from helix_graph.plans.store import Explorations

        return Explorations(self.root)

    @property
    def workspaces(self) -> Workspaces:
        """Attempts at tasks: what a builder is given, and how it ended."""
        from helix_graph.plans.workspaces import Workspaces

        return Workspaces(
            self.root,
            insights=self._insights,
            injector=Injector(self.root, self._insights),
            episodes=self._episodes,
        )

    def save(self, plan: Mapping[str, Any]) -> SavedPlan:
        """Keeps a plan; from now on it is the active one.

        ``plan`` has ``objective`` and ``tasks``, and may have ``framework`` and ``idioms``. A task has ``objective``,
        and may have ``seq``, ``slug``, ``delta``, ``verify``, ``depends`` and ``budget``; what it lacks is filled in.

        Raises:
            InvalidPlan: A part is missing, unknown or of the wrong kind, two tasks have one number, one waits for a
                task that there is not, or tasks wait for each other in a circle. The part is named.
        """
        from helix_graph.plans.drafts import draft_of

        return save_plan(self.root, draft_of(plan))

    def load(self, plan: int | None = None) -> TaskPlan | None:
        """The plan of that number, or the newest active one; None when none is active.

        Raises:
            NoPlan: No plan has that number.
        """
        return find_plan(self.root, _number(plan))

    def ready(self, plan: int | None = None) -> tuple[Task, ...]:
        """The tasks that can begin now: pending, and all they wait for complete. None without a plan.

        Raises:
            NoPlan: No plan has that number.
        """
        found = self.load(plan)
        return ready_among(found.tasks) if found else ()

    def waves(self, plan: int | None = None) -> tuple[tuple[str, ...], ...]:
        """The numbers of all tasks in waves: those of one wave can be done at once, each waits for earlier waves only.

        Raises:
            NoPlan: No plan has that number.
        """
        found = self.load(plan)
        return waves_of(found.tasks) if found else ()

    def status(self, plan: int | None = None) -> PlanStatus:
        """How far a plan is, and whether blocked tasks keep the rest from ever being done.

        Raises:
            NoPlan: No plan has that number.
        """
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
        """Sets what is given of a task, by hand; a workspace does so itself when it ends, and feeds back as well.

        Args:
            seq: The task's number.
            plan: The plan's; the active one, when not given.
            status: pending, active, complete or blocked.
            delivered: What it delivered.
            blocked_reason: Why it is blocked.
            utilized_memories: The names of the insights that helped.

        Raises:
            NoPlan: There is no such plan.
            NoTask: It has no such task.
            NotOneOf: The status is none of the four.
            InvalidArgument: A text holds one.
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
            found = require_plan(connection, _number(plan))
            changes = {name: value for name, value in given.items() if value is not None}
            change_task(connection, found, as_str("seq", seq), **changes)
        return UpdatedTask(task_seq=seq)

    def complete(self, plan: int | None = None) -> CompletedPlan:
        """Closes a plan, whatever is left of it; the tasks left undone are named.

        Raises:
            NoPlan: There is no such plan.
        """
        return close_plan(self.root, _number(plan))

    def assess(self, objective: str, approach: str) -> Assessment:
        """Counts an attempt at an objective and says whether to continue, pivot or escalate.

        Raises:
            EmptyText: There is nothing in the objective or the approach.
        """
        from helix_graph.plans.assessment import assess

        return assess(self.root, self._insights, objective, approach)

    def inject(
        self,
        objective: str,
        limit: int = DEFAULT_LIMIT,
        task_id: str | None = None,
        *,
        min_relevance: float | None = None,
        diversify: bool = True,
        session: str | None = None,
    ) -> PromptInjection:
        """The insights for the prompt of one task.

        Args:
            objective: What the task is to do.
            limit: How many insights at most, 0 to 100.
            task_id: Then ``injection-state/{task_id}.json`` says what the task was given.
            min_relevance: As for recall.
            diversify: Leave out what the session was given already.
            session: The session's name; without one nothing outlives the call.

        Raises:
            EmptyText: There is nothing in the objective.
            NotAFileName: The task's id could lead elsewhere.
            OutOfRange: The limit is not within its range.
        """
        return Injector(self.root, self._insights).inject(
            objective, limit, task_id, min_relevance=min_relevance, diversify=diversify, session=session
        )

    def batch_inject(
        self,
        tasks: Sequence[str],
        limit: int = DEFAULT_LIMIT,
        task_ids: Sequence[str] = (),
        *,
        session: str | None = None,
        reset: bool = False,
    ) -> BatchInjection:
        """The insights for the prompts of a wave of tasks, none of them twice.

        Args:
            tasks: The objectives.
            limit: How many insights a task at most.
            task_ids: The tasks' ids in the same order; tasks beyond the last one leave no hand-off file.
            session: As for `inject`.
            reset: First let the session be given everything again: another wave.

        Raises:
            EmptyText: There is nothing in an objective.
            WrongTaskIds: An id is empty or stands twice, or there are more than tasks; then nothing is injected.
            NotAFileName: An id could lead elsewhere; the same holds.
        """
        injector = Injector(self.root, self._insights)
        return injector.batch_inject(tasks, limit, task_ids, session=session, reset=reset)

    def reset_session_tracking(self, session: str) -> int:
        """Lets a session be given everything again; how many insights it had been given."""
        return InjectedNames(self.root, as_str("session", session)).reset()

    def wait_builders(
        self,
        task_ids: Sequence[str],
        *,
        timeout: float = TIMEOUT,
        poll_interval: float = POLL_INTERVAL,
        since: date | None = None,
    ) -> BuildersWait:
        """Waits until each of these tasks has ended, however.

        Args:
            task_ids: What the tasks' prompts call them.
            timeout: In seconds; 0 looks once.
            poll_interval: Seconds from one look to the next.
            since: Only what ended from then on; when not given, for each task since it was given insights.

        Raises:
            EmptyText: There is no id.
            OutOfRange: A number of seconds is not within a day.
        """
        from helix_graph.plans.waiting import wait_builders

        files = HandoffFiles(self.root)
        return wait_builders(files, task_ids, timeout=timeout, poll_interval=poll_interval, since=since)

    def wait_explorers(
        self,
        count: int,
        *,
        timeout: float = TIMEOUT,
        poll_interval: float = POLL_INTERVAL,
        since: date | None = None,
        agent_ids: Sequence[str] = (),
    ) -> ExplorersWait:
        """Waits until so many explorers have left their results.

        Args:
            count: How many.
            timeout: In seconds; 0 looks once.
            poll_interval: Seconds from one look to the next.
            since: Only results from then on; when not given, since the last exploration was saved.
            agent_ids: Only the results of these.

        Raises:
            OutOfRange: The count is not positive, or a number of seconds not within a day.
            NotAFileName: An agent's id could lead elsewhere.
        """
        from helix_graph.plans.waiting import wait_explorers

        return wait_explorers(
            HandoffFiles(self.root),
            self.explorations,
            count,
            timeout=timeout,
            poll_interval=poll_interval,
            since=since,
            agent_ids=agent_ids,
        )

    def learn(
        self,
        transcript: Path,
        *,
        agent_type: str = "builder",
        agent_id: str | None = None,
        pauses: Sequence[float] = PAUSES,
    ) -> LearnAnswer:
        """Learns from a finished agent: its report ends its workspace, its insight is kept, and who waits is told.

        Args:
            transcript: Its log, of any agent that `helix_episodes` can read.
            agent_type: builder, planner, explorer or observer, also as the plugin calls them.
            agent_id: Its id; by the file's name, when not given.
            pauses: Seconds before looking again when there is no report yet.

        Raises:
            LogNotReadable: There is no such file, or it may not be read.
            UnknownLogFormat: It is no transcript of a known agent.
            NotOneOf: There is no such type of agent.
            WriteFailed: A hand-off file could not be written.
        """
        from helix_graph.plans.learning import Learning

        learning = Learning(self.root, insights=self._insights, workspaces=self.workspaces)
        return learning.learn(transcript, agent_type=agent_type, agent_id=agent_id, pauses=pauses)


def _number(plan: int | None) -> int | None:
    return None if plan is None else number_of("plan", plan)
