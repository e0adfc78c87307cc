"""What became of the work outside the agent's files: commits, pushes, pull requests, and what CI said of them.

A commit or a push that goes through has passed whatever hooks the project has; a pull request that is merged was
accepted by somebody; CI that passes after a push looked at the work itself. Each is read from the exit status and from
the words in which git or GitHub's program reports success, never from the command alone.

A job of CI that failed is one event, however often its list and its log are looked at. The first look is where the
failure came to light: its event stays there and names the lines of the others. What went wrong is said by the job's
log, which comes later. A list of several failed jobs is one event until the log of another of its jobs is read; then
that job failed there too. Who asks why a run or a pull request fails has looked first.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from helix_episodes.extraction.calls import UNDONE, WITHOUT_EFFECT
from helix_episodes.extraction.checks.ci import (
    CHECK_LINE,
    CI,
    OF_CI,
    failed_jobs,
    is_listed,
    marks_of_failure,
    saved_logs,
    with_others,
)
from helix_episodes.extraction.drafts import DraftEvent, evidence_of
from helix_episodes.extraction.shell.commands import hides_exit
from helix_episodes.model import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.checks import CheckFinding
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Event


def went_well(call: ParsedCall, at: int) -> bool:
    """Whether a part of a command is known to have ended with exit status 0, by that status or by its own words."""
    judged = next((one.passed for one in call.verdicts if one.segment == at), None)
    if judged is not None:
        return judged
    result = call.result
    ended_well = result is not None and (result.exit_code == 0 if result.exit_code is not None else call.status == "ok")
    return ended_well and not hides_exit(call.segments, at) and call.segments[at].joiner != "||"


#: What makes the work part of the repository, and the words with which no hook runs or nothing of it happens. ``-n``
#: skips the hooks of a commit and only tries a push.
_DELIVERING = frozenset({("git", "commit"), ("git", "push"), ("gh", "pr create"), ("gh", "pr merge")})
_UNCHECKED = frozenset({"--no-verify", "-n", "--dry-run"})
_REFUSED = re.compile(r"\[(?:remote )?rejected\]|^error: failed to push|^fatal: |nothing to commit", re.MULTILINE)
_SHOWN = {
    "commit": re.compile(r"^\[[^\]\n]*\b[0-9a-f]{7,40}\] ", re.MULTILINE),
    "push": re.compile(r"^ *(?:[*+] *)?(?:[0-9a-f]{7,}\.\.\.?[0-9a-f]{7,}|\[new (?:branch|tag)\])", re.MULTILINE),
    "pr create": re.compile(r"^https://\S+/pull/\d+", re.MULTILINE),
    "pr merge": re.compile(r"\b[Mm]erged\b"),
}


def delivered_by(call: ParsedCall) -> Segment | None:
    """The part of a command that committed, pushed, or opened or merged a pull request, when it went through."""
    if call.outside or call.status in UNDONE:
        return None
    for at, part in enumerate(call.segments):
        if (part.program, part.subcommand) in _DELIVERING and not _UNCHECKED.intersection(part.arguments):
            shown = _SHOWN[part.subcommand or ""].search(call.output)
            seen = went_well(call, at) or (shown is not None and call.status == "ok")
            if seen and not _REFUSED.search(call.output):
                return part
    return None


#: What CI and the pull request say of the work, with the words that say it.
Acceptance = tuple[Literal["CI passes", "the pull request is merged"], str]
_ALL_PASSED = re.compile(r"^All checks were successful.*$|^\u2713 .* completed with 'success'.*$", re.MULTILINE)
_MERGED = re.compile(r"^.*(?:\u2713 |Merged |merged )pull request.*$", re.MULTILINE)


def accepted_by(call: ParsedCall) -> Acceptance | None:
    """That CI passed or that a pull request was merged, when a command of GitHub's program says so."""
    for at, part in enumerate(call.segments):
        if part.program != "gh" or call.status in WITHOUT_EFFECT:
            continue
        if part.subcommand == "pr merge" and "--auto" not in part.arguments and went_well(call, at):
            shown = _MERGED.search(call.output)
            return "the pull request is merged", shown[0] if shown else part.text
        if part.subcommand == "pr view" and _says(call.output, "state", "MERGED"):
            return "the pull request is merged", call.output
        if part.subcommand in {"pr checks", "run watch", "run view"} and (words := _passing(part, call, at)):
            return "CI passes", words
    return None


def _passing(part: Segment, call: ParsedCall, at: int) -> str | None:
    """The words in which CI passes as a whole."""
    output = call.output
    if shown := _ALL_PASSED.search(output):
        return shown[0]
    if part.subcommand == "pr checks":
        states = [(found[2], found[0]) for found in CHECK_LINE.finditer(output)]
        passed = [line for state, line in states if state == "pass"]
        complete = all(state in {"pass", "skipping"} for state, _ in states)
        return passed[-1].strip() if passed and complete else None
    if part.subcommand == "run watch":
        jobs = [line for line in output.splitlines() if line.startswith("\u2713 ")]
        return jobs[-1] if jobs and "--exit-status" in part.arguments and went_well(call, at) else None
    return output if _says(output, "conclusion", "success") else None


def _says(output: str, key: str, value: str) -> bool:
    """Whether an output is one JSON object with that value."""
    try:
        found = json.loads(output)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get(key) == value


class _Seen(msgspec.Struct, frozen=True):
    """A failed job that was seen: the place of its event among those that are kept, its name and its evidence."""

    at: int
    name: str
    evidence: Evidence


