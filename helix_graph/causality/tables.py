"""From episodes to observations: in which situation was what done, and did it work?

An *observation* is one row of the table that all rates are computed from: trigger, action, and whether it succeeded by
a named basis. Three rules keep the table honest.

*One episode, one observation.* Only an episode's first occurrence of a (trigger, action) counts: ten edits in one
session are one experience, not ten.

*Chosen without looking at the result.* Which rows exist may not depend on how they came out. So an error is answered by
what an ``answer`` link says, which is drawn at the time of the error; the changes of a ``fix`` are not asked, because a
fix is only recorded where the check passed in the end, and rows made from it would succeed by construction. For the
same reason an edit made while a check was failing is not measured by that check: a link to its next failure is left out
of the episode (nothing new happened), so only its passes would be seen.

*Measured or left out.* Success is ``True`` or ``False`` only where the log shows it; ``None`` is unmeasured and never
counts as either.

=========================== ================== =========================================================================
trigger                     basis              success
=========================== ================== =========================================================================
the error that is answered  check passes later the check passes later in the episode; not, when it ran again or the
                                               error was left unrepaired at the end, and no pass followed
the error that is answered  next check passes  the check passes when it next runs
task kind, an edit          next check passes  the next check over the edit passes
task kind, any other action outcome            the episode's outcome is success, if rewarded, judged or measured
=========================== ================== =========================================================================

An answered error is measured twice, since agents seldom stop before a check is green: nearly everything passes *later*
(in 81 sessions of one project: all of it), and what tells answers apart is whether the *next* run passes. A tool or
a command leaves no event when it works; for its errors the call that verified the fix counts as the passing run.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.causality.timeline import precedes
from helix_graph.graph.labels import check_label, decision_key, event_key, is_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.model import Decision, Episode, Event

Basis = Literal["check passes later", "next check passes", "outcome"]
#: How closely a trigger names the situation: the kind of error, the check that failed, or only the kind of task.
Level = Literal["family", "check", "task"]

_EDITS = frozenset({"edit", "create", "delete"})
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
        measured = _measure_answer(episode, error=error, decision=decision)
        for trigger in _triggers(error):
            for basis, success in measured.items():
                yield from _row(episode, decision, trigger=trigger, basis=basis, success=success)


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
    if family:
        yield family, "family"
    if error.check:
        yield check_label(error.check).rstrip(": "), "check"


# --- what was answered, and how it came out


def _answered_errors(episode: Episode) -> dict[str, list[Event]]:
    """By decision id, the errors it answers, in the order of the events."""
    answers: dict[str, list[str]] = defaultdict(list)
    for link in episode.links:
        if link.reason == "answer":
            answers[link.source].append(link.target)
    answered: dict[str, list[Event]] = defaultdict(list)
    for error in filter(is_error, episode.events):
        for decision in answers[error.id]:
            answered[decision].append(error)
    return answered


def _measure_answer(episode: Episode, *, error: Event, decision: Decision) -> dict[Basis, bool | None]:
    runs = [run for run in _later_runs(episode, error) if precedes(run, decision) is not True]
    verified_by = next((fix.verified_by for fix in episode.fixes if fix.error == error.id), None)
    return {
        "check passes later": _passes_later(runs, verified_by, left_unrepaired=_left_unrepaired(episode, error)),
        "next check passes": _passes_next(
            runs, next((one for one in episode.decisions if one.id == verified_by), None)
        ),
    }


def _passes_later(runs: Sequence[Event], verified_by: str | None, *, left_unrepaired: bool) -> bool | None:
    if verified_by is not None or any(map(_passes, runs)):
        return True
    return False if runs or left_unrepaired else None


def _passes_next(runs: Sequence[Event], went_well: Decision | None) -> bool | None:
    """``went_well`` is the call that verified the fix of a tool's or command's error, and so its passing run."""
    if went_well is not None:
        return not any(precedes(run, went_well) for run in runs)
    return _passes(runs[0]) if runs else None


def _later_runs(episode: Episode, error: Event) -> Iterator[Event]:
    """Later results of the check that the error came from, in order, without the other errors of the same run."""
    seen_error = False
    for event in _runs(episode, error.check):
        order = precedes(error, event)
        # Events are listed in the order of the log, which decides where neither lines nor times do.
        if order or (order is None and seen_error):
            yield event
        seen_error = seen_error or event.id == error.id


def _runs(episode: Episode, check: str | None) -> list[Event]:
    """The results of a check, failures and passes, in the order of the log."""
    return [event for event in episode.events if check and event.check == check and event.type in {"test", "error"}]


def _passes(run: Event) -> bool:
    return run.type == "test" and run.status == "ok"


def _left_unrepaired(episode: Episode, error: Event) -> bool:
    """Whether the episode was measured a failure on account of this check."""
    decided_by = episode.outcome_evidence.source if episode.outcome_evidence else None
    if episode.outcome != "failure" or episode.outcome_basis != "measured" or error.check is None:
        return False
    return any(event.id == decided_by and event.check == error.check for event in episode.events)


def _next_check_passes(episode: Episode, decision: Decision) -> bool | None:
    """Whether the first check over the edit passed, of those that were not failing before it; ``None`` if none ran."""
    targets = {link.target for link in episode.links if link.reason == "edit-test" and link.source == decision.id}
    runs = [event for event in episode.events if event.id in targets and not _was_failing(episode, event, decision)]
    # One command may run several checks, and one check may complain of several things: the first result, and its peers.
    return all(_passes(run) for run in runs if precedes(runs[0], run) is not True) if runs else None


def _was_failing(episode: Episode, run: Event, decision: Decision) -> bool:
    """Whether the check of ``run``, when it last ran before the decision, failed."""
    earlier = [event for event in _runs(episode, run.check) if precedes(event, decision)]
    return bool(earlier) and is_error(earlier[-1])


def _outcome_succeeds(episode: Episode) -> bool | None:
    if episode.outcome == "unknown" or episode.outcome_basis not in _VOUCHED:
        return None
    return episode.outcome == "success"
