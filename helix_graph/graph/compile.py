"""Bring graph.db and its export up to date with the episodes and the assertions.

Only files that changed are read: their size and time of change are compared with those of the last run, then the hash
of the content. A changed episode's old share is removed and its new one added; the share of a deleted or damaged file
is removed. An episode that a person corrected, or that a later session revised, is added again as if it had
changed. Revisions by later sessions are worked out here and written as assertions' files, so that everything that reads
episodes applies them. A graph made by another version of the tables or labels is built again, and so is a damaged one:
it contains nothing that episodes and assertions do not.

Everything happens in one transaction, the export included, so two compiles at once end as one after the other. A single
assertion only marks the export as out of date; the next compile writes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import OutcomeRevision
from helix_episodes.errors import InvalidEpisode, WriteFailed
from helix_episodes.later_evidence import EpisodeSignals, revisions, signals_of
from helix_episodes.model import sortable_time
from helix_episodes.safe_files import read_regular, remove_file, write_atomically
from helix_graph import database
from helix_graph.errors import DatabaseRefused, DatabaseUnreadable
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.assertions import AssertionStore, name_of
from helix_graph.graph.episode_facts import Named, facts_alone
from helix_graph.graph.export import export_bytes, stored_patterns
from helix_graph.graph.graph_db import (
    EXPORT_NAME,
    FILE_NAME,
    GRAPH_FILE,
    LABEL_MODE,
    LABEL_VERSION,
    TELLING_VERSION,
    TRIAL_VERSION,
    DamageNamed,
)
from helix_graph.graph.model import SkippedFile
from helix_graph.graph.patterns import Pattern, asserted_patterns
from helix_graph.graph.row_checksums import checksum, find_damage, write_whole_checksum
from helix_graph.graph.source_files import (
    SUFFIX,
    CompileJob,
    CompilePlan,
    FileStamp,
    KnownFile,
    ReadFile,
    assertions_of,
    bad_assertions,
    chosen_paths,
    decode_episode,
    differs,
    make_plan,
    pattern_assertions,
    read_source,
    remember_assertions,
    scan,
)
from helix_graph.graph.store import GraphChanges, add_episode, finish_changes, remove_episode

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from helix_graph.graph.source_files import Progress


def revise(connection: sqlite3.Connection, episodes: Path, assertions: Path) -> bool:
    """Writes and removes revisions until they are those that the episodes give; says whether any file changed.

    Raises:
        WriteFailed: A file could not be written or removed.
    """
    _read_changed(connection, episodes)
    store, decoder = AssertionStore(assertions), msgspec.msgpack.Decoder(EpisodeSignals)
    rows = connection.execute("SELECT body FROM telling WHERE body IS NOT NULL ORDER BY name")
    wanted = {name_of(one): one for one in revisions([decoder.decode(body) for (body,) in rows])}
    there = {path.stem: path for path, one in store.scan() if isinstance(one, OutcomeRevision)}
    for name in sorted(wanted.keys() - there.keys()):
        store.add(wanted[name])
    for name in sorted(there.keys() - wanted.keys()):
        remove_file(there[name])
    return wanted.keys() != there.keys()


def _read_changed(connection: sqlite3.Connection, folder: Path) -> None:
    """Updates the table ``telling`` for files that are new, changed or gone."""
    rows = connection.execute("SELECT name, size, mtime_ns FROM telling")
    known = {name: FileStamp(size, mtime) for name, size, mtime in rows}
    present = scan(folder)
    connection.executemany("DELETE FROM telling WHERE name = ?", [(name,) for name in known.keys() - present.keys()])
    for name, stamp in present.items():
        if name not in known or differs(stamp, known[name]):
            row = (name, stamp.size, stamp.mtime_ns, _body(folder / name))
            connection.execute("INSERT OR REPLACE INTO telling VALUES (?, ?, ?, ?, ?)", (*row, checksum(row)))


def _body(path: Path) -> bytes | None:
    """The evidence about earlier sessions in this file, encoded; None for an invalid file, which compile reports."""
    try:
        return msgspec.msgpack.encode(signals_of(decode_episode(read_regular(path), path)))
    except (OSError, InvalidEpisode):
        return None


def _write_export(connection: sqlite3.Connection, path: Path, patterns: Sequence[Pattern]) -> None:
    """Writes the export unless the file has these very bytes.

    Raises:
        WriteFailed: It cannot be written.
    """
    data = export_bytes(connection, patterns)
    try:
        old = read_regular(path)
    except FileNotFoundError:
        old = b""
    except OSError as error:  # something else is in its place, which is not replaced
        raise WriteFailed(path=path, problem=error.strerror or str(error)) from error
    if old != data:
        write_atomically(path, data)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('export', ?)", (_mark(path),))


def export_is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the export is the file that was written last, going by its size and time."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'export'").fetchone()
    return bool(found) and found[0] == _mark(path)


def _mark(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return ""
    return f"{stat.st_size} {stat.st_mtime_ns}"


class CompileReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a compile did.

    ``episodes_processed``: episodes read and folded, because they are new or changed. ``merged``: nodes they mention
    that had been there. ``retracted``: episodes whose share was taken out because their file is gone or spoilt.
    ``unchanged``: files that were left alone. ``skipped``: files that are not in the graph, ``left_out``: links that
    name an end that does not exist. ``rebuilt``: why everything was folded again, or None. ``assertions_processed`` and
    ``assertions_retracted``: files of assertions that are new or changed, and that are gone or spoilt.
    """

    episodes_processed: int = 0
    nodes_added: int = 0
    edges_added: int = 0
    patterns_added: int = 0
    merged: int = 0
    retracted: int = 0
    unchanged: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    left_out: tuple[SkippedFile, ...] = ()
    rebuilt: str | None = None
    dry_run: bool = False
    assertions_processed: int = 0
    assertions_retracted: int = 0


