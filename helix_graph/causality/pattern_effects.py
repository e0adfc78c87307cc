"""Join patterns with the comparisons of their actions.

A pattern counts; a comparison (`effects`) says whether the count is more than the task and what came before. A row for
one kind of task gets the comparison of its action over all kinds, which has more data and is stratified by kind. What
only comparisons know of (an action over all tasks, sequences, repetitions, changes without a check) becomes a row of
its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.graph.patterns import ENOUGH_OCCURRENCES, Pattern, content_id
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_graph.graph.patterns import Effect, EffectReport, HypothesisKind


#: What comparisons say of a row: it stands out; it does not; there are too few sessions; it is not compared at all (the
#: duller measure of an answer, an edit, what nearly everybody does); a person told it. ``tested`` is kept for what was
#: withheld at random.
PatternStanding = Literal["associated", "not told apart", "too early", "not compared", "told"]
_OWN_ROW: frozenset[HypothesisKind] = frozenset({"action", "sequence", "repetition", "unchecked"})


def with_effects(patterns: Iterable[Pattern], report: EffectReport) -> tuple[Pattern, ...]:
    """The patterns with their comparisons, and the rows that only comparisons know of; in no order."""
    answers = {(one.trigger, one.action, one.basis): one for one in report.effects if one.kind == "answer"}
    actions = {one.action: one for one in report.effects if one.kind == "action"}
    early = bool(report.too_early)
    rows = [_beside(row, _effect_of(row, answers, actions), early=early) for row in patterns]
    return (*rows, *_own_rows(report.effects))


def _effect_of(row: Pattern, answers: dict[tuple[str, str, str], Effect], actions: dict[str, Effect]) -> Effect | None:
    if row.level == "task" and row.basis == "outcome":
        return actions.get(row.action)
    return answers.get((row.trigger, row.action, row.basis))


def _beside(row: Pattern, effect: Effect | None, *, early: bool) -> Pattern:
    return msgspec.structs.replace(row, effect=effect, standing=_standing(row, effect, early=early))


def _standing(row: Pattern, effect: Effect | None, *, early: bool) -> PatternStanding:
    if row.level == "asserted":
        return "told"
    if effect:
        return effect.verdict
    return "too early" if early or row.too_early else "not compared"


def _own_rows(effects: Sequence[Effect]) -> Iterator[Pattern]:
    for one in effects:
        if one.kind in _OWN_ROW:
            yield Pattern(
                id=content_id(one.kind, one.trigger, one.action, one.basis),
                name=f"{one.trigger} → {one.action}",
                description=f"On {one.trigger!r}: {one.action}. Success: the episode's outcome is success.",
                trigger=one.trigger,
                action=one.action,
                success_rate=one.successes / one.uses,
                occurrences=one.uses,
                last_used=one.examples[0].timestamp,
                successes=one.successes,
                interval=wilson_interval(one.successes, one.uses),
                base_rate=one.successes_of_others / one.others,
                base_n=one.others,
                basis="outcome",
                level=_LEVELS[one.kind],
                too_early=one.uses < ENOUGH_OCCURRENCES,
                unmeasured=one.unmeasured,
                episodes=tuple(example.episode for example in one.examples),
                decisions=tuple(example.step for example in one.examples),
                effect=one,
                standing=one.verdict,
            )


_LEVELS: dict[HypothesisKind, Literal["any task", "sequence", "repetition", "unchecked"]] = {
    "action": "any task",
    "sequence": "sequence",
    "repetition": "repetition",
    "unchecked": "unchecked",
}
