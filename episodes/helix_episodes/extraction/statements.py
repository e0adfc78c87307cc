"""Reports: what happened by the account of a log that is a report of the work, not a recording of calls.

Such a log says what was *done* and what was *found*, which problems were met and how they were mended. Each statement
becomes an event: a failure where one is told (`helix_episodes.extraction.troubles_told`), a test run where one passed,
else a milestone; and a decision where it makes a choice (`helix_episodes.extraction.choices`), with the fact that it
gives as the reason. What the log joins is linked (`helix_episodes.extraction.told_links`).

A failure that is told again in much the same words is one failure; where a later statement says that it was mended,
that is the answer to it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.account import DraftDecision, DraftEvent
from helix_episodes.extraction.causes_told import cause_in
from helix_episodes.extraction.choices import Choice, choices_in, fact_in
from helix_episodes.extraction.evidence import evidence_of, timestamp_of
from helix_episodes.extraction.lessons_told import lessons_in
from helix_episodes.extraction.sameness import share, stems
from helix_episodes.extraction.stated import reasons_of
from helix_episodes.extraction.told_events import commit_of, event_of, failure_of, outcome_of, reason_of
from helix_episodes.extraction.told_links import Kind, Mark, Pair, pairs_of
from helix_episodes.extraction.told_outcomes import outcomes_told, with_taken_back
from helix_episodes.extraction.troubles_told import (
    Trouble,
    asked_to_mend,
    changes,
    is_head,
    mended_in,
    mends,
    troubles_in,
)
from helix_episodes.extraction.words import line
from helix_episodes.model import Action, Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.model import Event
    from helix_episodes.session import Session, Step

#: Two statements are about one failure when this much of the shorter stands in the longer, in at least so many words.
_SAME, _SAME_WORDS = 0.8, 3
#: So much is enough where both name a count ("47 of 99 uploads") that is this failure's own.
_SAME_COUNTED = 0.5
#: "Fixed the export" points at a failure told before when half of its words stand there, and two that are rare.
_POINTS, _POINTS_WORDS = 0.5, 2
#: A change that is no mending deals with a failure when it shares so many words that so few statements use.
_FEW, _FEW_WORDS = 3, 4
#: A choice that prose makes is one that the log spells out elsewhere when this much of the shorter stands there.
_RESTATED = 0.6
_PARTS: dict[str, Kind] = {"did": "did", "found": "found", "detail": "found", "remedy": "remedy", "outcome": "outcome"}


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a report tells: events, decisions that its prose makes, and what it joins."""

    events: tuple[DraftEvent, ...] = ()
    decisions: tuple[DraftDecision, ...] = ()
    pairs: tuple[Pair, ...] = ()


def told_in(session: Session) -> Told:
    """Everything that the notes of a session tell; nothing for a recording."""
    if not is_report(session):
        return Told()
    teller = _Teller(session)
    for position, step in enumerate(session.steps):
        if step.kind == "note":
            teller.take(position, step)
        elif step.kind == "decision":
            teller.take_decision(position, step)
    teller.take_orders(session.steps)
    came = outcomes_told(session.steps, teller.decisions, teller.events)
    pairs = (*pairs_of(teller.marks), *teller.answers, *came)
    decisions = with_taken_back(session.steps, teller.decisions)
    return Told(events=tuple(teller.events), decisions=tuple(decisions), pairs=pairs)


def is_report(session: Session) -> bool:
    """Whether a session's log tells of the work instead of recording its calls."""
    return any(step.kind == "note" and "part" in step.arguments for step in session.steps)


