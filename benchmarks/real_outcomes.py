"""What the comparisons say of real runs with rewards: τ-bench's airline tasks, each tried four times.

    python benchmarks/real_outcomes.py [--corpus FILE] [--rounds 200]

The first part is what a user gets: the runs are extracted into a memory and `comparisons` and `placebo` are asked.

The second part looks at the halves of the tasks. Every comparison is within tasks, since each was tried more than once.
It is made twice: over what episodes keep (what changed something, and errors), and over every call of the log.

- Signs: tasks are dealt to two halves in turn; every comparison that both halves allow is made in each, and it is
  counted how often the signs agree. Comparisons share runs, so the count is not one of independent trials: beside it
  stands what shuffling outcomes within tasks gives, from the 5th to the 95th of a hundred shuffles.
- Score: a run's score is the sum of the adjusted differences of what was done in it, each drawn towards zero by its own
  uncertainty, learnt from the other tasks only. Its AUC (how often a run that succeeded stands above one that failed)
  stands beside that of the number of calls, fewer being better; over all pairs, and over pairs within one task, which
  difficulty cannot help. Intervals: tasks drawn anew 2,000 times.
- Placebo: how many comparisons are found, and how many labels the plain rule (a success rate of at most 0.3) flags,
  before and after outcomes are shuffled within tasks.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from msgspec.structs import replace
from tallies import CORPORA

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from helix_graph import Memory
from helix_graph.causality.effects import Placebo, effects_of, placebo
from helix_graph.causality.hypotheses import TrialMatrix, hypotheses
from helix_graph.graph.observations import TrialStep, trial_of
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from helix_episodes.session import Step as LogStep
    from helix_graph.graph.observations import Trial
    from helix_graph.graph.patterns import Effect

CORPUS = CORPORA / "tau-bench" / "gpt-4o-airline-tasks-0-24.json"
DRAWS = 2000
SHUFFLES = 100
_SEED = 20261122

#: A comparison by what it compares.
Name: TypeAlias = tuple[str, str, str]


def told_by_product(log: Path) -> tuple[list[Trial], str, Placebo]:
    """The runs as trials, what the product says of comparing them, and its placebo; all from a memory of its own."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.init(Path(folder))
        memory.extract([log])
        report = memory.causality.comparisons()
        words = f"{report.tested} tested, {len(report.associated())} found; too early: {report.too_early or 'no'}"
        return memory.causality.trials(), words, memory.causality.placebo()


def every_call(log: Path) -> list[Trial]:
    """The runs as trials whose steps are all calls and failed results of the log."""
    found = []
    for session in read_sessions(log):
        steps = [one for one in map(_step, enumerate(session.steps)) if one]
        found.append(replace(trial_of(extract(session)), steps=tuple(steps), claims=(), observations=()))
    return found


def _step(numbered: tuple[int, LogStep]) -> TrialStep | None:
    number, one = numbered
    if one.kind == "call":
        return TrialStep("act", f"use {one.tool}", str(number))
    if one.kind == "result" and one.status == "error":
        return TrialStep("error", "a call fails", str(number))
    return None


