"""What estimates say of logs whose truth is known: logs by lot, and logs of a memory that withholds one in ten."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from advice import INSIGHTS, World, tasks
from msgspec.structs import replace
from policies import Relevance, Seed, by_text, by_uptake

from helix_graph.insights.attribution import AttributionSignals, attribute
from helix_graph.insights.holdout import Exposure, HoldoutCandidate, count_exposures, uniform_draw, withhold
from helix_graph.insights.scoring import causal_adjusted
from helix_graph.insights.uplift import Uplift, belief, pooled_uplift, success_rate, uplift_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advice import Task
    from numpy.typing import NDArray

#: A path's strength, where there is one: between the weights of a stated link (0.6) and one stated from both ends.
STRENGTH_OF_PATH = 0.6


class Lots(NamedTuple):
    """A log in which each insight of the topic was handed over by a coin's toss; truth by insight."""

    rows: list[Exposure]
    truth: dict[str, float]
    helps: dict[str, float]
    seed: Seed
    places: dict[str, tuple[int, int]]


def by_coin(world: World, count: int) -> Lots:
    """Each insight by a coin's toss.

    The truth of an insight is how much handing it over changed the chance of success, over the tasks of its topic,
    everything else as it was.
    """
    rows: list[Exposure] = []
    changes: dict[str, list[float]] = defaultdict(list)
    helps: dict[str, float] = {}
    seed, places = Seed(world.seed, by_text), {}
    for task in tasks(world, count):
        given = tuple(
            n for n in range(INSIGHTS) if uniform_draw("coin", str(world.seed), str(task.number), task.name(n)) < 0.5
        )
        succeeded = task.luck < task.chance(given)
        seed.learn(task, given, succeeded=succeeded)
        for n in range(INSIGHTS):
            name = task.name(n)
            rows.append(delivery(task, n, given=n in given, propensity=0.5, succeeded=succeeded))
            changes[name].append(change(task, given, n))
            helps[name], places[name] = task.effects[n], (task.topic, n)
    return Lots(rows, {name: fmean(made) for name, made in changes.items()}, helps, seed, places)


def change(task: Task, given: tuple[int, ...], n: int) -> float:
    """In the chance of success, by handing it over."""
    others = tuple(one for one in given if one != n)
    return task.chance((*others, n)) - task.chance(others)


def delivery(task: Task, n: int, *, given: bool, propensity: float, succeeded: bool) -> Exposure:
    return Exposure(
        insight=task.name(n),
        injection=str(task.number),
        fate="given" if given else "withheld",
        propensity=propensity,
        succeeded=succeeded,
        taken_up=by_uptake(task, n) if given else None,
    )


class Static(NamedTuple):
    """What is made of insights that do nothing, how estimates order all, and how many intervals hold the truth."""

    effectiveness: float
    adjusted: float
    handed_over: float
    as_treated: float
    per_taker: float
    note: str
    order_of_seed: float
    order_of_difference: float
    order_of_belief: float
    held: int
    intervals: int


def static(world: World, count: int) -> Static:
    log = by_coin(world, count)
    names = sorted(log.truth)
    found = [one for one in uplift_report(log.rows).insights if one.difference is not None]
    idle = [name for name in names if not log.helps[name]]
    takers = _idle_takers(log)
    truth = [log.truth[name] for name in names]
    beliefs, base = count_exposures(log.rows), success_rate(log.rows)
    return Static(
        effectiveness=fmean(_effectiveness(log, name) for name in idle),
        adjusted=fmean(_adjusted(log, name) for name in idle),
        handed_over=fmean(one.difference or 0.0 for one in found if one.insight in idle),
        as_treated=takers[0],
        per_taker=takers[1],
        note=takers[2],
        order_of_seed=rank_correlation([_adjusted(log, name) for name in names], truth),
        order_of_difference=rank_correlation(
            [one.difference or 0.0 for one in found], [log.truth[one.insight or ""] for one in found]
        ),
        order_of_belief=rank_correlation([belief(beliefs[name], base=base).mean for name in names], truth),
        held=sum(_holds(one, log.truth[one.insight or ""]) for one in found),
        intervals=len(found),
    )


