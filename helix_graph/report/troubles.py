"""Errors that came again in the period, and fixes that were seen to work."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from helix_graph.report.model import Repair, Trouble, rate_of
from helix_graph.report.sessions import day_of, errors_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.model import Episode, Event, Fix
    from helix_graph.report.evidence import Ledger
    from helix_graph.report.model import Rate
    from helix_graph.report.period import Period
    from helix_graph.report.sessions import Session

MOST_TROUBLES = 6
MOST_REPAIRS = 8
#: One session that meets an error is an accident; two have it in common.
_AGAIN = 2
_Meetings = list[tuple["Episode", "Event"]]


def troubles_of(sessions: Sequence[Session], ledger: Ledger, period: Period) -> tuple[Trouble, ...]:
    """The errors of the period that two sessions or more have met, the most frequent in the period first."""
    now, before = defaultdict[str, _Meetings](list), defaultdict[str, int](int)
    for one in sessions:
        for label, event in _first_of_each(one.episode):
            if period.holds(one.at):
                now[label].append((one.episode, event))
            elif one.at and one.at < period.start:
                before[label] += 1
    again = [label for label in now if len(now[label]) + before[label] >= _AGAIN]
    ranked = sorted(again, key=lambda label: (-len(now[label]), -before[label], label))
    return tuple(_trouble(label, now[label], before[label], ledger) for label in ranked[:MOST_TROUBLES])


def _first_of_each(episode: Episode) -> Iterator[tuple[str, Event]]:
    """Ten runs of one failing check are one meeting."""
    firsts: dict[str, Event] = {}
    for label, event in errors_of(episode):
        firsts.setdefault(label, event)
    yield from firsts.items()


def _trouble(label: str, met: _Meetings, earlier: int, ledger: Ledger) -> Trouble:
    fixed = sum(label in _fixed_in(episode) for episode, _ in met)
    return Trouble(
        label=label,
        sessions=len(met),
        earlier=earlier,
        fixed=rate_of(fixed, len(met)),
        evidence=ledger.cite((episode.id, event.id) for episode, event in met),
    )


def _fixed_in(episode: Episode) -> set[str]:
    return {label for label, _, _ in verified_fixes(episode)}


def verified_fixes(episode: Episode) -> Iterator[tuple[str, Event, Fix]]:
    """The fixes after which the failing check was seen to pass, with label and event of the error."""
    fixes = {fix.error: fix for fix in episode.fixes if fix.verified_by}
    for label, event in errors_of(episode):
        if event.id in fixes:
            yield label, event, fixes[event.id]


def repairs_of(sessions: Sequence[Session], ledger: Ledger, period: Period) -> tuple[Repair, ...]:
    """The newest verified fixes before the period's end, one a session and label."""
    found = (
        _repair(one.episode, label, event, fix, ledger)
        for one in sessions
        if one.at and one.at < period.until
        for label, event, fix in _one_a_label(one.episode)
    )
    return tuple(islice(found, MOST_REPAIRS))


def fixed_of(sessions: Sequence[Session], period: Period) -> Rate:
    """Of the errors that the sessions of the period met, each once a session, those with a verified fix."""
    within = [one.episode for one in sessions if period.holds(one.at)]
    met = sum(len({label for label, _ in errors_of(episode)}) for episode in within)
    return rate_of(sum(len(_fixed_in(episode)) for episode in within), met)


def _one_a_label(episode: Episode) -> Iterator[tuple[str, Event, Fix]]:
    last = {label: (label, event, fix) for label, event, fix in verified_fixes(episode)}
    yield from last.values()


def _repair(episode: Episode, label: str, event: Event, fix: Fix, ledger: Ledger) -> Repair:
    changes = [one for one in episode.decisions if one.id in fix.changes]
    return Repair(
        label=label,
        message=event.message or "",
        changes=tuple(dict.fromkeys(one.chosen for one in changes)),
        check=fix.check,
        date=day_of(event.timestamp or episode.timestamp),
        episode=episode.id,
        failed=ledger.one(episode.id, event.id),
        changed=ledger.one(episode.id, changes[0].id if changes else None),
        passed=ledger.one(episode.id, fix.verified_by),
    )
