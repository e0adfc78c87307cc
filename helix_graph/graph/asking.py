"""graph.db opened for one question: only when it is there, is ours, is finished, and was made by this version.

Apart from the door, because whoever has one question (a hook, at every failure of a tool) loads this and no more.
"""

from __future__ import annotations

from contextlib import closing, contextmanager

from helix_graph import database
from helix_graph.errors import CUT_SHORT, GraphNotCompiled
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.version import LABEL_MODE, LABEL_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the graph in the file at ``path``, which only reads.

    Raises:
        GraphNotCompiled: It is not there, not finished, or was made by another version.
        NotOurDatabase: Another program's file is in its place.
        DatabaseUnreadable: It is damaged.
    """
    if database.ownership(path, GRAPH_FILE) == "absent":
        raise GraphNotCompiled(path=path)
    with database.reporting(path), closing(database.open_for_reading(path)) as connection:
        version = database.schema_version(connection)
        if not version:
            raise GraphNotCompiled(path=path, problem=CUT_SHORT)
        if version != GRAPH_FILE.version or not _has_our_labels(connection):
            raise GraphNotCompiled(path=path, problem="was compiled by another version")
        yield connection


def _has_our_labels(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT value FROM meta WHERE key = 'labels'").fetchone()
    return bool(found == (f"{LABEL_VERSION} {LABEL_MODE}",))
