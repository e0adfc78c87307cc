"""Workspaces: one attempt at one task, from what its builder gets to how it ended (`plans.workspace_endings`).

Forgetting the session of a task removes what plans, other tasks' lineage and the hand-off files say of it. The task
keeps its number and its status in the plan, since other tasks wait for it; its words go.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import HelixGraphError
from helix_episodes.msgspec_types import ready
from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import HelixDatabase, stamp, utc_now
from helix_graph.plans import store
from helix_graph.plans.attempt_assessment import forget_attempts
from helix_graph.plans.git_tree import Baseline, changes_since, outside, snapshot, within
from helix_graph.plans.handoff_files import HandoffFiles, InjectionState
from helix_graph.plans.insight_injection import choose_for_workspace, remembered, show_to_task, workspace_prompt
from helix_graph.plans.model import (
    EndedWorkspace,
    Lineage,
    NoWorkTree,
    Parent,
    PlanError,
    ScopeCheck,
    Workspace,
    WorkspaceEnding,
)
from helix_graph.plans.plan_checks import task_of
from helix_graph.plans.schema import PLAN_TABLES, PlanContext, database
from helix_graph.plans.workspace_endings import complete_ended, require_injected, write_ending
from helix_graph.validation import as_int, as_path, as_text, as_tuple

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.insights.recall import RecallAnswer
    from helix_graph.plans.model import Task, TaskPlan, WorkspaceStatus


#: How many insights a builder is given, as in the seeds.
INJECTED = 8
#: Nobody makes so many calls; it is there because a number has to have an end.
_MOST_CALLS = 10**9


class Workspaces:
    """The workspaces of the memory in ``root``."""

    def __init__(self, context: PlanContext) -> None:
        self.root = context.root
        self._context = context

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
            plan: The plan's number; the active one by default. A task of its own belongs to a plan only if given.
            session: No insight is shown twice in a session of this name, whatever process asks.
            tree: The working tree of the task.

        Raises:
            NotFound: There is no such plan, or none that is active. The plan has no such task.
            PlanError: The plan's task is delivered already.
            WriteFailed: It cannot be noted what the task was given; then nothing is made.
            InvalidPlan: A task of its own has a part that is missing or wrong.
        """
        complete_ended(self._context)
        found, chosen = self._task(task, plan)
        baseline = None
        with contextlib.suppress(NoWorkTree):  # without git, which `check` will say
            baseline = snapshot(self.root.parent if tree is None else as_path("tree", tree))
        tasks = found.tasks if found else ()
        insights = choose_for_workspace(
            self._context,
            chosen.objective,
            limit=INJECTED,
            session=session,
            to_come=[one.objective for one in tasks if one.status == "pending" and one.seq != chosen.seq],
        )
        made = self._insert(_bare(chosen, found), baseline)
        return self._begin(self._given(made, insights, session=session))

    def get(self, workspace: int) -> Workspace:
        """The workspace of that number."""
        with database(self.root).reading() as connection:
            return store.workspace_of(store.find_row(connection, workspace))

    def prompt(self, workspace: int) -> str:
        """The prompt for the workspace's builder."""
        return workspace_prompt(self.get(workspace))

    def check(
        self, workspace: int, *, tree: Path | None = None, tool_calls: int | None = None, transcript: Path | None = None
    ) -> ScopeCheck:
        """What has changed in the working tree since the workspace was made, against its delta and budget.

        Args:
            workspace: Its number.
            tree: Another work tree of the repository, in which the builder works; it is compared with the last commit
                that it has in common with the tree of `create`.
            tool_calls: How many calls the builder has made.
            transcript: The builder's log, to count them in, when nobody has.

        Raises:
            NoWorkTree: The tree cannot be compared: there was no repository when the workspace was made, or it is gone,
                or ``tree`` is of another repository.
        """
        with database(self.root).reading() as connection:
            row = store.find_row(connection, workspace)
        found, baseline = store.workspace_of(row), store.baseline_of(row)
        if baseline is None:
            raise NoWorkTree(self.root.parent, problem="it was no git repository when the workspace was made")
        changes = changes_since(baseline, tree=None if tree is None else as_path("tree", tree))
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
        tree: Path | None = None,
    ) -> EndedWorkspace:
        """Ends a workspace with success: its task is complete, its insights get feedback once, its episode is written.

        Said again it changes nothing and answers the same.

        Args:
            workspace: Its number.
            delivered: What was delivered.
            utilized: The insights that helped. Without it those injected are judged by the task's episode.
            verified: Whether the verify command passed; None when nobody says.
            tree: As for `check`: where the builder worked, if elsewhere; the episode says what changed there.

        Raises:
            PlanError: It is blocked already.
            InvalidArgument: The text contains a control character. Of ``utilized``, a name is of no insight.
            NoWorkTree: ``tree`` cannot be compared; then nothing is ended.
        """
        ending = WorkspaceEnding(told=as_text("delivered", delivered), utilized=_names(utilized), verified=verified)
        return self._end(workspace, "complete", ending, tree)

    def block(
        self,
        workspace: int,
        reason: str,
        utilized: Sequence[str] | None = None,
        *,
        verified: bool | None = None,
        tree: Path | None = None,
    ) -> EndedWorkspace:
        """Ends a workspace that cannot go on; as `complete`, but its task is blocked and its episode a failure.

        Raises:
            PlanError: It is complete already.
            InvalidArgument: The text contains a control character. Of ``utilized``, a name is of no insight.
            NoWorkTree: ``tree`` cannot be compared; then nothing is ended.
        """
        ending = WorkspaceEnding(told=as_text("reason", reason), utilized=_names(utilized), verified=verified)
        return self._end(workspace, "blocked", ending, tree)

    def _task(self, task: str | Mapping[str, Any], plan: int | None) -> tuple[TaskPlan | None, Task]:
        if not isinstance(task, str) and plan is None:
            return None, task_of(task)
        with database(self.root).reading() as connection:
            found = store.require_plan(connection, plan)
        chosen = store.task_in(found, task) if isinstance(task, str) else task_of(task)
        if any(one.seq == chosen.seq and one.status == "complete" for one in found.tasks):
            again = f"`helix-graph plan update {chosen.seq} --status pending` opens it again"
            raise PlanError(f"task {chosen.seq} of plan {found.id} is complete; {again}")
        return found, chosen

    def _insert(self, made: Workspace, baseline: Baseline | None) -> Workspace:
        """Keeps a workspace; its number and its task's id are known only then, and what it is given after that."""
        row = (made.plan_id, made.task_seq, made.task_slug, made.objective, made.created_at, store.as_json(baseline))
        with database(self.root).writing() as connection:
            number = connection.execute(
                "INSERT INTO workspace (plan_id, task_seq, task_slug, objective, created_at, baseline, data)"
                " VALUES (?, ?, ?, ?, ?, ?, '')",
                row,
            ).lastrowid
            inserted = replace(made, id=number or 0, task_id=f"{made.task_seq}-w{number}")
            connection.execute("UPDATE workspace SET data = ? WHERE id = ?", (store.as_json(inserted), number))
            return inserted

    def _given(self, made: Workspace, insights: RecallAnswer, *, session: str | None) -> Workspace:
        """With its insights, and the note of them; a workspace that cannot be given them is not made."""
        try:
            shown = show_to_task(self._context, insights, about=made.objective, task_id=made.task_id, session=session)
            # What is done in it comes after what it gets.
            failures = tuple(remembered(row) for row in shown if "failure" in (row.get("tags") or ()))
            patterns = tuple(remembered(row) for row in shown if "failure" not in (row.get("tags") or ()))
            injected = tuple(one.name for one in (*failures, *patterns))
            workspace = replace(
                made, failures=failures, patterns=patterns, injected=injected, created_at=stamp(utc_now())
            )
            state = InjectionState(
                task_id=workspace.task_id,
                query=workspace.objective,
                names=injected,
                ts=workspace.created_at,
                workspace=workspace.id,
            )
            HandoffFiles(self.root).write_state(state)
        except HelixGraphError:
            with database(self.root).writing() as connection:
                connection.execute("DELETE FROM workspace WHERE id = ?", (made.id,))
            raise
        return workspace

    def _begin(self, workspace: Workspace) -> Workspace:
        """Keeps what a workspace was given; from now on its task is active."""
        row = (store.as_json(workspace), workspace.created_at, workspace.id)
        with database(self.root).writing() as connection:
            connection.execute("UPDATE workspace SET data = ?, created_at = ? WHERE id = ?", row)
            if workspace.plan_id is not None:
                plan = store.require_plan(connection, workspace.plan_id)
                if any(task.seq == workspace.task_seq for task in plan.tasks):
                    store.change_task(connection, plan, workspace.task_seq, status="active")
        return workspace

    def _end(self, number: int, status: WorkspaceStatus, ending: WorkspaceEnding, tree: Path | None) -> EndedWorkspace:
        number = store.number_of("workspace", number)
        if ending.utilized:
            require_injected(self._context, self.get(number).injected, ending.utilized)
        ending = replace(ending, changed=self._changed(number, None if tree is None else as_path("tree", tree)))
        with database(self.root).writing() as connection:
            found = store.workspace_of(store.find_row(connection, number))
            if found.status not in {"active", status}:
                problem = f"is {found.status} already and cannot become {status}; create another for a new attempt"
                raise PlanError(f"workspace {number} {problem}")
            if found.status == "active":
                write_ending(connection, found, status, ending)
        complete_ended(self._context)
        with database(self.root).reading() as connection:
            return store.ended_of(store.find_row(connection, number))

    def _changed(self, number: int, tree: Path | None) -> tuple[tuple[str, str], ...]:
        """The changed files that the delta names, for the episode: what lies outside may be somebody else's work.

        Raises:
            NoWorkTree: The tree that was named cannot be compared.
        """
        with database(self.root).reading() as connection:
            row = store.find_row(connection, number)
        found, baseline = store.workspace_of(row), store.baseline_of(row)
        if found.status != "active" or baseline is None:
            return ()
        try:
            changes = changes_since(baseline, tree=tree)
        except NoWorkTree:
            if tree is not None:
                raise
            return ()  # a work tree that was removed with its task: then nothing is known
        return tuple((one.path, one.verb) for one in changes if any(within(part, one.path) for part in found.delta))


