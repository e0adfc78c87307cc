"""A session in the making: its steps, its ledger, and what the records say of it as a whole.

Readers hand in what they meet and get a `Session` at the end. What is said several times (the folder, the version) is
taken as it was said first, the model as the one that gave most answers.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.dialogue import Dialogue
from helix_episodes.readers.ledger import Ledger
from helix_episodes.readers.naming import fit_id, id_by_place, project_of
from helix_episodes.session import Session

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


# Many a log is called after its session.
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Journal:
    """Gathers one session while its records go by."""

    def __init__(self) -> None:
        self.dialogue = Dialogue()
        self.ledger = Ledger()
        self.id: str | None = None
        self.version: str | None = None
        self.root: str | None = None
        self.tokens: int | None = None
        self._models: Counter[str] = Counter()
        self._times: list[datetime] = []

    def tell(self, *, id: str | None = None, version: str | None = None, root: str | None = None) -> None:  # noqa: A002  (the field's name)
        """Notes what a record says of the session; the first word counts."""
        self.id = self.id or id
        self.version = self.version or version
        self.root = self.root or root

    def tell_time(self, at: datetime | None) -> None:
        """Notes a time at which the session was under way, though nothing was said then."""
        if at is not None:
            self._times.append(at)

    def answered_by(self, model: str | None) -> None:
        """Counts an answer of a model."""
        if model:
            self._models[model] += 1

    def spent(self, tokens: int) -> None:
        """Adds tokens that were written or newly read."""
        if tokens:
            self.tokens = (self.tokens or 0) + tokens

    def session(self, path: Path, *, reader: str, agent: str | None = None, rewritten: bool = False) -> Session:
        """The session, under its own id or, where its log has none, under a name made of its place.

        Raises:
            LogNotReadable: There is no step in it.
        """
        steps = tuple(self.dialogue.steps)
        accounting = self.ledger.accounting()
        if not steps:
            raise LogNotReadable(path=path, problem=f"it holds no session ({accounting.lines} records, no step)")
        times = [*self._times, *(step.at for step in steps if step.at is not None)]
        return Session(
            id=fit_id(self.id or path.stem) if self.id or _UUID.fullmatch(path.stem) else id_by_place(path),
            agent=agent or reader,
            steps=steps,
            reader=reader,
            agent_version=self.version,
            model=self._models.most_common(1)[0][0] if self._models else None,
            project=project_of(self.root),
            root=self.root,
            started=min(times, default=None),
            ended=max(times, default=None),
            tokens=self.tokens,
            accounting=accounting,
            rewritten=rewritten,
        )
