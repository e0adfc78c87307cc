"""Links: what led to what within a session, each with its reason; and fixes: what repaired an error.

Order in time alone makes no link. Every rule here rests on something the log shows: a call and its result, the same
check, the same file, the same command. All links run forwards in time, so they cannot form a cycle. `complete` adds
what decisions and events can only say once they are linked: the error that a decision answers is its context and makes
it a recovery, a decision's outcome follows from its own effects, and ``caused_by``, ``leads_to`` and ``effects`` of the
original schema are the links seen from either end.

Fixes run backwards: a change removes an error that came before it. A fix of a check is every change between the last
run that showed the failure and the first that no longer does. When the failure names a file and one of those changes is
to that file, only such changes count (for linters and compilers, which point at the place; a test points at itself).
Several changes share the credit: each may have done it. An error of a tool is repaired when the same call succeeds
later; one of a command by the changes before it succeeds, or by having been corrected. A call that failed repairs
nothing, nor does the same command merely run again.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.episode_consistency import sound_pairs, times_of
from helix_episodes.extraction.calls import CHANGES, command_of, is_code, is_look, is_request, operands_of, places_in
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.timeline import looked_on, pointed_at, touches
from helix_episodes.model import Decision, Event, Fix, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.report_links import StatementPair
    from helix_episodes.extraction.timeline import CheckRun, Timeline
    from helix_episodes.model import Outcome


def links_of(timeline: Timeline, *, stated: Iterable[StatementPair] = ()) -> tuple[Link, ...]:
    """Every link of a session once, by source, target and reason; ``stated`` is what a report joins."""
    rules = (_results, _answers, _edit_tests, _commits, _stated)
    found = {(one.source, one.target, one.reason): one for rule in rules for one in rule(timeline)}
    marked = timeline.marked
    for pair in stated:
        link = Link(source=marked[pair.source], target=marked[pair.target], reason=pair.reason, type=pair.type)
        found[link.source, link.target, link.reason] = link
    links = [link for _, link in sorted(found.items())]
    # Where a log's lines are out of order, or an id is used twice, an effect may have been taken for a cause.
    times = times_of([*timeline.decisions, *timeline.events])
    valid, _ = sound_pairs(((one.source, one.target) for one in links), times)
    return tuple(one for one in links if (one.source, one.target) in valid)


def _results(timeline: Timeline) -> Iterator[Link]:
    """A decision and what came of its calls; a delegation, its hand-off, and what came back."""
    for decision in timeline.decisions:
        chain = [decision.id]
        for event in timeline.events_of(decision):
            if event.type == "handoff":
                chain.append(event.id)
            else:
                yield Link(source=decision.id, target=event.id, reason="call")
        for source, target in pairwise(chain):
            yield Link(source=source, target=target, reason="spawn")


def _answers(timeline: Timeline) -> Iterator[Link]:
    """An error and the decision that first dealt with it."""
    for event in timeline.events:
        answer = timeline.answer_to(event) if event.type == "error" else None
        if answer is not None:
            yield Link(source=event.id, target=answer.id, reason="answer")


def _edit_tests(timeline: Timeline) -> Iterator[Link]:
    """A change and the verdict of the next run of each check over it."""
    for runs in timeline.runs.values():
        for before, previous, run in zip([None, None, *runs], [None, *runs], runs, strict=False):
            start = previous.position if previous else -1
            unseen = before.position if before else -1
            judged = start if previous is None or looked_on(previous) else unseen
            known = previous.families if previous else frozenset()
            for event in map(timeline.event, run.events):
                if event.type == "error" and event.family in known:
                    continue  # a failure that was there already: no change since brought it about
                for decision in _led_to(timeline, run, event, start=start, judged=judged):
                    yield Link(source=decision.id, target=event.id, reason="edit-test")


def _led_to(timeline: Timeline, run: CheckRun, event: Event, *, start: int, judged: int) -> Sequence[Decision]:
    """The changes since the run before, or those to the place that the error names.

    Where the last run could not look at that place (it stopped at what does not compile), changes count from the run
    before that. Where no one ran the check (someone reports it), only the named place tells what brought it about.
    """
    kind = run.verdict.kind
    changes = timeline.changes_between(start, run.position, kind=kind)
    if event.type == "error" and event.path is not None and judged < start:
        unseen = timeline.changes_between(judged, run.position, kind=kind)
        changes = [one for one in unseen if touches(one, event.path)] or changes
    named = pointed_at(changes, event, kind=kind)
    return named if run.call is not None else [one for one in named if touches(one, event.path)]


def _commits(timeline: Timeline) -> Iterator[Link]:
    """The edits since the last commit, and the commit that holds them."""
    since = -1
    for event in timeline.events:
        if event.type == "commit":
            position = timeline.positions[event.id]
            staged = _staged(timeline, since, position)
            for decision in timeline.decisions_between(since, position):
                path = decision.action.path if decision.action else None
                if path is None or not timeline.changes_files(decision):
                    continue
                if not staged or any(file_name(path) in part for part in staged):
                    yield Link(source=decision.id, target=event.id, reason="commit", type="enables")
            since = position


def _staged(timeline: Timeline, start: int, end: int) -> tuple[str, ...]:
    """The paths that ``git add`` named between two positions; empty when it took everything."""
    between = (call for call in timeline.calls if start < call.position <= end)
    adds = [one for call in between for one in call.segments if one.program == "git" and one.subcommand == "add"]
    paths = tuple(part for one in adds for part in one.arguments if not part.startswith("-") and part != "add")
    return () if any(part in {".", "*", ":/"} for part in paths) else paths


def _stated(timeline: Timeline) -> Iterator[Link]:
    """What a person chose (an answer, an approved plan) and the first step by which the agent acts on it.

    The agent asked and waited for it: the log, not the clock, says that the answer enables what it does next.
    """
    for decision in timeline.decisions:
        approved = any(call.operation == "plan" and call.status == "ok" for call in timeline.calls_of(decision))
        if approved or (decision.stated and decision.actor == "user"):
            after = timeline.decisions_between(timeline.positions[decision.id])
            following = next((one for one in after if timeline.calls_of(one)), None)
            if following is not None:
                yield Link(source=decision.id, target=following.id, reason="stated", type="enables")


def complete(
    timeline: Timeline, links: Sequence[Link], fixes: Sequence[Fix]
) -> tuple[tuple[Decision, ...], tuple[Event, ...]]:
    """The numbered decisions and events with everything that follows from links and fixes."""
    ends = _Ends(links, fixes)
    decisions = tuple(
        replace(
            _in_context(decision, timeline, ends),
            outcome=_outcome(decision, timeline, ends) if decision.outcome == "unknown" else decision.outcome,
            effects=ends.effects(decision.id),
            caused_by=ends.causes(decision.id),
        )
        for decision in timeline.decisions
    )
    events = (
        replace(event, caused_by=ends.causes(event.id), leads_to=ends.effects(event.id)) for event in timeline.events
    )
    return decisions, tuple(events)


class _Ends:
    """Links and fixes by either end, so that each decision looks only at its own."""

    def __init__(self, links: Sequence[Link], fixes: Sequence[Fix]) -> None:
        self.leaving: dict[str, list[Link]] = defaultdict(list)
        self.entering: dict[str, list[Link]] = defaultdict(list)
        for link in links:
            self.leaving[link.source].append(link)
            self.entering[link.target].append(link)
        self.fixed = {fix.error for fix in fixes}
        self.fixers = {change for fix in fixes if fix.verified_by for change in fix.changes}

    def causes(self, name: str) -> tuple[str, ...]:
        """What led to it, each once."""
        return tuple(dict.fromkeys(link.source for link in self.entering[name]))

    def effects(self, name: str) -> tuple[str, ...]:
        """What it led to, each once."""
        return tuple(dict.fromkeys(link.target for link in self.leaving[name]))

    def answered_by(self, name: str) -> list[str]:
        """The errors that a decision answers."""
        return [link.source for link in self.entering[name] if link.reason == "answer"]


def _in_context(decision: Decision, timeline: Timeline, ends: _Ends) -> Decision:
    """An answer's context is the error it answers; no context repeats what was chosen."""
    answered = ends.answered_by(decision.id)
    if answered:
        reproduces = decision.type == "test" and answered[-1] in timeline.reported
        kind = decision.type if decision.type == "routing" or reproduces else "recovery"
        return replace(decision, context=timeline.event(answered[-1]).content, type=kind)
    return replace(decision, context="") if decision.context == decision.chosen else decision


