"""Worlds with the faults of real logs, one at a time, whose truth is known.

Each has 80 things that may be done: twelve hurt, twelve help (a factor of e on the odds), and the rest do nothing. Five
kinds of task differ in difficulty, and two in three of the things are mostly done on hard or on easy kinds. On top of
that comes one fault:

- ``trend``: two in three things go out of use or come into it, while success rises from month to month;
- ``skill``: three models differ in how often they succeed and in what they do; the log names the model;
- ``difficulty``: within each kind some tasks are harder, and things are done more or less on those; no log shows it;
- ``reaction``: in sessions that fail, two more things are mostly done at the end;
- ``copies``: three in ten sessions stand in the memory three times, under other ids;
- ``rare``: everything is done in one to four of a hundred sessions;
- ``unknown``: of seven in ten failures nobody knows the outcome.

Sessions are made as trials, not as logs, so that thousands of worlds can be drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from helix_graph.graph.observations import Trial, TrialStep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Fault = Literal["none", "trend", "skill", "difficulty", "reaction", "copies", "rare", "unknown"]
FAULTS: tuple[Fault, ...] = ("none", "trend", "skill", "difficulty", "reaction", "copies", "rare", "unknown")
#: What no log shows, so that nothing can be held constant.
HIDDEN: frozenset[Fault] = frozenset({"difficulty"})

THINGS = 80
HURT = HELP = 12
KINDS = ("docs", "feature", "fix", "refactor", "test")
HARDNESS = np.array([1.0, 0.5, 0.0, -0.5, -1.0])
#: How far the fault moves the odds of success, and of doing what it touches, from one end to the other.
PULL = 1.0
REACTIONS = ("run rollback", "run debug")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True)
class Lifelike:
    """A world: its fault, the share of sessions that succeed, how many there are, and whether anything matters."""

    fault: Fault
    success: float
    sessions: int
    seed: int
    matters: bool = True


class Made(NamedTuple):
    """The sessions of a world in the order of time, and the true effect of each thing (0 where not named).

    ``known`` are the effects on success among sessions whose outcome is known; they differ from ``effects`` only where
    that depends on the outcome.
    """

    trials: list[Trial]
    effects: dict[str, float]
    known: dict[str, float]


class Drawn(NamedTuple):
    """A world by arrays, before its sessions are written; ``source`` goes on from there."""

    kind: NDArray[np.int64]
    fault: Numbers
    strength: Numbers
    chances: Numbers
    done: NDArray[np.bool_]
    odds: Numbers
    success: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    source: np.random.Generator

    @property
    def rarer(self) -> int:
        """How many known outcomes are of the rarer sort."""
        known = self.success[self.judged]
        return int(min(known.sum(), (~known).sum()))


def label(thing: int) -> str:
    """Letters, because labels mask numbers."""
    return f"run thing{_LETTERS[thing // 26]}{_LETTERS[thing % 26]}"


def draw(world: Lifelike) -> Drawn:
    """What happens in a world; the same for the same world."""
    source = np.random.default_rng(world.seed)
    count = world.sessions
    kind = source.integers(0, len(KINDS), count)
    fault = _circumstance(world, source)
    strength = np.zeros(THINGS)
    if world.matters:
        strength[:HURT], strength[HURT : HURT + HELP] = -1.0, 1.0
    chances = _habits(world, HARDNESS[kind], fault, source)
    done = source.random((count, THINGS)) < chances
    odds = HARDNESS[kind] + PULL * fault + done @ strength
    odds += _intercept(odds, world.success)
    success = source.random(count) < _logistic(odds)
    judged = success | (source.random(count) >= 0.7) if world.fault == "unknown" else np.ones(count, dtype=bool)
    return Drawn(kind, fault, strength, chances, done, odds, success, judged, source)


def make(world: Lifelike, drawn: Drawn) -> Made:
    """The sessions of a world, from what was drawn for it; a `Drawn` can be used once."""
    kind, fault, strength, chances, done, odds, success, judged, source = drawn
    count = world.sessions
    shift = np.log(1 / 0.3) if world.fault == "unknown" else 0.0
    trials: list[Trial] = []
    for number in range(count):
        names = [label(thing) for thing in source.permutation(np.flatnonzero(done[number])).tolist()]
        names += [name for name in names if source.random() < 0.2]  # done again: changes nothing
        if world.fault == "reaction":
            names += [name for name in REACTIONS if source.random() < (0.05 if success[number] else 0.6)]
        began = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=365) * (number / count)
        one = Trial(
            episode=f"episode-{world.seed}-{number:05}",
            timestamp=began.isoformat(),
            task_kind=KINDS[kind[number]],
            task_id=None,
            success=bool(success[number]) if judged[number] else None,
            steps=tuple(TrialStep("act", name, f"d{place:03}") for place, name in enumerate(names, 1)),
            claims=(),
            observations=(),
            told=f"rewarded {'success' if success[number] else 'failure'}" if judged[number] else "none unknown",
            agent=f"model {fault[number]:.0f}" if world.fault == "skill" else "model",
            origin=f"{world.seed}-{number}",
        )
        trials += _copied(one) if world.fault == "copies" and source.random() < 0.3 else [one]
    weights = chances * (1 - chances)
    return Made(
        trials,
        _effects(odds, done, strength, weights),
        _effects(odds + shift, done, strength, weights * _known(odds, shift)[:, None]),
    )


def _circumstance(world: Lifelike, source: np.random.Generator) -> Numbers:
    """From -1 to 1 a session: how far on the trend, how skilled the model, how easy the task is."""
    if world.fault == "trend":
        return np.linspace(-1, 1, world.sessions)
    if world.fault == "skill":
        return source.integers(-1, 2, world.sessions).astype(np.float64)
    if world.fault == "difficulty":
        return source.uniform(-1, 1, world.sessions)
    return np.zeros(world.sessions)


def _habits(world: Lifelike, ease: Numbers, fault: Numbers, source: np.random.Generator) -> Numbers:
    """The chance of each thing in each session."""
    least, most = (0.01, 0.04) if world.fault == "rare" else (0.05, 0.15)
    usual = source.uniform(least, most, THINGS)
    by_kind, by_fault = source.choice([-0.7, 0.0, 0.7], THINGS), source.choice([-PULL, 0.0, PULL], THINGS)
    return _logistic(np.log(usual / (1 - usual)) + np.outer(ease, by_kind) + np.outer(fault, by_fault))


def _logistic(odds: Numbers) -> Numbers:
    found: Numbers = 1 / (1 + np.exp(-odds))
    return found


def _intercept(odds: Numbers, wanted: float) -> float:
    low, high = -12.0, 12.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _logistic(odds + middle).mean() < wanted else (low, middle)
    return low


def _known(odds: Numbers, shift: float) -> Numbers:
    """The chance that a session's outcome is known."""
    chance = _logistic(odds)
    found: Numbers = chance + (1 - chance) * np.exp(-shift)
    return found


def _effects(odds: Numbers, done: NDArray[np.bool_], strength: Numbers, weights: Numbers) -> dict[str, float]:
    """The change in the chance of success by each thing that matters, averaged as Mantel and Haenszel weigh.

    They weigh a session by p (1 - p), where p is its chance of the thing: by how far it could have gone either way.
    """
    found = {}
    for thing in np.flatnonzero(strength).tolist():
        without = odds - strength[thing] * done[:, thing]
        change = _logistic(without + strength[thing]) - _logistic(without)
        found[label(thing)] = float(np.average(change, weights=weights[:, thing]))
    return found


def _copied(trial: Trial) -> list[Trial]:
    return [replace(trial, episode=f"{trial.episode}-{copy}") for copy in range(3)]
