"""What each failure took: calls, minutes of work and tokens, from its result to the result that shows the repair.

Without a repair the cost ends at the next passing run of the check, at a command that did the same work instead, or at
the next prompt, whichever comes first; for a tool or command that is never used again, where the agent has gone on to
something else. Gaps of more than five minutes are no work, nor is any time in which a person was waited for: a call
that only reads or changes a file and takes longer than half a minute has waited for a permission. Failures that are
open at once share what happens: the sum over all failures of a session is never more than the session took. The same
failure again, before it is repaired, goes on with the one before.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import CHANGES, UNDONE
from helix_episodes.model import Cost

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import CostEnd, Event, Fix
    from helix_episodes.session import Session, Step

#: A longer gap between two steps is somebody's absence, in seconds; in the costs and in how long a session took.
LONGEST_GAP = 300.0
#: Who does something else for so many calls has left a failed call behind; as far as `fixes` looks for another way.
LEFT_AFTER = 12
#: Calls that wait for a person.
_ASKING = frozenset({"ask", "plan"})
#: A call that reads or changes a file takes less by itself, even where an editor is asked for its diagnostics after it.
_LONGEST_FILE_ACCESS = 30.0
#: Programs that are done at once, as long as they only look.
_IMMEDIATE = frozenset({
    "awk", "basename", "cat", "cd", "cut", "date", "diff", "dirname", "echo", "file", "git", "grep", "head", "hexdump",
    "ls", "nl", "od", "printf", "pwd", "readlink", "realpath", "sed", "sort", "stat", "tail", "test", "tr", "true",
    "uniq", "wc", "which", "xxd",
})  # fmt: skip
#: Subcommands and options with which they wait for something else.
_WAITING = frozenset({"fetch", "ls-remote", "remote", "-f", "-F", "--follow"})


def costs_of(
    session: Session, timeline: Timeline, fixes: Sequence[Fix], *, besides: Collection[str] = ()
) -> dict[str, Cost]:
    """The cost of every error by its id, ``besides`` those that were meant to fail."""
    ends = _Ends(session, timeline, fixes)
    errors = [event for event in timeline.events if event.type == "error" and event.id not in besides]
    spans = {event.id: (timeline.positions[event.id], *ends.of(event)) for event in errors}
    return _shared(session, timeline, errors, spans)


class _Ends:
    """Finds where the cost of a failure ends."""

    def __init__(self, session: Session, timeline: Timeline, fixes: Sequence[Fix]) -> None:
        self._timeline = timeline
        self._fixes = {fix.error: fix for fix in fixes}
        steps = enumerate(session.steps)
        self._prompts = [at for at, step in steps if step.kind == "prompt" and step.actor == "user"]
        self._last = len(session.steps) - 1
        # Commands by what they run, tools by their name: a later one that goes well shows that it works again.
        self._working: dict[tuple[str, str], list[int]] = defaultdict(list)
        for call in timeline.calls:
            if call.status == "ok" and call.result_position is not None:
                self._working[_kind_of_call(call)].append(call.result_position)

    def of(self, event: Event) -> tuple[int, CostEnd]:
        """The position of the step at which it ends, and why."""
        start = self._timeline.positions[event.id]
        repaired = min((at for at in self._repairs(event) if at > start), default=None)
        if repaired is not None:
            return repaired, "repair"
        others: list[tuple[int, CostEnd]] = []
        others.extend((at, "pass") for at in self._passes(event))
        others.extend((at, "instead") for at in self._instead(event))
        others.extend((at, "prompt") for at in self._prompts)
        if event.id in self._timeline.call_numbers and event.id not in self._timeline.run_of:
            later = self._timeline.calls[self._timeline.call_numbers[event.id] + 1 :][:LEFT_AFTER]
            if len(later) == LEFT_AFTER:
                others.append((later[-1].position, "left"))
        return min((one for one in others if one[0] > start), default=(self._last, "session"))

    def _repairs(self, event: Event) -> Iterator[int]:
        timeline, fix = self._timeline, self._fixes.get(event.id)
        if fix is None:
            return
        if fix.verified_by is not None:
            yield self._shown(fix.verified_by, timeline.positions[event.id])
        elif event.id not in timeline.run_of:
            yield max(self._shown(change, -1) for change in fix.changes)
        if event.id in timeline.run_of and event.check in timeline.runs:
            place = timeline.next_repair(event.check, timeline.run_of[event.id], event.family or "")
            if place is not None:
                yield timeline.runs[event.check][place].position

    def _shown(self, name: str, start: int) -> int:
        """Where the log shows what came of an event or of a decision."""
        timeline = self._timeline
        if name.startswith("e"):
            return timeline.positions[name]
        results = (call.result_position for call in timeline.calls_of(timeline.decision(name)))
        return min((at for at in results if at is not None and at > start), default=timeline.positions[name])

    def _passes(self, event: Event) -> Iterator[int]:
        timeline = self._timeline
        if event.check in timeline.runs:
            yield from (run.position for run in timeline.runs[event.check] if run.passed)
        elif event.id in timeline.call_numbers:
            yield from self._working.get(_kind_of_call(timeline.call_of(event)), ())

    def _instead(self, event: Event) -> Iterator[int]:
        """Where another command did the work of a check that did not start, or showed what a failed one was to show."""
        timeline = self._timeline
        if event.id not in timeline.call_numbers or event.id in timeline.run_of:
            return
        failed = timeline.call_of(event)
        if failed.decisive is None:
            return
        if failed.decisive.kind is not None:
            runs = (run for each in timeline.runs.values() for run in each if run.verdict.kind == failed.decisive.kind)
            yield from (run.position for run in runs if run.call is not None and run.verdict.passed is not None)
        elif failed.purpose == "look":
            programs = {part.program for part in failed.segments}
            for call in timeline.calls:
                used = {part.program for part in call.segments}
                if call.purpose == "look" and call.status == "ok" and call.result_position and used & programs:
                    yield call.result_position


def _kind_of_call(call: ParsedCall) -> tuple[str, str]:
    if call.operation == "run" and call.decisive is not None:
        return call.decisive.program, call.decisive.subcommand or ""
    return call.step.tool or "", call.path or ""


#: Where a failure begins, where it ends, and why there.
_Span = tuple[int, int, "CostEnd"]


def _shared(session: Session, timeline: Timeline, errors: Sequence[Event], spans: dict[str, _Span]) -> dict[str, Cost]:
    """The costs, every step divided among the issues that are open at it."""
    own = _without_overlap(errors, spans)
    opened = [0] * (len(session.steps) + 2)
    for start, end in own.values():
        opened[start + 1] += 1
        opened[end + 1] -= 1
    shares = [1 / number if number else 0.0 for number in accumulate(opened)]
    steps = _running((1.0 if step.kind == "call" else 0.0 for step in session.steps), shares)
    seconds = _running(active_seconds(session.steps, timeline.calls), shares)
    tokens = _running((step.tokens or 0 for step in session.steps), shares)
    timed = any(step.at is not None for step in session.steps)
    counted = any(step.tokens is not None for step in session.steps)
    return {
        name: Cost(
            steps=round(steps[end] - steps[start], 2),
            seconds=round(seconds[end] - seconds[start]) if timed else None,
            tokens=round(tokens[end] - tokens[start]) if counted else None,
            end=spans[name][2],
        )
        for name, (start, end) in own.items()
    }


def _without_overlap(errors: Sequence[Event], spans: dict[str, _Span]) -> dict[str, tuple[int, int]]:
    """Begin and end of each failure, cut where the same issue comes again."""
    by_issue: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for one in errors:
        issue = (one.fingerprint,) if one.fingerprint else (one.check or "", one.family or "")
        by_issue[issue].append(one.id)
    own: dict[str, tuple[int, int]] = {}
    for names in by_issue.values():
        names.sort(key=lambda name: spans[name][0])
        for name, after in zip(names, [*names[1:], None], strict=True):
            start, end, _ = spans[name]
            again = spans[after][0] if after is not None else end
            own[name] = start, max(start, min(end, again))
    return own


def _running(weights: Iterable[float], shares: Sequence[float]) -> list[float]:
    """What one of the failures open at each step has borne of all weights up to there."""
    return list(accumulate(weight * share for weight, share in zip(weights, shares, strict=False)))


#: Results that came of somebody's decision or stop.
_NOT_WORKED = UNDONE | {"interrupted"}


def active_seconds(steps: Sequence[Step], calls: Sequence[ParsedCall]) -> Iterator[float]:
    """The time since the step before, as far as the agent worked; helpers side by side count once."""
    asked = {step.call_id for step in steps if step.kind == "call" and step.operation in _ASKING}
    answered = {call.position: call.result_position for call in calls if call.result_position is not None}
    immediate = {call.position for call in calls if _is_immediate(call)}
    at_once = {end for start, end in answered.items() if start in immediate}
    others = {end for start, end in answered.items() if start not in immediate}
    running: set[int] = set()
    latest: datetime | None = None
    for place, step in enumerate(steps):
        gap = (step.at - latest).total_seconds() if step.at and latest else 0.0
        waited = step.kind == "prompt" or (
            step.kind == "result" and (step.call_id in asked or step.status in _NOT_WORKED)
        )
        longest = _LONGEST_FILE_ACCESS if place in at_once and not running else LONGEST_GAP
        yield gap if 0 < gap <= longest and not waited else 0.0
        if answered.get(place) in others:
            running.add(answered[place])
        running.discard(place)
        if step.at and (latest is None or step.at > latest):
            latest = step.at


def _is_immediate(call: ParsedCall) -> bool:
    """Whether a call only reads or changes a file, which takes no time worth naming."""
    if call.operation == "look":
        return {"url", "query"}.isdisjoint(call.step.arguments) and call.path is not None
    if call.operation != "run":
        return call.operation in CHANGES
    return bool(call.segments) and all(
        part.purpose == "look" and part.program in _IMMEDIATE and _WAITING.isdisjoint(part.arguments)
        for part in call.segments
    )
