"""How often each check fails, and after what kind of change it fails more often than usual.

Rates are drawn towards the check's own rate and come with a range for the next runs (`helix_graph.stats.intervals`).
Below `ENOUGH_SESSIONS` only counts are shown. What is said of a situation is a count of what followed, no cause:
changes in a folder may fail more often because they are larger. Situations that hold mostly the same runs are reported
once.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from helix_graph.causality.check_runs import (
    CheckNames,
    CheckTrial,
    Dimension,
    Situation,
    check_trials,
    is_judged,
    typical_command,
)
from helix_graph.stats.intervals import Estimate, pooling_strength, predictive_range, shrunk_rate, usual_rate

if TYPE_CHECKING:
    from helix_graph.graph.observations import Trial, TrialRun

#: From so many sessions on a rate learnt from them held later (16 of 18 after 81 sessions, 6 of 8 after 30).
ENOUGH_SESSIONS = 30
#: Fewer runs in a situation are an anecdote.
ENOUGH_RUNS = 5
#: Of so many next runs the range is given.
NEXT = 10
#: How many standard errors a rate lies from another to be reported: nine in ten of a normal curve lie below.
_APART = 1.28
#: A situation with so much of its runs in one that is told is told with it; a few runs silence no row of many.
_SAME = 0.6
#: The newest runs in a situation that are named.
_EXAMPLES = 5
#: In each half of the time, so many runs at least are needed to say that it was worse there.
_IN_EACH_HALF = 3

#: Failed runs and runs, in the older and in the newer half of the sessions.
_Halves: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
Standing = Literal["worse", "better", "as usual", "counts only"]


class RunReference(msgspec.Struct, frozen=True):
    """A run to look up: the episode, the log and the line of its result."""

    episode: str
    log: str | None
    line: int | None


class SituationRate(msgspec.Struct, frozen=True, kw_only=True):
    """A check in one situation: ``failed`` of ``runs``, and of the runs elsewhere.

    ``rate`` is the shrunk rate of failure, ``next_failed`` between how many of the next `NEXT` runs will fail (90 %);
    both are None below `ENOUGH_SESSIONS`. ``worse_in_both_halves`` compares with the runs elsewhere in each half of the
    sessions; None where a half has too few runs. ``also`` names situations that hold mostly the same runs.
    """

    check: str
    kind: str
    dimension: Dimension
    value: str
    after: str
    runs: int
    failed: int
    sessions: int
    runs_elsewhere: int
    failed_elsewhere: int
    rate: float | None
    next_failed: tuple[int, int] | None
    worse_in_both_halves: bool | None
    standing: Standing
    also: tuple[str, ...] = ()
    failures: tuple[RunReference, ...] = ()


class CheckRate(msgspec.Struct, frozen=True, kw_only=True):
    """One check: all its runs that gave a verdict, and the fresh ones after a change, with the rate of these.

    ``seconds`` is the median duration of the runs whose time is known.
    """

    check: str
    kind: str
    command: str
    sessions: int
    runs: int
    failed: int
    fresh: int
    fresh_failed: int
    rate: float | None
    next_failed: tuple[int, int] | None
    seconds: float | None
    situations: tuple[SituationRate, ...] = ()


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of a memory's checks, the most used check first."""

    sessions: int
    enough: bool
    checks: tuple[CheckRate, ...]


