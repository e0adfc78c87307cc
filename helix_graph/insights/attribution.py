"""Attribution: did an insight that was handed over have a hand in how this one task came out?

From a single task nobody can know. What can be told apart is weaker and still worth having: whether the insight was
*taken up* (what it speaks of was done afterwards), whether a chain of links leads from there to the outcome, and
whether the outcome's text speaks of the same thing. The rule makes one verdict of these, `attributed`, and says why.
At best one in seven insights so attributed changed the outcome (simulation, `docs/feedback.md`): it is a candidate,
never an effect. Effects are `uplift`'s.

Source: `reference/causal-statistics.md` §5.2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.insights.scoring import CAUSAL_GATE

if TYPE_CHECKING:
    from collections.abc import Sequence

#: With the first, uptake and either sign are asked for; with the second a path and the cosine; with the third only the
#: cosine, as in the seed. An insight without links is judged by the cosine alone in all three.
Rule = Literal["strict", "both", "seed"]
#: A change to a formula or constant below is a new version: records keep the one they were made by.
VERSION = "2"
#: A longer chain says little, and every further hop less: 0.85 of the one before.
MOST_HOPS = 5
DECAY = 0.85
#: The cosine counts from here on, and fully this much further up; at the seed's gate of 0.40 it counts half.
RAMP_FROM, RAMP_OVER = 0.20, 0.40
#: What the cosine is worth beside a path, with uptake but no path, and when it was not taken up at all.
BESIDE_PATH, WITHOUT_PATH, NOT_TAKEN_UP = 0.5, 0.35, 0.05


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one insight in one episode.

    ``cosine`` (-1 to 1) is that of the insight's text and the outcome's, None without vectors; then ``words`` (0 to 1),
    the relevance of the insight to the outcome's words, stands in for it, where that is known. ``taken_up`` and
    ``path`` (0 to 1, `path_strength`; 0 without a path) mean something only for an insight that is ``linked``.
    """

    cosine: float | None
    linked: bool
    words: float | None = None
    taken_up: bool = False
    path: float = 0.0


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one insight in one episode: a ``score`` (0 to 1) to sort by, and why."""

    attributed: bool
    score: float
    why: str
    rule: Rule
    version: str = VERSION


def path_strength(weights: Sequence[float]) -> float:
    """How firmly a chain of edges joins an insight's node to the outcome: 0 to 1; 0 for none, or over five hops.

    The geometric mean of the edges' weights (0 to 1), so that chains of different lengths compare, less 15 % for each
    hop after the first.

    >>> path_strength([0.9]), round(path_strength([0.9, 0.4]), 3), path_strength([])
    (0.9, 0.51, 0.0)
    """
    if not 0 < len(weights) <= MOST_HOPS:
        return 0.0
    hops = len(weights)
    return float(DECAY ** (hops - 1) * math.prod(weights) ** (1 / hops))


def attribute(signs: Signs, *, rule: Rule = "strict") -> Attribution:
    """Whether the insight counts as having had a hand in the outcome.

    >>> attribute(Signs(cosine=0.30, linked=True, taken_up=True, path=0.6)).why
    'taken up, and a path of strength 0.60 leads to the outcome'
    >>> attribute(Signs(cosine=0.55, linked=True)).why
    'linked, but not taken up after it was handed over'
    >>> attribute(Signs(cosine=0.55, linked=False)).why
    'no links, so by the text alone: cosine 0.55 with the outcome, at least 0.40'
    """
    attributed, why = _verdict(signs, rule)
    return Attribution(attributed=attributed, score=_score(signs), why=why, rule=rule)


def _score(signs: Signs) -> float:
    close = _ramp(_likeness(signs))
    if not signs.linked:
        return close
    if not signs.taken_up:
        return NOT_TAKEN_UP * close
    if signs.path > 0:
        return 1 - (1 - signs.path) * (1 - BESIDE_PATH * close)
    return WITHOUT_PATH * close


def _ramp(likeness: float | None) -> float:
    return 0.0 if likeness is None else min(1.0, max(0.0, (likeness - RAMP_FROM) / RAMP_OVER))


def _verdict(signs: Signs, rule: Rule) -> tuple[bool, str]:
    if rule == "seed":
        return _is_close(signs), f"by the text alone: {_told(signs)}"
    if not signs.linked:
        return _is_close(signs), f"no links, so by the text alone: {_told(signs)}"
    if rule == "both":
        return signs.path > 0 and _is_close(signs), f"{_path(signs.path)}; {_told(signs)}"
    return _strict(signs)


def _strict(signs: Signs) -> tuple[bool, str]:
    if not signs.taken_up:
        return False, "linked, but not taken up after it was handed over"
    if signs.path > 0:
        return True, f"taken up, and {_path(signs.path)}"
    return _is_close(signs), f"taken up, {_path(0)}; {_told(signs)}"


def _likeness(signs: Signs) -> float | None:
    return signs.words if signs.cosine is None else signs.cosine


def _is_close(signs: Signs) -> bool:
    likeness = _likeness(signs)
    return likeness is not None and likeness >= CAUSAL_GATE


def _told(signs: Signs) -> str:
    likeness = _likeness(signs)
    if likeness is None:
        return "no vectors to compare it with the outcome"
    measure = "relevance by words" if signs.cosine is None else "cosine"
    bound = "at least" if _is_close(signs) else "below"
    return f"{measure} {likeness:.2f} with the outcome, {bound} {CAUSAL_GATE:.2f}"


def _path(strength: float) -> str:
    return f"a path of strength {strength:.2f} leads to the outcome" if strength > 0 else "no path to the outcome"