def _outcome(decision: Decision, timeline: Timeline, ends: _Ends) -> Outcome:
    """From its own effects: what it repaired, else the verdicts it led to, else how its last call ended."""
    if decision.id in ends.fixers:
        return "success"
    if _tried_in_vain(decision, timeline, ends):
        return "failure"
    verdicts = _verdicts(decision, timeline, ends)
    if verdicts:
        return "partial" if len(verdicts) > 1 else "failure" if "error" in verdicts else "success"
    if timeline.went_wrong(decision):
        return "failure"
    looks = all(call.operation == "look" for call in timeline.calls_of(decision))
    answered = ends.answered_by(decision.id)
    if not looks and decision.type == "recovery" and answered and not ends.fixed.intersection(answered):
        return "failure"
    return _by_call(decision, timeline)


def _tried_in_vain(decision: Decision, timeline: Timeline, ends: _Ends) -> bool:
    """Whether a change answers a check's failure, and the check fails in the same way right after it."""
    if not timeline.changes_files(decision):
        return False
    done = timeline.calls_of(decision)[-1].position
    errors = [timeline.event(name) for name in ends.answered_by(decision.id) if name in timeline.run_of]
    following = ((error, timeline.next_run(error.check or "", done)) for error in errors)
    return any(run is not None and not run.passed and error.family in run.families for error, run in following)


