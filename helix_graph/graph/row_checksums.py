"""Checksums of what is in graph.db: whether a row that is read is the row that was written.

SQLite notices damage to the structure of its file, not to what stands in the rows. So each episode has a checksum over
its rows in every table, and so have the rows that remember files; nodes, edges and patterns follow from the episodes'
rows and are computed again, and SQLite compares the word index with its texts. They find accidents and rows changed by
hand, nobody who computes them anew. Everything here is derived: damage is mended by a new compile.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections import Counter
from contextlib import ExitStack, closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph import database
from helix_graph.graph.assertions import pattern_assertions
from helix_graph.graph.model import MEASURED_BASES, node_id
from helix_graph.graph.observations import unpack_observations
from helix_graph.graph.patterns import asserted_patterns, patterns_of
from helix_graph.graph.similar_decisions import rows_in_index

if TYPE_CHECKING:
    from collections.abc import Iterator


#: An episode's own columns but for its checksum.
_EPISODE = (
    "number, id, session, timestamp, moment, task, task_kind, outcome, basis, agent, model, branch, log, problems,"
    " origin"
)
#: The tables that have rows of an episode, each in the order of its key. Decisions are numbered in their index.
PARTS = ("mention", "issue", "wording", "claim", "repair", "run", "cost", "decided (rowid, text)")
#: Stands for NULL in rows of `PARTS`: Python's sqlite3 takes four times as long for None as for a number, and a mention
#: has ten of them. SQLite stores what is no number as NULL (https://sqlite.org/floatingpoint.html).
NOTHING = float("nan")
#: What the rows of each table with checksums of their own are computed from. A file's time may change with the file
#: the same, and its episode is a reference that SQLite checks.
_ROWS = {
    "digest": "episode, body",
    "file": "name, size, sha256, problem",
    "telling": "episode, project, begin, session, worked, early, commits, reverts, body",
    "assertion": "name, size, mtime_ns, sha256, unit, moment, body, problem",
}
_MEASURED = ", ".join(f"'{basis}'" for basis in sorted(MEASURED_BASES))
#: The sums of one node over its facts: mentions, episodes, episodes with a measured outcome, successes among these.
SUMS_OF_NODE = f"""
    SELECT coalesce(sum(times), 0), count(CASE WHEN origin <> 'assertion' THEN 1 END),
        count(CASE WHEN measures THEN 1 END), count(CASE WHEN measures AND outcome = 'success' THEN 1 END)
    FROM (
        SELECT sum(counted) AS times, e.origin, e.outcome,
            e.basis IN ({_MEASURED}) AND e.outcome <> 'unknown' AS measures
        FROM mention m JOIN episode e ON e.number = m.episode
        WHERE m.node = node.number AND m.counted GROUP BY m.episode
    )"""  # noqa: S608  (constants)
#: The sums of one edge over its claims: weights, claims, and episodes that make them.
SUMS_OF_EDGE = """
    SELECT coalesce(sum(weight), 0), count(*), count(DISTINCT episode) FROM claim c
    WHERE c.source = edge.source AND c.target = edge.target AND c.type = edge.type"""
#: Every edge with these sums, at once.
SUMS_OF_EDGES = """
    SELECT source, target, type, sum(weight), count(*), count(DISTINCT episode) FROM claim
    GROUP BY source, target, type"""
#: Each gives how many sums are not those of the facts.
SUMS = {
    "nodes": f"SELECT count(*) FROM node WHERE (mentions, episodes, measured, successes) <> ({SUMS_OF_NODE})",  # noqa: S608  (constants)
    "edges": f"SELECT count(*) FROM edge WHERE (weight_sum, claims, episodes) <> ({SUMS_OF_EDGE})",  # noqa: S608  (constants)
    "edges to be": (
        "SELECT (SELECT count(*) FROM (SELECT DISTINCT source, target, type FROM claim)) - (SELECT count(*) FROM edge)"
    ),
}


def checksum(rows: object) -> int:
    """The checksum of a row, or of rows in an order."""
    return zlib.crc32(msgspec.msgpack.encode(rows))


def is_intact(connection: sqlite3.Connection, episode: int) -> bool:
    """Whether the episode's rows are those that were written."""
    found = connection.execute("SELECT checksum FROM episode WHERE number = ?", (episode,)).fetchone()
    return bool(found == (_of_episode(connection, episode),))


