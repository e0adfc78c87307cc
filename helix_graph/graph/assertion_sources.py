"""The files of assertions as compile sees them: which are new, changed or gone, and whose shares that touches.

graph.db keeps a copy of each assertion, so that an episode that changes is folded with its corrections without a look
at their files.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.files import read_regular
from helix_graph.errors import InvalidAssertion
from helix_graph.graph.asserted import Named, unit_of
from helix_graph.graph.asserted_patterns import AssertedPattern, fold_patterns
from helix_graph.graph.assertions import (
    CORRECTIONS,
    SUFFIX,
    Assertion,
    PatternAssertion,
    decode_assertion,
    distinct,
    encode_assertion,
    name_of,
    oldest_first,
)
from helix_graph.graph.model import moment
from helix_graph.graph.sources import Stamp, differs, stamp_of

if TYPE_CHECKING:
    import sqlite3


class Known(msgspec.Struct, frozen=True):
    """What graph.db remembers of an assertion's file."""

    stamp: Stamp
    sha256: bytes
    unit: str
    body: bytes | None


class Change(msgspec.Struct, frozen=True):
    """A file that is new or changed: its assertion, or what is wrong with it."""

    stamp: Stamp
    sha256: bytes
    assertion: Assertion | None = None
    problem: str | None = None


class AssertionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to do. ``units`` are the shares to fold again; ``rates``: patterns may have changed as well."""

    folder: Path
    changes: dict[str, Change]
    gone: tuple[str, ...]
    units: frozenset[str]
    rates: bool

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.changes or self.gone)


def plan_assertions(connection: sqlite3.Connection, folder: Path) -> AssertionPlan:
    """Compares the files with what graph.db remembers of them; reads those that differ."""
    known, present = _known(connection), _scan(folder)
    changes = {
        name: change
        for name, stamp in sorted(present.items())
        if (change := _change(folder / f"{name}{SUFFIX}", stamp, known.get(name)))
    }
    gone = tuple(sorted(known.keys() - present.keys()))
    before = [known[name] for name in (*changes, *gone) if name in known]
    after = [change.assertion for change in changes.values() if change.assertion]
    kinds = after + [_decoded(old.body, folder) for old in before if old.body]
    return AssertionPlan(
        folder=folder,
        changes=changes,
        gone=gone,
        units=frozenset({unit_of(name_of(one), one) for one in after} | {old.unit for old in before}) - {""},
        rates=any(isinstance(each, (PatternAssertion, *CORRECTIONS)) for each in kinds),
    )


def remember_assertions(connection: sqlite3.Connection, plan: AssertionPlan) -> None:
    """Brings graph.db's copies up to date with the files."""
    connection.executemany("DELETE FROM assertion WHERE name = ?", ((name,) for name in plan.gone))
    connection.executemany(
        "INSERT OR REPLACE INTO assertion VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (_row(name, change) for name, change in plan.changes.items()),
    )


def assertions_of(connection: sqlite3.Connection, unit: str, folder: Path) -> list[Named]:
    """The assertions that belong to a share, by identity."""
    rows = connection.execute("SELECT name, body FROM assertion WHERE unit = ?", (unit,))
    return distinct((name, _decoded(body, folder)) for name, body in rows.fetchall())


def told_patterns(connection: sqlite3.Connection, folder: Path) -> tuple[AssertedPattern, ...]:
    """The patterns that people have added."""
    rows = connection.execute("SELECT name, body FROM assertion WHERE unit = '' AND problem IS NULL")
    found = [(name, _decoded(body, folder)) for name, body in rows.fetchall()]
    patterns = distinct((name, one) for name, one in found if isinstance(one, PatternAssertion))
    return fold_patterns(oldest_first(patterns))


def bad_assertions(connection: sqlite3.Connection, folder: Path) -> list[tuple[Path, str]]:
    """The files that hold no assertion, and why."""
    rows = connection.execute("SELECT name, problem FROM assertion WHERE problem IS NOT NULL ORDER BY name")
    return [(folder / f"{name}{SUFFIX}", problem) for name, problem in rows]


def pending_assertions(connection: sqlite3.Connection, folder: Path) -> list[str]:
    """The names of the files that are new, changed or gone since the last compile."""
    plan = plan_assertions(connection, folder)
    return sorted(name + SUFFIX for name in (*plan.changes, *plan.gone))


def _known(connection: sqlite3.Connection) -> dict[str, Known]:
    rows = connection.execute("SELECT name, size, mtime_ns, sha256, unit, body FROM assertion")
    return {name: Known(Stamp(size, mtime), sha256, unit, body) for name, size, mtime, sha256, unit, body in rows}


def _scan(folder: Path) -> dict[str, Stamp]:
    stamps: dict[str, Stamp] = {}
    if folder.is_dir():
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and not entry.name.startswith("."):
                    with suppress(FileNotFoundError):  # deleted since the folder was listed
                        stamps[entry.name.removesuffix(SUFFIX)] = stamp_of(entry)
    return stamps


def _change(path: Path, stamp: Stamp, known: Known | None) -> Change | None:
    """What is new in a file; None when it holds what it held, or is gone, which the next compile sees."""
    if known and not differs(stamp, known):
        return None
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        could = known is None or known.sha256  # one that could not be read before either is no news
        return Change(Stamp(0, 0), b"", problem=f"cannot be read: {error.strerror or error}") if could else None
    digest = hashlib.sha256(data).digest()
    if known and digest == known.sha256:
        return None
    try:
        return Change(stamp, digest, decode_assertion(data, path=path))
    except InvalidAssertion as error:
        return Change(stamp, digest, problem=error.problem)


def _row(name: str, change: Change) -> tuple[object, ...]:
    one = change.assertion
    unit, when, body = (
        (unit_of(name_of(one), one), moment(one.asserted_at), encode_assertion(one)) if one else ("", "", None)
    )
    return name, change.stamp.size, change.stamp.mtime_ns, change.sha256, unit, when, body, change.problem


def _decoded(body: bytes, folder: Path) -> Assertion:
    return decode_assertion(body, path=folder)
