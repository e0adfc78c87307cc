"""Worlds whose truth is known: sessions made by a rule that says what really matters.

A world has 100 things that an agent may do and 4 errors that it may meet. Ten hurt, ten help, forty do nothing; twenty
do nothing but are mostly done on hard or on easy tasks; twelve do nothing but mostly follow something that hurts; eight
answer errors, four of them well. Success follows a logistic rule of the task's difficulty, the errors and the things
done, each counted once. Every true effect is the change in the chance of success when only that thing is switched on or
off, averaged over the sessions. ``rare`` further things do nothing and are seldom done. A ``hidden`` circumstance of
given strength makes people do ten of the things and fail.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Link

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("fix", "feature", "refactor", "test", "docs")
DIFFICULTY = (1.2, 0.6, 0.0, -0.6, -1.2)
#: A factor of e on the odds: 50 % become 27 % or 73 %.
STRENGTH = 1.0


@dataclass(frozen=True)
class Thing:
    """Something that can be done: what it changes (log odds), and when it is done."""

    name: str
    effect: float = 0.0
    slope: float = 0.0
    follows: str | None = None
    hidden: bool = False
    likely: float = 0.15


@dataclass(frozen=True)
class World:
    """The rule, and how well the sessions tell of it."""

    seed: int
    hidden: float = 0.0
    claims_told: float = 0.8
    false_claims: float = 3.0
    flipped_outcomes: float = 0.0
    rare: int = 0
    things: tuple[Thing, ...] = field(init=False)
    errors: tuple[str, ...] = ("ea", "eb", "ec", "ed")

    def __post_init__(self) -> None:
        object.__setattr__(self, "things", tuple(_things(self.rare)))


def _things(rare: int) -> Iterator[Thing]:
    yield from (Thing(f"bad{_letter(n)}", -STRENGTH) for n in range(10))
    yield from (Thing(f"good{_letter(n)}", STRENGTH) for n in range(10))
    yield from (Thing(f"null{_letter(n)}", hidden=n < 10) for n in range(40))
    yield from (Thing(f"task{_letter(n)}", slope=1.0 if n % 2 else -1.0) for n in range(20))
    yield from (Thing(f"after{_letter(n)}", follows=f"bad{_letter(n % 10)}") for n in range(12))
    yield from (Thing(f"cure{_letter(n)}", STRENGTH * (n % 2), follows=f"e{'abcd'[n % 4]}") for n in range(8))
    yield from (Thing(f"rare{_letter(n)}", likely=0.04) for n in range(rare))


def _letter(number: int) -> str:
    """Letters, because labels mask numbers."""
    return chr(ord("a") + number % 26) * (1 + number // 26)


@dataclass(frozen=True)
class Session:
    """One session as the world made it: what was done in which order, and the log odds that followed."""

    episode: Episode
    present: frozenset[str]
    odds: float
    draw: float

    def culprits(self, world: World) -> set[str]:
        """What would have turned this failure into a success if it alone had been left out, with the same luck."""
        harmful = {one.name: one.effect for one in world.things if one.effect < 0}
        return {
            name
            for name in self.present & harmful.keys()
            if chance(self.odds) <= self.draw < chance(self.odds - harmful[name])
        }


def sessions(world: World, count: int) -> list[Session]:
    """So many sessions of a world; the same ones for the same seed."""
    source = random.Random(world.seed)  # noqa: S311  (repeatable, not secret)
    return [_session(world, number, source) for number in range(count)]


def true_effects(world: World, made: list[Session]) -> dict[str, float]:
    """The change in the chance of success by each thing, over these sessions."""
    return {thing.name: _average_effect(thing, made) if thing.effect else 0.0 for thing in world.things}


def _average_effect(thing: Thing, made: list[Session]) -> float:
    total = 0.0
    for one in made:
        without = one.odds - thing.effect * (thing.name in one.present)
        total += chance(without + thing.effect) - chance(without)
    return total / len(made)


def chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def _session(world: World, number: int, source: random.Random) -> Session:
    task = source.randrange(len(KINDS))
    circumstance = source.random() < 0.5
    order, causes = _course(world, task, circumstance=circumstance, source=source)
    present = frozenset(order)
    odds = DIFFICULTY[task] - 0.8 * len(present & set(world.errors)) - world.hidden * circumstance + world.hidden / 2
    odds += sum(thing.effect for thing in world.things if thing.name in present)
    draw = source.random()
    succeeded = draw < chance(odds)
    if source.random() < world.flipped_outcomes:
        succeeded = not succeeded
    links = tuple(_told(world, order, causes, source))
    return Session(_episode(number, KINDS[task], order, links, succeeded=succeeded), present, odds, draw)


def _course(
    world: World, task: int, *, circumstance: bool, source: random.Random
) -> tuple[list[str], list[tuple[str, str]]]:
    """What happens in which order; whatever follows something comes right after it or later, never before."""
    timed: list[tuple[float, str]] = [(source.random(), error) for error in world.errors if source.random() < 0.3]
    when = {name: at for at, name in timed}
    causes: list[tuple[str, str]] = []
    for thing in sorted(world.things, key=lambda one: one.follows is not None):
        at = source.random()
        if thing.follows in when:
            at = when[thing.follows] + (1 - when[thing.follows]) * at
        if source.random() < _likely(world, thing, task, when, circumstance=circumstance):
            when[thing.name] = at
            timed.append((at, thing.name))
            if thing.follows in when:
                causes.append((thing.follows, thing.name))
            while source.random() < 0.25:  # done again: changes nothing
                timed.append((at + (1 - at) * source.random(), thing.name))
    return [name for _, name in sorted(timed)], causes


def _likely(world: World, thing: Thing, task: int, met: dict[str, float], *, circumstance: bool) -> float:
    if thing.follows:
        return 0.65 if thing.follows in met else 0.05
    if thing.slope:
        return chance(-1.7 + thing.slope * DIFFICULTY[task])
    if thing.hidden and world.hidden:
        return 0.3 if circumstance else 0.06
    return thing.likely


def _told(
    world: World, order: list[str], causes: list[tuple[str, str]], source: random.Random
) -> Iterator[tuple[int, int]]:
    """The claims of the log, as places: most true ones, and some that are not."""
    first = {name: place for place, name in reversed(list(enumerate(order)))}
    for cause, effect in causes:
        if source.random() < world.claims_told:
            yield first[cause], first[effect]
    for _ in range(int(world.false_claims + source.random()) if len(order) > 1 else 0):
        places = sorted(source.sample(range(len(order)), 2))
        yield places[0], places[1]


def _episode(
    number: int, kind: str, order: list[str], claims: tuple[tuple[int, int], ...], *, succeeded: bool
) -> Episode:
    decisions = tuple(_decision(place, name) for place, name in enumerate(order) if not name.startswith("e"))
    events = tuple(_error(place, name) for place, name in enumerate(order) if name.startswith("e"))
    names = {place: _id(place, name) for place, name in enumerate(order)}
    pairs = sorted({(names[cause], names[effect]) for cause, effect in claims if order[cause] != order[effect]})
    return Episode(
        id=f"episode-world-{number:05}",
        session=f"world-{number:05}",
        timestamp=f"2026-01-{1 + number // 1440 % 28:02}T{number // 60 % 24:02}:{number % 60:02}:00Z",
        outcome="success" if succeeded else "failure",
        outcome_basis="rewarded",
        task=f"task of kind {kind}",
        task_kind=kind,  # type: ignore[arg-type]  # one of KINDS
        decisions=decisions,
        events=events,
        links=tuple(Link(source=cause, target=effect, reason="stated") for cause, effect in pairs),
    )


def _id(place: int, name: str) -> str:
    return f"{'e' if name.startswith('e') else 'd'}{place:03}"


def _decision(place: int, name: str) -> Decision:
    return Decision(
        id=_id(place, name),
        timestamp=None,
        type="implementation",
        chosen=name,
        action=Action(verb="run", program=name),
        evidence=Evidence(line=place + 1),
    )


def _error(place: int, name: str) -> Event:
    return Event(
        id=_id(place, name),
        timestamp=None,
        type="error",
        content=name,
        check=f"check{name[1:]}",
        family="Wrong",
        evidence=Evidence(line=place + 1),
    )
