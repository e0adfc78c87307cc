"""From episodes to observations: in which situation was what done, and did it work?

An *observation* is one row of the table that all rates are computed from: trigger, action, and whether it succeeded by
a named basis. Three rules keep the table honest.

*One episode, one observation.* Only an episode's first occurrence of a (trigger, action) counts: ten edits in one
session are one experience, not ten.

*Chosen without looking at the result.* Which rows exist may not depend on how they came out. A ``fix`` link exists
only where the check passed in the end, so rows made from it would succeed by construction. Instead a change answers
an error when a link says so, or when it was made while the error was open: after it and before the next run of its
check, whatever that run said.

*Measured or left out.* Success is ``True`` or ``False`` only where the log shows it; ``None`` is unmeasured and never
counts as either.

============================ ================== =====================================================================
trigger                      basis              success
============================ ================== =====================================================================
the error that is answered   check passes later the same check passes later in the episode; not, when it ran again or
                                                the error was left unrepaired at the end, and no pass followed
task kind, action an edit    next check passes  the next check over the edit passes at once
task kind, any other action  outcome            the episode's outcome is success, if rewarded, judged or measured
============================ ================== =====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.causality.timeline import precedes
from helix_graph.graph.labels import decision_key, event_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.model import Decision, Episode, Event

Basis = Literal["check passes later", "next check passes", "outcome"]
#: How closely a trigger names the situation: the kind of error, the check that failed, or only the kind of task.
Level = Literal["family", "check", "task"]

_EDITS = frozenset({"edit", "create", "delete"})
_CHANGES = _EDITS | {"run"}
#: Record or publish work and leave the files as they are, so no check can come out differently for them.
_BOOKKEEPING = frozenset({("git", sub) for sub in ("add", "commit", "push", "fetch", "tag")})
#: Outcomes that somebody or something other than the agent itself vouches for.
_VOUCHED = frozenset({"rewarded", "judged", "measured"})


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One episode's first use of an action in answer to a trigger. ``success`` is ``None`` when it was not measured."""

    trigger: str
    level: Level
    action: str
    basis: Basis
    success: bool | None
    episode: str
    decision: str
    timestamp: str | None


def observe(episode: Episode) -> tuple[Observation, ...]:
    """The observations of one episode, one for each (trigger, action, basis), in the order of the decisions."""
    found: dict[tuple[str, str, str], Observation] = {}
    for row in _rows(episode):
        found.setdefault((row.trigger, row.action, row.basis), row)
    return tuple(found.values())


def _rows(episode: Episode) -> Iterator[Observation]:
    answered = _answered_errors(episode)
    for decision in episode.decisions:
        errors = answered.get(decision.id)
        yield from _error_rows(episode, decision, errors) if errors else _task_rows(episode, decision)


def _error_rows(episode: Episode, decision: Decision, errors: Iterable[Event]) -> Iterator[Observation]:
    for error in errors:
        success = _check_passes_later(episode, error=error, decision=decision)
        for trigger, level in _triggers(error):
            yield from _row(episode, decision, trigger=(trigger, level), basis="check passes later", success=success)


def _task_rows(episode: Episode, decision: Decision) -> Iterator[Observation]:
    trigger: tuple[str, Level] = (f"task: {episode.task_kind}", "task")
    if decision.action and decision.action.verb in _EDITS:
        success = _next_check_passes(episode, decision)
        return _row(episode, decision, trigger=trigger, basis="next check passes", success=success)
    return _row(episode, decision, trigger=trigger, basis="outcome", success=_outcome_succeeds(episode))


def _row(
    episode: Episode, decision: Decision, *, trigger: tuple[str, Level], basis: Basis, success: bool | None
) -> Iterator[Observation]:
    action = decision_key(decision)
    if action == trigger[0]:  # says nothing: the situation would recommend itself
        return
    yield Observation(
        trigger=trigger[0],
        level=trigger[1],
        action=action,
        basis=basis,
        success=success,
        episode=episode.id,
        decision=decision.id,
        timestamp=decision.timestamp or episode.timestamp,
    )


def _triggers(error: Event) -> Iterator[tuple[str, Level]]:
    """An error as a situation: its kind within the check, then the check alone."""
    family = event_key(error)
    check = f"{error.check} fails" if error.check else None
    if family and family != check:
        yield family, "family"
    if check:
        yield check, "check"


# --- which errors a decision answers


def _answered_errors(episode: Episode) -> dict[str, list[Event]]:
    """By decision id, the errors it answers, in the order of the events."""
    linked = {(link.source, link.target) for link in episode.links if link.reason == "answer"}
    changes = [decision for decision in episode.decisions if _changes_files(decision)]
    answered: dict[str, list[Event]] = {}
    for error in (event for event in episode.events if event.type == "error"):
        open_until = _next_run(episode, error)
        while_open = {change.id for change in changes if _made_between(change, after=error, before=open_until)}
        for decision in episode.decisions:
            if decision.id in while_open or (error.id, decision.id) in linked:
                answered.setdefault(decision.id, []).append(error)
    return answered


def _changes_files(decision: Decision) -> bool:
    """Whether a check could come out differently for it: an edit, or a command that is no check and no bookkeeping."""
    action = decision.action
    if action is None or action.verb not in _CHANGES or decision.type == "test":
        return False
    return (action.program, action.subcommand) not in _BOOKKEEPING


def _made_between(change: Decision, *, after: Event, before: Event | None) -> bool:
    return precedes(after, change) is True and (before is None or precedes(change, before) is True)


# --- runs of a check, and how they came out


def _next_run(episode: Episode, error: Event) -> Event | None:
    return next(_later_runs(episode, error), None)


def _later_runs(episode: Episode, error: Event) -> Iterator[Event]:
    """Later results of the check that the error came from, in order; other errors of the same run are not among them."""
    if error.check is None:
        return
    seen_error = False
    for event in episode.events:
        if event.id == error.id:
            seen_error = True
        elif event.check == error.check and event.type in {"test", "error"}:
            order = precedes(error, event)
            # Events are listed in the order of the log, which decides where neither lines nor times do.
            if order or (order is None and seen_error):
                yield event


def _passes(run: Event) -> bool:
    return run.type == "test" and run.status == "ok"


def _check_passes_later(episode: Episode, *, error: Event, decision: Decision) -> bool | None:
    runs = [run for run in _later_runs(episode, error) if precedes(run, decision) is not True]
    if any(map(_passes, runs)) or _verified_fix(episode, error):
        return True
    return False if runs or _left_unrepaired(episode, error) else None


def _verified_fix(episode: Episode, error: Event) -> bool:
    return any(fix.error == error.id and fix.verified_by is not None for fix in episode.fixes)


def _left_unrepaired(episode: Episode, error: Event) -> bool:
    """Whether the episode was measured a failure on account of this check."""
    decided_by = episode.outcome_evidence.source if episode.outcome_evidence else None
    if episode.outcome != "failure" or episode.outcome_basis != "measured" or error.check is None:
        return False
    return any(event.id == decided_by and event.check == error.check for event in episode.events)


def _next_check_passes(episode: Episode, decision: Decision) -> bool | None:
    """By the ``edit-test`` links: every check that ran next over the edit passed; ``None`` when none ran."""
    targets = {link.target for link in episode.links if link.reason == "edit-test" and link.source == decision.id}
    runs = [event for event in episode.events if event.id in targets]
    return all(map(_passes, runs)) if runs else None


def _outcome_succeeds(episode: Episode) -> bool | None:
    if episode.outcome == "unknown" or episode.outcome_basis not in _VOUCHED:
        return None
    return episode.outcome == "success"
