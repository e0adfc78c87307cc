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
    account = history.account
    causes, effects = _ends(links)
    decisions = tuple(
        replace(
            _in_context(decision, account, links),
            outcome=_outcome(decision, history, links, fixes),
            effects=tuple(effects[decision.id]),
            caused_by=tuple(causes[decision.id]),
        )
        for decision in account.decisions
    )
    events = tuple(
        replace(event, caused_by=tuple(causes[event.id]), leads_to=tuple(effects[event.id])) for event in account.events
    )
    return decisions, events


def _ends(links: Sequence[Link]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    causes: dict[str, list[str]] = defaultdict(list)
    effects: dict[str, list[str]] = defaultdict(list)
    for link in links:
        if link.source not in causes[link.target]:
            causes[link.target].append(link.source)
        if link.target not in effects[link.source]:
            effects[link.source].append(link.target)
    return causes, effects


def _in_context(decision: Decision, account: Account, links: Sequence[Link]) -> Decision:
    """An answer's context is the error it answers; no context repeats what was chosen."""
    answered = [link.source for link in links if link.target == decision.id and link.reason == "answer"]
    if answered:
        kind = decision.type if decision.type == "routing" else "recovery"
        return replace(decision, context=account.event(answered[-1]).content, type=kind)
    return replace(decision, context="") if decision.context == decision.chosen else decision


def _outcome(decision: Decision, history: History, links: Sequence[Link], fixes: Sequence[Fix]) -> Outcome:
    """From its own effects: what it repaired, else the verdicts it led to, else how its last call ended."""
    if any(decision.id in fix.changes and fix.verified_by for fix in fixes):
        return "success"
    verdicts = _verdicts(decision, history, links)
    if verdicts:
        return "partial" if len(verdicts) > 1 else "failure" if "error" in verdicts else "success"
    looks = all(act.operation == "look" for act in history.acts_of(decision))
    if not looks and _answers_in_vain(decision, links, fixes):
        return "failure"
    return _by_call(decision, history)


def _verdicts(decision: Decision, history: History, links: Sequence[Link]) -> set[str]:
    """The verdicts of its latest run for a command, of every check that followed for an edit."""
    targets = [
        history.account.event(link.target)
        for link in links
        if link.source == decision.id and link.reason in {"call", "edit-test"}
    ]
    judged = [event for event in targets if event.type in {"error", "test"}]
    if decision.action is not None and decision.action.verb == "run" and judged:
        last = max(history.account.positions[event.id] for event in judged)
        judged = [event for event in judged if history.account.positions[event.id] == last]
    return {event.type for event in judged}


def _answers_in_vain(decision: Decision, links: Sequence[Link], fixes: Sequence[Fix]) -> bool:
    answered = {link.source for link in links if link.target == decision.id and link.reason == "answer"}
    return bool(answered) and not any(fix.error in answered for fix in fixes) and decision.type == "recovery"


def _by_call(decision: Decision, history: History) -> Outcome:
    """A command or a delegation that went through did what it was to do.

    An edit is proven only by a check, and a check whose verdict cannot be seen (``| tail -3``) proves nothing.
    """
    acts = history.acts_of(decision)
    if not acts or acts[-1].operation not in {"run", "delegate", "use"} or _is_check(acts[-1]):
        return "unknown"
    return {"ok": "success", "error": "failure"}.get(acts[-1].status, "unknown")  # type: ignore[return-value]  # Outcomes


def _is_check(act: Act) -> bool:
    return act.decisive is not None and act.decisive.purpose == "check"
