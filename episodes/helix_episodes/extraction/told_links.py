"""Links of a report: what it puts side by side, and what it calls the cause of what.

An entry of a work log says what was done and what was found; a problem stands with its cause and its remedy, a decision
with its reason and what came of it. A statement that only says the same again in other words ("Added a hook": "Wrote
hooks/pre-commit") belongs to the other, and so does an error that was found: it was there before. Such pairs correlate;
only the rest are causes. Order alone links nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.model import EdgeType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["cause", "problem", "reason", "decision", "did", "found", "remedy", "outcome"]
ToldReason = Literal["entry", "stated", "answer"]

#: What the agent says it did; in a finding that is the deed again, not what came of it.
_DEED = re.compile(
    r"^\W*(?!(?:found|discovered|confirmed|verified|failed|passed|identified|detected|observed|returned|reported|needed|"
    r"required|reduced|increased|blocked|improved|showed|revealed|caused)\b)"
    r"(?:[a-z]+ed|read|ran|wrote|built|made|set|split|put|took)\b",
    re.IGNORECASE,
)
_SIDE_BY_SIDE: tuple[tuple[Kind, Kind, ToldReason], ...] = (
    ("cause", "problem", "stated"),
    ("cause", "decision", "stated"),
    ("problem", "decision", "stated"),
    ("problem", "did", "stated"),
    ("problem", "remedy", "stated"),
    ("reason", "decision", "stated"),
    ("decision", "outcome", "stated"),
    ("decision", "found", "entry"),
    ("did", "found", "entry"),
)


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One drafted statement: its mark, what it is, the entry that it belongs to, its words and its type of event.

    ``detail``: it only says more of what was done.
    """

    mark: str
    kind: Kind
    entry: str
    text: str = ""
    type: str = ""
    detail: bool = False


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two statements, by their marks, that a report joins."""

    source: str
    target: str
    reason: ToldReason
    type: EdgeType = "causes"


def pairs_of(marks: Sequence[Mark]) -> Iterator[Pair]:
    """What stands side by side in each entry, from the earlier kind to the later."""
    entries: dict[str, dict[Kind, list[Mark]]] = {}
    for mark in marks:
        entries.setdefault(mark.entry, {}).setdefault(mark.kind, []).append(mark)
    for parts in entries.values():
        for first, second, reason in _SIDE_BY_SIDE:
            joined = ((one, other) for one in parts.get(first, ()) for other in parts.get(second, ()))
            for source, target in joined:
                if _belong(source, target):
                    yield Pair(source=source.mark, target=target.mark, reason=reason, type=_type(source, target))


def _belong(source: Mark, target: Mark) -> bool:
    """Of what the entry of a choice found, only a check's verdict is one on the choice."""
    if source.mark == target.mark:
        return False
    return source.kind != "decision" or target.kind != "found" or target.type == "test"


def _type(source: Mark, target: Mark) -> EdgeType:
    if source.kind != "did" or target.type == "test":
        return "causes"
    return "correlates" if target.type == "error" or target.detail or _DEED.match(target.text) else "causes"
