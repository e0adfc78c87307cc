"""What ranking and attributing insights by one rule or another comes to, in a world whose truth is known.

    python benchmarks/feedback [--seeds 8] [--tasks 4000] [--spread 0.085] [--quick]

`advice` says what the world is and which of its parameters the reference leaves open. The first table has, for each
policy, the chance of success over the last 1000 tasks, what was lost to the oracle over the first 1000 and over all,
and the share of what was handed over that does harm; each with its standard error, and beside the reference's figure
(`causal-statistics.md` §5.4). "at least" says whether it is as good, within the reference's error: .01 of success a
task, so 10 over 1000 tasks and 40 over 4000, and .01 of the share. Then the variants, what single verdicts are worth,
and whether estimates and intervals hold the truth. ``--quick`` runs 2 worlds of 1200 tasks to see that everything runs:
its figures are compared with nothing.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from statistics import fmean
from typing import NamedTuple

from advice import RELEVANCE_SPREAD, World
from contests import Contestant, Figure, compete
from estimates import Pooled, Static, Verdicts, pooled, static, verdicts

from helix_graph.stats.intervals import wilson_interval

#: The reference's standard error of a success rate.
ITS_ERROR = 0.01
#: What its figures are about; others are compared with nothing.
ITS_SEEDS, ITS_TASKS = 8, 4000
#: Added to the world of the variants.
HALF_UNLINKED, CONFOUNDED = 0.5, 1.5
#: Logs of 1000 tasks for the pooled estimate, so that the share of intervals that hold the truth is known to some
#: points.
POOLED_LOGS, POOLED_TASKS = 100, 1000


class Reference(NamedTuple):
    """Its figures: success over the last 1000, regret over 1000 and 4000, share of harm."""

    final: float
    early: float = math.nan
    regret: float = math.nan
    harmful: float = math.nan


class Row(NamedTuple):
    """A policy, and the reference's figures for it."""

    name: str
    contestant: Contestant
    reference: Reference


MAIN = (
    Row("relevance only", Contestant("Relevance"), Reference(0.523, 287, 1122, 0.17)),
    Row("seed, text", Contestant("Seed", "by_text"), Reference(0.579, 261, 957, 0.14)),
    Row("seed, graph path", Contestant("Seed", "by_path"), Reference(0.564, 264, 987, 0.21)),
    Row("by effectiveness, text", Contestant("ByEffectiveness", "by_text"), Reference(0.660, 200, 644, 0.08)),
    Row("by effectiveness, path", Contestant("ByEffectiveness", "by_path"), Reference(0.716, 190, 486, 0.17)),
    Row("… 10 % tried, text", Contestant("Exploring", "by_text"), Reference(0.667, 183, 628, 0.07)),
    Row("… 10 % tried, uptake", Contestant("Exploring", "by_uptake"), Reference(0.701, 144, 468, 0.06)),
    Row("uplift, handed over", Contestant("Uplift", "by_nothing"), Reference(0.731, 198, 534, 0.04)),
    Row("uplift, uptake", Contestant("Uplift", "by_uptake_or_nothing"), Reference(0.759, 177, 397, 0.03)),
    Row("… none withheld", Contestant("WithoutHoldout", "by_uptake_or_nothing"), Reference(0.786, 151, 276, 0.03)),
    Row("greedy, uptake", Contestant("Greedy", "by_uptake_or_nothing"), Reference(0.687, 162, 551, 0.01)),
    Row("uplift, text", Contestant("Uplift", "by_text"), Reference(0.709, 203, 530, 0.04)),
    Row("oracle", Contestant("Oracle"), Reference(0.808, 0, 0)),
)
UNLINKED = (
    Row("uplift, uptake alone", Contestant("Uplift", "by_uptake"), Reference(0.634)),
    Row("uplift, handed over", Contestant("Uplift", "by_nothing"), Reference(0.731)),
    Row("uplift, text", Contestant("Uplift", "by_text"), Reference(0.709)),
    Row("uplift, uptake or handed over", Contestant("Uplift", "by_uptake_or_nothing"), Reference(0.738)),
    Row("uplift, uptake or text", Contestant("Uplift", "by_uptake_or_text"), Reference(0.722)),
)
HIDDEN = (
    Row("seed, text", Contestant("Seed", "by_text"), Reference(0.562)),
    Row("uplift, handed over", Contestant("Uplift", "by_nothing"), Reference(0.706)),
    Row("uplift, uptake", Contestant("Uplift", "by_uptake_or_nothing"), Reference(0.736)),
    Row("oracle", Contestant("Oracle"), Reference(math.nan)),
)


class Size(NamedTuple):
    """How much is run; ``full`` when it is as much as the reference ran, in the world that was chosen by it."""

    seeds: int
    tasks: int
    logs: int
    spread: float = RELEVANCE_SPREAD

    @property
    def full(self) -> bool:
        return self.seeds >= ITS_SEEDS and self.tasks == ITS_TASKS and self.spread == RELEVANCE_SPREAD


def main() -> None:
    size = asked_for()
    print(f"{size.seeds} worlds of {size.tasks} tasks, 5 insights handed over; ± is the standard error over worlds\n")
    plain = World(seed=0, spread=size.spread)
    hidden = plain._replace(confounding=CONFOUNDED)
    contest("all insights linked", MAIN, plain, size)
    contest("half of the insights without a link", UNLINKED, plain._replace(unlinked=HALF_UNLINKED), size)
    contest("insights are taken up more readily on hard tasks", HIDDEN, hidden, size)
    with ProcessPoolExecutor() as pool:
        tell_verdicts(list(pool.map(partial(verdicts, count=size.tasks), plain.seeded(size.seeds))))
        by_coin = partial(static, count=ITS_TASKS)
        coins, confounded = (list(pool.map(by_coin, one.seeded(size.seeds))) for one in (plain, hidden))
        tell_static("static log, half handed over by lot", coins, reference=("+.001", "+.001", "+.003"))
        tell_static("static log, uptake confounded", confounded, reference=("", "-.073", ""))
        tell_pooled(list(pool.map(partial(pooled, count=POOLED_TASKS), plain.seeded(size.logs))))


