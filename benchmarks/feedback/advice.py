"""A world in which it is known what each insight does: tasks, insights, and what follows from handing them over.

There are 12 topics with 12 insights each: 3 help (+1.2 on the log odds of success), 2 do harm (-1.2), 7 do nothing. A
task is of one topic, and all insights of that topic are more or less relevant to it. What is handed over is taken up
with a chance of 0.6; only then does it do anything. That much is the reference's (`causal-statistics.md` §5.4).

What the reference leaves open is chosen here:

- difficulty: the log odds without insights are -0.16 ± 1.07 (a normal curve over tasks, unknown to everybody). Chosen
  so that the two rows in which nothing is learned (relevance only, oracle) come out as in the reference;
- relevance: 0.55 ± 0.085 for each insight and task alike, whatever the insight does. Chosen by the reference's rows for
  the seed's own score, for which it is what drowns the rest;
- the cosine with the outcome's text: 0.493 ± 0.12, and 0.084 more when taken up. Chosen by the reference's figures for
  attribution: 0.40 is passed by about nine in ten;
- the path from what was taken up to the outcome: found for 0.8 of those that do something and for 0.3 of the rest (the
  reference's figures; that there is none without uptake is read off its precision and recall);
- time: 50 tasks a day.

Nothing was chosen by a row of a policy that ranks by effectiveness or by uplift.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPICS = INSIGHTS = 12
STRENGTH = 1.2
KINDS = (STRENGTH,) * 3 + (-STRENGTH,) * 2 + (0.0,) * 7
UPTAKE = 0.6
BASE, DIFFICULTY = -0.16, 1.07
RELEVANCE, RELEVANCE_SPREAD = 0.55, 0.085
COSINE, COSINE_SPREAD, COSINE_OF_UPTAKE = 0.493, 0.12, 0.084
PATH_TRUE, PATH_FALSE = 0.8, 0.3
TASKS_A_DAY = 50


class World(NamedTuple):
    """The rule.

    ``unlinked`` is the share of insights without a link, ``confounding`` how much more readily insights are taken up
    where the task is hard (log odds for one standard deviation of difficulty), ``spread`` the standard deviation of
    relevance.
    """

    seed: int
    unlinked: float = 0.0
    confounding: float = 0.0
    spread: float = RELEVANCE_SPREAD

    def seeded(self, count: int) -> list[World]:
        """So many worlds of this kind."""
        return [self._replace(seed=seed) for seed in range(count)]


class Task(NamedTuple):
    """One task: what is relevant to it, and what would become of each insight of its topic, were it handed over."""

    number: int
    topic: int
    odds: float
    effects: tuple[float, ...]
    linked: tuple[bool, ...]
    relevance: tuple[float, ...]
    takes: tuple[bool, ...]
    cosine: tuple[float, ...]
    path: tuple[bool, ...]
    luck: float

    def chance(self, given: tuple[int, ...]) -> float:
        """Of success, with these insights handed over."""
        return sigmoid(self.odds + sum(self.effects[n] for n in given if self.takes[n]))

    def name(self, n: int) -> str:
        return NAMES[self.topic][n]


NAMES = [[f"topic-{topic:02}-insight-{n:02}" for n in range(INSIGHTS)] for topic in range(TOPICS)]


def sigmoid(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def tasks(world: World, count: int) -> Iterator[Task]:
    """So many tasks, the same ones for the same seed whatever is done about them."""
    source = random.Random(world.seed)  # noqa: S311  (repeatable, not secret)
    effects = [tuple(source.sample(KINDS, INSIGHTS)) for _ in range(TOPICS)]
    linked = [tuple(source.random() >= world.unlinked for _ in range(INSIGHTS)) for _ in range(TOPICS)]
    for number in range(count):
        topic = source.randrange(TOPICS)
        hard = source.gauss(0, 1)
        likely = sigmoid(math.log(UPTAKE / (1 - UPTAKE)) + world.confounding * hard)
        takes = tuple(source.random() < likely for _ in range(INSIGHTS))
        yield Task(
            number=number,
            topic=topic,
            odds=BASE - DIFFICULTY * hard,
            effects=effects[topic],
            linked=linked[topic],
            relevance=tuple(source.gauss(RELEVANCE, world.spread) for _ in range(INSIGHTS)),
            takes=takes,
            cosine=tuple(source.gauss(COSINE + COSINE_OF_UPTAKE * take, COSINE_SPREAD) for take in takes),
            path=tuple(
                take and source.random() < (PATH_TRUE if effect else PATH_FALSE)
                for take, effect in zip(takes, effects[topic], strict=True)
            ),
            luck=source.random(),
        )
