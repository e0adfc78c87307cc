"""No insight twice in one session: which were given out already, kept where every process of the session sees it.

Two processes that inject at once must not both give out the same insight. So a name is *taken*, in one transaction
that says whether somebody else was faster; then the next best is looked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from helix_graph.insights.clock import now, stamp
from helix_graph.plans.tables import database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path


class Given(Protocol):
    """What has been given out."""

    def names(self) -> tuple[str, ...]:
        """All of it, sorted."""
        ...

    def take(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that had not been given out; from now on they have."""
        ...


class GivenInCall:
    """What one call has given out: without a session nothing outlives it."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def names(self) -> tuple[str, ...]:
        """All of it, sorted."""
        return tuple(sorted(self._names))

    def take(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that had not been given out; from now on they have."""
        fresh = tuple(name for name in dict.fromkeys(names) if name not in self._names)
        self._names.update(fresh)
        return fresh


class GivenInSession:
    """What a session has given out, in whatever process."""

    def __init__(self, root: Path, session: str) -> None:
        self._database = database(root)
        self._session = session

    def names(self) -> tuple[str, ...]:
        """All of it, sorted."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT name FROM injected WHERE session = ? ORDER BY name", (self._session,))
            return tuple(name for (name,) in rows)

    def take(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that had not been given out; from now on they have."""
        with self._database.writing() as connection:
            return tuple(name for name in dict.fromkeys(names) if self._insert(connection, name))

    def reset(self) -> int:
        """Forgets what was given out; how much it was."""
        with self._database.writing() as connection:
            return connection.execute("DELETE FROM injected WHERE session = ?", (self._session,)).rowcount

    def _insert(self, connection: sqlite3.Connection, name: str) -> bool:
        row = (self._session, name, stamp(now()))
        return connection.execute("INSERT OR IGNORE INTO injected VALUES (?, ?, ?)", row).rowcount == 1
