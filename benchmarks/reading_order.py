"""How much does one read before the step that decided a failure, in the order that `explain` gives?

    python benchmarks/reading_order.py [--corpus DIR] [--fit]

The runs are those of Who&When's public half; in each, people marked one message. Weights are fitted together on both
halves by conditional logistic regression: the marked message against the others of its run, with a quadratic penalty.
Every figure but *frozen* is of a run that its weights were not fitted on (leave-one-out over all runs), *transfer* of
the half that they were not fitted on. The signs were chosen on these runs too, by leave-one-out: on runs that nobody
looked at, expect less. *Read* is the mean number of messages before the marked one. ``--fit`` prints the table of
weights for `helix_graph.causality.reading_order.FITTED`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from tallies import CORPORA

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from helix_episodes.readers.common.json_with_lines import read_json_with_lines
from helix_graph.causality.fault_localization import signs_of_session
from helix_graph.causality.passages import passages_of_session
from helix_graph.causality.reading_order import BY_HAND, FITTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from helix_graph.causality.passages import Sign

    Numbers: TypeAlias = NDArray[np.float64]

CORPUS = CORPORA / "who-and-when"
HALVES = ("Algorithm-Generated", "Hand-Crafted")
#: The penalty: a standard deviation of 0.6 for each weight beforehand. 2 and 4 come out alike.
PENALTY = 3.0
#: What the runs cannot tell of: no person refuses or corrects anything in them, and no change is checked.
ABSENT: frozenset[Sign] = frozenset(BY_HAND.keys() - {"suspect"})
STEPS = 30


class Run(NamedTuple):
    """Signs by passage, the place of the marked one among them, and how many messages there are."""

    signs: Numbers
    marked: int
    messages: int


def names() -> list[Sign]:
    return [name for name in ORDER if name not in ABSENT]


#: The signs in the order of the table.
ORDER: tuple[Sign, ...] = (
    "echo", "thought", "prompt", "code", "order", "answers an order", "first answer", "repeats", "nothing new",
    "brings", "brings unsupported", "used later", "assumes", "verified without code", "before an error", "suspect",
    "last", "early", "deep", "late", "long",
)  # fmt: skip


def read_half(folder: Path) -> list[Run]:
    return [read_run(path) for path in sorted(folder.glob("*.json"))]


def read_run(path: Path) -> Run:
    """The answer key is read from the file, and never by the product."""
    (session,) = read_sessions(path)
    episode = extract(session)
    document = read_json_with_lines(path)
    messages = document.get("history").items
    line = messages[int(document.get("mistake_step").text)].get("content").line
    passages = passages_of_session(session, episode)
    signs = signs_of_session(passages, episode)
    marked = next(place for place, one in enumerate(passages) if one.line == line)
    return Run(np.array([[one[name] for name in names()] for one in signs]), marked, len(messages))


def fit(runs: Sequence[Run]) -> Numbers:
    """Newton's method on the penalised likelihood of the marked messages."""
    size = len(names())
    weights = np.zeros(size)
    for _ in range(STEPS):
        slope, curve = -PENALTY * weights, PENALTY * np.eye(size)
        for run in runs:
            chances = chances_of(run, weights)
            mean = chances @ run.signs
            centred = run.signs - mean
            slope = slope + run.signs[run.marked] - mean
            curve = curve + (centred.T * chances) @ centred
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def chances_of(run: Run, weights: Numbers) -> Numbers:
    scores = run.signs @ weights
    odds = np.exp(scores - scores.max())
    found: Numbers = odds / odds.sum()
    return found


class Place(NamedTuple):
    """How many messages come before the marked one, and the chance that was claimed for the first of all."""

    before: int
    claimed: float


def place_of(run: Run, weights: Numbers) -> Place:
    chances = chances_of(run, weights)
    order = np.lexsort((np.arange(len(chances)), -chances))
    return Place(int(np.flatnonzero(order == run.marked)[0]), float(chances[order[0]]))


def left_out(runs: Sequence[Run], others: Sequence[Run]) -> list[Place]:
    """Each run by weights of all other runs of both halves."""
    return [place_of(run, fit([*runs[:n], *runs[n + 1 :], *others])) for n, run in enumerate(runs)]


def tell(name: str, runs: Sequence[Run], places: Sequence[Place]) -> None:
    before = np.array([one.before for one in places])
    ordered = np.array([run.marked for run in runs])
    share = np.mean([one.before / run.messages for one, run in zip(places, runs, strict=True)])
    tops = "  ".join(f"top-{most} {int((before < most).sum()):2} of {len(runs)}" for most in (1, 3, 5))
    print(
        f"  {name:14} {tops}  read {before.mean():5.2f}, {before.mean() / ordered.mean():.0%} of in order "
        f"({ordered.mean():.2f}), {share:.0%} of the run"
    )


def tell_calibration(places: Sequence[Place]) -> None:
    for low, high in ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 1.0)):
        some = [one for one in places if low <= one.claimed < high]
        if some:
            right = sum(one.before == 0 for one in some)
            print(
                f"  first place claimed {low:.1f} to {high:.1f}: mean {np.mean([one.claimed for one in some]):.2f}, "
                f"right {right} of {len(some)} ({right / len(some):.2f})"
            )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--corpus", type=Path, default=CORPUS)
    options.add_argument("--fit", action="store_true")
    given = options.parse_args()
    halves = [read_half(given.corpus / half) for half in HALVES]
    if given.fit:
        for name, weight in zip(names(), fit([*halves[0], *halves[1]]), strict=True):
            print(f'    "{name}": {weight:.2f},')
        return
    every: list[Place] = []
    frozen = np.array([FITTED[name] for name in names()])
    for half, runs, others in zip(HALVES, halves, reversed(halves), strict=True):
        print(f"{half}, {len(runs)} runs")
        places = left_out(runs, others)
        tell("left out", runs, places)
        tell("transfer", runs, [place_of(run, fit(others)) for run in runs])
        tell("frozen", runs, [place_of(run, frozen) for run in runs])
        every += places
    print("Calibration, left out")
    tell_calibration(every)


if __name__ == "__main__":
    main()
