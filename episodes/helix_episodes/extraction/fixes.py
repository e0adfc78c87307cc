"""Fixes: what repaired an error, and what shows that it did.

Fixes run backwards: a change removes an error that came before it. There is one rule for each way in which an error
comes to light:

- *a check*: the changes between the last run that showed the failure and the first that no longer does, as far as they
  touch what it names (`helix_episodes.extraction.fix_credit`); with those before that repaired a part of it, and up to
  the run that complains of the same rule elsewhere. A later run of the same task, of a check that must have
  compiled the same code, or the commit whose hook had refused, shows it as well as the same check does.
- *a report* of a person or of CI, which is no run of a check here: the changes until the person accepts or the job
  passes; without that, those of the turn that answers, once a check passes after them or the agent tries them out.
- *a merge that stopped at conflicts*: the changes to the conflicted files, until the merge is committed or a check
  passes.
- *a command or a tool of the agent*: see `helix_episodes.extraction.call_fixes`.

Several changes share the credit: each may have done it. A call that failed repairs nothing, nor does the same command
merely run again.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.extraction.bearing import complains_elsewhere, loose_changes, repaired_in_part, shows
from helix_episodes.extraction.call_fixes import MISCALLED, call_fix
from helix_episodes.extraction.calls import CHANGES
from helix_episodes.extraction.checks.ci import CI, OF_CI, job_passed
from helix_episodes.extraction.checks.command_failures import NOTHING_CHECKED
from helix_episodes.extraction.delivery import accepted_by, delivered_by
from helix_episodes.extraction.drafts import evidence_of, line
from helix_episodes.extraction.edit_coverage import runs_other_files
from helix_episodes.extraction.fix_credit import (
    answering_calls,
    changes_code,
    credited,
    credited_changes,
    passing_event,
    speaking_calls,
    speaking_edits,
)
from helix_episodes.extraction.paths import file_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Event, Evidence, Fix
    from helix_episodes.session import Session

_CONFLICTED = re.compile(
    r"^CONFLICT \([^)]*\): .*?(?:Merge conflict in |)(\S+\.?\S*)(?: deleted in| renamed|$)", re.MULTILINE
)
_CONFLICT = "merge conflict"
#: What ends a merge, and what gives it up.
_ENDS_MERGE = frozenset({"--continue", "--skip"})
_GIVES_UP = frozenset({"--abort", "--quit"})
#: So many runs are compared one by one to see what of a failure is gone: nobody needs as many for one repair.
_MOST_RUNS = 20
#: How agents say that a command is to show whether a repair works.
_TRIES = re.compile(
    r"\b(?:verif(?:y|ies|ied|ying)|confirm(?:s|ing)?|sanity|make sure|see (?:if|whether)|reproduc\w+"
    r"|(?:test|check)(?:s|ing)? (?:that|if|whether|both|the (?:fix|change|repair))|works? now)\b",
    re.IGNORECASE,
)
#: With these git moves to other commits, sets work aside or undoes it: nothing of that is in what is pushed.
_MOVES = frozenset({"checkout", "switch", "pull", "restore", "stash", "stash push", "stash apply", "stash pop"})
#: Within so many turns a report is answered; later changes have to be tied to it by more.
_SOON = 2


def fixes_of(timeline: Timeline) -> tuple[Fix, ...]:
    """The fix of every error that was repaired, by error."""
    known = {*timeline.call_numbers, *timeline.reported}
    errors = [event for event in timeline.events if event.type == "error" and event.id in known]
    found = ((error, _fix(timeline, error)) for error in errors)
    return tuple(_in_detail(timeline, error, fix) for error, fix in found if fix is not None)


def _in_detail(timeline: Timeline, error: Event, fix: Fix) -> Fix:
    """The fix with the edits that speak of the error, and with the changes that need not have to do with it."""
    speaking = speaking_calls(timeline, fix, error)
    loose = loose_changes(timeline, fix, error, speaking.keys())
    answering = answering_calls(timeline, fix, error, speaking) if len(loose) < len(fix.changes) else []
    lines = tuple(call.step.source.line for call in answering)
    return replace(fix, edits=speaking_edits(timeline, fix, error, speaking), loose=loose, lines=lines)


def _fix(timeline: Timeline, error: Event) -> Fix | None:
    if error.family == _CONFLICT and error.id in timeline.call_numbers:
        return _merge_fix(timeline, error)
    has_verdict = error.family not in MISCALLED | NOTHING_CHECKED or error.id not in timeline.call_numbers
    if error.check in timeline.runs and error.id in timeline.run_of and has_verdict:
        return _check_fix(timeline, error)
    if error.id in timeline.reported:
        if error.check == CI:
            return _ci_fix(timeline, error) or _accepted_fix(timeline, error)
        found = _accepted_fix(timeline, error) or _unanswered_fix(timeline, error)
        return found or _as_ci_was_repaired(timeline, error)
    return call_fix(timeline, error)


def replies_of(session: Session, timeline: Timeline, fixes: Iterable[Fix]) -> dict[str, Evidence]:
    """What a person said next about each error that nothing repaired and with which the agent's turn ended."""
    repaired = {fix.error for fix in fixes}
    prompts = [position for position, step in enumerate(session.steps) if step.kind == "prompt"]
    found: dict[str, Evidence] = {}
    for error in timeline.events:
        number = timeline.call_numbers.get(error.id)
        if error.type != "error" or error.id in repaired or number is None:
            continue
        begun = timeline.calls[number].position
        prompt = next((one for one in prompts if one > begun), None)
        if prompt is not None and not any(begun < call.position < prompt for call in timeline.calls[number + 1 :]):
            step = session.steps[prompt]
            found[error.id] = evidence_of(step, line(step.text))
    return found


