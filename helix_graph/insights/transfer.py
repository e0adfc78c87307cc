"""Insights as text for git and other memories: one record a line, in an order that follows from the records.

Records of two memories are joined (`helix_graph.insights.dedup.join_insights`), the log by its ids, and what was
forgotten in one is forgotten in both. So importing twice, or in any order, gives the same memory. Names are assigned
again where two insights ask for the same: the older keeps it. Vectors and performance are not in the text, since both
follow from it.

What a file brings in is checked line by line (`helix_graph.insights.exported_lines`). Of sessions that were forgotten
here nothing comes in: insights harvested from them and links to them are dropped, and logs come in without where, for
what and why. What a person wrote or edited comes in without its session.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, TypeVar

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.safe_files import read_regular, write_output
from helix_episodes.store import PREFIX
from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import stamp
from helix_graph.insights import feedback, legacy, rows
from helix_graph.insights.dedup import join_insights
from helix_graph.insights.exported_lines import HEADER, LARGEST_EXPORT, checked_record, line_of, read_export
from helix_graph.insights.links import links_where, write_link
from helix_graph.insights.maintenance import anonymous_entry, anonymous_injection, forget_uids
from helix_graph.insights.model import (
    HARVEST_SOURCE,
    FeedbackEntry,
    ForgottenInsight,
    ImportMark,
    Injection,
    Insight,
    InsightLink,
    Record,
)
from helix_graph.insights.storing import clean_line, free_name, is_persons_tag
from helix_graph.validation import as_path

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.insights.context import InsightContext


#: Where an insight begins that nothing is known of.
_START = 0.5
_Logged = TypeVar("_Logged", FeedbackEntry, Injection)


def _admitted(records: list[Record], forgotten: Callable[[str], bool]) -> list[Record]:
    """What of the records may be taken in: nothing that only a forgotten session says, and no name of one."""

    def is_gone(session: str) -> bool:
        return bool(session) and (forgotten(session) or forgotten(session.removeprefix(PREFIX)))

    insights = [one for one in records if isinstance(one, Insight)]
    harvested = [one for one in insights if one.source == HARVEST_SOURCE and not one.edited_at]
    kept_out = {one.uid for one in harvested if is_gone(one.episode)}
    admitted: list[Record] = []
    for one in records:
        if isinstance(one, Insight):
            if one.uid not in kept_out:
                admitted.append(replace(one, episode="") if is_gone(one.episode) else one)
        elif isinstance(one, InsightLink):
            if not (is_gone(one.episode) or {one.insight, one.target} & kept_out):
                admitted.append(one)
        elif isinstance(one, FeedbackEntry):
            admitted.append(anonymous_entry(one, {one.episode}) if is_gone(one.episode or "") else one)
        elif isinstance(one, Injection):
            gone = is_gone(one.session) or is_gone(one.task)
            admitted.append(anonymous_injection(one) if gone else one)
        else:
            admitted.append(one)
    return admitted


class ImportCounts(TypedDict):
    """What an import brought: how many insights, links and entries there are now that were not there before.

    ``left_out`` insights and links rest on sessions that were forgotten here. ``quoted`` insights of one's own memory
    are others': an import had brought them there, and they stay quotations from its file.
    """

    insights: int
    links: int
    feedback: int
    injections: int
    left_out: int
    quoted: int
    total: int
    without_vector: int


def export(context: InsightContext) -> str:
    """Every insight, link and entry as text, one record a line; the same memory gives the same text.

    An insight whose text is not what was stored is left out; `damaged` names it.
    """
    with context.database.reading() as connection:
        return "\n".join((HEADER, *sorted_lines(connection))) + "\n"


def export_to(context: InsightContext, path: Path) -> int:
    """Writes `export` to a file; how many records."""
    text = export(context)
    write_output(as_path("path", path), text.encode())
    return text.count("\n") - 1


def import_from(context: InsightContext, path: Path, *, own: bool = False) -> ImportCounts:
    """Takes in what `export` wrote, or the helix.db of the original in either of its forms.

    Its texts come in, and are shown as quotations from the file. Its outcomes are kept and give no rank, unless it is
    the user's ``own``: a memory that moves is as it was, and what an import had brought there stays a quotation. An
    export of version 1 does not say what that was: of it, what an import brought here stays one.

    Raises:
        InvalidImport: The file is neither, or a line of it is damaged or out of bounds; then nothing is taken in.
    """
    where = as_path("path", path)
    now = context.now()
    marks: list[ImportMark] | None = []
    if legacy.is_database(where):
        try:
            records: list[Record] = [checked_record(one, now=now) for one in legacy.read_legacy_database(where)]
        except (ValueError, InvalidArgument) as error:
            raise legacy.unusable(where, str(error)) from error
    else:
        records, marks = read_export(where, now=now)
    if own:
        return take_in(context, records, marks=marks)
    file = ImportedFile(clean_line(where.name), sha256(read_regular(where, most=LARGEST_EXPORT)).hexdigest())
    return take_in(context, records, file=file)


class ImportedFile(NamedTuple):
    """By which file records come."""

    name: str
    sha256: str


def _as_brought(record: Record, own: set[str]) -> Record:
    """A record as a file of somebody else may bring it.

    It has no better start than an insight has that is stored here, no tag of a person here, and it is not merged into
    one of this user's own insights.
    """
    if not isinstance(record, Insight):
        return record
    tags = tuple(tag for tag in record.tags if not is_persons_tag(tag))
    brought = replace(record, initial=min(record.initial, _START), tags=tags)
    return replace(brought, state="active", merged_into="") if record.merged_into in own else brought


def take_in(
    context: InsightContext,
    records: Iterable[Record],
    *,
    file: ImportedFile | None = None,
    marks: Iterable[ImportMark] | None = (),
) -> ImportCounts:
    """Joins records with those that are there; what rests on sessions that were forgotten stays out.

    What a ``file`` brings is noted with it, so that it can be revoked, and is shown as a quotation from it. Without one
    the records are the user's own, but for those that ``marks`` say an import had brought; None where nobody knows,
    and then what an import brought here stays so.
    """
    from helix_graph.tombstones import Tombstones

    forgotten = Tombstones(context.history.root).holds if context.history else lambda _: False
    given = list(records)
    given_ids = {_identity(one) for one in given}
    admitted = _admitted(given, forgotten)
    with context.database.writing() as connection:
        before, known = _counts(connection), _ids(connection)
        # What no file brought: no file of another may change or remove it.
        own = {one for (one,) in connection.execute(f"SELECT id FROM ({_EVERY_ID}) WHERE {feedback.COUNTED}")}  # noqa: S608  (constants)
        if file:
            at = stamp(context.now())
            marks = [ImportMark(id=one, file=file.name, sha256=file.sha256, ts=at) for one in given_ids]
        found = {one.id: one for one in marks or ()}
        foreign = known - own if marks is None else found.keys()
        brought = (one for one in admitted if _identity(one) in foreign - own)
        theirs = [_as_brought(one, own) for one in _of_one_kind(connection, brought)]
        ours = [one for one in admitted if _identity(one) not in foreign]
        _make_room(connection, map(_identity, ours))
        _join_all(connection, [*ours, *theirs])
        connection.executemany(
            "INSERT INTO insight_import VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [
                (one, mark.file, mark.sha256, mark.ts)
                for one in sorted(_ids(connection) - known)
                if (mark := found.get(one))
            ],
        )
        _name_all(connection, known=known, named={one: mark.name for one, mark in found.items() if mark.name})
        feedback.rebuild(connection, settings=context.settings)
        after = _counts(connection)
        without = rows.without_any_vector(connection)
    new = {kind: after[kind] - before[kind] for kind in after}
    return ImportCounts(
        insights=new["insight"],
        links=new["insight_link"],
        feedback=new["insight_feedback"],
        injections=new["insight_injection"],
        left_out=len(given) - len(admitted),
        quoted=0 if file else sum(isinstance(one, Insight) for one in theirs),
        total=after["insight"],
        without_vector=without,
    )


#: Where records are, and the column of their ids.
_TABLES = {
    "insight": "uid",
    "insight_link": "id",
    "insight_feedback": "id",
    "insight_injection": "id",
    "insight_forgotten": "uid",
}
#: That an insight was forgotten goes by the insight's id.
_ONE_KIND = {"insight_forgotten": "insight"}
_TABLE_OF: dict[type[Record], str] = {
    Insight: "insight",
    ForgottenInsight: "insight",
    InsightLink: "insight_link",
    FeedbackEntry: "insight_feedback",
    Injection: "insight_injection",
}
_EVERY_ID = " UNION ALL ".join(f"SELECT {column} AS id FROM {table}" for table, column in _TABLES.items())  # noqa: S608  (constants)


def _ids(connection: sqlite3.Connection) -> set[str]:
    """Of the insights, their links, what both logs say of them, and which were forgotten."""
    return {one for (one,) in connection.execute(_EVERY_ID)}


def _make_room(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Lets go of what a file had brought under these ids, which are of this user's own records."""
    found = connection.execute(f"DELETE FROM insight_import WHERE id {ANY_OF} RETURNING id", (as_list(ids),))  # noqa: S608  (a constant)
    brought = as_list(one for (one,) in found.fetchall())
    for table, column in _TABLES.items():
        connection.execute(f"DELETE FROM {table} WHERE {column} {ANY_OF}", (brought,))  # noqa: S608  (constants)


