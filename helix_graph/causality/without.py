"""What follows when something is not done?

Nobody knows what *would* have happened. What can be counted is what did happen in sessions of the same kind of task in
which it was not done, weighed so that their tasks are mixed as in the sessions that did it; and, where it answered an
error, what the others answered to the same error and how that went.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from helix_graph.causality.model import Effect
from helix_graph.statistics.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.causality.trials import Trial


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """So many of so many sessions went well, and the long-run rates that this is compatible with."""

    successes: int
    sessions: int
    interval: Interval


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """What else was answered to an error that this answered, and how that went by the ``basis``."""

    trigger: str
    action: str
    basis: str
    rate: Rate


class Without(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions with a label beside comparable ones without it.

    ``comparable`` is the success rate without it if tasks were mixed as in the sessions with it; ``None`` when no kind
    of task has both. ``compared`` counts the sessions without it that this rests on. ``effect`` is the adjusted
    difference, where there was enough to compare.
    """

    label: str
    with_it: Rate
    without_it: Rate
    comparable: float | None
    compared: int
    effect: Effect | None
    alternatives: tuple[Alternative, ...]


def without_of(label: str, trials: Sequence[Trial], *, effect: Effect | None) -> Without:
    """The counts for one label."""
    judged = [trial for trial in trials if trial.success is not None]
    did = {trial.episode for trial in judged if any(step.label == label for step in trial.steps)}
    with_it = [trial for trial in judged if trial.episode in did]
    without_it = [trial for trial in judged if trial.episode not in did]
    comparable, compared = _mixed_alike(with_it, without_it)
    return Without(
        label=label,
        with_it=_rate([bool(trial.success) for trial in with_it]),
        without_it=_rate([bool(trial.success) for trial in without_it]),
        comparable=comparable,
        compared=compared,
        effect=effect,
        alternatives=tuple(_alternatives(label, trials)),
    )


def _rate(outcomes: Sequence[bool]) -> Rate:
    return Rate(successes=sum(outcomes), sessions=len(outcomes), interval=wilson_interval(sum(outcomes), len(outcomes)))


def _mixed_alike(with_it: Sequence[Trial], without_it: Sequence[Trial]) -> tuple[float | None, int]:
    """The rate without it, each kind of task weighed by its share among the sessions with it."""
    kinds: dict[str, list[bool]] = defaultdict(list)
    for trial in without_it:
        kinds[trial.task_kind].append(bool(trial.success))
    shared = [trial.task_kind for trial in with_it if trial.task_kind in kinds]
    if not shared:
        return None, 0
    rates = {kind: sum(outcomes) / len(outcomes) for kind, outcomes in kinds.items()}
    return sum(rates[kind] for kind in sorted(shared)) / len(shared), sum(len(kinds[kind]) for kind in set(shared))


def _alternatives(label: str, trials: Sequence[Trial]) -> list[Alternative]:
    """Other answers to the errors that this answered, once an episode each, most used first."""
    answers = [row for trial in trials for row in trial.answers if row.success is not None]
    answered = {(row.trigger, row.basis) for row in answers if row.action == label}
    found: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for row in answers:
        if (row.trigger, row.basis) in answered and row.action != label:
            found[row.trigger, row.action, row.basis].append(bool(row.success))
    rows = [
        Alternative(trigger=trigger, action=action, basis=basis, rate=_rate(outcomes))
        for (trigger, action, basis), outcomes in found.items()
    ]
    return sorted(rows, key=lambda row: (-row.rate.sessions, row.trigger, row.action, row.basis))
