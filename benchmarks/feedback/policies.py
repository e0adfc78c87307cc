"""The policies that are compared: each chooses what to hand over, and learns from what followed.

All arithmetic is the product's own: `helix_graph.insights`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Protocol

from advice import INSIGHTS, TASKS_A_DAY, TOPICS

from helix_graph.insights.attribution import AttributionSignals, attribute
from helix_graph.insights.holdout import Exposure, ExposureCounts, HoldoutCandidate, add, withhold
from helix_graph.insights.scoring import NEUTRAL, RELEVANCE_GATE, causal_adjusted, ema, erode, recency, score
from helix_graph.insights.uplift import MIDDLE, MOST_RANKED, RELEVANCE_WEIGHT, RankCandidate, belief, rank_by_uplift

if TYPE_CHECKING:
    from collections.abc import Callable

    from advice import Task

    #: What is told of an insight that was handed over: had it a hand in it? None where nobody can tell.
    Attributing = Callable[[Task, int], bool | None]


class Policy(Protocol):
    """Chooses the insights (places within the topic) for a task, and is told whether the task succeeded."""

    def choose(self, task: Task) -> tuple[int, ...]: ...

    def learn(self, task: Task, given: tuple[int, ...], *, succeeded: bool) -> None: ...


def by_text(task: Task, n: int) -> bool:
    """The seed's rule: the cosine with the outcome's text."""
    return attribute(AttributionSignals(cosine=task.cosine[n], linked=False)).causal


def by_path(task: Task, n: int) -> bool:
    """Taken up, and a path leads to the outcome."""
    signs = AttributionSignals(cosine=None, linked=True, taken_up=task.takes[n], path=float(task.path[n]))
    return attribute(signs).causal


def by_uptake(task: Task, n: int) -> bool:
    """Seen to be taken up: never, for an insight without a link."""
    return task.takes[n] and task.linked[n]


def by_nothing(task: Task, n: int) -> None:
    """Handing over is all that counts."""


def by_uptake_or_nothing(task: Task, n: int) -> bool | None:
    """The product's: uptake where it can be seen, handing over elsewhere."""
    return task.takes[n] if task.linked[n] else None


def by_uptake_or_text(task: Task, n: int) -> bool:
    return task.takes[n] if task.linked[n] else by_text(task, n)


def relevant(task: Task) -> list[int]:
    return [n for n in range(INSIGHTS) if task.relevance[n] >= RELEVANCE_GATE]


class Relevance:
    """The most relevant ones; learns nothing."""

    def choose(self, task: Task) -> tuple[int, ...]:
        return tuple(sorted(relevant(task), key=lambda n: -task.relevance[n])[:MOST_RANKED])

    def learn(self, task: Task, given: tuple[int, ...], *, succeeded: bool) -> None:
        pass


class Oracle(Relevance):
    """Those that help, and no others."""

    def choose(self, task: Task) -> tuple[int, ...]:
        return tuple(n for n in relevant(task) if task.effects[n] > 0)[:MOST_RANKED]


class Seed(Relevance):
    """The seed's moving average, ranked by its own score."""

    def __init__(self, seed: int, attributing: Attributing) -> None:  # noqa: ARG002  (as the other policies)
        self.attributing = attributing
        self.effectiveness = [[NEUTRAL] * INSIGHTS for _ in range(TOPICS)]
        self.uses = [[0] * INSIGHTS for _ in range(TOPICS)]
        self.hits = [[0] * INSIGHTS for _ in range(TOPICS)]
        self.last = [[0] * INSIGHTS for _ in range(TOPICS)]

    def choose(self, task: Task) -> tuple[int, ...]:
        return tuple(sorted(relevant(task), key=lambda n: -self.value(task, n))[:MOST_RANKED])

    def value(self, task: Task, n: int) -> float:
        topic = task.topic
        adjusted = causal_adjusted(
            self.effectiveness[topic][n], causal_hits=self.hits[topic][n], use_count=self.uses[topic][n]
        )
        fresh = recency((task.number - self.last[topic][n]) / TASKS_A_DAY)
        return score(relevance=task.relevance[n], effectiveness=adjusted, recency=fresh)

    def learn(self, task: Task, given: tuple[int, ...], *, succeeded: bool) -> None:
        topic = task.topic
        for n in given:
            held = self.effectiveness[topic][n]
            causal = self.attributing(task, n)
            self.effectiveness[topic][n] = ema(held, float(succeeded)) if causal else erode(held)
            self.uses[topic][n] += 1
            self.hits[topic][n] += bool(causal)
            self.last[topic][n] = task.number