def compile_graph(  # noqa: PLR0913  (the options of the original command)
    episodes: Path,
    causality: Path,
    *,
    paths: Iterable[Path] = (),
    since: datetime | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    assertions_only: bool = False,
) -> CompileReport:
    """Brings the graph in ``causality`` up to date with the files in ``episodes`` and with the assertions beside it.

    Args:
        episodes: The folder of episode files.
        causality: The folder of graph.db and causal-graph.json; made when it is not there.
        paths: Look at these files and folders only; nothing else is taken out.
        since: Take in only episodes that began then or later (UTC unless it has a zone); nothing else is taken out.
        dry_run: Say what would be done and leave every file as it is.
        progress: Called with files done, files to do and the file, before each is read.
        assertions_only: Take in assertions and leave the rest, the export included, to the next compile.

    Raises:
        NotOurDatabase: Another program's file is where graph.db belongs.
        GraphError: One of ``paths`` lies outside ``episodes``.
        DatabaseBusy: Another process has been compiling for too long.
        WriteFailed: The export could not be written; graph.db is as before.
    """
    path = causality / FILE_NAME
    chosen = chosen_paths(episodes, paths)
    begin = sortable_time(since.isoformat()) if since else ""
    job = CompileJob(episodes, causality, chosen, begin, dry_run, progress, assertions_only=assertions_only)
    try:
        if database.ownership(path, GRAPH_FILE) == "absent":
            return _compile_new(path, job)
        return _compile_into(database.open_for_writing(path, GRAPH_FILE), job)
    except DatabaseUnreadable as error:
        if dry_run:
            return _compile_new(path, msgspec.structs.replace(job, damage=error.problem))
    except DatabaseRefused:  # also said of a file that another process deletes at this moment, since it is damaged
        if dry_run:
            raise
    with database.sole_builder(path):
        try:  # another process may have built it again while this one waited
            return _compile_into(database.open_for_writing(path, GRAPH_FILE), job)
        except DatabaseUnreadable as error:
            database.remove(path)
            return _compile_new(path, msgspec.structs.replace(job, damage=error.problem))


def erase_traces(path: Path) -> bool:
    """As `helix_graph.database.erase_traces`, and of deleted words too, which their index keeps until it is merged."""
    if database.ownership(path, GRAPH_FILE) == "ours":
        with database.reporting(path), closing(database.open_for_writing(path, GRAPH_FILE)) as connection:
            if database.schema_version(connection) == GRAPH_FILE.version:
                with database.transaction(connection):
                    connection.execute("INSERT INTO decided (decided) VALUES ('optimize')")
                    write_whole_checksum(connection)
    return database.erase_traces(path, GRAPH_FILE)


def discard(path: Path) -> None:
    """Deletes a graph, whatever state it is in, with its export: both are derived.

    Raises:
        NotOurDatabase: Another program's file is there, and nothing is deleted.
    """
    with contextlib.suppress(DatabaseUnreadable):
        database.ownership(path, GRAPH_FILE)
    with database.sole_builder(path):
        database.remove(path)
    remove_file(path.with_name(EXPORT_NAME))


def _compile_new(path: Path, job: CompileJob) -> CompileReport:
    connection = database.open_in_memory() if job.dry_run else database.open_for_writing(path, GRAPH_FILE)
    return _compile_into(connection, job)


