"""Holdout: the only way to measure what an insight does is to withhold it now and then, at random.

Tasks that get an insight differ from tasks that do not. Only where chance alone decided is the difference in success
the effect of the insight. So each insight chosen for an injection is withheld with a small chance, its *propensity*,
which is recorded. Its position stays empty: if another moved up, the two groups would differ in two insights. One in
ten is withheld until the insight's interval is narrow enough, then one in fifty, so that a change is still noticed.
Insights tagged ``safety`` are never withheld.

Random choices (which insight is withheld, how a ranking is drawn) come from a hash of what they are about, not from a
generator with state. So a draw depends neither on the other insights nor on their order, a second run draws the same,
and whoever has the log can check it. The rows of every estimate are defined here as well: one insight, one injection,
whether it was shown or withheld, and how the task ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec

from helix_episodes.light_imports import blake2b
from helix_graph.insights.scoring import SAFETY_TAG

#: Eight bytes of hash, of which a float holds 53 bits; the half keeps the lot off both ends.
_BITS = 53


def uniform_draw(*about: str) -> float:
    """A number between 0 and 1, both excluded: evenly spread over different texts, the same for the same ones.

    Each text counts by itself: ``("ab", "c")`` and ``("a", "bc")`` are different draws.

    >>> uniform_draw("withhold", "episode-1", "run-the-tests") == uniform_draw("withhold", "episode-1", "run-the-tests")
    True
    >>> uniform_draw("ab", "c") == uniform_draw("a", "bc")
    False
    """
    # The form with quotes and escapes: any text has one, and no two have the same.
    digest = blake2b(ascii(about).encode(), digest_size=8).digest()
    return ((int.from_bytes(digest) >> (64 - _BITS)) + 0.5) / (1 << _BITS)


#: A tenth of the benefit is the price of knowing it: .027 of success in the reference's simulation.
FIRST_SHARE = 0.10
#: Once it is known: enough to notice within some hundred injections that it has changed.
KNOWN_SHARE = 0.02
#: Known is an effect within five points either way: one of ten points is then told from none. (At ten points either way
#: the control group stopped growing at a hundred, and 62 of 80 such effects stayed unknown for good.)
KNOWN_WITHIN = 0.05
#: More than half is no control any more, but a memory that is switched off.
LARGEST_SHARE = 0.5


class InsightsTable(msgspec.Struct, forbid_unknown_fields=True):
    """``[insights]`` of the settings: ``withhold`` is the share that is withheld at random, 0.1 say.

    What the memory's ``config.toml`` says goes before what the user's own does.
    """

    withhold: float | None = None


class HoldoutCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that was chosen for an injection.

    ``half_width`` is half of its effect's interval (`uplift.Uplift.half_width`), None while it is too early for one.
    """

    insight: str
    tags: tuple[str, ...] = ()
    half_width: float | None = None


class HoldoutDraw(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a candidate: ``propensity`` (0 to 1) is the chance with which it was to be withheld."""

    insight: str
    withheld: bool
    propensity: float


def withhold(
    candidates: Iterable[HoldoutCandidate], *, injection: str, salt: str, first: float = FIRST_SHARE
) -> tuple[HoldoutDraw, ...]:
    """Which of the chosen insights are withheld from an injection; in the order given.

    ``injection`` is the id of the injection or of its episode, ``salt`` a text that the memory keeps for itself, so
    that two memories draw differently and nobody names an episode so that nothing is withheld.

    >>> safe = HoldoutCandidate(insight="never-force-push", tags=("safety",))
    >>> chosen = [HoldoutCandidate(insight="run-the-tests"), safe]
    >>> for one in withhold(chosen, injection="episode-7", salt="a"):
    ...     print(one.insight, one.withheld, one.propensity)
    run-the-tests False 0.1
    never-force-push False 0.0
    """
    drawn = []
    for one in candidates:
        chance = propensity(one, first=first)
        withheld = uniform_draw("withhold", salt, injection, one.insight) < chance
        drawn.append(HoldoutDraw(insight=one.insight, withheld=withheld, propensity=chance))
    return tuple(drawn)


def propensity(candidate: HoldoutCandidate, *, first: float = FIRST_SHARE) -> float:
    """The chance with which a candidate is withheld: none, ``first``, or 0.02 once it is known."""
    if SAFETY_TAG in candidate.tags:
        return 0.0
    if candidate.half_width is not None and candidate.half_width < KNOWN_WITHIN:
        return min(KNOWN_SHARE, first)
    return first


#: Shown; chosen and then withheld at random; relevant but not among those chosen.
Fate = Literal["given", "withheld", "passed over"]


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one insight that was relevant to one injection.

    ``propensity`` is the chance with which it was to be withheld (`HoldoutDraw`). ``succeeded`` is None while
    nothing vouches for the outcome; ``taken_up`` is None where nobody knows, as for an insight without a link.
    """

    insight: str
    injection: str
    fate: Fate
    propensity: float
    succeeded: bool | None
    taken_up: bool | None = None


class ExposureCounts(NamedTuple):
    """Measured injections that were treated with an insight and how many of them succeeded, and the same untreated."""

    treated: int = 0
    successes: int = 0
    untreated: int = 0
    untreated_successes: int = 0


def count_exposures(deliveries: Iterable[Exposure]) -> dict[str, ExposureCounts]:
    """The counts of each insight, by name; in whatever order the deliveries come.

    >>> row = Exposure(insight="run-the-tests", injection="episode-1", fate="given", propensity=0.1, succeeded=True)
    >>> count_exposures([row])
    {'run-the-tests': ExposureCounts(treated=1, successes=1, untreated=0, untreated_successes=0)}
    """
    found: dict[str, ExposureCounts] = {}
    for one in deliveries:
        found[one.insight] = add(found.get(one.insight, ExposureCounts()), one)
    return dict(sorted(found.items()))


def add(counts: ExposureCounts, delivery: Exposure) -> ExposureCounts:
    """The counts with one more delivery; one whose outcome nobody knows changes nothing.

    Treated is what was handed over and, where that can be seen, taken up: half of a memory's insights have no link to
    see it by. In the simulation, counting uptake alone falls behind handing over once half of the insights have no
    link, and this rule is ahead of both (`docs/explanation/feedback.md`).
    """
    if delivery.succeeded is None:
        return counts
    treated, successes, untreated, spared = counts
    if delivery.fate == "given" and delivery.taken_up is not False:
        return ExposureCounts(treated + 1, successes + delivery.succeeded, untreated, spared)
    return ExposureCounts(treated, successes, untreated + 1, spared + delivery.succeeded)
