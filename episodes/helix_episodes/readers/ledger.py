"""The ledger: every line of a log ends up in exactly one column.

A reader that meets a line either uses it, knows it and leaves it out, does not know its type, finds it blank, or cannot
read it. Counting all five is what lets a user trust that nothing was lost in silence: the columns add up to the lines.

>>> ledger = Ledger()
>>> ledger.use(); ledger.skip("snapshot"); ledger.leave_blank()
>>> ledger.accounting().lines, ledger.accounting().skipped
(3, {'snapshot': 1})
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from helix_episodes.limits import LONGEST_TYPE, MOST_NAMED, MOST_TYPES
from helix_episodes.session import Accounting, BadLine, place

#: Stands for the unknown types that are too many to be counted apart.
OTHERS = "(others)"


class Passed(NamedTuple):
    """Why a record gave no step: of a known sort, or of one never met."""

    reason: str
    known: bool = True


class Ledger:
    """Counts the lines of one session's files, each once."""

    def __init__(self) -> None:
        self._used = 0
        self._skipped: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._met: dict[str, str] = {}
        self._blank = 0
        self._bad: list[BadLine] = []
        self._more_bad = 0

    def enter(self, passed: Passed | None, *, line: int | None = None, file: str | None = None) -> None:
        """A record that gave a step, when there is no reason against it; where it stands, when that is known."""
        if passed is None:
            self.use()
        elif passed.known:
            self.skip(passed.reason)
        else:
            self.leave_unknown(passed.reason, line=line, file=file)

    def use(self, lines: int = 1) -> None:
        """Lines that gave a step."""
        self._used += lines

    def skip(self, reason: str, lines: int = 1) -> None:
        """Lines of a known type that say nothing worth a step."""
        self._skipped[reason] += lines

    def leave_unknown(self, kind: str, *, line: int | None = None, file: str | None = None) -> None:
        """A line of a type that this reader has never met; where, when it is known."""
        name = kind[:LONGEST_TYPE]
        if name not in self._unknown and len(self._unknown) >= MOST_TYPES:
            name = OTHERS
        self._unknown[name] += 1
        if line is not None:
            self._met.setdefault(name, place(line, file))

    def leave_blank(self) -> None:
        """A line of nothing but white space."""
        self._blank += 1

    def report_bad(self, *, line: int, problem: str, file: str | None = None) -> None:
        """A line that cannot be read at all."""
        if len(self._bad) < MOST_NAMED:
            self._bad.append(BadLine(line=line, problem=problem, file=file))
        else:
            self._more_bad += 1

    def accounting(self) -> Accounting:
        """The columns and their sum."""
        understood = self._used + self._skipped.total() + self._blank
        return Accounting(
            lines=understood + self._unknown.total() + len(self._bad) + self._more_bad,
            used=self._used,
            skipped=dict(sorted(self._skipped.items())),
            unknown=dict(sorted(self._unknown.items())),
            unknown_at=dict(sorted(self._met.items())),
            blank=self._blank,
            bad=tuple(self._bad),
            more_bad=self._more_bad,
        )
