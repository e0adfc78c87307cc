"""Whether what was done worked, as far as one episode's log shows.

Every measure is ``True``, ``False`` or ``None``; ``None`` means that the log does not show it, and never counts as
either. `helix_graph.causality.tables` says which measure is used for what, and why.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from helix_graph.causality.timeline import precedes
from helix_graph.graph.labels import is_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.model import Decision, Episode, Event, Link
    from helix_graph.graph.observations import Basis

#: Outcomes that somebody or something other than the agent itself vouches for.
_VOUCHED = frozenset({"rewarded", "judged", "measured"})


class Measures:
    """The measures of one episode. Building it reads the episode once; each measure looks only at what it needs."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._place = {event.id: place for place, event in enumerate(episode.events)}
        self._decisions = {decision.id: decision for decision in episode.decisions}
        self._verified_by = {fix.error: fix.verified_by for fix in episode.fixes if fix.verified_by is not None}
        self._runs: dict[str, list[Event]] = defaultdict(list)
        for event in episode.events:
            if event.check and event.type in {"test", "error"}:
                self._runs[event.check].append(event)
        self._answered: dict[str, list[Event]] = defaultdict(list)
        self._tested: dict[str, list[Event]] = defaultdict(list)
        for link in episode.links:
            self._sort_in(link)

    def _sort_in(self, link: Link) -> None:
        if link.reason == "answer" and link.source in self._place:
            self._answered[link.target].append(self._event(link.source))
        elif link.reason == "edit-test" and link.target in self._place:
            self._tested[link.source].append(self._event(link.target))

    def _event(self, name: str) -> Event:
        return self._episode.events[self._place[name]]

    def answered(self, decision: Decision) -> list[Event]:
        """The errors that a decision answers, in the order of the log."""
        errors = filter(is_error, self._answered.get(decision.id, ()))
        return sorted(errors, key=lambda error: self._place[error.id])

    def answer(self, error: Event, decision: Decision) -> dict[Basis, bool | None]:
        """Whether the check that failed passes after ``decision``: in the end, and at the very next run.

        And whether that run no longer complains of the same: a linter that goes on failing for another rule says
        nothing against the answer to this one.
        """
        runs = [run for run in self._later_runs(error) if precedes(run, decision) is not True]
        verified_by = self._verified_by.get(error.id)
        return {
            "check passes later": self._passes_later(error, runs),
            "next check passes": _passes_next(runs, self._decisions.get(verified_by or "")),
            "gone at the next run": _gone_next(runs, error, self._decisions.get(verified_by or "")),
        }

    def edit(self, decision: Decision) -> bool | None:
        """Whether the first check over an edit passed, of those that were not failing before it."""
        targets = sorted(self._tested.get(decision.id, ()), key=lambda run: self._place[run.id])
        sound = {check for check in {run.check for run in targets} if not self._was_failing(check, decision)}
        runs = [run for run in targets if run.check in sound]
        # One command may run several checks, and one check may complain of several things: the first result, its peers.
        return all(_passes(run) for run in runs if precedes(runs[0], run) is not True) if runs else None

    def outcome(self) -> bool | None:
        """Whether the episode was a success, when somebody vouches for its outcome."""
        episode = self._episode
        if episode.outcome == "unknown" or episode.outcome_basis not in _VOUCHED:
            return None
        return episode.outcome == "success"

    def _passes_later(self, error: Event, runs: Sequence[Event]) -> bool | None:
        if error.id in self._verified_by or any(map(_passes, runs)):
            return True
        return False if runs or self._left_unrepaired(error) else None

    def _later_runs(self, error: Event) -> Iterator[Event]:
        """Later results of the check that the error came from, in order, without the other errors of the same run."""
        for run in self._runs.get(error.check or "", ()):
            later = precedes(error, run)
            # Events are listed in the order of the log, which decides where neither lines nor times do.
            if later or (later is None and self._place[run.id] > self._place[error.id]):
                yield run

    def _left_unrepaired(self, error: Event) -> bool:
        """Whether the episode was measured a failure on account of this error's check."""
        episode = self._episode
        decided_by = episode.outcome_evidence.source if episode.outcome_evidence else None
        if episode.outcome != "failure" or episode.outcome_basis != "measured" or decided_by not in self._place:
            return False
        return error.check is not None and self._event(decided_by).check == error.check

    def _was_failing(self, check: str | None, decision: Decision) -> bool:
        """Whether the check, when it last ran before the decision, failed."""
        earlier = (run for run in reversed(self._runs.get(check or "", ())) if precedes(run, decision))
        last = next(earlier, None)
        return last is not None and is_error(last)


def _passes(run: Event) -> bool:
    return run.type == "test" and run.status == "ok"


def _passes_next(runs: Sequence[Event], went_well: Decision | None) -> bool | None:
    """``went_well`` is the call that verified the fix of a tool's or command's error, and so its passing run."""
    if went_well is not None:
        return not any(precedes(run, went_well) for run in runs)
    return _passes(runs[0]) if runs else None


def _gone_next(runs: Sequence[Event], error: Event, went_well: Decision | None) -> bool | None:
    """Whether the next run has another family or none; its errors stand on one line of the log."""
    if went_well is not None or not runs:
        return _passes_next(runs, went_well)
    peers = [run for run in runs if precedes(runs[0], run) is not True]
    return all(run.family != error.family for run in peers)