def _bare(task: Task, plan: TaskPlan | None) -> Workspace:
    """What a task itself says for its workspace."""
    by_seq = {one.seq: one for one in plan.tasks} if plan else {}
    parents = (by_seq[seq] for seq in task.parents if seq in by_seq)
    done = (one for one in parents if one.status == "complete")
    return Workspace(
        task_seq=task.seq,
        task_slug=task.slug,
        objective=task.objective,
        delta=task.delta,
        verify=task.verify,
        budget=task.budget,
        framework=plan.framework if plan else None,
        idioms=plan.idioms if plan else {},
        lineage=Lineage(parents=tuple(Parent(seq=one.seq, slug=one.slug, delivered=one.delivered) for one in done)),
        plan_id=plan.id if plan else None,
        created_at=stamp(utc_now()),
    )


def _used(tool_calls: int | None, transcript: Path | None) -> int | None:
    if tool_calls is not None:
        return as_int("tool_calls", tool_calls, lowest=0, highest=_MOST_CALLS)
    if transcript is None:
        return None
    from helix_graph.plans.transcripts import count_calls

    return count_calls(as_path("transcript", transcript))


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(str(name) for name in as_tuple("utilized", names))


#: What stands where the words of a forgotten task stood.
FORGOTTEN = "(forgotten)"


