"""Links of a report: what it puts side by side, what it calls the cause of what, and what became of its choices.

An entry of a work log says what was done and what was found; a problem comes with its cause and its remedy, a decision
with its reason and what came of it. A statement that only says the same again in other words ("Added a hook": "Wrote
hooks/pre-commit") belongs to the other, and so does an error that was found: it was there before. Such pairs correlate;
only the rest are causes. Order alone links nothing.

A report seldom says with a choice how it came out. Two things that it does say are evidence. A *later check*: the
first run that names what the choice's own entry names (``export_rows`` and ``test_export_rows``), or a run of
everything, judges a change as the next test run judges an edit in a recording. An *entry that did it*: a decision that
the log lists separately is described again where it was carried out, and what was found there is what came of it.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.extraction.prose.failures import is_change
from helix_episodes.extraction.prose.sentences import stems, word_overlap
from helix_episodes.light_imports import Regex
from helix_episodes.model import EdgeType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.drafts import DraftDecision, DraftEvent
    from helix_episodes.session import Step


#: ``underlying`` is a failure that only the finding of a change reports: it led to the change, not to each choice.
StatementKind = Literal["cause", "problem", "underlying", "reason", "decision", "did", "found", "remedy", "outcome"]
StatedReason = Literal["entry", "stated", "edit-test"]

#: Who looks, finds what was there to be seen; what comes of any other deed is what has changed by it.
_LOOKS = re.compile(
    r"^\W*(?:also |then |re-?)*(?:review|measur|verif|validat|reproduc)\w*\b|^\W*(?:re-?)?(?:read|ran)\b",
    re.IGNORECASE,
)
#: What is handed on was tested before.
_DELIVERS = re.compile(r"^\W*(?:git )?push\w*\b", re.IGNORECASE)
_FIXED = re.compile(r"^\W*fixed\b", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:now|pass(?:es)?|fixed|resolved|succe\w+|merged|from \S+ to)\b",
    re.IGNORECASE,
)
#: What the agent says it did; in a finding that is the deed again, not what came of it.
_DEED = re.compile(
    r"^\W*(?!(?:confirmed|passed|identified|reduced|improved)\b)[a-z]+ed\b",
    re.IGNORECASE,
)
_SIDE_BY_SIDE: tuple[tuple[StatementKind, StatementKind, StatedReason], ...] = (
    ("cause", "problem", "stated"),
    ("cause", "decision", "stated"),
    ("problem", "decision", "stated"),
    ("problem", "did", "stated"),
    ("problem", "remedy", "stated"),
    ("problem", "found", "stated"),
    ("underlying", "did", "stated"),
    ("underlying", "found", "stated"),
    ("reason", "decision", "stated"),
    ("decision", "outcome", "stated"),
    ("decision", "found", "entry"),
    ("did", "found", "entry"),
)


class StatementMark(msgspec.Struct, frozen=True, kw_only=True):
    """One drafted statement: its mark, what it is, the entry that it belongs to, its words and its type of event.

    ``detail``: it only says more of what was done; ``good``: it says that it came out well.
    """

    mark: str
    kind: StatementKind
    entry: str
    text: str = ""
    type: str = ""
    detail: bool = False
    good: bool = False


class StatementPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two statements, by their marks, that a report joins."""

    source: str
    target: str
    reason: StatedReason
    type: EdgeType = "causes"


def pairs_of(marks: Sequence[StatementMark]) -> Iterator[StatementPair]:
    """What each entry puts side by side, from the earlier kind to the later."""
    entries: dict[str, dict[StatementKind, list[StatementMark]]] = {}
    for mark in marks:
        entries.setdefault(mark.entry, {}).setdefault(mark.kind, []).append(mark)
    for parts in entries.values():
        for first, second, reason in _SIDE_BY_SIDE:
            for source, target in product(parts.get(first, ()), parts.get(second, ())):
                if _belong(source, target, parts):
                    kind = _type(source, target)
                    yield StatementPair(source=source.mark, target=target.mark, reason=reason, type=kind)


def _belong(source: StatementMark, target: StatementMark, parts: dict[StatementKind, list[StatementMark]]) -> bool:
    """Of what an entry found, a check judges its choice; where the entry fixed something, it is the remedy."""
    if source.mark == target.mark:
        return False
    if source.kind == "did" and target.type == "test":
        return _DELIVERS.match(source.text) is None
    if target.kind != "found" or source.kind == "did":
        return True
    if source.kind == "decision":
        # Within one statement, the finding says nothing of what came of the choice.
        own = source.mark[1:].partition(".")[0] == target.mark[1:].partition(".")[0]
        return (target.type == "test" or target.good) and not own
    return target.type == "milestone" and any(_FIXED.match(one.text) for one in parts.get("did", ()))


