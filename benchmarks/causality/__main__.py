"""What the comparisons find in worlds whose truth is known.

    python benchmarks/causality [PART …] [--worlds 20] [--sessions 1000] [--intervals 2000]

The parts, all of them unless some are named:

- ``episodes``: worlds of whole episodes, with links between steps (`world`). For each kind of world: the share of
  findings that are false (wanted at most 0.12), the share of true effects found, the share of intervals that hold the
  truth, over all comparisons and over those picked (0.92), and how often anything is found after outcomes were shuffled
  (0.15). Beside them, on the same sessions, the same comparisons and correction without strata.
- ``lifelike``: worlds with one fault of real logs each, over success rates and numbers of sessions, with at least
  ``--intervals`` intervals a cell and standard errors over worlds. ``--faults``, ``--success`` and ``--counts`` choose.
- ``looks``: how often anything is found where nothing matters, at one look and over ten, in ``--noise`` worlds.
- ``localisation`` and ``timing``.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

import grid
import localisation
import timing
from lifelike import FAULTS
from world import World, sessions, true_effects

from helix_graph.causality.edge_support import claims_of
from helix_graph.causality.effects import FALSE_DISCOVERY_RATE, effect_report, placebo
from helix_graph.causality.hypotheses import TrialMatrix, hypotheses
from helix_graph.graph.observations import Trial, trial_of
from helix_graph.stats.intervals import q_values, wilson_interval
from helix_graph.stats.strata import chances, tables_of

if TYPE_CHECKING:
    from helix_graph.graph.patterns import Effect

KINDS = {
    "plain": World(seed=0),
    "no claims in the log": World(seed=0, claims_told=0.0, false_claims=0.0),
    "false claims only": World(seed=0, claims_told=0.0, false_claims=6.0),
    "a tenth of outcomes wrong": World(seed=0, flipped_outcomes=0.1),
    "hidden circumstance, weak": World(seed=0, hidden=0.8),
    "hidden circumstance, strong": World(seed=0, hidden=2.0),
}
PARTS = ("episodes", "lifelike", "looks", "localisation", "timing")
#: Shuffles of each world; with 20 worlds that is a hundred reports on noise.
ROUNDS = 5


@dataclass
class Tally:
    """Counts over the worlds of one kind."""

    found: int = 0
    false: int = 0
    true: int = 0
    recovered: int = 0
    intervals: Counter[bool] = field(default_factory=Counter)
    picked: Counter[bool] = field(default_factory=Counter)
    noise: Counter[bool] = field(default_factory=Counter)
    claims: Counter[tuple[str, bool]] = field(default_factory=Counter)
    crude: Counter[bool] = field(default_factory=Counter)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[], metavar="PART")
    options.add_argument("--worlds", type=int, default=20)
    options.add_argument("--sessions", type=int, default=1000)
    options.add_argument("--intervals", type=int, default=2000)
    options.add_argument("--seed", type=int, default=0, help="the first seed of the lifelike worlds")
    options.add_argument("--noise", type=int, default=200)
    options.add_argument("--faults", nargs="*", choices=FAULTS, default=FAULTS)
    options.add_argument("--success", nargs="*", type=float, default=[0.6, 0.87, 0.95, 0.98])
    options.add_argument("--counts", nargs="*", type=int, default=[50, 100, 200, 500, 1000, 5000])
    options.add_argument("--timed", type=int, default=10_000, help="sessions of the memory that is timed")
    given = options.parse_args()
    parts = given.parts or PARTS
    if "episodes" in parts:
        of_episodes(given.worlds, given.sessions)
    if "lifelike" in parts:
        grid.report(
            faults=given.faults,
            success=given.success,
            sessions=given.counts,
            intervals=given.intervals,
            seed=given.seed,
        )
    if "looks" in parts:
        grid.looks(success=given.success, worlds=given.noise)
    if "localisation" in parts:
        localisation.report(min(given.worlds, 5), given.sessions)
    if "timing" in parts:
        timing.report(given.timed)


def of_episodes(worlds: int, count: int) -> None:
    print(f"{worlds} worlds of each kind, {count} sessions in each\n")
    for name, kind in KINDS.items():
        tally = Tally()
        for seed in range(worlds):
            look(reseeded(kind, seed), count, tally, shuffle=kind.hidden == 0)
        tell(name, tally)
    print("order and sharding:", "same bytes" if same_bytes(count) else "DIFFERENT BYTES")


def reseeded(kind: World, seed: int) -> World:
    return World(
        seed=seed,
        hidden=kind.hidden,
        claims_told=kind.claims_told,
        false_claims=kind.false_claims,
        flipped_outcomes=kind.flipped_outcomes,
    )


def look(world: World, count: int, tally: Tally, *, shuffle: bool) -> None:
    made = sessions(world, count)
    trials = [trial_of(one.episode) for one in made]
    truth = {f"run {name}": effect for name, effect in true_effects(world, made).items()}
    report = effect_report(trials)
    for one in report.effects:
        judge(one, truth, tally)
    tally.true += sum(effect != 0 for effect in truth.values())
    if shuffle:
        shuffled = placebo(TrialMatrix(trials), rounds=ROUNDS)
        tally.noise[True] += round(shuffled.any_in_noise * ROUNDS)
        tally.noise[False] += ROUNDS - round(shuffled.any_in_noise * ROUNDS)
    judge_claims(world, trials, tally)
    judge_crude(trials, truth, tally)


def judge(one: Effect, truth: dict[str, float], tally: Tally) -> None:
    real = truth_of(one, truth)
    if one.kind == "action":
        (Counter() if one.verdict == "could be chance" else tally.picked)[holds(one, real)] += 1
        tally.intervals[holds(one, real)] += 1
    if one.verdict == "associated":
        tally.found += 1
        right = real * one.difference > 0
        tally.false += not right
        tally.recovered += right and one.kind == "action"


def truth_of(one: Effect, truth: dict[str, float]) -> float:
    """What is done next has its own effect; doing something again, or ending without a check, has none here."""
    return truth.get(one.action.removeprefix("then "), 0.0) if one.kind in {"action", "sequence"} else 0.0


def holds(one: Effect, real: float) -> bool:
    return one.interval.low <= real <= one.interval.high


def judge_claims(world: World, trials: list[Trial], tally: Tally) -> None:
    real = {(label(world, thing.follows), label(world, thing.name)) for thing in world.things if thing.follows}
    for claim in claims_of(trials).claims:
        tally.claims[claim.status, (claim.source, claim.target) in real] += 1


def label(world: World, name: str) -> str:
    return f"check{name[1:]} fails: Wrong" if name in world.errors else f"run {name}"


def judge_crude(trials: list[Trial], truth: dict[str, float], tally: Tally) -> None:
    """The same comparisons over all sessions at once, as if tasks were alike; the same correction for their number."""
    board = TrialMatrix(trials)
    family = [one for one in hypotheses(board) if one.kind == "action"]
    tables = [tables_of(strata=one.units * 0, exposed=one.exposed, success=one.success) for one in family]
    for direction in (0, 1):
        for one, q in zip(family, q_values([chances(table)[direction] for table in tables]), strict=True):
            if q <= FALSE_DISCOVERY_RATE:
                tally.crude[truth[one.action] * (1 if direction else -1) > 0] += 1


def tell(name: str, tally: Tally) -> None:
    print(name)
    line("false among findings", tally.false, tally.found)
    line("true effects found", tally.recovered, tally.true)
    line("intervals that hold the truth", tally.intervals[True], tally.intervals.total())
    line("… of those picked", tally.picked[True], tally.picked.total())
    if tally.noise:
        line("reports that find anything in noise", tally.noise[True], tally.noise.total())
    supported = tally.claims["supported", True]
    line("supported edges that are true", supported, supported + tally.claims["supported", False])
    line("true claimed edges supported", supported, sum(tally.claims[s, True] for s in STATUSES))
    line("false findings without strata", tally.crude[False], tally.crude.total())
    print()


STATUSES = ("supported", "asserted", "contradicted")


def line(what: str, count: int, total: int) -> None:
    if not total:
        print(f"  {what:38} none")
        return
    interval = wilson_interval(count, total)
    print(f"  {what:38} {count / total:.3f}  ({count} of {total}; {interval.low:.3f} to {interval.high:.3f})")


def same_bytes(count: int) -> bool:
    """Whether a report is the same from any order of the sessions, and from any split of them put together again."""
    trials = [trial_of(one.episode) for one in sessions(World(seed=1), count)]
    mixed = trials[:]
    random.Random(5).shuffle(mixed)  # noqa: S311  (repeatable, not secret)
    shards = [msgspec.json.decode(msgspec.json.encode(mixed[n::3]), type=list[Trial]) for n in range(3)]
    reports = [trials, mixed, [trial for shard in shards for trial in shard]]
    return len({msgspec.json.encode(effect_report(one)) for one in reports}) == 1


if __name__ == "__main__":
    main()
