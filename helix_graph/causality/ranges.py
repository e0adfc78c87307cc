"""Options that are numbers within bounds, and the error that names the option and its bounds."""

from __future__ import annotations

from helix_episodes.errors import HelixGraphError


class OptionOutOfRange(HelixGraphError):  # noqa: N818  (named for the situation, as all of our errors)
    """A number lies outside what the option takes."""

    def __init__(self, *, option: str, value: float, low: float, high: float) -> None:
        self.option = option
        self.value = value
        self.low = low
        self.high = high
        super().__init__(f"{option} is {value:g}: give a number from {low:g} to {high:g}")


def require_range(option: str, value: float, *, low: float, high: float) -> None:
    """Returns when ``low <= value <= high``.

    Raises:
        OptionOutOfRange: It is outside, or not a number.

    >>> require_range("min_success_rate", 0.7, low=0, high=1)
    >>> require_range("min_success_rate", 70, low=0, high=1)
    Traceback (most recent call last):
        ...
    helix_graph.causality.ranges.OptionOutOfRange: min_success_rate is 70: give a number from 0 to 1
    """
    if not low <= value <= high:
        raise OptionOutOfRange(option=option, value=value, low=low, high=high)
