"""What did a session that passed do instead?

A failed session is laid beside the most alike one that succeeded: another try of the same task if there is one, else
the session of the same kind of task that shares the most steps with it. The two run together for a while and then
part; that place, and what the other did there, is what is shown. Two sessions differ in many ways at once, so this is a
place to look at, not a reason.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.causality.trials import Step, Trial

#: How many steps of each side are shown where two sessions part.
SHOWN = 5


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """A place where two sessions differ: what this one did there and what the other one did, by label, with the ids."""

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
    partings: tuple[Parting, ...] = ()
    only_here: tuple[str, ...] = ()
    only_there: tuple[str, ...] = ()


def contrast_of(trial: Trial, others: Sequence[Trial]) -> Contrast:
    """The contrast of a session with the most alike success among others."""
    passed = [one for one in others if one.success and one.episode != trial.episode]
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
    most_alike = f"the most alike of {len(comparable)} on {trial.task_kind} tasks"
    here, there = _labels(trial), _labels(other)
    return Contrast(
        episode=trial.episode,
        other=other.episode,
        why="another try of the same task" if same_task else most_alike,
        likeness=_likeness(trial, other),
        partings=tuple(_partings(trial.steps, other.steps)),
        only_here=tuple(sorted(here - there)),
        only_there=tuple(sorted(there - here)),
    )


def _labels(trial: Trial) -> set[str]:
    return {step.label for step in trial.steps}


def _likeness(one: Trial, other: Trial) -> float:
    here, there = _labels(one), _labels(other)
    return len(here & there) / len(here | there) if here or there else 0.0


def _partings(here: Sequence[Step], there: Sequence[Step]) -> list[Parting]:
    """The places where one is not the other, in order; a step that both have keeps them together."""
    mine, theirs = ([step.label for step in steps] for steps in (here, there))
    together = SequenceMatcher(a=mine, b=theirs, autojunk=False)
    return [
        Parting(
            after=mine[start - 1] if start else None,
            here=tuple(mine[start:end][:SHOWN]),
            there=tuple(theirs[begin:stop][:SHOWN]),
            here_ids=tuple(step.id for step in here[start:end][:SHOWN]),
            there_ids=tuple(step.id for step in there[begin:stop][:SHOWN]),
        )
        for kind, start, end, begin, stop in together.get_opcodes()
        if kind != "equal"
    ]
