"""One event for each job of CI that failed, however often its list and its log are looked at.

The first look is where the failure came to light: its event stays there and names the lines of the others. What went
wrong is said by the job's log, which comes later. A list of several failed jobs is one event until the log of another
of its jobs is read; then that job failed there too. Who asks why a run or a pull request fails has looked first.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_episodes.extraction.checks.ci import (
    CI,
    OF_CI,
    failed_jobs,
    is_listed,
    marks_of_failure,
    saved_logs,
    with_others,
)
from helix_episodes.extraction.delivery import delivered_by
from helix_episodes.extraction.drafts import DraftEvent, evidence_of
from helix_episodes.model import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.checks import CheckFinding
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Event


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
