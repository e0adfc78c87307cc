"""What a single session shows about where it went wrong, without any other session to compare with.

Five signals, each a fact of the log: an error that was never repaired and what led to it; the step before the first
failure that was not repaired; the same answer to the same error again and again; a change that no check was run over;
and, in a session that failed although every failure in it was repaired, the step before the first of them, since a
repair may have gone round what was wanted. Running a check is no step that led to what it reports, so signals that
point at a step pass it over. None of them says that the step was wrong. They say where to look first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.model import Decision, Event
from helix_graph.causality.timeline import in_order
from helix_graph.graph.labels import decision_key, event_key, is_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Episode

SignalKind = Literal[
    "led to an error never repaired",
    "before the first failure",
    "loop",
    "unchecked change",
    "before a repaired failure",
]
#: How strongly a signal points, fixed before any measurement: a recorded link over a place in time, that over a habit.
#: The last was worked out on half of the Who&When runs (`benchmarks/real_localisation.py`): it counts least.
STRENGTH: dict[SignalKind, float] = {
    "led to an error never repaired": 1.0,
    "before the first failure": 0.6,
    "loop": 0.4,
    "unchecked change": 0.3,
    "before a repaired failure": 0.2,
}
#: The third try of the same thing is a loop; the second may be a retry.
LOOP = 3
_EDITS = frozenset({"edit", "create", "delete"})


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason to look at a decision, in words, with the events it rests on."""

    decision: str
    kind: SignalKind
    text: str
    events: tuple[str, ...] = ()


def signals_of(episode: Episode) -> tuple[Signal, ...]:
    """The signals of one episode, in the order of its decisions."""
    found = [*_unrepaired(episode), *_before_first_failure(episode), *_loops(episode), *_unchecked(episode)]
    place = {decision.id: number for number, decision in enumerate(episode.decisions)}
    return tuple(sorted(found, key=lambda one: (place[one.decision], -STRENGTH[one.kind])))


def unrepaired_errors(episode: Episode) -> tuple[Event, ...]:
    """The errors that no recorded fix repaired, and whose check did not pass later."""
    fixed = {fix.error for fix in episode.fixes}
    passes = {event.check: place for place, event in enumerate(episode.events) if event.check and _passed(event)}
    return tuple(
        event
        for place, event in enumerate(episode.events)
        if is_error(event) and event.id not in fixed and passes.get(event.check or "", -1) < place
    )


def led_to(episode: Episode, targets: set[str]) -> dict[str, int]:
    """The decisions and events from which links lead to the targets, with the number of links on the shortest way."""
    causes: dict[str, list[str]] = defaultdict(list)
    for link in episode.links:
        if link.type in {"causes", "enables"}:
            causes[link.target].append(link.source)
    far = dict.fromkeys(targets, 0)
    reached = list(far)
    for name in reached:
        for cause in causes[name]:
            if cause not in far:
                far[cause] = far[name] + 1
                reached.append(cause)
    return far


def _unrepaired(episode: Episode) -> Iterator[Signal]:
    decisions = {decision.id for decision in episode.decisions if not _asks(decision)}
    for error in unrepaired_errors(episode):
        for name in sorted(led_to(episode, {error.id}).keys() & decisions):
            text = f"the log links it to an error that was never repaired: {event_key(error)}"
            yield Signal(decision=name, kind="led to an error never repaired", text=text, events=(error.id,))


def _before_first_failure(episode: Episode) -> Iterator[Signal]:
    lasting = {error.id for error in unrepaired_errors(episode)}
    if lasting:
        yield from _before(
            episode,
            lasting,
            kind="before the first failure",
            text="the last step before the first failure that lasted",
        )
    elif episode.outcome == "failure":
        errors = {event.id for event in episode.events if is_error(event)}
        text = "the last step before the first failure; all were repaired, and the session failed all the same"
        yield from _before(episode, errors, kind="before a repaired failure", text=text)


def _before(episode: Episode, errors: set[str], *, kind: SignalKind, text: str) -> Iterator[Signal]:
    """The decision before the first of some errors, if any was made."""
    before: Decision | None = None
    for one in in_order(episode):
        if isinstance(one, Decision):
            before = before if _asks(one) else one
        elif one.id in errors:
            if before:
                yield Signal(decision=before.id, kind=kind, text=f"{text}: {event_key(one)}", events=(one.id,))
            return


def _loops(episode: Episode) -> Iterator[Signal]:
    errors = {event.id: event_key(event) for event in episode.events if is_error(event)}
    decisions = {decision.id: decision for decision in episode.decisions}
    tries: Counter[tuple[str | None, str]] = Counter()
    for link in episode.links:
        if link.reason == "answer" and link.source in errors and link.target in decisions:
            answer = errors[link.source], decision_key(decisions[link.target])
            tries[answer] += 1
            if tries[answer] >= LOOP:
                text = f"answer number {tries[answer]} of the same kind to: {answer[0]}"
                yield Signal(decision=link.target, kind="loop", text=text, events=(link.source,))


def _unchecked(episode: Episode) -> Iterator[Signal]:
    """The changes after the last check of an episode that ran one at all."""
    if not any(_is_check(event) for event in episode.events):
        return
    waiting: list[Decision] = []
    for one in in_order(episode):
        if isinstance(one, Event):
            waiting = [] if _is_check(one) else waiting
        elif one.action is not None and one.action.verb in _EDITS:
            waiting.append(one)
    for decision in waiting:
        yield Signal(decision=decision.id, kind="unchecked change", text="no check ran after this change")


def _asks(decision: Decision) -> bool:
    """Whether it only ran a check."""
    return decision.type == "test" and decision.action is not None and decision.action.verb == "run"


def _is_check(event: Event) -> bool:
    return event.type == "test" or (event.type == "error" and event.tool is None)


def _passed(event: Event) -> bool:
    return event.type == "test" and event.status == "ok"
