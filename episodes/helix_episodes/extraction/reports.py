"""Statements of a report: the decisions and events of a log that reports the work instead of recording its calls.

Such a log says what was *done* and what was *found*, which problems occurred and how they were fixed. Each statement
becomes an event: a failure where one is reported (`helix_episodes.extraction.prose.failures`), a test run where one
passed, else a milestone; and a decision where it makes a choice (`helix_episodes.extraction.prose.choices`), with the
fact that it gives as the reason. What the log joins is linked (`helix_episodes.extraction.report_links`).

A failure that is reported again in much the same words is one failure; a later statement that it was fixed is the
answer to it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.drafts import DraftDecision, DraftEvent, draft_event, line
from helix_episodes.extraction.prose.choices import StatedChoice, choices_in, draft_choice, fact_in
from helix_episodes.extraction.prose.decisions import reasons_of
from helix_episodes.extraction.prose.failures import (
    StatedFailure,
    cause_in,
    failures_in,
    fixes_in,
    is_change,
    is_heading,
    requested_fixes,
)
from helix_episodes.extraction.prose.sentences import stems, word_overlap
from helix_episodes.extraction.report_links import (
    StatementKind,
    StatementMark,
    StatementPair,
    choice_outcomes,
    pairs_of,
)
from helix_episodes.model import as_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.model import Event, EventType
    from helix_episodes.session import Session, Step


_CONTENT_LIMIT = 240
_PASSED = re.compile(
    r"\b(?P<count>\d[\d,]*)\s+(?:[\w./-]+\s+){0,3}?(?:tests?\s+)?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE
)
_ALL_PASS = re.compile(r"\ball (?:[\w./-]+ ){0,3}tests? (?:are )?(?:pass(?:ed|ing)?|green)\b", re.IGNORECASE)
_FAILED = re.compile(r"\b(?P<count>[1-9]\d*)\s+(?:tests? )?(?:failed|failures?)\b", re.IGNORECASE)
_RUNNER = re.compile(
    r"\b(pytest|pester|jest|vitest|mypy|ruff|go test|cargo test|rspec|dotnet test|eslint)\b", re.IGNORECASE
)
#: Words with which someone says that it came out well, and those that take it back.
_GOOD = re.compile(
    r"\b(?:now \w+|works?|correct(?:ly)?|confirmed|pass(?:es|ed)?|succe\w+|resolved|complete[d]?|verified|fixed"
    r"|implemented|restored)\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(r"\b(?:not|never|to be|will|should|but|fail\w*)\b", re.IGNORECASE)


def event_of(step: Step) -> Event:
    """A statement that reports no failure: a test run where it says that tests passed, else a milestone."""
    return _passed(step) or _event(step, "milestone", step.text)


def outcome_of(step: Step) -> Event:
    """What a log says came of a decision; its status says whether that was good."""
    event = event_of(step)
    good = event.type == "milestone" and _GOOD.search(step.text) and not _NOT_YET.search(step.text)
    return msgspec.structs.replace(event, status="ok") if good else event


def reason_of(step: Step, reason: str) -> Event:
    """What a decision was made for."""
    return _event(step, "milestone", reason)


def failure_of(step: Step, failure: StatedFailure) -> Event:
    """A failure as reported; one that a lesson looks back on is no run of a check."""
    looks_back = step.arguments.get("part") == "harm"
    failed = None if looks_back else _FAILED.search(failure.statement)
    runner = _RUNNER.search(failure.statement)
    return _event(
        step,
        "error",
        failure.statement,
        check=(runner[1].casefold() if runner else "tests") if failed else None,
        message=line(failure.statement, limit=_CONTENT_LIMIT),
        failed=as_count(int(failed["count"])) if failed else None,
        status="error",
        quoted=failure.quote or failure.statement,
    )


def commit_of(step: Step) -> Event:
    """A commit that a report names as the session's own."""
    return _event(step, "commit", f"commit {step.text}", quoted=step.text, commit=step.text, status="ok")


