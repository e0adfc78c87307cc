"""What came before what in one episode.

Decisions and events are two lists, so asking whether a change was made before a check ran needs a common clock. Two
things from the same file of the log are ordered by their lines; things from different files (a helper's log beside the
main one) by their timestamps. Where neither says, the answer is ``None``, and callers must not guess.

>>> from helix_episodes.model import Decision, Event, Evidence
>>> edit = Decision(id="d001", timestamp=None, type="implementation", chosen="edit", evidence=Evidence(line=4))
>>> test = Event(id="e001", timestamp=None, type="test", content="3 passed", evidence=Evidence(line=9))
>>> precedes(edit, test), precedes(test, edit)
(True, False)
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Decision, Episode, Event


def precedes(first: Decision | Event, second: Decision | Event) -> bool | None:
    """Whether ``first`` came strictly before ``second``; ``None`` when the log does not say."""
    if first.evidence and second.evidence and first.evidence.file == second.evidence.file:
        return first.evidence.line < second.evidence.line
    one, other = moment(first.timestamp), moment(second.timestamp)
    if one is None or other is None or one == other:
        return None
    return one < other


def moment(timestamp: str | None) -> datetime | None:
    """A timestamp as an aware time (UTC when it names no zone); ``None`` when there is none or it cannot be read.

    Comparing the strings would be wrong: fractions of a second and zones are written in different ways.

    >>> moment("2026-03-01T10:00:00Z") < moment("2026-03-01T10:00:00.5Z") < moment("2026-03-01T13:00:00+02:00")
    True
    >>> moment("2026-03-01T10:00:00").isoformat(), moment("yesterday")
    ('2026-03-01T10:00:00+00:00', None)
    """
    try:
        parsed = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def in_order(episode: Episode) -> Iterator[Decision | Event]:
    """Decisions and events of an episode in one sequence.

    Each list is in the order of the log already; where neither lines nor times tell a decision from an event, the
    decision comes first, since what is done is what has results.
    """
    events = list(episode.events)
    taken = 0
    for decision in episode.decisions:
        while taken < len(events) and precedes(events[taken], decision):
            yield events[taken]
            taken += 1
        yield decision
    yield from events[taken:]