def _idle_takers(log: Lots) -> tuple[float, float, str]:
    """As-treated, per taker and the note for all insights that do nothing, under one name."""
    rows = [_renamed(one) for one in log.rows if not log.helps[one.insight]]
    takers = uplift_report(rows).insights[0].takers
    assert takers is not None
    return takers.as_treated, takers.per_taker, takers.note


def _renamed(one: Exposure) -> Exposure:
    return Exposure(
        insight="idle",
        injection=f"{one.injection} {one.insight}",
        fate=one.fate,
        propensity=one.propensity,
        succeeded=one.succeeded,
        taken_up=one.taken_up,
    )


def _effectiveness(log: Lots, name: str) -> float:
    topic, n = log.places[name]
    return log.seed.effectiveness[topic][n]


def _adjusted(log: Lots, name: str) -> float:
    topic, n = log.places[name]
    return causal_adjusted(
        log.seed.effectiveness[topic][n], causal_hits=log.seed.hits[topic][n], use_count=log.seed.uses[topic][n]
    )


def _holds(one: Uplift, truth: float) -> bool:
    return one.interval is not None and one.interval.low <= truth <= one.interval.high


class Pooled(NamedTuple):
    """An estimate for all insights, the truth, and whether the interval held it."""

    estimate: float
    truth: float
    held: bool


def pooled(world: World, count: int) -> Pooled:
    """What is made of a memory that hands over the most relevant and withholds one in ten; truth over its rows."""
    rows, changes = [], []
    policy = Relevance()
    for task in tasks(world, count):
        chosen = policy.choose(task)
        lots = withhold(
            [HoldoutCandidate(insight=task.name(n)) for n in chosen],
            injection=str(task.number),
            salt=f"world {world.seed}",
        )
        given = tuple(n for n, one in zip(chosen, lots, strict=True) if not one.withheld)
        succeeded = task.luck < task.chance(given)
        for n, one in zip(chosen, lots, strict=True):
            rows.append(delivery(task, n, given=n in given, propensity=one.propensity, succeeded=succeeded))
            changes.append(change(task, given, n))
    found, truth = pooled_uplift(rows), fmean(changes)
    return Pooled(found.difference or 0.0, truth, _holds(found, truth))


class Verdicts(NamedTuple):
    """How well verdicts on single tasks find the insights that changed the outcome: precision, recall, and the AUC."""

    base: float
    text: tuple[float, float]
    path: tuple[float, float]
    both: tuple[float, float]
    auc_text: float
    auc_score: float


def verdicts(world: World, count: int) -> Verdicts:
    """An insight changed the outcome if, with the same luck, the task had come out otherwise without it."""
    policy = Relevance()
    signs, changed = [], []
    for task in tasks(world, count):
        given = policy.choose(task)
        came_out = task.luck < task.chance(given)
        for n in given:
            path = STRENGTH_OF_PATH * task.path[n]
            signs.append(AttributionSignals(cosine=task.cosine[n], linked=True, taken_up=task.takes[n], path=path))
            changed.append(came_out != (task.luck < task.chance(tuple(one for one in given if one != n))))
    truth = np.array(changed)
    by_cosine = [attribute(replace(one, linked=False)).causal for one in signs]
    return Verdicts(
        base=float(truth.mean()),
        text=_quality(by_cosine, truth),
        path=_quality([one.taken_up and one.path > 0 for one in signs], truth),
        both=_quality([one.path > 0 and close for one, close in zip(signs, by_cosine, strict=True)], truth),
        auc_text=auc(np.array([one.cosine or 0.0 for one in signs]), truth),
        auc_score=auc(np.array([attribute(one).score or 0.0 for one in signs]), truth),
    )


def _quality(said: Sequence[bool], truth: NDArray[np.bool_]) -> tuple[float, float]:
    given = np.array(said)
    right = float((given & truth).sum())
    return right / float(given.sum()), right / float(truth.sum())


def auc(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The chance that one that is true has a higher score than one that is not (ties half)."""
    ranks = _ranks(scores)
    true = int(truth.sum())
    return (float(ranks[truth].sum()) - true * (true + 1) / 2) / (true * (len(truth) - true))


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's."""
    return float(np.corrcoef(_ranks(np.array(one)), _ranks(np.array(other)))[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From 1; those alike share the middle of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middles: NDArray[np.float64] = ends - (counts - 1) / 2
    return middles[places]
