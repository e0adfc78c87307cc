"""compile: bring graph.db and its export up to date with the episodes and the assertions.

Only files that changed are read: first size and time of change are compared with what was seen last time, then the
hash of the content. A changed episode's old share is taken out and its new one put in; a deleted or spoilt file's share
is taken out. An episode that somebody has corrected, or a later session revised, is folded again as if it had changed.
A graph made by another
version of the tables or of the labels is built anew, and so is one that is damaged: it holds nothing that episodes and
assertions don't.

Everything happens in one transaction, the export included, so two compiles at once end as one after the other.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from helix_graph import database
from helix_graph.errors import DatabaseUnreadable
from helix_graph.graph.asserted import facts_alone
from helix_graph.graph.assertion_sources import (
    assertions_of,
    bad_assertions,
    remember_assertions,
    told_patterns,
)
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.file import Changes, begin_changes, finish_changes, take_in, take_out
from helix_graph.graph.model import moment
from helix_graph.graph.planning import Job, Plan, chosen_paths, make_plan
from helix_graph.graph.publishing import count_patterns, export_is_current, leave_for_later, write_export
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.sources import SUFFIX, Read, Seen, read_source
from helix_graph.graph.version import EXPORT_NAME, FILE_NAME, LABEL_MODE, LABEL_VERSION, TELLING_VERSION

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

    from helix_graph.graph.asserted import Named
    from helix_graph.graph.observations import PatternCounter
    from helix_graph.graph.planning import Progress


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is not in the graph, or a link of it that is not, and why."""

    path: str
    problem: str


class CompileReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a compile did.

    ``episodes_processed``: episodes read and folded, because they are new or changed. ``merged``: nodes they mention
    that had been there. ``retracted``: episodes whose share was taken out because their file is gone or spoilt.
    ``unchanged``: files that were left alone. ``skipped``: files that are not in the graph, ``left_out``: links that
    name an end that does not exist. ``rebuilt``: why everything was folded anew, or None. ``assertions_processed`` and
    ``assertions_retracted``: files of assertions that are new or changed, and that are gone or spoilt.
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
    patterns: PatternCounter | None = None,
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
        patterns: Makes the patterns to export, of the situations in which something changed; none without it.
        assertions_only: Take in assertions and leave the rest, the export included, to the next compile.

    Raises:
        NotOurDatabase: Another program's file is where graph.db belongs.
        OutsideMemory: One of ``paths`` lies outside ``episodes``.
        DatabaseBusy: Another process has been compiling for too long.
        WriteFailed: The export could not be written; graph.db is as before.
    """
    path = causality / FILE_NAME
    chosen = chosen_paths(episodes, paths)
    begin = moment(since.isoformat()) if since else ""
    job = Job(episodes, causality, chosen, begin, dry_run, progress, patterns, assertions_only=assertions_only)
    try:
        if database.ownership(path, GRAPH_FILE) == "absent":
            return _compile_new(path, job)
        return _compile_into(database.open_for_writing(path, GRAPH_FILE), job)
    except DatabaseUnreadable as error:
        if dry_run:
            return _compile_new(path, msgspec.structs.replace(job, damage=error.problem))
    with database.sole_builder(path):
        return _mend(path, job)


def _mend(path: Path, job: Job) -> CompileReport:
    """Builds a damaged graph anew, unless another process has done so while this one waited for its turn."""
    try:
        return _compile_into(database.open_for_writing(path, GRAPH_FILE), job)
    except DatabaseUnreadable as error:
        database.remove(path)
        return _compile_new(path, msgspec.structs.replace(job, damage=error.problem))


def _compile_new(path: Path, job: Job) -> CompileReport:
    connection = database.open_in_memory() if job.dry_run else database.open_for_writing(path, GRAPH_FILE)
    return _compile_into(connection, job)


def _compile_into(connection: sqlite3.Connection, job: Job) -> CompileReport:
    path = job.causality / FILE_NAME
    with closing(connection), database.reporting(path), database.transaction(connection, keep=not job.dry_run):
        rebuilt = _prepare_tables(connection, job.patterns)
        job = job.for_everything() if rebuilt else job
        plan = make_plan(connection, job)
        if plan and _revised(connection, job):
            plan = make_plan(connection, job)
        if rebuilt is None and not plan and _is_published(connection, job):
            return _nothing_to_do(connection, plan, job)
        return _carry_out(connection, plan, job, job.damage or rebuilt)


def _revised(connection: sqlite3.Connection, job: Job) -> bool:
    """Whether later evidence, looked at again because something has changed, gives other revisions than before."""
    from helix_graph.graph.revising import revise  # noqa: PLC0415  (grammars of checks, which most calls do without)

    if job.dry_run or job.assertions_only:
        return False
    return revise(connection, job.episodes, job.causality / ASSERTIONS)


def _is_published(connection: sqlite3.Connection, job: Job) -> bool:
    return job.assertions_only or export_is_current(connection, job.causality / EXPORT_NAME)


def _prepare_tables(connection: sqlite3.Connection, patterns: PatternCounter | None) -> str | None:
    """Makes the tables when there are none or old ones; says why when old ones were dropped."""
    made_by = {
        "labels": f"{LABEL_VERSION} {LABEL_MODE}",
        "observations": patterns.version if patterns else "none",
        "tellings": TELLING_VERSION,
    }
    reason = _outdated(connection, made_by)
    if reason is not None:
        database.create_tables(connection, GRAPH_FILE)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", made_by.items())
    return reason


def _outdated(connection: sqlite3.Connection, made_by: dict[str, str]) -> str | None:
    """Why the tables have to be made anew; empty when there are none, None when they are as they should be."""
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


def _carry_out(connection: sqlite3.Connection, plan: Plan, job: Job, rebuilt: str | None) -> CompileReport:
    changes = begin_changes(connection)
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
    patterns_added = _publish(connection, plan, job, changed=changed)
    return CompileReport(
        episodes_processed=processed,
        nodes_added=totals.nodes_added,
        edges_added=totals.edges_added,
        patterns_added=patterns_added,
        merged=totals.merged,
        retracted=retracted + spoilt,
        unchanged=_count_unchanged(connection, processed),
        skipped=_skipped(connection, plan),
        left_out=tuple(left_out),
        rebuilt=rebuilt or None,
        dry_run=job.dry_run,
        assertions_processed=sum(change.problem is None for change in plan.asserted.changes.values()),
        assertions_retracted=len(plan.asserted.gone),
    )


def _publish(connection: sqlite3.Connection, plan: Plan, job: Job, *, changed: bool) -> int:
    """Patterns and export, now or left to the next compile; returns how many patterns are new."""
    told = told_patterns(connection, plan.asserted.folder)
    if job.assertions_only:
        leave_for_later(connection, [msgspec.to_builtins(one) for one in told] if plan.asserted.rates else ())
        return 0
    added = count_patterns(connection, job.patterns, told) if job.patterns else 0
    if not job.dry_run:
        write_export(connection, job.causality / EXPORT_NAME, changed=changed or bool(plan.asserted))
    return added


def _take_in_files(
    connection: sqlite3.Connection, plan: Plan, changes: Changes, job: Job
) -> tuple[int, int, list[Skipped]]:
    """Episodes taken in, episodes lost because their file is spoilt, and links that were left out."""
    processed = spoilt = 0
    left_out: list[Skipped] = []

    def told(episode: str) -> list[Named]:
        return assertions_of(connection, episode, plan.asserted.folder)

    observe = job.patterns.observe if job.patterns else None
    for done, name in enumerate(plan.suspects):
        path = plan.folder / name
        if job.progress:
            job.progress(done, len(plan.suspects), path)
        read, seen = read_source(path, plan.present[name], told, observe), plan.known.get(name)
        if read is None:  # forgotten since the plan was made
            spoilt += seen is not None and seen.episode is not None
            _forget_known(connection, name, seen, changes)
            continue
        if seen and read.sha256 == seen.sha256 and name not in plan.again:
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
    _forget_known(connection, name, seen, changes)
    _take_out_alone(connection, name.removesuffix(SUFFIX), changes)
    episode = take_in(connection, read.facts, changes, read.observed) if read.facts else None
    row = (name, read.stamp.size, read.stamp.mtime_ns, read.sha256, episode, read.problem)
    connection.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?)", row)


def _forget_known(connection: sqlite3.Connection, name: str, seen: Seen | None, changes: Changes) -> None:
    if seen:
        _forget(connection, name, seen, changes)


def _forget(connection: sqlite3.Connection, name: str, seen: Seen, changes: Changes) -> None:
    connection.execute("DELETE FROM file WHERE name = ?", (name,))
    if seen.episode is not None:
        take_out(connection, seen.episode, changes)


def _take_in_assertions(connection: sqlite3.Connection, plan: Plan, changes: Changes) -> None:
    """The shares of assertions whose episode, if they have one, has no file in the graph."""
    left = {name.removesuffix(SUFFIX) for name in (*plan.suspects, *plan.gone)}
    for unit in sorted(plan.asserted.units | left):
        _take_out_alone(connection, unit, changes)
        if not connection.execute("SELECT 1 FROM episode WHERE id = ?", (unit,)).fetchone():
            facts = facts_alone(unit, assertions_of(connection, unit, plan.asserted.folder))
            if facts:
                take_in(connection, facts, changes)


def _take_out_alone(connection: sqlite3.Connection, unit: str, changes: Changes) -> None:
    """Takes out what assertions alone have put in under this name."""
    found = connection.execute("SELECT number FROM episode WHERE id = ? AND origin <> 'episode'", (unit,)).fetchone()
    if found:
        take_out(connection, found[0], changes)


def _skipped(connection: sqlite3.Connection, plan: Plan) -> tuple[Skipped, ...]:
    rows = connection.execute("SELECT name, problem FROM file WHERE problem IS NOT NULL ORDER BY name")
    bad = [(plan.folder / name, problem) for name, problem in rows]
    both = (*bad, *bad_assertions(connection, plan.asserted.folder))
    return tuple(Skipped(path=str(path), problem=problem) for path, problem in both)


def _count_unchanged(connection: sqlite3.Connection, processed: int) -> int:
    held = connection.execute("SELECT count(*) FROM file WHERE episode IS NOT NULL").fetchone()[0]
    return int(held) - processed


def _nothing_to_do(connection: sqlite3.Connection, plan: Plan, job: Job) -> CompileReport:
    return CompileReport(
        episodes_processed=0,
        nodes_added=0,
        edges_added=0,
        patterns_added=0,
        merged=0,
        retracted=0,
        unchanged=sum(seen.problem is None for seen in plan.known.values()),
        skipped=_skipped(connection, plan),
        dry_run=job.dry_run,
    )