def _of_episode(connection: sqlite3.Connection, episode: int) -> int:
    about = connection.execute(f"SELECT {_EPISODE} FROM episode WHERE number = ?", (episode,)).fetchone()  # noqa: S608  (a constant)
    rows = [connection.execute(f"SELECT * FROM {table} WHERE episode = ?", (episode,)) for table in PARTS[:-1]]  # noqa: S608  (constants)
    rows.append(connection.execute("SELECT * FROM decided_content WHERE id BETWEEN ? AND ?", rows_in_index(episode)))
    filled = ([[NOTHING if value is None else value for value in row] for row in each] for each in rows)
    parts: dict[str, list[list[Any]]] = dict(zip(PARTS, filled, strict=True))
    places: dict[int, int] = {}
    for row in parts["mention"]:
        row[2] = places.setdefault(row[2], len(places))
    for row in parts["claim"]:
        row[:2] = [places.get(row[0], NOTHING), places.get(row[1], NOTHING)]
    query = "SELECT id, type, label FROM node WHERE number = ?"
    nodes = [connection.execute(query, (node,)).fetchone() for node in places]
    flat = [list(chain.from_iterable(each)) for each in parts.values()]
    return zlib.crc32(msgspec.msgpack.encode([about, nodes, flat]))


def read_digests(connection: sqlite3.Connection, episode: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Episodes, by number, with their digests; of all, or of one.

    Raises:
        DamagedRows: One is not what was written.
    """
    where, values = ("", ()) if episode is None else (" WHERE episode = ?", (episode,))
    for number, body, expected in connection.execute(f"SELECT episode, body, checksum FROM digest{where}", values):  # noqa: S608  (constants)
        if checksum((number, body)) != expected:
            raise database.DamagedRows(f"the digest of episode {number} is not what was written")
        yield number, body


def find_damage(connection: sqlite3.Connection, *, version: int) -> str | None:
    """What is damaged in the rows, in a sentence; None when they are sound, or there are no tables of that version."""
    if database.schema_version(connection) != version:
        return None
    return next(_damage(connection), None)


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    yield from _damaged_rows(connection)
    yield from (f"{table} refers to a row that is gone" for table, *_ in connection.execute("PRAGMA foreign_key_check"))
    for what, query in SUMS.items():
        if connection.execute(query).fetchone()[0]:
            yield f"the sums of {what} are not those of their facts"
    if connection.execute(_NAMES_AMISS).fetchone():
        yield "the list of names is not that of the mentions"
    uses = Counter(one.id for one in asserted_patterns(pattern_assertions(connection)))
    for _, body in read_digests(connection):
        uses.update(patterns_of(unpack_observations([body])))
    if uses != dict(connection.execute("SELECT id, uses FROM pattern")):
        yield "the list of patterns is not that of the episodes"
    if not _is_index_intact(connection):
        yield "the index of words is not that of the decisions"


#: Every place and thing once, in order.
NAMES = (
    "SELECT place AS name FROM mention WHERE place IS NOT NULL UNION SELECT thing FROM mention"
    " WHERE thing IS NOT NULL ORDER BY 1"
)
#: A place or thing that the list of names is without, or a name too many.
_NAMES_AMISS = (
    f"WITH known AS ({NAMES}) SELECT name FROM known WHERE name NOT IN (SELECT name FROM name) UNION ALL"  # noqa: S608  (constants)
    " SELECT name FROM name WHERE name NOT IN (SELECT name FROM known)"
)


def _is_index_intact(connection: sqlite3.Connection) -> bool:
    """Whether the words lead to the decisions that have them. SQLite only says so where it may write: in a copy."""
    with ExitStack() as stack:
        if not connection.in_transaction:  # one that writes may ask; it could not be copied
            copy = stack.enter_context(closing(sqlite3.connect("")))  # a file without a name, gone when it is closed
            connection.backup(copy)
            connection = copy
        try:
            connection.execute("INSERT INTO decided (decided) VALUES ('integrity-check')")
        except sqlite3.DatabaseError:
            return False
    return True


def _damaged_rows(connection: sqlite3.Connection) -> Iterator[str]:
    for number, name in connection.execute("SELECT number, id FROM episode").fetchall():
        if not is_intact(connection, number):
            yield f"the rows of {name} are not those that were written"
    for table, columns in _ROWS.items():
        for *row, expected in connection.execute(f"SELECT {columns}, checksum FROM {table}"):  # noqa: S608  (constants)
            if checksum(tuple(row)) != expected:
                yield f"the row of {row[0]} in {table} is not what was written"
    for name, kind, label, folded in connection.execute("SELECT id, type, label, folded FROM node"):
        if (name, folded) != (node_id(kind, label), label.casefold()):
            yield f"node {name} is not what was written"
    wrong = connection.execute("SELECT name FROM file JOIN episode ON number = episode WHERE name <> id || '.json'")
    yield from (f"{name} belongs to another episode" for (name,) in wrong)