def _passed(step: Step) -> Event | None:
    passed, everything = _PASSED.search(step.text), _ALL_PASS.search(step.text)
    if (passed is None and everything is None) or _FAILED.search(step.text):
        return None
    runner = _RUNNER.search(step.text)
    count = as_count(int(passed["count"].replace(",", ""))) if passed else None
    check = runner[1].casefold() if runner else "tests"
    return _event(step, "test", step.text, check=check, passed=count, status="ok")


def _event(step: Step, kind: EventType, content: str, *, quoted: str = "", **fields: object) -> Event:
    return draft_event(step, kind, line(content, limit=_CONTENT_LIMIT), quoted=quoted or content, **fields)


#: Two statements are about one failure when this much of the shorter is in the longer, in at least so many words.
_SAME, _SAME_WORDS = 0.8, 3
#: "Fixed the export" points at an earlier failure when it shares half of its words, and two that are rare.
_POINTS, _POINTS_WORDS = 0.5, 2
#: Words that so few statements use distinguish one thing from another.
_FEW = 3
#: A choice that prose makes is one that the log spells out elsewhere when this much of the shorter is there.
_RESTATED = 0.6
_PARTS: dict[str, StatementKind] = {
    "did": "did",
    "found": "found",
    "detail": "found",
    "remedy": "remedy",
    "outcome": "outcome",
}


class ReportContents(msgspec.Struct, frozen=True, kw_only=True):
    """What a report states: events, decisions that its prose makes, and what it joins."""

    events: tuple[DraftEvent, ...] = ()
    decisions: tuple[DraftDecision, ...] = ()
    pairs: tuple[StatementPair, ...] = ()


def parse_report(session: Session) -> ReportContents:
    """Everything that the notes of a session state; nothing for a recording."""
    if not is_report(session):
        return ReportContents()
    parser = _ReportParser(session)
    for position, step in enumerate(session.steps):
        if step.kind == "note":
            parser.take(position, step)
        elif step.kind == "decision":
            parser.take_decision(position, step)
    parser.take_tasks(session.steps)
    came = choice_outcomes(session.steps, parser.decisions, parser.events)
    pairs = (*pairs_of(parser.marks), *came)
    return ReportContents(events=tuple(parser.events), decisions=tuple(parser.decisions), pairs=pairs)


def is_report(session: Session) -> bool:
    """Whether a session's log reports the work instead of recording its calls."""
    return any(step.kind == "note" and "part" in step.arguments for step in session.steps)


