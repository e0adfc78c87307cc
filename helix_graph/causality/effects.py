"""Adjusted differences: what goes with success once like sessions are compared with like.

Every candidate (`candidates`) is compared within strata of the task and of what came before. The difference of success
rates is pooled over strata, tested in both directions, corrected for the number of comparisons, and given an interval
that allows for selection. What stands out is called *associated*, never a cause: a hidden circumstance that makes
people both do the thing and fail looks the same in the data, and ``e_value`` says how strong it would have to be. Only
withholding something at random can test it.

Whoever meets a nasty error tries desperate things and often fails. Desperate things then look bad although the error
came first. So up to three earlier steps are held constant (`held_constant`), found in two ways.

*Asserted*: the log links the earlier step to this one in at least three episodes and in three of ten in which both
occur.

*Associated on both sides*: within kinds of task, the earlier step goes with this one (|z| above 3.29, one in a
thousand by luck) and with success (|z| above 1.96), and comes before it in most trials with both. In simulations
with a known truth and without any asserted link, this way alone kept false findings at 4 to 5 of 100 where adjusting
for the task alone gave 57.

Nothing that comes after the step is ever held constant: it may be what the step brought about. ``too early`` is an
answer (`helix_graph.causality.hypotheses.TrialMatrix.too_early`).

The placebo test asks how many findings would remain if nothing mattered. Outcomes are shuffled among sessions of the
same kind of task. After that no action has anything to do with the outcome beyond the kind of task, so whatever a
report still finds, it would find in noise. The number of findings that survive stands next to the real one, for the
report's rule and for the plain one (a success rate of at most 0.3).
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from helix_graph.causality.hypotheses import ABSENT, Hypothesis, TrialMatrix, comes_last, hypotheses
from helix_graph.graph.patterns import AT_EACH_LOOK, POWER_AT, Effect, EffectReport, StepCounts, UseExample, Verdict
from helix_graph.stats.intervals import level_after_selection, q_values
from helix_graph.stats.strata import (
    Chances,
    RiskDifference,
    chances,
    e_value,
    risk_difference,
    risk_ratio,
    tables_of,
)
from helix_graph.validation import as_int

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from helix_graph.graph.observations import Trial
    from helix_graph.stats.strata import Tables


#: Every held step doubles the strata; with more than three, most strata have one arm only.
MOST_HELD = 3
ASSERTED_EPISODES = 3
ASSERTED_SHARE = 0.3
GOES_WITH_STEP = 3.29
GOES_WITH_OUTCOME = 1.96
#: Less is the dust of floating point: the least that a label can vary is one unit of a stratum, n - 1 of n.
_NO_VARIATION = 1e-9


def held_constant(matrix: TrialMatrix, group: Sequence[Hypothesis]) -> Iterator[tuple[int, ...]]:
    """For each hypothesis of a group with the same units, the rows of the board to hold constant, strongest first."""
    units = group[0].units
    present = matrix.first[:, units] != ABSENT
    strata = np.unique(matrix.strata[units], return_inverse=True)[1]
    within = _Within(strata, present)
    outcome = within.association(np.stack([one.success for one in group]))
    exposure = within.association(np.stack([one.exposed for one in group]))
    for place, one in enumerate(group):
        yield _chosen(matrix, one, exposure=exposure[place], outcome=outcome[place])


def _chosen(
    matrix: TrialMatrix, one: Hypothesis, *, exposure: NDArray[np.float64], outcome: NDArray[np.float64]
) -> tuple[int, ...]:
    strong = (np.abs(exposure) > GOES_WITH_STEP) & (np.abs(outcome) > GOES_WITH_OUTCOME)
    strength = np.abs(exposure * outcome)
    associated = sorted(np.flatnonzero(strong).tolist(), key=lambda row: (-strength[row], row))
    found: list[int] = []
    for row in (*_asserted(matrix, one), *associated):
        if len(found) == MOST_HELD:
            break
        if row in found or matrix.labels[row] in one.labels:
            continue
        places = matrix.first[row, one.units]
        both = one.exposed & (places != ABSENT)
        if 2 * (places[both] < one.places[both]).sum() > both.sum():  # where both occur, it mostly comes first
            found.append(row)
    return tuple(found)


def _asserted(matrix: TrialMatrix, one: Hypothesis) -> Iterator[int]:
    """The steps that logs link to this one often enough, most often first."""
    row = matrix.row.get(one.step)
    if row is None:
        return
    for cause, count in matrix.claims_on(row, least=ASSERTED_EPISODES):
        together = int(((matrix.first[cause] != ABSENT) & (matrix.first[row] != ABSENT)).sum())
        if count >= ASSERTED_SHARE * together:
            yield cause


class _Within:
    """Correlations of many labels with many marks at once, with the differences between strata taken out.

    With m marks, l labels, n units and s strata it takes time in m l (n + s) and room in (m + l) (n + s): a memory in
    which every task was tried twice has half as many strata as sessions.
    """

    def __init__(self, strata: NDArray[np.int64], present: NDArray[np.bool_]) -> None:
        self._order = np.argsort(strata, kind="stable")
        self._sizes = np.bincount(strata).astype(np.float64)
        self._begins = np.concatenate([[0], np.cumsum(np.bincount(strata))[:-1]])
        self._present = present.astype(np.float32)
        self._sums = self._by_stratum(present)
        self._spread = self._variation(self._sums)

    def association(self, marks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The z of each mark (a row of ones and zeros over the units) with each label; 0 where either never varies."""
        sums = self._by_stratum(marks)
        # Counts of units are whole numbers below 2^24, so single precision holds them exactly.
        together = (marks.astype(np.float32) @ self._present.T).astype(np.float64) - (sums / self._sizes) @ self._sums.T
        spread = np.sqrt(np.outer(self._variation(sums), self._spread))
        correlation = np.divide(together, spread, out=np.zeros_like(together), where=spread > 0)
        # Machines add up in different orders; the last digits must not tip a threshold.
        found: NDArray[np.float64] = np.round(correlation * np.sqrt(len(self._order)), 6)
        return found

    def _by_stratum(self, values: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.add.reduceat(values[:, self._order].astype(np.float64), self._begins, axis=1)

    def _variation(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        inside: NDArray[np.float64] = (sums * (1 - sums / self._sizes)).sum(axis=1)
        return np.where(inside > _NO_VARIATION, inside, 0.0)


#: Of the rows that stand out at one look, at most about one in ten is expected to be a fluke.
FALSE_DISCOVERY_RATE = 0.10
#: Where few rows could be found even if all differed, those that are found are mostly flukes, however small their q:
#: with 50 sessions, 87 % of them successful, 16 of 38 were. So the flukes to be expected up to the q of an associated
#: row, in two directions, shall be at most this share of them and of the true rows to be expected, if one row in ten
#: differs by `POWER_AT`: Wacholder et al., "Assessing the probability that a positive report is false", Journal of the
#: National Cancer Institute 96, 2004.
FALSE_REPORTS = 0.12
_SHARE_THAT_DIFFERS = 0.10
#: Enough to look things up by; a row must not grow with the memory.
EXAMPLES_KEPT = 20
#: A stratum compares something when each arm has this many; or two strata that have both arms at all.
ENOUGH_IN_ARM = 5
ENOUGH_STRATA = 2


@dataclass(frozen=True, eq=False)
class Measured:
    """A hypothesis with its tables and the chances of what was seen if nothing connected the two.

    ``strata`` numbers the stratum of each of its units.
    """

    hypothesis: Hypothesis
    held: tuple[str, ...]
    strata: NDArray[np.int64]
    tables: Tables
    difference: RiskDifference
    chances: Chances

    def newer(self, matrix: TrialMatrix) -> Tables:
        """The tables of the newer half of all sessions."""
        one, those = self.hypothesis, matrix.newer[self.hypothesis.units]
        return tables_of(strata=self.strata[those], exposed=one.exposed[those], success=one.success[those])


def effect_report(trials: Sequence[Trial]) -> EffectReport:
    """Compares whatever the trials allow to compare."""
    return report_of(TrialMatrix(trials))


def report_of(matrix: TrialMatrix) -> EffectReport:
    """`effect_report` of trials that stand in a table already."""
    family = hypotheses(matrix)
    measured = list(measure(matrix, family))
    found = _corrected(matrix, measured)
    return EffectReport(
        effects=tuple(sorted(found, key=lambda one: (one.q, -abs(one.difference), one.trigger, one.action))),
        last=at_the_end(matrix, family),
        trials=int(matrix.judged.sum()),
        tested=len(measured),
        repeated=len(measured) - len(found),
        power=power(measured, difference=POWER_AT),
        too_early=matrix.too_early,
    )


def effects_of(matrix: TrialMatrix, found: Sequence[Hypothesis]) -> tuple[Effect, ...]:
    """The effects of a family of hypotheses, corrected for its size.

    Those that cannot be compared are left out, and the sequences that repeat the row of their action.
    """
    return _corrected(matrix, list(measure(matrix, found)))


def at_the_end(matrix: TrialMatrix, found: Sequence[Hypothesis]) -> tuple[StepCounts, ...]:
    """What mostly ends its sessions, most used first, but for the sequences that repeat the row of their action."""
    last = [one for one in found if comes_last(matrix, one)]
    actions = {one.step for one in last if one.kind == "action"}
    return tuple(
        StepCounts(**_counts(matrix, one)) for one in last if one.kind != "sequence" or one.step not in actions
    )


def measure(matrix: TrialMatrix, found: Sequence[Hypothesis]) -> Iterator[Measured]:
    """The hypotheses that can be compared within strata, with what came of it; in the order of ``found``.

    What comes last (`comes_last`) is not compared.
    """
    found = [one for one in found if not comes_last(matrix, one)]
    held: dict[int, tuple[int, ...]] = {}
    same_units: dict[bytes, list[int]] = defaultdict(list)
    for place, one in enumerate(found):
        same_units[one.units.tobytes()].append(place)
    for group in same_units.values():
        chosen = held_constant(matrix, [found[place] for place in group])
        held.update(zip(group, chosen, strict=True))
    for place, one in enumerate(found):
        measured = _measured(matrix, one, held[place])
        if measured:
            yield measured


def _measured(matrix: TrialMatrix, one: Hypothesis, held: tuple[int, ...]) -> Measured | None:
    strata = matrix.strata[one.units]
    for row in held:
        strata = strata * 2 + (matrix.first[row, one.units] != ABSENT)
    numbered = np.unique(strata, return_inverse=True)[1]
    tables = tables_of(strata=numbered, exposed=one.exposed, success=one.success)
    smaller_arms = tables.sum(axis=2).min(axis=1)
    comparable = (smaller_arms >= ENOUGH_IN_ARM).any() or (smaller_arms > 0).sum() >= ENOUGH_STRATA
    difference = risk_difference(tables) if comparable else None
    if difference is None:
        return None
    names = tuple(matrix.labels[row] for row in held)
    return Measured(one, names, numbered, tables, difference, chances(tables))


def _corrected(matrix: TrialMatrix, measured: Sequence[Measured]) -> tuple[Effect, ...]:
    """Both directions are a family of their own: who looks for what helps also looks for what hurts."""
    less = q_values([one.chances.less for one in measured])
    more = q_values([one.chances.more for one in measured])
    quotients = [min(pair) for pair in zip(less, more, strict=True)]
    # The q value up to which a row may be called associated.
    could = len(measured) * (power(measured, difference=POWER_AT) or 0.0)
    bar = min(AT_EACH_LOOK, FALSE_REPORTS / (1 - FALSE_REPORTS) * _SHARE_THAT_DIFFERS * could / 2)
    picked = sum(q <= FALSE_DISCOVERY_RATE for q in quotients)
    widened = level_after_selection(FALSE_DISCOVERY_RATE * picked / max(len(measured), 1))
    actions = {
        (one.hypothesis.step, one.difference.estimate < 0)
        for one, q in zip(measured, quotients, strict=True)
        if one.hypothesis.kind == "action" and q <= FALSE_DISCOVERY_RATE
    }
    found = []
    for one, q in zip(measured, quotients, strict=True):
        if one.hypothesis.kind == "sequence" and (one.hypothesis.step, one.difference.estimate < 0) in actions:
            continue  # done after this or after that, it is the same finding
        level = widened if q <= FALSE_DISCOVERY_RATE else 0.95
        found.append(_effect(matrix, one, q=q, bar=bar, family=len(measured), level=level))
    return tuple(found)


def power(measured: Sequence[Measured], *, difference: float) -> float | None:
    """Of true differences of this size, one in each comparison, the share (0 to 1) that would be called associated.

    By the normal curve; downwards from the success rate without it, upwards where that is below one half. The bar is
    the q value of one more row than now stand out. ``None`` where nothing is compared.
    """
    if not measured:
        return None
    standing = sum(q <= AT_EACH_LOOK for q in q_values([one.chances.less for one in measured]))
    bar = NormalDist().inv_cdf(1 - AT_EACH_LOOK * min(1.0, (standing + 1) / len(measured)))
    return sum(_power(one.difference, difference=difference, bar=bar) for one in measured) / len(measured)


def _power(one: RiskDifference, *, difference: float, bar: float) -> float:
    (_, rate), (with_, without) = one.rates, one.sessions
    other = rate - difference if rate >= 0.5 else rate + difference  # noqa: PLR2004
    mean = (other * with_ + rate * without) / (with_ + without)
    if_alike = math.sqrt(mean * (1 - mean) * (1 / with_ + 1 / without))
    error = math.sqrt(other * (1 - other) / with_ + rate * (1 - rate) / without)
    return NormalDist().cdf((difference - bar * if_alike) / error)


def _effect(matrix: TrialMatrix, one: Measured, *, q: float, bar: float, family: int, level: float) -> Effect:
    half = risk_difference(one.newer(matrix)) if q <= FALSE_DISCOVERY_RATE else None
    newer = half.estimate if half else None  # where the newer half compares nothing
    verdict: Verdict = "associated"
    if q > FALSE_DISCOVERY_RATE:
        verdict = "could be chance"
    elif q > bar or (newer is not None and newer * one.difference.estimate < 0):
        verdict = "provisional"
    return Effect(
        **_counts(matrix, one.hypothesis),
        verdict=verdict,
        difference=one.difference.estimate,
        error=one.difference.error,
        interval=one.difference.interval(level, selected=q <= FALSE_DISCOVERY_RATE),
        level=level,
        q=q,
        family=family,
        strata=one.difference.informative,
        held=one.held,
        newer=newer,
        e_value=e_value(risk_ratio(one.tables)),
    )


def _counts(matrix: TrialMatrix, one: Hypothesis) -> dict[str, Any]:
    """The fields of `StepCounts`."""
    return {
        "kind": one.kind,
        "trigger": one.trigger,
        "action": one.action,
        "basis": one.basis,
        "uses": one.uses,
        "successes": int((one.exposed & one.success).sum()),
        "others": len(one.units) - one.uses,
        "successes_of_others": int((~one.exposed & one.success).sum()),
        "unmeasured": one.unmeasured,
        "examples": tuple(_examples(matrix, one)),
    }


def _examples(matrix: TrialMatrix, one: Hypothesis) -> Iterator[UseExample]:
    exposed = np.flatnonzero(one.exposed)
    newest = exposed[np.argsort(-matrix.began[one.units[exposed]], kind="stable")][:EXAMPLES_KEPT]
    for place in newest.tolist():
        trial = matrix.trials[int(one.units[place])]
        yield UseExample(trial.episode, trial.steps[int(one.places[place])].id, trial.timestamp)


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
