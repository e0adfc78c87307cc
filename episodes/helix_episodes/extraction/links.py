"""Links: what led to what within a session, each with its reason.

Order in time alone makes no link. Every rule here rests on something the log shows: a call and its result, the same
check, the same file, the same command. All links run forwards in time, so they cannot form a cycle. `complete` adds
what decisions and events can only say once they are linked: the error that a decision answers is its context and makes
it a recovery, a decision's outcome follows from its own effects, and ``caused_by``, ``leads_to`` and ``effects`` of the
original schema are the links seen from either end.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.episode_consistency import sound_pairs, times_of
from helix_episodes.extraction.bearing import edits_passed, shows_pass, wrote_what_fails
from helix_episodes.extraction.check_runs import looked_on, touches
from helix_episodes.extraction.decisions import evidence_of_call
from helix_episodes.extraction.edit_coverage import blamed, failed_since, is_judged, passes_something_else
from helix_episodes.extraction.paths import file_name
from helix_episodes.model import Decision, Event, Fix, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.report_links import StatementPair
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Outcome


def links_of(timeline: Timeline, fixes: Sequence[Fix], *, stated: Iterable[StatementPair] = ()) -> tuple[Link, ...]:
    """Every link of a session once, by source, target and reason; ``stated`` is what a report joins."""
    rules = (_results, partial(_answers, fixes=fixes), partial(_edit_tests, fixes=fixes), _commits, _stated)
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


def _answers(timeline: Timeline, *, fixes: Sequence[Fix]) -> Iterator[Link]:
    """An error and the decision that first dealt with it; loose unless it belongs to what repaired it."""
    firm = {(fix.error, change) for fix in fixes for change in fix.changes if change not in fix.loose}
    for event in timeline.events:
        answer = timeline.answer_to(event) if event.type == "error" else None
        if answer is not None:
            loose = event.id in timeline.run_of and (event.id, answer.id) not in firm
            yield Link(source=event.id, target=answer.id, reason="answer", loose=loose)


def _edit_tests(timeline: Timeline, *, fixes: Sequence[Fix]) -> Iterator[Link]:
    """A change and the verdict of the next run of each check that looked at it."""
    for runs in timeline.runs.values():
        before: CheckRun | None = None
        previous: CheckRun | None = None
        unjudged: list[Decision] = []
        for run in runs:
            if passes_something_else(run, previous):
                continue
            start = previous.position if previous else -1
            unseen = before.position if before else -1
            judged = start if previous is None or looked_on(previous) else unseen
            known = previous.families if previous else frozenset()
            left: dict[str, Decision] = {}
            for event in map(timeline.event, run.events):
                if event.type == "error" and event.family in known:
                    continue  # a failure that was there already: no change since brought it about
                changes = _led_to(timeline, run, event, start=start, judged=judged, unjudged=unjudged)
                for decision in changes:
                    if failed_since(timeline, decision, run):
                        continue
                    if is_judged(timeline, decision, run):
                        there = [one for one in changes if touches(one, event.path)] or changes
                        alone = previous is not None and len(there) == 1
                        yield _judged(timeline, decision, event, run, alone=alone, fixes=fixes)
                    else:
                        left[decision.id] = decision
            before, previous, unjudged = previous, run, list(left.values())


def _judged(
    timeline: Timeline, change: Decision, event: Event, run: CheckRun, *, alone: bool, fixes: Sequence[Fix]
) -> Link:
    """A change and its verdict, with the edit that the verdict speaks of."""
    link = Link(source=change.id, target=event.id, reason="edit-test")
    edits = [one for one in timeline.calls_of(change) if one.changes_files]
    if event.type == "error":
        edit = wrote_what_fails(timeline, change, event, run, alone=alone)
        previous = timeline.last_run_before(event.check or "", run.position)
        since = edit is not None and previous is not None and previous.position > edit.position
        link = replace(link, loose=edit is None or since)  # a run in between that did not find it is the next, not this
    else:
        # What passes is the file as the last edit left it, by whichever decision.
        link = replace(link, loose=not shows_pass(timeline, change, run, fixes))
        met = [] if link.loose else edits_passed(timeline, change, run)
        edit = met[-1] if met else None
        link = replace(link, lines=tuple(one.step.source.line for one in met) if len(met) > 1 else ())
    told = edit is not None and edit is not edits[0] and not link.loose
    return replace(link, edit=evidence_of_call(edit)) if edit and told else link


def _led_to(
    timeline: Timeline, run: CheckRun, event: Event, *, start: int, judged: int, unjudged: Sequence[Decision]
) -> Sequence[Decision]:
    """The changes since the run before, or those to the place that the error names.

    With them those of earlier that no run has looked at yet (``unjudged``).

    Where the last run could not look at that place (it stopped at what does not compile), changes count from the run
    before that. Where no one ran the check (someone reports it), only the named place tells what brought it about.
    """
    kind = run.verdict.kind
    changes = [*unjudged, *timeline.changes_between(start, run.position, kind=kind)]
    if event.type == "error" and event.path is not None and judged < start:
        unseen = timeline.changes_between(judged, run.position, kind=kind)
        changes = [one for one in unseen if touches(one, event.path)] or changes
    if event.type == "error":
        # After the others something passed that would have shown the failure.
        cleared = timeline.last_clear_of(run, event)
        changes = [one for one in changes if timeline.positions[one.id] > cleared or touches(one, event.path)]
    return blamed(timeline, changes, event, run)


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