class ByEffectiveness(Seed):
    """The same average; relevance is a gate only, and nothing is multiplied with the share of hits."""

    def value(self, task: Task, n: int) -> float:
        return self.effectiveness[task.topic][n]


class Exploring(ByEffectiveness):
    """One place in ten is filled by lot."""

    def __init__(self, seed: int, attributing: Attributing) -> None:
        super().__init__(seed, attributing)
        self.source = random.Random(seed)  # noqa: S311  (repeatable, not secret)

    def choose(self, task: Task) -> tuple[int, ...]:
        chosen = list(super().choose(task))
        rest = [n for n in relevant(task) if n not in chosen]
        for place in range(len(chosen)):
            if rest and self.source.random() < 0.1:
                chosen[place] = rest.pop(self.source.randrange(len(rest)))
        return tuple(chosen)


class Uplift(Relevance):
    """The product's `rank`, with or without withholding."""

    holdout = True

    def __init__(self, seed: int, attributing: Attributing) -> None:
        self.salt = f"world {seed}"
        self.attributing = attributing
        self.counts = [[ExposureCounts()] * INSIGHTS for _ in range(TOPICS)]
        self.tasks = self.won = 0

    @property
    def base(self) -> float:
        """The share of tasks that succeeded so far."""
        return self.won / self.tasks if self.tasks else MIDDLE

    def choose(self, task: Task) -> tuple[int, ...]:
        ranked = self.ranked(task)
        if not self.holdout:
            return ranked
        candidates = [HoldoutCandidate(insight=task.name(n)) for n in ranked]
        lots = withhold(candidates, injection=str(task.number), salt=self.salt)
        return tuple(n for n, lot in zip(ranked, lots, strict=True) if not lot.withheld)

    def ranked(self, task: Task) -> tuple[int, ...]:
        counts = self.counts[task.topic]
        contenders = [
            RankCandidate(insight=task.name(n), relevance=task.relevance[n], counts=counts[n]) for n in range(INSIGHTS)
        ]
        return tuple(
            int(one.insight[-2:])
            for one in rank_by_uplift(contenders, injection=str(task.number), salt=self.salt, base=self.base)
        )

    def learn(self, task: Task, given: tuple[int, ...], *, succeeded: bool) -> None:
        self.tasks, self.won = self.tasks + 1, self.won + succeeded
        for n in relevant(task):
            row = Exposure(
                insight=task.name(n),
                injection=str(task.number),
                fate="given" if n in given else "passed over",
                propensity=0.1,
                succeeded=succeeded,
                taken_up=self.attributing(task, n) if n in given else None,
            )
            self.counts[task.topic][n] = add(self.counts[task.topic][n], row)


class WithoutHoldout(Uplift):
    """Nothing is withheld: the ranking as it would be, if nobody had to know."""

    holdout = False


class Greedy(WithoutHoldout):
    """The highest mean wins: nothing is tried because it might help."""

    def ranked(self, task: Task) -> tuple[int, ...]:
        counts = self.counts[task.topic]
        means = {
            n: belief(counts[n], base=self.base).mean + RELEVANCE_WEIGHT * (task.relevance[n] - MIDDLE)
            for n in relevant(task)
        }
        return tuple(n for n in sorted(means, key=lambda n: -means[n]) if means[n] > 0)[:MOST_RANKED]
