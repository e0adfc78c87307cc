"""What comparisons get right in worlds with the faults of real logs, over success rates and numbers of sessions.

*Found* are rows called associated; *picked* are those called associated or provisional.

A line is a cell: a fault, a success rate, a number of sessions, and as many worlds as give the wanted number of
intervals. Standard errors are over worlds, since the rows of one world share their sessions. *Early* worlds compare
nothing, for want of either outcome, and have no interval.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from lifelike import HIDDEN, Fault, Lifelike, make

from helix_graph.causality.effects import effect_report
from helix_graph.graph.observations import without_copies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lifelike import Made
    from numpy.typing import NDArray

    from helix_graph.graph.patterns import Effect, EffectReport

#: At most so many worlds a cell: of 50 sessions at 98 % success hardly any compares anything.
MOST_WORLDS = 400
LOOKS = tuple(range(100, 1100, 100))


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What came of one world; every field is a number of rows."""

    intervals: int = 0
    held: int = 0
    picked: int = 0
    picked_held: int = 0
    found: int = 0
    false: int = 0
    effects: int = 0
    recovered: int = 0
    shown: int = 0
    early: int = 0


class Share(NamedTuple):
    """A share with its standard error over worlds, and the number that it is a share of."""

    value: float
    error: float
    of: int

    def __str__(self) -> str:
        return f"{self.value:.3f} ±{self.error:.3f} ({self.of})" if self.of else "-"


def share(worlds: Sequence[Counts], part: Callable[[Counts], float], whole: Callable[[Counts], float]) -> Share:
    """The share over all worlds; the error is that of a ratio of sums over independent worlds."""
    parts, wholes = np.array([part(one) for one in worlds]), np.array([whole(one) for one in worlds])
    total = wholes.sum()
    if not total:
        return Share(0.0, 0.0, 0)
    value = float(parts.sum() / total)
    return Share(value, float(math.sqrt(((parts - value * wholes) ** 2).sum()) / total), int(total))


def look(world: Lifelike) -> Counts:
    """One world, counted."""
    made = make(world)
    report = effect_report(without_copies(made.trials))
    if report.too_early:
        return Counts(early=1)
    return _counted(made, report)


def _counted(made: Made, report: EffectReport) -> Counts:
    actions = [one for one in report.effects if one.kind == "action"]
    standing = [one for one in actions if one.verdict in {"associated", "provisional"}]
    found = report.associated()
    right = {one.action: one.verdict for one in standing if truth(one, made.effects) * one.difference > 0}
    return Counts(
        intervals=len(actions),
        held=sum(holds(one, made.known) for one in actions),
        picked=len(standing),
        picked_held=sum(holds(one, made.known) for one in standing),
        found=len(found),
        false=sum(truth(one, made.effects) * one.difference <= 0 for one in found),
        effects=len(made.effects),
        recovered=sum(verdict == "associated" for verdict in right.values()),
        shown=len(right),
    )


def truth(one: Effect, effects: dict[str, float]) -> float:
    """What is done next has its own effect; doing something again has none."""
    return effects.get(one.action.removeprefix("then "), 0.0) if one.kind in {"action", "sequence"} else 0.0


def holds(one: Effect, effects: dict[str, float]) -> bool:
    return one.interval.low <= truth(one, effects) <= one.interval.high


def report(*, faults: Sequence[Fault], success: Sequence[float], sessions: Sequence[int], intervals: int) -> None:
    """Print the table of cells."""
    for head in (
        ("fault", "rate", "n", "worlds", "early", "false of found", "intervals that hold", "… of picked rows"),
        ("", "", "", "", "", "true effects found", "… or provisional", "false discovery rate"),
    ):
        print(_line(*head))
    with ProcessPoolExecutor(max_workers=_workers()) as pool:
        for fault, rate, count in product(faults, success, sessions):
            worlds: list[Counts] = []
            while sum(one.intervals for one in worlds) < intervals and len(worlds) < MOST_WORLDS:
                first = 1000 * len(worlds)
                batch = [
                    Lifelike(fault=fault, success=rate, sessions=count, seed=first + number) for number in range(8)
                ]
                worlds += pool.map(look, batch)
            for line in _lines(fault, rate, count, worlds):
                print(line, flush=True)


def _lines(fault: Fault, rate: float, count: int, worlds: Sequence[Counts]) -> Iterator[str]:
    false = share(worlds, lambda one: one.false, lambda one: one.found)
    held = share(worlds, lambda one: one.held, lambda one: one.intervals)
    picked = share(worlds, lambda one: one.picked_held, lambda one: one.picked)
    power = share(worlds, lambda one: one.recovered, lambda one: one.effects)
    shown = share(worlds, lambda one: one.shown, lambda one: one.effects)
    # The rate of Benjamini and Hochberg: the mean of the shares of worlds, 0 where nothing was found.
    rate_of_worlds = share(worlds, lambda one: one.false / max(one.found, 1), lambda _: 1)
    early = sum(one.early for one in worlds)
    name = f"{fault} *" if fault in HIDDEN else fault
    yield _line(name, f"{rate:.2f}", str(count), str(len(worlds)), str(early), str(false), str(held), str(picked))
    yield _line("", "", "", "", "", str(power), str(shown), str(rate_of_worlds))


def _line(*cells: str) -> str:
    widths = (12, 5, 5, 7, 6, 24, 24, 24)
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _workers() -> int:
    return max(1, (os.cpu_count() or 2) // 2)


class Watched(NamedTuple):
    """Of one world in which nothing matters: at which looks something was associated, and at which provisional."""

    associated: tuple[bool, ...]
    provisional: tuple[bool, ...]


def watch(world: Lifelike) -> Watched:
    """The looks at a growing memory."""
    trials = make(world).trials
    reports = [effect_report(trials[:count]) for count in LOOKS if count <= len(trials)]
    said = [{one.verdict for one in each.effects} for each in reports]
    return Watched(
        tuple("associated" in one for one in said), tuple(bool({"associated", "provisional"} & one) for one in said)
    )


def looks(*, success: Sequence[float], worlds: int) -> None:
    """Print how often something is found where nothing matters, at one look and over ten."""
    print(f"\nNothing matters; looked at {len(LOOKS)} times, from {LOOKS[0]} to {LOOKS[-1]} sessions")
    with ProcessPoolExecutor(max_workers=_workers()) as pool:
        for rate in success:
            noise = [
                Lifelike(fault="none", success=rate, sessions=LOOKS[-1], seed=50_000 + seed, matters=False)
                for seed in range(worlds)
            ]
            seen = list(pool.map(watch, noise))
            for name, of in (("associated", 0), ("associated or provisional", 1)):
                each = np.array([one[of] for one in seen], dtype=np.float64)
                ever, per_look = each.max(axis=1), each.mean(axis=1)
                print(
                    f"success {rate:.2f}: {name:26} per look {per_look.mean():.3f} ±{_error(per_look):.3f}, "
                    f"over {len(LOOKS)} looks {ever.mean():.3f} ±{_error(ever):.3f} ({worlds} worlds)",
                    flush=True,
                )


def _error(values: NDArray[np.float64]) -> float:
    return float(values.std() / math.sqrt(len(values)))
