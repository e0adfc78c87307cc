"""Links: what led to what within a session, each with its reason.

Order in time alone makes no link. Every rule here rests on something the log shows: a call and its result, the same
check, the same file, the same command. All links run forwards in time, so they cannot form a cycle; fixes, which run
backwards (a change removes an error that came before it), are in `helix_episodes.extraction.fixes`.

`complete` adds what decisions and events can only say once they are linked: the error that a decision answers is its
context and makes it a recovery, a decision's outcome follows from its own effects, and ``caused_by``, ``leads_to`` and
``effects`` of the original schema are the links seen from either end.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.timeline import looked_on, pointed_at, touches
from helix_episodes.model import Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.numbering import NumberedEpisode
    from helix_episodes.extraction.reports.links import StatementPair
    from helix_episodes.extraction.timeline import CheckRun, Timeline
    from helix_episodes.model import Decision, Event, Fix, Outcome


def links_of(history: Timeline, *, told: Iterable[StatementPair] = ()) -> tuple[Link, ...]:
    """Every link of a session once, by source, target and reason; ``told`` is what a report joins."""
    rules = (_calls, _handoffs, _answers, _edit_tests, _commits, _stated)
    found = {(one.source, one.target, one.reason): one for rule in rules for one in rule(history)}
    marked = history.account.marked
    for pair in told:
        link = Link(source=marked[pair.source], target=marked[pair.target], reason=pair.reason, type=pair.type)
        found[link.source, link.target, link.reason] = link
    return tuple(link for _, link in sorted(found.items()))


def _calls(history: Timeline) -> Iterator[Link]:
    """A decision and what came of its calls."""
    for decision in history.account.decisions:
        for event in history.events_of(decision):
            if event.type != "handoff":
                yield Link(source=decision.id, target=event.id, reason="call")


def _handoffs(history: Timeline) -> Iterator[Link]:
    """A delegation, its hand-off, and what came back."""
    for decision in history.account.decisions:
        handoffs = [event.id for event in history.events_of(decision) if event.type == "handoff"]
        for source, target in pairwise([decision.id, *handoffs]):
            yield Link(source=source, target=target, reason="spawn")


def _answers(history: Timeline) -> Iterator[Link]:
    """An error and the decision that first dealt with it."""
    for event in history.account.events:
        answer = history.answer_to(event) if event.type == "error" else None
        if answer is not None:
            yield Link(source=event.id, target=answer.id, reason="answer")


def _edit_tests(history: Timeline) -> Iterator[Link]:
    """A change and the verdict of the next run of each check over it."""
    for runs in history.runs.values():
        for before, previous, run in zip([None, None, *runs], [None, *runs], runs, strict=False):
            start = previous.position if previous else -1
            unseen = before.position if before else -1
            judged = start if previous is None or looked_on(previous) else unseen
            for event in _news(history, run, previous):
                for decision in _led_to(history, run, event, start=start, judged=judged):
                    yield Link(source=decision.id, target=event.id, reason="edit-test")


def _led_to(history: Timeline, run: CheckRun, event: Event, *, start: int, judged: int) -> Sequence[Decision]:
    """The changes since the run before, or those to the place that the error names.

    Where the last run could not look at that place (it stopped at what does not compile), changes count from the run
    before that. Where nobody ran the check (somebody tells of it), only the named place tells what brought it about.
    """
    kind = run.verdict.kind
    changes = history.changes_between(start, run.position, kind=kind)
    if event.type == "error" and event.path is not None and judged < start:
        unseen = history.changes_between(judged, run.position, kind=kind)
        changes = [one for one in unseen if touches(one, event.path)] or changes
    named = pointed_at(changes, event, kind=kind)
    return named if run.act is not None else [one for one in named if touches(one, event.path)]


def _news(history: Timeline, run: CheckRun, previous: CheckRun | None) -> list[Event]:
    """The events of a run that a change before it may have brought about: not a failure that was there already."""
    known = previous.families if previous else frozenset()
    events = [history.account.event(name) for name in run.events]
    return [event for event in events if event.type != "error" or event.family not in known]


def _commits(history: Timeline) -> Iterator[Link]:
    """The edits since the last commit, and the commit that holds them."""
    since = -1
    for event in history.account.events:
        if event.type == "commit":
            position = history.account.positions[event.id]
            staged = _staged(history, since, position)
            for decision in history.account.decisions_between(since, position):
                if history.changes_files(decision) and _is_held(decision, staged):
                    yield Link(source=decision.id, target=event.id, reason="commit", type="enables")
            since = position


def _is_held(decision: Decision, staged: tuple[str, ...]) -> bool:
    path = decision.action.path if decision.action else None
    return path is not None and (not staged or any(file_name(path) in part for part in staged))


def _staged(history: Timeline, start: int, end: int) -> tuple[str, ...]:
    """The paths that ``git add`` named between two positions; empty when it took everything."""
    between = (act for act in history.acts if start < act.position <= end)
    adds = [one for act in between for one in act.segments if one.program == "git" and one.subcommand == "add"]
    paths = tuple(part for one in adds for part in one.arguments if not part.startswith("-") and part != "add")
    return () if any(part in {".", "*", ":/"} for part in paths) else paths


def _stated(history: Timeline) -> Iterator[Link]:
    """What a person chose (an answer, an approved plan) and the first step by which the agent acts on it.

    The agent asked, and waited for it: that the answer enables what it does next is said by the log, not by the clock.
    """
    for decision in history.account.decisions:
        if _is_a_persons(history, decision):
            after = history.account.decisions_between(history.account.positions[decision.id])
            following = next((one for one in after if history.acts_of(one)), None)
            if following is not None:
                yield Link(source=decision.id, target=following.id, reason="stated", type="enables")


def _is_a_persons(history: Timeline, decision: Decision) -> bool:
    plans = [act for act in history.acts_of(decision) if act.operation == "plan" and act.status == "ok"]
    return bool(plans) or (decision.stated and decision.actor == "user")


def complete(
    history: Timeline, links: Sequence[Link], fixes: Sequence[Fix]
) -> tuple[tuple[Decision, ...], tuple[Event, ...]]:
    """The account's decisions and events with everything that follows from links and fixes."""
    ends = _Ends(links, fixes)
    decisions = tuple(
        replace(
            _in_context(decision, history.account, ends),
            outcome=_outcome(decision, history, ends) if decision.outcome == "unknown" else decision.outcome,
            effects=ends.effects(decision.id),
            caused_by=ends.causes(decision.id),
        )
        for decision in history.account.decisions
    )
    events = tuple(
        replace(event, caused_by=ends.causes(event.id), leads_to=ends.effects(event.id))
        for event in history.account.events
    )
    return decisions, events


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