def asked_for() -> Size:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--seeds", type=int, default=ITS_SEEDS)
    options.add_argument("--tasks", type=int, default=ITS_TASKS)
    options.add_argument("--spread", type=float, default=RELEVANCE_SPREAD, help="of relevance, to see what hangs on it")
    options.add_argument("--quick", action="store_true")
    given = options.parse_args()
    return Size(2, 1200, 4) if given.quick else Size(given.seeds, given.tasks, POOLED_LOGS, given.spread)


def contest(title: str, rows: tuple[Row, ...], kind: World, size: Size) -> None:
    print(title)
    print(f"  {'':30} {'last 1000':18} {'regret@1000':18} {'regret@' + str(size.tasks):18} {'harmful':16} at least")
    done = compete([row.contestant for row in rows], kind=kind, seeds=size.seeds, count=size.tasks)
    for row, figures in zip(rows, done, strict=True):
        final, early, regret, harmful = figures
        verdict = verdict_on(figures, row.reference) if size.full else "-"
        cells = (
            beside(final, row.reference.final, 3),
            beside(early, row.reference.early, 0),
            beside(regret, row.reference.regret, 0),
            beside(harmful, row.reference.harmful, 2),
        )
        print(f"  {row.name:30} {cells[0]:18} {cells[1]:18} {cells[2]:18} {cells[3]:16} {verdict}")
    print()


def beside(figure: Figure, reference: float, digits: int) -> str:
    """Ours ± its error, and the reference's in brackets where it has one."""
    told = f"{figure.mean:.{digits}f} ±{figure.error:.{max(digits, 0)}f}"
    return told if math.isnan(reference) else f"{told} ({reference:.{digits}f})"


def verdict_on(figures: tuple[Figure, Figure, Figure, Figure], reference: Reference) -> str:
    """Whether it is at least as good, or which figures are worse than the reference's by more than its error."""
    final, early, regret, harmful = (figure.mean for figure in figures)
    worse = {
        "last 1000": reference.final - final > ITS_ERROR,
        "regret@1000": early - reference.early > ITS_ERROR * 1000,
        "regret@4000": regret - reference.regret > ITS_ERROR * ITS_TASKS,
        "harmful": harmful - reference.harmful > ITS_ERROR,
    }
    if math.isnan(reference.final):
        return "-"
    return "no: " + ", ".join(name for name, is_worse in worse.items() if is_worse) if any(worse.values()) else "yes"


def tell_verdicts(told: list[Verdicts]) -> None:
    print("verdicts on single tasks: did this insight change how this task came out?")
    print(f"  true of {fmean(one.base for one in told):.3f} (.054) of those handed over")
    rows = (("text", ".057 .93"), ("path", ".140 .80"), ("both", ".141 .75"))
    for name, reference in rows:
        precision, recall = (fmean(column) for column in zip(*(getattr(one, name) for one in told), strict=True))
        print(f"  {name:6} precision {precision:.3f} recall {recall:.2f} ({reference})")
    print(f"  AUC: cosine {fmean(one.auc_text for one in told):.2f} (.58), ", end="")
    print(f"the record's score {fmean(one.auc_score for one in told):.2f} (.80)\n")


def tell_static(title: str, found: list[Static], *, reference: tuple[str, str, str]) -> None:
    handed, treated, taker = (f" ({one})" if one else "" for one in reference)
    print(title)
    print(f"  insights that do nothing: effectiveness {mean(found, 'effectiveness'):.2f}", end="")
    print(f" (.54), adjusted {mean(found, 'adjusted'):.2f} (.38)")
    print(f"    handed over {mean(found, 'handed_over'):+.3f}{handed}, ", end="")
    print(f"as treated {mean(found, 'as_treated'):+.3f}{treated}, per taker {mean(found, 'per_taker'):+.3f}{taker}")
    share("logs called confounded", sum(bool(one.note) for one in found), len(found))
    print(f"  order against the truth: seed {mean(found, 'order_of_seed'):.2f} (.22), ", end="")
    print(
        f"handed over {mean(found, 'order_of_difference'):.2f} (.78), uptake {mean(found, 'order_of_belief'):.2f} (.84)"
    )
    share("intervals that hold the truth", sum(one.held for one in found), sum(one.intervals for one in found))
    print()


def tell_pooled(estimates: list[Pooled]) -> None:
    print("one in ten withheld: what handing over a relevant insight changes, all together")
    print(f"  estimate {fmean(e.estimate for e in estimates):+.4f}, truth {fmean(e.truth for e in estimates):+.4f}")
    share("intervals that hold the truth", sum(e.held for e in estimates), len(estimates))


def mean(found: list[Static], name: str) -> float:
    return fmean(getattr(one, name) for one in found)


def share(what: str, count: int, total: int) -> None:
    if not total:
        print(f"  {what}: none, too early")
        return
    interval = wilson_interval(count, total)
    print(f"  {what}: {count} of {total} ({count / total:.3f}, {interval.low:.3f} to {interval.high:.3f})")
