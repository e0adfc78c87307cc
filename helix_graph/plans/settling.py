"""What a workspace's ending owes: the ending itself in one transaction, then the task's episode, then feedback once.

From the transaction on the ending stands. The other two are owed: they are paid at once, and what a killed process
left owing is paid by whoever next ends or makes a workspace. Each may be paid twice at the same time and counts once,
because feedback carries the workspace's id and the episode is the same bytes whoever writes it.

The insights are judged by that episode, as those of every session are by theirs: what was done in it after they were
handed over, whether that led to the outcome, and how alike the outcome's text is
(`helix_graph.insights.attributing`). Only where somebody says which of them helped, that counts instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph.insights.clock import now, stamp
from helix_graph.plans.assessing import forget_attempts
from helix_graph.plans.model import Ending
from helix_graph.plans.saved import change_task, require_plan
from helix_graph.plans.tables import database
from helix_graph.plans.workspace_rows import as_json, named, workspace_of

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_episodes.store import EpisodeStore
    from helix_graph.plans.model import AgentOutcome, Workspace, WorkspaceStatus
    from helix_graph.plans.remembering import Insights

_OUTCOMES: dict[WorkspaceStatus, AgentOutcome] = {"complete": "delivered", "blocked": "blocked"}


class Settling:
    """Pays what the ended workspaces of the memory in ``root`` owe."""

    def __init__(self, root: Path, *, insights: Insights, episodes: EpisodeStore) -> None:
        self.root = root
        self._insights = insights
        self._episodes = episodes

    def pay(self) -> None:
        """Pays all that is owed, the oldest workspace's first."""
        with database(self.root).reading() as connection:
            owing = connection.execute(
                "SELECT * FROM workspace WHERE status != 'active' AND (feedback IS NULL OR episode IS NULL) ORDER BY id"
            )
            owing.row_factory = named
            rows = owing.fetchall()
        for row in rows:
            workspace, ending = workspace_of(row), msgspec.json.decode(row["ending"], type=Ending)
            episode = self._write_episode(workspace, ending, ended_at=row["ended_at"])
            if row["feedback"] is None:
                self._fed_back(workspace.id, self._feedback(workspace, ending, episode=episode.id))

    def _write_episode(self, workspace: Workspace, ending: Ending, *, ended_at: str) -> Episode:
        from helix_graph.plans.task_episodes import task_episode  # noqa: PLC0415  (grammars; a beginning does without)

        episode = task_episode(workspace, ending, ended_at=ended_at, project=self.root.parent)
        self._episodes.save(episode)
        with database(self.root).writing() as connection:
            connection.execute("UPDATE workspace SET episode = ? WHERE id = ?", (episode.id, workspace.id))
        return episode

    def _fed_back(self, number: int, answer: dict[str, Any] | None) -> None:
        """Keeps what the insights answered; that they had heard of it before never hides what they said then."""
        known = " AND feedback IS NULL" if answer and answer.get("repeated") else ""
        with database(self.root).writing() as connection:
            connection.execute(
                f"UPDATE workspace SET feedback = ? WHERE id = ?{known}",  # noqa: S608  (one of two, both above)
                (as_json(answer), number),
            )

    def _feedback(self, workspace: Workspace, ending: Ending, *, episode: str) -> dict[str, Any] | None:
        """What the insights answered, None when the task was shown none; its own showing is the first of its task."""
        identity = feedback_id(workspace.id)
        if ending.utilized is None:
            told = self._insights.feedback_from_episode(episode, id=identity)
            return next((dict(one) for one in told["feedback"]), None)
        showing = self._insights.showing_of(workspace.task_id, workspace.injected)
        if not (workspace.injected or showing):
            return None
        causal = [name for name in workspace.injected if name in ending.utilized]
        outcome = _OUTCOMES[workspace.status]
        return dict(
            self._insights.feedback(
                workspace.injected, outcome, causal, id=identity, episode=episode, injection=showing
            )
        )


def feedback_id(workspace: int) -> str:
    """Under which the insights hear of a workspace's ending, once."""
    return f"workspace-{workspace}"


def write_ending(connection: sqlite3.Connection, found: Workspace, status: WorkspaceStatus, ending: Ending) -> None:
    """The one transaction after which the ending stands."""
    delivered = ending.told if status == "complete" else f"BLOCKED: {ending.told}"
    ended_at = max(found.created_at, stamp(now()))  # a clock that was set back must not make effects precede causes
    connection.execute(
        "UPDATE workspace SET status = ?, delivered = ?, utilized = ?, ending = ?, ended_at = ? WHERE id = ?",
        (status, delivered, as_json(ending.utilized or ()), as_json(ending), ended_at, found.id),
    )
    if status == "complete":
        forget_attempts(connection, found.objective)
    if found.plan_id is None:
        return
    plan = require_plan(connection, found.plan_id)
    task = next((one for one in plan.tasks if one.seq == found.task_seq), None)
    if task and task.status != "complete" and (status == "complete" or _is_newest(connection, found)):
        told = {"delivered": ending.told} if status == "complete" else {"blocked_reason": ending.told}
        change_task(connection, plan, found.task_seq, status=status, utilized_memories=ending.utilized or (), **told)


def _is_newest(connection: sqlite3.Connection, found: Workspace) -> bool:
    """Whether no later attempt at the task was begun: it is that one's to say that the task cannot go on."""
    later = "SELECT 1 FROM workspace WHERE plan_id = ? AND task_seq = ? AND id > ?"
    return connection.execute(later, (found.plan_id, found.task_seq, found.id)).fetchone() is None
