"""Evidence: each place in a log that a report rests on, once, by number."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from helix_episodes.model import Decision
from helix_graph.report.model import Evidence
from helix_graph.report.sessions import day_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_episodes.model import Episode, Event

#: As many as anybody follows from one statement; the commands have the others.
MOST_OF_ONE = 3


class Ledger:
    """Takes evidence in and gives its number; the same step has the same number wherever it is cited."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        self._episodes = {one.id: one for one in episodes}
        self._numbers: dict[tuple[str, str], int] = {}
        self._entries: list[Evidence] = []

    def cite(self, steps: Iterable[tuple[str, str]]) -> tuple[int, ...]:
        """The numbers of some steps, given by episode and id, at most `MOST_OF_ONE`; those not met are left out."""
        found = (number for episode, step in steps if (number := self._number(episode, step)))
        return tuple(islice(found, MOST_OF_ONE))

    def one(self, episode: str, step: str | None) -> int | None:
        """The number of one step; None when it is not met."""
        return self._number(episode, step) if step else None

    def entries(self) -> tuple[Evidence, ...]:
        """All that was cited, by number."""
        return tuple(self._entries)

    def _number(self, name: str, step: str) -> int | None:
        if (name, step) in self._numbers:
            return self._numbers[name, step]
        episode = self._episodes.get(name)
        found = episode and _step(episode, step)
        if not episode or not found:
            return None
        self._entries.append(_entry(len(self._entries) + 1, episode, found))
        self._numbers[name, step] = len(self._entries)
        return len(self._entries)


def _step(episode: Episode, name: str) -> Decision | Event | None:
    steps: tuple[Decision | Event, ...] = (*episode.decisions, *episode.events)
    return next((one for one in steps if one.id == name), None)


def _entry(number: int, episode: Episode, step: Decision | Event) -> Evidence:
    place = step.evidence
    log = episode.provenance.log if episode.provenance else ""
    return Evidence(
        number=number,
        episode=episode.id,
        task=episode.task,
        outcome=episode.outcome,
        basis=episode.outcome_basis,
        date=day_of(episode.timestamp),
        step=step.id,
        text=step.chosen if isinstance(step, Decision) else step.content,
        log=((place.file if place else None) or log),
        line=place.line if place else None,
        quote=place.quote if place else "",
    )
