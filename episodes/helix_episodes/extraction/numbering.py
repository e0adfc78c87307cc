"""Numbering: drafts of decisions and events, put in order of time and given their ids.

The stages that find decisions and events draft them independently; `number_drafts` sorts the drafts and numbers them
(``d001`` …, ``e001`` …), with the calls each comes from. Links, outcome and the rest are worked out on the result.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import CheckVerdict
from helix_episodes.model import Decision, Event

if TYPE_CHECKING:
    from collections.abc import Iterable


class DraftDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision without an id: the calls it was carried out by (numbers of acts) and its place among the steps.

    ``mark`` is a name by which whoever drafted it finds its id again (`Account.marked`).
    """

    position: int
    decision: Decision
    acts: tuple[int, ...] = ()
    mark: str = ""


class ReportedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a failure that only words report.

    ``until`` is where the turn ends that answers it; ``verdict`` the check's that was shown or named, if any;
    ``command`` the check's command that the same words quote, if any; ``settled`` the mark of the acceptance that
    settles it and ``since`` the place of the last report before that; ``refutes`` where the work began that rests on
    what the words say is not so.
    """

    until: int
    verdict: CheckVerdict | None = None
    command: str = ""
    settled: str | None = None
    since: int = 0
    refutes: int | None = None


class DraftEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event without an id, the act whose result it is (if any) and its place among the steps.

    ``mark`` is a name by which whoever drafted it finds its id again (`Account.marked`).
    """

    position: int
    event: Event
    act: int | None = None
    mark: str = ""
    told: ReportedFailure | None = None


class NumberedEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """The numbered whole. ``positions`` has the place among the steps of every id.

    ``marked`` has the id of every mark; that of a decision that was given none is ``d`` and its position. ``told`` has
    what is known of the failures that only words report.
    """

    decisions: tuple[Decision, ...]
    events: tuple[Event, ...]
    positions: dict[str, int]
    acts_of: dict[str, tuple[int, ...]]
    decision_of: dict[int, str]
    events_of: dict[int, tuple[str, ...]]
    act_of: dict[str, int]
    marked: dict[str, str] = msgspec.field(default_factory=dict)
    told: dict[str, ReportedFailure] = msgspec.field(default_factory=dict)

    def decision(self, identity: str) -> Decision:
        """The decision of an id."""
        return self.decisions[int(identity[1:]) - 1]

    def event(self, identity: str) -> Event:
        """The event of an id."""
        return self.events[int(identity[1:]) - 1]

    def decisions_between(self, start: int, end: int | None = None) -> list[Decision]:
        """The decisions taken after position ``start`` and before ``end``, in order."""
        first = bisect_right(self.decisions, start, key=self._position)
        last = len(self.decisions) if end is None else bisect_left(self.decisions, end, key=self._position)
        return list(self.decisions[first:last])

    def _position(self, decision: Decision) -> int:
        return self.positions[decision.id]


def number_drafts(decisions: Iterable[DraftDecision], events: Iterable[DraftEvent]) -> NumberedEpisode:
    """Puts drafts in order of time and numbers them from 1."""
    named_decisions = [
        (f"d{n:03}", draft) for n, draft in enumerate(sorted(decisions, key=lambda draft: draft.position), 1)
    ]
    named_events = [(f"e{n:03}", draft) for n, draft in enumerate(sorted(events, key=lambda draft: draft.position), 1)]
    positions = {name: draft.position for name, draft in named_decisions}
    return NumberedEpisode(
        decisions=tuple(msgspec.structs.replace(draft.decision, id=name) for name, draft in named_decisions),
        events=tuple(msgspec.structs.replace(draft.event, id=name) for name, draft in named_events),
        positions=positions | {name: draft.position for name, draft in named_events},
        acts_of={name: draft.acts for name, draft in named_decisions},
        decision_of={act: name for name, draft in named_decisions for act in draft.acts},
        events_of=_events_of(named_events),
        act_of={name: draft.act for name, draft in named_events if draft.act is not None},
        marked={draft.mark: name for name, draft in named_events if draft.mark}
        | {draft.mark or f"d{draft.position}": name for name, draft in named_decisions},
        told={name: draft.told for name, draft in named_events if draft.told is not None},
    )


def _events_of(named: list[tuple[str, DraftEvent]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for name, draft in named:
        if draft.act is not None:
            found[draft.act] = (*found.get(draft.act, ()), name)
    return found
