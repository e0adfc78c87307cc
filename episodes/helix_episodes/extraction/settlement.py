"""What settles a failing run of a check, so that it no longer decides how the session came out.

A check fails in the middle of the work, and what shows that the failure is gone is often another command: the same
check under another name, the formatter instead of the format check, the tests instead of the compiler, the hooks of a
commit. These settle a failing run:

- the same command, or one that contains it, ends with exit status 0; silent formatters count;
- the command runs again and nothing of the failure is left in its output, though its exit status is hidden;
- after a change, a check passes that covers the failed one: tests cover builds, builds cover vet and types, whatever
  must have compiled the package covers an error of the compiler, and a formatter or fixer covers its own check;
- a commit, a push or a merge succeeds afterwards, unless its hooks were skipped;
- what the check looks at was changed afterwards, and the check did not run again: then nobody knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import UNDONE
from helix_episodes.extraction.check_runs import changes_repository, rewrites
from helix_episodes.extraction.checks import covers
from helix_episodes.extraction.checks.model import covers_places
from helix_episodes.extraction.delivery import delivered_by, went_well
from helix_episodes.extraction.languages import language_of
from helix_episodes.extraction.shell.commands import hides_exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.checks import Verdict
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision


_STOPPED = {*UNDONE, "interrupted"}
#: A pass of the first kind shows that nothing is left of the second.
_COVERED_KINDS = {"test": frozenset({"build", "typecheck"}), "build": frozenset({"typecheck"})}
_VET = "go vet"


def is_settled(timeline: Timeline, failure: CheckRun, *, prompts: Sequence[int]) -> bool:
    """Whether anything after a failing run says that its failure is gone, or leaves that unknown.

    ``prompts`` are the places of the user's words among the steps.
    """
    if _delivered(timeline, failure, prompts) or _changed_unchecked(timeline, failure):
        return True
    if _shown_elsewhere(timeline, failure):
        return True
    part = None if failure.call is None else _part(timeline.calls[failure.call], failure.verdict)
    if part is not None and any(_settles(call, at, part, failure) for call, at in _later_parts(timeline, failure)):
        return True
    return any(
        _covers(run, failure, timeline)
        for runs in timeline.runs.values()
        for run in runs
        if run.passed and run.position > failure.position
    )


def _part(call: ParsedCall, verdict: Verdict) -> Segment | None:
    """The part of a command that ran the check."""
    place = verdict.segment
    return call.segments[place] if place is not None and place < len(call.segments) else None


def _later_parts(timeline: Timeline, failure: CheckRun) -> Iterator[tuple[ParsedCall, int]]:
    """The parts of every command after a failure that ran on the session's own tree."""
    aside = {(run.call, run.verdict.segment) for run in timeline.aside}
    for number, call in enumerate(timeline.calls):
        if call.position > failure.position and call.result is not None and call.status not in _STOPPED:
            yield from ((call, at) for at in range(len(call.segments)) if (number, at) not in aside)


def _settles(call: ParsedCall, at: int, failed: Segment, failure: CheckRun) -> bool:
    """Whether one part of a later command is the failed one again, or its fixer, and went well."""
    part = call.segments[at]
    if (part.program, part.arguments) == (failed.program, failed.arguments):
        return went_well(call, at) or _left_open(call, at, failure)
    return _fixes(part, failed, failure) and went_well(call, at)


def _left_open(call: ParsedCall, at: int, failure: CheckRun) -> bool:
    """Whether a check ran again with its exit status hidden, and what it had complained of is not in its output."""
    judged = any(one.segment == at and one.passed is not None for one in call.verdicts)
    if judged or call.status == "error" or not hides_exit(call.segments, at):
        return False
    messages = [found.message for found in failure.verdict.findings if found.message]
    return not any(message in call.output for message in messages)


def _fixes(part: Segment, failed: Segment, failure: CheckRun) -> bool:
    """Whether a command rewrites what the failed check complained of: a formatter, the check itself asked to fix."""
    if part.program == failed.program and rewrites(part):
        return (part.subcommand or "").startswith(failed.subcommand or "")
    formats = part.purpose == "format" or part.kind == "format"
    return failure.verdict.kind == "format" and formats and _same_language(part.program, failure.verdict.check)


def _covers(run: CheckRun, failure: CheckRun, timeline: Timeline) -> bool:
    """Whether a later passing run shows that the failure is gone."""
    if covers(run.ground, failure.ground):
        return True
    later, failed = run.verdict, failure.verdict
    covered = failed.kind in _COVERED_KINDS.get(later.kind, ()) or (
        failed.check == _VET and later.kind in {"test", "build"}
    )
    # Where nothing was done in between, the two disagree, and the one that fails is right.
    return (
        covered
        and _same_language(later.check, failed.check)
        and covers_places(later, failed)
        and _may_have_changed(timeline, failure.position, run.position)
    )


def _shown_elsewhere(timeline: Timeline, failure: CheckRun) -> bool:
    """Whether the same task under another name, or what must have compiled the same code, passed after a change."""
    runs = [timeline.settled_elsewhere(failure, timeline.event(name)) for name in failure.events]
    return bool(runs) and all(
        run is not None
        and _same_language(run.verdict.check, failure.verdict.check)
        and _may_have_changed(timeline, failure.position, run.position)
        for run in runs
    )


def _same_language(one: str, other: str) -> bool:
    first, second = language_of(one), language_of(other)
    return first is None or second is None or first == second


def _delivered(timeline: Timeline, failure: CheckRun, prompts: Sequence[int]) -> bool:
    """Whether the work was committed or pushed after the failure, past whatever hooks there are.

    Without hooks, tests that fail do not hinder a commit. Then it counts where something was changed since, or where
    the user spoke in between: who has seen the failure and asks for a commit accepts it.
    """
    for call in timeline.calls:
        if call.position <= failure.position or delivered_by(call) is None:
            continue
        hooked = any(one.passed for one in call.verdicts)
        asked = any(failure.position < prompt < call.position for prompt in prompts)
        changed = _may_have_changed(timeline, failure.position, call.position)
        if hooked or asked or changed or failure.verdict.kind != "test":
            return True
    return False


def _may_have_changed(timeline: Timeline, start: int, end: int) -> bool:
    """Whether a call between two positions edited a file, or ran anything that may have."""
    between = (call for call in timeline.calls if start < call.position < end and call.status not in _STOPPED)
    return any(
        call.changes_files
        or any(part.purpose in {"change", "format"} and part.program != "git" for part in call.segments)
        for call in between
    )


def _changed_unchecked(timeline: Timeline, failure: CheckRun) -> bool:
    """Whether what the check looks at was changed after its last run; what is stashed and brought back is as it was."""
    changes = timeline.changes_between(failure.position, None, kind=failure.verdict.kind)
    return any(not _only_stashes(timeline, one) for one in changes)


def _only_stashes(timeline: Timeline, decision: Decision) -> bool:
    changing = [part for call in timeline.calls_of(decision) for part in call.segments if changes_repository(part)]
    stashes = all(part.program == "git" and (part.subcommand or "").startswith("stash") for part in changing)
    return bool(changing) and stashes and not timeline.changes_files(decision)
