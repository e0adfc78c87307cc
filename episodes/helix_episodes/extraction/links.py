"""Links: what led to what within a session, each with the reason it was drawn for.

Order in time alone makes no link. Every rule here rests on something the log shows: a call and its result, the same
check, the same file, the same command. All links run forwards in time, so they cannot form a cycle; fixes, which run
backwards (a change removes an error that came before it), are kept apart in `helix_episodes.extraction.fixes`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from helix_episodes.extraction.history import pointed_at, touches
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.runs import looked_on
from helix_episodes.model import Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.extraction.history import History
    from helix_episodes.extraction.runs import Run
    from helix_episodes.extraction.told_links import Pair
    from helix_episodes.model import Decision, Event


def links_of(history: History, *, told: Iterable[Pair] = ()) -> tuple[Link, ...]:
    """Every link of a session once, by source, target and reason; ``told`` is what a report joins."""
    rules = (_calls, _handoffs, _answers, _edit_tests, _commits, _stated)
    found = {(one.source, one.target, one.reason): one for rule in rules for one in rule(history)}
    marked = history.account.marked
    for pair in told:
        link = Link(source=marked[pair.source], target=marked[pair.target], reason=pair.reason, type=pair.type)
        found[link.source, link.target, link.reason] = link
    return tuple(link for _, link in sorted(found.items()))


def _calls(history: History) -> Iterator[Link]:
    """A decision and what came of its calls."""
    for decision in history.account.decisions:
        for event in history.events_of(decision):
            if event.type != "handoff":
                yield Link(source=decision.id, target=event.id, reason="call")


def _handoffs(history: History) -> Iterator[Link]:
    """A delegation, its hand-off, and what came back."""
    for decision in history.account.decisions:
        handoffs = [event.id for event in history.events_of(decision) if event.type == "handoff"]
        for source, target in pairwise([decision.id, *handoffs]):
            yield Link(source=source, target=target, reason="spawn")


def _answers(history: History) -> Iterator[Link]:
    """An error and the decision that first dealt with it."""
    for event in history.account.events:
        answer = history.answer_to(event) if event.type == "error" else None
        if answer is not None:
            yield Link(source=event.id, target=answer.id, reason="answer")


def _edit_tests(history: History) -> Iterator[Link]:
    """A change and the verdict of the next run of each check over it."""
    for runs in history.runs.values():
        for before, previous, run in zip([None, None, *runs], [None, *runs], runs, strict=False):
            start = previous.position if previous else -1
            unseen = before.position if before else -1
            judged = start if previous is None or looked_on(previous) else unseen
            for event in _news(history, run, previous):
                for decision in _led_to(history, run, event, start=start, judged=judged):
                    yield Link(source=decision.id, target=event.id, reason="edit-test")


def _led_to(history: History, run: Run, event: Event, *, start: int, judged: int) -> Sequence[Decision]:
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


def _news(history: History, run: Run, previous: Run | None) -> list[Event]:
    """The events of a run that a change before it may have brought about: not a failure that was there already."""
    known = previous.families if previous else frozenset()
    events = [history.account.event(name) for name in run.events]
    return [event for event in events if event.type != "error" or event.family not in known]


def _commits(history: History) -> Iterator[Link]:
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


def _staged(history: History, start: int, end: int) -> tuple[str, ...]:
    """The paths that ``git add`` named between two positions; empty when it took everything."""
    between = (act for act in history.acts if start < act.position <= end)
    adds = [one for act in between for one in act.segments if one.program == "git" and one.subcommand == "add"]
    paths = tuple(part for one in adds for part in one.arguments if not part.startswith("-") and part != "add")
    return () if any(part in {".", "*", ":/"} for part in paths) else paths


def _stated(history: History) -> Iterator[Link]:
    """What a person chose (an answer, an approved plan) and the first step by which the agent acts on it.

    The agent asked, and waited for it: that the answer enables what it does next is said by the log, not by the clock.
    """
    for decision in history.account.decisions:
        if _is_a_persons(history, decision):
            after = history.account.decisions_between(history.account.positions[decision.id])
            following = next((one for one in after if history.acts_of(one)), None)
            if following is not None:
                yield Link(source=decision.id, target=following.id, reason="stated", type="enables")


def _is_a_persons(history: History, decision: Decision) -> bool:
    plans = [act for act in history.acts_of(decision) if act.operation == "plan" and act.status == "ok"]
    return bool(plans) or (decision.stated and decision.actor == "user")
