"""The steps of one report while it is read, its declared gates, and what became of each of its lines.

These logs are reports, not recordings: an entry says what was done and what was found. Every statement becomes one
`Step` at its line. A line that gave a step is *used*; one whose key or heading is known to say nothing of what happened
is *skipped* under that name; text under an unknown key or heading is kept as a note and counted *unknown*, so that
nothing is lost silently. A gate is a step of a protocol that the log declares as taken or not. `ReportContent` has the
steps with what is said of the session as a whole.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from helix_episodes.readers.ai_agents.words import declared_by_words, goes_on, words_of
from helix_episodes.readers.common.jsonl import LineLedger
from helix_episodes.session import DeclaredOutcome, Piece, Source, Status, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.readers.common.json_with_lines import JsonNode


StatementPart = Literal[
    "task", "did", "found", "detail", "problem", "cause", "harm", "remedy", "outcome", "commit", "next", "other"
]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_FULL = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


class StepCollector:
    """Collects steps in the order of the log, with the lines that gave them."""

    def __init__(self) -> None:
        self.found: list[Step] = []
        self.used: set[int] = set()
        self.skipped: dict[int, str] = {}
        self.unknown: dict[int, str] = {}
        self._entries = 0

    def entry(self) -> str:
        """A name for the statements that belong together: what was done, what was found, what was decided."""
        self._entries += 1
        return f"w{self._entries:03}"

    def add(self, kind: StepKind, text: str, *, line: int, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        """One statement; blank text states nothing."""
        self.used.add(line)
        if text.strip():
            self.found.append(Step(kind=kind, source=Source(line=line), text=text.strip(), **fields))

    def decide(
        self,
        text: str,
        *,
        line: int,
        context: str = "",
        rationale: str = "",
        call_id: str | None = None,
        pieces: tuple[Piece, ...] = (),
        **more: str | None,
    ) -> None:
        """A stated decision without options."""
        arguments: dict[str, Any] = {"context": context, "rationale": rationale, "options": [], **more}
        self.add("decision", text, line=line, call_id=call_id, arguments=arguments, pieces=pieces)

    def note(self, text: str, *, part: StatementPart, line: int, context: str = "", **fields: Any) -> None:  # noqa: ANN401  (as `add`)
        """A statement that is neither a decision, nor a lesson, nor a gate. ``context``: what it is about."""
        arguments: dict[str, Any] = {"part": part} | ({"context": context} if context else {})
        self.add("note", text, line=line, arguments=arguments, **fields)

    def skip(self, line: int, name: str) -> None:
        """A line that is known to say nothing of what happened."""
        self.skipped[line] = name

    def keep_unknown(self, text: str, *, line: int, name: str) -> None:
        """Text under an unknown name: kept, and counted."""
        is_used = line in self.used
        self.note(text, part="other", line=line, context=name)
        if not is_used:
            self.used.discard(line)
        self.unknown[line] = name

    def ledger(self, lines: list[str]) -> LineLedger:
        """Every line of the log in one column."""
        ledger = LineLedger()
        for number, line in enumerate(lines, 1):
            if not line.strip():
                ledger.leave_blank()
            elif number in self.used:
                ledger.use()
            elif number in self.unknown:
                ledger.leave_unknown(self.unknown[number], line=number)
            else:
                ledger.skip(self.skipped.get(number, "structure"))
        return ledger


#: What came first among the statements of an entry, wherever its members are.
_CAUSE_FIRST = {"cause": 0, "problem": 1}


def in_order_of_cause(steps: list[Step]) -> list[Step]:
    """The steps with each entry's problem, and what caused it, before what was done about it."""
    entries: dict[str | None, list[int]] = {}
    for place, step in enumerate(steps):
        entries.setdefault(step.call_id, []).append(place)
    ordered = list(steps)
    for name, places in entries.items():
        if name is not None:
            ranked = sorted(
                (steps[place] for place in places),
                key=lambda step: _CAUSE_FIRST.get(step.arguments.get("part", ""), len(_CAUSE_FIRST)),
            )
            for place, step in zip(places, ranked, strict=True):
                ordered[place] = step
    return ordered


