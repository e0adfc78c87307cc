"""Compare one session with a like one that succeeded, or one action with its absence.

`contrast_of` lays a failed session next to the most alike one that succeeded: another try of the same task if there is
one, else the session of the same kind of task that shares the most steps. The place where the two part is a place to
look at, not a reason, since two sessions differ in many ways at once.

`without_of` counts what happened in sessions of the same kind of task in which something was *not* done, weighted so
that their tasks are mixed as in the sessions that did it; and, where it answered an error, the other answers to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import msgspec

from helix_graph.graph.mentions import finer_of_decision, named
from helix_graph.graph.node_labels import decision_key
from helix_graph.graph.observations import Trial, TrialStep, is_same
from helix_graph.graph.patterns import COMES_LAST, Effect, StepCounts
from helix_graph.stats.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from helix_episodes.model import Episode
    from helix_graph.causality.hypotheses import TrialMatrix

    #: By the id of a step what it is called, where its label says too little.
    StepNames = Mapping[str, str]


#: How many steps of each side are shown where two sessions part.
SHOWN = 5


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """A place where two sessions differ: what this one did there and what the other one did, with the ids.

    Steps are named by their labels, changes by their files. ``after`` is the step before that both have; where it
    changed another file in the other session, that one follows in brackets.
    """

    after: str | None
    here: tuple[str, ...]
    there: tuple[str, ...]
    here_ids: tuple[str, ...]
    there_ids: tuple[str, ...]


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """A session beside the most alike one that succeeded.

    ``likeness`` (0 to 1) is the share of labels that both have of those that either has; ``why`` says what made the
    other one comparable. ``partings`` come in order, the first of them first. ``only_here`` and ``only_there`` are the
    labels that one of them never has. ``other`` is ``None`` when no session of the kind succeeded, and ``why`` says so.
    """

    episode: str
    other: str | None
    why: str
    likeness: float
    partings: tuple[Divergence, ...] = ()
    only_here: tuple[str, ...] = ()
    only_there: tuple[str, ...] = ()


def contrast_of(trial: Trial, others: Sequence[Trial], names: Callable[[str], StepNames]) -> Contrast:
    """The contrast of a session with the most alike success among others; ``names`` has an episode's changes by id."""
    passed = [one for one in others if one.success and not is_same(one, trial)]
    same_task = [one for one in passed if trial.task_id and one.task_id == trial.task_id]
    comparable = same_task or [one for one in passed if one.task_kind == trial.task_kind]
    if not comparable:
        return Contrast(
            episode=trial.episode,
            other=None,
            why=f"no session on {trial.task_kind} tasks is known to have succeeded",
            likeness=0,
        )
    other = min(comparable, key=lambda one: (-_likeness(trial, one), one.episode))
    most_alike = f"the most similar of {len(comparable)} on {trial.task_kind} tasks"
    here, there = _labels(trial), _labels(other)
    return Contrast(
        episode=trial.episode,
        other=other.episode,
        why="another try of the same task" if same_task else most_alike,
        likeness=_likeness(trial, other),
        partings=tuple(_partings(trial.steps, other.steps, names(trial.episode), names(other.episode))),
        only_here=tuple(sorted(here - there)),
        only_there=tuple(sorted(there - here)),
    )


def changed_files(episode: Episode) -> StepNames:
    """What each decision that changes a file is called with the file."""
    changes = [one for one in episode.decisions if one.action is not None and one.action.path]
    labels = ((one, decision_key(one)) for one in changes)
    return {one.id: named(label, finer_of_decision(one, label).thing, resolution="thing") for one, label in labels}


def _labels(trial: Trial) -> set[str]:
    return {step.label for step in trial.steps}


def _likeness(one: Trial, other: Trial) -> float:
    here, there = _labels(one), _labels(other)
    return len(here & there) / len(here | there) if here or there else 0.0


