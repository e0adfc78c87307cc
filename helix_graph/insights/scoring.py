"""The seed's arithmetic: how an insight is scored when it is recalled, and how its effectiveness moves with outcomes.

One number per insight, *effectiveness* (0 to 1, 0.5 at first), follows the outcomes of the tasks it was given to. It is
a moving average of raw outcomes, so on easy tasks it rises for whatever was there; `uplift` says what that is worth.
Sources: `seeds/helix-feedback-mechanics.md` and `seeds/helix-memory-cli.md`, profile ``v6``.
"""

from __future__ import annotations

import math

NEUTRAL = 0.5
#: How far one outcome moves a causal insight, and how far one moves any other back to neutral.
STEP = 0.1
EROSION = 0.1
#: What is left of the effectiveness of an insight that never had a hand in anything, from this many uses on.
LEAST_CREDIT = 0.3
LEAST_USES = 3
#: A score's parts.
RELEVANCE, EFFECTIVENESS, RECENCY = 0.7, 0.2, 0.1
HALF_LIFE_DAYS = 14.0
#: Less relevant insights are not recalled at all, and outcomes with a smaller cosine are not an insight's own.
RELEVANCE_GATE = 0.35
CAUSAL_GATE = 0.40


def ema(effectiveness: float, outcome: float) -> float:
    """The effectiveness after an outcome (0 blocked, 1 delivered) that the insight is held to have had a hand in.

    Ten deliveries from neutral make 0.826. (The seed's text says about 0.65, against its own formula.)

    >>> effectiveness = NEUTRAL
    >>> for _ in range(10):
    ...     effectiveness = ema(effectiveness, 1.0)
    >>> round(effectiveness, 3)
    0.826
    """
    return effectiveness * (1 - STEP) + outcome * STEP


def erode(effectiveness: float) -> float:
    """The effectiveness after an outcome that had nothing to do with the insight: a tenth of the way to neutral.

    >>> effectiveness = 0.75
    >>> for _ in range(11):
    ...     effectiveness = erode(effectiveness)
    >>> round(effectiveness, 3)
    0.578
    """
    return effectiveness + (NEUTRAL - effectiveness) * EROSION


def causal_adjusted(effectiveness: float, *, causal_hits: int, use_count: int) -> float:
    """The effectiveness that recall counts: times the share of uses that were causal, never below 0.3 of it.

    >>> round(causal_adjusted(0.99, causal_hits=0, use_count=20), 3)
    0.297
    >>> causal_adjusted(0.75, causal_hits=5, use_count=5), causal_adjusted(0.75, causal_hits=0, use_count=2)
    (0.75, 0.75)
    """
    if use_count < LEAST_USES:
        return effectiveness
    return effectiveness * max(LEAST_CREDIT, causal_hits / use_count)


def recency(days: float) -> float:
    """1 for an insight used now, half of that every 14 days.

    >>> recency(0), recency(14), recency(28)
    (1.0, 0.5, 0.25)
    """
    return math.exp2(-days / HALF_LIFE_DAYS)


def score(*, relevance: float, effectiveness: float, recency: float) -> float:
    """By what recall sorts; ``effectiveness`` is the adjusted one.

    >>> round(score(relevance=0.6, effectiveness=0.5, recency=1.0), 2)
    0.62
    """
    return RELEVANCE * relevance + EFFECTIVENESS * effectiveness + RECENCY * recency