def _compile_into(connection: sqlite3.Connection, job: CompileJob) -> CompileReport:
    path = job.causality / FILE_NAME
    with (
        closing(connection),
        database.reporting(path),
        DamageNamed(connection, path),
        database.transaction(connection, keep=not job.dry_run),
    ):
        rebuilt = _prepare_tables(connection)
        if rebuilt:  # a graph that is built again needs all files, whichever were asked for
            job = msgspec.structs.replace(job, chosen=[], since="", assertions_only=False)
        plan = make_plan(connection, job)
        # Changed episodes may revise earlier ones. Revisions are written as assertions, so plan again to include them.
        looks_again = plan and not (job.dry_run or job.assertions_only)
        if looks_again and revise(connection, job.episodes, job.causality / ASSERTIONS):
            plan = make_plan(connection, job)
        if plan or rebuilt is not None:
            return _carry_out(connection, plan, job, job.damage or rebuilt)
        if job.assertions_only:
            return _nothing_to_do(connection, plan, job)
        is_current = export_is_current(connection, job.causality / EXPORT_NAME)
        return _nothing_to_do(connection, plan, job) if is_current else _carry_out(connection, plan, job, job.damage)


def _prepare_tables(connection: sqlite3.Connection) -> str | None:
    """Makes the tables when there are none or old ones; says why when old ones were dropped."""
    made_by = {"labels": f"{LABEL_VERSION} {LABEL_MODE}", "observations": TRIAL_VERSION, "tellings": TELLING_VERSION}
    reason = _outdated(connection, made_by)
    if reason is not None:
        database.create_tables(connection, GRAPH_FILE)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", made_by.items())
    return reason


def _outdated(connection: sqlite3.Connection, made_by: dict[str, str]) -> str | None:
    """Why the tables have to be made again; empty when there are none, None when they are as they should be."""
    version = database.schema_version(connection)
    if version != GRAPH_FILE.version:
        return f"its tables were of version {version}, now {GRAPH_FILE.version}" if version else ""
    found = dict(connection.execute("SELECT key, value FROM meta"))
    stale = [
        f"its {part} were of version {found.get(part, 'unknown')}, now {now}"
        for part, now in made_by.items()
        if found.get(part) != now
    ]
    return "; ".join(stale) or None


def _carry_out(
    connection: sqlite3.Connection, plan: CompilePlan, job: CompileJob, rebuilt: str | None
) -> CompileReport:
    changes = GraphChanges(known_nodes=dict(connection.execute("SELECT id, number FROM node")))
    remember_assertions(connection, plan.asserted)
    for name in plan.gone:
        _forget(connection, name, plan.known[name], changes)
    retracted = sum(plan.known[name].episode is not None for name in plan.gone)
    processed, spoilt, left_out = _take_in_files(connection, plan, changes, job)
    if rebuilt is not None:
        database.create_indexes(connection, GRAPH_FILE)
    _take_in_assertions(connection, plan, changes)
    totals = finish_changes(connection, changes)
    changed = bool(processed or spoilt or retracted or rebuilt is not None)
    if not (changed or plan.asserted or job.assertions_only):
        damage = find_damage(connection, version=GRAPH_FILE.version)  # before the checksums are written again
        if damage:
            raise database.DamagedRows(damage)
    patterns_added = _publish(connection, plan, job, changed=changed)
    write_whole_checksum(connection)
    taken = connection.execute("SELECT count(*) FROM file WHERE episode IS NOT NULL").fetchone()[0]
    return CompileReport(
        episodes_processed=processed,
        nodes_added=totals.nodes_added,
        edges_added=totals.edges_added,
        patterns_added=patterns_added,
        merged=totals.merged,
        retracted=retracted + spoilt,
        unchanged=int(taken) - processed,
        skipped=_skipped(connection, plan),
        left_out=tuple(left_out),
        rebuilt=rebuilt or None,
        dry_run=job.dry_run,
        assertions_processed=sum(change.problem is None for change in plan.asserted.changes.values()),
        assertions_retracted=len(plan.asserted.gone),
    )


