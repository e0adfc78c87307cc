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

#: ``met`` is a failure that only the finding of a change tells: it led to the change, not to each choice beside it.
Kind = Literal["cause", "problem", "met", "reason", "decision", "did", "found", "remedy", "outcome"]
ToldReason = Literal["entry", "stated", "answer", "edit-test"]

#: Who looks, finds what was there to be seen; what comes of any other deed is what has changed by it.
_LOOKS = re.compile(
    r"^\W*(?:also |then |re-?)*(?:analy[sz]|review|measur|check|test|verif|validat|investigat|reproduc|compar|search|"
    r"scann|audit|explor|identif|trac|profil|evaluat|execut|quer|retriev|gather|examin|inspect|assess|confirm|prob|count|look|"
    r"benchmark|research|diagnos|stud|monitor)\w*\b|^\W*(?:re-?)?(?:read|ran|run)\b",
    re.IGNORECASE,
)
#: What is handed on was tested before.
_DELIVERS = re.compile(r"^\W*(?:(?:git )?push|commit|merg|ship|publish|releas)\w*\b", re.IGNORECASE)
_MENDED = re.compile(r"^\W*(?:fixed|resolved|corrected|repaired|closed|addressed|cleared|patched)\b", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:now|no longer|improved|reduced|increased|fell|dropped|rose|pass(?:es|ing)?|works?|clean|green|fixed|"
    r"resolved|restored|eliminated|succe\w+|merged|open(?:ed)?|from \S+ to)\b",
    re.IGNORECASE,
)
#: What the agent says it did; in a finding that is the deed again, not what came of it.
_DEED = re.compile(
    r"^\W*(?!(?:found|discovered|confirmed|verified|failed|passed|identified|detected|observed|returned|reported|needed|"
    r"required|reduced|increased|blocked|improved|showed|revealed|caused)\b)"
    r"(?:[a-z]+ed|read|ran|wrote|built|made|set|split|put|took|commit [0-9a-f]{7,})\b",
    re.IGNORECASE,
)
_SIDE_BY_SIDE: tuple[tuple[Kind, Kind, ToldReason], ...] = (
    ("cause", "problem", "stated"),
    ("cause", "decision", "stated"),
    ("problem", "decision", "stated"),
    ("problem", "did", "stated"),
    ("problem", "remedy", "stated"),
    ("problem", "found", "stated"),
    ("met", "did", "stated"),
    ("met", "found", "stated"),
    ("reason", "decision", "stated"),
    ("decision", "outcome", "stated"),
    ("decision", "found", "entry"),
    ("did", "found", "entry"),
)


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One drafted statement: its mark, what it is, the entry that it belongs to, its words and its type of event.

    ``detail``: it only says more of what was done; ``good``: it says that it came out well.
    """

    mark: str
    kind: Kind
    entry: str
    text: str = ""
    type: str = ""
    detail: bool = False
    good: bool = False


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
                if _belong(source, target, parts):
                    yield Pair(source=source.mark, target=target.mark, reason=reason, type=_type(source, target))


def _belong(source: Mark, target: Mark, parts: dict[Kind, list[Mark]]) -> bool:
    """Of what an entry found, a check judges its choice; where the entry mended something, it is the remedy."""
    if source.mark == target.mark:
        return False
    if source.kind == "did" and target.type == "test":
        return _DELIVERS.match(source.text) is None
    if target.kind != "found" or source.kind == "did":
        return True
    if source.kind == "decision":
        return (target.type == "test" or target.good) and not _is_own(source, target)
    return target.type == "milestone" and any(_MENDED.match(one.text) for one in parts.get("did", ()))


def _is_own(decision: Mark, found: Mark) -> bool:
    """Whether a choice and a finding are one statement, which then says nothing of what came of the choice."""
    return decision.mark[1:].partition(".")[0] == found.mark[1:].partition(".")[0]


def _type(source: Mark, target: Mark) -> EdgeType:
    if source.kind != "did" or target.type == "test":
        return "causes"
    same = target.type == "error" or target.detail or _DEED.match(target.text)
    brought = _LOOKS.match(source.text) or _CHANGED.search(target.text)
    return "causes" if brought and not same else "correlates"