def _verdicts(decision: Decision, timeline: Timeline, ends: _Ends) -> set[str]:
    """The verdicts of its latest run for a command, of every check that followed for an edit."""
    # Its calls lead to what came of it, or a report's own words do.
    judging = [
        link.target
        for link in ends.leaving[decision.id]
        if link.reason in {"call", "edit-test"} or (link.reason in {"entry", "stated"} and link.target.startswith("e"))
    ]
    targets = [timeline.event(name) for name in judging]
    judged = [event for event in targets if event.type in {"error", "test"} or event.status == "ok"]
    if decision.action is not None and decision.action.verb == "run" and judged:
        last = max(timeline.positions[event.id] for event in judged)
        judged = [event for event in judged if timeline.positions[event.id] == last]
    return {"error" if event.type == "error" else "test" for event in judged}


def _by_call(decision: Decision, timeline: Timeline) -> Outcome:
    """A command or a delegation that went through did what it was to do.

    An edit is proven only by a check, and a check whose verdict cannot be seen (``| tail -3``) proves nothing.
    """
    last = next(reversed(timeline.calls_of(decision)), None)
    if last is None or last.operation not in {"run", "delegate", "use"} or last.purpose == "check":
        return "unknown"
    if last.operation == "use" and not last.step.arguments:
        return "unknown"  # without arguments nothing shows that it did anything
    return {"ok": "success", "error": "failure"}.get(last.status, "unknown")  # type: ignore[return-value]  # Outcomes


def fixes_of(timeline: Timeline) -> tuple[Fix, ...]:
    """The fix of every error that was repaired, by error."""
    known = {*timeline.call_numbers, *timeline.reported}
    errors = [event for event in timeline.events if event.type == "error" and event.id in known]
    found = (_fix(timeline, error) for error in errors)
    return tuple(fix for fix in found if fix is not None)


