"""What a schema makes, by the digests that `helix_graph.database` compares."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from helix_graph.database import object_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def made_by(scripts: Iterable[str | Callable[[sqlite3.Connection], None]]) -> frozenset[str]:
    """Every object that is there after any of the scripts or functions, each run after the others."""
    found: set[str] = set()
    with closing(sqlite3.connect(":memory:")) as connection:
        for script in scripts:
            if callable(script):
                script(connection)
            else:
                connection.executescript(script)
            rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
            found.update(object_digest(*row) for row in rows)
    return frozenset(found)
