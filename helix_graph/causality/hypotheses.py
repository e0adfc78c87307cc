"""What could make a difference: the comparisons that a set of trials allows, chosen without looking at outcomes.

A *hypothesis* compares trials that were in the same situation: those that then did something with those that did not.
Five kinds are formed, all from the order of steps alone:

=========== ================================== =======================================================================
kind        the situation                      what is compared
=========== ================================== =======================================================================
action      any task                           it was done, or not
answer      an error is met                    it was answered so, or otherwise
sequence    one thing is done                  another follows within two steps of doing, or not
repetition  something is done                  it is done three times or more, or less often
unchecked   a file is changed                  no check runs after the last change, or one does
=========== ================================== =======================================================================

A measured outcome is a check that passed or failed after the last change. So neither *unchecked* nor asking for a check
is compared over measured outcomes: the outcome would be compared with itself.

Only those are tested that have enough trials on both sides to say anything; how many there are is part of every answer,
because of a hundred comparisons some look striking by luck. Filtering by how often something was done, and not by how
it came out, leaves the correction for that valid (Bourgon, Gentleman and Huber, PNAS 107, 2010).

Comparisons look at ten thousand sessions times hundreds of labels, so `TrialMatrix` has all trials as one array. A row
is a label, a column a trial, and each cell has the position of the label's first step, or `ABSENT`. Labels too rare to
be compared are left out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from helix_episodes.model import EdgeType, parse_timestamp
from helix_graph.graph.patterns import NOTHING_TO_COMPARE, HypothesisKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from helix_graph.graph.observations import Trial, TrialStep


_DONE = frozenset({"edit", "ask", "act"})
#: Under ten on a side even an honest interval spans half of the scale; one in a hundred keeps large memories readable.
LEAST_USES = 10
LEAST_SHARE = 0.01
#: Habits and success both change over the months. Three blocks took a linear trend in both from 32 false findings in a
#: hundred to 4 and cost no power; with fewer sessions than this in each, most would hold one arm only.
TIME_BLOCKS = 3
LEAST_IN_BLOCK = 5
#: Later than every step, so that "before" needs no special case.
ABSENT = np.iinfo(np.int32).max
_MADE_OR_MET = frozenset({"edit", "ask", "act", "error", "refusal"})


class TrialMatrix:
    """The table of some trials.

    ``labels`` names its rows; ``done`` marks those that are something done, not met. ``claims`` counts the episodes
    whose log links two rows, by (cause, effect, kind of edge).
    """

    def __init__(self, trials: Sequence[Trial]) -> None:
        self.trials = sorted(trials, key=lambda trial: trial.episode)
        self.least = max(LEAST_USES, round(LEAST_SHARE * len(trials)))
        self.began = np.array(
            [at.timestamp() if (at := parse_timestamp(one.timestamp)) else -math.inf for one in self.trials],
            dtype=np.float64,
        )
        #: Ties at the middle count as older: what began at one moment is in one half.
        self.newer = self.began > np.median(self.began) if trials else np.zeros(0, dtype=bool)
        self.lengths = np.array([len(trial.steps) for trial in self.trials], dtype=np.int64)
        self.judged = np.array([trial.success is not None for trial in self.trials], dtype=bool)
        self.success = np.array([trial.success is True for trial in self.trials], dtype=bool)
        self.measured = np.array([trial.told.startswith("measured ") for trial in self.trials], dtype=bool)
        self.strata = _strata(self.trials, self.began)
        counts = Counter(
            label for trial in trials for label in {s.label for s in trial.steps if s.kind in _MADE_OR_MET}
        )
        self.labels = tuple(sorted(label for label, count in counts.items() if count >= self.least))
        self.row = {label: number for number, label in enumerate(self.labels)}
        self.first = np.full((len(self.labels), len(trials)), ABSENT, dtype=np.int32)
        self._causes: dict[int, Counter[int]] = defaultdict(Counter)
        self.claims: Counter[tuple[int, int, EdgeType]] = Counter()
        self._fill()
        done = {step.label for trial in trials for step in trial.steps if step.kind in _DONE}
        self.done = tuple(label in done for label in self.labels)
        self.asked = {step.label for trial in trials for step in trial.steps if step.kind == "ask"}

    @property
    def too_early(self) -> str:
        """Why nothing can be told from outcomes, in words; empty when something can.

        How many sessions there are is no reason: fewer find less, and what they find is as true (`effects.power`).
        """
        judged = int(self.judged.sum())
        successes = int(self.success[self.judged].sum())
        failures, unknown = judged - successes, len(self.trials) - judged
        if min(failures, successes) >= self.least:
            return ""
        needs = f"needs {self.least} failures and {self.least} successes; {failures} and {successes} so far"
        return (
            f"{needs} ({unknown} of {len(self.trials)} compared sessions have no known outcome)" if unknown else needs
        )

    def why_not_compared(self, label: str) -> str:
        """Why there is no comparison of having done this, in words."""
        if self.too_early:
            return f"too early: {self.too_early}"
        counted = self.judged & ~self.measured if label in self.asked else self.judged
        did = np.array([any(step.label == label for step in trial.steps) for trial in self.trials], dtype=bool)
        uses = int((did & counted).sum())
        others = int(counted.sum()) - uses
        if uses < self.least or others < LEAST_USES:
            sessions = "sessions whose outcome no check decided" if label in self.asked else "judged sessions"
            return (
                f"too early: done in {uses} {sessions} and left undone in {others}; "
                f"{self.least} and {LEAST_USES} are needed"
            )
        return NOTHING_TO_COMPARE

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


def _strata(trials: Sequence[Trial], began: NDArray[np.float64]) -> NDArray[np.int64]:
    """A number a trial: the same task where it was tried more than once, else its kind; when; and by which agent."""
    tries = Counter(trial.task_id for trial in trials if trial.task_id)
    tasks = [
        ("task", trial.task_id) if trial.task_id and tries[trial.task_id] > 1 else ("kind", trial.task_kind)
        for trial in trials
    ]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, task in enumerate(tasks):
        groups[task].append(number)
    blocks = np.zeros(len(trials), dtype=np.int64)
    for numbers in groups.values():
        blocks[numbers] = _blocks(began[numbers])
    names = [
        (*task, int(block), trial.agent) for task, block, trial in zip(tasks, blocks.tolist(), trials, strict=True)
    ]
    numbered = {name: place for place, name in enumerate(sorted(set(names)))}
    return np.array([numbered[name] for name in names], dtype=np.int64)


def _blocks(began: NDArray[np.float64]) -> NDArray[np.int64]:
    """The block of time of each: equally many sessions in each, those that began at one moment together.

    Sessions without a time are a block of their own.
    """
    blocks = np.full(len(began), TIME_BLOCKS, dtype=np.int64)
    dated = began[np.isfinite(began)]
    count = max(1, min(TIME_BLOCKS, len(dated) // LEAST_IN_BLOCK))
    blocks[np.isfinite(began)] = np.searchsorted(np.sort(dated), dated) * count // max(len(dated), 1)
    return blocks


#: More than this and the correction for looking at many rows leaves nothing to be found.
MOST_HYPOTHESES = 500
#: Two things belong together when at most one other thing is done between them.
WITHIN = 2
REPEATED = 3
ANY_TASK = "any task"
#: The sharper of the two measures of an answer: nearly everything passes *later* (`helix_graph.graph.observations`).
_SHARP = {"family": "gone at the next run", "check": "next check passes"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Hypothesis:
    """One comparison: the trials in its situation, and for each the place of the step compared and how it went.

    The three arrays run parallel: ``units`` are numbers of trials, ``exposed`` says which did it, ``places`` the step
    at which they did (later than every step where they did not), ``success`` how it went. ``unmeasured`` counts the
    trials that did it and of which nobody knows how they went. ``labels`` are the steps that the comparison is made of;
    they are never held constant in it. ``step`` is the one of them that was done or not, if it has a label.
    """

    kind: HypothesisKind
    trigger: str
    action: str
    step: str
    labels: frozenset[str]
    units: NDArray[np.int64]
    exposed: NDArray[np.bool_]
    places: NDArray[np.int32]
    success: NDArray[np.bool_]
    unmeasured: int = 0
    basis: str = "outcome"

    @property
    def uses(self) -> int:
        """How many of the trials did it."""
        return int(self.exposed.sum())


def hypotheses(matrix: TrialMatrix) -> tuple[Hypothesis, ...]:
    """The comparisons with enough on both sides, most used first, at most `MOST_HYPOTHESES`."""
    return _enough(matrix, _candidates(matrix))


def within_kinds(matrix: TrialMatrix) -> tuple[Hypothesis, ...]:
    """As `hypotheses`: what was done, or not, in each kind of task by itself; the kind is the situation."""
    return _enough(matrix, () if matrix.too_early else _actions_by_kind(matrix))


def _enough(matrix: TrialMatrix, candidates: Iterable[Hypothesis]) -> tuple[Hypothesis, ...]:
    found = [one for one in candidates if matrix.least <= one.uses <= len(one.units) - LEAST_USES]
    found.sort(key=lambda one: (-one.uses, one.kind, one.trigger, one.action, one.basis))
    return tuple(found[:MOST_HYPOTHESES])


def _candidates(matrix: TrialMatrix) -> Iterator[Hypothesis]:
    yield from _answers(matrix.trials)
    if matrix.too_early:
        return
    done = [[(place, step) for place, step in enumerate(trial.steps) if step.kind in _DONE] for trial in matrix.trials]
    everyone = np.ones(len(matrix.trials), dtype=bool)
    for row, label in enumerate(matrix.labels):
        if matrix.done[row]:
            name = _Name("action", ANY_TASK, label, label, frozenset({label}))
            yield _by_outcome(matrix, name, met=everyone, places=matrix.first[row])
    yield from _repetitions(matrix, done)
    yield from _sequences(matrix, done)
    yield _unchecked(matrix, done)


def _actions_by_kind(matrix: TrialMatrix) -> Iterator[Hypothesis]:
    kinds = np.array([trial.task_kind for trial in matrix.trials])
    for kind in sorted(set(kinds.tolist())):
        for row, label in enumerate(matrix.labels):
            if matrix.done[row]:
                name = _Name("action", f"task: {kind}", label, label, frozenset({label}))
                yield _by_outcome(matrix, name, met=kinds == kind, places=matrix.first[row])


_Done: TypeAlias = "list[list[tuple[int, TrialStep]]]"


#: Later in its session than four fifths of the steps; shorter sessions have no end that could be told from a beginning.
LATE = 0.8
LEAST_STEPS = 5
_ENDS: frozenset[HypothesisKind] = frozenset({"action", "sequence", "repetition"})


def comes_last(matrix: TrialMatrix, one: Hypothesis) -> bool:
    """Whether most of its uses stand at the end of their sessions, where how it went is known.

    It may then be done because of how it went, and a difference would be that of the outcome from itself. The order of
    steps alone decides, before anybody looks at an outcome: what is left out takes no part in the correction for many
    rows, where a step that only failing sessions have would make room for flukes.
    """
    # The middle of a step, so that as many steps as a fifth comes to, rounded, are late in a session of any length.
    middle, length = one.places[one.exposed] + 0.5, matrix.lengths[one.units[one.exposed]]
    late = (middle >= LATE * length) & (length >= LEAST_STEPS)
    return one.kind in _ENDS and bool(2 * late.sum() > late.size)


class _Name(NamedTuple):
    """What a comparison is called, and the labels that it is made of."""

    kind: HypothesisKind
    trigger: str
    action: str
    step: str
    labels: frozenset[str]


def _by_outcome(matrix: TrialMatrix, name: _Name, *, met: NDArray[np.bool_], places: NDArray[np.int32]) -> Hypothesis:
    """The judged trials that met the situation; ``met`` and ``places`` have an entry for every trial."""
    if name.kind == "unchecked" or name.step in matrix.asked:
        met = met & ~matrix.measured
    units = np.flatnonzero(met & matrix.judged)
    return Hypothesis(
        **name._asdict(),
        units=units,
        exposed=places[units] != ABSENT,
        places=places[units],
        success=matrix.success[units],
        unmeasured=int((met & ~matrix.judged & (places != ABSENT)).sum()),
    )


def _repetitions(matrix: TrialMatrix, done: _Done) -> Iterator[Hypothesis]:
    again: dict[str, dict[int, int]] = defaultdict(dict)
    for number, steps in enumerate(done):
        times: Counter[str] = Counter()
        for place, step in steps:
            times[step.label] += 1
            if times[step.label] == REPEATED:
                again[step.label][number] = place
    for label, where in sorted(again.items()):
        if len(where) >= matrix.least:
            name = _Name("repetition", label, f"{label}, {REPEATED} times or more", label, frozenset({label}))
            met = matrix.first[matrix.row[label]] != ABSENT
            yield _by_outcome(matrix, name, met=met, places=_places(matrix, where.keys(), where.values()))


def _sequences(matrix: TrialMatrix, done: _Done) -> Iterator[Hypothesis]:
    """Pairs of frequent things that follow each other; a frequent pair consists of frequent things."""
    kinds = len(matrix.labels)
    pairs, numbers, places = _pairs(matrix, done)
    # They are sorted: the same pair stands in one run, from ``begin`` to before ``end``.
    different, begins, counts = np.unique(pairs, return_index=True, return_counts=True)
    for pair, begin, end in zip(different.tolist(), begins.tolist(), (begins + counts).tolist(), strict=True):
        if end - begin >= matrix.least:
            one, second = pair // kinds, matrix.labels[pair % kinds]
            first, where = matrix.labels[one], slice(begin, end)
            name = _Name("sequence", first, f"then {second}", second, frozenset({first, second}))
            met = matrix.first[one] != ABSENT
            yield _by_outcome(matrix, name, met=met, places=_places(matrix, numbers[where], places[where]))


def _pairs(matrix: TrialMatrix, done: _Done) -> tuple[NDArray[np.int64], ...]:
    """What follows what in which trial, and the place of the first time that it does; by pair, then by trial.

    A pair is a number, of two rows of the board. Millions of steps go through here, hence the arrays.
    """
    kinds, trials = len(matrix.labels), len(matrix.trials)
    steps = [
        (number, place, matrix.row.get(step.label, -1)) for number, here in enumerate(done) for place, step in here
    ]
    trial, place, row = np.array(steps, dtype=np.int64).reshape(-1, 3).T
    found = []
    for gap in range(1, WITHIN + 1):
        one, other = row[:-gap], row[gap:]
        together = (trial[:-gap] == trial[gap:]) & (one >= 0) & (other >= 0) & (one != other)
        keys = (one * kinds + other) * trials + trial[gap:]
        found.append((keys[together], place[gap:][together]))
    keys, places = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((places, keys))
    met, first = np.unique(keys[order], return_index=True)
    return met // trials, met % trials, places[order][first]


def _unchecked(matrix: TrialMatrix, done: _Done) -> Hypothesis:
    changed = np.zeros(len(done), dtype=bool)
    where: dict[int, int] = {}
    for number, steps in enumerate(done):
        last = max((place for place, step in steps if step.kind == "edit"), default=None)
        if last is not None:
            changed[number] = True
            if not any(step.kind in {"check", "error"} for step in matrix.trials[number].steps[last + 1 :]):
                where[number] = last
    name = _Name("unchecked", "a file is changed", "no check after the last change", "", frozenset())
    return _by_outcome(matrix, name, met=changed, places=_places(matrix, where.keys(), where.values()))


def _places(
    matrix: TrialMatrix, numbers: Collection[int] | NDArray[np.int64], places: Collection[int] | NDArray[np.int64]
) -> NDArray[np.int32]:
    """The places of some trials, and later than every step for all others."""
    everyone = np.full(len(matrix.trials), ABSENT, dtype=np.int32)
    everyone[np.fromiter(numbers, dtype=np.int64)] = np.fromiter(places, dtype=np.int32)
    return everyone


_Answer: TypeAlias = tuple[str, int, bool]


def _answers(trials: Sequence[Trial]) -> Iterator[Hypothesis]:
    """Per trigger, every action by which it was answered; a trial that answered otherwise is the comparison."""
    situations: dict[tuple[str, str], dict[int, list[_Answer]]] = defaultdict(lambda: defaultdict(list))
    unmeasured: Counter[tuple[str, str, str]] = Counter()
    for number, trial in enumerate(trials):
        places = {step.id: place for place, step in enumerate(trial.steps)}
        for row in trial.answers:
            if row.basis != _SHARP.get(row.level):
                continue
            if row.success is None:
                unmeasured[row.trigger, row.basis, row.action] += 1
            else:
                answer = (row.action, places.get(row.decision, len(trial.steps)), row.success)
                situations[row.trigger, row.basis][number].append(answer)
    for (trigger, basis), answered in sorted(situations.items()):
        actions = Counter(action for rows in answered.values() for action in {row[0] for row in rows})
        for action in sorted(action for action, count in actions.items() if count >= LEAST_USES):
            one = _answer(trigger, action, basis=basis, answered=answered)
            yield replace(one, unmeasured=unmeasured[trigger, basis, action])


def _answer(trigger: str, action: str, *, basis: str, answered: dict[int, list[_Answer]]) -> Hypothesis:
    spoken = [next((row for row in rows if row[0] == action), rows[0]) for rows in answered.values()]
    return Hypothesis(
        kind="answer",
        trigger=trigger,
        action=action,
        step=action,
        labels=frozenset({trigger, action}),
        units=np.array(list(answered), dtype=np.int64),
        exposed=np.array([row[0] == action for row in spoken], dtype=bool),
        places=np.array([row[1] for row in spoken], dtype=np.int32),
        success=np.array([row[2] for row in spoken], dtype=bool),
        basis=basis,
    )
