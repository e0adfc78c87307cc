"""Confidence intervals of proportions and rates, and corrections for making many comparisons.

Rates over few trials that come in sessions are drawn towards a usual rate. Seven of ten runs of one afternoon are not
ten independent trials, and 2 of 3 is no rate of 67 %. So counts are discounted for trials of one session, and a rate is
drawn towards the usual one as if so many trials at the usual rate had been seen as well (the mean of a beta-binomial
model). How many is read from the counts themselves: where rates of many groups scatter no more than chance lets them,
each is drawn far. What may come next is a *predictive* range: it holds the uncertainty of the rate and the scatter of
the next trials, sessions with it. A confidence interval, read as a forecast, leaves out the second: in the trial of 149
sessions Wilson's held 65 % of what came, at 95 %.

The events of one session are not independent, so in the ratio of two rates each is as certain as its discounted number
of opportunities. The limits of the two rates are taken at right angles on the logarithmic scale (MOVER; Zou and Donner,
Statistics in Medicine 27, 2008), so that neither a rate of 0 nor a small one breaks the interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

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


#: How alike the trials of one session are (the intraclass correlation): 0.145 over the check runs of 149 sessions.
ALIKE = 0.145
#: The numbers of trials at the usual rate between which the counts decide; the last draws as good as all the way.
_STRENGTHS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0)


class Estimate(NamedTuple):
    """A rate (0 to 1), how many independent trials it is as certain as, and how many trials a session has."""

    rate: float
    certainty: float
    per_session: float


def usual_rate(sessions: Iterable[tuple[int, int]], *, around: float = 0.5) -> Estimate:
    """The rate over all trials, from (events, trials) of each session, drawn towards ``around`` by two trials.

    >>> usual_rate([(1, 10)] * 10).rate < 0.15
    True
    """
    events, trials, per_session = _discounted(sessions)
    return Estimate((events + 2 * around) / (trials + 2), trials + 2, per_session)


def pooling_strength(groups: Iterable[tuple[Iterable[tuple[int, int]], float]]) -> float:
    """How many trials at the usual rate the rates of some groups are to be drawn by: as far as they are alike.

    Each group is its sessions' (events, trials) and its usual rate. The mean (of the inverse) over the strengths, each
    weighed by how likely it makes the counts (the marginal likelihood of a beta-binomial).

    >>> alike, apart = [([(1, 1)] + [(0, 1)] * 9, 0.1)] * 20, [([(1, 1)] * 10, 0.5), ([(0, 1)] * 10, 0.5)] * 10
    >>> f"{pooling_strength(alike):.0f} {pooling_strength(apart):.0f}"
    '116 2'
    """
    likely = [0.0] * len(_STRENGTHS)
    for sessions, usual in groups:
        events, trials, _ = _discounted(sessions)
        for at, strength in enumerate(_STRENGTHS):
            yes, no = strength * usual, strength * (1 - usual)
            likely[at] += _log_beta(yes + events, no + trials - events) - _log_beta(yes, no)
    weights = [math.exp(one - max(likely)) for one in likely]
    return sum(weights) / sum(weight / strength for weight, strength in zip(weights, _STRENGTHS, strict=True))


def shrunk_rate(sessions: Iterable[tuple[int, int]], usual: Estimate, *, strength: float) -> Estimate:
    """The rate in one situation, from (events, trials) of each session, drawn towards the usual one.

    >>> usual = Estimate(0.1, 200.0, 2.0)
    >>> [f"{shrunk_rate([(1, 1)] * runs, usual, strength=8).rate:.2f}" for runs in (3, 30)]
    ['0.35', '0.81']
    """
    events, trials, per_session = _discounted(sessions)
    rate = (events + strength * usual.rate) / (trials + strength)
    # What is not known of the usual rate is not known of this one, as far as it rests on it.
    rests = strength / (trials + strength)
    spread = 1 / (trials + strength + 1) + rests * rests / (usual.certainty + 1)
    return Estimate(rate, 1 / spread - 1, per_session)


def predictive_range(estimate: Estimate, trials: int, *, confidence: float = 0.9) -> tuple[int, int]:
    """Between how many of the next ``trials`` will show the event, with about that confidence.

    Of a number at the edge half counts as outside: ranges of whole numbers hold more than they say otherwise.

    >>> predictive_range(Estimate(0.3, 60.0, 1.5), 10)
    (1, 5)
    """
    if trials == 0:
        return 0, 0
    together = (max(estimate.per_session, 1) - 1) * ALIKE
    # The scatter of a beta-binomial with the intraclass correlation that both sources come to.
    alike = 1 / (estimate.certainty + 1) + (together / (trials - 1) if trials > 1 else 0.0)
    weight = 1 / min(alike, 0.99) - 1
    chances = list(_beta_binomial(trials, estimate.rate * weight, (1 - estimate.rate) * weight))
    tail = (1 - confidence) / 2
    return _first_above(chances, tail), trials - _first_above(chances[::-1], tail)


def _discounted(sessions: Iterable[tuple[int, int]]) -> tuple[float, float, float]:
    """Events and trials of as many independent trials as these are worth, and the trials of a session.

    The mean is over trials: a session with many counts as often as it has trials.
    """
    known = [(events, trials) for events, trials in sessions if trials]
    trials = sum(one for _, one in known)
    if not trials:
        return 0.0, 0.0, 1.0
    per_session = sum(one * one for _, one in known) / trials
    worth = 1 / (1 + ALIKE * (per_session - 1))
    return worth * sum(events for events, _ in known), worth * trials, per_session


def _beta_binomial(trials: int, yes: float, no: float) -> Iterable[float]:
    whole = _log_beta(yes, no)
    for events in range(trials + 1):
        ways = math.lgamma(trials + 1) - math.lgamma(events + 1) - math.lgamma(trials - events + 1)
        yield math.exp(ways + _log_beta(yes + events, no + trials - events) - whole)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _first_above(chances: list[float], tail: float) -> int:
    """The first place up to the middle of which more than ``tail`` lies."""
    below = 0.0
    for place, chance in enumerate(chances):
        if below + chance / 2 > tail:
            return place
        below += chance
    return len(chances) - 1


#: Half an event is added to each side: a rate of 0 has a ratio, though no lower end.
_HALF = 0.5
#: The search for the level at which an interval touches 1 stops this close.
_CLOSE = 1e-6

#: Events and opportunities of each session.
Sessions = Sequence[tuple[int, int]]


class RateRatio(NamedTuple):
    """The second rate over the first one, its interval, and the two-sided chance of a ratio so far from 1."""

    ratio: float
    low: float
    high: float
    chance: float


def rate_ratio(before: Sessions, after: Sessions, *, confidence: float = 0.95) -> RateRatio | None:
    """How many times as often there are events after as before; None where one side has no opportunity.

    >>> found = rate_ratio([(2, 10)] * 20, [(1, 10)] * 20)
    >>> f"{found.ratio:.2f}, {found.low:.2f} to {found.high:.2f}"
    '0.51, 0.24 to 1.05'
    """
    sides = effective_counts(before), effective_counts(after)
    if not (sides[0][1] and sides[1][1]):
        return None
    rates = [(events + _HALF) / (trials + 2 * _HALF) for events, trials in sides]
    low, high = _limits(sides, rates, confidence)
    return RateRatio(rates[1] / rates[0], low, high, _chance(sides, rates))


def effective_counts(sessions: Sessions) -> tuple[float, float]:
    """Events and opportunities of sessions, as many as they are worth: those of one session are alike."""
    trials = sum(n for _, n in sessions)
    if not trials:
        return 0.0, 0.0
    events = sum(k for k, _ in sessions)
    per_session = sum(n * n for _, n in sessions) / trials
    rate = events / trials
    expected = rate * (1 - rate) * trials
    # What the sessions show of their own scatter, and no less than sessions usually scatter.
    shown = sum((k - rate * n) ** 2 for k, n in sessions) / expected if expected else 1.0
    discount = max(1.0, 1 + (per_session - 1) * ALIKE, shown)
    return events / discount, trials / discount


def _limits(
    sides: tuple[tuple[float, float], tuple[float, float]], rates: Sequence[float], confidence: float
) -> tuple[float, float]:
    (low0, high0), (low1, high1) = (
        (one.low, one.high) for one in (wilson_interval(k, n, confidence=confidence) for k, n in sides)
    )
    point = math.log(rates[1] / rates[0])
    down = math.hypot(_log(rates[1], low1), _log(high0, rates[0]))
    up = math.hypot(_log(high1, rates[1]), _log(rates[0], low0))
    return math.exp(point - down), math.exp(min(point + up, 700.0))


def _log(upper: float, lower: float) -> float:
    """The distance of two rates on the logarithmic scale, none where they are the wrong way round."""
    return max(0.0, math.log(upper / lower)) if lower > 0 else math.inf


def _chance(sides: tuple[tuple[float, float], tuple[float, float]], rates: Sequence[float]) -> float:
    """The smallest two-sided chance at which the interval leaves out 1, found by halving."""
    inside, outside = 1.0 - 1e-12, 0.0  # a confidence so high always holds 1, one of 0 holds only the ratio
    while inside - outside > _CLOSE:
        middle = (inside + outside) / 2
        low, high = _limits(sides, rates, middle) if middle > 0 else (1.0, 1.0)
        if low <= 1 <= high:
            inside = middle
        else:
            outside = middle
    return 1 - outside