def parse_full_time(text: str) -> datetime | None:
    """The time that a text names, in UTC; None for a bare date, a clock time or a word such as ``T0``.

    >>> parse_full_time("2026-08-04T10:05:00-07:00")
    datetime.datetime(2026, 8, 4, 17, 5, tzinfo=datetime.timezone.utc)
    >>> parse_full_time("10:05"), parse_full_time("T0"), parse_full_time("2026-08-04")
    (None, None, None)
    """
    if not _FULL.match(text.strip()):
        return None
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)


def parse_day(text: str) -> datetime | None:
    """The beginning of the day that a text names; what is older than the clock is still in order by day.

    >>> parse_day("Date: 2026-08-04").isoformat()
    '2026-08-04T00:00:00+00:00'
    """
    found = _DATE.search(text)
    try:
        return datetime.fromisoformat(found.group()).replace(tzinfo=UTC) if found else None
    except ValueError:
        return None


_YES = re.compile(
    r"^\W*(true|yes|x|complete[d]?|done|pass(ed)?|ok|skipped|n/?a|verified|remediated|\u2705|\u2713|\u2714)",
    re.IGNORECASE,
)
_MARKS = frozenset({"complete", "completed", "status", "done", "passed", "result", "checked"})
#: The gates that represent the work itself: that it is checked, that it is kept, that the list is worked off.
_DECISIVE = re.compile(r"commit|valid|lint|\btests?\b|complete session log|checklist|\bqa\b", re.IGNORECASE)

