"""What a report rests on: its days, its sessions, and each cited place in a log under one number.

Days are counted back from the newest session, never from today. So the same memory gives the same report whenever it is
asked for, and a memory that was idle for a month reports the last week in which something happened.

>>> period = period_of([datetime(2026, 3, 4, 9, tzinfo=UTC)], days=7, until=None)
>>> str(period.start.date()), str(period.until.date())
('2026-02-26', '2026-03-05')
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.model import Decision
from helix_graph.graph.labels import event_key, is_error
from helix_graph.graph.observations import Measures, parse_timestamp
from helix_graph.web.report_model import CitedEvidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.model import Episode, Event


#: Bars beside each other that can be told apart on a telephone; of longer periods a bar is a week.
_MOST_DAILY_BARS = 31
_WEEK = 7
#: Before the period, as many spans of its length are shown: of a week, the seven before it.
EARLIER_SPANS = 7


class ReportPeriod(NamedTuple):
    """From ``start`` on, and before ``until``."""

    start: datetime
    until: datetime
    days: int

    def holds(self, at: datetime | None) -> bool:
        """Whether a moment falls into it."""
        return at is not None and self.start <= at < self.until

    def bars(self) -> Iterator[ReportPeriod]:
        """Its days, or its weeks when it is long, the oldest first; the last is whole."""
        step = 1 if self.days <= _MOST_DAILY_BARS else _WEEK
        yield from _spans(self.until, length=step, count=-(-self.days // step), first=self.start)

    def trend(self) -> Iterator[ReportPeriod]:
        """The spans of its length before it and itself, the oldest first."""
        yield from _spans(self.until, length=self.days, count=EARLIER_SPANS + 1)

    @property
    def last(self) -> datetime:
        """A moment of its last day; of a period that is cut to nothing, where it begins."""
        return self.until - min(timedelta(microseconds=1), self.until - self.start)


def period_of(moments: Iterable[datetime], *, days: int, until: datetime | None) -> ReportPeriod | None:
    """The ``days`` before ``until``, or to the end (UTC) of the newest moment's day; None when there is none."""
    end = _aware(until) if until else max((_day_after(at) for at in moments), default=None)
    return None if end is None else ReportPeriod(_back(end, days), end, days)


def _spans(until: datetime, *, length: int, count: int, first: datetime | None = None) -> Iterator[ReportPeriod]:
    for place in range(count - 1, -1, -1):
        end = _back(until, length * place)
        start = _back(until, length * (place + 1))
        yield ReportPeriod(max(start, first) if first else start, end, length)


def _aware(moment: datetime) -> datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _back(moment: datetime, days: int) -> datetime:
    """Days earlier; the calendar has a beginning."""
    try:
        return moment - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _day_after(moment: datetime) -> datetime:
    """The midnight after a moment; the calendar has an end."""
    day = _aware(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return day + timedelta(days=1)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


class ReportSession(NamedTuple):
    """An episode and when it began; ``success`` is None where nobody vouches for its outcome."""

    episode: Episode
    at: datetime | None
    success: bool | None


def sessions_of(episodes: Iterable[Episode]) -> list[ReportSession]:
    """The sessions, the newest first; those without a date come last."""
    found = [ReportSession(one, parse_timestamp(one.timestamp), Measures(one).outcome()) for one in episodes]
    return sorted(found, key=_recency, reverse=True)


def _recency(one: ReportSession) -> tuple[bool, float, str]:
    return one.at is not None, one.at.timestamp() if one.at else 0.0, one.episode.id


def day_of(timestamp: str | None) -> str:
    """The day of a moment in UTC, ``2026-03-01``; empty when it cannot be told."""
    at = parse_timestamp(timestamp)
    return str(at.astimezone(UTC).date()) if at else ""


def errors_of(episode: Episode) -> Iterator[tuple[str, Event]]:
    """The errors that checks and commands reported, with their labels.

    Errors of the agent's own tools are left out: "File has not been read yet" says nothing of the project.
    """
    for event in episode.events:
        label = event_key(event)
        if label and is_error(event) and event.tool is None:
            yield label, event


#: As many as anybody follows from one statement; the commands have the others.
MOST_OF_ONE = 3


class EvidenceLedger:
    """Takes evidence in and gives its number; the same step has the same number wherever it is cited."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        self._episodes = {one.id: one for one in episodes}
        self._numbers: dict[tuple[str, str], int] = {}
        self._entries: list[CitedEvidence] = []

    def cite(self, steps: Iterable[tuple[str, str]]) -> tuple[int, ...]:
        """The numbers of some steps, given by episode and id, at most `MOST_OF_ONE`; those not met are left out."""
        found = (number for episode, step in steps if (number := self._number(episode, step)))
        return tuple(islice(found, MOST_OF_ONE))

    def one(self, episode: str, step: str | None) -> int | None:
        """The number of one step; None when it is not met."""
        return self._number(episode, step) if step else None

    def entries(self) -> tuple[CitedEvidence, ...]:
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


def _entry(number: int, episode: Episode, step: Decision | Event) -> CitedEvidence:
    place = step.evidence
    log = episode.provenance.log if episode.provenance else ""
    return CitedEvidence(
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
