"""What comparisons get right in worlds with the faults of real logs, over success rates and numbers of sessions.

*Found* are rows called associated; *picked* are those called associated or provisional. *Last* are steps that mostly
end their sessions, which are counted and not compared; *real* are those of them that matter.

A line is a cell: a fault, a success rate, a number of sessions, and as many worlds as give the wanted number of
intervals. Standard errors are over worlds, since the rows of one world share their sessions. *Early* worlds compare
nothing, for want of either outcome, and have no interval. Where nearly all worlds are early, the cell says so instead.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from lifelike import FAULTS, HELP, HIDDEN, HURT, Fault, Lifelike, draw, make

from helix_graph.causality.effects import effect_report
from helix_graph.causality.hypotheses import LEAST_SHARE, LEAST_USES
from helix_graph.graph.observations import without_copies
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lifelike import Made
    from numpy.typing import NDArray

    from helix_graph.graph.patterns import Effect, EffectReport

#: Where after so many worlds fewer than this share compared anything, no more are made: of 50 sessions at 98 % success
#: one in many thousands would.
TRIED, SELDOM = 4000, 1 / 200
#: At once, so that the processes have something to do.
BATCH = 32
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
    last: int = 0
    last_real: int = 0
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
    drawn = draw(world)
    if drawn.rarer < max(
        LEAST_USES, round(LEAST_SHARE * world.sessions)
    ):  # nothing would be compared, and writing the sessions takes most of the time
        return Counts(early=1)
    if world.fault != "reaction" and drawn.done.sum(axis=0).max() < LEAST_USES:  # nothing is done often enough
        return Counts(effects=HURT + HELP)
    made = make(world, drawn)
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
        last=sum(one.kind == "action" for one in report.last),
        last_real=sum(one.kind == "action" and one.action in made.effects for one in report.last),
    )


def truth(one: Effect, effects: dict[str, float]) -> float:
    """What is done next has its own effect; doing something again has none."""
    return effects.get(one.action.removeprefix("then "), 0.0) if one.kind in {"action", "sequence"} else 0.0


def holds(one: Effect, effects: dict[str, float]) -> bool:
    return one.interval.low <= truth(one, effects) <= one.interval.high


def _share_of(worlds: Sequence[Counts], part: str, whole: str) -> Share:
    return share(worlds, lambda one: getattr(one, part), lambda one: getattr(one, whole))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What came of the worlds of one cell."""

    fault: Fault
    success: float
    sessions: int
    worlds: Sequence[Counts]

    def share(self, part: str, whole: str) -> Share:
        """The share that two fields of `Counts` make."""
        return _share_of(self.worlds, part, whole)

    @property
    def rate_of_worlds(self) -> Share:
        """The rate of Benjamini and Hochberg: the mean of the shares of worlds, 0 where nothing was found."""
        return share(self.worlds, lambda one: one.false / max(one.found, 1), lambda _: 1)

    @property
    def early(self) -> int:
        """In how many worlds nothing was compared."""
        return sum(one.early for one in self.worlds)

    @property
    def comparing(self) -> int:
        """In how many worlds any step is compared."""
        return sum(one.intervals > 0 for one in self.worlds)

    @property
    def seldom(self) -> bool:
        """Whether hardly any world compares anything."""
        return len(self.worlds) >= TRIED and self.comparing < SELDOM * len(self.worlds)


def report(
    *, faults: Sequence[Fault], success: Sequence[float], sessions: Sequence[int], intervals: int, seed: int
) -> None:
    """Print the table of cells, and the worst of each column; worlds have the seeds from ``seed`` on."""
    for head in (
        ("fault", "rate", "n", "worlds", "early", "false of found", "intervals that hold", "… of picked rows"),
        ("", "", "", "last", "real", "true effects found", "… or provisional", "false discovery rate"),
    ):
        print(_line(*head))
    cells = []
    with ProcessPoolExecutor(max_workers=_workers()) as pool:
        for fault, rate, count in product(faults, success, sessions):
            worlds: list[Counts] = []
            cell = Cell(fault=fault, success=rate, sessions=count, worlds=worlds)
            while sum(one.intervals for one in worlds) < intervals and not cell.seldom:
                first = seed + 1_000_000 * FAULTS.index(fault) + len(worlds)
                batch = [
                    Lifelike(fault=fault, success=rate, sessions=count, seed=first + number) for number in range(BATCH)
                ]
                worlds += pool.map(look, batch, chunksize=8)
            cells.append(cell)
            for line in _lines(cell):
                print(line, flush=True)
    _tell_worst([cell for cell in cells if not cell.seldom])


def _lines(cell: Cell) -> Iterator[str]:
    name = f"{cell.fault} *" if cell.fault in HIDDEN else cell.fault
    head = name, f"{cell.success:.2f}", str(cell.sessions), str(len(cell.worlds)), str(cell.early)
    ranges = sum(one.intervals for one in cell.worlds)
    if cell.seldom:
        most = wilson_interval(cell.comparing, len(cell.worlds)).high
        yield _line(*head, f"nearly always too early: {ranges} ranges; at most 1 world in {1 / most:.0f} has any")
        return
    yield _line(
        *head,
        str(cell.share("false", "found")),
        str(cell.share("held", "intervals")),
        str(cell.share("picked_held", "picked")),
    )
    last, real = (str(sum(getattr(one, field) for one in cell.worlds)) for field in ("last", "last_real"))
    power, shown = cell.share("recovered", "effects"), cell.share("shown", "effects")
    yield _line("", "", "", last, real, str(power), str(shown), str(cell.rate_of_worlds))


#: A share of fewer rows says nothing of its own cell.
_ENOUGH_ROWS = 20


def _tell_worst(cells: Sequence[Cell]) -> None:
    """Print the worst cell of each column, and each sum over faults that a log shows and over those that none does."""
    for hidden in (False, True):
        some = [cell for cell in cells if (cell.fault in HIDDEN) == hidden]
        print("\nHidden from the log:" if hidden else "\nShown by the log:")
        for name, part, whole, sign in (
            ("false of found", "false", "found", 1),
            ("intervals that hold", "held", "intervals", -1),
            ("… of picked rows", "picked_held", "picked", -1),
        ):
            everything = _share_of([one for cell in some for one in cell.worlds], part, whole)
            enough = [cell for cell in some if cell.share(part, whole).of >= _ENOUGH_ROWS]
            values = [(-sign * cell.share(part, whole).value, place) for place, cell in enumerate(enough)]
            print(f"{name}: over all cells {everything}; of {len(some)} cells {len(enough)} with {_ENOUGH_ROWS} rows")
            for cell in [enough[place] for _, place in sorted(values)[:3]]:
                print(f"    {cell.fault} {cell.success:.2f} {cell.sessions}: {cell.share(part, whole)}")
        if some:
            worst = max(some, key=lambda cell: cell.rate_of_worlds.value)
            print(f"false discovery rate: {worst.fault} {worst.success:.2f} {worst.sessions}: {worst.rate_of_worlds}")


def _line(*cells: str) -> str:
    widths = (12, 5, 5, 7, 6, 24, 24, 24)[: len(cells)]
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _workers() -> int:
    return max(1, (os.cpu_count() or 2) // 2)


class Watched(NamedTuple):
    """Of one world in which nothing matters: at which looks something was associated, and at which provisional."""

    associated: tuple[bool, ...]
    provisional: tuple[bool, ...]


def watch(world: Lifelike) -> Watched:
    """The looks at a growing memory."""
    trials = make(world, draw(world)).trials
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
