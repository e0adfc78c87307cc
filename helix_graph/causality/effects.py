"""Adjusted differences: what goes with success once like sessions are compared with like.

Every candidate (`candidates`) is compared within strata of the task and of what came before (`adjustment`). The
difference of success rates is pooled over strata, tested in both directions, corrected for the number of comparisons,
and given an interval that allows for selection. What stands out is called *associated*, never a cause: a hidden
circumstance that makes people both do the thing and fail looks the same in the data, and ``e_value`` says how strong it
would have to be. Only withholding something at random can test it.

``too early`` is an answer (`helix_graph.causality.trial_matrix.TrialMatrix.too_early`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from helix_graph.causality.adjustment import held_constant
from helix_graph.causality.candidates import Hypothesis, hypotheses
from helix_graph.causality.trial_matrix import ABSENT, TrialMatrix
from helix_graph.graph.patterns import Effect, EffectReport, UseExample, Verdict
from helix_graph.stats.intervals import Interval, level_after_selection, q_values, reach
from helix_graph.stats.strata import chances, e_value, risk_difference, risk_ratio, tables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from helix_graph.graph.trials import Trial
    from helix_graph.stats.strata import Chances, RiskDifference, Tables


#: Of the rows called associated, at most about one in ten is expected to be a fluke.
FALSE_DISCOVERY_RATE = 0.10
#: Enough to look things up by; a row must not grow with the memory.
EXAMPLES_KEPT = 20
#: A stratum compares something when each arm has this many; or two strata that have both arms at all.
ENOUGH_IN_ARM = 5
ENOUGH_STRATA = 2


@dataclass(frozen=True, eq=False)
class Measured:
    """A hypothesis with its tables and the chances of what was seen if nothing connected the two."""

    hypothesis: Hypothesis
    held: tuple[str, ...]
    tables: NDArray[np.int64]
    difference: RiskDifference
    chances: Chances


def effect_report(trials: Sequence[Trial]) -> EffectReport:
    """Compares whatever the trials allow to compare."""
    board = TrialMatrix(trials)
    found = effects_of(board, hypotheses(board))
    return EffectReport(
        effects=tuple(sorted(found, key=lambda one: (one.q, -abs(one.difference), one.trigger, one.action))),
        trials=int(board.judged.sum()),
        tested=len(found),
        too_early=board.too_early,
    )


def effects_of(board: TrialMatrix, found: Sequence[Hypothesis]) -> tuple[Effect, ...]:
    """The effects of a family of hypotheses, corrected for its size; those that cannot be compared are left out."""
    return tuple(_corrected(board, list(measure(board, found))))


def measure(board: TrialMatrix, found: Sequence[Hypothesis]) -> Iterator[Measured]:
    """The hypotheses that can be compared within strata, with what came of it; in the order of ``found``."""
    held: dict[int, tuple[int, ...]] = {}
    for group in _same_units(found):
        chosen = held_constant(board, [found[place] for place in group])
        held.update(zip(group, chosen, strict=True))
    for place, one in enumerate(found):
        measured = _measured(board, one, held[place])
        if measured:
            yield measured


def _same_units(found: Sequence[Hypothesis]) -> Iterator[list[int]]:
    groups: dict[bytes, list[int]] = defaultdict(list)
    for place, one in enumerate(found):
        groups[one.units.tobytes()].append(place)
    yield from groups.values()


def _measured(board: TrialMatrix, one: Hypothesis, held: tuple[int, ...]) -> Measured | None:
    strata = board.strata[one.units]
    for row in held:
        strata = strata * 2 + (board.first[row, one.units] != ABSENT)
    numbered = np.unique(strata, return_inverse=True)[1]
    tables = tables_of(strata=numbered, exposed=one.exposed, success=one.success)
    difference = risk_difference(tables) if _comparable(tables) else None
    if difference is None:
        return None
    names = tuple(board.labels[row] for row in held)
    return Measured(one, names, tables, difference, chances(tables))


def _comparable(tables: Tables) -> bool:
    smaller_arms = tables.sum(axis=2).min(axis=1)
    return bool((smaller_arms >= ENOUGH_IN_ARM).any() or (smaller_arms > 0).sum() >= ENOUGH_STRATA)


def _corrected(board: TrialMatrix, measured: Sequence[Measured]) -> Iterator[Effect]:
    """Both directions are a family of their own: who looks for what helps also looks for what hurts."""
    less = q_values([one.chances.less for one in measured])
    more = q_values([one.chances.more for one in measured])
    quotients = [min(pair) for pair in zip(less, more, strict=True)]
    picked = sum(q <= FALSE_DISCOVERY_RATE for q in quotients)
    widened = level_after_selection(selected=picked, tested=max(len(measured), 1))
    for one, q in zip(measured, quotients, strict=True):
        verdict: Verdict = "associated" if q <= FALSE_DISCOVERY_RATE else "not told apart"
        level = widened if verdict == "associated" else 0.95
        yield _effect(board, one, q=q, family=len(measured), verdict=verdict, level=level)


def _effect(board: TrialMatrix, one: Measured, *, q: float, family: int, verdict: Verdict, level: float) -> Effect:
    hypothesis, estimate = one.hypothesis, one.difference.estimate
    margin = reach(level) * one.difference.error
    return Effect(
        kind=hypothesis.kind,
        trigger=hypothesis.trigger,
        action=hypothesis.action,
        basis=hypothesis.basis,
        verdict=verdict,
        difference=estimate,
        error=one.difference.error,
        interval=Interval(low=max(-1.0, estimate - margin), high=min(1.0, estimate + margin)),
        level=level,
        q=q,
        family=family,
        uses=hypothesis.uses,
        successes=int((hypothesis.exposed & hypothesis.success).sum()),
        others=len(hypothesis.units) - hypothesis.uses,
        successes_of_others=int((~hypothesis.exposed & hypothesis.success).sum()),
        strata=one.difference.informative,
        held=one.held,
        e_value=e_value(risk_ratio(one.tables)),
        unmeasured=hypothesis.unmeasured,
        examples=tuple(_examples(board, hypothesis)),
    )


def _examples(board: TrialMatrix, one: Hypothesis) -> Iterator[UseExample]:
    exposed = np.flatnonzero(one.exposed)
    newest = exposed[np.argsort(board.newest_first[one.units[exposed]])][:EXAMPLES_KEPT]
    for place in newest.tolist():
        trial = board.trials[int(one.units[place])]
        yield UseExample(trial.episode, trial.steps[int(one.places[place])].id, trial.timestamp)
