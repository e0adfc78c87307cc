"""Whether an issue is new, comes again, has gone quiet or has come back, counted in runs of its check.

Days say nothing: a check that nobody ran did not fail. The runs between two sessions that had the issue are a gap. It
is *quiet* after three times the mean gap without it (were it still there as often as before, so long a gap would come
one time in twenty), and not before ten runs; an issue of one session after twenty. It has *regressed* when the last gap
before it was as long as that. Of tools and commands only failures are recorded: sessions stand in for runs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.model import sortable_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.graph.assertions import IssueAssertion
    from helix_graph.issues.history import RunsOfCheck
    from helix_graph.issues.model import State

_TIMES_THE_GAP = 3
_FEWEST = 10
_FEWEST_AFTER_ONE = 20


class Recurrence(NamedTuple):
    """The state of an issue, and how many runs there have been since it was last seen."""

    state: State
    since: int


def recurrence(
    places: Sequence[int], runs: RunsOfCheck, *, begun: Sequence[str], said: IssueAssertion | None
) -> Recurrence:
    """The state of an issue that the sessions at these places met; ``begun`` is when each session of all began."""
    last = len(begun) - 1
    since = runs.between(places[-1], last)
    if said is not None and said.state == "muted":
        return Recurrence("muted", since)
    if said is not None and said.state == "resolved":
        return Recurrence("regressed" if begun[places[-1]] > sortable_time(said.asserted_at) else "resolved", since)
    gaps = [runs.between(before, after) for before, after in pairwise(places)]
    if since >= _long_gap(gaps):
        return Recurrence("quiet", since)
    if not gaps:
        return Recurrence("new", since)
    return Recurrence("regressed" if gaps[-1] >= _long_gap(gaps[:-1]) else "recurring", since)


def _long_gap(gaps: Sequence[int]) -> float:
    """How many runs without it make an issue quiet that came after these gaps before."""
    if not gaps:
        return _FEWEST_AFTER_ONE
    return max(_FEWEST, _TIMES_THE_GAP * sum(gaps) / len(gaps))
