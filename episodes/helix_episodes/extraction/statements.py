"""Reports: what happened by the account of a log that is a report of the work, not a recording of calls.

Such a log says what was *done* and what was *found*, which problems were met and how they were mended. Each statement
becomes an event: a failure where one is told (`helix_episodes.extraction.troubles_told`), a test run where one passed,
else a milestone. What a log puts side by side is linked: what an entry did with what it found (``entry``), a problem
with its remedy and a decision with what came of it (``stated``). Order alone links nothing here either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.extraction.account import DraftDecision, DraftEvent
from helix_episodes.extraction.choices import choice_in
from helix_episodes.extraction.evidence import evidence_of, timestamp_of
from helix_episodes.extraction.troubles_told import Trouble, mended_in, troubles_in
from helix_episodes.extraction.words import line
from helix_episodes.model import Action, Decision, Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.session import Session, Step

_CONTENT_LIMIT = 240
_PASSED = re.compile(
    r"\b(?P<count>\d[\d,]*)\s+(?:[\w./-]+\s+){0,3}?(?:tests?\s+)?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE
)
_ALL_PASS = re.compile(r"\ball (?:[\w./-]+ ){0,3}tests? (?:are )?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE)
_FAILED = re.compile(r"\b(?P<count>[1-9]\d*)\s+(?:tests? )?(?:failed|failing|failures?)\b", re.IGNORECASE)
_RUNNER = re.compile(
    r"\b(pytest|pester|jest|vitest|mypy|ruff|go test|cargo test|rspec|dotnet test|eslint)\b", re.IGNORECASE
)

Kind = Literal["did", "found", "problem", "remedy", "outcome", "decision"]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a report tells: events, decisions that its prose makes, and pairs of marks that it puts side by side."""

    events: tuple[DraftEvent, ...] = ()
    decisions: tuple[DraftDecision, ...] = ()
    pairs: tuple[tuple[str, str, Literal["entry", "stated"]], ...] = ()


class _Mark(msgspec.Struct, frozen=True, kw_only=True):
    """One drafted statement: its mark, what it is and the entry that it belongs to."""

    mark: str
    kind: Kind
    entry: str
    fails: bool = False


def told_in(session: Session) -> Told:
    """Everything that the notes of a session tell; nothing for a recording."""
    teller = _Teller(session)
    for position, step in enumerate(session.steps):
        if step.kind == "note":
            teller.take(position, step)
        elif step.kind == "decision" and step.call_id:
            teller.marks.append(_Mark(mark=f"d{position}", kind="decision", entry=step.call_id))
    return Told(events=tuple(teller.events), decisions=tuple(teller.decisions), pairs=tuple(_pairs(teller.marks)))


def is_report(session: Session) -> bool:
    """Whether a session's log tells of the work instead of recording its calls."""
    return any(step.kind == "note" and "part" in step.arguments for step in session.steps)


class _Teller:
    """Drafts the events and decisions of one report, each told problem once."""

    def __init__(self, session: Session) -> None:
        self.events: list[DraftEvent] = []
        self.decisions: list[DraftDecision] = []
        self.marks: list[_Mark] = []
        self.told: set[str] = set()
        self.findings = _findings(session.steps)

    def take(self, position: int, step: Step) -> None:
        part = step.arguments.get("part")
        if part == "problem":
            self._fail(position, step, (Trouble(said=step.text),), kind="problem")
        elif part == "task":
            self._choose(position, step)
        elif part == "commit":
            self.events.append(DraftEvent(position=position, event=_commit(step)))
        elif part in {"did", "found", "remedy", "outcome"}:
            self._say(position, step, part)
            self._choose(position, step)

    def _say(self, position: int, step: Step, part: Kind) -> None:
        """A statement of what was done or found: the troubles it tells, else a test run or a milestone."""
        beside = self.findings.get(step.call_id or "", "") if part == "did" else ""
        mended = () if part != "did" or troubles_in(beside) else mended_in(step.text, found=beside)
        self._fail(position, step, mended, kind="problem")
        silent = mended or part in {"remedy", "outcome"} or troubles_in(beside)
        troubles = () if silent else troubles_in(step.text)
        told = self._fail(position, step, troubles, kind=part)
        if not told:
            event = _passes(step) or _event(step, type="milestone", content=step.text)
            self._add(position, step, event, kind=part)

    def _fail(self, position: int, step: Step, troubles: Sequence[Trouble], *, kind: Kind) -> bool:
        new = [one for one in troubles if _same(one.said) not in self.told]
        for trouble in new:
            self.told.add(_same(trouble.said))
            self._add(position, step, _failure(step, trouble), kind=kind)
        return bool(new)

    def _add(self, position: int, step: Step, event: Event, *, kind: Kind) -> None:
        mark = f"s{position}.{len(self.events)}"
        self.events.append(DraftEvent(position=position, event=event, mark=mark))
        if step.call_id:
            self.marks.append(_Mark(mark=mark, kind=kind, entry=step.call_id, fails=event.type == "error"))

    def _choose(self, position: int, step: Step) -> None:
        choice = choice_in(step.text)
        if choice is not None:
            decision = Decision(
                id="",
                timestamp=timestamp_of(step),
                type="design",
                context=line(choice.context or str(step.arguments.get("context") or "")),
                chosen=line(choice.chosen),
                rationale=line(choice.rationale),
                options=tuple(line(option) for option in choice.options),
                stated=True,
                action=Action(verb="choose", object=line(choice.chosen, limit=80)),
                actor=step.actor,
                evidence=evidence_of(step, choice.said),
            )
            self.decisions.append(DraftDecision(position=position, decision=decision))


