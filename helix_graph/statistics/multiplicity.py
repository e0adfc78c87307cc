"""Looking at many rows at once: what is left when luck has had as many chances as there were rows.

Of a hundred rows without any difference, five look significant at 5 %. Two corrections make a report of many rows as
reliable as one row. *q values* (Benjamini and Hochberg 1995): among the rows with q at most 0.10, at most about one in
ten is a fluke. *Widened intervals* (Benjamini and Yekutieli 2005): rows that were picked because they stood out have
estimates that stand out too far, so the intervals of R rows picked out of m are drawn at the level 1 - 0.05 R / m.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def level_after_selection(*, selected: int, tested: int, miss: float = 0.05) -> float:
    """The level (0 to 1) at which to draw the intervals of ``selected`` rows out of ``tested``.

    So drawn, of the intervals shown at most ``miss`` are expected to leave out the true value.

    >>> round(level_after_selection(selected=2, tested=100), 4), level_after_selection(selected=100, tested=100)
    (0.999, 0.95)
    """
    return 1 - miss * selected / tested if selected else 1 - miss


def reach(level: float) -> float:
    """How many standard errors to either side an interval of that level has.

    >>> round(reach(0.95), 2)
    1.96
    """
    return NormalDist().inv_cdf((1 + level) / 2) if level < 1 else math.inf
