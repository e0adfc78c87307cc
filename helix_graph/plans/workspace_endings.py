"""What follows from the end of a workspace: the ending in one transaction, then the task's episode, then feedback once.

After the transaction the ending is recorded. The other two are done at once, and what a killed process left undone is
done by the next process that ends or makes a workspace. Each may be done twice at the same time and counts once,
because feedback carries the workspace's id and the episode is the same bytes whoever writes it. The insights are
judged by that episode, as those of every session are by theirs (`helix_graph.insights.attribution`), unless somebody
says which of them helped.

The episode brings orchestrated work into the graph, with observed facts only. A changed file is a decision because git
saw it change within the task's delta, at that time; the verify command is one only where somebody said how it ended;
what was delivered, or why not, is the builder's word, so the outcome's basis is ``declared``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.shell.commands import decisive, parse_command
from helix_episodes.extraction.task_and_metrics import task_kind_of
from helix_episodes.model import QUOTE_LIMIT, Episode
from helix_episodes.msgspec_types import ready
from helix_episodes.readers.common.session_builder import project_of
from helix_episodes.session import Session
from helix_graph.episodes import build_episode
from helix_graph.helix_db import stamp, utc_now
from helix_graph.insights.feedback import require_shown
from helix_graph.plans.attempt_assessment import forget_attempts
from helix_graph.plans.model import AgentOutcome, Workspace, WorkspaceEnding, WorkspaceStatus
from helix_graph.plans.schema import PlanContext, database
from helix_graph.plans.store import as_json, change_task, named, require_plan, workspace_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


#: What fails when a task is blocked and no check of its own said so.
TASK_CHECK = "task"
_NOT_A_DIGIT = re.compile(r"\D+")
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9._-]+|\.\.+")
_LONGEST_SLUG = 50


def task_episode(workspace: Workspace, ending: WorkspaceEnding, *, ended_at: str, project: Path) -> Episode:
    """The episode of a workspace that is complete or blocked; the same bytes whoever makes it."""
    succeeded = workspace.status == "complete"
    acts = [{"timestamp": ended_at, **one} for one in (*_edits(ending), *_verification(workspace, ending))]
    decisions = [_approach(workspace, ending, succeeded=succeeded), *acts]
    numbered = [{"id": f"d{place:03}", **one} for place, one in enumerate(decisions, 1)]
    events = _events(workspace, ending, at=ended_at, succeeded=succeeded)
    # The check decided, where it came out as the task did; else the builder's word did.
    decider = events[0] if ending.verified is succeeded else events[-1]
    moment = _NOT_A_DIGIT.sub("", workspace.created_at)[:14]
    slug = _NOT_IN_ID.sub("-", workspace.task_slug)[:_LONGEST_SLUG].strip("-.")
    # Of when, what and which, so that a new database never overwrites the episodes of an older one.
    session = "-".join(part for part in ("task", moment, workspace.task_id, slug) if part)
    return build_episode(
        {
            "id": f"episode-{session}",
            "session": session,
            "timestamp": workspace.created_at,
            "outcome": "success" if succeeded else "failure",
            "outcome_basis": "declared",
            "outcome_evidence": {
                "rule": "task-complete" if succeeded else "task-blocked",
                "quote": ending.told[:QUOTE_LIMIT],
                "source": decider["id"],
            },
            "task": workspace.objective,
            "task_kind": task_kind_of(Session(id=session, agent="", steps=(), reader="", task=workspace.objective), ()),
            "task_id": workspace.task_id,
            "decisions": numbered,
            "events": events,
            "links": _links(numbered, events),
            "metrics": {"files_changed": len(ending.changed)} if ending.changed else {},
            "project": project_of(str(project)),
            "tags": ["task"],
            "injected": workspace.injected,
        }
    )


def _approach(workspace: Workspace, ending: WorkspaceEnding, *, succeeded: bool) -> dict[str, Any]:
    """What was chosen: where it succeeded what was delivered, else what had been meant."""
    return {
        "type": "implementation",
        "timestamp": workspace.created_at,
        "context": workspace.objective,
        "chosen": (ending.told.strip() if succeeded else "") or workspace.objective,
        "rationale": "" if succeeded else ending.told,
        "outcome": "success" if succeeded else "failure",
        "stated": True,
    }


def _edits(ending: WorkspaceEnding) -> list[dict[str, Any]]:
    return [
        {
            "type": "test" if role_of(path) == "test" else "implementation",
            "chosen": f"{verb} {path}",
            "action": {"verb": verb, "path": path, "role": role_of(path)},
        }
        for path, verb in ending.changed
    ]


def _verification(workspace: Workspace, ending: WorkspaceEnding) -> list[dict[str, Any]]:
    if ending.verified is None or not workspace.verify:
        return []
    segment = decisive(parse_command(workspace.verify))
    action = {
        "verb": "run",
        "program": segment.program if segment else "shell",
        "subcommand": segment.subcommand if segment else None,
        "flags": segment.flags if segment else (),
        "command": workspace.verify,
    }
    outcome = "success" if ending.verified else "failure"
    return [{"type": "test", "chosen": f"verify with {workspace.verify}", "action": action, "outcome": outcome}]


def _events(workspace: Workspace, ending: WorkspaceEnding, *, at: str, succeeded: bool) -> list[dict[str, Any]]:
    """What happened: how the check came out, where somebody said so, and how the task did."""
    found: list[dict[str, Any]] = []
    segment = decisive(parse_command(workspace.verify)) if workspace.verify else None
    check = (segment.check or segment.program) if segment else TASK_CHECK
    if ending.verified:
        found.append({"type": "test", "content": f"{check} passes", "check": check, "status": "ok"})
    elif ending.verified is False:
        reason = ending.told.strip() or "the verify command failed"
        found.append({"type": "error", "content": reason, "message": reason, "check": check, "status": "error"})
    if succeeded:
        found.append({"type": "milestone", "content": ending.told.strip() or workspace.objective})
    elif ending.verified is not False:
        reason = ending.told.strip() or "blocked"
        found.append({"type": "error", "content": reason, "message": reason, "check": TASK_CHECK, "status": "error"})
    return [{"id": f"e{place:03}", "timestamp": at, **one} for place, one in enumerate(found, 1)]


def _links(decisions: list[dict[str, Any]], events: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The approach led to the changes, they and the verification to what was found, and that to the ending."""
    approach, *acts = (one["id"] for one in decisions)
    happened = [one["id"] for one in events]
    pairs = [(approach, act) for act in acts]
    pairs += [(act, happened[0]) for act in acts] or [(approach, happened[0])]
    pairs += pairwise(happened)
    return [{"source": source, "target": target, "reason": "stated"} for source, target in pairs]


