"""The steps of one log while it is read, and what became of each of its lines.

These logs are reports, not recordings: an entry says what was done and what was found. Every statement becomes one
`Step` at the line where it stands. A line that gave a step is *used*; one whose key or heading is known to say nothing
of what happened is *skipped* under that name; text under a key or heading that this reader has never met is kept as a
note and counted *unknown*, so that nothing is lost in silence.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Literal

from helix_episodes.readers.ledger import Ledger
from helix_episodes.session import Piece, Source, Status, Step, StepKind

Part = Literal[
    "task", "did", "found", "detail", "problem", "cause", "harm", "remedy", "outcome", "commit", "next", "other"
]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_FULL = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


class Steps:
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

    def add(  # noqa: PLR0913  (a statement has these parts)
        self,
        kind: StepKind,
        text: str,
        *,
        line: int,
        at: datetime | None = None,
        call_id: str | None = None,
        status: Status = "unknown",
        arguments: dict[str, Any] | None = None,
        pieces: tuple[Piece, ...] = (),
    ) -> None:
        """One statement; blank text states nothing. ``pieces``: where it was put together from, when from several."""
        self.used.add(line)
        if text.strip():
            step = Step(
                kind=kind,
                source=Source(line=line),
                text=text.strip(),
                at=at,
                call_id=call_id,
                status=status,
                arguments=arguments or {},
                actor="user" if kind == "prompt" else "agent",
                pieces=pieces,
            )
            self.found.append(step)

    def note(  # noqa: PLR0913  (as `add`)
        self,
        text: str,
        *,
        part: Part,
        line: int,
        at: datetime | None = None,
        call_id: str | None = None,
        context: str = "",
        pieces: tuple[Piece, ...] = (),
    ) -> None:
        """A statement that is neither a decision, nor a lesson, nor a gate. ``context``: what it is about."""
        arguments: dict[str, Any] = {"part": part} | ({"context": context} if context else {})
        self.add("note", text, line=line, at=at, call_id=call_id, arguments=arguments, pieces=pieces)

    def skip(self, line: int, name: str) -> None:
        """A line that is known to say nothing of what happened."""
        self.skipped[line] = name

    def keep_unknown(self, text: str, *, line: int, name: str) -> None:
        """Text under a name that this reader has never met: kept, and counted."""
        beside = line in self.used
        self.note(text, part="other", line=line, context=name)
        if not beside:
            self.used.discard(line)
        self.unknown[line] = name

    def ledger(self, lines: list[str]) -> Ledger:
        """Every line of the log in one column."""
        ledger = Ledger()
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


#: What came first among the statements of an entry, wherever its members stand.
_CAUSE_FIRST = {"cause": 0, "problem": 1}


def in_order_of_cause(steps: list[Step]) -> list[Step]:
    """The steps with each entry's problem, and what caused it, before what was done about it."""
    entries: dict[str | None, list[int]] = {}
    for place, step in enumerate(steps):
        entries.setdefault(step.call_id, []).append(place)
    ordered = list(steps)
    for name, places in entries.items():
        if name is not None:
            ranked = sorted((steps[place] for place in places), key=_rank)
            for place, step in zip(places, ranked, strict=True):
                ordered[place] = step
    return ordered


def _rank(step: Step) -> int:
    return _CAUSE_FIRST.get(step.arguments.get("part", ""), 2)


def moment(text: str) -> datetime | None:
    """The time that a text names, in UTC; None for a bare date, a clock time or a word such as ``T0``.

    >>> moment("2026-08-04T10:05:00-07:00")
    datetime.datetime(2026, 8, 4, 17, 5, tzinfo=datetime.timezone.utc)
    >>> moment("10:05"), moment("T0"), moment("2026-08-04")
    (None, None, None)
    """
    if not _FULL.match(text.strip()):
        return None
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)


def day(text: str) -> datetime | None:
    """The beginning of the day that a text names; what is older than the clock is still in order by day.

    >>> day("Date: 2026-08-04").isoformat()
    '2026-08-04T00:00:00+00:00'
    """
    found = _DATE.search(text)
    try:
        return datetime.fromisoformat(found.group()).replace(tzinfo=UTC) if found else None
    except ValueError:
        return None