def _of_one_kind(connection: sqlite3.Connection, records: Iterable[Record]) -> Iterator[Record]:
    """The records but those whose id something of another kind has: what a file brought is known by its id alone."""
    known: dict[str, str] = {}
    for table, column in _TABLES.items():
        found = connection.execute(f"SELECT {column} FROM {table}")  # noqa: S608  (constants)
        known |= {one: _ONE_KIND.get(table, table) for (one,) in found}
    for record in records:
        kind = _TABLE_OF[type(record)]
        if known.setdefault(_identity(record), kind) == kind:
            yield record


def _identity(record: Record) -> str:
    return record.uid if isinstance(record, Insight | ForgottenInsight) else record.id


def sorted_lines(connection: sqlite3.Connection) -> Iterator[str]:
    """Every record as its line."""
    forgotten = connection.execute("SELECT uid, ts FROM insight_forgotten ORDER BY uid")
    marked = connection.execute("SELECT id, file, sha256, ts FROM insight_import ORDER BY id")
    groups: tuple[Iterable[Record | ImportMark], ...] = (
        (ForgottenInsight(uid, ts) for uid, ts in forgotten),
        (stored.insight for stored in rows.sound(connection)),
        links_where(connection, "1 ORDER BY id"),
        feedback.read_entries(connection),
        feedback.read_injections(connection),
        (ImportMark(id=one, file=file, sha256=sha, ts=ts) for one, file, sha, ts in marked),
    )
    yield from (line_of(record) for records in groups for record in records)


