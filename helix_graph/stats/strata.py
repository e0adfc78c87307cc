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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    #: Shape (strata, 2, 2): [stratum, without or with, failed or succeeded].
    Tables = NDArray[np.int64]

#: Below so many expected successes or failures in an arm the exact distribution is used. The textbook's five is for one
#: test at 5 %: with a Poisson count of 5, the normal curve is wrong five-fold at the one in a thousand that counts
#: when hundreds of rows are looked at. At 100 it is within a third there.
LEAST_EXPECTED = 100.0
#: Dust of floating point: the variance of one session in ten million is larger.
_NO_VARIANCE = 1e-15


class RiskDifference(NamedTuple):
    """A pooled risk difference (-1 to 1), its standard error, and how many strata had both arms."""

    estimate: float
    error: float
    informative: int


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
    """The success rate with less the one without, within strata (Mantel-Haenszel), with Sato's variance.

    ``None`` when no stratum has both arms. Sato, "On the variance estimator for the Mantel-Haenszel risk difference",
    Biometrics 45 (1989): it holds both for few large strata and for many small ones. Where every session with it came
    out one way and every one without it the other way, that variance is 0, as if nothing were left to learn; there, and
    only there, it is taken with half a session added to each cell of each stratum.

    >>> difference = risk_difference(np.array([[[10, 30], [30, 10]], [[5, 15], [12, 8]]]))
    >>> f"{difference.estimate:.3f} ± {difference.error:.3f} over {difference.informative} strata"
    '-0.450 ± 0.081 over 2 strata'
    """
    held = _with_both_arms(tables)
    if not len(held):
        return None
    estimate, variance = _pooled(held.astype(np.float64))
    if variance <= _NO_VARIANCE:
        _, variance = _pooled(held.astype(np.float64) + np.float64(0.5))
    return RiskDifference(estimate, math.sqrt(variance), len(held))


def _pooled(counts: NDArray[np.float64]) -> tuple[float, float]:
    """The pooled difference and Sato's variance."""
    a, c, with_, without = _cells(counts)
    total = with_ + without
    weight = float((with_ * without / total).sum())
    estimate = float(((a * without - c * with_) / total).sum()) / weight
    skew = (with_**2 * c - without**2 * a + with_ * without * (without - with_) / 2) / total**2
    spread = (a * (without - c) + c * (with_ - a)) / (2 * total)
    return estimate, (estimate * float(skew.sum()) + float(spread.sum())) / weight**2


def association(tables: Tables) -> float:
    """The z of Cochran, Mantel and Haenszel: how far success and exposure go together within strata.

    Standard normal when nothing connects them; positive when the exposed succeed more often. 0 when nothing can be
    compared, for instance when every unit of every stratum came out alike.

    >>> f"{association(np.array([[[10, 30], [30, 10]], [[5, 15], [12, 8]]])):.2f}"
    '-4.91'
    """
    held = _with_both_arms(tables)
    a, expected, variance = _expectation(held)
    total = float(variance.sum())
    return float((a - expected).sum()) / math.sqrt(total) if total else 0.0


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
    if _least_expected(held) < LEAST_EXPECTED:
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


def _expectation(tables: Tables) -> tuple[NDArray[np.float64], ...]:
    a, c, with_, without = _cells(tables.astype(np.float64))
    total, successes = with_ + without, a + c
    expected = with_ * successes / total
    variance = expected * without / total * (total - successes) / np.maximum(total - 1, 1)
    return a, expected, variance


def _least_expected(tables: Tables) -> float:
    """The smallest expected count of the four cells, summed over the strata."""
    counts = tables.astype(np.float64)
    total = counts.sum(axis=(1, 2))[:, None, None]
    expected = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True) / total
    return float(expected.sum(axis=0).min())


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
