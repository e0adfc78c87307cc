"""Patterns and export: what a compile writes once the graph itself is up to date.

Both are too dear for a single assertion: an export follows from the whole graph, and so do a situation's patterns from
all that was observed in it. So it marks them as out of date, and the next compile makes them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.files import write_atomically
from helix_graph.graph.export import export_bytes
from helix_graph.graph.observations import all_counted, changed_situations

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from helix_graph.graph.asserted_patterns import AssertedPattern
    from helix_graph.graph.observations import PatternCounter

    Rows = Sequence[Mapping[str, Any]]


def leave_for_later(connection: sqlite3.Connection, told: Rows) -> None:
    """Marks the export as out of date; the patterns that people told are put in, those counted wait."""
    connection.execute("DELETE FROM meta WHERE key = 'export'")
    _put_in(connection, None, told)


def count_patterns(connection: sqlite3.Connection, counter: PatternCounter, told: Sequence[AssertedPattern]) -> int:
    """Counts the patterns of the situations that have changed anew; returns how many patterns are new."""
    added = _replace(connection, None, counter.told(told))
    for situation, observations in changed_situations(connection):
        added += _replace(connection, situation, counter.count(observations))
    all_counted(connection)
    return added


def _replace(connection: sqlite3.Connection, situation: int | None, rows: Rows) -> int:
    """Puts rows in the place of those that the situation (None: people) had; returns how many are new."""
    before = {name for (name,) in connection.execute("SELECT id FROM pattern WHERE situation IS ?", (situation,))}
    connection.execute("DELETE FROM pattern WHERE situation IS ?", (situation,))
    _put_in(connection, situation, rows)
    return sum(each["id"] not in before for each in rows)


def write_export(connection: sqlite3.Connection, path: Path, *, changed: bool) -> None:
    """Writes the export when there is something new, or when it is not the file that was written last.

    Raises:
        WriteFailed: It cannot be written.
    """
    if changed or not export_is_current(connection, path):
        data = export_bytes(connection)
        if not path.is_file() or path.read_bytes() != data:
            write_atomically(path, data)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('export', ?)", (_mark(path),))


def export_is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the export is the file that was written last, going by its size and time."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'export'").fetchone()
    return bool(found) and found[0] == _mark(path)


def _put_in(connection: sqlite3.Connection, situation: int | None, rows: Rows) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO pattern VALUES (?, ?, ?)",
        [(each["id"], situation, msgspec.json.encode(each)) for each in rows],
    )


def _mark(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return ""
    return f"{stat.st_size} {stat.st_mtime_ns}"