def told_once(
    drafts: Sequence[DraftEvent],
    calls: Sequence[ParsedCall],
    *,
    event_of: Callable[[ParsedCall, CheckFinding], Event],
) -> list[DraftEvent]:
    """The same without failures of CI that were shown before.

    So it is with another run of the job that fails with the same words, as long as nothing was delivered in between.
    """
    looks = _Looks(event_of)
    delivered = [
        number
        for number, call in enumerate(calls)
        if delivered_by(call)
        or any(part.program == "gh" and part.subcommand in {"run rerun", "workflow run"} for part in call.segments)
    ]
    saved: dict[str, Segment] = {}
    read = 0
    for draft in drafts:
        number = draft.call or 0
        for earlier in calls[read : number + 1]:
            saved |= saved_logs(earlier.segments)
        read = max(read, number + 1)
        call, period = calls[number], bisect_right(delivered, number)
        jobs = failed_jobs(call.segments, call.output) if draft.event.check == CI else ()
        marks = {job: marks_of_failure(call.segments, call.output, job, period=period, saved=saved) for job in jobs}
        if not jobs:
            looks.kept.append(draft)
        elif is_listed(jobs[0].message):
            looks.take_list(draft, call, marks)
        else:
            looks.take_log(draft, call, jobs[0], marks[jobs[0]])
    return looks.kept


def as_reported(
    drafts: Sequence[DraftEvent], words: Sequence[DraftEvent], calls: Sequence[ParsedCall]
) -> list[DraftEvent]:
    """Both together, with what CI shows in place of the report of a person that it answers, in this turn or the next.

    After a delivery CI looked at something else.
    """
    delivered = [call.position for call in calls if delivered_by(call)]
    told: dict[int, DraftEvent] = {}
    answered: set[int] = set()
    for report in words:
        place, reported = report.event.evidence, report.reported
        if place is None or reported is None or reported.verdict or not OF_CI.search(report.event.message or ""):
            continue
        end = min([(reported.until, *reported.later)[:2][-1], *(at for at in delivered if at > report.position)])
        shown = [
            number
            for number, draft in enumerate(drafts)
            if draft.event.check == CI and report.position < draft.position < end
        ]
        for number in shown:
            turns = drafts[number].reported or reported
            ends = sorted({reported.until, *reported.later, turns.until, *turns.later})
            answers = replace(reported, until=ends[0], later=tuple(ends[1:]))
            told[number] = replace(_told_at(drafts[number], report, place), reported=answers)
        answered |= {id(report)} if shown else set()
    kept = (report for report in words if id(report) not in answered)
    return [*(told.get(number, draft) for number, draft in enumerate(drafts)), *kept]


class _Looks:
    """The events so far, and the failed jobs in them by their marks."""

    def __init__(self, event_of: Callable[[ParsedCall, CheckFinding], Event]) -> None:
        self.kept: list[DraftEvent] = []
        self._event_of = event_of
        self._seen: dict[str, _Seen] = {}

    def take_list(self, draft: DraftEvent, call: ParsedCall, marks: dict[CheckFinding, frozenset[str]]) -> None:
        """A list of jobs: those that are new failed here, but for those that only gather what became of known ones."""
        known = {job: seen for job, of_job in marks.items() if (seen := self._known(of_job))}
        new = [job for job in marks if job not in known]
        if known and all(job.generic for job in new):
            new = []
            for at in dict.fromkeys(one.at for one in known.values()):
                self.kept[at] = _seen_at(self.kept[at], draft)
        if new:
            self.kept.append(replace(draft, event=self._event_of(call, with_others(new))) if known else draft)
        for job in new:
            place = evidence_of(call.result or call.step, job.message)
            known[job] = _Seen(len(self.kept) - 1, job.family, place)
        for job, seen in known.items():
            for mark in marks[job]:
                self._seen.setdefault(mark, seen)

    def take_log(self, draft: DraftEvent, call: ParsedCall, job: CheckFinding, marks: frozenset[str]) -> None:
        """The log of a job: why it failed where the list, or another part of the log, showed that it did."""
        seen = self._known(marks)
        if seen is None:
            self._add(draft, job.family, marks)
            return
        before = self.kept[seen.at]
        if job.generic:
            # A log that does not name its job is known by the job's number.
            draft = replace(draft, event=self._event_of(call, with_others([job._replace(family=seen.name)])))
        if before.event.family != seen.name:
            own = {mark for mark, one in self._seen.items() if one == seen}
            self._add(_told_at(draft, before, seen.evidence), seen.name, marks | own)
            return
        listed = is_listed(before.event.message or "")
        self.kept[seen.at] = _told_at(draft, before, seen.evidence) if listed else _seen_at(before, draft)
        for mark in marks:
            self._seen.setdefault(mark, seen)

    def _known(self, marks: frozenset[str]) -> _Seen | None:
        return next((self._seen[mark] for mark in sorted(marks) if mark in self._seen), None)

    def _add(self, draft: DraftEvent, name: str, marks: set[str] | frozenset[str]) -> None:
        self.kept.append(draft)
        if draft.event.evidence is not None:
            self._seen |= dict.fromkeys(marks, _Seen(len(self.kept) - 1, name, draft.event.evidence))


def _told_at(draft: DraftEvent, before: DraftEvent, place: Evidence) -> DraftEvent:
    """What a log tells, as of the look or the words before it that showed the failure."""
    told = replace(draft.event, timestamp=before.event.timestamp, actor=before.event.actor, evidence=place)
    draft_there = replace(before, event=told)
    return _seen_at(_seen_at(draft_there, draft), before)


def _seen_at(draft: DraftEvent, other: DraftEvent) -> DraftEvent:
    """A draft that stands for another one too."""
    own, its = draft.event.evidence, other.event.evidence
    if own is None or its is None:
        return draft
    lines = tuple(number for number in (*own.also, its.line, *its.also) if number != own.line)
    return replace(draft, event=replace(draft.event, evidence=replace(own, also=tuple(dict.fromkeys(lines)))))
