"""Completion: what decisions and events can only say once they are linked.

The error that a decision answers is its context and makes it a recovery; a decision's outcome follows from its own
effects; and the original schema's ``caused_by``, ``leads_to`` and ``effects`` are the links seen from either end.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.account import Account
    from helix_episodes.extraction.acts import Act
    from helix_episodes.extraction.history import History
    from helix_episodes.model import Decision, Event, Fix, Link, Outcome


def complete(
    history: History, links: Sequence[Link], fixes: Sequence[Fix]
) -> tuple[tuple[Decision, ...], tuple[Event, ...]]:
    """The account's decisions and events with everything that follows from links and fixes."""
    ends = _Ends(links, fixes)
    decisions = tuple(
        replace(
            _in_context(decision, history.account, ends),
            outcome=_outcome(decision, history, ends) if decision.outcome == "unknown" else decision.outcome,
            effects=ends.effects(decision.id),
            caused_by=ends.causes(decision.id),
        )
        for decision in history.account.decisions
    )
    events = tuple(
        replace(event, caused_by=ends.causes(event.id), leads_to=ends.effects(event.id))
        for event in history.account.events
    )
    return decisions, events


class _Ends:
    """Links and fixes by either end, so that each decision looks only at its own."""

    def __init__(self, links: Sequence[Link], fixes: Sequence[Fix]) -> None:
        self.leaving: dict[str, list[Link]] = defaultdict(list)
        self.entering: dict[str, list[Link]] = defaultdict(list)
        for link in links:
            self.leaving[link.source].append(link)
            self.entering[link.target].append(link)
        self.fixed = {fix.error for fix in fixes}
        self.fixers = {change for fix in fixes if fix.verified_by for change in fix.changes}

    def causes(self, name: str) -> tuple[str, ...]:
        """What led to it, each once."""
        return tuple(dict.fromkeys(link.source for link in self.entering[name]))

    def effects(self, name: str) -> tuple[str, ...]:
        """What it led to, each once."""
        return tuple(dict.fromkeys(link.target for link in self.leaving[name]))

    def answered_by(self, name: str) -> list[str]:
        """The errors that a decision answers."""
        return [link.source for link in self.entering[name] if link.reason == "answer"]


def _in_context(decision: Decision, account: Account, ends: _Ends) -> Decision:
    """An answer's context is the error it answers; no context repeats what was chosen."""
    answered = ends.answered_by(decision.id)
    if answered:
        reproduces = decision.type == "test" and answered[-1] in account.told
        kind = decision.type if decision.type == "routing" or reproduces else "recovery"
        return replace(decision, context=account.event(answered[-1]).content, type=kind)
    return replace(decision, context="") if decision.context == decision.chosen else decision


def _outcome(decision: Decision, history: History, ends: _Ends) -> Outcome:
    """From its own effects: what it repaired, else the verdicts it led to, else how its last call ended."""
    if decision.id in ends.fixers:
        return "success"
    if _tried_in_vain(decision, history, ends) or _is_refuted(decision, history):
        return "failure"
    verdicts = _verdicts(decision, history, ends)
    if verdicts:
        return "partial" if len(verdicts) > 1 else "failure" if "error" in verdicts else "success"
    if history.went_wrong(decision):
        return "failure"
    looks = all(act.operation == "look" for act in history.acts_of(decision))
    if not looks and _answers_in_vain(decision, ends):
        return "failure"
    return _by_call(decision, history)


def _tried_in_vain(decision: Decision, history: History, ends: _Ends) -> bool:
    """Whether a change answers a check's failure, and the check fails in the same way right after it."""
    if not history.changes_files(decision):
        return False
    done = history.acts_of(decision)[-1].position
    errors = [history.account.event(name) for name in ends.answered_by(decision.id) if name in history.run_of]
    return any(error.family in history.families_next(error.check or "", done) for error in errors)


def _is_refuted(decision: Decision, history: History) -> bool:
    """Whether it changed a file in the turn of which a person then says that what it rests on is not so."""
    if not history.changes_files(decision) or history.went_wrong(decision):
        return False
    positions = history.account.positions
    refuted = ((told.refutes, positions[name]) for name, told in history.account.told.items())
    return any(start is not None and start < positions[decision.id] < end for start, end in refuted)


def _verdicts(decision: Decision, history: History, ends: _Ends) -> set[str]:
    """The verdicts of its latest run for a command, of every check that followed for an edit."""
    targets = [history.account.event(link.target) for link in ends.leaving[decision.id] if _judges(link)]
    judged = [event for event in targets if event.type in {"error", "test"} or event.status == "ok"]
    if decision.action is not None and decision.action.verb == "run" and judged:
        last = max(history.account.positions[event.id] for event in judged)
        judged = [event for event in judged if history.account.positions[event.id] == last]
    return {"error" if event.type == "error" else "test" for event in judged}


def _judges(link: Link) -> bool:
    """Whether a link leads to what came of a decision: of its calls, or by a report's own words."""
    return link.reason in {"call", "edit-test"} or (link.reason in {"entry", "stated"} and link.target.startswith("e"))


def _answers_in_vain(decision: Decision, ends: _Ends) -> bool:
    answered = ends.answered_by(decision.id)
    return bool(answered) and not ends.fixed.intersection(answered) and decision.type == "recovery"


def _by_call(decision: Decision, history: History) -> Outcome:
    """A command or a delegation that went through did what it was to do.

    An edit is proven only by a check, and a check whose verdict cannot be seen (``| tail -3``) proves nothing.
    """
    acts = history.acts_of(decision)
    if not acts or acts[-1].operation not in {"run", "delegate", "use"} or _is_check(acts[-1]):
        return "unknown"
    if acts[-1].operation == "use" and not acts[-1].call.arguments:
        return "unknown"  # told nothing, it shows nothing of having done anything
    return {"ok": "success", "error": "failure"}.get(acts[-1].status, "unknown")  # type: ignore[return-value]  # Outcomes


def _is_check(act: Act) -> bool:
    return act.decisive is not None and act.decisive.purpose == "check"
