"""Insights to rows and back: the only module that knows the columns of ``insight``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import NotFound
from helix_episodes.msgspec_types import ready
from helix_graph.database import ANY_OF, as_list, insert_row
from helix_graph.insights.model import Insight, Origin, Performance, StoredInsight, TextVector
from helix_graph.insights.schema import damaged_among, hide_from_search, text_digest
from helix_graph.validation import as_str
from helix_graph.word_search import indexed

if TYPE_CHECKING:
    import sqlite3


_SAID, _DID = Insight.__struct_fields__, Performance.__struct_fields__
_COLUMNS = ", ".join(("number", "name", *_SAID, *_DID))
_JSON = frozenset({"tags", "told"})


def by_name(connection: sqlite3.Connection, name: str) -> StoredInsight | None:
    """The insight of that name; for one that was merged away, the one that it went into."""
    found = _one(connection, "name = ?", name)
    return None if found is None else standing_for(connection, found)


def not_found(name: str) -> NotFound:
    """That no insight has that name."""
    return NotFound(f"no insight {name!r}; `insight list` shows the newest, `insight recall WORDS` searches")


def named(connection: sqlite3.Connection, name: str) -> StoredInsight:
    """The insight of that name."""
    stored = by_name(connection, as_str("name", name))
    if stored is None:
        raise not_found(name)
    return stored


def standing_for(connection: sqlite3.Connection, stored: StoredInsight) -> StoredInsight:
    """The insight into which one was merged, over any number of merges; itself when it was not."""
    while stored.insight.state == "merged":
        into = _one(connection, "uid = ?", stored.insight.merged_into)
        if into is None:
            break
        stored = into
    return stored


def by_uid(connection: sqlite3.Connection, uid: str) -> StoredInsight | None:
    """The insight of that uid, merged away or not."""
    return _one(connection, "uid = ?", uid)


def by_text(connection: sqlite3.Connection, content: str) -> StoredInsight | None:
    """The first insight with that very text, but for case and blanks; merged ones count last.

    Within a transaction that writes: one whose text was damaged since has it back.
    """
    query, value = "digest = ? ORDER BY state = 'merged', number", text_digest(content)
    found = _one(connection, query, value)
    if found and text_digest(found.insight.content) != value and damaged_among(connection, [found.number]):
        restore(connection, found.number, content)
        return _one(connection, query, value)
    return found


def by_numbers(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[StoredInsight]:
    """The insights in those rows, by number."""
    return list(where(connection, f"number {ANY_OF} ORDER BY number", as_list(numbers)))


def own_uids(connection: sqlite3.Connection, uid: str) -> frozenset[str]:
    """The uids under which the log speaks of an insight: its own and those of what was merged into it."""
    query = (
        "WITH RECURSIVE own(uid) AS (VALUES (?) UNION SELECT i.uid FROM insight i JOIN own ON i.merged_into = own.uid"
        " WHERE i.merged_into != '' AND i.state = 'merged') SELECT uid FROM own"
    )
    return frozenset(one for (one,) in connection.execute(query, (uid,)))


def where(connection: sqlite3.Connection, condition: str, *values: str | float) -> Iterator[StoredInsight]:
    """The insights that meet a condition, which is a constant of the module that asks."""
    query = f"SELECT {_COLUMNS} FROM insight WHERE {condition}"  # noqa: S608  (constants)
    return map(_stored, connection.execute(query, values).fetchall())


def sound(connection: sqlite3.Connection, condition: str = "1") -> Iterator[StoredInsight]:
    """As `where`, by uid, without those whose text is not what was stored: these leave the memory in no way."""
    damaged = as_list(damaged_among(connection, every_number(connection)))
    return where(connection, f"({condition}) AND number NOT {ANY_OF} ORDER BY uid", damaged)


def count(connection: sqlite3.Connection) -> int:
    """How many insights there are, without those merged away."""
    return int(connection.execute("SELECT count(*) FROM insight WHERE state != 'merged'").fetchone()[0])


def every_number(connection: sqlite3.Connection) -> frozenset[int]:
    """All rows."""
    return frozenset(number for (number,) in connection.execute("SELECT number FROM insight"))


def active_numbers(connection: sqlite3.Connection) -> frozenset[int]:
    """The rows of insights that can be recalled."""
    return frozenset(number for (number,) in connection.execute("SELECT number FROM insight WHERE state = 'active'"))


def twins(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """Pairs of rows with the same text, but for case and blanks: each with the first of them."""
    query = (
        "SELECT first, number FROM (SELECT number, min(number) OVER (PARTITION BY digest) AS first"
        " FROM insight WHERE state = 'active' AND digest != '') WHERE number != first ORDER BY number"
    )
    return [(first, number) for first, number in connection.execute(query)]


def lacking_vector(connection: sqlite3.Connection, *, model: str, most: int) -> list[tuple[int, str]]:
    """Rows without a vector of that model, and their texts."""
    query = "SELECT number, content FROM insight WHERE state != 'merged' AND model IS NOT ? ORDER BY number LIMIT ?"
    return connection.execute(query, (model, most)).fetchall()


def without_any_vector(connection: sqlite3.Connection) -> int:
    """How many insights have no vector at all."""
    query = "SELECT count(*) FROM insight WHERE state != 'merged' AND model IS NULL"
    return int(connection.execute(query).fetchone()[0])


def without_vector(connection: sqlite3.Connection, *, model: str) -> int:
    """How many insights that can be recalled have no vector of that model."""
    # Three looks into the index instead of one condition, which would read all of it.
    one = "(SELECT count(*) FROM insight WHERE state = 'active' AND model"
    query = f"SELECT {one} IS NULL) + {one} < ?) + {one} > ?)"
    return int(connection.execute(query, (model, model)).fetchone()[0])


def insert(connection: sqlite3.Connection, insight: Insight, *, name: str) -> int:
    """A new row; its number."""
    values = {**_values(insight, _SAID), "name": name, "digest": text_digest(insight.content)}
    values["effectiveness"] = insight.initial
    number = insert_row(connection, "insight", values)
    _index_words(connection, number, values)
    return number


def update(connection: sqlite3.Connection, stored: StoredInsight, insight: Insight) -> None:
    """What has changed of what was said; a vector of another text is no vector of this one."""
    new, old = _values(insight, _SAID), _values(stored.insight, _SAID)
    changed = {column: value for column, value in new.items() if value != old[column]}
    if "content" in changed:
        changed |= {"digest": text_digest(insight.content), "embedding": None, "model": None}
    retagged = "tags" in changed and "content" not in changed
    damaged = damaged_among(connection, [stored.number]) if retagged else {}
    _set(connection, stored.number, changed)
    if changed.keys() & {"content", "tags"}:
        _index_words(connection, stored.number, new)
        hide_from_search(connection, damaged)


def restore(connection: sqlite3.Connection, number: int, content: str) -> None:
    """Puts the text back that a row had before it was damaged; its digest and vector are of that."""
    _set(connection, number, {"content": content})
    for stored in by_numbers(connection, [number]):
        _index_words(connection, number, _values(stored.insight, _SAID))


def rename(connection: sqlite3.Connection, number: int, name: str) -> None:
    """Another name for a row."""
    _set(connection, number, {"name": name})


def set_standing(connection: sqlite3.Connection, number: int, standing: Performance) -> None:
    """How an insight did, as the fold has it."""
    _set(connection, number, _values(standing, _DID))


def set_vector(connection: sqlite3.Connection, number: int, vector: TextVector | None) -> None:
    """The vector of a row's text; without one the row stays as it is."""
    if vector:
        _set(connection, number, {"embedding": vector.blob, "model": vector.model})


