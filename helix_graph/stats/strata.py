"""Comparing like with like: a difference of two success rates, taken within strata and pooled over them.

Hard tasks fail more often *and* get other treatment. Compared over everything, whatever is done on hard tasks looks
bad. So the comparison is made within each stratum (the same kind of task, the same things having happened before),
where the difficulty is the same for both arms, and the differences are pooled with the weights of Mantel and Haenszel,
which let sparse strata take part without upsetting the sum.

Each stratum is a table of four counts::

                 succeeded   failed
    with              a         b        n1 = a + b
    without           c         d        n0 = c + d

A stratum in which one of the arms is empty compares nothing and has no weight.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from helix_graph.stats.intervals import Interval, likelihood_interval, newcombe_interval, wilson_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Shape (strata, 2, 2): [stratum, without or with, failed or succeeded].
Tables: TypeAlias = "NDArray[np.int64]"

#: Below so many expected successes or failures in an arm the exact distribution is used. The textbook's five is for one
#: test at 5 %: with a Poisson count of 5, the normal curve is wrong five-fold at the one in a thousand that counts
#: when hundreds of rows are looked at. At 100 it is within a third there.
LEAST_EXPECTED = 100.0


class RiskDifference(NamedTuple):
    """A pooled risk difference: the success rates with and without, mixed alike over strata.

    ``sessions`` says of how many unstratified sessions, with and without, each rate is as certain. ``informative``
    counts the strata that had both arms.
    """

    rates: tuple[float, float]
    sessions: tuple[float, float]
    informative: int

    @property
    def estimate(self) -> float:
        """The rate with less the one without (-1 to 1)."""
        return self.rates[0] - self.rates[1]

    @property
    def error(self) -> float:
        """The standard error that a normal curve with the same 95 % interval would have."""
        interval = self.interval(0.95)
        return (interval.high - interval.low) / (2 * NormalDist().inv_cdf(0.975))

    def interval(self, level: float, *, selected: bool = False) -> Interval:
        """The differences that the tables are compatible with; ``level`` (0 to 1) of such ranges hold the true one.

        A row that is shown because it stands out is ``selected``: its level is so high that its limits come from the
        likelihood (`helix_graph.stats.intervals.likelihood_interval`).

        The limits of the two rates, taken at right angles (MOVER, the method of variance estimates recovery): Zou and
        Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in Medicine 27
        (2008); over strata: Yan and Su, "Stratified Wilson and Newcombe confidence intervals for multiple binomial
        proportions", Statistics in Biopharmaceutical Research 2 (2010). Unlike a variance of the difference, the limits
        do not collapse where nearly all sessions of an arm came out alike.
        """
        with_, without = (rate * size for rate, size in zip(self.rates, self.sessions, strict=True))
        limits = likelihood_interval if selected else wilson_interval
        return newcombe_interval((with_, without), self.sessions, confidence=level, limits=limits)


def tables_of(*, strata: NDArray[np.int64], exposed: NDArray[np.bool_], success: NDArray[np.bool_]) -> Tables:
    """The tables of units (three arrays of one length); strata are numbered from 0.

    >>> tables_of(strata=np.array([0, 0, 1]), exposed=np.array([True, False, True]),
    ...           success=np.array([True, True, False])).tolist()
    [[[0, 1], [0, 1]], [[0, 0], [1, 0]]]
    """
    cells = strata * 4 + exposed * 2 + success
    count = int(strata.max()) + 1 if strata.size else 0
    return np.bincount(cells, minlength=4 * count).reshape(-1, 2, 2)


def risk_difference(tables: Tables) -> RiskDifference | None:
    """The success rate with less the one without, within strata, with the weights of Mantel and Haenszel.

    ``None`` when no stratum has both arms. A mean of rates with weights w (their sum is 1) over n sessions each varies
    like a rate over 1 / sum(w² / n) sessions, so that many are its `RiskDifference.sessions`.

    >>> difference = risk_difference(np.array([[[10, 30], [30, 10]], [[5, 15], [12, 8]]]))
    >>> interval = difference.interval(0.95)
    >>> f"{difference.estimate:.3f}, {interval.low:.3f} to {interval.high:.3f}, {difference.informative} strata"
    '-0.450, -0.587 to -0.275, 2 strata'
    """
    held = _with_both_arms(tables)
    if not len(held):
        return None
    a, c, with_, without = _cells(held.astype(np.float64))
    weight = with_ * without / (with_ + without)
    weight /= weight.sum()
    arms = (a, with_), (c, without)
    # A sum of rates that are all 1 may come out as 1 and some dust.
    rates = tuple(min(1.0, float((weight * well / every).sum())) for well, every in arms)
    sessions = tuple(1 / float((weight**2 / every).sum()) for _, every in arms)
    return RiskDifference((rates[0], rates[1]), (sessions[0], sessions[1]), len(held))


def association(tables: Tables) -> float:
    """The z of Cochran, Mantel and Haenszel: how far success and exposure go together within strata.

    Standard normal when nothing connects them; positive when the exposed succeed more often. 0 when nothing can be
    compared, for instance when every unit of every stratum came out alike.

    >>> f"{association(np.array([[[10, 30], [30, 10]], [[5, 15], [12, 8]]])):.2f}"
    '-4.91'
    """
    held = _with_both_arms(tables)
    a, c, with_, without = _cells(held.astype(np.float64))
    whole, successes = with_ + without, a + c
    expected = with_ * successes / whole
    variances = expected * without / whole * (whole - successes) / np.maximum(whole - 1, 1)
    variance = float(variances.sum())
    return float((a - expected).sum()) / math.sqrt(variance) if variance else 0.0


class Chances(NamedTuple):
    """How likely (0 to 1) a difference at least as large would be if there were none: downwards, and upwards."""

    less: float
    more: float


def chances(tables: Tables) -> Chances:
    """One-sided p values in both directions.

    By the normal curve where at least `LEAST_EXPECTED` successes and failures are to be expected in both arms, else by
    the exact distribution of the successes with the margins of every stratum held (Fisher's, over strata), what was
    seen counted half: without that, steps of whole sessions make rows look less likely to differ than they are
    (Lancaster, "Significance tests in discrete distributions", Journal of the American Statistical Association 56,
    1961).

    >>> less, more = chances(np.array([[[10, 30], [30, 10]], [[5, 15], [12, 8]]]))
    >>> f"{less:.7f} {more:.3f}"
    '0.0000004 1.000'
    """
    held = _with_both_arms(tables)
    if not len(held):
        return Chances(1.0, 1.0)
    # The smallest expected count of the four cells, summed over the strata.
    counts = held.astype(np.float64)
    total = counts.sum(axis=(1, 2))[:, None, None]
    expected = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True) / total
    if float(expected.sum(axis=0).min()) < LEAST_EXPECTED:
        return _exact(held)
    z = association(held)
    return Chances(0.5 * math.erfc(-z / math.sqrt(2)), 0.5 * math.erfc(z / math.sqrt(2)))


def risk_ratio(tables: Tables) -> float | None:
    """The success rate with over the one without, within strata (Mantel-Haenszel).

    ``None`` when nobody without it succeeded.
    """
    held = _with_both_arms(tables)
    if not len(held):
        return None
    a, c, with_, without = _cells(held.astype(np.float64))
    total = with_ + without
    below = float((c * with_ / total).sum())
    return float((a * without / total).sum()) / below if below else None


def e_value(ratio: float | None) -> float | None:
    """How strong an unseen common cause would have to be (as a risk ratio with both) to explain a risk ratio away.

    ``None`` where one side never succeeded: no strength would do.

    VanderWeele and Ding, "Sensitivity analysis in observational research", Annals of Internal Medicine 167 (2017).

    >>> f"{e_value(0.5):.2f} {e_value(2.0):.2f} {e_value(1.0):.2f}"
    '3.41 3.41 1.00'
    """
    if not ratio:
        return None
    above = max(ratio, 1 / ratio)
    return above + math.sqrt(above * (above - 1))


def _with_both_arms(tables: Tables) -> Tables:
    held: Tables = tables[(tables.sum(axis=2) > 0).all(axis=1)]
    return held


def _cells(counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Successes with and without, units with and without, one number a stratum."""
    return counts[:, 1, 1], counts[:, 0, 1], counts[:, 1].sum(axis=1), counts[:, 0].sum(axis=1)


def _exact(tables: Tables) -> Chances:
    """Both tails of the sum of independent hypergeometric counts, one a stratum."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(tables.sum(axis=(1, 2)).max()) + 1)))])
    chance, least = np.ones(1), 0
    for (without_failed, c), (with_failed, a) in tables:
        fewest, here = _hypergeometric(
            successes=a + c, failures=without_failed + with_failed, drawn=a + with_failed, logs=logs
        )
        chance, least = np.convolve(chance, here), least + fewest
    seen = int(tables[:, 1, 1].sum()) - least
    below, equal = float(chance[:seen].sum()), float(chance[seen])
    return Chances(min(1.0, below + equal / 2), min(1.0, float(chance[seen + 1 :].sum()) + equal / 2))


def _hypergeometric(
    *, successes: int, failures: int, drawn: int, logs: NDArray[np.float64]
) -> tuple[int, NDArray[np.float64]]:
    """The smallest possible number of successes among those drawn, and the chances of it and of every larger one."""
    fewest, most = max(0, drawn - failures), min(successes, drawn)
    among = np.arange(fewest, most + 1)
    missed = drawn - among
    weights = logs[successes] - logs[among] - logs[successes - among]
    weights = weights + logs[failures] - logs[missed] - logs[failures - missed]
    return int(fewest), np.exp(
        weights - (logs[successes + failures] - logs[drawn] - logs[successes + failures - drawn])
    )