#: A tool that was not there is a fault of the surroundings, whatever became of the gate.
_OUT_OF_REACH = re.compile(r"\b(?:not (?:available|reachable)|unavailable)\b", re.IGNORECASE)
#: What waits for someone else says nothing of how this session came out.
_WAITS = re.compile(
    r"^\W*pending (?:an? |the )?user\b",
    re.IGNORECASE,
)
#: Gates whose evidence names the session's own commits; that of "starting commit noted" names another's.
ABOUT_COMMITS = re.compile(r"^(?!.*start).*commit", re.IGNORECASE)


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One gate: its name, whether it is passed (None: it does not say), how binding it is, and the evidence."""

    name: str
    passed: bool | None
    line: int
    level: str = ""
    evidence: str = ""
    evidence_line: int = 0
    phase: str = ""


def add_gate(steps: StepCollector, gate: Gate) -> None:
    """A gate as a step; an unmet one is no failure, only unmet."""
    passed = None if _WAITS.match(gate.evidence) else gate.passed
    status: Status = "unknown" if passed is None else "ok" if passed else "error"
    arguments = {"name": gate.name, "level": gate.level, "phase": gate.phase, "passed": passed}
    words = f"{gate.name}: {gate.evidence}" if gate.evidence else gate.name
    evidence = Piece(line=gate.evidence_line or gate.line, text=gate.evidence)
    pieces = (evidence,) if evidence.text else ()
    steps.add("gate", words, line=gate.line, status=status, arguments=arguments, pieces=pieces)
    if evidence.text and _OUT_OF_REACH.search(gate.evidence):  # every gate that needs what was not there says so again
        problems = (step.text for step in steps.found if step.arguments.get("part") == "problem")
        if not any(map(_OUT_OF_REACH.search, problems)):
            steps.note(gate.evidence, part="problem", line=evidence.line)


def take_gates(steps: StepCollector, node: JsonNode, *, phase: str = "") -> None:
    """The gates of a ``protocolCompliance`` object, whatever its depth and the spelling of its keys."""
    for key, member in node.members.items():
        marks = {name.casefold(): one for name, one in member.members.items()}
        mark = next((marks[name] for name in marks if name in _MARKS), None)
        if mark is not None and not mark.members:
            add_gate(steps, _gate(key, marks, mark, phase=phase))
            steps.used.update(one.line for one in marks.values())
        elif member.members:
            take_gates(steps, member, phase=key)
        elif isinstance(member.value, list):
            for item in member.items:
                steps.note(item.text, part="other", line=item.line, context=key)
        else:
            add_gate(steps, Gate(name=_spaced(key), passed=is_yes(member), line=member.line, phase=phase))


def _gate(key: str, marks: dict[str, JsonNode], mark: JsonNode, *, phase: str) -> Gate:
    evidence = next((marks[name] for name in ("evidence", "note", "notes", "reason") if name in marks), mark)
    level = marks["level"].text if "level" in marks else ""
    return Gate(
        name=_spaced(key),
        passed=is_yes(mark),
        line=mark.line,
        level=level,
        evidence=evidence.text if evidence is not mark else "",
        evidence_line=evidence.line,
        phase=phase,
    )


def is_yes(node: JsonNode) -> bool | None:
    """Whether a mark says yes; None when it says nothing."""
    if isinstance(node.value, bool):
        return node.value
    return bool(_YES.match(node.text)) if node.text else None


def _spaced(key: str) -> str:
    return " ".join(words_of(key))


def declared_by_gates(gates: Sequence[Step]) -> tuple[str, Step] | None:
    """What the gates at the end of a session imply, and the gate that does.

    Success when the decisive ones are passed, else partial. Gates of the start, and those that forbid something, tell
    nothing of how the work came out.
    """
    deciding = [
        gate
        for gate in gates
        if gate.arguments["passed"] is not None
        and "end" in words_of(str(gate.arguments["phase"]))
        and str(gate.arguments["level"]).upper() in {"", "MUST", "REQUIRED"}
        and _DECISIVE.search(gate.arguments["name"])
    ]
    if not deciding:
        return None
    unmet = next((gate for gate in deciding if not gate.arguments["passed"]), None)
    return ("success", deciding[-1]) if unmet is None else ("partial", unmet)


PLACEHOLDER = re.compile(r"^\W*(migrated from \w+|tbd|n/?a|none)?\W*$", re.IGNORECASE)
#: A commit by its full or short name; one of digits alone is a number of something, unless a label says "commit".
SHA = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")


class ReportContent(msgspec.Struct, kw_only=True):
    """What one log states of the session as a whole, besides its steps."""

    steps: StepCollector
    task: str = ""
    date: datetime | None = None
    branch: str = ""
    status: Piece = Piece(line=0, text="")
    starting: str = ""
    commits: list[Piece] = msgspec.field(default_factory=list)

    def take_status(self, text: str, *, line: int) -> None:
        """A status; one that only says that the work goes on yields to what a later one says."""
        if not self.status.text or (goes_on(self.status.text) and declared_by_words(text)):
            self.status = Piece(line=line, text=text)

    def state_task(self, text: str, *, line: int) -> None:
        """The objective: what the session is for, and a statement, since it may name the problem to be fixed."""
        self.steps.used.add(line)
        if not PLACEHOLDER.match(text):
            self.task = self.task or text
            self.steps.note(text, part="task", line=line)

    @property
    def declared(self) -> DeclaredOutcome | None:
        """The outcome by the log's own status, else by its gates."""
        if stated := declared_by_words(self.status.text):
            return DeclaredOutcome(outcome=stated, words=self.status)
        implied = declared_by_gates([step for step in self.steps.found if step.kind == "gate"])
        if implied is None:
            return None
        outcome, gate = implied
        # A gate without evidence is a key that is written together, and has no words to quote.
        words = gate.pieces[0] if gate.pieces else Piece(line=gate.source.line, text="")
        return DeclaredOutcome(outcome=outcome, words=words, inferred=True)
