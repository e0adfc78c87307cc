"""The seed's arithmetic: how an insight is scored when it is recalled, and how its effectiveness moves with outcomes.

One number per insight, *effectiveness* (0 to 1, 0.5 at first), follows the outcomes of the tasks it was given to. It is
a moving average of raw outcomes, so on easy tasks it rises for whatever was there; `uplift` says what that is worth.
The constants are those of `helix_graph.insights.settings`. Sources: `seeds/helix-feedback-mechanics.md` and
`seeds/helix-memory-cli.md`, profile ``v6``.
"""

from __future__ import annotations

import math

from helix_graph.insights.settings import V6

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_graph.insights.settings import Settings

NEUTRAL = V6.neutral
#: Less relevant insights are not recalled at all, and outcomes with a smaller cosine are not an insight's own.
RELEVANCE_GATE = V6.min_relevance
CAUSAL_GATE = V6.causal


def ema(effectiveness: float, outcome: float, *, settings: Settings = V6) -> float:
    """The effectiveness after an outcome (0 blocked, 1 delivered) that the insight is held to have had a hand in.

    Ten deliveries from neutral make 0.826. (The seed's text says about 0.65, against its own formula.)

    >>> effectiveness = NEUTRAL
    >>> for _ in range(10):
    ...     effectiveness = ema(effectiveness, 1.0)
    >>> round(effectiveness, 3)
    0.826
    """
    return _share(effectiveness * (1 - settings.rate) + outcome * settings.rate)


def erode(effectiveness: float, *, settings: Settings = V6) -> float:
    """The effectiveness after an outcome that had nothing to do with the insight: a tenth of the way to neutral.

    >>> effectiveness = 0.75
    >>> for _ in range(11):
    ...     effectiveness = erode(effectiveness)
    >>> round(effectiveness, 3)
    0.578
    """
    return _share(effectiveness + (settings.neutral - effectiveness) * settings.erosion)


def causal_adjusted(effectiveness: float, *, causal_hits: int, use_count: int, settings: Settings = V6) -> float:
    """The effectiveness that recall counts: times the share of uses that were causal, never below 0.3 of it.

    It counts from three uses on.

    >>> round(causal_adjusted(0.99, causal_hits=0, use_count=20), 3)
    0.297
    >>> causal_adjusted(0.75, causal_hits=5, use_count=5), causal_adjusted(0.75, causal_hits=0, use_count=2)
    (0.75, 0.75)
    """
    if use_count < settings.uses_to_adjust:
        return effectiveness
    return effectiveness * max(settings.least_credit, causal_hits / use_count)


def recency(days: float, *, settings: Settings = V6) -> float:
    """1 for an insight used now, half of that every 14 days.

    >>> recency(0), recency(14), recency(28)
    (1.0, 0.5, 0.25)
    """
    return math.exp2(-days / settings.half_life_days)


def score(*, relevance: float, effectiveness: float, recency: float, settings: Settings = V6) -> float:
    """By what recall sorts; ``effectiveness`` is the adjusted one.

    >>> round(score(relevance=0.6, effectiveness=0.5, recency=1.0), 2)
    0.62
    """
    return settings.relevance * relevance + settings.effectiveness * effectiveness + settings.recency * recency


def _share(value: float) -> float:
    """Within 0 to 1: a sum of floats may come out a hair beside it."""
    return min(1.0, max(0.0, value))
