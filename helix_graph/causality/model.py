"""What a comparison of sessions comes to, as frozen values.

They stand apart from what computes them, so that showing one loads no arithmetic.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from helix_graph.statistics.intervals import Interval

HypothesisKind = Literal["action", "answer", "sequence", "repetition", "unchecked", "edge"]
#: Not too early: there are sessions enough, but all did the same.
NOTHING_TO_COMPARE = "nothing was both done and left undone often enough in the same kind of task"
Verdict = Literal["associated", "not told apart"]


class Example(msgspec.Struct, frozen=True):
    """A session in which it was done: the episode, the id of the step, and when the session began."""

    episode: str
    step: str
    timestamp: str | None


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison and what came of it.

    ``difference`` (-1 to 1) is the adjusted success rate with the action less the one without, ``error`` its standard
    error, ``interval`` its 95 % interval, widened to ``level`` where the row was picked out of many. ``q`` is the
    smallest rate of flukes at which it would be reported, corrected for the ``family`` of comparisons made. ``uses``
    and ``others`` count sessions with and without it, ``successes`` those that went well. ``strata`` had both arms;
    ``examples`` are the newest uses, at most `EXAMPLES_KEPT`; ``held`` names the earlier steps held constant.
    ``e_value`` is `helix_graph.statistics.strata.e_value`. ``unmeasured`` counts the uses of which nobody knows how
    they went.
    """

    kind: HypothesisKind
    trigger: str
    action: str
    basis: str
    verdict: Verdict
    difference: float
    error: float
    interval: Interval
    level: float
    q: float
    family: int
    uses: int
    successes: int
    others: int
    successes_of_others: int
    strata: int
    held: tuple[str, ...]
    e_value: float | None
    unmeasured: int
    examples: tuple[Example, ...]

    @property
    def hurts(self) -> bool:
        """Whether less goes well with it."""
        return self.difference < 0


class EffectReport(msgspec.Struct, frozen=True, kw_only=True):
    """All comparisons of a memory, most striking first.

    ``trials`` counts the judged sessions and ``tested`` the comparisons. ``too_early`` says in words why nothing can be
    told, and is empty when something can; without effects all the same, `NOTHING_TO_COMPARE` is the reason.
    """

    effects: tuple[Effect, ...]
    trials: int
    tested: int
    too_early: str = ""

    def associated(self) -> tuple[Effect, ...]:
        """The comparisons that stand out."""
        return tuple(one for one in self.effects if one.verdict == "associated")