def forget_tasks(root: Path, sessions: Iterable[str], *, path: Path) -> None:
    """Removes from the database at ``path`` the workspaces of these sessions, and all that tells of them.

    It is called before the log of what was shown is made anonymous: that says which tasks were theirs.
    """
    sessions = tuple(sessions)
    episodes = as_list(f"episode-{session}" for session in sessions)
    named = as_list(form for session in sessions for form in (session, f"episode-{session}"))
    HandoffFiles(root).forget_sessions(sessions)
    with HelixDatabase(path, PLAN_TABLES).writing() as connection:
        cursor = connection.execute(f"SELECT * FROM workspace WHERE episode {ANY_OF}", (episodes,))  # noqa: S608  (constants)
        cursor.row_factory = store.named
        for workspace in [store.workspace_of(row) for row in cursor.fetchall()]:
            HandoffFiles(root).forget_task(workspace.task_id)
            _forget(connection, workspace)
        if _has_insights(connection):
            theirs = f"SELECT task FROM insight_injection WHERE session {ANY_OF}"  # noqa: S608  (a constant)
            others = f"SELECT task FROM insight_injection WHERE NOT session {ANY_OF}"  # noqa: S608  (a constant)
            for (task,) in connection.execute(f"{theirs} EXCEPT {others} ORDER BY task", (named, named)):
                HandoffFiles(root).forget_task(task)
        connection.execute(f"DELETE FROM injected WHERE session {ANY_OF}", (named,))  # noqa: S608  (a constant)


def _has_insights(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'insight_injection'").fetchone() is not None


def forget_names(root: Path, *, path: Path) -> None:
    """Takes out of what sessions and tasks were shown the names of insights that the database at ``path`` has no more.

    A name is made of the first words of its insight, which a forgotten session may have said.
    """
    with HelixDatabase(path, PLAN_TABLES).writing() as connection:
        if not _has_insights(connection):
            return
        connection.execute("DELETE FROM injected WHERE name NOT IN (SELECT name FROM insight)")
        known = {name for (name,) in connection.execute("SELECT name FROM insight")}
    HandoffFiles(root).keep_names(known)


def _forget(connection: sqlite3.Connection, workspace: Workspace) -> None:
    connection.execute("DELETE FROM workspace WHERE id = ?", (workspace.id,))
    forget_attempts(connection, workspace.objective)
    if workspace.plan_id is None:
        return
    plan = store.require_plan(connection, workspace.plan_id)
    if any(task.seq == workspace.task_seq for task in plan.tasks):
        words = dict.fromkeys(("slug", "objective", "verify", "delivered", "blocked_reason"), FORGOTTEN)
        store.change_task(connection, plan, workspace.task_seq, **words, delta=())
    _silence_lineage(connection, workspace)


def _silence_lineage(connection: sqlite3.Connection, parent: Workspace) -> None:
    """Takes what a task delivered out of the workspaces of the tasks that were built on it."""
    rows = connection.execute("SELECT id, data FROM workspace WHERE plan_id = ?", (parent.plan_id,)).fetchall()
    for number, data in rows:
        child = msgspec.json.decode(data, type=ready(Workspace))
        parents = tuple(
            replace(one, slug=FORGOTTEN, delivered=FORGOTTEN) if one.seq == parent.task_seq else one
            for one in child.lineage.parents
        )
        if parents != child.lineage.parents:
            quiet = replace(child, lineage=Lineage(parents=parents))
            connection.execute("UPDATE workspace SET data = ? WHERE id = ?", (store.as_json(quiet), number))
