"""Confidence intervals of proportions, and corrections for making many comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A closed range of rates between 0 and 1, or of differences of two rates between -1 and 1."""

    low: float
    high: float


def wilson_interval(successes: float, trials: float, *, confidence: float = 0.95) -> Interval:
    """The long-run success rates (0 to 1) that ``successes`` out of ``trials`` are compatible with.

    Without trials nothing is known: 0 to 1. ``confidence`` (between 0 and 1, both excluded) is the share of such
    intervals that hold the true rate. Counts of weighted trials may be fractions.

    Raises:
        ValueError: The counts are negative, more succeeded than were tried, or ``confidence`` is out of range.

    >>> interval = wilson_interval(2, 3)
    >>> f"{interval.low:.2f} to {interval.high:.2f}"
    '0.21 to 0.94'
    >>> interval = wilson_interval(200, 300)
    >>> f"{interval.low:.2f} to {interval.high:.2f}"
    '0.61 to 0.72'
    >>> wilson_interval(0, 0)
    Interval(low=0.0, high=1.0)
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials: need 0 <= successes <= trials")
    z = _two_sided_quantile(confidence)
    if trials == 0:
        return Interval(low=0.0, high=1.0)
    failures = trials - successes
    centre = (successes + z * z / 2) / (trials + z * z)
    reach = z / (trials + z * z) * math.sqrt(successes * failures / trials + z * z / 4)
    # At 0 of n and n of n the bound is exact on paper; floating point leaves 1e-17 of dust there.
    low = max(0.0, centre - reach) if successes else 0.0
    high = min(1.0, centre + reach) if failures else 1.0
    return Interval(low=low, high=high)


def likelihood_interval(successes: float, trials: float, *, confidence: float = 0.95) -> Interval:
    """The rates (0 to 1) whose likelihood is not too far below that of the rate seen, for a high ``confidence``.

    Wilson's limits follow the normal curve. Far out, where a selected row needs its limits, they are too close: for
    4 failures of 20 at one in ten thousand Wilson's lower limit is 0.039, where the exact distribution puts 0.015.
    These follow the likelihood ratio, whose tails are nearly those of the exact distribution, and take fractions too
    (Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16, 2001).

    >>> f"{likelihood_interval(4, 20, confidence=0.9998).low:.3f} {wilson_interval(4, 20, confidence=0.9998).low:.3f}"
    '0.015 0.039'
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials: need 0 <= successes <= trials")
    z = _two_sided_quantile(confidence)
    if trials == 0:
        return Interval(low=0.0, high=1.0)
    seen, furthest = successes / trials, z * z / (2 * trials)
    return Interval(low=_limit(seen, 0.0, furthest), high=_limit(seen, 1.0, furthest))


def _limit(seen: float, end: float, furthest: float) -> float:
    """The rate between ``seen`` and ``end`` at which the relative entropy reaches ``furthest``, found by halving."""
    if seen == end:
        return end
    inside, outside = seen, end
    while (middle := (inside + outside) / 2) not in {inside, outside}:
        entropy = sum(a * math.log(a / b) for a, b in ((seen, middle), (1 - seen, 1 - middle)) if a)
        inside, outside = (middle, outside) if entropy <= furthest else (inside, middle)
    return inside


def newcombe_interval(
    successes: tuple[float, float],
    trials: tuple[float, float],
    *,
    confidence: float = 0.95,
    limits: Callable[..., Interval] = wilson_interval,
) -> Interval:
    """What the first rate less the second one (-1 to 1) may be, given the counts of two independent groups.

    Each end lies as far from the difference as the ends of the two Wilson intervals that pull it there, taken at right
    angles: Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine
    17 (1998), method 10. So it is honest with few trials too, and never leaves -1 to 1. Without trials on one side
    nothing is known of it: its rate is taken for one half, anywhere from 0 to 1. ``limits`` makes each group's own
    interval.

    Raises:
        ValueError: As `wilson_interval`, for either group.

    >>> interval = newcombe_interval((56, 48), (70, 80))
    >>> f"{interval.low:.4f} to {interval.high:.4f}"
    '0.0524 to 0.3339'
    """
    first, second = (limits(s, n, confidence=confidence) for s, n in zip(successes, trials, strict=True))
    rates = [s / n if n else 0.5 for s, n in zip(successes, trials, strict=True)]
    difference = rates[0] - rates[1]
    below = math.hypot(rates[0] - first.low, second.high - rates[1])
    above = math.hypot(first.high - rates[0], rates[1] - second.low)
    return Interval(low=max(-1.0, difference - below), high=min(1.0, difference + above))


@lru_cache(maxsize=8)
def _two_sided_quantile(confidence: float) -> float:
    """How many standard deviations to either side hold ``confidence`` of a normal distribution."""
    from statistics import NormalDist

    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}: need a number between 0 and 1, such as 0.95")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def q_values(chances: Sequence[float]) -> tuple[float, ...]:
    """The q value of each p value, in the order given: the smallest false discovery rate at which it would be kept.

    Valid for independent rows and for rows that depend on each other positively.

    >>> [round(q, 3) for q in q_values([0.01, 0.04, 0.03, 0.5])]
    [0.04, 0.053, 0.053, 0.5]
    """
    count = len(chances)
    falling = sorted(range(count), key=lambda place: -chances[place])
    found = [1.0] * count
    least = 1.0
    for rank, place in zip(range(count, 0, -1), falling, strict=True):
        least = min(least, chances[place] * count / rank)
        found[place] = least
    return tuple(found)


def level_after_selection(chance: float, *, miss: float = 0.05) -> float:
    """The level (0 to 1) for the interval of a row that is shown because its p value is at most ``chance``.

    Of the rows so shown at most ``miss`` have an interval that leaves out the true value on the side of no difference,
    however few they are: where there is no difference, a row is shown with that chance, and its interval leaves out 0
    with ``miss`` times that chance; where there is one, it is shown more often, and its interval misses as seldom.
    (The rate of Benjamini and Yekutieli, "False discovery rate-adjusted multiple confidence intervals for selected
    parameters", Journal of the American Statistical Association 100, 2005, counts looks that show nothing as right.
    With 200 sessions, of which 19 in 20 succeed, that is nearly all looks, and every fourth row that was shown missed.)

    >>> round(level_after_selection(0.001), 5), level_after_selection(1)
    (0.9999, 0.9)
    """
    return 1 - 2 * miss * chance