class CheckRates:
    """What is learnt from a set of runs: each check's usual rate, and the rate in each situation.

    ``trials`` are in time order, as `check_trials` gives them.
    """

    def __init__(self, trials: Sequence[CheckTrial]) -> None:
        moments = sorted({one.episode: one.moment for one in trials}.values())
        self.sessions = len(moments)
        self.enough = self.sessions >= ENOUGH_SESSIONS
        #: When the newer half of the sessions begins.
        self._halfway = moments[len(moments) // 2] if moments else ""
        self._of_check: dict[str, list[CheckTrial]] = defaultdict(list)
        self._in: dict[str, dict[Situation, list[CheckTrial]]] = defaultdict(lambda: defaultdict(list))
        for one in trials:
            self._of_check[one.check].append(one)
            for situation in one.situations:
                self._in[one.check][situation].append(one)
        self._halves = {check: self._counts(rows) for check, rows in self._of_check.items()}
        self._rate_in: dict[tuple[str, Situation], Estimate] = {}
        self._overall = usual_rate(_by_session(trials))
        self.usual = {
            check: usual_rate(_by_session(rows), around=self._overall.rate) for check, rows in self._of_check.items()
        }

    def usual_of(self, check: str) -> Estimate:
        """The check's own rate of failure; of one that has not run, the rate over all checks."""
        return self.usual.get(check, self._overall)

    def trials_of(self, check: str) -> list[CheckTrial]:
        """The fresh runs of a check."""
        return self._of_check.get(check, [])

    def trials_in(self, check: str, situation: Situation) -> list[CheckTrial]:
        """The fresh runs of a check in a situation."""
        return self._in.get(check, {}).get(situation, [])

    def situations(self, check: str, *, least: int = 1) -> list[Situation]:
        """The situations in which a check has run so often at least."""
        return sorted(one for one, runs in self._in.get(check, {}).items() if len(runs) >= least)

    def _counts(self, trials: Sequence[CheckTrial]) -> _Halves:
        """Failed runs and runs in the older and in the newer half of the sessions."""
        older = [one for one in trials if one.moment < self._halfway]
        failed = _failed(older)
        return (failed, len(older)), (_failed(trials) - failed, len(trials) - len(older))

    def rate(self, check: str, situation: Situation) -> Estimate:
        """The check's rate of failure in a situation, drawn towards its own rate."""
        if (check, situation) not in self._rate_in:
            counts = _by_session(self.trials_in(check, situation))
            drawn = self._strengths.get(situation.dimension) or pooling_strength(())
            self._rate_in[check, situation] = shrunk_rate(counts, self.usual_of(check), strength=drawn)
        return self._rate_in[check, situation]

    @cached_property
    def _strengths(self) -> dict[Dimension, float]:
        """How far the rates of each dimension are drawn: as far as its situations are alike."""
        found: dict[Dimension, list[tuple[list[tuple[int, int]], float]]] = defaultdict(list)
        for check, situations in self._in.items():
            for situation, runs in situations.items():
                found[situation.dimension].append((_by_session(runs), self.usual_of(check).rate))
        return {dimension: pooling_strength(groups) for dimension, groups in found.items()}

    def forecast(self, trial: CheckTrial) -> float:
        """The chance that a run fails: the mean of the rates of the situations that it is in, each dimension once."""
        by_dimension: dict[str, list[float]] = defaultdict(list)
        for one in trial.situations:
            by_dimension[one.dimension].append(self.rate(trial.check, one).rate)
        means = [sum(rates) / len(rates) for rates in by_dimension.values()]
        return sum(means) / len(means) if means else self.usual_of(trial.check).rate

    def row(self, check: str, situation: Situation) -> SituationRate:
        """One situation as it is reported."""
        inside = self.trials_in(check, situation)
        here = self._counts(inside)
        there = [(f - h_f, n - h_n) for (f, n), (h_f, h_n) in zip(self._halves[check], here, strict=True)]
        estimate = self.rate(check, situation)
        apart = (estimate.rate - self.usual_of(check).rate) / _error(estimate)
        halves = [(*one, *other) for one, other in zip(here, there, strict=True)]
        told = all(min(runs, others) >= _IN_EACH_HALF for _, runs, _, others in halves)
        worse = all(failed * others > others_failed * runs for failed, runs, others_failed, others in halves)
        standing: Standing = "as usual" if self.enough else "counts only"
        if self.enough and abs(apart) >= _APART and len(inside) >= ENOUGH_RUNS:
            standing = "worse" if apart > 0 else "better"
        return SituationRate(
            check=check,
            kind=inside[0].kind,
            dimension=situation.dimension,
            value=situation.value,
            after=situation.describe(),
            runs=len(inside),
            failed=_failed(inside),
            sessions=len({one.episode for one in inside}),
            runs_elsewhere=sum(runs for _, runs in there),
            failed_elsewhere=sum(failed for failed, _ in there),
            rate=round(estimate.rate, 4) if self.enough else None,
            next_failed=predictive_range(estimate, NEXT) if self.enough else None,
            worse_in_both_halves=worse if told else None,
            standing=standing,
            failures=tuple(RunReference(one.episode, one.log, one.line) for one in reversed(inside) if one.failed)[
                :_EXAMPLES
            ],
        )

    def distance(self, row: SituationRate) -> float:
        """How many standard errors a situation's rate lies above the usual one."""
        estimate = self.rate(row.check, Situation(row.dimension, row.value))
        return (estimate.rate - self.usual_of(row.check).rate) / _error(estimate)

    def once(self, rows: Iterable[SituationRate], *, keep_parts: bool = False) -> tuple[SituationRate, ...]:
        """Without situations whose runs are mostly those of one before them, which names them.

        With ``keep_parts`` a part of a larger one stays, such as a file of a folder; only what is nearly equal goes.
        """
        kept: list[tuple[SituationRate, set[int]]] = []
        also: dict[int, list[str]] = defaultdict(list)
        for row in rows:
            runs = set(map(id, self.trials_in(row.check, Situation(row.dimension, row.value))))
            same = next(
                (
                    at
                    for at, (other, known) in enumerate(kept)
                    if other.check == row.check
                    and len(runs & known) >= _SAME * (max(len(runs), len(known)) if keep_parts else len(runs))
                ),
                None,
            )
            if same is None:
                kept.append((row, runs))
            else:
                also[same].append(row.after)
        return tuple(msgspec.structs.replace(row, also=tuple(also[at])) for at, (row, _) in enumerate(kept))


class CountedRuns(NamedTuple):
    """The runs of a set of sessions, counted; several answers about the same sessions share one count."""

    names: CheckNames
    trials: list[CheckTrial]
    rates: CheckRates


def count_runs(sessions: Sequence[Trial]) -> CountedRuns:
    """The runs of these sessions, counted."""
    names = CheckNames(sessions)
    trials = check_trials(sessions, names)
    return CountedRuns(names, trials, CheckRates(trials))


def check_report(
    sessions: Sequence[Trial], *, everything: bool = False, counted: CountedRuns | None = None
) -> CheckReport:
    """Every check with its rates, and the situations that stand out; with ``everything`` all that have runs enough."""
    names, _, rates = counted or count_runs(sessions)
    known: dict[str, list[tuple[str, TrialRun]]] = defaultdict(list)
    for session in sessions:
        for run in session.runs:
            if is_judged(run):
                known[names.of(run)].append((session.episode, run))
    checks = []
    for check, runs in known.items():
        fresh, usual = rates.trials_of(check), rates.usual_of(check)
        rows = [rates.row(check, one) for one in rates.situations(check, least=ENOUGH_RUNS)]
        rows = [row for row in rows if everything or row.runs_elsewhere >= ENOUGH_RUNS]
        seconds = [run.seconds for _, run in runs if run.seconds]
        checks.append(
            CheckRate(
                check=check,
                kind=Counter(run.kind for _, run in runs).most_common(1)[0][0],
                command=typical_command(run.command or check for _, run in runs),
                sessions=len({episode for episode, _ in runs}),
                runs=len(runs),
                failed=sum(run.passed is False for _, run in runs),
                fresh=len(fresh),
                fresh_failed=_failed(fresh),
                rate=round(usual.rate, 4) if rates.enough and fresh else None,
                next_failed=predictive_range(usual, NEXT) if rates.enough and fresh else None,
                seconds=median(seconds) if seconds else None,
                situations=_reported(rates, rows, everything=everything),
            )
        )
    return CheckReport(
        sessions=rates.sessions,
        enough=rates.enough,
        checks=tuple(sorted(checks, key=lambda one: (-one.fresh, -one.runs, one.check))),
    )


def _reported(rates: CheckRates, rows: Sequence[SituationRate], *, everything: bool) -> tuple[SituationRate, ...]:
    """The rows in order: the worst first, then those that are better than usual, then the rest if asked for."""
    ranked = sorted(rows, key=lambda row: (-rates.distance(row), row.dimension, row.value))
    if everything:
        return tuple(ranked)
    worse = [row for row in ranked if row.standing == "worse" or (row.standing == "counts only" and is_more(row))]
    better = [row for row in reversed(ranked) if row.standing == "better"]
    return (*rates.once(worse), *rates.once(better))


def is_more(row: SituationRate) -> bool:
    """Whether a larger share failed than elsewhere: by one run at least, and by more than chance in nine of ten."""
    return row.failed > 1 and _excess(row) >= 1 and _errors_apart(row) >= _APART


def is_less(row: SituationRate) -> bool:
    """Whether a smaller share failed than elsewhere, by the same measure."""
    return row.failed_elsewhere > 1 and _excess(row) <= -1 and _errors_apart(row) <= -_APART


def _excess(row: SituationRate) -> float:
    """How many runs more failed than would have at the share of elsewhere."""
    return row.failed - row.runs * row.failed_elsewhere / row.runs_elsewhere if row.runs_elsewhere else row.failed


def _errors_apart(row: SituationRate) -> float:
    """How many standard errors two shares lie apart where the pooled one is true of both; without another, far."""
    if not row.runs_elsewhere:
        return math.inf
    pooled = (row.failed + row.failed_elsewhere) / (row.runs + row.runs_elsewhere)
    error = math.sqrt(pooled * (1 - pooled) * (1 / row.runs + 1 / row.runs_elsewhere))
    return (row.failed / row.runs - row.failed_elsewhere / row.runs_elsewhere) / error if error else 0.0


def _by_session(trials: Iterable[CheckTrial]) -> list[tuple[int, int]]:
    """Failed runs and runs of each session."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in trials:
        counts[one.episode][0] += one.failed
        counts[one.episode][1] += 1
    return [(failed, runs) for failed, runs in counts.values()]


def _failed(trials: Iterable[CheckTrial]) -> int:
    return sum(one.failed for one in trials)


def _error(estimate: Estimate) -> float:
    """The standard error of a rate."""
    return math.sqrt(estimate.rate * (1 - estimate.rate) / (estimate.certainty + 1))
