r"""Insights as text: one record a line, in an order that follows from the records, so that git can merge two of them.

Records of two memories become one by `helix_graph.insights.joining.join`, the log by its ids, and what was forgotten in
one is forgotten in both. So importing twice, or in any order, gives the same memory. Names are given anew where two
insights ask for the same: the older keeps it. Vectors and standings are not in the text, since both follow from it.
Of sessions that were forgotten here nothing comes in (`helix_graph.insights.admitting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, TypeVar

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import UsageError
from helix_episodes.files import read_regular, write_output
from helix_graph.database import ANY_OF, as_list
from helix_graph.given import place
from helix_graph.insights import log, rows
from helix_graph.insights.errors import InvalidExport
from helix_graph.insights.forgetting import bury
from helix_graph.insights.joining import join
from helix_graph.insights.links import links_where, write_link
from helix_graph.insights.model import Entry, Forgotten, Injection, Insight, Link, Record
from helix_graph.insights.naming import free_name
from helix_graph.insights.room import Room

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

_HEADER = '{"record":"helix-insights","version":1}'
_Logged = TypeVar("_Logged", Entry, Injection)


#: Kinds in the order in which they stand in a file.
_KINDS: dict[str, type[Record]] = {
    "forgotten": Forgotten,
    "insight": Insight,
    "link": Link,
    "feedback": Entry,
    "injection": Injection,
}


class Imported(TypedDict):
    """What an import brought: how many insights, links and entries there are now that were not there before.

    ``left_out`` insights and links rest on sessions that were forgotten here.
    """

    insights: int
    links: int
    feedback: int
    injections: int
    left_out: int
    total: int
    without_vector: int


class Exchanged(Room):
    """The part of `Insights` that gives and takes."""

    def export(self) -> str:
        """Every insight, link and entry as text, one record a line; the same memory gives the same text."""
        with self._database.reading() as connection:
            return "\n".join((_HEADER, *sorted_lines(connection))) + "\n"

    def export_to(self, path: Path) -> int:
        """Writes `export` to a file; how many records.

        Raises:
            WriteFailed: It cannot be written.
        """
        text = self.export()
        write_output(place("path", path), text.encode())
        return text.count("\n") - 1

    def import_from(self, path: Path) -> Imported:
        """Takes in what `export` wrote, or the helix.db of the original in either of its forms.

        Raises:
            InvalidExport: The file is neither, or a line of it is damaged or out of bounds; then nothing is taken in.
        """
        from helix_graph.insights import foreign  # noqa: PLC0415  (questions do without)

        where = place("path", path)
        now = self._clock()
        records = foreign.read_original(where) if foreign.is_database(where) else list(_read(where, now=now))
        return self.take_in(records)

    def take_in(self, records: Iterable[Record]) -> Imported:
        """Joins records with those that are there; what rests on sessions that were forgotten stays out."""
        from helix_graph.insights.admitting import Admission  # noqa: PLC0415  (questions do without)

        admission = Admission(self._is_forgotten)
        admitted = admission.admit(records)
        with self._database.writing() as connection:
            before = _counts(connection)
            _join_all(connection, admitted)
            log.rebuild(connection, settings=self.settings)
            after = _counts(connection)
            without = rows.without_any_vector(connection)
        new = {kind: after[kind] - before[kind] for kind in after}
        return Imported(
            insights=new["insight"],
            links=new["insight_link"],
            feedback=new["insight_feedback"],
            injections=new["insight_injection"],
            left_out=admission.left_out,
            total=after["insight"],
            without_vector=without,
        )

    def _is_forgotten(self, session: str) -> bool:
        from helix_graph.tombstones import Tombstones  # noqa: PLC0415  (as above)

        return self._experience is not None and Tombstones(self._experience.root).holds(session)


def sorted_lines(connection: sqlite3.Connection) -> Iterator[str]:
    """Every record as its line."""
    for uid, ts in connection.execute("SELECT uid, ts FROM insight_forgotten ORDER BY uid"):
        yield _line("forgotten", Forgotten(uid, ts))
    for kept in rows.everything(connection):
        yield _line("insight", kept.insight)
    for link in links_where(connection, "1 ORDER BY id"):
        yield _line("link", link)
    for entry in log.entries(connection):
        yield _line("feedback", entry)
    for injection in log.injections(connection):
        yield _line("injection", injection)


def _line(kind: str, record: Record) -> str:
    return msgspec.json.encode({"record": kind, **msgspec.to_builtins(record)}).decode()


def _read(path: Path, *, now: datetime) -> Iterator[Record]:
    try:
        lines = read_regular(path).decode().splitlines()
    except (OSError, UnicodeError) as error:
        raise InvalidExport(path=path, line=None, problem=str(error)) from error
    if not lines or lines[0] != _HEADER:
        raise InvalidExport(path=path, line=1, problem="it does not begin as an export of insights does")
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            try:
                yield _record(line, now=now)
            except (msgspec.MsgspecError, ValueError, UsageError) as error:
                raise InvalidExport(path=path, line=number, problem=str(error)) from error


def _record(line: str, *, now: datetime) -> Record:
    from helix_graph.insights.checking import checked  # noqa: PLC0415  (questions do without)

    raw = msgspec.json.decode(line, type=dict[str, object])
    kind = raw.pop("record", None)
    if kind not in _KINDS:
        problem = f"{kind!r} is no kind of record"
        raise ValueError(problem)
    return checked(msgspec.convert(raw, _KINDS[str(kind)]), now=now)


def _join_all(connection: sqlite3.Connection, records: list[Record]) -> None:
    forgotten = dict(connection.execute("SELECT uid, ts FROM insight_forgotten").fetchall())
    for record in records:
        if isinstance(record, Forgotten):
            forgotten[record.uid] = min(record.ts, forgotten.get(record.uid, record.ts))
    for record in records:
        if isinstance(record, Insight) and record.uid not in forgotten:
            _join_insight(connection, record)
        elif isinstance(record, Link):
            write_link(connection, record)
    _join_log(connection, [record for record in records if isinstance(record, Entry)])
    _join_injections(connection, [record for record in records if isinstance(record, Injection)])
    if forgotten:
        bury(connection, forgotten)
    _untangle(connection)
    _name_all(connection)


def _join_insight(connection: sqlite3.Connection, record: Insight) -> None:
    kept = rows.by_uid(connection, record.uid)
    if kept is None:
        rows.insert(connection, record, name=f"\0{record.uid}")  # a name that no slug is, until all are named
    else:
        rows.update(connection, kept, join(kept.insight, record))


def _join_log(connection: sqlite3.Connection, entries: list[Entry]) -> None:
    known = {entry.id: entry for entry in log.entries(connection, f"id {ANY_OF}", as_list(one.id for one in entries))}
    for entry in _first_of_each(entries, known):
        log.write(connection, entry)


def _join_injections(connection: sqlite3.Connection, injections: list[Injection]) -> None:
    known = {injection.id: injection for injection in log.injections(connection)} if injections else {}
    for injection in _first_of_each(injections, known):
        log.write_injection(connection, injection)


def _first_of_each(records: list[_Logged], known: dict[str, _Logged]) -> Iterator[_Logged]:
    """Records to be written: new ones, and of two with one id the one that comes first in time, then as text."""
    best = dict(known)
    for record in records:
        there = best.get(record.id)
        best[record.id] = record if there is None else min(there, record, key=_place)
    yield from (record for name, record in best.items() if known.get(name) != record)


def _place(record: Entry | Injection) -> tuple[str, bytes]:
    return record.ts, msgspec.json.encode(record)


def _untangle(connection: sqlite3.Connection) -> None:
    """Where each of two memories merged the other's insight away, the one of the lower uid stays."""
    away = dict(connection.execute("SELECT uid, merged_into FROM insight WHERE state = 'merged'").fetchall())
    for start in sorted(away):
        path = [start]
        while away.get(path[-1]) in away and away[path[-1]] not in path:
            path.append(away[path[-1]])
        if away.get(path[-1]) in path:
            circle = path[path.index(away[path[-1]]) :]
            kept = rows.by_uid(connection, min(circle))
            if kept:
                rows.update(connection, kept, replace(kept.insight, state="active", merged_into=""))
                del away[min(circle)]


def _name_all(connection: sqlite3.Connection) -> None:
    """Names every insight by its slug; where two ask for one, the older has it and the other gets digits of its uid."""
    asked = connection.execute(
        "SELECT number, name, CASE slug WHEN '' THEN name ELSE slug END, uid FROM insight ORDER BY created_at, uid"
    ).fetchall()
    given: dict[str, int] = {}
    for number, _, slug, uid in asked:
        given[free_name(slug, uid, taken=given.__contains__)] = number
    names = {number: name for name, number in given.items()}
    changed = [number for number, name, _, _ in asked if names[number] != name]
    for number in changed:
        rows.rename(connection, number, f"\0{number}")  # out of the way, so that two may change places
    for number in changed:
        rows.rename(connection, number, names[number])


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    tables = ("insight", "insight_link", "insight_feedback", "insight_injection")
    return {
        table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608  (constants)
        for table in tables
    }
