"""Bring graph.db up to date with the episodes and the assertions.

Only files that changed are read: their size and time of change are compared with those of the last run, then the hash
of the content. A changed episode's old share is removed and its new one added; the share of a deleted or damaged file
is removed. An episode that a person corrected, or that a later session revised, is added again as if it had
changed. Revisions by later sessions are worked out here and written as assertions' files, so that everything that reads
episodes applies them. A graph made by another version of the tables or labels is built again, and so is a damaged one:
it contains nothing that episodes and assertions do not.

Everything happens in one transaction, so two compiles at once end as one after the other. The export is written when
somebody asks for it, and removed as soon as the graph differs from it: where it is, it is right.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.model import sortable_time
from helix_episodes.safe_files import irregularity, remove_file, write_atomically
from helix_episodes.workers import collecting_rarely, in_parts, worker_count
from helix_graph import database
from helix_graph.errors import DatabaseRefused, DatabaseUnreadable
from helix_graph.graph.asserted_facts import facts_alone
from helix_graph.graph.assertions import pattern_assertions, revise
from helix_graph.graph.episode_rows import SUFFIX, FileToRead, ReadFile, read_file, read_files, rows_of
from helix_graph.graph.export import export_bytes
from helix_graph.graph.file_stamps import stamp_of
from helix_graph.graph.graph_db import (
    EXPORT_NAME,
    FILE_NAME,
    GRAPH_FILE,
    LABEL_MODE,
    LABEL_VERSION,
    TELLING_VERSION,
    TRIAL_VERSION,
    DamageNamed,
    holds_forgotten,
)
from helix_graph.graph.model import SkippedFile
from helix_graph.graph.patterns import asserted_patterns
from helix_graph.graph.row_checksums import SUMS_OF_EDGES, checksum
from helix_graph.graph.source_files import (
    CompileJob,
    CompilePlan,
    KnownFile,
    assertions_of,
    bad_assertions,
    bodies_of,
    chosen_paths,
    make_plan,
    remember_assertions,
)
from helix_graph.graph.store import GraphChanges, add_episode, finish_changes, remove_episode

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from helix_episodes.joint_work import Helpers
    from helix_graph.graph.episode_rows import ReadingTask
    from helix_graph.graph.new_graph import NewGraph
    from helix_graph.graph.source_files import Progress


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
    export: bool = False,
    workers: int | None = 1,
) -> CompileReport:
    """Brings the graph in ``causality`` up to date with the files in ``episodes`` and with the assertions beside it.

    Args:
        episodes: The folder of episode files.
        causality: The folder of graph.db and causal-graph.json; made when it is not there.
        paths: Look at these files and folders only; nothing else is taken out.
        since: Take in only episodes that began then or later (UTC unless it has a zone); nothing else is taken out.
        dry_run: Say what would be done and leave every file as it is.
        progress: Called with files done, files to do and the file, before each is read.
        assertions_only: Take in assertions and leave the rest to the next compile.
        export: Write causal-graph.json as well.
        workers: At most so many processes read files where there are many; None: one for each core.

    Raises:
        GraphError: One of ``paths`` lies outside ``episodes``.
    """
    path = causality / FILE_NAME
    chosen = chosen_paths(episodes, paths)
    begin = sortable_time(since.isoformat()) if since else ""
    job = CompileJob(
        episodes, causality, chosen, begin, dry_run, progress, assertions_only=assertions_only, workers=workers
    )
    report = _compile(path, job)
    if export and not dry_run:
        write_export(path, causality)
    return report


def _compile(path: Path, job: CompileJob) -> CompileReport:
    try:
        if database.ownership(path, GRAPH_FILE) != "absent":
            return _compile_existing(path, job)
        if job.dry_run:
            return _compile_new(path, job)
    except DatabaseUnreadable as error:
        if job.dry_run:
            return _compile_new(path, msgspec.structs.replace(job, damage=error.problem))
    except DatabaseRefused:  # also said of a file that another process deletes at this moment, since it is damaged
        if job.dry_run:
            raise
    with database.sole_builder(path):
        try:  # another process may have built it while this one waited
            if database.ownership(path, GRAPH_FILE) != "absent":
                return _compile_existing(path, job)
        except DatabaseUnreadable as error:
            job = msgspec.structs.replace(job, damage=error.problem)
        return _compile_new(path, job)


def erase_traces(path: Path) -> bool:
    """As `helix_graph.database.erase_traces`, and of deleted words too, which their index keeps until it is merged."""
    if database.ownership(path, GRAPH_FILE) == "ours":
        with database.reporting(path), closing(database.open_for_writing(path, GRAPH_FILE)) as connection:
            if database.schema_version(connection) == GRAPH_FILE.version:
                connection.execute("INSERT INTO decided (decided) VALUES ('optimize')")
    return database.erase_traces(path, GRAPH_FILE)


def discard(path: Path) -> None:
    """Deletes a graph, whatever state it is in, with its export: both are derived.

    Raises:
        NotOurDatabase: Another program's file is there, and nothing is deleted.
    """
    with contextlib.suppress(DatabaseUnreadable):
        database.ownership(path, GRAPH_FILE)
    with database.sole_builder(path):
        database.remove_with_unfinished(path)
    remove_file(path.with_name(EXPORT_NAME))


def write_export(path: Path, causality: Path) -> None:
    """Writes causal-graph.json beside the graph in the file at ``path``, unless it is there and right."""
    export = causality / EXPORT_NAME
    with (
        database.reporting(path),
        closing(database.open_for_writing(path, GRAPH_FILE)) as connection,
        DamageNamed(connection, path),
        database.transaction(connection),
    ):
        if not export_is_current(connection, export):
            write_atomically(export, export_bytes(connection))
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('export', ?)", (stamp_of(export),))


def export_is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the export is the file that was written last, going by its size and time."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'export'").fetchone()
    return bool(found) and found[0] == stamp_of(path)


def _compile_new(path: Path, job: CompileJob) -> CompileReport:
    if job.dry_run:
        with closing(database.open_in_memory()) as connection:
            return _compile_into(connection, job)
    from helix_graph.graph.new_graph import new_graph  # threads, which an update does without, take 10 ms to load

    with new_graph(path) as (connection, graph):
        return _compile_into(connection, msgspec.structs.replace(job, new_graph=graph))


def _compile_existing(path: Path, job: CompileJob) -> CompileReport:
    with closing(database.open_for_writing(path, GRAPH_FILE)) as connection:
        with database.reporting(path), DamageNamed(connection, path):
            current = database.schema_version(connection) == GRAPH_FILE.version
            forgotten = current and holds_forgotten(connection, path)
        report = _compile_into(connection, job)
    # What somebody else forgot goes as a file that is gone.
    if (forgotten or report.retracted) and not job.dry_run:
        erase_traces(path)
    return report


def _compile_into(connection: sqlite3.Connection, job: CompileJob) -> CompileReport:
    path = job.causality / FILE_NAME
    with (
        database.reporting(path),
        DamageNamed(connection, path),
        database.transaction(connection, keep=not job.dry_run),
        collecting_rarely(),
    ):
        rebuilt = _prepare_tables(connection)
        if rebuilt:  # a graph that is built again needs all files, whichever were asked for
            job = msgspec.structs.replace(job, chosen=[], since="", assertions_only=False)
        with _helped(job) if rebuilt is not None else nullcontext(job) as job:
            plan = make_plan(connection, job)
            if plan or rebuilt is not None:
                return _carry_out(connection, plan, job, rebuilt)
        unchanged = connection.execute(_IN_GRAPH).fetchone()[0]
        return CompileReport(unchanged=unchanged, skipped=_skipped(connection, plan), dry_run=job.dry_run)


#: How many files of episodes are in the graph.
_IN_GRAPH = "SELECT count(*) FROM file WHERE episode IS NOT NULL"


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


class _Taken:
    """What a compile has done to files so far, by name."""

    def __init__(self) -> None:
        self.processed: set[str] = set()
        self.lost: set[str] = set()
        self.left_out: dict[str, tuple[str, ...]] = {}
        self.assertions: set[str] = set()
        self.assertions_gone: set[str] = set()


def _carry_out(
    connection: sqlite3.Connection, plan: CompilePlan, job: CompileJob, rebuilt: str | None
) -> CompileReport:
    changes, taken = GraphChanges(connection, empty=rebuilt is not None), _Taken()
    _take_in(connection, plan, changes, taken, job)
    # Changed episodes may revise earlier ones. Revisions are written as assertions, which are taken in like any others.
    if job.whole and not job.dry_run and revise(connection, plan.asserted.folder):
        again = msgspec.structs.replace(job, assertions_only=True, progress=None, read_files=None)
        _take_in(connection, make_plan(connection, again), changes, taken, again)
    changes.flush()
    if rebuilt is not None:
        _add_indexes_and_edges(connection, job.new_graph)
    totals = finish_changes(changes)
    if not job.dry_run and (taken.processed or taken.lost or plan.asserted or rebuilt is not None):
        # The export is of the graph as it was. What is no file of ours in its place stays, and the doctor says so.
        connection.execute("DELETE FROM meta WHERE key = 'export'")
        if not irregularity(job.causality / EXPORT_NAME):
            remove_file(job.causality / EXPORT_NAME)
    unchanged = connection.execute(_IN_GRAPH).fetchone()[0]
    return CompileReport(
        episodes_processed=len(taken.processed),
        nodes_added=totals.nodes_added,
        edges_added=totals.edges_added,
        patterns_added=totals.patterns_added,
        merged=totals.merged,
        retracted=len(taken.lost),
        unchanged=int(unchanged) - len(taken.processed),
        skipped=_skipped(connection, plan),
        left_out=tuple(
            SkippedFile(path=str(plan.folder / name), problem=each)
            for name in sorted(taken.left_out)
            for each in taken.left_out[name]
        ),
        rebuilt=job.damage or rebuilt or None,
        dry_run=job.dry_run,
        assertions_processed=len(taken.assertions),
        assertions_retracted=len(taken.assertions_gone),
    )


def _add_indexes_and_edges(connection: sqlite3.Connection, new_graph: NewGraph | None) -> None:
    """Makes the indexes of a graph that was empty, and the sums of all its edges."""
    if new_graph:
        with new_graph.filled("edge", SUMS_OF_EDGES):
            database.create_indexes(connection, GRAPH_FILE, but_of="edge")
        return
    database.create_indexes(connection, GRAPH_FILE, but_of="edge")  # the sums are read from one of claims
    connection.execute(f"INSERT INTO edge {SUMS_OF_EDGES}")
    database.create_indexes(connection, GRAPH_FILE, only_of="edge")


def _take_in(
    connection: sqlite3.Connection, plan: CompilePlan, changes: GraphChanges, taken: _Taken, job: CompileJob
) -> None:
    """Files and assertions as the plan has them."""
    if plan.asserted:
        changes.count_patterns(_asserted_patterns(connection), sign=-1)
        remember_assertions(connection, plan.asserted)
        changes.count_patterns(_asserted_patterns(connection), sign=1)
        taken.assertions.update(name for name, one in plan.asserted.changes.items() if one.problem is None)
        taken.assertions_gone.update(plan.asserted.gone)
    for name in plan.gone:
        _forget(connection, name, plan.known[name], changes)
        if plan.known[name].episode is not None:
            taken.lost.add(name)
    for done, read in enumerate(_read(connection, plan, job)):
        if job.progress:
            job.progress(done, len(plan.suspects), plan.folder / read.name)
        _take_in_file(connection, read, plan, changes, taken)
        if job.new_graph and done % _FILES_WRITTEN_EARLY == _FILES_WRITTEN_EARLY - 1:
            job.new_graph.write_early()
    changes.write()
    _take_in_assertions(connection, plan, changes)


def _asserted_patterns(connection: sqlite3.Connection) -> list[str]:
    return [one.id for one in asserted_patterns(pattern_assertions(connection))]


def _read(connection: sqlite3.Connection, plan: CompilePlan, job: CompileJob) -> Iterator[ReadFile]:
    """The files that may have changed, read, in the order of their names, whatever process read them."""
    first = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM episode").fetchone()[0]
    amount = sum(plan.stamps[name].size for name in plan.suspects)
    workers = worker_count(amount, worth=_WORTH_A_WORKER, asked=job.workers)
    wanted = _to_read(connection, plan, first)
    if workers == 1 and job.read_files is None:
        for one in wanted:
            yield read_file(plan.folder, one)
        return
    tasks = ((plan.folder, part) for part in in_parts(wanted, _FILES_AT_A_TIME))
    decoder = msgspec.msgpack.Decoder(list[ReadFile])
    read = job.read_files or _helpers(workers).in_order
    for packed in read(tasks):
        yield from decoder.decode(packed)


@contextmanager
def _helped(job: CompileJob) -> Iterator[CompileJob]:
    """The job of reading all files, with helpers that start while these are looked at, where there are many."""
    files = sum(1 for _ in job.episodes.iterdir()) if job.episodes.is_dir() else 0
    workers = worker_count(files * _FEW_BYTES, worth=_WORTH_A_WORKER, asked=job.workers)
    if workers == 1:
        yield job
        return
    with closing(_helpers(workers)) as helpers:
        yield msgspec.structs.replace(job, read_files=helpers.in_order)


def _helpers(workers: int) -> Helpers[ReadingTask, bytes]:
    """Helpers that read, one less than workers: this process is one of these."""
    from helix_episodes.joint_work import Helpers  # loading processes takes a tenth of a second

    return Helpers(read_files, workers - 1)


#: So many files are read at a time: a quarter of a megabyte of the usual ones, a hundredth of a second's work.
_FILES_AT_A_TIME = 24
#: After so many files, some 30 MB, a graph that nobody can see yet is written, while other processes read on.
_FILES_WRITTEN_EARLY = 2000
#: A process starts in a third of a second, and reads four megabytes in one.
_WORTH_A_WORKER = 4_000_000
#: Few files of episodes are smaller: before they are looked at, so many bytes are expected in each.
_FEW_BYTES = 4000


def _to_read(connection: sqlite3.Connection, plan: CompilePlan, first: int) -> Iterator[FileToRead]:
    """The files that may have changed; their episodes are numbered from ``first`` on."""
    asserted = connection.execute("SELECT 1 FROM assertion LIMIT 1").fetchone()
    for number, name in enumerate(plan.suspects, first):
        seen = plan.known.get(name)
        known = seen.sha256 if seen and name not in plan.again else None
        bodies = bodies_of(connection, name.removesuffix(SUFFIX)) if asserted else ()
        yield FileToRead(name, plan.stamps[name], number, known, bodies)


def _take_in_file(
    connection: sqlite3.Connection, read: ReadFile, plan: CompilePlan, changes: GraphChanges, taken: _Taken
) -> None:
    name, seen = read.name, plan.known.get(read.name)
    had_episode = seen is not None and seen.episode is not None
    if read.rows is None and read.problem is None:
        if read.sha256:  # as known
            connection.execute("UPDATE file SET mtime_ns = ? WHERE name = ?", (read.stamp.mtime_ns, name))
            return
        _forget(connection, name, seen, changes)  # deleted since the plan was made
        if had_episode:
            taken.lost.add(name)
        return
    if read.rows and plan.since and read.rows.moment < plan.since:
        return
    _forget(connection, name, seen, changes)
    if taken.assertions or not changes.empty:
        _take_out_alone(connection, name.removesuffix(SUFFIX), changes)
    episode = add_episode(read.rows, changes) if read.rows else None
    content = checksum((name, read.stamp.size, read.sha256, read.problem))
    row = (name, read.stamp.size, read.stamp.mtime_ns, read.sha256, episode, read.problem, content)
    changes.insert("file", row)
    if read.rows:
        taken.processed.add(name)
        taken.left_out[name] = read.left_out
    elif had_episode:
        taken.lost.add(name)


def _forget(connection: sqlite3.Connection, name: str, seen: KnownFile | None, changes: GraphChanges) -> None:
    if seen is None:
        return
    connection.execute("DELETE FROM file WHERE name = ?", (name,))
    if seen.episode is not None:
        remove_episode(connection, seen.episode, changes)


def _take_in_assertions(connection: sqlite3.Connection, plan: CompilePlan, changes: GraphChanges) -> None:
    """The shares of assertions whose episode, if they have one, has no file in the graph."""
    left = set()
    if connection.execute("SELECT 1 FROM assertion LIMIT 1").fetchone():
        left = {name.removesuffix(SUFFIX) for name in (*plan.suspects, *plan.gone)}
    for unit in sorted(plan.asserted.units | left):
        _take_out_alone(connection, unit, changes)
        if not connection.execute("SELECT 1 FROM episode WHERE id = ?", (unit,)).fetchone():
            facts = facts_alone(unit, assertions_of(connection, unit, plan.asserted.folder))
            if facts:
                number = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM episode").fetchone()[0]
                add_episode(rows_of(facts, number), changes)
                changes.write()


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