def _commit(step: Step) -> Event:
    """A commit that a report names as the session's own."""
    return _event(step, type="commit", content=f"commit {step.text}", quoted=step.text, commit=step.text, status="ok")


def _findings(steps: Sequence[Step]) -> dict[str, str]:
    """What each entry found, for entries that only say that "issue 3" was fixed."""
    found: dict[str, str] = {}
    for step in steps:
        if step.kind == "note" and step.call_id and step.arguments.get("part") == "found":
            found.setdefault(step.call_id, step.text)
    return found


def _pairs(marks: Sequence[_Mark]) -> Iterator[tuple[str, str, Literal["entry", "stated"]]]:
    """What stands side by side in an entry, from the earlier kind to the later."""
    entries: dict[str, dict[str, list[str]]] = {}
    for mark in marks:
        entries.setdefault(mark.entry, {}).setdefault(mark.kind, []).append(mark.mark)
    for parts in entries.values():
        for first, second, reason in _SIDE_BY_SIDE:
            for source in parts.get(first, ()):
                for target in parts.get(second, ()):
                    yield source, target, reason


_SIDE_BY_SIDE: tuple[tuple[Kind, Kind, Literal["entry", "stated"]], ...] = (
    ("did", "found", "entry"),
    ("problem", "remedy", "stated"),
    ("problem", "did", "stated"),
    ("decision", "outcome", "stated"),
)


def _passes(step: Step) -> Event | None:
    """A test run that the statement says passed."""
    passed, everything = _PASSED.search(step.text), _ALL_PASS.search(step.text)
    if (passed is None and everything is None) or _FAILED.search(step.text):
        return None
    runner = _RUNNER.search(step.text)
    count = int(passed["count"].replace(",", "")) if passed else None
    check = runner[1].casefold() if runner else "tests"
    return _event(step, type="test", content=step.text, check=check, passed=count, status="ok")


def _failure(step: Step, trouble: Trouble) -> Event:
    failed = _FAILED.search(trouble.said)
    runner = _RUNNER.search(trouble.said)
    return _event(
        step,
        type="error",
        content=trouble.said,
        check=(runner[1].casefold() if runner else "tests") if failed else None,
        family=trouble.family,
        message=line(trouble.said, limit=_CONTENT_LIMIT),
        failed=int(failed["count"]) if failed else None,
        status="error",
        quoted=trouble.quote or trouble.said,
    )


def _event(step: Step, *, content: str, quoted: str = "", **fields: object) -> Event:
    return Event(
        id="",
        timestamp=timestamp_of(step),
        content=line(content, limit=_CONTENT_LIMIT),
        actor=step.actor,
        evidence=evidence_of(step, quoted or content),
        **fields,  # type: ignore[arg-type]  # checked by msgspec
    )


def _same(text: str) -> str:
    """A problem told twice in the same words is one."""
    return " ".join(re.findall(r"\w+", text.casefold()))
