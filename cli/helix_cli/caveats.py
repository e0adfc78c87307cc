"""What a reader has to know beside every comparison, said in the same words wherever one is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_cli.output import points

if TYPE_CHECKING:
    from helix_graph.statistics.intervals import Interval

#: Nothing that sessions show rules these out: `comparisons.md` says how far each was measured.
NOT_TESTED = (
    "Associated is not tested: what goes with both may bring both, such as a harder task or a longer session, and a "
    "step may itself come of failing."
)


def span(interval: Interval) -> str:
    """The differences that the sessions are compatible with, in points of a hundred."""
    return f"{points(interval.low)} to {points(interval.high)}"