def _join_all(connection: sqlite3.Connection, records: list[Record]) -> None:
    forgotten = dict(connection.execute("SELECT uid, ts FROM insight_forgotten").fetchall())
    for record in records:
        if isinstance(record, ForgottenInsight):
            forgotten[record.uid] = min(record.ts, forgotten.get(record.uid, record.ts))
    for record in records:
        if isinstance(record, Insight) and record.uid not in forgotten:
            stored = rows.by_uid(connection, record.uid)
            if stored is None:
                rows.insert(connection, record, name=f"\0{record.uid}")  # a name that no slug is, until all are named
            else:
                rows.update(connection, stored, join_insights(stored.insight, record))
        elif isinstance(record, InsightLink):
            write_link(connection, record)
    entries = [record for record in records if isinstance(record, FeedbackEntry)]
    ids = as_list(entry.id for entry in entries)
    known_entries = {entry.id: entry for entry in feedback.read_entries(connection, f"id {ANY_OF}", ids)}
    for entry in _first_of_each(entries, known_entries):
        feedback.write_entry(connection, entry)
    injections = [record for record in records if isinstance(record, Injection)]
    known = {injection.id: injection for injection in feedback.read_injections(connection)} if injections else {}
    for injection in _first_of_each(injections, known):
        feedback.write_injection(connection, injection)
    if forgotten:
        forget_uids(connection, forgotten)
    _untangle(connection)


def _first_of_each(records: list[_Logged], known: dict[str, _Logged]) -> Iterator[_Logged]:
    """Records to be written: new ones, and of two with one id the one that comes first in time, then as text."""
    best = dict(known)
    for record in records:
        there = best.get(record.id)
        best[record.id] = (
            record if there is None else min(there, record, key=lambda one: (one.ts, msgspec.json.encode(one)))
        )
    yield from (record for name, record in best.items() if known.get(name) != record)


def _untangle(connection: sqlite3.Connection) -> None:
    """Where each of two memories merged the other's insight away, the one of the lower uid stays."""
    away = dict(connection.execute("SELECT uid, merged_into FROM insight WHERE state = 'merged'").fetchall())
    done: set[str] = set()
    for start in sorted(away):
        path: dict[str, None] = {}  # in order; a chain may be as long as the file
        one = start
        while one in away and one not in path and one not in done:
            path[one] = None
            one = away[one]
        if one in path:
            ways = list(path)
            stored = rows.by_uid(connection, min(ways[ways.index(one) :]))
            if stored:
                rows.update(connection, stored, replace(stored.insight, state="active", merged_into=""))
        done |= path.keys()


def _name_all(connection: sqlite3.Connection, *, known: Collection[str], named: Mapping[str, str]) -> None:
    """Names every insight by its slug; where two ask for one, the other gets digits of its uid.

    One that no file brought has it before all those of files, and of these the one that was ``known`` and called so
    before, or is ``named`` so in this user's other memory: sessions were shown it under that name, and a file may claim
    any date. Else the older has it.
    """
    rows_asking = connection.execute(
        "SELECT number, name, CASE slug WHEN '' THEN name ELSE slug END, uid, uid IN (SELECT id FROM insight_import)"
        " FROM insight ORDER BY created_at, uid"
    ).fetchall()
    ranked = [
        ((is_brought, is_brought and slug != (name if uid in known else named.get(uid))), (number, name, slug, uid))
        for number, name, slug, uid, is_brought in rows_asking
    ]
    asked = [row for _, row in sorted(ranked, key=lambda pair: pair[0])]
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