def adopt(  # noqa: PLR0913  (all that an insight begins with)
    connection: sqlite3.Connection,
    uid: str,
    content: str,
    *,
    slug: str,
    at: str,
    origin: Origin,
    source: str = "",
    episode: str = "",
) -> Iterator[int]:
    """Makes what a file brought under the uid or in the words of a text this user's own, when that is stored here.

    It begins anew: name, tags and date of the file are not this user's. The rows, which have no name yet.
    """
    same = by_text(connection, content)
    for one in dict.fromkeys((uid, *((same.insight.uid,) if same else ()))):
        was_brought = connection.execute("DELETE FROM insight_import WHERE id = ?", (one,)).rowcount
        # A link or an outcome that a file brought under that id does not become this user's own with it.
        for table in ("insight_link", "insight_feedback", "insight_injection") if was_brought else ():
            connection.execute(f"DELETE FROM {table} WHERE id = ?", (one,))  # noqa: S608  (constants)
        stored = by_uid(connection, one) if was_brought else None
        if stored:
            new = Insight(
                uid=one, slug=slug, content=content, created_at=at, origin=origin, source=source, episode=episode
            )
            update(connection, stored, new)
            rename(connection, stored.number, f"\0{stored.number}")
            yield stored.number


def brought(connection: sqlite3.Connection) -> frozenset[int]:
    """The rows that an import brought, and that are nobody's word here."""
    found = connection.execute("SELECT number FROM insight WHERE uid IN (SELECT id FROM insight_import)")
    return frozenset(number for (number,) in found)


