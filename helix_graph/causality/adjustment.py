"""What has to be held constant: the things that came before a step and go with both it and the outcome.

Whoever meets a nasty error tries desperate things and often fails. Desperate things then look bad although the error
came first. So a comparison is made among trials alike in their task *and* in what had come before: up to three earlier
steps, found in two ways.

*Asserted*: the log links the earlier step to this one in at least three episodes and in three of ten in which both
occur.

*Associated on both sides*: within kinds of task, the earlier step goes with this one (|z| above 3.29, one in a
thousand by luck) and with success (|z| above 1.96), and comes before it in most trials with both. In simulations
with a known truth and without any asserted link, this way alone kept false findings at 4 to 5 of 100 where adjusting
for the task alone gave 57.

Nothing that comes after the step is ever held constant: it may be what the step brought about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from helix_graph.causality.board import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from helix_graph.causality.board import Board
    from helix_graph.causality.hypotheses import Hypothesis

#: Every held step doubles the strata; with more than three, most strata have one arm only.
MOST_HELD = 3
ASSERTED_EPISODES = 3
ASSERTED_SHARE = 0.3
GOES_WITH_STEP = 3.29
GOES_WITH_OUTCOME = 1.96


def held_constant(board: Board, group: Sequence[Hypothesis]) -> Iterator[tuple[int, ...]]:
    """For each hypothesis of a group with the same units, the rows of the board to hold constant, strongest first."""
    units = group[0].units
    present = board.first[:, units] != ABSENT
    strata = np.unique(board.strata[units], return_inverse=True)[1]
    within = _Within(strata, present)
    outcome = within.association(np.stack([one.success for one in group]))
    exposure = within.association(np.stack([one.exposed for one in group]))
    for place, one in enumerate(group):
        yield _chosen(board, one, exposure=exposure[place], outcome=outcome[place])


def _chosen(
    board: Board, one: Hypothesis, *, exposure: NDArray[np.float64], outcome: NDArray[np.float64]
) -> tuple[int, ...]:
    strong = (np.abs(exposure) > GOES_WITH_STEP) & (np.abs(outcome) > GOES_WITH_OUTCOME)
    strength = np.abs(exposure * outcome)
    associated = sorted(np.flatnonzero(strong).tolist(), key=lambda row: (-strength[row], row))
    found: list[int] = []
    for row in (*_asserted(board, one), *associated):
        if len(found) == MOST_HELD:
            break
        if row not in found and board.labels[row] not in one.labels and _comes_before(board, row, one):
            found.append(row)
    return tuple(found)


def _asserted(board: Board, one: Hypothesis) -> Iterator[int]:
    """The steps that logs link to this one often enough, most often first."""
    row = board.row.get(one.action)
    if row is None:
        return
    for cause, count in board.claims_on(row, least=ASSERTED_EPISODES):
        together = int(((board.first[cause] != ABSENT) & (board.first[row] != ABSENT)).sum())
        if count >= ASSERTED_SHARE * together:
            yield cause


def _comes_before(board: Board, row: int, one: Hypothesis) -> bool:
    """Whether a step precedes the compared one in most trials that have both."""
    places = board.first[row, one.units]
    both = one.exposed & (places != ABSENT)
    return bool(2 * (places[both] < one.places[both]).sum() > both.sum())


class _Within:
    """Correlations of many labels with many marks at once, with the differences between strata taken out."""

    def __init__(self, strata: NDArray[np.int64], present: NDArray[np.bool_]) -> None:
        self._strata = strata
        self._sizes = np.bincount(strata).astype(np.float32)
        self._present = present.astype(np.float32)
        self._member = np.zeros((len(strata), len(self._sizes)), dtype=np.float32)
        self._member[np.arange(len(strata)), strata] = 1.0
        self._spread = self._variation(self._present)

    def association(self, marks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The z of each mark (a row of ones and zeros over the units) with each label; 0 where either never varies."""
        values = marks.astype(np.float32)
        means = (values @ self._member) / self._sizes
        together = (values - means[:, self._strata]) @ self._present.T
        spread = np.sqrt(np.outer(self._variation(values), self._spread))
        correlation = np.divide(together, spread, out=np.zeros_like(together), where=spread > 0)
        found: NDArray[np.float64] = (correlation * np.sqrt(len(self._strata))).astype(np.float64)
        return found

    def _variation(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        sums = values @ self._member
        inside: NDArray[np.float32] = (sums * (1 - sums / self._sizes)).sum(axis=1)
        return np.maximum(inside, 0)
