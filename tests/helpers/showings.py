"""Logs of insights that a lot handed over or held back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.insights.model import FeedbackEntry, Injection, Withheld

if TYPE_CHECKING:
    from helix_graph.insights.model import Outcome


def showings(name: str, *, given: int, given_well: int, held: int, held_well: int) -> list[Injection | FeedbackEntry]:
    """The log of an insight that was handed over or held back evenly, and how often it went well."""
    log: list[Injection | FeedbackEntry] = []
    for fate, count, well in (("given", given, given_well), ("held", held, held_well)):
        for number in range(count):
            identity = f"{name} {fate} {number}"
            shown, chances = ((name,), {name: 0.5}) if fate == "given" else ((), {})
            withheld = () if fate == "given" else (Withheld(name=name, propensity=0.5),)
            at = "2026-11-01T10:00:00.000000Z"
            log.append(Injection(id=identity, ts=at, shown=shown, withheld=withheld, chances=chances))
            outcome: Outcome = "delivered" if number < well else "blocked"
            log.append(FeedbackEntry(id=identity, ts=at, outcome=outcome, injection=identity))
    return log
