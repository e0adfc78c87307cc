"""The placebo test: how many findings would remain if nothing mattered?

Outcomes are shuffled among sessions of the same kind of task. After that no action has anything to do with the outcome
beyond the kind of task, so whatever a report still finds, it would find in noise. The number of findings that survive
stands next to the real one, for the report's rule and for the plain one (a success rate of at most 0.3).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from helix_graph.causality.effects import effects_of
from helix_graph.causality.hypotheses import Hypothesis, TrialMatrix, hypotheses
from helix_graph.validation import as_int

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Twenty shuffles tell a rule that never finds anything in noise from one that does so in one of seven reports.
ROUNDS = 20
MOST_ROUNDS = 1000
#: The original API's rule for an anti-pattern.
PLAIN_RATE = 0.3
_SEED = 20261122


class Placebo(msgspec.Struct, frozen=True, kw_only=True):
    """Findings with the real outcomes and, on average, with shuffled ones.

    ``found`` and ``found_in_noise`` are by the report's rule, ``plain`` and ``plain_in_noise`` by the plain rate.
    ``any_in_noise`` is the share (0 to 1) of the ``rounds`` in which the report's rule found anything at all.
    """

    trials: int
    tested: int
    rounds: int
    found: int
    found_in_noise: float
    any_in_noise: float
    plain: int
    plain_in_noise: float
    too_early: str = ""


def placebo(matrix: TrialMatrix, *, rounds: int = ROUNDS) -> Placebo:
    """What is found in a table of trials, and what would be found in noise.

    Raises:
        InvalidArgument: ``rounds`` is not within 1 to 1000.
    """
    as_int("rounds", rounds, lowest=1, highest=MOST_ROUNDS)
    family = hypotheses(matrix)
    real = _findings(matrix, family)
    noise = [_findings(matrix, shuffled) for shuffled in _shuffled(matrix, family, rounds)]
    by_rule = [one.found for one in noise]
    return Placebo(
        trials=int(matrix.judged.sum()),
        tested=real.tested,
        rounds=rounds,
        found=real.found,
        found_in_noise=sum(by_rule) / rounds,
        any_in_noise=sum(one > 0 for one in by_rule) / rounds,
        plain=real.plain,
        plain_in_noise=sum(one.plain for one in noise) / rounds,
        too_early=matrix.too_early,
    )


class _Findings(NamedTuple):
    """How many hypotheses were compared, and how many stand out by the report's rule, and by the plain rate."""

    tested: int
    found: int
    plain: int


def _findings(matrix: TrialMatrix, family: Sequence[Hypothesis]) -> _Findings:
    effects = effects_of(matrix, family)
    associated = sum(one.verdict == "associated" for one in effects)
    plain = sum(one.success[one.exposed].mean() <= PLAIN_RATE for one in family)
    return _Findings(len(effects), associated, int(plain))


def _shuffled(matrix: TrialMatrix, family: Sequence[Hypothesis], rounds: int) -> Iterator[list[Hypothesis]]:
    """The family with the outcomes of other sessions of the same stratum, so often.

    Outcomes are shuffled once for all comparisons, so that one session keeps one outcome; an answer has its own.
    """
    source = np.random.default_rng(_SEED)
    for _ in range(rounds):
        success = _within_strata(matrix.success, matrix.strata * 2 + matrix.judged, source)
        yield [
            dataclasses.replace(
                one,
                success=_within_strata(one.success, matrix.strata[one.units], source)
                if one.kind == "answer"
                else success[one.units],
            )
            for one in family
        ]


def _within_strata(
    values: NDArray[np.bool_], strata: NDArray[np.int64], source: np.random.Generator
) -> NDArray[np.bool_]:
    """The values in another order, each within its stratum."""
    dealt = values.copy()
    grouped = np.argsort(strata, kind="stable")
    mixed = np.lexsort((source.random(len(values)), strata))
    dealt[grouped] = values[mixed]
    return dealt