class _Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failure that was reported, with the words by which it is recognised."""

    mark: str
    words: frozenset[str]
    numbers: frozenset[str]

    def fits(self, numbers: frozenset[str]) -> bool:
        """Whether the numbers of issues in another statement do not distinguish the two."""
        return not numbers or not self.numbers or bool(numbers & self.numbers)


class _ReportParser:
    """Drafts the events and decisions of one report, each failure once."""

    def __init__(self, session: Session) -> None:
        self.events: list[DraftEvent] = []
        self.decisions: list[DraftDecision] = []
        self.marks: list[StatementMark] = []
        self.failures: list[_Failure] = []
        self.marks_by_words: dict[str, str] = {}
        self.findings = _findings(session.steps)
        self.uses = Counter(word for step in session.steps if step.kind == "note" for word in stems(step.text))
        self.listed_elsewhere = [stems(step.text) for step in session.steps if step.kind == "decision"]

    def take(self, position: int, step: Step) -> None:
        part = step.arguments.get("part")
        if part == "problem":
            self._fail(position, step, (StatedFailure(statement=step.text),), kind="problem")
        elif part == "harm":
            self._look_back(position, step)
        elif part == "cause":
            self._add(position, step, event_of(step), kind="cause")
        elif part == "task":
            self._fail(position, step, failures_in(step.text), kind="found")
            self._choose(position, step)
        elif part == "commit":
            self.events.append(DraftEvent(position=position, event=commit_of(step)))
        elif part in _PARTS:
            self._say(position, step, _PARTS[part])
            self._choose(position, step)

    def take_tasks(self, steps: Sequence[Step]) -> None:
        """A task that asks for a fix reports the failure, unless the log says where it occurred."""
        for position, step in enumerate(steps):
            if step.kind == "note" and step.arguments.get("part") == "task":
                words = stems(step.text)
                if not any(len(one.words & words) >= _POINTS_WORDS for one in self.failures):
                    self._fail(position, step, requested_fixes(step.text), kind="found")

    def take_decision(self, position: int, step: Step) -> None:
        """A decision that the log spells out, which another stage drafts: what it is joined with."""
        self._give_reason(position, step, reasons_of(step)[0], mark=f"d{position}")

    def _say(self, position: int, step: Step, kind: StatementKind) -> None:
        """A statement of what was done or found: the failures it reports, else a test run or a milestone."""
        if kind == "did":
            failed = self._say_done(position, step)
        else:
            failures = () if kind == "remedy" else failures_in(step.text)
            fixed = fixes_in(step.text) if kind == "found" else ()
            others = fixed[1:] if failures else fixed
            failed = self._fail(position, step, (*failures, *others), kind=kind)
        if not failed:
            came = kind in {"found", "outcome"} and step.call_id is not None
            self._add(position, step, outcome_of(step) if came else event_of(step), kind=kind)

    def _look_back(self, position: int, step: Step) -> None:
        """What a mistake led to, by the lesson drawn from it; mostly that was reported where it happened."""
        known = self._pointed_at(step.text)
        if known is None:
            if not self._fail(position, step, failures_in(step.text), kind="problem"):
                self._add(position, step, event_of(step), kind="problem")
        elif step.call_id:
            self.marks.append(StatementMark(mark=known, kind="problem", entry=step.call_id, type="error"))

    def _say_done(self, position: int, step: Step) -> bool:
        """What was done: the failure that it fixes, which its finding or an earlier statement may report.

        Returns whether what was done is itself a failure ("the export crashed").
        """
        finding = self.findings.get(step.call_id or "")
        found = failures_in(finding.text) if finding else ()
        if finding and found and (is_change(step.text) or is_heading(step.text)):
            self._fail(position, finding, found, kind="underlying")
        elif not found:
            fixed = fixes_in(step.text)
            self._fail(position, step, fixed, kind="problem")
            if not fixed:
                return self._fail(position, step, failures_in(step.text), kind="did")
        return False

    def _pointed_at(self, text: str) -> str | None:
        """The earlier failure that a statement speaks of: one that was fixed, or the reason for a choice."""
        words, numbers = stems(text), _numbers(text)
        rare = {word for word in words if self.uses[word] <= _FEW}
        near = [one for one in self.failures if len(one.words & rare) >= _POINTS_WORDS]
        best = max(near, key=lambda one: len(one.words & words), default=None)
        if best is None or word_overlap(words, best.words) < _POINTS:
            return None
        return best.mark if best.fits(numbers) else None

    def _fail(self, position: int, step: Step, failures: Sequence[StatedFailure], *, kind: StatementKind) -> bool:
        """Drafts the failures that were not reported before; whether there was one."""
        fresh = False
        for failure in failures:
            known = self._known(failure.statement, listed=kind == "problem" and not failure.quote)
            if known is None:
                self._add_failure(position, step, failure, kind=kind)
                fresh = True
            elif kind in {"problem", "underlying"} and step.call_id:
                self.marks.append(StatementMark(mark=known, kind=kind, entry=step.call_id, type="error"))
        return fresh

    def _add_failure(self, position: int, step: Step, failure: StatedFailure, *, kind: StatementKind) -> None:
        """A failure, after what its own words call the cause of it."""
        cause = cause_in(failure.statement)
        entry = f"{position}.{len(self.events)}"
        if cause:
            self._add(position, step, reason_of(step, cause), kind="cause", entry=entry)
        mark = self._add(position, step, failure_of(step, failure), kind=kind)
        if cause:
            self.marks.append(StatementMark(mark=mark, kind="problem", entry=entry, type="error"))

    def _known(self, statement: str, *, listed: bool) -> str | None:
        """The failure that these words have reported before; what a log lists separately is not the same."""
        words = stems(statement)
        exact = self.marks_by_words.get(_normalized(statement))
        if exact or listed or len(words) < _SAME_WORDS:
            return exact
        numbers = _numbers(statement)
        alike = (
            one
            for one in self.failures
            if len(words & one.words) >= _SAME_WORDS and word_overlap(words, one.words) >= _SAME
        )
        found = next((one for one in alike if one.fits(numbers)), None)
        return found.mark if found else None

    def _add(self, position: int, step: Step, event: Event, *, kind: StatementKind, entry: str = "") -> str:
        """Drafts an event that belongs to an entry; returns its mark."""
        mark = f"s{position}.{len(self.events)}"
        self.events.append(DraftEvent(position=position, event=event, mark=mark))
        if event.type == "error":
            self.marks_by_words[_normalized(event.content)] = mark
            words, numbers = stems(event.content), _numbers(event.content)
            self.failures.append(_Failure(mark=mark, words=words, numbers=numbers))
        belongs = entry or step.call_id
        if belongs:
            detail, good = step.arguments.get("part") == "detail", event.status == "ok"
            self.marks.append(
                StatementMark(
                    mark=mark, kind=kind, entry=belongs, text=step.text, type=event.type, detail=detail, good=good
                )
            )
        return mark

    def _choose(self, position: int, step: Step) -> None:
        ordered = step.arguments.get("part") == "task"
        for number, choice in enumerate(choices_in(step.text)):
            if ordered and not (choice.options or choice.rationale):
                continue  # what is asked for is chosen by no one yet
            if any(word_overlap(stems(choice.chosen), spelled) >= _RESTATED for spelled in self.listed_elsewhere):
                continue
            mark = f"c{position}.{number}"
            context = line(f"{choice.context} {choice.behind}".strip() or str(step.arguments.get("context") or ""))
            decision = draft_choice(step, choice, context=context)
            self.decisions.append(DraftDecision(position=position, decision=decision, mark=mark))
            self._give_reason(position, step, choice.rationale, mark=mark)
            known = self.marks_by_words.get(_normalized(choice.context)) or self._reported_before(
                position, step, choice
            )
            if known:
                self.marks.append(StatementMark(mark=known, kind="reason", entry=mark))

    def _reported_before(self, position: int, step: Step, choice: StatedChoice) -> str | None:
        """The last failure that a statement reports before a change: the change answers it."""
        place = step.text.find(choice.statement)
        for one in reversed(self.events):
            if one.position == position and one.event.type == "error" and one.mark:
                evidence = one.event.evidence
                quoted = evidence.quote.rstrip("\u2026") if evidence else one.event.content
                if -1 < step.text.find(quoted) < place:
                    return one.mark
        return None

    def _give_reason(self, position: int, step: Step, rationale: str, *, mark: str) -> None:
        """Joins a decision with its entry and with the fact that was the reason for it."""
        if step.call_id:
            self.marks.append(StatementMark(mark=mark, kind="decision", entry=step.call_id))
        fact = fact_in(rationale)
        known = self._pointed_at(fact)
        if known:
            self.marks.append(StatementMark(mark=known, kind="reason", entry=mark))
        elif fact:
            failure = bool(failures_in(fact))
            event = failure_of(step, StatedFailure(statement=fact)) if failure else reason_of(step, fact)
            self._add(position, step, event, kind="reason", entry=mark)
        self.marks.append(StatementMark(mark=mark, kind="decision", entry=mark))


def _findings(steps: Sequence[Step]) -> dict[str, Step]:
    """What each entry found, for entries that only say that "issue 3" was fixed."""
    found: dict[str, Step] = {}
    for step in steps:
        if step.kind == "note" and step.call_id and step.arguments.get("part") in {"found", "detail"}:
            found.setdefault(step.call_id, step)
    return found


def _numbers(text: str) -> frozenset[str]:
    """The numbers by which a text names issues, findings and rounds."""
    return frozenset(re.findall(r"(?:#|\b(?:issue|finding|round|thread|comment)s? #?)(\d+)", text, re.IGNORECASE))


def _normalized(text: str) -> str:
    """A failure reported twice in the same words is one."""
    return " ".join(re.findall(r"\w+", text.casefold()))
