"""What repaired a failure that a person reports or that CI shows, and what shows that it did.

Neither is a run of a check here. A person may accept what was done, and CI may look again and pass. Where neither does,
the changes of the turn that answers count, once a check passes after them or the agent tries them out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.extraction.calls import CHANGES
from helix_episodes.extraction.checks.ci import CI, OF_CI, job_passed
from helix_episodes.extraction.delivery import accepted_by, delivered_by
from helix_episodes.extraction.fix_credit import changes_code, credited, passing_event
from helix_episodes.extraction.paths import file_name

if TYPE_CHECKING:
    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Event, Fix

#: How agents say that a command is to show whether a repair works.
_TRIES = re.compile(
    r"\b(?:verif(?:y|ies|ied|ying)|confirm(?:s|ing)?|sanity|make sure|see (?:if|whether)|reproduc\w+"
    r"|(?:test|check)(?:s|ing)? (?:that|if|whether|both|the (?:fix|change|repair))|works? now)\b",
    re.IGNORECASE,
)
#: Within so many turns a report is answered; later changes have to be tied to it by more.
_SOON = 2


def reported_fix(timeline: Timeline, error: Event) -> Fix | None:
    """The fix of a failure that a person reports or that CI shows."""
    if error.check == CI:
        return _ci_fix(timeline, error) or _accepted_fix(timeline, error)
    found = _accepted_fix(timeline, error) or unanswered_fix(timeline, error)
    return found or _as_ci_was_repaired(timeline, error)


def _accepted_fix(timeline: Timeline, error: Event) -> Fix | None:
    """The changes between the last report and the person's acceptance; of a plan, those to its text."""
    reported = timeline.reported[error.id]
    if reported.resolved is None:
        return None
    good = timeline.marked[reported.resolved]
    end = timeline.positions[good]
    between = timeline.decisions_between(reported.since, end)
    written = [one for one in between if any(call.operation in CHANGES for call in timeline.calls_of(one))]
    # What a person complains of may be outside the project; what is newly written there is a trial.
    removed = timeline.removals_between(reported.since, end)
    changed = {one.id for one in (*timeline.changes_between(reported.since, end, kind=None), *removed)}
    changes = [one for one in between if one.id in changed] or written
    changes = [one for one in changes if changes_code(timeline, one)] or changes
    return credited(error, changes, verified_by=good)


def unanswered_fix(timeline: Timeline, error: Event) -> Fix | None:
    """The changes of the turn that answers a report, up to the check that passes after the last of them.

    Who asks why something fails may order the repair in the next prompt: the first turn with changes answers. Not when
    the person reports a failure again at its end: then the turn did not repair it.
    """
    reported = timeline.reported[error.id]
    said_again = {timeline.positions[other] for other in timeline.reported if other not in timeline.call_numbers}
    until = reported.until
    for until in (reported.until, *reported.later):
        if until in said_again or _changes_by_agent(timeline, error, until):
            break
    return None if until in said_again else _answered(timeline, error, until)


def _changes_by_agent(timeline: Timeline, error: Event, until: int) -> list[Decision]:
    """What the agent changed after a report; of what names a file, the changes to that file."""
    found = timeline.changes_between(timeline.positions[error.id], until, kind=None)
    changes = [one for one in found if one.actor == "agent"]
    changes = [one for one in changes if changes_code(timeline, one)] or changes
    return [
        one
        for one in changes
        if error.path and any(file_name(call.path or "") == file_name(error.path) for call in timeline.calls_of(one))
    ] or changes


def _answered(timeline: Timeline, error: Event, until: int, *, logs: str = "", soon: bool = True) -> Fix | None:
    """The fix by what was changed until a position, shown by a check or by a command that was run to see it.

    Of several checks the one shows it that the logs of CI name, else a test; later on it has to be one that they name.
    """
    changes = _changes_by_agent(timeline, error, until)
    if not changes:
        return None
    edited = [one for one in changes if timeline.changes_files(one)]
    after = timeline.positions[(edited or changes)[-1].id]
    passed = (run for runs in timeline.runs.values() for run in runs if after < run.position <= until and run.events)
    last: dict[str, CheckRun] = {run.verdict.check: run for run in sorted(passed, key=lambda run: run.position)}
    if not all(run.passed for run in last.values()):
        return None
    if last:
        run = min(
            last.values(), key=lambda run: (run.verdict.check not in logs, run.verdict.kind != "test", run.position)
        )
        if not soon and run.verdict.check not in logs:
            return None
        before = [one for one in changes if timeline.positions[one.id] < run.position]
        return credited(error, edited or before, verified_by=passing_event(timeline, [run]))
    tried = (one for one in timeline.decisions_between(after, until) if _tries_out(timeline, one))
    shown = next(tried, None) if edited and soon else None
    return credited(error, edited, verified_by=shown.id) if shown is not None else None


def _tries_out(timeline: Timeline, decision: Decision) -> bool:
    """Whether a command that went through was run to see that a repair works, by the agent's own words."""
    calls = timeline.calls_of(decision)
    ran = all(call.operation == "run" and call.status == "ok" and delivered_by(call) is None for call in calls)
    words = (decision.rationale, *(str(call.step.arguments.get("description") or "") for call in calls))
    return ran and bool(calls) and not timeline.went_wrong(decision) and any(_TRIES.search(one or "") for one in words)


# CI.


def _ci_fix(timeline: Timeline, error: Event) -> Fix | None:
    """The changes after CI failed, until the job passes, else until a check passes after them that shows it here.

    What is asked about may be ordered to be repaired much later: then CI's log has to name the check that passes.
    """
    reported, start, family = timeline.reported[error.id], timeline.positions[error.id], error.family or ""
    pushed = [call.position for call in timeline.calls if call.position > start and delivered_by(call) is not None]
    same = [one for one in timeline.events if one.check == CI and one.family == error.family]
    if pushed and any(timeline.positions[one.id] > pushed[0] for one in same):
        return None  # what was changed before did not repair it
    for call in timeline.calls:
        passed = job_passed(call.segments, call.output, family) or accepted_by(call) is not None
        if pushed and passed and call.position > pushed[0]:
            changes = _changes_by_agent(timeline, error, pushed[0])
            return credited(error, [one for one in changes if timeline.changes_files(one)], verified_by=None)
    lines = {number for one in same if one.evidence for number in (one.evidence.line, *one.evidence.also)}
    results = (call.result for call in timeline.calls if call.result)
    logs = "".join(one.text for one in results if any(place.line in lines for place in one.places))
    for turn, until in enumerate((reported.until, *reported.later)):
        found = _answered(timeline, error, until, logs=logs, soon=turn < _SOON)
        if found is not None:
            return found
    return None


def _as_ci_was_repaired(timeline: Timeline, error: Event) -> Fix | None:
    """The fix of what CI says soon after a report: the person asked about that."""
    start, reported = timeline.positions[error.id], timeline.reported[error.id]
    until = next(iter(reported.later), reported.until) if OF_CI.search(error.message or "") else reported.until
    said = [one for one in timeline.events if one.check == CI and start < timeline.positions[one.id] < until]
    fixes = (_ci_fix(timeline, one) for one in said if one.id in timeline.reported)
    return next((replace(fix, error=error.id, check=error.check or "") for fix in fixes if fix is not None), None)
