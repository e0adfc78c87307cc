"""A workspace that ended, as an episode: so that orchestrated work enters the graph with clean decisions and outcomes.

Nothing is in it that nobody knows. A changed file is a decision because git saw it change within the task's delta, at
the time when it saw it; the verify command is one only where somebody said how it came out; what was delivered, or why
not, is the builder's word, so the outcome's basis is ``declared``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from helix_episodes.extraction.commands import decisive, parse_command
from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.tasks import task_kind_of
from helix_episodes.model import QUOTE_LIMIT
from helix_episodes.readers.naming import project_of
from helix_episodes.session import Session
from helix_graph.structured import structured_episode

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.plans.model import Ending, Workspace

#: What fails when a task is blocked and no check of its own said so.
TASK_CHECK = "task"
_NOT_A_DIGIT = re.compile(r"\D+")
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9._-]+|\.\.+")
_LONGEST_SLUG = 50


def task_episode(workspace: Workspace, ending: Ending, *, ended_at: str, project: Path) -> Episode:
    """The episode of a workspace that is complete or blocked; the same bytes whoever makes it."""
    succeeded = workspace.status == "complete"
    acts = [{"timestamp": ended_at, **one} for one in (*_edits(ending), *_verification(workspace, ending))]
    decisions = [_approach(workspace, ending, succeeded=succeeded), *acts]
    numbered = [{"id": f"d{place:03}", **one} for place, one in enumerate(decisions, 1)]
    events = _events(workspace, ending, at=ended_at, succeeded=succeeded)
    # The check decided, where it came out as the task did; else the builder's word did.
    decider = events[0] if ending.verified is succeeded else events[-1]
    session = _session_id(workspace)
    return structured_episode(
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
            "task_kind": task_kind_of(_session(session, workspace.objective), ()),
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


def _approach(workspace: Workspace, ending: Ending, *, succeeded: bool) -> dict[str, Any]:
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


def _edits(ending: Ending) -> list[dict[str, Any]]:
    return [
        {
            "type": "test" if role_of(path) == "test" else "implementation",
            "chosen": f"{verb} {path}",
            "action": {"verb": verb, "path": path, "role": role_of(path)},
        }
        for path, verb in ending.changed
    ]


def _verification(workspace: Workspace, ending: Ending) -> list[dict[str, Any]]:
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


def _events(workspace: Workspace, ending: Ending, *, at: str, succeeded: bool) -> list[dict[str, Any]]:
    """What happened: how the check came out, where somebody said so, and how the task did."""
    found: list[dict[str, Any]] = []
    if ending.verified is not None:
        found.append(_checked(workspace, ending))
    if succeeded:
        found.append({"type": "milestone", "content": ending.told.strip() or workspace.objective})
    elif ending.verified is not False:
        reason = ending.told.strip() or "blocked"
        found.append({"type": "error", "content": reason, "message": reason, "check": TASK_CHECK, "status": "error"})
    return [{"id": f"e{place:03}", "timestamp": at, **one} for place, one in enumerate(found, 1)]


def _checked(workspace: Workspace, ending: Ending) -> dict[str, Any]:
    segment = decisive(parse_command(workspace.verify)) if workspace.verify else None
    check = (segment.check or segment.program) if segment else TASK_CHECK
    if ending.verified:
        return {"type": "test", "content": f"{check} passes", "check": check, "status": "ok"}
    reason = ending.told.strip() or "the verify command failed"
    return {"type": "error", "content": reason, "message": reason, "check": check, "status": "error"}


def _links(decisions: list[dict[str, Any]], events: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The approach led to the changes, they and the verification to what was found, and that to the ending."""
    approach, *acts = (one["id"] for one in decisions)
    happened = [one["id"] for one in events]
    pairs = [(approach, act) for act in acts]
    pairs += [(act, happened[0]) for act in acts] or [(approach, happened[0])]
    pairs += pairwise(happened)
    return [{"source": source, "target": target, "reason": "stated"} for source, target in pairs]


def _session_id(workspace: Workspace) -> str:
    """Made of when, what and which, so that a database begun anew never writes over an older one's episodes."""
    moment = _NOT_A_DIGIT.sub("", workspace.created_at)[:14]
    slug = _NOT_IN_ID.sub("-", workspace.task_slug)[:_LONGEST_SLUG].strip("-.")
    return "-".join(part for part in ("task", moment, workspace.task_id, slug) if part)


def _session(name: str, task: str) -> Session:
    return Session(id=name, agent="", steps=(), reader="", task=task)
