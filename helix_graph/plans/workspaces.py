"""Workspaces: one attempt at one task, from what its builder is given to how it ended.

How an attempt ended is told to three places: the workspace and its plan, the insights that were given (feedback), and
the episodes. The first is one transaction, and from then on the ending stands. The other two are owed: they are paid at
once, and what a killed process left owing is paid by whoever next ends or makes a workspace. Each may be paid twice at
the same time and counts once, because feedback carries the workspace's id and the episode is the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_graph.errors import NoWorkspace, NoWorkTree, WorkspaceClosed
from helix_graph.given import place, prose, several, whole
from helix_graph.graph.assertions import now
from helix_graph.plans.assessing import forget_attempts
from helix_graph.plans.changes import Baseline, changes_since, outside, snapshot, within
from helix_graph.plans.drafts import idioms_of, task_of
from helix_graph.plans.model import EndedWorkspace, Lineage, Parent, ScopeCheck, Workspace
from helix_graph.plans.prompts import workspace_prompt
from helix_graph.plans.saved import change_task, require_plan, task_in
from helix_graph.plans.side_files import InjectionState, SideFiles
from helix_graph.plans.tables import database
from helix_graph.plans.task_episodes import Ending, task_episode
from helix_graph.plans.transcripts import count_calls

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from helix_episodes.store import EpisodeStore
    from helix_graph.plans.injecting import Injector
    from helix_graph.plans.model import AgentOutcome, Plan, Task, WorkspaceStatus
    from helix_graph.plans.remembering import CausalFilter, Insights

#: How many insights a builder is given, as in the seeds.
INJECTED = 8
#: SQLite's largest row number.
_LARGEST = 2**63 - 1
_OUTCOMES: dict[WorkspaceStatus, AgentOutcome] = {"complete": "delivered", "blocked": "blocked"}


class Workspaces:
    """The workspaces of the memory in ``root``. ``causal`` says which injected insights bear on an ending."""

    def __init__(
        self, root: Path, *, insights: Insights, injector: Injector, episodes: EpisodeStore, causal: CausalFilter | None
    ) -> None:
        self.root = root
        self._insights = insights
        self._injector = injector
        self._episodes = episodes
        self._causal = causal

    def create(
        self,
        task: str | Mapping[str, Any],
        *,
        plan: int | None = None,
        session: str | None = None,
        tree: Path | None = None,
    ) -> Workspace:
        """A workspace for a task: failures and patterns to heed, what its parents delivered, the plan's idioms.

        The task becomes active. Where ``tree`` (default: the memory's project) lies in a git repository, its state is
        noted, so that `check` can tell what the task changes.

        Args:
            task: The number of a task of the plan, or a task of its own, in the fields of a plan's tasks.
            plan: The plan's number; the active one, when not given. A task of its own belongs to a plan only if given.
            session: No insight is given out twice in a session of this name, whatever process asks.
            tree: The working tree in which the task is done.

        Raises:
            NoPlan: There is no such plan, or none that is active.
            NoTask: The plan has no such task.
            InvalidPlan: A task of its own has a part that is missing or wrong.
        """
        self._pay_what_is_owed()
        found, chosen = self._task(task, plan)
        recalled = self._injector.recalled(chosen.objective, limit=INJECTED, session=session)
        made = Workspace(
            task_seq=chosen.seq,
            task_slug=chosen.slug,
            objective=chosen.objective,
            delta=chosen.delta,
            verify=chosen.verify,
            budget=chosen.budget,
            framework=found.framework if found else None,
            idioms=idioms_of(dict(found.idioms)) if found else {},
            failures=tuple(one for one, is_failure in recalled if is_failure),
            patterns=tuple(one for one, is_failure in recalled if not is_failure),
            lineage=_lineage(found, chosen),
            plan_id=found.id if found else None,
            created_at=now(),
        )
        workspace = self._insert(made, _baseline(self.root.parent if tree is None else place("tree", tree)))
        names = workspace.injected
        state = InjectionState(
            task_id=workspace.task_id,
            query=workspace.objective,
            names=names,
            ts=workspace.created_at,
            workspace=workspace.id,
        )
        SideFiles(self.root).write_state(state)
        return workspace

    def get(self, workspace: int) -> Workspace:
        """The workspace of that number.

        Raises:
            NoWorkspace: There is none.
        """
        with database(self.root).reading() as connection:
            return _workspace(_row(connection, workspace))

    def prompt(self, workspace: int) -> str:
        """The prompt for the workspace's builder.

        Raises:
            NoWorkspace: There is none.
        """
        return workspace_prompt(self.get(workspace))

    def check(
        self,
        workspace: int,
        *,
        tree: Path | None = None,
        tool_calls: int | None = None,
        transcript: Path | None = None,
    ) -> ScopeCheck:
        """What has changed in the working tree since the workspace was made, against its delta and budget.

        Args:
            workspace: Its number.
            tree: Another work tree of the repository, in which the builder works.
            tool_calls: How many calls the builder has made.
            transcript: The builder's log, to count them in, when nobody has.

        Raises:
            NoWorkspace: There is none.
            NoWorkTree: The tree cannot be compared: there was no repository when the workspace was made, or it is gone.
            LogNotReadable: The transcript cannot be read.
        """
        with database(self.root).reading() as connection:
            row = _row(connection, workspace)
        found, baseline = _workspace(row), _decoded_baseline(row)
        if baseline is None:
            raise NoWorkTree(self.root.parent, problem="it was no git repository when the workspace was made")
        changes = changes_since(baseline, tree=None if tree is None else place("tree", tree))
        beyond = outside(found.delta, changes)
        used = _used(tool_calls, transcript)
        return ScopeCheck(
            workspace_id=found.id,
            delta=found.delta,
            changed=tuple(one.path for one in changes),
            outside=beyond,
            within_delta=not beyond,
            budget=found.budget,
            used=used,
            within_budget=None if used is None else used <= found.budget,
        )

    def complete(
        self,
        workspace: int,
        delivered: str,
        utilized: Sequence[str] | None = None,
        *,
        verified: bool | None = None,
    ) -> EndedWorkspace:
        """Ends a workspace with success: its task is complete, its insights get feedback once, its episode is written.

        Said again it changes nothing and answers the same.

        Args:
            workspace: Its number.
            delivered: What was delivered.
            utilized: The injected insights that helped. Without it the causal filter decides.
            verified: Whether the verify command passed; None when nobody says.

        Raises:
            NoWorkspace: There is none.
            WorkspaceClosed: It is blocked already.
            ControlCharacter: The text holds one.
        """
        ending = Ending(told=prose("delivered", delivered), utilized=_names(utilized), verified=verified)
        return self._end(workspace, "complete", ending)

    def block(
        self,
        workspace: int,
        reason: str,
        utilized: Sequence[str] | None = None,
        *,
        verified: bool | None = None,
    ) -> EndedWorkspace:
        """Ends a workspace that cannot go on; as `complete`, but its task is blocked and its episode a failure.

        Raises:
            NoWorkspace: There is none.
            WorkspaceClosed: It is complete already.
            ControlCharacter: The text holds one.
        """
        ending = Ending(told=prose("reason", reason), utilized=_names(utilized), verified=verified)
        return self._end(workspace, "blocked", ending)

    def _task(self, task: str | Mapping[str, Any], plan: int | None) -> tuple[Plan | None, Task]:
        if not isinstance(task, str) and plan is None:
            return None, task_of(task)
        with database(self.root).reading() as connection:
            found = require_plan(connection, None if plan is None else _number("plan", plan))
        return found, task_in(found, task) if isinstance(task, str) else task_of(task)

    def _insert(self, made: Workspace, baseline: Baseline | None) -> Workspace:
        """Keeps a workspace; its number and its task's id are known only then."""
        row = (made.plan_id, made.task_seq, made.task_slug, made.objective, made.created_at, _json(baseline))
        with database(self.root).writing() as connection:
            number = connection.execute(
                "INSERT INTO workspace (plan_id, task_seq, task_slug, objective, created_at, baseline, data)"
                " VALUES (?, ?, ?, ?, ?, ?, '')",
                row,
            ).lastrowid
            injected = tuple(one.name for one in (*made.failures, *made.patterns))
            whole_one = replace(made, id=number or 0, task_id=f"{made.task_seq}-w{number}", injected=injected)
            connection.execute("UPDATE workspace SET data = ? WHERE id = ?", (_json(whole_one), number))
            if made.plan_id is not None:
                plan = require_plan(connection, made.plan_id)
                if any(task.seq == made.task_seq for task in plan.tasks):
                    change_task(connection, plan, made.task_seq, status="active")
            return whole_one

    def _end(self, number: int, status: WorkspaceStatus, ending: Ending) -> EndedWorkspace:
        number = _number("workspace", number)
        ending = replace(ending, changed=self._changed(number))
        with database(self.root).writing() as connection:
            found = _workspace(_row(connection, number))
            if found.status not in {"active", status}:
                raise WorkspaceClosed(number, status=found.status, wanted=status)
            if found.status == "active":
                _write_ending(connection, found, status, ending)
        self._pay_what_is_owed()
        with database(self.root).reading() as connection:
            return _ended(_row(connection, number))

    def _changed(self, number: int) -> tuple[tuple[str, str], ...]:
        """The changed files that the delta names, for the episode: what lies outside may be somebody else's work."""
        with database(self.root).reading() as connection:
            row = _row(connection, number)
        found, baseline = _workspace(row), _decoded_baseline(row)
        if found.status != "active" or baseline is None:
            return ()
        try:
            changes = changes_since(baseline)
        except NoWorkTree:  # a work tree that was removed with its task: then nothing is known
            return ()
        return tuple((one.path, one.verb) for one in changes if any(within(part, one.path) for part in found.delta))

    def _pay_what_is_owed(self) -> None:
        with database(self.root).reading() as connection:
            owing = connection.execute(
                "SELECT * FROM workspace WHERE status != 'active' AND (feedback IS NULL OR episode IS NULL) ORDER BY id"
            )
            owing.row_factory = _named
            rows = owing.fetchall()
        for row in rows:
            workspace, ending = _workspace(row), msgspec.json.decode(row["ending"], type=Ending)
            if row["feedback"] is None:
                self._fed_back(workspace.id, self._feedback(workspace, ending))
            if row["episode"] is None:
                episode = task_episode(workspace, ending, ended_at=row["ended_at"], project=self.root.parent)
                self._episodes.save(episode)
                with database(self.root).writing() as connection:
                    connection.execute("UPDATE workspace SET episode = ? WHERE id = ?", (episode.id, workspace.id))

    def _fed_back(self, number: int, answer: dict[str, Any] | None) -> None:
        """Keeps what the insights answered; that they had heard of it before never hides what they said then."""
        known = " AND feedback IS NULL" if answer and answer.get("repeated") else ""
        with database(self.root).writing() as connection:
            connection.execute(
                f"UPDATE workspace SET feedback = ? WHERE id = ?{known}",  # noqa: S608  (one of two, both above)
                (_json(answer), number),
            )

    def _feedback(self, workspace: Workspace, ending: Ending) -> dict[str, Any] | None:
        if not workspace.injected:
            return None
        causal = self._causal_names(workspace, ending)
        outcome = _OUTCOMES[workspace.status]
        return dict(self._insights.feedback(workspace.injected, outcome, causal, id=feedback_id(workspace.id)))

    def _causal_names(self, workspace: Workspace, ending: Ending) -> list[str] | None:
        if ending.utilized is not None:
            return [name for name in workspace.injected if name in ending.utilized]
        if self._causal is None:
            return None
        return list(self._causal(workspace.injected, f"{workspace.objective}\n{ending.told}"))


def feedback_id(workspace: int) -> str:
    """Under which the insights hear of a workspace's ending, once."""
    return f"workspace-{workspace}"


def _write_ending(connection: sqlite3.Connection, found: Workspace, status: WorkspaceStatus, ending: Ending) -> None:
    """The one transaction after which the ending stands."""
    delivered = ending.told if status == "complete" else f"BLOCKED: {ending.told}"
    connection.execute(
        "UPDATE workspace SET status = ?, delivered = ?, utilized = ?, ending = ?, ended_at = ? WHERE id = ?",
        (status, delivered, _json(ending.utilized or ()), _json(ending), now(), found.id),
    )
    if status == "complete":
        forget_attempts(connection, found.objective)
    if found.plan_id is None:
        return
    plan = require_plan(connection, found.plan_id)
    if any(task.seq == found.task_seq for task in plan.tasks):
        told = {"delivered": ending.told} if status == "complete" else {"blocked_reason": ending.told}
        change_task(connection, plan, found.task_seq, status=status, utilized_memories=ending.utilized or (), **told)


def _lineage(plan: Plan | None, task: Task) -> Lineage:
    if plan is None:
        return Lineage()
    by_seq = {one.seq: one for one in plan.tasks}
    parents = (by_seq[seq] for seq in task.parents if seq in by_seq)
    done = (one for one in parents if one.status == "complete")
    return Lineage(parents=tuple(Parent(seq=one.seq, slug=one.slug, delivered=one.delivered) for one in done))


def _baseline(tree: Path) -> Baseline | None:
    """What the tree is like now; None without git, where `check` will say so."""
    try:
        return snapshot(tree)
    except NoWorkTree:
        return None


def _named(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def _row(connection: sqlite3.Connection, number: int) -> dict[str, Any]:
    cursor = connection.execute("SELECT * FROM workspace WHERE id = ?", (_number("workspace", number),))
    row = cursor.fetchone()
    if row is None:
        raise NoWorkspace(number)
    return _named(cursor, row)


def _workspace(row: dict[str, Any]) -> Workspace:
    """What was given stands in ``data``; what has become of it in the columns."""
    return replace(
        msgspec.json.decode(row["data"], type=Workspace),
        status=row["status"],
        delivered=row["delivered"],
        utilized=msgspec.json.decode(row["utilized"], type=tuple[str, ...]),
    )


def _decoded_baseline(row: dict[str, Any]) -> Baseline | None:
    return msgspec.json.decode(row["baseline"], type=Baseline | None)


def _ended(row: dict[str, Any]) -> EndedWorkspace:
    found, ending = _workspace(row), msgspec.json.decode(row["ending"], type=Ending)
    return EndedWorkspace(
        status=found.status,
        workspace_id=found.id,
        delivered=ending.told if found.status == "complete" else "",
        reason=ending.told if found.status == "blocked" else "",
        utilized=found.utilized,
        feedback=msgspec.json.decode(row["feedback"]),
        episode=row["episode"],
    )


def _used(tool_calls: int | None, transcript: Path | None) -> int | None:
    if tool_calls is not None:
        return whole("tool_calls", tool_calls, lowest=0, highest=_LARGEST)
    return None if transcript is None else count_calls(place("transcript", transcript))


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(str(name) for name in several("utilized", names))


def _number(option: str, number: int) -> int:
    return whole(option, number, lowest=0, highest=_LARGEST)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
