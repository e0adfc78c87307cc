"""The ratio of two rates of events that come in sessions: its interval, and how likely it is by chance.

The events of one session are not independent, so each rate is as certain as its discounted number of opportunities.
The limits of the two rates are taken at right angles on the logarithmic scale (MOVER; Zou and Donner, Statistics in
Medicine 27, 2008), so that neither a rate of 0 nor a small one breaks the interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from helix_graph.stats.intervals import wilson_interval
from helix_graph.stats.rates import ALIKE

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
