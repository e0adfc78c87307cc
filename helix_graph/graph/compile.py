"""compile: bring graph.db and its export up to date with the folder of episodes.

Only files that changed are read: first size and time of change are compared with what was seen last time, then the
hash of the content. A changed episode's old share is taken out and its new one put in; a deleted or spoilt file's share
is taken out. A graph made by another version of the tables or of the labels is built anew, and so is one that is
damaged: it holds nothing that the episodes don't.

Everything happens in one transaction, the export included, so two compiles at once end as one after the other.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.files import write_atomically
from helix_graph import database
from helix_graph.errors import DatabaseUnreadable, OutsideMemory
from helix_graph.graph.export import export_bytes
from helix_graph.graph.file import Changes, begin_changes, finish_changes, take_in, take_out
from helix_graph.graph.model import moment
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.sources import Read, Seen, Stamp, differs, known_files, read_source, scan
from helix_graph.graph.version import EXPORT_NAME, FILE_NAME, LABEL_MODE, LABEL_VERSION

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    Progress = Callable[[int, int, Path], None]
    Patterns = Callable[[], Sequence[Mapping[str, Any]]]


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is not in the graph, or a link of it that is not, and why."""

    path: str
    problem: str


class CompileReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a compile did.

    ``episodes_processed``: episodes read and folded, because they are new or changed. ``merged``: nodes they mention
    that had been there. ``retracted``: episodes whose share was taken out because their file is gone or spoilt.
    ``unchanged``: files that were left alone. ``skipped``: files that are not in the graph, ``left_out``: links that
    name an end that does not exist. ``rebuilt``: why everything was folded anew, or None.
    """

    episodes_processed: int
    nodes_added: int
    edges_added: int
    patterns_added: int
    merged: int
    retracted: int
    unchanged: int
    skipped: tuple[Skipped, ...] = ()
    left_out: tuple[Skipped, ...] = ()
    rebuilt: str | None = None
    dry_run: bool = False


class _Plan(msgspec.Struct, frozen=True):
    """Which files to look into, which are gone, and what is known of all."""

    folder: Path
    present: dict[str, Stamp]
    known: dict[str, Seen]
    suspects: list[str]
    gone: list[str]
    since: str = ""


def compile_graph(  # noqa: PLR0913  (the options of the original command)
    episodes: Path,
    causality: Path,
    *,
    paths: Iterable[Path] = (),
    since: datetime | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    patterns: Patterns | None = None,
) -> CompileReport:
    """Brings the graph in ``causality`` up to date with the files in ``episodes``.

    Args:
        episodes: The folder of episode files.
        causality: The folder of graph.db and causal-graph.json; made when it is not there.
        paths: Look at these files and folders only; nothing else is taken out.
        since: Take in only episodes that began then or later (UTC unless it has a zone); nothing else is taken out.
        dry_run: Say what would be done and leave every file as it is.
        progress: Called with files done, files to do and the file, before each is read.
        patterns: Gives the patterns to export; called only when something changed.

    Raises:
        NotOurDatabase: Another program's file is where graph.db belongs.
        OutsideMemory: One of ``paths`` lies outside ``episodes``.
        DatabaseBusy: Another process has been compiling for too long.
        WriteFailed: The export could not be written; graph.db is as before.
    """
    path = causality / FILE_NAME
    chosen = _chosen(episodes, paths)
    job = _Job(episodes, causality, chosen, moment(since.isoformat()) if since else "", dry_run, progress, patterns)
    if database.ownership(path, GRAPH_FILE) == "absent":
        return _compile_new(path, job)
    try:
        return _compile_into(database.open_for_writing(path, GRAPH_FILE), job)
    except DatabaseUnreadable as error:
        if dry_run:
            return _compile_new(path, msgspec.structs.replace(job, damage=error.problem))
    with database.sole_builder(path):
        return _mend(path, job)


def _mend(path: Path, job: _Job) -> CompileReport:
    """Builds a damaged graph anew, unless another process has done so while this one waited for its turn."""
    try:
        return _compile_into(database.open_for_writing(path, GRAPH_FILE), job)
    except DatabaseUnreadable as error:
        database.remove(path)
        return _compile_new(path, msgspec.structs.replace(job, damage=error.problem))


class _Job(msgspec.Struct, frozen=True):
    """The arguments of a compile; ``damage`` is what was wrong with the file that stood there before."""

    episodes: Path
    causality: Path
    chosen: list[Path]
    since: str
    dry_run: bool
    progress: Progress | None
    patterns: Patterns | None
    damage: str | None = None


def _compile_new(path: Path, job: _Job) -> CompileReport:
    connection = database.open_in_memory() if job.dry_run else database.open_for_writing(path, GRAPH_FILE)
    return _compile_into(connection, job)


def _compile_into(connection: sqlite3.Connection, job: _Job) -> CompileReport:
    path = job.causality / FILE_NAME
    with closing(connection), database.reporting(path), database.transaction(connection, keep=not job.dry_run):
        rebuilt = _prepare_tables(connection)
        plan = _plan(connection, _everything(job) if rebuilt else job)
        if not (plan.suspects or plan.gone or rebuilt) and _export_is_current(connection, job.causality):
            return _nothing_to_do(plan, job)
        return _carry_out(connection, plan, job, job.damage or rebuilt)


def _everything(job: _Job) -> _Job:
    """A graph that is built anew needs all files, whichever were asked for."""
    return msgspec.structs.replace(job, chosen=[], since="")


def _prepare_tables(connection: sqlite3.Connection) -> str | None:
    """Makes the tables when there are none or old ones; says why when old ones were dropped."""
    version = database.schema_version(connection)
    labels = f"{LABEL_VERSION} {LABEL_MODE}"
    if version == GRAPH_FILE.version:
        found = connection.execute("SELECT value FROM meta WHERE key = 'labels'").fetchone()
        if found == (labels,):
            return None
        reason = f"its labels were of version {found[0] if found else 'unknown'}, now {labels}"
    else:
        reason = f"its tables were of version {version}, now {GRAPH_FILE.version}" if version else ""
    database.create_tables(connection, GRAPH_FILE)
    connection.execute("INSERT INTO meta VALUES ('labels', ?)", (labels,))
    return reason


def _chosen(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """The paths asked for, made absolute.

    Raises:
        OutsideMemory: One of them is not in the folder.
    """
    root = folder.resolve()
    chosen = [path.resolve() for path in paths]
    for path in chosen:
        if root not in {path, path.parent}:
            raise OutsideMemory(path=path, folder=folder)
    return chosen


def _plan(connection: sqlite3.Connection, job: _Job) -> _Plan:
    present, known = scan(job.episodes), known_files(connection)
    wanted = _wanted(job)
    suspects = [name for name, stamp in present.items() if wanted(name) and differs(stamp, known.get(name))]
    gone = [] if job.since else [name for name in known if name not in present and wanted(name)]
    return _Plan(job.episodes, present, known, sorted(suspects), sorted(gone), job.since)


def _wanted(job: _Job) -> Callable[[str], bool]:
    root = job.episodes.resolve()
    if not job.chosen or root in job.chosen:
        return lambda _: True
    names = {path.name for path in job.chosen}
    return names.__contains__


def _carry_out(connection: sqlite3.Connection, plan: _Plan, job: _Job, rebuilt: str | None) -> CompileReport:
    changes = begin_changes(connection)
    for name in plan.gone:
        _forget(connection, name, plan.known[name], changes)
    retracted = sum(plan.known[name].episode is not None for name in plan.gone)
    processed, spoilt, left_out = _take_in_files(connection, plan, changes, job.progress)
    totals = finish_changes(connection, changes)
    changed = bool(processed or spoilt or retracted or rebuilt is not None)
    patterns_added = _finish_export(connection, job, changed=changed)
    return CompileReport(
        episodes_processed=processed,
        nodes_added=totals.nodes_added,
        edges_added=totals.edges_added,
        patterns_added=patterns_added,
        merged=totals.merged,
        retracted=retracted + spoilt,
        unchanged=_count_unchanged(connection, processed),
        skipped=_skipped(connection, plan.folder),
        left_out=tuple(left_out),
        rebuilt=rebuilt or None,
        dry_run=job.dry_run,
    )


def _take_in_files(
    connection: sqlite3.Connection, plan: _Plan, changes: Changes, progress: Progress | None
) -> tuple[int, int, list[Skipped]]:
    """Episodes taken in, episodes lost because their file is spoilt, and links that were left out."""
    processed = spoilt = 0
    left_out: list[Skipped] = []
    for done, name in enumerate(plan.suspects):
        path = plan.folder / name
        if progress:
            progress(done, len(plan.suspects), path)
        read, seen = read_source(path, plan.present[name]), plan.known.get(name)
        if seen and read.sha256 == seen.sha256:
            connection.execute("UPDATE file SET mtime_ns = ? WHERE name = ?", (read.stamp.mtime_ns, name))
            continue
        if read.facts and plan.since and moment(read.facts.timestamp) < plan.since:
            continue
        _replace(connection, name, read, seen, changes)
        processed += read.facts is not None
        spoilt += read.facts is None and seen is not None and seen.episode is not None
        left_out += [Skipped(path=str(path), problem=each) for each in (read.facts.problems if read.facts else ())]
    return processed, spoilt, left_out


def _replace(connection: sqlite3.Connection, name: str, read: Read, seen: Seen | None, changes: Changes) -> None:
    if seen:
        _forget(connection, name, seen, changes)
    episode = take_in(connection, read.facts, changes) if read.facts else None
    row = (name, read.stamp.size, read.stamp.mtime_ns, read.sha256, episode, read.problem)
    connection.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?)", row)


def _forget(connection: sqlite3.Connection, name: str, seen: Seen, changes: Changes) -> None:
    connection.execute("DELETE FROM file WHERE name = ?", (name,))
    if seen.episode is not None:
        take_out(connection, seen.episode, changes)


def _skipped(connection: sqlite3.Connection, folder: Path) -> tuple[Skipped, ...]:
    rows = connection.execute("SELECT name, problem FROM file WHERE problem IS NOT NULL ORDER BY name")
    return tuple(Skipped(path=str(folder / name), problem=problem) for name, problem in rows)


def _count_unchanged(connection: sqlite3.Connection, processed: int) -> int:
    held = connection.execute("SELECT count(*) FROM file WHERE episode IS NOT NULL").fetchone()[0]
    return int(held) - processed


def _nothing_to_do(plan: _Plan, job: _Job) -> CompileReport:
    bad = sorted((name, seen.problem) for name, seen in plan.known.items() if seen.problem is not None)
    return CompileReport(
        episodes_processed=0,
        nodes_added=0,
        edges_added=0,
        patterns_added=0,
        merged=0,
        retracted=0,
        unchanged=len(plan.known) - len(bad),
        skipped=tuple(Skipped(path=str(plan.folder / name), problem=problem or "") for name, problem in bad),
        dry_run=job.dry_run,
    )


def _finish_export(connection: sqlite3.Connection, job: _Job, *, changed: bool) -> int:
    """Writes patterns and export when there is something new; returns how many patterns are new."""
    added = _replace_patterns(connection, job.patterns()) if job.patterns and changed else 0
    if not job.dry_run and (changed or not _export_is_current(connection, job.causality)):
        path = job.causality / EXPORT_NAME
        data = export_bytes(connection)
        if not path.is_file() or path.read_bytes() != data:
            write_atomically(path, data)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('export', ?)", (_mark(path),))
    return added


def _replace_patterns(connection: sqlite3.Connection, patterns: Sequence[Mapping[str, Any]]) -> int:
    before = {name for (name,) in connection.execute("SELECT id FROM pattern")}
    connection.execute("DELETE FROM pattern")
    connection.executemany(
        "INSERT INTO pattern VALUES (?, ?)", ((each["id"], msgspec.json.encode(each)) for each in patterns)
    )
    return sum(each["id"] not in before for each in patterns)


def _export_is_current(connection: sqlite3.Connection, causality: Path) -> bool:
    """Whether the export is the file that was written last, going by its size and time."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'export'").fetchone()
    return bool(found) and found[0] == _mark(causality / EXPORT_NAME)


def _mark(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return ""
    return f"{stat.st_size} {stat.st_mtime_ns}"
