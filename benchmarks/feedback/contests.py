"""One policy in one world, task after task, and what came of it."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean, stdev
from typing import TYPE_CHECKING, NamedTuple

import policies
from advice import World, tasks
from policies import Oracle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advice import Task

LAST = 1000


class Contestant(NamedTuple):
    """A policy by the names of its class and of how it attributes, so that another process can make it."""

    policy: str
    attributing: str = ""

    def policy_for(self, seed: int) -> policies.Policy:
        make = getattr(policies, self.policy)
        made: policies.Policy = make(seed, getattr(policies, self.attributing)) if self.attributing else make()
        return made


class Run(NamedTuple):
    """The chance of success over the last tasks, what was lost to the oracle early and in all, and harm handed over."""

    final: float
    early_regret: float
    regret: float
    harmful: float


class Figure(NamedTuple):
    """A mean over runs and its standard error."""

    mean: float
    error: float


class Job(NamedTuple):
    """All contestants in one world, which is made once."""

    contestants: tuple[Contestant, ...]
    world: World
    length: int


def run_all(job: Job) -> list[Run]:
    made = list(tasks(job.world, job.length))
    oracle = Oracle()
    best = [task.chance(oracle.choose(task)) for task in made]
    return [run(one.policy_for(job.world.seed), made, best) for one in job.contestants]


def run(policy: policies.Policy, made: Sequence[Task], best: Sequence[float]) -> Run:
    """Chances of success are summed, not outcomes: the same on average, with less noise."""
    chances, harmful, handed = [], 0, 0
    for task in made:
        given = policy.choose(task)
        chance = task.chance(given)
        policy.learn(task, given, succeeded=task.luck < chance)
        chances.append(chance)
        harmful += sum(task.effects[n] < 0 for n in given)
        handed += len(given)
    lost = [most - chance for most, chance in zip(best, chances, strict=True)]
    return Run(fmean(chances[-LAST:]), sum(lost[:LAST]), sum(lost), harmful / max(1, handed))


def compete(
    contestants: Iterable[Contestant], *, kind: World, seeds: int, count: int
) -> list[tuple[Figure, Figure, Figure, Figure]]:
    """The figures of each contestant, all of them in the same worlds."""
    entered = tuple(contestants)
    with ProcessPoolExecutor() as pool:
        done = list(pool.map(run_all, [Job(entered, world, count) for world in kind.seeded(seeds)]))
    return [_figures(of_one) for of_one in zip(*done, strict=True)]


def _figures(done: Sequence[Run]) -> tuple[Figure, Figure, Figure, Figure]:
    final, early, regret, harmful = (figure(column) for column in zip(*done, strict=True))
    return final, early, regret, harmful


def figure(values: Sequence[float]) -> Figure:
    return Figure(fmean(values), stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan)
