"""The content of a report as one frozen value, and what it rests on: its days, its sessions, its evidence.

``--format json`` prints the value; page, Markdown and card are made from it. A statement names its evidence by number;
`PeriodReport.evidence` has the entries.

Days are counted back from the newest session, never from today. So the same memory gives the same report whenever it is
asked for, and a memory that was idle for a month reports the last week in which something happened.

>>> period = period_of([datetime(2026, 3, 4, 9, tzinfo=UTC)], days=7, until=None)
>>> str(period.start.date()), str(period.until.date())
('2026-02-26', '2026-03-05')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple

import msgspec

from helix_episodes.model import Decision, Episode, Event, is_ahead, parse_timestamp
from helix_graph.graph.model import rate
from helix_graph.graph.node_labels import event_key, is_error
from helix_graph.graph.observations import vouched_success
from helix_graph.graph.patterns import ENOUGH_OCCURRENCES
from helix_graph.helix_db import aware
from helix_graph.highlights.model import Highlight
from helix_graph.stats.intervals import Interval, wilson_interval


class ReportRate(msgspec.Struct, frozen=True, kw_only=True):
    """``successes`` of ``n``, with Wilson's 95 % interval; ``rate`` (0 to 1) is None of nothing.

    ``too_early`` marks fewer than ten: then only the counts are shown.
    """

    successes: int
    n: int
    rate: float | None
    interval: Interval
    too_early: bool


def rate_of(successes: int, n: int) -> ReportRate:
    """The rate that counts come to.

    >>> rate_of(3, 4).too_early, rate_of(9, 12).rate
    (True, 0.75)
    """
    return ReportRate(
        successes=successes,
        n=n,
        rate=rate(successes, n),
        interval=wilson_interval(successes, n),
        too_early=n < ENOUGH_OCCURRENCES,
    )


class OutcomeSpan(msgspec.Struct, frozen=True, kw_only=True):
    """How the sessions of some days came out: from the day ``start`` to the day ``end``, both included.

    ``succeeded``, ``partly`` and ``failed`` are of sessions for which somebody or something vouches. Of ``claimed``
    there is only the agent's own word, of ``unknown`` nothing. ``rate`` is that of success among the vouched for.
    """

    start: str
    end: str
    sessions: int
    succeeded: int
    partly: int
    failed: int
    claimed: int
    unknown: int
    rate: ReportRate


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """How sessions came out: in the period, and in its days (or weeks), the oldest first."""

    period: OutcomeSpan
    bars: tuple[OutcomeSpan, ...]


class ReportIssue(msgspec.Struct, frozen=True, kw_only=True):
    """An issue that the period is the first to meet, or that came back in it.

    ``here`` of its ``sessions`` are of the period; ``minutes``, ``steps`` and the repairs are of all. ``suppressed`` of
    the ``repaired`` occurrences were only silenced, by a marker.
    """

    id: str
    title: str
    message: str
    sessions: int
    here: int
    occurrences: int
    repaired: int
    suppressed: int
    steps: float | None
    minutes: float | None
    remedy: str
    evidence: tuple[int, ...]


class ReportRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that is written for agents, and how often sessions of the whole memory followed it."""

    id: str
    text: str
    file: str
    state: str
    followed: int
    opportunities: int


class ReportRepair(msgspec.Struct, frozen=True, kw_only=True):
    """A verified fix: what failed, and the changes after which ``check`` passed (each may have done it).

    ``failed``, ``changed`` (the first change) and ``passed`` are evidence.
    """

    label: str
    message: str
    changes: tuple[str, ...]
    check: str
    date: str
    episode: str
    failed: int | None
    changed: int | None
    passed: int | None


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be used; ``file`` is relative to the memory."""

    file: str
    problem: str


class CitedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a log, by its ``number`` (from 1): the session, its step (what it was), the line and its words.

    ``date`` is the day on which the session began, ``basis`` what its outcome rests on (`Episode.outcome_basis`).
    """

    number: int
    episode: str
    task: str
    outcome: str
    basis: str
    date: str
    step: str
    text: str
    log: str
    line: int | None
    quote: str


class PeriodReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of the ``days`` from the day ``since`` to the day ``last``, both included; "" without dated sessions.

    ``sessions`` are those of the period, of ``sessions_in_all``; ``fixed`` counts its errors (each once a session) and
    those with a verified fix. ``notes`` say in words what is missing. ``highlights`` and ``rules`` are of the whole
    memory, all else of the period. ``new``, ``regressed`` and ``rules`` are the first of as many as their ``_in_all``.
    """

    title: str
    since: str
    last: str
    days: int
    sessions: int
    sessions_in_all: int
    notes: tuple[str, ...]
    highlights: tuple[Highlight, ...]
    outcomes: Outcomes | None
    fixed: ReportRate
    new: tuple[ReportIssue, ...]
    new_in_all: int
    regressed: tuple[ReportIssue, ...]
    regressed_in_all: int
    repairs: tuple[ReportRepair, ...]
    rules: tuple[ReportRule, ...]
    rules_in_all: int
    damaged: tuple[Damage, ...]
    pending: int
    evidence: tuple[CitedEvidence, ...]


#: Bars beside each other that can be distinguished on a telephone; of longer periods a bar is a week.
_MOST_DAILY_BARS = 31
_WEEK = 7


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
        for place in reversed(range(-(-self.days // step))):
            start, end = (_back(self.until, step * ago) for ago in (place + 1, place))
            yield ReportPeriod(max(start, self.start), end, step)

    @property
    def last(self) -> datetime:
        """A moment of its last day; of a period that is cut to nothing, where it begins."""
        return self.until - min(timedelta(microseconds=1), self.until - self.start)


def period_of(moments: Iterable[datetime], *, days: int, until: datetime | None) -> ReportPeriod | None:
    """The ``days`` before ``until``, or to the end (UTC) of the newest moment's day; None when there is none.

    A moment in the future is not the newest: it would be so in every report to come.
    """
    begun = (_day_after(at) for at in moments if not is_ahead(aware(at)))
    end = aware(until).astimezone(UTC) if until else max(begun, default=None)
    return None if end is None else ReportPeriod(_back(end, days), end, days)


def _back(moment: datetime, days: int) -> datetime:
    """Days earlier; the calendar has a beginning."""
    try:
        return moment - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _day_after(moment: datetime) -> datetime:
    """The midnight after a moment; the calendar has an end."""
    day = aware(moment).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
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
    found = [ReportSession(one, parse_timestamp(one.timestamp), vouched_success(one)) for one in episodes]
    return sorted(
        found, key=lambda one: (one.at is not None, one.at.timestamp() if one.at else 0.0, one.episode.id), reverse=True
    )


def day_of(timestamp: str | None) -> str:
    """The day of a moment in UTC, ``2026-03-01``; empty when it is not known."""
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
        """The numbers of some steps, given by episode and id, at most `MOST_OF_ONE`; unknown ones are left out."""
        found = (number for episode, step in steps if (number := self._number(episode, step)))
        return tuple(islice(found, MOST_OF_ONE))

    def one(self, episode: str, step: str | None) -> int | None:
        """The number of one step; None when it is unknown."""
        return self._number(episode, step) if step else None

    def entries(self) -> tuple[CitedEvidence, ...]:
        """All that was cited, by number."""
        return tuple(self._entries)

    def _number(self, name: str, step: str) -> int | None:
        if (name, step) in self._numbers:
            return self._numbers[name, step]
        episode = self._episodes.get(name)
        if not episode:
            return None
        steps: tuple[Decision | Event, ...] = (*episode.decisions, *episode.events)
        found = next((one for one in steps if one.id == step), None)
        if not found:
            return None
        self._entries.append(_entry(len(self._entries) + 1, episode, found))
        self._numbers[name, step] = len(self._entries)
        return len(self._entries)


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