def _type(source: StatementMark, target: StatementMark) -> EdgeType:
    if source.kind != "did" or target.type == "test":
        return "causes"
    same = target.type == "error" or target.detail or _DEED.match(target.text)
    brought = _LOOKS.match(source.text) or _CHANGED.search(target.text)
    return "causes" if brought and not same else "correlates"


#: Names of code: joined by underscores, dots or slashes, or by a capital within.
_NAME = Regex(r"\b[A-Za-z]\w*(?:[_./-]\w+)+|\b[A-Za-z]+[a-z][A-Z]\w+")
_AROUND_NAME = Regex(r"^test_|\.\w+$", re.IGNORECASE)
#: A shorter name ("e.g", "a/b") is a name of many things.
_NAME_LENGTH = 6
_EVERYTHING = Regex(
    r"\bfull (?:[\w.-]+ ){0,3}?suite\b",
    re.IGNORECASE,
)
#: A name in so few statements says what they are about.
_RARE = 4
#: Two statements are of one deed when this much of the shorter is in the longer, in at least so many words.
_SAME_DEED, _SAME_WORDS = 0.6, 3


def choice_outcomes(
    steps: Sequence[Step], choices: Sequence[DraftDecision], events: Sequence[DraftEvent]
) -> Iterator[StatementPair]:
    """Each choice of a report with what shows how it came out; ``choices`` are those that its prose makes."""
    judging = [one for one in events if one.event.status == "ok" and one.mark]
    checks = [one for one in judging if one.event.type == "test"]
    changing = [one for one in choices if is_change(one.decision.chosen)]
    notes = [step for step in steps if checks and changing and step.kind == "note"]
    uses = Counter(name for step in notes for name in _names(step.text))
    rare = frozenset(name for name, times in uses.items() if times <= _RARE)
    for choice in changing:
        check = _next_check(steps, choice, checks, rare=rare)
        if check is not None:
            yield StatementPair(source=choice.mark, target=check.mark, reason="edit-test")
    for position, step in enumerate(steps):
        if step.kind == "decision":
            for found in _where_carried_out(steps, step, judging):
                yield StatementPair(source=f"d{position}", target=found.mark, reason="stated")


def _next_check(
    steps: Sequence[Step], choice: DraftDecision, checks: Sequence[DraftEvent], *, rare: frozenset[str]
) -> DraftEvent | None:
    """The next check of a later entry if it runs everything or names what the choice's entry names; else a later one.

    A later one judges all that was done in between, unless it shares a name that few statements use.
    """
    own = steps[choice.position]
    entry = [step for step in steps if step is own or (own.call_id is not None and step.call_id == own.call_id)]
    named = _names(" ".join(step.text for step in entry))
    beside = {id(step) for step in entry}
    later = [one for one in checks if one.position > choice.position and id(steps[one.position]) not in beside]
    texts = [steps[one.position].text for one in later]
    if later and (_EVERYTHING.search(texts[0]) or named & _names(texts[0])):
        return later[0]
    return next((one for one, text in zip(later, texts, strict=True) if named & rare & _names(text)), None)


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    """The names of code in a text, without folder, ending and what makes a test's name of it."""
    bare = (_AROUND_NAME.sub("", name.rpartition("/")[2]).casefold() for name in _NAME.findall(text))
    return frozenset(name for name in bare if len(name) >= _NAME_LENGTH)


def _where_carried_out(steps: Sequence[Step], decision: Step, judging: Sequence[DraftEvent]) -> list[DraftEvent]:
    """What was found well in the entry whose deed is, by most of its words, what was decided."""
    wanted = stems(decision.text)
    deeds = [(stems(step.text), step) for step in steps if step.arguments.get("part") == "did" and step.call_id]
    alike = [
        (len(words & wanted), n) for n, (words, _) in enumerate(deeds) if word_overlap(words, wanted) >= _SAME_DEED
    ]
    common, best = max(alike, default=(0, 0))
    deed = deeds[best][1] if common >= _SAME_WORDS else None
    return [] if deed is None else [one for one in judging if steps[one.position].call_id == deed.call_id]