class _Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failure that was told, with the words by which it is known again."""

    mark: str
    words: frozenset[str]
    numbers: frozenset[str]

    def fits(self, numbers: frozenset[str]) -> bool:
        """Whether the numbers of issues in another statement do not tell the two apart."""
        return not numbers or not self.numbers or bool(numbers & self.numbers)


class _Teller:
    """Drafts the events and decisions of one report, each failure once."""

    def __init__(self, session: Session) -> None:
        self.events: list[DraftEvent] = []
        self.decisions: list[DraftDecision] = []
        self.marks: list[Mark] = []
        self.answers: list[Pair] = []
        self.failures: list[_Failure] = []
        self.told: dict[str, str] = {}
        self.findings = _findings(session.steps)
        self.uses = Counter(word for step in session.steps if step.kind == "note" for word in stems(step.text))
        self.spelled_out = [stems(step.text) for step in session.steps if step.kind == "decision"]

    def take(self, position: int, step: Step) -> None:
        part = step.arguments.get("part")
        if part == "problem":
            self._fail(position, step, (Trouble(said=step.text),), kind="problem")
        elif part == "harm":
            self._look_back(position, step)
        elif part == "cause":
            self._add(position, step, event_of(step), kind="cause")
        elif part == "task":
            self._fail(position, step, troubles_in(step.text), kind="found")
            self._choose(position, step)
        elif part == "commit":
            self.events.append(DraftEvent(position=position, event=commit_of(step)))
        elif part in _PARTS:
            self._say(position, step, _PARTS[part])
            self._choose(position, step)

    def take_orders(self, steps: Sequence[Step]) -> None:
        """A task that orders a mending tells of the trouble, unless the log tells where it was met."""
        for position, step in enumerate(steps):
            if step.kind == "note" and step.arguments.get("part") == "task":
                words = stems(step.text)
                if not any(len(one.words & words) >= _POINTS_WORDS for one in self.failures):
                    self._fail(position, step, asked_to_mend(step.text), kind="found")

    def take_decision(self, position: int, step: Step) -> None:
        """A decision that the log spells out, which another stage drafts: what it is joined with."""
        mark, within = f"d{position}", step.arguments.get("within")
        rationale, options = reasons_of(step)
        self._give_reason(position, step, rationale, mark=mark, compared=bool(options))
        if within:
            self.marks.append(Mark(mark=mark, kind="decision", entry=within))

    def _say(self, position: int, step: Step, kind: Kind) -> None:
        """A statement of what was done or found: the failures it tells, else a test run or a milestone."""
        if kind == "did":
            told = self._say_mended(position, step)
        else:
            teaches = bool(lessons_in(step.text))
            troubles = () if teaches or kind == "remedy" else troubles_in(step.text)
            mended = () if teaches or kind != "found" else mended_in(step.text)
            others = mended[1:] if troubles else mended
            told = self._fail(position, step, (*troubles, *others), kind=kind)
        if not told:
            came = kind in {"found", "outcome"} and step.call_id is not None
            self._add(position, step, outcome_of(step) if came else event_of(step), kind=kind)

    def _look_back(self, position: int, step: Step) -> None:
        """What a mistake led to, by the lesson drawn from it; mostly that was told where it happened."""
        known = self._pointed_at(step.text)
        if known is None:
            self._fail(position, step, troubles_in(step.text), kind="problem")
        elif step.call_id:
            self.marks.append(Mark(mark=known, kind="problem", entry=step.call_id, type="error"))

    def _say_mended(self, position: int, step: Step) -> bool:
        """What was done: the failure that it mends, which may be told by its finding or have been told before.

        Returns whether what was done is itself a failure met ("the export crashed").
        """
        finding = self.findings.get(step.call_id or "")
        found = troubles_in(finding.text) if finding else ()
        answered = self._answered(step.text)
        if finding and not found and mended_in(finding.text):
            self._fail(position, finding, mended_in(finding.text), kind="problem")
        elif finding and found and (changes(step.text) or is_head(step.text)):
            self._fail(position, finding, found, kind="met")
        elif not found and answered is None:
            mended = mended_in(step.text, found=finding.text if finding else "")
            self._fail(position, step, mended, kind="problem")
            if not mended:
                return self._fail(position, step, troubles_in(step.text), kind="did")
        if answered is not None:
            self.answers.append(Pair(source=answered, target=f"s{position}.{len(self.events)}", reason="answer"))
        return False

    def _answered(self, text: str) -> str | None:
        """The failure told before that a change deals with: by most of its words, or by several that few others use."""
        if mends(text):
            return self._pointed_at(text.partition(". ")[0])
        if not changes(text):
            return None
        words = self._rare(stems(text))
        best = max(self.failures, key=lambda one: len(one.words & words), default=None)
        return best.mark if best and len(best.words & words) >= _FEW_WORDS else None

    def _rare(self, words: frozenset[str]) -> frozenset[str]:
        """The words that few statements of this report use: they tell one thing from another."""
        return frozenset(word for word in words if self.uses[word] <= _FEW)

    def _pointed_at(self, text: str) -> str | None:
        """The failure told before that a statement speaks of: one that was mended, or the reason for a choice."""
        words, numbers = stems(text), _numbers(text)
        rare = self._rare(words)
        near = [one for one in self.failures if len(one.words & rare) >= _POINTS_WORDS]
        best = max(near, key=lambda one: len(one.words & words), default=None)
        if best is None or share(words, best.words) < _POINTS:
            return None
        return best.mark if best.fits(numbers) else None

    def _fail(self, position: int, step: Step, troubles: Sequence[Trouble], *, kind: Kind) -> bool:
        """Drafts the failures that were not told before; whether there was one."""
        fresh = False
        for trouble in troubles:
            known = self._known(trouble.said, listed=kind == "problem" and not trouble.quote)
            if known is None:
                self._add_failure(position, step, trouble, kind=kind)
                fresh = True
            elif kind in {"problem", "met"} and step.call_id:
                self.marks.append(Mark(mark=known, kind=kind, entry=step.call_id, type="error"))
        return fresh

    def _add_failure(self, position: int, step: Step, trouble: Trouble, *, kind: Kind) -> None:
        """A failure, behind what its own words call the cause of it."""
        cause = cause_in(trouble.said)
        entry = f"{position}.{len(self.events)}"
        if cause:
            self._add(position, step, reason_of(step, cause), kind="cause", entry=entry)
        mark = self._add(position, step, failure_of(step, trouble), kind=kind)
        if cause:
            self.marks.append(Mark(mark=mark, kind="problem", entry=entry, type="error"))

    def _known(self, said: str, *, listed: bool) -> str | None:
        """The failure that these words have told before; what a log lists apart is told apart."""
        words = stems(said)
        exact = self.told.get(_spelled(said))
        if exact or listed or len(words) < _SAME_WORDS:
            return exact
        numbers = _numbers(said)
        alike = (one for one in self.failures if self._is_alike(words, one.words))
        found = next((one for one in alike if one.fits(numbers)), None)
        return found.mark if found else None

    def _is_alike(self, words: frozenset[str], others: frozenset[str]) -> bool:
        """Whether two failures are told in much the same words, or in half of them with a count that few name."""
        common = words & others
        if len(others) < _SAME_WORDS or len(common) < _SAME_WORDS:
            return False
        counts = any(word.isdigit() and self.uses[word] <= _FEW for word in common)
        return share(words, others) >= (_SAME_COUNTED if counts else _SAME)

    def _add(self, position: int, step: Step, event: Event, *, kind: Kind, entry: str = "") -> str:
        """Drafts an event that belongs to an entry; returns its mark."""
        mark = f"s{position}.{len(self.events)}"
        self.events.append(DraftEvent(position=position, event=event, mark=mark))
        if event.type == "error":
            self.told[_spelled(event.content)] = mark
            words, numbers = stems(event.content), _numbers(event.content)
            self.failures.append(_Failure(mark=mark, words=words, numbers=numbers))
        belongs = entry or step.call_id
        if belongs:
            told = Mark(mark=mark, kind=kind, entry=belongs, text=step.text, type=event.type)
            detail, good = step.arguments.get("part") == "detail", event.status == "ok"
            self.marks.append(msgspec.structs.replace(told, detail=detail, good=good))
        return mark

    def _choose(self, position: int, step: Step) -> None:
        ordered = step.arguments.get("part") == "task"
        for number, choice in enumerate(choices_in(step.text)):
            if ordered and not (choice.options or choice.rationale):
                continue  # what is asked for is chosen by nobody yet
            if any(share(stems(choice.chosen), spelled) >= _RESTATED for spelled in self.spelled_out):
                continue
            mark = f"c{position}.{number}"
            self.decisions.append(DraftDecision(position=position, decision=_decision(step, choice), mark=mark))
            self._give_reason(position, step, choice.rationale, mark=mark, compared=bool(choice.options))
            met = self.told.get(_spelled(choice.context)) or self._met_before(position, step, choice)
            if met:
                self.marks.append(Mark(mark=met, kind="reason", entry=mark))

    def _met_before(self, position: int, step: Step, choice: Choice) -> str | None:
        """The failure that one statement tells last before it tells of a change: the change answers it."""
        place = step.text.find(choice.said)
        own = (one for one in reversed(self.events) if one.position == position and one.event.type == "error")
        return next((one.mark for one in own if one.mark and -1 < step.text.find(_quoted(one)) < place), None)

    def _give_reason(self, position: int, step: Step, rationale: str, *, mark: str, compared: bool) -> None:
        """Joins a decision with its entry and with the fact that was the reason for it."""
        if step.call_id:
            self.marks.append(Mark(mark=mark, kind="decision", entry=step.call_id))
        fact = fact_in(rationale, compared=compared)
        known = self._pointed_at(fact)
        if known:
            self.marks.append(Mark(mark=known, kind="reason", entry=mark))
        elif fact:
            trouble = next(iter(troubles_in(fact)), None)
            event = failure_of(step, Trouble(said=fact, family=trouble.family)) if trouble else reason_of(step, fact)
            self._add(position, step, event, kind="reason", entry=mark)
        self.marks.append(Mark(mark=mark, kind="decision", entry=mark))


def _decision(step: Step, choice: Choice) -> Decision:
    return Decision(
        id="",
        timestamp=timestamp_of(step),
        type="design",
        context=line(f"{choice.context} {choice.behind}".strip() or str(step.arguments.get("context") or "")),
        chosen=line(choice.chosen),
        rationale=line(choice.rationale),
        options=tuple(line(option) for option in choice.options),
        stated=True,
        action=Action(verb="choose", object=line(choice.chosen, limit=80)),
        actor=step.actor,
        evidence=evidence_of(step, choice.said),
    )


def _findings(steps: Sequence[Step]) -> dict[str, Step]:
    """What each entry found, for entries that only say that "issue 3" was fixed."""
    found: dict[str, Step] = {}
    for step in steps:
        if step.kind == "note" and step.call_id and step.arguments.get("part") in {"found", "detail"}:
            found.setdefault(step.call_id, step)
    return found


def _quoted(draft: DraftEvent) -> str:
    return draft.event.evidence.quote.rstrip("\u2026") if draft.event.evidence else draft.event.content


def _numbers(text: str) -> frozenset[str]:
    """The numbers by which a text names issues, findings and rounds."""
    return frozenset(re.findall(r"(?:#|\b(?:issue|finding|round|thread|comment)s? #?)(\d+)", text, re.IGNORECASE))


def _spelled(text: str) -> str:
    """A failure told twice in the same words is one."""
    return " ".join(re.findall(r"\w+", text.casefold()))
