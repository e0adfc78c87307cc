"""How time grows with a text, compared within one run, so that a slow or busy machine cannot fail a test."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Four times the text takes a linear program 4 times as long, a quadratic one 16 times.
LINEAR = 8
#: What is quadratic shows at this length by a second or more; four times that would only cost four times as much.
_LENGTH = 250_000
_RUNS = 3
#: Seconds that what is quadratic takes at the least; below them a cache or the clock's own steps decide the ratio.
_NOTICEABLE = 0.2


def growth(work: Callable[[str], object], text: str) -> float:
    """How many times as long a text takes as a quarter of it, by processor time; both keep its two ends.

    Measured again, up to three times, while it looks like more than `LINEAR`: other load makes single runs longer,
    never shorter, so that the least of them tells.
    """
    whole, part = _ends(text, _LENGTH), _ends(text, _LENGTH // 4)
    work(part)  # what is compiled or loaded first is not counted
    least_whole = least_part = float("inf")
    for _ in range(_RUNS):
        least_whole, least_part = min(least_whole, _time(work, whole)), min(least_part, _time(work, part))
        if least_whole < LINEAR * max(least_part, _NOTICEABLE / LINEAR):
            break
    return least_whole / max(least_part, _NOTICEABLE / LINEAR)


def _ends(text: str, length: int) -> str:
    return text[: length // 2] + text[-length // 2 :]


def _time(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started
