"""What the doctor finds: a fault or a note, with the way to fix it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

#: A *fault* makes the memory say something wrong, leak or fail; a *note* is worth knowing.
Severity = Literal["fault", "note"]
FindingKind = Literal[
    "unreadable episode", "misnamed episode", "spoilt part", "disagreeing links", "secret", "old version",
    "newer version", "forgotten", "not proved forgotten", "unreadable assertion", "copied assertion",
    "unreadable file", "not a regular file", "temporary file", "unknown file", "ignored setting", "open to others",
    "cannot be written", "not ignored by git", "stray memory", "foreign database", "damaged database",
    "missing share", "orphan share", "wrong sum", "wrong export", "unresolved link", "damaged record",
]  # fmt: skip


class DoctorFinding(msgspec.Struct, frozen=True):
    """One thing that is wrong. ``file`` is relative to the memory; ``remedy`` is what a person can do.

    ``mended`` is true when ``fix`` did it.
    """

    kind: FindingKind
    file: str
    problem: str
    remedy: str
    severity: Severity = "fault"
    mended: bool = False


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """All findings, in the order in which the doctor looks."""

    root: str
    findings: tuple[DoctorFinding, ...]

    @property
    def healthy(self) -> bool:
        """Whether no fault is left."""
        return all(one.mended or one.severity == "note" for one in self.findings)


class Fixable(DoctorFinding, frozen=True):
    """A finding with what mends it, None where only a person can; it answers False when it could not."""

    mend: Callable[[], object] | None = None

    def reported(self, *, mended: bool = False, problem: str | None = None) -> DoctorFinding:
        """The finding alone, and whether it was mended, or a problem in other words."""
        return DoctorFinding(self.kind, self.file, problem or self.problem, self.remedy, self.severity, mended)