def _publish(connection: sqlite3.Connection, plan: CompilePlan, job: CompileJob, *, changed: bool) -> int:
    """Patterns and export, now or left to the next compile; returns how many patterns are new."""
    if job.assertions_only:
        connection.execute("DELETE FROM meta WHERE key = 'export'")
        asserted = [(one.id,) for one in asserted_patterns(pattern_assertions(connection))]
        connection.executemany("INSERT OR IGNORE INTO pattern VALUES (?)", asserted)
        return 0
    path = job.causality / EXPORT_NAME
    if not (changed or plan.asserted) and export_is_current(connection, path):
        return 0
    patterns = stored_patterns(connection)
    before = {name for (name,) in connection.execute("SELECT id FROM pattern")}
    now = {one.id for one in patterns}
    connection.executemany("DELETE FROM pattern WHERE id = ?", [(name,) for name in before - now])
    connection.executemany("INSERT INTO pattern VALUES (?)", [(name,) for name in now - before])
    if not job.dry_run:
        _write_export(connection, path, patterns)
    return len(now - before)


def _take_in_files(
    connection: sqlite3.Connection, plan: CompilePlan, changes: GraphChanges, job: CompileJob
) -> tuple[int, int, list[SkippedFile]]:
    """Episodes taken in, episodes lost because their file is spoilt, and links that were left out."""
    processed = spoilt = 0
    left_out: list[SkippedFile] = []

    def asserted(episode: str) -> list[Named]:
        return assertions_of(connection, episode, plan.asserted.folder)

    for done, name in enumerate(plan.suspects):
        path = plan.folder / name
        if job.progress:
            job.progress(done, len(plan.suspects), path)
        read, seen = read_source(path, plan.present[name], asserted), plan.known.get(name)
        if read is None:  # forgotten since the plan was made
            spoilt += seen is not None and seen.episode is not None
            _forget(connection, name, seen, changes)
            continue
        if seen and read.sha256 == seen.sha256 and name not in plan.again:
            connection.execute("UPDATE file SET mtime_ns = ? WHERE name = ?", (read.stamp.mtime_ns, name))
            continue
        if read.facts and plan.since and sortable_time(read.facts.timestamp) < plan.since:
            continue
        _replace(connection, name, read, seen, changes)
        processed += read.facts is not None
        spoilt += read.facts is None and seen is not None and seen.episode is not None
        left_out += [SkippedFile(path=str(path), problem=each) for each in (read.facts.problems if read.facts else ())]
    return processed, spoilt, left_out


def _replace(
    connection: sqlite3.Connection, name: str, read: ReadFile, seen: KnownFile | None, changes: GraphChanges
) -> None:
    _forget(connection, name, seen, changes)
    _take_out_alone(connection, name.removesuffix(SUFFIX), changes)
    episode = add_episode(connection, read.facts, changes, read.trial) if read.facts else None
    content = checksum((name, read.stamp.size, read.sha256, read.problem))
    row = (name, read.stamp.size, read.stamp.mtime_ns, read.sha256, episode, read.problem, content)
    connection.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _forget(connection: sqlite3.Connection, name: str, seen: KnownFile | None, changes: GraphChanges) -> None:
    connection.execute("DELETE FROM file WHERE name = ?", (name,))
    if seen and seen.episode is not None:
        remove_episode(connection, seen.episode, changes)


def _take_in_assertions(connection: sqlite3.Connection, plan: CompilePlan, changes: GraphChanges) -> None:
    """The shares of assertions whose episode, if they have one, has no file in the graph."""
    left = {name.removesuffix(SUFFIX) for name in (*plan.suspects, *plan.gone)}
    for unit in sorted(plan.asserted.units | left):
        _take_out_alone(connection, unit, changes)
        if not connection.execute("SELECT 1 FROM episode WHERE id = ?", (unit,)).fetchone():
            facts = facts_alone(unit, assertions_of(connection, unit, plan.asserted.folder))
            if facts:
                add_episode(connection, facts, changes)


def _take_out_alone(connection: sqlite3.Connection, unit: str, changes: GraphChanges) -> None:
    """Takes out what assertions alone have put in under this name."""
    found = connection.execute("SELECT number FROM episode WHERE id = ? AND origin <> 'episode'", (unit,)).fetchone()
    if found:
        remove_episode(connection, found[0], changes)


def _skipped(connection: sqlite3.Connection, plan: CompilePlan) -> tuple[SkippedFile, ...]:
    rows = connection.execute("SELECT name, problem FROM file WHERE problem IS NOT NULL ORDER BY name")
    bad = [(plan.folder / name, problem) for name, problem in rows]
    both = (*bad, *bad_assertions(connection, plan.asserted.folder))
    return tuple(SkippedFile(path=str(path), problem=problem) for path, problem in both)


def _nothing_to_do(connection: sqlite3.Connection, plan: CompilePlan, job: CompileJob) -> CompileReport:
    unchanged = sum(seen.problem is None for seen in plan.known.values())
    return CompileReport(unchanged=unchanged, skipped=_skipped(connection, plan), dry_run=job.dry_run)
