"""Who is let into a memory: not what ``.helixignore`` keeps out, and not what was forgotten."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.redaction import without_emails
from helix_graph.ignoring import EMAILS, read_rules, without_ignored
from helix_graph.project import FOLDER
from helix_graph.tombstones import Tombstones, digest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from helix_episodes.session import Session
    from helix_graph.ignoring import Rule


class MemoryAdmission:
    """The `helix_episodes.recording.Admission` of the memory in ``root``. ``force`` lets forgotten sessions in again.

    Raises:
        InvalidIgnoreFile: A line of ``.helixignore`` is no rule.
    """

    def __init__(self, root: Path, *, force: bool) -> None:
        self._rules = read_rules(root)
        self._base = str(root.parent) if root.name == FOLDER else None
        self._tombstones = Tombstones(root)
        self._force = force

    def against_log(self, path: Path) -> str | None:
        """The rule that keeps out the log's file."""
        return _said(self._rules.against_path(str(path.absolute()), base=self._base))

    def against_session(self, session: Session) -> str | None:
        """The rule that keeps out the session or its project, or that it was forgotten."""
        projects = [name for name in (session.project, session.root) if name]
        rule = self._rules.against("session", session.id) or self._rules.against("project", *projects)
        if rule is None and not self._force and self._tombstones.holds(session.id):
            return f"session {session.id} was forgotten; --force brings it back"
        return _said(rule)

    def admitted(self, session: Session) -> Session:
        """The session without ignored calls and addresses, and without what its log copied from a forgotten one's."""
        kept = without_ignored(session, self._rules) if self._rules.rules else session
        kept = without_emails(kept) if self._rules.against("cut", EMAILS) else kept
        return kept if self._tombstones.holds(session.id) else self._without_forgotten(kept)

    def lift(self, sessions: Iterable[str]) -> None:
        """Forgets that these were forgotten, since they have been recorded again."""
        for session in sessions if self._force else ():
            self._tombstones.lift(session)

    def _without_forgotten(self, session: Session) -> Session:
        if not self._forgotten_steps:
            return session
        ids = (step.source.id for step in session.steps)
        copied = max((n for n, one in enumerate(ids) if one and digest(one) in self._forgotten_steps), default=-1)
        return msgspec.structs.replace(session, steps=session.steps[copied + 1 :]) if copied >= 0 else session

    @cached_property
    def _forgotten_steps(self) -> frozenset[str]:
        return self._tombstones.steps()


def _said(rule: Rule | None) -> str | None:
    return f"kept out by .helixignore: {rule.line}" if rule else None
