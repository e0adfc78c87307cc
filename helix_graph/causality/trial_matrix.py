"""All trials as one array: which label occurs first at which step of which session.

Comparisons look at ten thousand sessions times hundreds of labels. A row is a label, a column a trial, and each cell
has the position of the label's first step, or `ABSENT`. Labels too rare to be compared are left out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from helix_graph.graph.observations import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from helix_episodes.model import EdgeType
    from helix_graph.graph.observations import Trial


#: Under ten on a side even an honest interval spans half of the scale; one in a hundred keeps large memories readable.
LEAST_USES = 10
LEAST_SHARE = 0.01
#: Fewer sessions give descriptions only: below 200, intervals of adjusted differences held the truth in 90 of 100
#: simulated cases instead of 95, and of what there was to find 3 of 100 were found.
ENOUGH_TRIALS = 200
#: Later than every step, so that "before" needs no special case.
ABSENT = np.iinfo(np.int32).max
_DONE = frozenset({"edit", "act"})
_MADE_OR_MET = frozenset({"edit", "act", "error", "refusal"})


class TrialMatrix:
    """The table of some trials.

    ``labels`` names its rows; ``done`` marks those that are something done, not met. ``claims`` counts the episodes
    whose log links two rows, by (cause, effect, kind of edge).
    """

    def __init__(self, trials: Sequence[Trial]) -> None:
        self.trials = sorted(trials, key=lambda trial: trial.episode)
        self.least = max(LEAST_USES, round(LEAST_SHARE * len(trials)))
        order = sorted(range(len(self.trials)), key=lambda number: (-_seconds(self.trials[number]), number))
        ranks = np.empty(len(self.trials), dtype=np.int64)
        ranks[order] = np.arange(len(self.trials))
        self.newest_first = ranks
        self.judged = np.array([trial.success is not None for trial in self.trials], dtype=bool)
        self.success = np.array([trial.success is True for trial in self.trials], dtype=bool)
        self.strata = _strata(self.trials)
        self.labels = _frequent_labels(trials, self.least)
        self.row = {label: number for number, label in enumerate(self.labels)}
        self.first = np.full((len(self.labels), len(trials)), ABSENT, dtype=np.int32)
        self._causes: dict[int, Counter[int]] = defaultdict(Counter)
        self.claims: Counter[tuple[int, int, EdgeType]] = Counter()
        self._fill()
        done = {step.label for trial in trials for step in trial.steps if step.kind in _DONE}
        self.done = tuple(label in done for label in self.labels)

    @property
    def too_early(self) -> str:
        """Why nothing can be told from outcomes, in words; empty when something can."""
        judged = int(self.judged.sum())
        reasons = []
        if judged < ENOUGH_TRIALS:
            reasons.append(
                f"{judged} of {len(self.trials)} sessions have a judged outcome; differences need {ENOUGH_TRIALS}"
            )
        successes = int(self.success[self.judged].sum())
        rarer, one, more = min((successes, "success", "successes"), (judged - successes, "failure", "failures"))
        if judged and rarer < self.least:
            which = one if rarer == 1 else more
            reasons.append(f"only {rarer} {which} among the judged; {self.least} of either outcome are needed")
        return "; and ".join(reasons)

    def claims_on(self, row: int, *, least: int) -> list[tuple[int, int]]:
        """The rows that logs link to ``row`` as its causes in ``least`` episodes or more, with how many, most first."""
        found = [(cause, count) for cause, count in self._causes[row].items() if count >= least]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def _fill(self) -> None:
        for number, trial in enumerate(self.trials):
            rows = [self.row.get(step.label, -1) for step in trial.steps]
            for place in range(len(rows) - 1, -1, -1):
                if rows[place] >= 0:
                    self.first[rows[place], number] = place
            claims: set[tuple[int, int, EdgeType]] = {
                (rows[cause], rows[effect], kind) for cause, effect, kind in trial.claims
            }
            known = {claim for claim in claims if min(claim[0], claim[1]) >= 0}
            self.claims.update(known)
            for cause, effect in {(cause, effect) for cause, effect, _ in known}:
                self._causes[effect][cause] += 1


def _frequent_labels(trials: Sequence[Trial], least: int) -> tuple[str, ...]:
    counts = Counter(label for trial in trials for label in {s.label for s in trial.steps if s.kind in _MADE_OR_MET})
    return tuple(sorted(label for label, count in counts.items() if count >= least))


def _seconds(trial: Trial) -> float:
    at = parse_timestamp(trial.timestamp)
    return at.timestamp() if at else -math.inf


def _strata(trials: Sequence[Trial]) -> NDArray[np.int64]:
    """A number a trial: the same task where it was tried more than once, else the kind of task."""
    tries = Counter(trial.task_id for trial in trials if trial.task_id)
    names = [
        ("task", trial.task_id) if trial.task_id and tries[trial.task_id] > 1 else ("kind", trial.task_kind)
        for trial in trials
    ]
    number = {name: place for place, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], dtype=np.int64)