def delete(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Removes rows."""
    connection.execute(f"DELETE FROM insight WHERE number {ANY_OF}", (as_list(numbers),))  # noqa: S608  (a constant)


def set_vector_of(connection: sqlite3.Connection, number: int, content: str, vector: TextVector) -> None:
    """The vector of a text, for the row that had it, if it still has."""
    query = "UPDATE insight SET embedding = ?, model = ? WHERE number = ? AND content = ?"
    connection.execute(query, (vector.blob, vector.model, number, content))


def vectors_of(connection: sqlite3.Connection, numbers: Iterable[int], *, model: str) -> dict[int, bytes]:
    """The vectors of rows, as the table has them; rows without one of that model are left out."""
    query = f"SELECT number, embedding FROM insight WHERE number {ANY_OF} AND model = ?"  # noqa: S608  (a constant)
    return dict(connection.execute(query, (as_list(numbers), model)).fetchall())


def copy_vector(connection: sqlite3.Connection, number: int, *, to: int) -> None:
    """Gives a row the vector of another, whose text it has taken over."""
    vector = connection.execute("SELECT embedding, model FROM insight WHERE number = ?", (number,)).fetchone()
    connection.execute("UPDATE insight SET embedding = ?, model = ? WHERE number = ?", (*vector, to))


def complete_digests(connection: sqlite3.Connection) -> None:
    """Works out the digest of rows that somebody wrote into the table by hand."""
    lacking = connection.execute("SELECT number, content FROM insight WHERE digest = ''").fetchall()
    found = [(text_digest(content), number) for number, content in lacking]
    connection.executemany("UPDATE insight SET digest = ? WHERE number = ?", found)


def _index_words(connection: sqlite3.Connection, number: int, values: dict[str, Any]) -> None:
    """Adds to the index the words that its triggers do not see (`word_search.indexed`), if there are any."""
    text = f"{values['content']} {values['tags']}"
    if indexed(text) != text.casefold():
        connection.execute("UPDATE insight_text SET text = ? WHERE rowid = ?", (indexed(text), number))


def _set(connection: sqlite3.Connection, number: int, values: dict[str, Any]) -> None:
    if values:
        settings = ", ".join(f"{column} = ?" for column in values)
        query = f"UPDATE insight SET {settings} WHERE number = ?"  # noqa: S608  (columns of this module)
        connection.execute(query, (*values.values(), number))


def _one(connection: sqlite3.Connection, condition: str, *values: str) -> StoredInsight | None:
    return next(where(connection, f"{condition} LIMIT 1", *values), None)


def _stored(row: tuple[Any, ...]) -> StoredInsight:
    number, name, *rest = row
    said: dict[str, Any] = dict(zip(_SAID, rest, strict=False))
    for column in _JSON:
        said[column] = msgspec.json.decode(said[column])
    said["slug"] = said["slug"] or name
    did: dict[str, Any] = dict(zip(_DID, rest[len(_SAID) :], strict=True))
    return StoredInsight(
        number=number,
        name=name,
        insight=msgspec.convert(said, ready(Insight)),
        standing=msgspec.convert(did, ready(Performance)),
    )


def _values(value: Insight | Performance, columns: tuple[str, ...]) -> dict[str, Any]:
    return {
        column: msgspec.json.encode(one).decode() if column in _JSON else one
        for column in columns
        for one in (getattr(value, column),)
    }
