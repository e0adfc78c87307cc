"""Do the rates of `checks`, learnt on the first half of a project's sessions, forecast the second half?

    python benchmarks/check_rates.py [--least 30]

The Claude Code corpus and every open project of the corpus ``agent-sessions`` with enough sessions (the sealed ones
are left out). The sessions are put in order of time and cut in the middle. Two questions are asked of the second half.

- Log loss: each fresh run after a change is forecast by the mean of the rates of the situations that it is in, each
  dimension once, and by the check's own rate of the first half. Printed is the mean log loss of both, and the gain with
  its 95 % interval; sessions are drawn anew 2,000 times. *By row* is the mean loss of the printed rates themselves.
- Range: in how many situations with five runs in both halves the number of later failures lies in the 90 % range.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tallies import CORPORA

from helix_graph import Memory
from helix_graph.causality.check_rates import ENOUGH_RUNS, CheckRates
from helix_graph.causality.check_runs import check_trials, in_time_order
from helix_graph.stats.intervals import predictive_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.causality.check_runs import CheckTrial
    from helix_graph.graph.observations import Trial

SEALED = frozenset({"entireio__entire-graph", "savekirk__session-bridge"})
DRAWS = 2000
_SEED = 20261123


class Loss(NamedTuple):
    """The log loss of one run: by the check's own rate, by the forecast, and the mean over its rows."""

    own: float
    forecast: float
    by_row: float


def projects() -> dict[str, Path]:
    """The folders of sessions that may be looked at."""
    found = {"claude-code": CORPORA / "claude-code" / "sessions"}
    for folder in sorted((CORPORA / "agent-sessions").iterdir()):
        if folder.is_dir() and "__" in folder.name and folder.name not in SEALED:
            found[folder.name] = folder
    return found


def sessions_of(folder: Path) -> list[Trial]:
    """The sessions of a folder as trials, in time order."""
    with tempfile.TemporaryDirectory() as place:
        memory = Memory.init(Path(place))
        memory.extract([folder])
        return in_time_order(memory.causality.trials())


def losses(learnt: CheckRates, later: Sequence[CheckTrial]) -> dict[str, list[Loss]]:
    """The losses of the later runs, by session."""
    found: dict[str, list[Loss]] = defaultdict(list)
    for one in later:
        rows = [_loss(learnt.rate(one.check, each).rate, one) for each in one.situations]
        own, forecast = learnt.usual_of(one.check).rate, learnt.forecast(one)
        found[one.episode].append(Loss(_loss(own, one), _loss(forecast, one), sum(rows) / len(rows)))
    return found


def _loss(chance: float, trial: CheckTrial) -> float:
    return -math.log(chance if trial.failed else 1 - chance)


def interval(found: dict[str, list[Loss]], *, place: int) -> tuple[float, float]:
    """The 95 % interval of the gain over the check's own rate, drawing sessions anew."""
    draw = random.Random(_SEED)  # noqa: S311  (no secret)
    sessions = list(found.values())
    gains = []
    for _ in range(DRAWS):
        drawn = [loss for each in draw.choices(sessions, k=len(sessions)) for loss in each]
        gains.append(sum(loss[0] - loss[place] for loss in drawn) / len(drawn))
    gains.sort()
    return gains[round(DRAWS * 0.025)], gains[round(DRAWS * 0.975)]


def in_range(learnt: CheckRates, later: CheckRates) -> tuple[int, int]:
    """How many of the later counts lie in their range, and of how many."""
    kept = tested = 0
    for check in later.usual:
        for one in later.situations(check):
            before, after = learnt.trials_in(check, one), later.trials_in(check, one)
            if min(len(before), len(after)) >= ENOUGH_RUNS:
                low, high = predictive_range(learnt.rate(check, one), len(after))
                kept += low <= sum(each.failed for each in after) <= high
                tested += 1
    return kept, tested


def main() -> None:
    """Prints a line of figures for each project."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=int, default=30, help="sessions that a project must have")
    least = parser.parse_args().least
    for name, folder in projects().items():
        sessions = sessions_of(folder)
        if len(sessions) < least:
            print(f"{name}: {len(sessions)} sessions, too few")
            continue
        half = len(sessions) // 2
        first, second = check_trials(sessions[:half]), check_trials(sessions[half:])
        learnt = CheckRates(first)
        found = losses(learnt, second)
        every = [loss for each in found.values() for loss in each]
        own, forecast, by_row = (sum(loss[at] for loss in every) / len(every) for at in range(3))
        print(
            f"{name}: {len(sessions)} sessions; learnt {len(first)} runs, {sum(one.failed for one in first)} failed; "
            f"later {len(second)} runs, {sum(one.failed for one in second)} failed"
        )
        for words, loss, place in (("forecast", forecast, 1), ("by row", by_row, 2)):
            low, high = interval(found, place=place)
            print(
                f"  log loss {words} {loss:.4f}, own rate {own:.4f}, gain {own - loss:+.4f} ({low:+.4f} to {high:+.4f})"
            )
        kept, tested = in_range(learnt, CheckRates(second))
        print(f"  90 % range held {kept} of {tested} situations ({kept / tested:.0%})" if tested else "  no situations")


if __name__ == "__main__":
    main()
