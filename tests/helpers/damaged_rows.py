"""Rows of helix.db that a disk changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helix_graph import Memory


def damage(memory: Memory, before: str, after: bytes) -> None:
    """Changes a text in its row as a disk would: no trigger of the table runs, and the index keeps the words."""
    with closing(sqlite3.connect(memory.insights.path)) as connection, connection:
        (trigger,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'insight_text_anew'").fetchone()
        connection.execute("DROP TRIGGER insight_text_anew")
        (number, content) = connection.execute(
            "SELECT number, content FROM insight WHERE content LIKE ?", (f"%{before}%",)
        ).fetchone()
        spoilt = content.encode().replace(before.encode(), after)
        connection.execute("UPDATE insight SET content = CAST(? AS TEXT) WHERE number = ?", (spoilt, number))
        connection.execute(trigger)
