"""The view: everything that follows from the log, kept in the same transaction.

Entries by topic, tags, links, and for each word where it stands. `add` and `take_out` are each other's opposite, so the
view of a log is the same however it came about.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from helix_graph.database import ANY_OF, as_list
from helix_graph.topics.classify import category
from helix_graph.topics.tables import VIEW
from helix_graph.topics.tokens import words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from helix_graph.topics.log import Filed, Record

#: Words of so many entries are sorted together, because rows that go into the table in its order go in five times as
#: fast; more at once would only take more memory.
AT_ONCE = 2_000


def add(connection: sqlite3.Connection, entries: Sequence[Filed]) -> None:
    """Takes entries into the view."""
    for place in range(0, len(entries), AT_ONCE):
        _add(connection, entries[place : place + AT_ONCE])


def take_out(connection: sqlite3.Connection, record: Record) -> None:
    """Takes an entry out of the view, as it was taken in: perhaps by a version that cut fewer words from its text."""
    removed = connection.execute(
        "DELETE FROM topic_posting WHERE entry = ?"  # noqa: S608  (our own names and constants)
        f" AND word IN (SELECT word FROM topic_word WHERE spelling {ANY_OF}) RETURNING word, length",
        (record.entry, as_list(_counts(record))),
    ).fetchall()
    connection.executemany(
        "UPDATE topic_word SET entries = entries - 1 WHERE word = ?", [(word,) for word, _ in removed]
    )
    length = removed[0][1] if removed else 0
    connection.executemany(
        "DELETE FROM topic_tag WHERE tag = ? AND entry = ?", [(t, record.entry) for t in record.tags]
    )
    connection.executemany(
        "DELETE FROM topic_link WHERE target = ? AND source = ?", [(target, record.entry) for target in record.links]
    )
    connection.execute("DELETE FROM topic_entry WHERE entry = ?", (record.entry,))
    connection.execute("UPDATE topic SET entries = entries - 1 WHERE name = ?", (record.topic,))
    connection.execute("DELETE FROM topic WHERE name = ? AND entries = 0", (record.topic,))
    connection.execute("UPDATE topic_totals SET entries = entries - 1, words = words - ?", (length,))


def empty(connection: sqlite3.Connection) -> None:
    """Takes everything out."""
    for table in VIEW:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  (our own names and constants)
    connection.execute("UPDATE topic_totals SET entries = 0, words = 0")


def _add(connection: sqlite3.Connection, entries: Sequence[Filed]) -> None:
    records = [one.record for one in entries]
    counts = {record.entry: _counts(record) for record in records}
    connection.executemany("INSERT INTO topic_entry VALUES (?, ?, ?, ?, ?, ?, ?)", map(_entry_row, entries))
    connection.executemany("INSERT INTO topic_tag VALUES (?, ?)", [(tag, r.entry) for r in records for tag in r.tags])
    connection.executemany(
        "INSERT OR IGNORE INTO topic_link VALUES (?, ?)", [(target, r.entry) for r in records for target in r.links]
    )
    connection.executemany(
        "INSERT INTO topic VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET entries = entries + excluded.entries",
        sorted(Counter(record.topic for record in records).items()),
    )
    numbers = _word_numbers(connection, counts.values())
    rows = (
        (numbers[word], r.entry, times, counts[r.entry].total(), r.confidence, r.stored)
        for r in records
        for word, times in counts[r.entry].items()
    )
    connection.executemany("INSERT INTO topic_posting VALUES (?, ?, ?, ?, ?, ?)", sorted(rows))
    total = sum(one.total() for one in counts.values())
    connection.execute("UPDATE topic_totals SET entries = entries + ?, words = words + ?", (len(records), total))


def _word_numbers(connection: sqlite3.Connection, counts: Iterable[Counter[str]]) -> dict[str, int]:
    """The number of each word, with the entries counted that have it now."""
    having = Counter(word for one in counts for word in one)
    connection.executemany(
        "INSERT INTO topic_word (spelling, entries) VALUES (?, ?)"
        " ON CONFLICT (spelling) DO UPDATE SET entries = entries + excluded.entries",
        sorted(having.items()),
    )
    rows = connection.execute(f"SELECT spelling, word FROM topic_word WHERE spelling {ANY_OF}", (as_list(having),))  # noqa: S608  (our own names and constants)
    return dict(rows.fetchall())


def _entry_row(one: Filed) -> tuple[int | str, ...]:
    r = one.record
    kind = category(r.tags, r.text)
    return (r.entry, one.number, r.topic, r.position, r.stored, r.changed, kind)


def _counts(record: Record) -> Counter[str]:
    return Counter(words(record.text))
