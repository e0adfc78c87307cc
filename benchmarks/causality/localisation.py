"""How often the first suspect of a failed session is one that made it fail, in worlds whose truth is known.

The comparisons come from one set of sessions, the failures from another of the same world. A step made a session fail
when leaving it out alone, with the same luck, would have made it succeed. Ours stands beside a random step, the first
step, the step before the first error, the best constant place, and the order of plain success rates, which is the
original's rule and, as an order, the same as Tarantula's. Printed: how often the first is right (top-1) and the mean of
1 / place of the first right one.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from world import World, sessions

from helix_graph.causality.effects import effect_report
from helix_graph.causality.fault_localization import suspects_of
from helix_graph.graph.node_labels import decision_key
from helix_graph.graph.observations import trial_of
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from world import Session

    from helix_graph.graph.observations import Trial

Order = list[str]


def report(worlds: int, count: int) -> None:
    """Print the table."""
    ranks: dict[str, list[int | None]] = {}
    for seed in range(worlds):
        world = World(seed=seed)
        made = sessions(world, count + count // 2)
        for name, rank in _ranks(world, made[:count], made[count:]):
            ranks.setdefault(name, []).append(rank)
    print(f"localisation: {worlds} worlds, comparisons from {count} sessions each, failures from {count // 2} others")
    for name, found in ranks.items():
        first = sum(rank == 1 for rank in found)
        interval = wilson_interval(first, len(found))
        mean = sum(1 / rank for rank in found if rank) / len(found)
        print(
            f"  {name:38} top-1 {first / len(found):.3f} ({interval.low:.3f} to {interval.high:.3f}), "
            f"1/place {mean:.3f}, n {len(found)}"
        )


def _ranks(world: World, known: list[Session], fresh: list[Session]) -> list[tuple[str, int | None]]:
    trials = [trial_of(one.episode) for one in known]
    effects = {one.action: one for one in effect_report(trials).effects if one.kind == "action"}
    rates = _plain_rates(trials)
    source = random.Random(world.seed)  # noqa: S311  (repeatable, not secret)
    found = []
    for one in fresh:
        guilty = {f"run {name}" for name in one.culprits(world)}
        if guilty:
            steps = [decision_key(decision) for decision in one.episode.decisions]
            ours = [suspect.label for suspect in suspects_of(one.episode, effects=effects, others=trials)]
            orders = {"ours": ours, **_baselines(one, steps, rates, source)}
            found += [(name, _place(order, guilty)) for name, order in orders.items()]
    return found


def _baselines(one: Session, steps: Order, rates: dict[str, float], source: random.Random) -> dict[str, Order]:
    orders = {
        "random step": source.sample(steps, len(steps)),
        "first step": steps,
        "step before the first error": _before_first_error(one, steps),
        "plain success rate (Tarantula)": sorted(steps, key=lambda label: rates.get(label, 1.0)),
    }
    for tenth in (2, 5, 8):
        start = len(steps) * tenth // 10
        orders[f"constant place: {tenth} tenths in"] = steps[start:] + steps[:start]
    return orders


def _before_first_error(one: Session, steps: Order) -> Order:
    lines = [event.evidence.line for event in one.episode.events if event.evidence]
    before = [
        place
        for place, decision in enumerate(one.episode.decisions)
        if lines and decision.evidence and decision.evidence.line < min(lines)
    ]
    start = before[-1] if before else 0
    return steps[start:] + steps[:start]


def _plain_rates(trials: list[Trial]) -> dict[str, float]:
    uses: Counter[str] = Counter()
    well: Counter[str] = Counter()
    for trial in trials:
        for label in {step.label for step in trial.steps}:
            uses[label] += 1
            well[label] += trial.success is True
    return {label: well[label] / uses[label] for label in uses}


def _place(order: Order, guilty: set[str]) -> int | None:
    return next((place for place, label in enumerate(order, 1) if label in guilty), None)
