"""Find secrets in the databases of a memory, and say in which table and row they are, never what they are.

Redaction cuts them before they are written; one that is found all the same was written by an older version, which knew
fewer kinds, or by another program.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import orjson

from helix_episodes.redaction import HOME, redact
from helix_episodes.safe_files import irregularity
from helix_episodes.verification import strings_in
from helix_graph import database
from helix_graph.doctor.model import Fixable
from helix_graph.embedding.cache import CACHE_NAME, VECTOR_CACHE
from helix_graph.errors import DatabaseBusy, DatabaseRefused, DatabaseUnreadable, GraphNotCompiled, NotOurDatabase
from helix_graph.graph.graph_db import FILE_NAME, GRAPH_FILE
from helix_graph.helix_db import HELIX_DB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: A finding names so many rows; the rest is counted.
_MOST_NAMED = 5
_REPLACE = "a secret that was ever shared should be replaced at its service"
#: Each database with what takes a secret out of it: two are derived from episodes, the third is the truth itself.
_DATABASES = (
    ("helix.db", HELIX_DB, "edit or forget the record with `insight`, `topic edit` or `forget`"),
    (f"causality/{FILE_NAME}", GRAPH_FILE, "delete the file, then helix-graph compile"),
    (CACHE_NAME, VECTOR_CACHE, "delete the file; it is made again when needed"),
)


def check_database_secrets(root: Path) -> Iterator[Fixable]:
    """Rows of helix.db, graph.db and the cache in which redaction would cut something.

    A file that is damaged, locked or another program's is left out here: the other checks report it.
    """
    for name, kind, remedy in _DATABASES:
        path = root / name
        if not path.exists() or irregularity(path):
            continue
        try:
            if database.ownership(path, kind) == "absent":
                continue
            with database.reporting(path), closing(database.open_for_reading(path, kind)) as connection:
                found = list(_rows_with_secrets(connection))
        except (NotOurDatabase, DatabaseBusy, DatabaseRefused, DatabaseUnreadable, GraphNotCompiled):
            continue
        if found:
            yield Fixable("secret", name, _sentence(found), f"{remedy}; {_REPLACE}")


def _sentence(found: list[tuple[str, Counter[str]]]) -> str:
    rows = [f"{place}: {', '.join(f'{n} x {kind}' for kind, n in sorted(kinds.items()))}" for place, kinds in found]
    more = f"; and {len(rows) - _MOST_NAMED} more rows" if len(rows) > _MOST_NAMED else ""
    return "; ".join(rows[:_MOST_NAMED]) + more


def _rows_with_secrets(connection: sqlite3.Connection) -> Iterator[tuple[str, Counter[str]]]:
    """Each table and row with the kinds of secrets in it."""
    for table in _tables(connection):
        for number, row in _rows(connection, table):
            kinds = Counter(kind for value in row for kind in _kinds(value))
            if kinds:
                yield f"table {table}, row {number}", kinds


def _tables(connection: sqlite3.Connection) -> list[str]:
    """The tables that hold texts of their own; an index of words is made of theirs."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    virtual = tuple(f"{name}_" for name, sql in found if str(sql).upper().startswith("CREATE VIRTUAL"))
    return [name for name, sql in found if not f"{name}_".startswith(virtual) and not name.startswith("sqlite_")]


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[tuple[int, tuple[object, ...]]]:
    name = table.replace('"', '""')
    try:
        rows = connection.execute(f'SELECT rowid, * FROM "{name}"')  # noqa: S608  (a name from the file itself, quoted)
    except sqlite3.OperationalError:  # a table without numbers of its own
        yield from enumerate(connection.execute(f'SELECT * FROM "{name}"'), 1)  # noqa: S608  (as above)
    else:
        yield from ((number, tuple(row)) for number, *row in rows)


def _kinds(value: object) -> Iterator[str]:
    """What redaction would cut of a value: of a text, or of the texts in JSON."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if not isinstance(text, str):
        return
    texts = [text]
    if text[:1] in ("{", "["):
        try:
            texts = list(strings_in(orjson.loads(text)))
        except orjson.JSONDecodeError:
            texts = [text]
    for one in texts:
        yield from (cut.kind for cut in redact(one).cuts if cut.kind != HOME)
