"""Ranking by uplift: what is handed over is what is believed to help, and what might.

For each insight there is a belief about its uplift, a normal curve with a mean and a spread. Ranking draws one value
from each curve (Thompson sampling): an insight that is known to help nearly always comes first, one that was hardly
tried sometimes does, and so gets tried. Relevance decides who may take part, and little more. The draws are lots
(`lots`), so the same injection is ranked alike whenever it is asked for.

Formulas and constants: `reference/causal-statistics.md` §5.3.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_graph.insights.deliveries import Counts
from helix_graph.insights.lots import lot
from helix_graph.insights.scoring import RELEVANCE_GATE
from helix_graph.insights.withholding import SAFETY

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Injections that a belief starts with, as if seen: half of them succeeded, and the insight changed nothing.
PRIOR = 4.0
#: What a full point of relevance adds to the draw: it breaks ties, and never outweighs a known effect.
RELEVANCE_WEIGHT = 0.15
MIDDLE = 0.5
#: Withdrawn when the uplift is negative with more than this chance, after this many treated injections.
SURE = 0.95
LEAST_TREATED = 20
#: Injections with a known outcome before ranking by uplift is offered: at five insights each and one in ten withheld,
#: so many hold the hundred withheld that the first estimate needs.
MEASURED_NEEDED = 200
PLACES = 5
_STANDARD = NormalDist()


class Belief(NamedTuple):
    """About an insight's uplift: the mean (-1 to 1) and the standard deviation."""

    mean: float
    deviation: float


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that might be handed over; ``relevance`` is its cosine with the task (-1 to 1)."""

    insight: str
    relevance: float
    counts: Counts = Counts()
    tags: tuple[str, ...] = ()


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """An insight in its place: by what it was ranked (``drawn``), and the belief that was drawn from."""

    insight: str
    drawn: float
    belief: Belief


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether ranking by uplift is offered; ``too_early`` says what is missing, "" when nothing is."""

    measured: int
    needed: int = MEASURED_NEEDED

    @property
    def too_early(self) -> str:
        """What is missing.

        >>> Readiness(measured=12).too_early
        'too early: 12 of 200 injections with a known outcome'
        """
        if self.measured >= self.needed:
            return ""
        return f"too early: {self.measured} of {self.needed} injections with a known outcome"


def belief(counts: Counts) -> Belief:
    """What the counts say of the uplift, pulled to none where they are few.

    >>> mean, deviation = belief(Counts(treated=16, successes=12, untreated=16, untreated_successes=8))
    >>> f"{mean:.2f} ± {deviation:.2f}"
    '0.20 ± 0.15'
    """
    treated, successes, untreated, spared = counts
    without = (spared + PRIOR / 2) / (untreated + PRIOR)
    with_ = (successes + PRIOR * without) / (treated + PRIOR)
    variance = with_ * (1 - with_) / (treated + PRIOR) + without * (1 - without) / (untreated + PRIOR)
    return Belief(with_ - without, math.sqrt(variance))


def withdrawn(counts: Counts) -> bool:
    """Whether an insight has done harm so often that it is no longer handed over.

    >>> withdrawn(Counts(treated=20, successes=5, untreated=40, untreated_successes=24))
    True
    >>> withdrawn(Counts(treated=19, successes=0, untreated=40, untreated_successes=40))
    False
    """
    return _is_harmful(counts, belief(counts))


def _is_harmful(counts: Counts, held: Belief) -> bool:
    """The mean lies so many deviations below 0 that less than one in twenty of the curve is above it."""
    return counts.treated >= LEAST_TREATED and held.mean < _STANDARD.inv_cdf(1 - SURE) * held.deviation


def rank(contenders: Iterable[Contender], *, injection: str, salt: str, places: int = PLACES) -> tuple[Place, ...]:
    """The insights to hand over, best first: at most ``places``, each relevant, not withdrawn, and drawn above 0.

    Whatever is tagged ``safety`` takes part whatever was drawn: a low draw is no reason to keep a warning back.

    >>> helpful = Counts(treated=90, successes=72, untreated=90, untreated_successes=45)
    >>> contenders = [Contender(insight="run-the-tests", relevance=0.5, counts=helpful),
    ...               Contender(insight="off-topic", relevance=0.2, counts=helpful)]
    >>> [place.insight for place in rank(contenders, injection="episode-7", salt="a")]
    ['run-the-tests']
    """
    drawn = [_drawn(one, injection, salt) for one in contenders if one.relevance >= RELEVANCE_GATE]
    standing = [place for place in drawn if place is not None]
    return tuple(sorted(standing, key=lambda place: (-place.drawn, place.insight))[:places])


def _drawn(one: Contender, injection: str, salt: str) -> Place | None:
    held = belief(one.counts)
    luck = _STANDARD.inv_cdf(lot("rank", salt, injection, one.insight))
    drawn = held.mean + held.deviation * luck + RELEVANCE_WEIGHT * (one.relevance - MIDDLE)
    if SAFETY not in one.tags and (drawn <= 0 or _is_harmful(one.counts, held)):
        return None
    return Place(insight=one.insight, drawn=drawn, belief=held)
