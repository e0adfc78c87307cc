"""Patterns that people have added: every assertion of a name is one use of it.

The same name in any case is the same pattern. Trigger, action and description are the first ones given, as in the
original; the rate is the mean of those given, in exact integers, whatever the order of the files. A pattern that nobody
has given a rate says 1.0, the original's default, and that it is not ``measured``.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph.graph.assertions import FOLDER, AssertionStore
from helix_graph.graph.weights import MILLION, mean_weight

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from helix_graph.graph.assertions import PatternAssertion

#: What the original gives a pattern when nobody says how often it works.
ASSUMED_RATE = 1.0


class AssertedPattern(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern added by hand, with the original's keys. ``unrated`` counts its uses without a rate."""

    id: str
    name: str
    description: str
    trigger: str
    action: str
    success_rate: float
    occurrences: int
    last_used: str
    measured: bool
    unrated: int


def fold_patterns(assertions: Iterable[tuple[str, PatternAssertion]]) -> tuple[AssertedPattern, ...]:
    """The patterns of assertions that come oldest first, by name."""
    uses: dict[str, list[PatternAssertion]] = {}
    for _, one in assertions:
        uses.setdefault(one.name.casefold(), []).append(one)
    return tuple(_pattern(name, uses[name]) for name in sorted(uses))


def pattern_named(causality: Path, name: str) -> dict[str, Any]:
    """The row of a pattern that has been asserted."""
    found = fold_patterns(AssertionStore(causality / FOLDER).patterns())
    row = msgspec.to_builtins(next(one for one in found if one.name.casefold() == name.casefold()))
    return {key: value for key, value in row.items() if key != "unrated"}


def _pattern(name: str, uses: Sequence[PatternAssertion]) -> AssertedPattern:
    rates = [round(one.success_rate * MILLION) for one in uses if one.success_rate is not None]
    first = uses[0]
    return AssertedPattern(
        id=_id(name),
        name=first.name,
        description=first.description,
        trigger=first.trigger,
        action=first.action,
        success_rate=mean_weight(sum(rates), len(rates)) if rates else ASSUMED_RATE,
        occurrences=len(uses),
        last_used=uses[-1].asserted_at,
        measured=bool(rates),
        unrated=len(uses) - len(rates),
    )


def _id(name: str) -> str:
    digest = hashlib.blake2b(f"asserted\x1f{name}".encode(), digest_size=10).digest()
    return "p" + base64.b32encode(digest).decode().lower()
