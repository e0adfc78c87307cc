"""helix.db as insights see it: without what an older copy of the file brought back of forgotten sessions.

`forget` takes the insights of a session out of the file. A copy from before has them again, and says nothing of the
session's having been forgotten; the tombstones do. To compare all sessions with all tombstones takes as long as the
memory is large, so the file has the state of the tombstones' folder at which nothing in it was forgotten, and only
where the folder has changed since is it looked at. Whoever reads then sees a table without these rows, whatever the
question; whoever writes sees all, and `forget` can remove them.
"""

from __future__ import annotations

import contextlib

from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import HelixDatabase
from helix_graph.insights.schema import INSIGHT_TABLES
from helix_graph.project import FORGOTTEN, digest, forgotten_digests

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

#: The sessions that insights and their links come from, of all rows.
_SESSIONS = "SELECT episode FROM main.insight UNION SELECT episode FROM main.insight_link"
#: As `maintenance.forget_sessions` has it: what was harvested from a session or written by an agent in it goes, and
#: what a person stored or edited stays.
_THEIRS = f"""
SELECT number FROM main.insight WHERE edited_at = '' AND (
    source = 'harvest' AND (
        episode {ANY_OF} OR uid IN (SELECT insight FROM main.insight_link WHERE episode {ANY_OF})
    )
    OR origin = 'agent' AND episode {ANY_OF}
)
"""  # noqa: S608  (constants)


class InsightDatabase(HelixDatabase):
    """The insights in the file at ``path``, for the memory in ``root``."""

    def __init__(self, path: Path, root: Path) -> None:
        super().__init__(path, INSIGHT_TABLES)
        self._root = root

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """As `HelixDatabase.reading`, without insights of forgotten sessions."""
        with super().reading() as connection:
            if self._unseen(connection) and (hidden := self._of_forgotten(connection)):
                # Within the transaction under way: what reads next looks again.
                rest = f"SELECT * FROM main.insight WHERE number NOT IN ({', '.join(map(str, hidden))})"  # noqa: S608  (numbers)
                connection.execute(f"CREATE TEMP VIEW insight AS {rest}")
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """As `HelixDatabase.writing`; that nothing there is of a forgotten session is noted for the readers to come."""
        with super().writing() as connection:
            yield connection
            state = self._unseen(connection)
            if state and not self._of_forgotten(connection):
                connection.execute("UPDATE insight_revision SET forgotten = ?", (state,))

    def hidden(self, connection: sqlite3.Connection) -> frozenset[int]:
        """The rows that whoever reads does not see, for whoever writes."""
        return frozenset(self._of_forgotten(connection)) if self._unseen(connection) else frozenset()

    def _unseen(self, connection: sqlite3.Connection) -> str:
        """The state of the tombstones' folder, if it is not the one that was noted."""
        try:
            state = str((self._root / FORGOTTEN).stat().st_mtime_ns)
        except OSError:  # nothing was forgotten here
            return ""
        (noted,) = connection.execute("SELECT forgotten FROM insight_revision").fetchone()
        return "" if noted == state else state

    def _of_forgotten(self, connection: sqlite3.Connection) -> list[int]:
        """The rows that rest on sessions that were forgotten."""
        forgotten = forgotten_digests(self._root)
        sessions = (name for (name,) in connection.execute(_SESSIONS) if name) if forgotten else ()
        gone = as_list(name for name in sessions if digest(name.removeprefix("episode-")) in forgotten)
        return [number for (number,) in connection.execute(_THEIRS, (gone, gone, gone))]