# Checks.


def _check_fix(timeline: Timeline, error: Event) -> Fix | None:
    runs = timeline.runs[error.check or ""]
    place = timeline.run_of[error.id]
    failure = runs[place]
    repair = timeline.next_repair(error.check or "", place, error.family or "")
    good = runs[repair] if repair is not None else None
    other = timeline.settled_elsewhere(failure, error)
    committed = timeline.committed_after(failure)
    if other is not None and (good is None or other.position < good.position):
        good, repair = other, None
    if committed is not None and (good is None or timeline.positions[committed.id] < good.position):
        end = timeline.positions[committed.id]
        verified: str | None = committed.id
    elif good is not None:
        end = good.position
        verified = passing_event(timeline, [good] if repair is None else islice(runs, repair, None))
    else:
        return _shown_fix(timeline, error, failure)
    between = [run for run in runs if failure.position <= run.position < end]
    showing, end = _showing(timeline, error, between, end)
    kind = failure.verdict.kind
    parts = (part for one, later in pairwise(showing) for part in repaired_in_part(timeline, error, one, later))
    # From the last run on that still shows the failure.
    changes = [*parts, *timeline.changes_between(showing[-1].position, end, kind=kind, named=error.path)]
    changes = [one for one in changes if not runs_other_files(timeline, one, failure)]
    changes = _of_code(timeline, changes, failure)
    return credited(error, credited_changes(timeline, changes, error, failure), verified_by=verified)


def _of_code(timeline: Timeline, changes: Iterable[Decision], failure: CheckRun) -> list[Decision]:
    """The changes but for those of comments alone, which only a linter or formatter reads."""
    if failure.verdict.kind in {"lint", "format"}:
        return list(changes)
    return [one for one in changes if changes_code(timeline, one)]


def _shown_fix(timeline: Timeline, error: Event, failure: CheckRun) -> Fix | None:
    """Of a failure that a person shows with its command: the changes until that command passes, whatever it runs."""
    reported = timeline.reported.get(error.id)
    if reported is None:
        return None
    good = timeline.passed_as(reported.command, failure.position) if reported.command else None
    if good is None:
        return _unanswered_fix(timeline, error)
    changes = timeline.changes_between(failure.position, good.position, kind=failure.verdict.kind, named=error.path)
    changes = _of_code(timeline, changes, failure)
    return credited(
        error, credited_changes(timeline, changes, error, failure), verified_by=passing_event(timeline, [good])
    )


def _showing(timeline: Timeline, error: Event, between: Sequence[CheckRun], end: int) -> tuple[list[CheckRun], int]:
    """Of the runs from a failing one on those that still show the failure, and where it is gone.

    Of more runs than are looked at one by one only the last that shows it counts.
    """
    failure, showing = between[0], [between[0]]
    for run in between[1:_MOST_RUNS]:
        if run.passed or not shows(timeline, run, error):
            continue
        if complains_elsewhere(timeline, run, error, failure):
            return showing, run.position
        showing.append(run)
    last = (run for run in reversed(between[_MOST_RUNS:]) if not run.passed and shows(timeline, run, error))
    return [*showing, *islice(last, 1)], end


# Reports of people, and CI.


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


def _unanswered_fix(timeline: Timeline, error: Event) -> Fix | None:
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
    """What the agent changed after a report; of what names a file, the changes to that file.

    A job of CI runs what was pushed, so to go to another branch or to undo one's own work repairs none.
    """
    found = timeline.changes_between(timeline.positions[error.id], until, kind=None)
    changes = [one for one in found if one.actor == "agent" and not (error.check == CI and _only_moves(timeline, one))]
    changes = [one for one in changes if changes_code(timeline, one)] or changes
    return [
        one
        for one in changes
        if error.path and any(file_name(call.path or "") == file_name(error.path) for call in timeline.calls_of(one))
    ] or changes