def _partings(
    here: Sequence[TrialStep], there: Sequence[TrialStep], my_names: StepNames, their_names: StepNames
) -> list[Divergence]:
    """The places where one is not the other, in order; a step that both have keeps them together."""
    together = SequenceMatcher(a=[step.label for step in here], b=[step.label for step in there], autojunk=False)
    mine = [my_names.get(step.id, step.label) for step in here]
    theirs = [their_names.get(step.id, step.label) for step in there]
    return [
        Divergence(
            after=_both(mine[start - 1], theirs[begin - 1]) if start and begin else None,
            here=tuple(mine[start:end][:SHOWN]),
            there=tuple(theirs[begin:stop][:SHOWN]),
            here_ids=tuple(step.id for step in here[start:end][:SHOWN]),
            there_ids=tuple(step.id for step in there[begin:stop][:SHOWN]),
        )
        for kind, start, end, begin, stop in together.get_opcodes()
        if kind != "equal"
    ]


def _both(mine: str, theirs: str) -> str:
    return mine if mine == theirs else f"{mine} (the other: {theirs})"


class OutcomeRate(msgspec.Struct, frozen=True, kw_only=True):
    """So many of so many sessions went well, and the long-run rates that this is compatible with."""

    successes: int
    sessions: int
    interval: Interval


class AlternativeAction(msgspec.Struct, frozen=True, kw_only=True):
    """What else was answered to an error that this answered, and how that went by the ``basis``."""

    trigger: str
    action: str
    basis: str
    rate: OutcomeRate


class WithoutAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions with a label beside comparable ones without it.

    ``comparable`` is the success rate without it if tasks were mixed as in the sessions with it; ``None`` when no kind
    of task has both. ``compared`` counts the sessions without it that this rests on. ``effect`` is the adjusted
    difference, where there was enough to compare; else ``not_compared`` says in words why there is none, and the rates
    may differ by chance alone. Of running a check, sessions whose outcome a check decided are left out.
    """

    label: str
    with_it: OutcomeRate
    without_it: OutcomeRate
    comparable: float | None
    compared: int
    effect: Effect | None
    not_compared: str
    alternatives: tuple[AlternativeAction, ...]


def without_of(label: str, matrix: TrialMatrix, *, found: StepCounts | None) -> WithoutAnswer:
    """The counts for one label; ``found`` is its comparison, or its counts where it comes last."""
    asked = label in matrix.asked
    judged = [
        trial
        for trial, measured in zip(matrix.trials, matrix.measured.tolist(), strict=True)
        if trial.success is not None and not (asked and measured)
    ]
    did = {trial.episode for trial in judged if any(step.label == label for step in trial.steps)}
    with_it = [trial for trial in judged if trial.episode in did]
    without_it = [trial for trial in judged if trial.episode not in did]
    comparable, compared = _mixed_alike(with_it, without_it)
    return WithoutAnswer(
        label=label,
        with_it=_outcome_rate([bool(trial.success) for trial in with_it]),
        without_it=_outcome_rate([bool(trial.success) for trial in without_it]),
        comparable=comparable,
        compared=compared,
        effect=found if isinstance(found, Effect) else None,
        not_compared=matrix.why_not_compared(label) if not found else "" if isinstance(found, Effect) else COMES_LAST,
        alternatives=tuple(_other_actions(label, matrix.trials)),
    )


def _outcome_rate(outcomes: Sequence[bool]) -> OutcomeRate:
    return OutcomeRate(
        successes=sum(outcomes), sessions=len(outcomes), interval=wilson_interval(sum(outcomes), len(outcomes))
    )


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


def _other_actions(label: str, trials: Sequence[Trial]) -> list[AlternativeAction]:
    """Other answers to the errors that this answered, once an episode each, most used first."""
    answers = [row for trial in trials for row in trial.answers if row.success is not None]
    answered = {(row.trigger, row.basis) for row in answers if row.action == label}
    found: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for row in answers:
        if (row.trigger, row.basis) in answered and row.action != label:
            found[row.trigger, row.action, row.basis].append(bool(row.success))
    rows = [
        AlternativeAction(trigger=trigger, action=action, basis=basis, rate=_outcome_rate(outcomes))
        for (trigger, action, basis), outcomes in found.items()
    ]
    return sorted(rows, key=lambda row: (-row.rate.sessions, row.trigger, row.action, row.basis))