_OUTCOMES: dict[WorkspaceStatus, AgentOutcome] = {"complete": "delivered", "blocked": "blocked"}


def complete_ended(context: PlanContext) -> None:
    """Writes the missing episode and records the missing feedback of every ended workspace, the oldest first."""
    with database(context.root).reading() as connection:
        owing = connection.execute(
            "SELECT * FROM workspace WHERE status != 'active' AND (feedback IS NULL OR episode IS NULL) ORDER BY id"
        )
        owing.row_factory = named
        rows = owing.fetchall()
    for row in rows:
        workspace, ending = workspace_of(row), msgspec.json.decode(row["ending"], type=ready(WorkspaceEnding))
        episode = task_episode(workspace, ending, ended_at=row["ended_at"], project=context.root.parent)
        context.episodes.save(episode)
        with database(context.root).writing() as connection:
            connection.execute("UPDATE workspace SET episode = ? WHERE id = ?", (episode.id, workspace.id))
        if row["feedback"] is not None:
            continue
        answer = _feedback(context, workspace, ending, episode=episode.id)
        # A repeated feedback never hides the first answer.
        known = " AND feedback IS NULL" if answer and answer.get("repeated") else ""
        query = f"UPDATE workspace SET feedback = ? WHERE id = ?{known}"  # noqa: S608  (one of two, both above)
        with database(context.root).writing() as connection:
            connection.execute(query, (as_json(answer), workspace.id))


def _feedback(
    context: PlanContext, workspace: Workspace, ending: WorkspaceEnding, *, episode: str
) -> dict[str, Any] | None:
    """What the insights answered, None when the task was shown none; its own injection is the first of its task."""
    identity = f"workspace-{workspace.id}"
    if ending.utilized is None:
        text = context.insights.feedback_from_episode(episode, id=identity)
        return next((dict(one) for one in text["feedback"]), None)
    injection = context.insights.showing_of(workspace.task_id, workspace.injected)
    if not (workspace.injected or injection):
        return None
    causal = [name for name in workspace.injected if name in ending.utilized]
    outcome = _OUTCOMES[workspace.status]
    answer = context.insights.feedback(
        workspace.injected, outcome, causal, id=identity, episode=episode, injection=injection
    )
    unknown = [name for name in ending.utilized if name not in workspace.injected]
    return {**answer, "missing": [*answer.get("missing", ()), *unknown]}


def require_injected(context: PlanContext, injected: Sequence[str], names: Sequence[str]) -> None:
    """Whether the insights said to have helped are ones that the task was shown, or others that there are."""
    others = context.insights.known([name for name in names if name not in injected])
    require_shown((name for name in names if name not in others), injected, option="utilized")


def write_ending(
    connection: sqlite3.Connection, found: Workspace, status: WorkspaceStatus, ending: WorkspaceEnding
) -> None:
    """The one transaction after which the ending stands."""
    delivered = ending.told if status == "complete" else f"BLOCKED: {ending.told}"
    ended_at = max(found.created_at, stamp(utc_now()))  # a clock that was set back must not make effects precede causes
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
    # Of several attempts it is the latest one's to say that the task cannot go on.
    later = "SELECT 1 FROM workspace WHERE plan_id = ? AND task_seq = ? AND id > ?"
    attempt = (found.plan_id, found.task_seq, found.id)
    newest = status == "complete" or connection.execute(later, attempt).fetchone() is None
    if task and task.status != "complete" and newest:
        text = {"delivered": ending.told} if status == "complete" else {"blocked_reason": ending.told}
        change_task(connection, plan, found.task_seq, status=status, utilized_memories=ending.utilized or (), **text)
