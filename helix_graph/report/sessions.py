"""The sessions of a memory as a report reads them: each with the moment at which it began."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, NamedTuple

from helix_graph.causality.measures import Measures
from helix_graph.causality.timeline import moment
from helix_graph.graph.labels import event_key, is_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from helix_episodes.model import Episode, Event


class Session(NamedTuple):
    """An episode and when it began; ``success`` is None where nobody vouches for its outcome."""

    episode: Episode
    at: datetime | None
    success: bool | None


def sessions_of(episodes: Iterable[Episode]) -> list[Session]:
    """The sessions, the newest first; those without a date come last."""
    found = [Session(one, moment(one.timestamp), Measures(one).outcome()) for one in episodes]
    return sorted(found, key=_recency, reverse=True)


def _recency(one: Session) -> tuple[bool, float, str]:
    return one.at is not None, one.at.timestamp() if one.at else 0.0, one.episode.id


def day_of(timestamp: str | None) -> str:
    """The day of a moment in UTC, ``2026-03-01``; empty when it cannot be told."""
    at = moment(timestamp)
    return str(at.astimezone(UTC).date()) if at else ""


def errors_of(episode: Episode) -> Iterator[tuple[str, Event]]:
    """The errors that checks and commands reported, with their labels.

    Errors of the agent's own tools are left out: "File has not been read yet" says nothing of the project.
    """
    for event in episode.events:
        label = event_key(event)
        if label and is_error(event) and event.tool is None:
            yield label, event
