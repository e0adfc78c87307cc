"""Which known effects does uplift find, and which estimate orders insights as the truth does?

    python benchmarks/feedback effects [--worlds 40] [--withhold 0.2]

Each world has three insights, all relevant to every task: one raises the chance of success by ten points, one lowers it
by ten, one does nothing. Tasks succeed in 70 of 100 without any. What is handed over is decided by the product's own
`withhold`, effects are judged by `uplift_report`, and the chance of withholding falls as `exposure.hand_over` lets it.

*Weights* is the estimate that was used before: rows weighted by the inverse of the chance of being where they are, with
the chance of withholding falling once an effect is known within ten points instead of five. *By kind* gives each
insight a kind of task of its own, of which 50 to 90 of 100 succeed: what goes by plain success then follows the kind.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from estimates import rank_correlation

from helix_graph.insights.feedback import lifetime_rate
from helix_graph.insights.holdout import Exposure, HoldoutCandidate, withhold
from helix_graph.insights.scoring import NEUTRAL, ema
from helix_graph.insights.uplift import uplift_report
from helix_graph.stats.intervals import newcombe_interval, q_values, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.insights.holdout import Fate

EFFECTS = {"helps": 0.10, "harms": -0.10, "idle": 0.0}
BASE, BASES = 0.70, (0.5, 0.9)
LOOKS = (200, 500, 1000, 3000)
#: Before: an effect was known within ten points, and needed a hundred rows on either side.
KNOWN_BEFORE, LEAST_BEFORE = 0.10, 100
GROWTH = 1.25


class Found(NamedTuple):
    """Of one insight after so many tasks: its true effect, what was said of it, and what each estimate makes of it."""

    effect: float
    verdict: str
    held: bool | None
    estimates: dict[str, float]


class Log(NamedTuple):
    """The rows of one insight: its outcomes where it was shown, and its exposures."""

    shown: list[bool]
    rows: list[Exposure]


def world(seed: int, *, share: float, weights: bool, by_kind: bool) -> dict[int, list[Found]]:
    """What is found at each look."""
    source = random.Random(seed)  # noqa: S311  (repeatable, not secret)
    bases = {name: source.uniform(*BASES) if by_kind else BASE for name in EFFECTS}
    logs = {name: Log([], []) for name in EFFECTS}
    widths: dict[str, float | None] = dict.fromkeys(EFFECTS)
    looked, found, said = 100.0, {}, now(logs)
    for number in range(1, LOOKS[-1] + 1):
        names = [source.choice(list(EFFECTS))] if by_kind else list(EFFECTS)
        candidates = [
            HoldoutCandidate(insight=name, half_width=_known(widths[name], weights=weights)) for name in names
        ]
        draws = withhold(candidates, injection=str(number), salt=str(seed), first=share)
        chance = bases[names[0]] + sum(EFFECTS[one.insight] for one in draws if not one.withheld)
        succeeded = source.random() < chance
        for one in draws:
            log = logs[one.insight]
            fate: Fate = "withheld" if one.withheld else "given"
            row = Exposure(
                insight=one.insight, injection=str(number), fate=fate, propensity=one.propensity, succeeded=succeeded
            )
            log.rows.append(row)
            if not one.withheld:
                log.shown.append(succeeded)
        if number >= GROWTH * looked or number in LOOKS:
            looked = number
            said = before(logs) if weights else now(logs)
            widths = {name: None if one is None else one[2] for name, one in said.items()}
        if number in LOOKS:
            found[number] = [_found(name, logs[name], said[name], bases) for name in EFFECTS]
    return found


def _known(width: float | None, *, weights: bool) -> float | None:
    """Before, the chance fell at twice the width of now."""
    return width if width is None or not weights else width * 0.5


#: The verdict, the difference and half of its interval's width; None while it is too early.
Said = tuple[str, float, float] | None


def now(logs: dict[str, Log]) -> dict[str, Said]:
    """The product's estimate."""
    report = uplift_report(row for log in logs.values() for row in log.rows)
    return {
        one.insight or "": None if one.difference is None or one.half_width is None else (
            one.verdict, one.difference, one.half_width
        )
        for one in report.insights
    }  # fmt: skip