def _in_context(decision: Decision, account: NumberedEpisode, ends: _Ends) -> Decision:
    """An answer's context is the error it answers; no context repeats what was chosen."""
    answered = ends.answered_by(decision.id)
    if answered:
        reproduces = decision.type == "test" and answered[-1] in account.told
        kind = decision.type if decision.type == "routing" or reproduces else "recovery"
        return replace(decision, context=account.event(answered[-1]).content, type=kind)
    return replace(decision, context="") if decision.context == decision.chosen else decision


def _outcome(decision: Decision, history: Timeline, ends: _Ends) -> Outcome:
    """From its own effects: what it repaired, else the verdicts it led to, else how its last call ended."""
    if decision.id in ends.fixers:
        return "success"
    if _tried_in_vain(decision, history, ends) or _is_refuted(decision, history):
        return "failure"
    verdicts = _verdicts(decision, history, ends)
    if verdicts:
        return "partial" if len(verdicts) > 1 else "failure" if "error" in verdicts else "success"
    if history.went_wrong(decision):
        return "failure"
    looks = all(act.operation == "look" for act in history.acts_of(decision))
    if not looks and _answers_in_vain(decision, ends):
        return "failure"
    return _by_call(decision, history)


def _tried_in_vain(decision: Decision, history: Timeline, ends: _Ends) -> bool:
    """Whether a change answers a check's failure, and the check fails in the same way right after it."""
    if not history.changes_files(decision):
        return False
    done = history.acts_of(decision)[-1].position
    errors = [history.account.event(name) for name in ends.answered_by(decision.id) if name in history.run_of]
    return any(error.family in history.families_next(error.check or "", done) for error in errors)


def _is_refuted(decision: Decision, history: Timeline) -> bool:
    """Whether it changed a file in the turn of which a person then says that what it rests on is not so."""
    if not history.changes_files(decision) or history.went_wrong(decision):
        return False
    positions = history.account.positions
    refuted = ((told.refutes, positions[name]) for name, told in history.account.told.items())
    return any(start is not None and start < positions[decision.id] < end for start, end in refuted)


def _verdicts(decision: Decision, history: Timeline, ends: _Ends) -> set[str]:
    """The verdicts of its latest run for a command, of every check that followed for an edit."""
    targets = [history.account.event(link.target) for link in ends.leaving[decision.id] if _judges(link)]
    judged = [event for event in targets if event.type in {"error", "test"} or event.status == "ok"]
    if decision.action is not None and decision.action.verb == "run" and judged:
        last = max(history.account.positions[event.id] for event in judged)
        judged = [event for event in judged if history.account.positions[event.id] == last]
    return {"error" if event.type == "error" else "test" for event in judged}


def _judges(link: Link) -> bool:
    """Whether a link leads to what came of a decision: of its calls, or by a report's own words."""
    return link.reason in {"call", "edit-test"} or (link.reason in {"entry", "stated"} and link.target.startswith("e"))


def _answers_in_vain(decision: Decision, ends: _Ends) -> bool:
    answered = ends.answered_by(decision.id)
    return bool(answered) and not ends.fixed.intersection(answered) and decision.type == "recovery"


def _by_call(decision: Decision, history: Timeline) -> Outcome:
    """A command or a delegation that went through did what it was to do.

    An edit is proven only by a check, and a check whose verdict cannot be seen (``| tail -3``) proves nothing.
    """
    acts = history.acts_of(decision)
    if not acts or acts[-1].operation not in {"run", "delegate", "use"} or _is_check(acts[-1]):
        return "unknown"
    if acts[-1].operation == "use" and not acts[-1].call.arguments:
        return "unknown"  # told nothing, it shows nothing of having done anything
    return {"ok": "success", "error": "failure"}.get(acts[-1].status, "unknown")  # type: ignore[return-value]  # Outcomes


def _is_check(act: ParsedCall) -> bool:
    return act.decisive is not None and act.decisive.purpose == "check"
