"""Withholding: the only way to learn what an insight does is to leave it out now and then, by lot.

Whoever gets an insight differs from whoever does not: the task is another, and so is its difficulty. Only where chance
alone decided is the difference in success the work of the insight. So of the insights chosen for an injection, each is
left out with a small chance, its *propensity*, which is written down beside it. Its place stays empty: were another
moved up, the two sides would differ in two insights.

One in ten is withheld until the insight's interval is narrow enough, then one in fifty, so that a change is still
noticed. Whatever is tagged ``safety`` is never withheld: there, finding out costs more than it is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.insights.lots import lot

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A tenth of the benefit is the price of knowing it: .027 of success in the reference's simulation.
FIRST = 0.10
#: Once it is known to about a tenth either way: enough to notice within some hundred injections that it has changed.
LATER = 0.02
KNOWN_WITHIN = 0.10
SAFETY = "safety"
#: More than half is no control any more, but a memory that is switched off.
WITHHELD_AT_MOST = 0.5


class InsightsTable(msgspec.Struct, forbid_unknown_fields=True):
    """``[insights]`` in ``.helix/config.toml``: ``withhold`` is the share that is held back by lot, 0.1 say."""

    withhold: float = 0.0


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that was chosen for an injection.

    ``half_width`` is half of its effect's interval (`uplift.Uplift.half_width`), None while it is too early for one.
    """

    insight: str
    tags: tuple[str, ...] = ()
    half_width: float | None = None


class Lot(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a candidate: ``propensity`` (0 to 1) is the chance with which it was to be withheld."""

    insight: str
    withheld: bool
    propensity: float


def withhold(candidates: Iterable[Candidate], *, injection: str, salt: str, first: float = FIRST) -> tuple[Lot, ...]:
    """Which of the chosen insights are withheld from an injection; in the order given.

    ``injection`` is the id of the injection or of its episode, ``salt`` a text that the memory keeps for itself, so
    that two memories draw different lots and nobody names an episode so that nothing is withheld.

    >>> chosen = [Candidate(insight="run-the-tests"), Candidate(insight="never-force-push", tags=("safety",))]
    >>> for one in withhold(chosen, injection="episode-7", salt="a"):
    ...     print(one.insight, one.withheld, one.propensity)
    run-the-tests False 0.1
    never-force-push False 0.0
    """
    return tuple(_drawn(one, injection, salt, first) for one in candidates)


def propensity(candidate: Candidate, *, first: float = FIRST) -> float:
    """The chance with which a candidate is withheld: none, ``first``, or 0.02 once it is known."""
    if SAFETY in candidate.tags:
        return 0.0
    if candidate.half_width is not None and candidate.half_width < KNOWN_WITHIN:
        return min(LATER, first)
    return first


def _drawn(candidate: Candidate, injection: str, salt: str, first: float) -> Lot:
    chance = propensity(candidate, first=first)
    drawn = lot("withhold", salt, injection, candidate.insight)
    return Lot(insight=candidate.insight, withheld=drawn < chance, propensity=chance)
