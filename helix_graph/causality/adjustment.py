"""Choose the earlier steps to hold constant in a comparison: those that go with both the step and the outcome.

Whoever meets a nasty error tries desperate things and often fails. Desperate things then look bad although the error
came first. So trials are compared that are alike in their task *and* in what came before: up to three earlier steps,
found in two ways.

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

from helix_graph.causality.trial_matrix import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from helix_graph.causality.candidates import Hypothesis
    from helix_graph.causality.trial_matrix import TrialMatrix


#: Every held step doubles the strata; with more than three, most strata have one arm only.
MOST_HELD = 3
ASSERTED_EPISODES = 3
ASSERTED_SHARE = 0.3
GOES_WITH_STEP = 3.29
GOES_WITH_OUTCOME = 1.96
#: Less is the dust of floating point: the least that a label can vary is one unit of a stratum, n - 1 of n.
_NO_VARIATION = 1e-9


def held_constant(board: TrialMatrix, group: Sequence[Hypothesis]) -> Iterator[tuple[int, ...]]:
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
    board: TrialMatrix, one: Hypothesis, *, exposure: NDArray[np.float64], outcome: NDArray[np.float64]
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


def _asserted(board: TrialMatrix, one: Hypothesis) -> Iterator[int]:
    """The steps that logs link to this one often enough, most often first."""
    row = board.row.get(one.step)
    if row is None:
        return
    for cause, count in board.claims_on(row, least=ASSERTED_EPISODES):
        together = int(((board.first[cause] != ABSENT) & (board.first[row] != ABSENT)).sum())
        if count >= ASSERTED_SHARE * together:
            yield cause


def _comes_before(board: TrialMatrix, row: int, one: Hypothesis) -> bool:
    """Whether a step precedes the compared one in most trials that have both."""
    places = board.first[row, one.units]
    both = one.exposed & (places != ABSENT)
    return bool(2 * (places[both] < one.places[both]).sum() > both.sum())


class _Within:
    """Correlations of many labels with many marks at once, with the differences between strata taken out.

    With m marks, l labels, n units and s strata it takes time in m l (n + s) and room in (m + l) (n + s): a memory in
    which every task was tried twice has half as many strata as sessions.
    """

    def __init__(self, strata: NDArray[np.int64], present: NDArray[np.bool_]) -> None:
        self._order = np.argsort(strata, kind="stable")
        self._sizes = np.bincount(strata).astype(np.float64)
        self._begins = np.concatenate([[0], np.cumsum(np.bincount(strata))[:-1]])
        self._present = present.astype(np.float32)
        self._sums = self._by_stratum(present)
        self._spread = self._variation(self._sums)

    def association(self, marks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The z of each mark (a row of ones and zeros over the units) with each label; 0 where either never varies."""
        sums = self._by_stratum(marks)
        # Counts of units are whole numbers below 2^24, so single precision holds them exactly.
        together = (marks.astype(np.float32) @ self._present.T).astype(np.float64) - (sums / self._sizes) @ self._sums.T
        spread = np.sqrt(np.outer(self._variation(sums), self._spread))
        correlation = np.divide(together, spread, out=np.zeros_like(together), where=spread > 0)
        # Machines add up in different orders; the last digits must not tip a threshold.
        found: NDArray[np.float64] = np.round(correlation * np.sqrt(len(self._order)), 6)
        return found

    def _by_stratum(self, values: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.add.reduceat(values[:, self._order].astype(np.float64), self._begins, axis=1)

    def _variation(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        inside: NDArray[np.float64] = (sums * (1 - sums / self._sizes)).sum(axis=1)
        return np.where(inside > _NO_VARIATION, inside, 0.0)
