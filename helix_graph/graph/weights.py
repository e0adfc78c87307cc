"""Weights and rates: integers inside, six digits outside.

Weights are integer millionths. Integers add up to the same sum in any order, in any grouping and in any engine, which
is what lets a graph be merged, taken apart and computed elsewhere without a bit of difference.
"""

from __future__ import annotations

MILLION = 1_000_000


def mean_weight(weight_sum: int, claims: int) -> float:
    """The mean of weights in millionths, as a number from 0 to 1 with six digits, rounded half up in integers.

    >>> mean_weight(1_500_000, 3)
    0.5
    """
    return (2 * weight_sum + claims) // (2 * claims) / MILLION


def rate(successes: int, measured: int) -> float | None:
    """Successes of measured, to six digits; None when nothing was measured."""
    return mean_weight(successes * MILLION, measured) if measured else None