def by_task(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    """The trials of each task; every run of the collection names its task."""
    found: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        found[trial.task_id or ""].append(trial)
    return dict(sorted(found.items(), key=lambda pair: int(pair[0])))


def mixed(tasks: dict[str, list[Trial]]) -> int:
    """How many tasks both succeeded and failed."""
    return sum(len({trial.success for trial in tries}) > 1 for tries in tasks.values())


def comparisons(trials: Sequence[Trial]) -> dict[Name, Effect]:
    """Every comparison that the trials allow."""
    board = TrialMatrix(trials)
    return {(one.kind, one.trigger, one.action): one for one in effects_of(board, hypotheses(board))}


@dataclass(frozen=True)
class Pair:
    """One comparison in both halves."""

    name: Name
    here: Effect
    there: Effect

    @property
    def agrees(self) -> bool:
        """Whether both differences have one sign."""
        return self.here.difference * self.there.difference > 0


def pairs(trials: Sequence[Trial]) -> list[Pair]:
    """The comparisons that both halves of the tasks allow and in which both show a difference."""
    tasks = list(by_task(trials).values())
    first, second = (comparisons([trial for tries in tasks[part::2] for trial in tries]) for part in (0, 1))
    both = [Pair(name, first[name], second[name]) for name in sorted(first.keys() & second.keys())]
    return [one for one in both if one.here.difference and one.there.difference]


def agreement(found: Sequence[Pair]) -> float:
    """The share (0 to 1) of comparisons whose sign is the same in both halves; a half when there are none."""
    return sum(one.agrees for one in found) / len(found) if found else 0.5


def agreement_by_chance(trials: Sequence[Trial]) -> NDArray[np.float64]:
    """The agreement after outcomes were shuffled within tasks, so often."""
    source = np.random.default_rng(_SEED)
    return np.array([agreement(pairs(shuffled(trials, source))) for _ in range(SHUFFLES)])


def shuffled(trials: Sequence[Trial], source: np.random.Generator) -> list[Trial]:
    """The trials with the outcomes of each task dealt anew among its runs."""
    dealt: list[Trial] = []
    for tries in by_task(trials).values():
        order = source.permutation(len(tries)).tolist()
        dealt += [replace(trial, success=tries[place].success) for trial, place in zip(tries, order, strict=True)]
    return dealt


def scores(trials: Sequence[Trial]) -> dict[str, float]:
    """The score of each run, from what the runs of all other tasks say."""
    found: dict[str, float] = {}
    tasks = by_task(trials)
    for task, tries in tasks.items():
        others = [trial for name, some in tasks.items() if name != task for trial in some]
        worth = {one.action: _drawn_in(one) for one in comparisons(others).values() if one.kind == "action"}
        for trial in tries:
            found[trial.episode] = sum(worth.get(label, 0.0) for label in sorted({step.label for step in trial.steps}))
    return found


def _drawn_in(one: Effect) -> float:
    spread = one.difference**2 + one.error**2
    return one.difference**3 / spread if spread else 0.0


def fewer_calls(trials: Sequence[Trial]) -> dict[str, float]:
    """The number of things done, the fewer the better."""
    return {trial.episode: -sum(step.kind in {"act", "edit"} for step in trial.steps) for trial in trials}


def auc(groups: Sequence[Sequence[Trial]], score: dict[str, float]) -> float:
    """How often a success stands above a failure of its group (level counts half); 0.5 when no group has both."""
    above = possible = 0.0
    for group in groups:
        won = np.array([score[trial.episode] for trial in group if trial.success])
        lost = np.array([score[trial.episode] for trial in group if not trial.success])
        possible += won.size * lost.size
        above += float((won[:, None] > lost).sum() + (won[:, None] == lost).sum() / 2)
    return above / possible if possible else 0.5


def over_tasks(tasks: Sequence[list[Trial]], measure: Callable[[list[list[Trial]]], float]) -> tuple[float, float]:
    """From the 2.5th to the 97.5th hundredth of a measure over tasks drawn anew."""
    source = np.random.default_rng(_SEED)
    drawn = [
        measure([tasks[place] for place in source.integers(0, len(tasks), len(tasks)).tolist()]) for _ in range(DRAWS)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return low, high


def report(log: Path, *, rounds: int) -> None:
    trials, words, product_placebo = told_by_product(log)
    tasks = by_task(trials)
    successes = sum(trial.success is True for trial in trials)
    print(f"{len(trials)} runs of {len(tasks)} tasks, {successes} rewarded; {mixed(tasks)} tasks are mixed\n")
    print(f"The product: {words}")
    print(f"Its placebo: {product_placebo.tested} tested; too early: {product_placebo.too_early}\n")
    calls = every_call(log)
    for name, vocabulary in (("what episodes keep", trials), ("every call of the log", calls)):
        print(f"\nOver {name}:")
        _report_signs(vocabulary)
        _report_auc("adjusted effects of other tasks", vocabulary, scores(vocabulary))
        _report_placebo(placebo(TrialMatrix(vocabulary), rounds=rounds))
    print()
    _report_auc("fewer calls", calls, fewer_calls(calls))
    print(f"pairs of a success and a failure: {_pairs([trials])} in all, {_pairs(list(tasks.values()))} within tasks")


def _report_signs(trials: Sequence[Trial]) -> None:
    found = pairs(trials)
    if not found:
        print("signs: no comparison shows a difference in both halves")
        return
    print("\n".join(_rows(found)))
    agree = sum(one.agrees for one in found)
    interval = wilson_interval(agree, len(found))
    low, middle, high = np.quantile(agreement_by_chance(trials), [0.05, 0.5, 0.95]).tolist()
    print(
        f"signs agree between the halves in {agree} of {len(found)} comparisons ({agreement(found):.2f}; "
        f"{interval.low:.2f} to {interval.high:.2f} as if they were independent); "
        f"with outcomes shuffled within tasks {middle:.2f} ({low:.2f} to {high:.2f})"
    )


def _rows(found: Sequence[Pair]) -> Iterator[str]:
    yield f"{'half A: points (interval), n with/without':>44}{'half B':>38}  same sign  comparison"
    for one in found:
        kind, trigger, action = one.name
        name = action if trigger == "any task" else f"{trigger} -> {action}"
        sign = "yes" if one.agrees else "no"
        yield f"{_cell(one.here):>44}{_cell(one.there):>38}  {sign:>9}  {kind}: {name}"


def _cell(one: Effect) -> str:
    low, high = 100 * one.interval.low, 100 * one.interval.high
    return f"{100 * one.difference:+.0f} ({low:+.0f} to {high:+.0f}), {one.uses}/{one.others}"


def _report_auc(name: str, trials: Sequence[Trial], score: dict[str, float]) -> None:
    tasks = list(by_task(trials).values())
    groupings: dict[str, Callable[[list[list[Trial]]], float]] = {
        "all pairs": lambda drawn: auc([[trial for tries in drawn for trial in tries]], score),
        "within tasks": lambda drawn: auc(drawn, score),
    }
    for what, measure in groupings.items():
        low, high = over_tasks(tasks, measure)
        print(f"AUC of {name}, {what}: {measure(tasks):.2f} ({low:.2f} to {high:.2f})")


def _pairs(groups: Sequence[Sequence[Trial]]) -> int:
    return sum(
        sum(trial.success is True for trial in group) * sum(trial.success is not True for trial in group)
        for group in groups
    )


def _report_placebo(found: Placebo) -> None:
    print(
        f"adjusted comparisons: {found.found} of {found.tested} found; after shuffling within tasks "
        f"{found.found_in_noise:.2f} on average over {found.rounds}, any in {found.any_in_noise:.2f} of them"
    )
    print(
        f"a success rate of at most 0.3: {found.plain} of {found.tested} flagged; after shuffling within tasks still "
        f"{found.plain_in_noise:.1f}"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--corpus", type=Path, default=CORPUS)
    options.add_argument("--rounds", type=int, default=200)
    given = options.parse_args()
    report(given.corpus, rounds=given.rounds)


if __name__ == "__main__":
    main()
