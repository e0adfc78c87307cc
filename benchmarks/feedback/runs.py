"""One policy in one world, task after task, and what came of it."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from statistics import fmean, stdev
from typing import TYPE_CHECKING, NamedTuple

import policies
from policies import Oracle
from world import World, tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    contestant: Contestant
    world: World
    count: int


def run(job: Job) -> Run:
    """Chances of success are summed, not outcomes: the same on average, with less noise."""
    policy, oracle = job.contestant.policy_for(job.world.seed), Oracle()
    chances, regrets, harmful, handed = [], [], 0, 0
    for task in tasks(job.world, job.count):
        given = policy.choose(task)
        chance = task.chance(given)
        policy.learn(task, given, succeeded=task.luck < chance)
        chances.append(chance)
        regrets.append(task.chance(oracle.choose(task)) - chance)
        harmful += sum(task.effects[n] < 0 for n in given)
        handed += len(given)
    return Run(fmean(chances[-LAST:]), sum(regrets[:LAST]), sum(regrets), harmful / max(1, handed))


def compete(
    contestants: Iterable[Contestant], *, kind: World, seeds: int, count: int
) -> list[tuple[Figure, Figure, Figure, Figure]]:
    """The figures of each contestant, all of them in the same worlds."""
    jobs = [Job(one, kind._replace(seed=seed), count) for one in contestants for seed in range(seeds)]
    with ProcessPoolExecutor() as pool:
        done = list(pool.map(run, jobs, chunksize=1))
    return [_figures(done[start : start + seeds]) for start in range(0, len(done), seeds)]


def _figures(done: Sequence[Run]) -> tuple[Figure, Figure, Figure, Figure]:
    final, early, regret, harmful = (figure(column) for column in zip(*done, strict=True))
    return final, early, regret, harmful


def figure(values: Sequence[float]) -> Figure:
    return Figure(fmean(values), stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan)
