"""Fixes: the changes after which what had failed went well.

A fix of a check is every change between the last run that showed the failure and the first that no longer does. When
the failure names a file and one of those changes is to that file, only such changes count (for linters and compilers,
which point at the place; a test points at itself). Several changes share the credit: each may have done it. An error of
a tool is repaired when the same call goes well later; one of a command by the changes before it goes through, or by
having been corrected. A call that failed repairs nothing, nor does the same command merely run again.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import CHANGES, command_of, is_code, is_look, is_request, operands_of, places_in
from helix_episodes.extraction.timeline import pointed_at
from helix_episodes.model import Decision, Event, Fix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.timeline import CheckRun, Timeline


def fixes_of(history: Timeline) -> tuple[Fix, ...]:
    """The fix of every error that was repaired, by error."""
    known = {*history.account.act_of, *history.account.told}
    errors = [event for event in history.account.events if event.type == "error" and event.id in known]
    found = (_fix(history, error) for error in errors)
    return tuple(fix for fix in found if fix is not None)


def _fix(history: Timeline, error: Event) -> Fix | None:
    if error.check in history.runs:
        return _check_fix(history, error)
    if error.id in history.account.told:
        return _accepted_fix(history, error)
    failed = history.act_of(error)
    attempts = history.attempts_after(error)
    good = next((n for n, one in enumerate(attempts) if _went_well(history, one, failed)), None)
    if good is None:
        return None
    verified = attempts[good]
    if failed.operation == "run" or is_code(failed):
        changes = _command_changes(history, error, attempts[:good], verified)
    else:
        changes = [one for one in attempts[: good + 1] if not history.went_wrong(one)]
    return _credited(error, changes, verified_by=verified.id)


def _credited(error: Event, changes: Sequence[Decision], *, verified_by: str | None) -> Fix | None:
    """The fix that all of these changes share; None where there is none."""
    if not changes:
        return None
    return Fix(
        error=error.id,
        changes=tuple(one.id for one in changes),
        check=error.check or "",
        verified_by=verified_by,
        share=round(1 / len(changes), 6),
    )


def _command_changes(
    history: Timeline, error: Event, tried: Sequence[Decision], verified: Decision
) -> Sequence[Decision]:
    """What made a command go through: changes to the file that it points at, else all, else that it was corrected.

    The command that goes through is itself a change only where it says something else than the one that failed.
    """
    failed = history.act_of(error)
    positions = history.account.positions
    wrong = [error.id, *(event.id for one in tried if history.went_wrong(one) for event in history.events_of(one))]
    start, end = max(positions[name] for name in wrong), positions[verified.id]
    corrected = [verified] if all(command_of(act) != command_of(failed) for act in history.acts_of(verified)) else []
    if is_look(failed) or is_request(failed):
        return corrected  # no change to a file is why these go well
    return (
        history.changes_to(places_in(failed), start, end) or history.changes_between(start, end, kind=None) or corrected
    )


def _check_fix(history: Timeline, error: Event) -> Fix | None:
    runs = history.runs[error.check or ""]
    place = history.run_of.get(error.id)
    if place is None:
        return None
    failure = runs[place]
    repair = history.next_repair(error.check or "", place, error.family or "")
    if repair is None:
        return _reported_fix(history, error, failure)
    good = runs[repair]
    last_bad = _last_showing(history, runs[place + 1 : repair], error, default=failure)
    changes = history.changes_between(last_bad.position, good.position, kind=failure.verdict.kind, named=error.path)
    named = pointed_at(changes, error, kind=failure.verdict.kind)
    return _credited(error, named, verified_by=_passing(history, islice(runs, repair, None)))


def _reported_fix(history: Timeline, error: Event, failure: CheckRun) -> Fix | None:
    """Of a failure that a person shows with its command: the changes until that command passes, whatever it runs."""
    told = history.account.told.get(error.id)
    good = history.passed_as(told.command, failure.position) if told is not None and told.command else None
    if good is None:
        return None
    kind = failure.verdict.kind
    changes = history.changes_between(failure.position, good.position, kind=kind, named=error.path)
    return _credited(error, pointed_at(changes, error, kind=kind), verified_by=_passing(history, [good]))


def _accepted_fix(history: Timeline, error: Event) -> Fix | None:
    """The changes between the last report and the person's acceptance; of a plan, those to its text."""
    told = history.account.told[error.id]
    if told.settled is None:
        return None
    good = history.account.marked[told.settled]
    end = history.account.positions[good]
    between = history.account.decisions_between(told.since, end)
    written = [one for one in between if any(act.operation in CHANGES for act in history.acts_of(one))]
    # What troubles a person may lie outside of the project; what is newly written there is a trial.
    removed = history.removals_between(told.since, end)
    changed = {one.id for one in (*history.changes_between(told.since, end, kind=None), *removed)}
    changes = [one for one in between if one.id in changed] or written
    return _credited(error, changes, verified_by=good)


def _last_showing(history: Timeline, runs: Sequence[CheckRun], error: Event, *, default: CheckRun) -> CheckRun:
    """The last run that still shows this failure; where that cannot be told, the one that showed it first."""
    showing = (run for run in reversed(runs) if not run.passed and _shows(history, run, error))
    return next(showing, default)


def _shows(history: Timeline, run: CheckRun, error: Event) -> bool:
    """Whether a run complains of the same: the same rule or exception; for tests, one of the tests that failed."""
    same = [event for name in run.events if (event := history.account.event(name)).family == error.family]
    if error.tests:
        return any(set(event.tests) & set(error.tests) for event in same)
    return bool(same) and not (error.family or "").endswith("failed")  # "test failed" says nothing of which


def _passing(history: Timeline, runs: Iterable[CheckRun]) -> str | None:
    """The event in which the check was content, if it ever was: a family that merely vanished is not verified."""
    names = (name for run in runs if run.passed for name in run.events)
    return next((name for name in names if history.account.event(name).status == "ok"), None)


def _went_well(history: Timeline, decision: Decision, failed: ParsedCall) -> bool:
    """Whether the same kind of call went through in it: a file that is found does not yet make the edit succeed."""
    return not history.went_wrong(decision) and any(
        act.status == "ok" and _same_kind(act, failed) for act in history.acts_of(decision)
    )


def _same_kind(act: ParsedCall, failed: ParsedCall) -> bool:
    if is_look(failed) and not is_request(failed) and _unseen(failed).isdisjoint(operands_of(act)):
        return False
    if act.decisive is not None and failed.decisive is not None and act.decisive.purpose != failed.decisive.purpose:
        return False  # a look that goes well does not repair a change of the same program
    return act.call.tool == failed.call.tool or {act.operation, failed.operation} <= CHANGES


def _unseen(failed: ParsedCall) -> frozenset[str]:
    """What a look could not show: of its operands those that its output names, else all of them.

    To see something else is not to see what could not be seen.
    """
    operands = operands_of(failed)
    return frozenset(one for one in operands if one and one in failed.output) or operands