def _fix(timeline: Timeline, error: Event) -> Fix | None:
    if error.check in timeline.runs:
        return _check_fix(timeline, error)
    if error.id in timeline.reported:
        return _accepted_fix(timeline, error)
    failed = timeline.call_of(error)
    attempts = timeline.attempts_after(error)
    good = next(
        (
            n
            for n, one in enumerate(attempts)
            # A file that is found does not yet make the edit succeed.
            if not timeline.went_wrong(one)
            and any(call.status == "ok" and _same_kind(call, failed) for call in timeline.calls_of(one))
        ),
        None,
    )
    if good is None:
        return None
    verified = attempts[good]
    if failed.operation == "run" or is_code(failed):
        changes = _command_changes(timeline, error, attempts[:good], verified)
    else:
        changes = [one for one in attempts[: good + 1] if not timeline.went_wrong(one)]
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
    timeline: Timeline, error: Event, tried: Sequence[Decision], verified: Decision
) -> Sequence[Decision]:
    """What made a command go through: changes to the file that it points at, else all, else that it was corrected.

    The command that goes through is itself a change only where it says something else than the one that failed.
    """
    failed = timeline.call_of(error)
    positions = timeline.positions
    wrong = [error.id, *(event.id for one in tried if timeline.went_wrong(one) for event in timeline.events_of(one))]
    start, end = max(positions[name] for name in wrong), positions[verified.id]
    corrected = (
        [verified] if all(command_of(call) != command_of(failed) for call in timeline.calls_of(verified)) else []
    )
    if is_look(failed) or is_request(failed):
        return corrected  # no change to a file is why these go well
    return (
        timeline.changes_to(places_in(failed), start, end)
        or timeline.changes_between(start, end, kind=None)
        or corrected
    )


def _check_fix(timeline: Timeline, error: Event) -> Fix | None:
    runs = timeline.runs[error.check or ""]
    place = timeline.run_of.get(error.id)
    if place is None:
        return None
    failure = runs[place]
    repair = timeline.next_repair(error.check or "", place, error.family or "")
    if repair is None:
        return _reported_fix(timeline, error, failure)
    good = runs[repair]
    between = reversed(runs[place + 1 : repair])
    last_bad = next((run for run in between if not run.passed and _shows(timeline, run, error)), failure)
    changes = timeline.changes_between(last_bad.position, good.position, kind=failure.verdict.kind, named=error.path)
    named = pointed_at(changes, error, kind=failure.verdict.kind)
    return _credited(error, named, verified_by=_passing(timeline, islice(runs, repair, None)))


def _reported_fix(timeline: Timeline, error: Event, failure: CheckRun) -> Fix | None:
    """Of a failure that a person shows with its command: the changes until that command passes, whatever it runs."""
    reported = timeline.reported.get(error.id)
    good = timeline.passed_as(reported.command, failure.position) if reported is not None and reported.command else None
    if good is None:
        return None
    kind = failure.verdict.kind
    changes = timeline.changes_between(failure.position, good.position, kind=kind, named=error.path)
    return _credited(error, pointed_at(changes, error, kind=kind), verified_by=_passing(timeline, [good]))


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
    return _credited(error, changes, verified_by=good)


def _shows(timeline: Timeline, run: CheckRun, error: Event) -> bool:
    """Whether a run complains of the same: the same rule or exception; for tests, one of the tests that failed."""
    same = [event for name in run.events if (event := timeline.event(name)).family == error.family]
    if error.tests:
        return any(set(event.tests) & set(error.tests) for event in same)
    return bool(same) and not (error.family or "").endswith("failed")  # "test failed" says nothing of which


def _passing(timeline: Timeline, runs: Iterable[CheckRun]) -> str | None:
    """The event in which the check was content, if it ever was: a family that merely vanished is not verified."""
    names = (name for run in runs if run.passed for name in run.events)
    return next((name for name in names if timeline.event(name).status == "ok"), None)


def _same_kind(call: ParsedCall, failed: ParsedCall) -> bool:
    """Whether a call does what the failed one tried to do."""
    if is_look(failed) and not is_request(failed) and _unseen(failed).isdisjoint(operands_of(call)):
        return False
    if call.purpose and failed.purpose and call.purpose != failed.purpose:
        return False  # a look that goes well does not repair a change of the same program
    return call.step.tool == failed.step.tool or {call.operation, failed.operation} <= CHANGES


def _unseen(failed: ParsedCall) -> frozenset[str]:
    """What a look could not show: of its operands those that its output names, else all of them.

    To see something else is not to see what could not be seen.
    """
    operands = operands_of(failed)
    return frozenset(one for one in operands if one and one in failed.output) or operands