def before(logs: dict[str, Log]) -> dict[str, Said]:
    """Inverse weights with Kish's effective numbers, as until November 2026."""
    arms: dict[str, list[tuple[float, float]]] = {}
    for name, log in logs.items():
        sides = [[one for one in log.rows if one.fate == fate] for fate in ("given", "withheld")]
        if min(map(len, sides)) >= LEAST_BEFORE:
            arms[name] = [_weighted(side) for side in sides]
    chances = [_score_test(*arms[name]) for name in arms]
    said: dict[str, Said] = dict.fromkeys(logs)
    for (name, (given, withheld)), q in zip(arms.items(), q_values(chances), strict=True):
        interval = newcombe_interval((given[0] * given[1], withheld[0] * withheld[1]), (given[1], withheld[1]))
        difference = given[0] - withheld[0]
        verdict = "could be chance" if q > 0.10 else "helps" if difference > 0 else "harms"
        said[name] = verdict, difference, (interval.high - interval.low) / 2
    return said


def _weighted(rows: Sequence[Exposure]) -> tuple[float, float]:
    weights = [1 / (one.propensity if one.fate == "withheld" else 1 - one.propensity) for one in rows]
    won = math.fsum(weight for weight, one in zip(weights, rows, strict=True) if one.succeeded)
    return won / math.fsum(weights), math.fsum(weights) ** 2 / math.fsum(weight**2 for weight in weights)


def _score_test(given: tuple[float, float], withheld: tuple[float, float]) -> float:
    both = (given[0] * given[1] + withheld[0] * withheld[1]) / (given[1] + withheld[1])
    error = math.sqrt(both * (1 - both) * (1 / given[1] + 1 / withheld[1]))
    return 2 * NormalDist().cdf(-abs(given[0] - withheld[0]) / error) if error else 1.0


def _found(name: str, log: Log, said: Said, bases: dict[str, float]) -> Found:
    effectiveness = NEUTRAL
    for outcome in log.shown:
        effectiveness = ema(effectiveness, float(outcome))
    won, uses = sum(log.shown), len(log.shown)
    verdict, difference, width = said or ("too early", math.nan, math.nan)
    estimates = {
        "effectiveness": effectiveness,
        "lifetime": lifetime_rate(won, uses, base=sum(bases.values()) / len(bases)),
        "Wilson low": wilson_interval(won, uses).low,
        "uplift": 0.0 if math.isnan(difference) else difference,
    }
    held = None if math.isnan(difference) else abs(difference - EFFECTS[name]) <= width
    return Found(EFFECTS[name], verdict, held, estimates)


def report(worlds: int, share: float) -> None:
    """Print both tables."""
    print(f"{worlds} worlds, {share:.0%} withheld, base {BASE:.0%}")
    for by_kind, weights in ((False, True), (False, False), (True, False)):
        looks: dict[int, list[Found]] = defaultdict(list)
        for seed in range(worlds):
            for look, rows in world(seed, share=share, weights=weights, by_kind=by_kind).items():
                looks[look] += rows
        print("\nweights (before)" if weights else "\nstrata (now)" + (", each insight its own kind of task" * by_kind))
        for look, rows in looks.items():
            print(f"  {look:5} tasks: {_calls(rows)}; order by {_orders(rows)}", flush=True)


def _calls(rows: Sequence[Found]) -> str:
    good = [one for one in rows if one.effect > 0]
    bad = [one for one in rows if one.effect < 0]
    idle = [one for one in rows if not one.effect]
    wrong = sum(one.verdict == "harms" for one in good) + sum(one.verdict == "helps" for one in bad)
    held = [one.held for one in rows if one.held is not None]
    return (
        f"+10 found {sum(one.verdict == 'helps' for one in good)} of {len(good)}, "
        f"-10 found {sum(one.verdict == 'harms' for one in bad)} of {len(bad)}, wrong sign {wrong}, "
        f"idle called {sum(one.verdict in {'helps', 'harms'} for one in idle)} of {len(idle)}, "
        f"intervals hold {sum(held)} of {len(held)}"
    )


def _orders(rows: Sequence[Found]) -> str:
    truth = [one.effect for one in rows]
    every = {name: [one.estimates[name] for one in rows] for name in rows[0].estimates}
    return ", ".join(
        f"{name} {rank_correlation(values, truth):.2f}" if len(set(values)) > 1 else f"{name} too early"
        for name, values in every.items()
    )
