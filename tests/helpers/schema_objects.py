"""What a schema makes, by the digests that `helix_graph.database` compares."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from helix_graph.database import object_digest

if TYPE_CHECKING:
    from collections.abc import Iterable


def made_by(scripts: Iterable[str]) -> frozenset[str]:
    """Every object that is there after any of the scripts, each run after the others."""
    found: set[str] = set()
    with closing(sqlite3.connect(":memory:")) as connection:
        for script in scripts:
            connection.executescript(script)
            rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
            found.update(object_digest(*row) for row in rows)
    return frozenset(found)
