"""The rows that every estimate is made of: one insight, one injection, what became of it, and how the task came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Handed over; chosen and then withheld by lot; relevant but not among those chosen.
Fate = Literal["given", "withheld", "passed over"]


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one insight that was relevant to one injection.

    ``propensity`` is the chance with which it was to be withheld (`withholding.Lot`). ``succeeded`` is None while
    nothing vouches for the outcome; ``taken_up`` is None where nobody can tell, as for an insight without a link.
    """

    insight: str
    injection: str
    fate: Fate
    propensity: float
    succeeded: bool | None
    taken_up: bool | None = None


class Counts(NamedTuple):
    """Measured injections that were treated with an insight and how many of them succeeded, and the same untreated."""

    treated: int = 0
    successes: int = 0
    untreated: int = 0
    untreated_successes: int = 0


def tally(deliveries: Iterable[Delivery]) -> dict[str, Counts]:
    """The counts of each insight, by name; in whatever order the deliveries come.

    >>> row = Delivery(insight="run-the-tests", injection="episode-1", fate="given", propensity=0.1, succeeded=True)
    >>> tally([row])
    {'run-the-tests': Counts(treated=1, successes=1, untreated=0, untreated_successes=0)}
    """
    found: dict[str, Counts] = {}
    for one in deliveries:
        found[one.insight] = add(found.get(one.insight, Counts()), one)
    return dict(sorted(found.items()))


def add(counts: Counts, delivery: Delivery) -> Counts:
    """The counts with one more delivery; one whose outcome nobody knows changes nothing."""
    if delivery.succeeded is None:
        return counts
    treated, successes, untreated, spared = counts
    if is_treated(delivery):
        return Counts(treated + 1, successes + delivery.succeeded, untreated, spared)
    return Counts(treated, successes, untreated + 1, spared + delivery.succeeded)


def is_treated(delivery: Delivery) -> bool:
    """Handed over and, where that can be told, taken up: half of a memory's insights have no link to tell it by.

    In the simulation, counting uptake alone falls behind handing over once half of the insights have no link, and this
    rule is ahead of both (`docs/feedback.md`).
    """
    return delivery.fate == "given" and delivery.taken_up is not False
