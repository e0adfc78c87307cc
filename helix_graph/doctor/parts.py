"""The parts of an episode, each by itself: are its times times, and is each thing called by a name of its own?

Both are mended by what the file itself says. A time that is none becomes "not known"; the episode's own, the earliest
of its parts. Of two things with one id the first keeps it, since nothing tells which of them a link means; the later
gets the next free one. The very same thing written down twice is one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from helix_episodes.corrections import parts_of
from helix_graph.graph.model import OUTCOME_ID, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.model import Decision, Episode, Event

_Part = TypeVar("_Part", "Decision", "Event")


def sound(episode: Episode) -> tuple[Episode, tuple[str, ...]]:
    """The episode with real times and one thing to an id, and what was wrong."""
    taken = {OUTCOME_ID}
    fixed = replace(
        episode,
        timestamp=_real(episode.timestamp) or (_earliest(episode) if episode.timestamp is not None else None),
        decisions=tuple(_own_ids(map(_timed, episode.decisions), "d", taken)),
        events=tuple(_own_ids(map(_timed, episode.events), "e", taken)),
    )
    return fixed, (*_wrong_times(episode), *_doubled(episode))


def _real(timestamp: str | None) -> str | None:
    return timestamp if moment(timestamp) else None


def _earliest(episode: Episode) -> str | None:
    times = [one.timestamp for one in parts_of(episode) if moment(one.timestamp)]
    return min(times, key=moment, default=None)


def _timed(part: _Part) -> _Part:
    return replace(part, timestamp=_real(part.timestamp))


def _own_ids(parts: Iterable[_Part], letter: str, taken: set[str]) -> Iterator[_Part]:
    """Each part once and under an id of its own; ``taken`` grows by their ids."""
    each = list(_once(parts))
    names = taken | {one.id for one in each}
    for one in each:
        name = one.id if one.id not in taken else free_id(letter, names)
        names.add(name)
        taken.add(name)
        yield one if name == one.id else replace(one, id=name)


def _once(parts: Iterable[_Part]) -> Iterator[_Part]:
    seen: dict[str, list[_Part]] = {}
    for one in parts:
        if one not in seen.setdefault(one.id, []):
            seen[one.id].append(one)
            yield one


def free_id(letter: str, names: Iterable[str]) -> str:
    """The next id of a decision (``d``) or an event (``e``).

    >>> free_id("d", {"d001", "e007"})
    'd002'
    """
    numbers = [int(name[1:]) for name in names if name[:1] == letter and name[1:].isdecimal()]
    return f"{letter}{max(numbers, default=0) + 1:03}"


def _wrong_times(episode: Episode) -> Iterator[str]:
    for name, at in [(episode.id, episode.timestamp), *((one.id, one.timestamp) for one in parts_of(episode))]:
        if at is not None and not moment(at):
            yield f"the time of {name} is {at!r}, which is none"


def _doubled(episode: Episode) -> Iterator[str]:
    counts = Counter([OUTCOME_ID, *(one.id for one in parts_of(episode))])
    yield from (f"{count} things are called {name}" for name, count in sorted(counts.items()) if count > 1)