def _only_moves(timeline: Timeline, decision: Decision) -> bool:
    parts = [part for call in timeline.calls_of(decision) for part in call.segments if part.purpose == "change"]
    moves = all(part.program == "git" and part.subcommand in _MOVES and "--" not in part.arguments for part in parts)
    return bool(parts) and moves and not timeline.changes_files(decision)


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


def _ci_fix(timeline: Timeline, error: Event) -> Fix | None:
    """The changes after CI failed that were pushed before the job passed, else before a check passes that shows it.

    That the job fails once more after it passed is another failure. What is asked about may be ordered to be repaired
    much later: then CI's log has to name the check that passes.
    """
    reported, family = timeline.reported[error.id], error.family or ""
    same = [one for one in timeline.events if one.check == CI and one.family == error.family]
    pushed = _delivered_after_changes(timeline, error)
    if pushed is not None:
        again = next((at for one in same if (at := timeline.positions[one.id]) > pushed), None)
        for call in timeline.calls:
            looked = pushed <= call.position and (again is None or call.position < again)
            if looked and (job_passed(call.segments, call.output, family) or accepted_by(call) is not None):
                changes = _changes_by_agent(timeline, error, pushed)
                edited = [one for one in changes if timeline.changes_files(one)]
                return credited(error, edited or changes, verified_by=None)
        if again is not None:
            return None  # what was changed before did not repair it
    lines = {number for one in same if one.evidence for number in (one.evidence.line, *one.evidence.also)}
    results = (call.result for call in timeline.calls if call.result)
    logs = "".join(one.text for one in results if any(place.line in lines for place in one.places))
    for turn, until in enumerate((reported.until, *reported.later)):
        found = _answered(timeline, error, until, logs=logs, soon=turn < _SOON)
        if found is not None:
            return found
    return None


def _delivered_after_changes(timeline: Timeline, error: Event) -> int | None:
    """Where changes that came after an error were first pushed; where nothing was pushed, committed or handed in."""
    changes = timeline.changes_between(timeline.positions[error.id], None, kind=None)
    first = next((timeline.positions[one.id] for one in changes if one.actor == "agent"), None)
    if first is None:
        return None
    delivered = [call for call in timeline.calls if call.position > first and delivered_by(call) is not None]
    pushes = (call for call in delivered if any(part.subcommand == "push" for part in call.segments))
    return next((call.position for call in (*pushes, *delivered)), None)


def _as_ci_was_repaired(timeline: Timeline, error: Event) -> Fix | None:
    """The fix of what CI says soon after a report: the person asked about that."""
    start, reported = timeline.positions[error.id], timeline.reported[error.id]
    until = next(iter(reported.later), reported.until) if OF_CI.search(error.message or "") else reported.until
    said = [one for one in timeline.events if one.check == CI and start < timeline.positions[one.id] < until]
    fixes = (_ci_fix(timeline, one) for one in said if one.id in timeline.reported)
    return next((replace(fix, error=error.id, check=error.check or "") for fix in fixes if fix is not None), None)


# Merges.


def _merge_fix(timeline: Timeline, error: Event) -> Fix | None:
    """The changes to the files in conflict, up to the commit of the merge or a check that passes on its result."""
    failed = timeline.call_of(error)
    names = {file_name(name) for name in _CONFLICTED.findall(failed.output)}
    start = timeline.positions[error.id]
    changes: list[Decision] = []
    for one in timeline.decisions_between(start, None):
        if timeline.went_wrong(one):
            continue
        segments = [part for call in timeline.calls_of(one) for part in call.segments if part.program == "git"]
        words = {word for part in segments for word in part.arguments}
        if words & _GIVES_UP:
            return None
        if timeline.merges_again(one):
            break  # another merge, with conflicts of its own
        if _resolves(timeline, one, names) or "--skip" in words:
            changes.append(one)
        committed = next((event for event in timeline.events_of(one) if event.type == "commit"), None)
        passed = (event for event in timeline.events_of(one) if event.type == "test" and event.status == "ok")
        verified = committed or (next(passed, None) if changes else None)
        if verified is not None or words & _ENDS_MERGE:
            done = verified.id if verified else one.id if changes else None
            return credited(error, changes, verified_by=done)
    return None


def _resolves(timeline: Timeline, decision: Decision, names: set[str]) -> bool:
    """Whether it writes a file in conflict, or takes one side of it."""
    for call in timeline.calls_of(decision):
        if call.operation in CHANGES and (not names or file_name(call.path or "") in names):
            return True
        for part in call.segments:
            sided = {"--ours", "--theirs"} & set(part.arguments) or part.subcommand == "rm"
            if part.program == "git" and sided:
                return True
            if part.program in {"sed", "perl"} and names & {file_name(word) for word in part.arguments}:
                return True
    return False
