"""The sums over shards, by one of three engines, as canonical files: the same facts give the same bytes by each.

::

    DIR/labels.parquet  edges.parquet  runs.parquet  situations.parquet  issues.parquet  remedies.parquet

``local`` reads one memory's graph.db and is the measure. ``duckdb`` folds on one machine, in as much memory as it is
given and on disk beyond. ``spark`` folds on a cluster, whose workers have to see the shards under the same paths.

What is folded are folders of shards, and folders that an earlier fold has written: sums add up, so a day can be folded
once and added to other days in any order. A failure that a forked session repeats counts in the session that has it
first, also where that began on another day: shards of the days before ``since``, as far as they are in the folders, are
looked at for such failures, though not added up (`helix_graph.shards.inputs`).

``local`` computes them through the code that answers questions. It is the measure that the engines are held to: nodes
and edges are the sums that a compile keeps, runs and situations come from `helix_graph.causality.check_runs`, issues
and remedies from `helix_graph.issues`.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter, defaultdict
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from helix_episodes.errors import HelixGraphError, ProgramFailed, WriteFailed
from helix_episodes.safe_files import TEMPORARY_SUFFIX, make_output_folder, open_regular
from helix_graph.causality.check_runs import is_judged, situations_of, tries_a_change
from helix_graph.errors import FolderInUse
from helix_graph.graph.graph_db import open_graph
from helix_graph.graph.model import MEASURED_BASES
from helix_graph.graph.observations import unpack
from helix_graph.graph.row_checksums import read_digests
from helix_graph.issues.history import Failure, History, first_occurrences
from helix_graph.issues.remedies import changes_for, kinds_of_changes
from helix_graph.shards.engines import (
    LOCAL_MASTER,
    TABLES,
    Sums,
    Table,
    engine_errors,
    newest_versions,
    open_duckdb,
    open_spark,
    sums_of_facts,
    total,
)
from helix_graph.shards.files import (
    ShardDamaged,
    arrow_schema,
    find_damage,
    impossible_number,
    parquet_modules,
)
from helix_graph.shards.inputs import NOTED_IN, FoldInputs, find_inputs
from helix_graph.shards.rows import (
    LONGEST_MESSAGE,
    NO_DAY,
    NUMBERS,
    failure_counts,
    run_counts,
    run_key,
)
from helix_graph.shards.session_sample import Sample, as_metadata, digest_of, smallest
from helix_graph.validation import as_choice

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from helix_graph.graph.api import Graph
    from helix_graph.shards.engines import OpenEngine

    Rows = Iterable[tuple[Any, ...]]

Engine = Literal["local", "duckdb", "spark"]
#: No company has as much of anything; a hundred folds of such fit into a sum.
_MOST_OF_ALL = 10**16
#: Rows are written in groups of so many, however the engine gives them: the bytes depend on nothing else.
ROWS_A_GROUP = 65_536


class FoldReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was folded into ``folder``: the number of shards and of earlier folds, and the rows of each table."""

    folder: Path
    engine: Engine
    shards: int
    earlier: int
    rows: dict[str, int]


def fold(  # noqa: PLR0913  (the options of the command)
    folders: Sequence[Path],
    output: Path,
    *,
    engine: str = "duckdb",
    since: date | str | None = None,
    until: date | str | None = None,
    master: str = LOCAL_MASTER,
    memory_limit: str = "",
) -> FoldReport:
    """Sums up folders of shards, and of earlier folds, and writes the tables into ``output``.

    Args:
        folders: What `helix_graph.shards.pack.pack` or a fold has written.
        output: A new folder, or that of an earlier fold, which is replaced.
        engine: ``duckdb`` or ``spark``; `fold_locally` is the third.
        since: Only shards of this day (UTC) and later ones.
        until: Only shards of days before this one.
        master: Where Spark runs (``spark://host:7077``).
        memory_limit: The most that DuckDB takes (``4GB``), or a Spark process; by default as the engine has it.

    Raises:
        InvalidArgument: There is no such engine; or as `helix_graph.shards.inputs.find_inputs`.
        ShardDamaged: A shard, or a file of an earlier fold, cannot be read; the message names it.
    """
    chosen: Literal["duckdb", "spark"] = as_choice("engine", engine, ("duckdb", "spark"))
    inputs = find_inputs(folders, since=since, until=until)
    check_output(output)
    opened = open_duckdb(memory_limit) if chosen == "duckdb" else open_spark(master, memory_limit)
    with opened as session, _damage_named(inputs):
        tables = _tables(inputs, session)
        batches = {name: session.batches(tables[name], ROWS_A_GROUP) for name in TABLES}
        rows = write_tables(output, batches, sample=inputs.sample)
    return FoldReport(folder=output, engine=chosen, shards=len(inputs.shards), earlier=len(inputs.earlier), rows=rows)


def fold_locally(graph: Graph, output: Path) -> FoldReport:
    """Writes the same tables from the graph of one memory, by the code that answers its questions."""
    pa, _ = parquet_modules()
    check_output(output)
    found = {}
    for name, rows in local_sums(graph).items():
        schema = schema_of(TABLES[name])
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
        found[name] = pa.Table.from_arrays(arrays, schema=schema).to_batches()
    with open_graph(graph.path_of_file) as connection:
        sample = smallest(digest_of(episode) for (episode,) in connection.execute("SELECT id FROM episode"))
    written = write_tables(output, found, sample=sample)
    return FoldReport(folder=output, engine="local", shards=0, earlier=0, rows=written)


def schema_of(sums: Sums) -> Any:  # noqa: ANN401  (a pyarrow.Schema, which need not be installed)
    """The columns of a table with their types."""
    pa, _ = parquet_modules()
    return pa.schema([(name, pa.int64() if name in sums.numbers else pa.string()) for name in sums.columns])


def _tables(inputs: FoldInputs, session: OpenEngine) -> dict[str, Table]:
    """The tables of all inputs together."""
    parts: dict[str, list[Table]] = {name: [] for name in TABLES}
    if inputs.shards:
        facts = session.read(inputs.shards, arrow_schema())
        before = session.read(inputs.before, arrow_schema()) if inputs.before else None
        for table in (facts,) if before is None else (facts, before):
            if _is_any_negative(session, table, NUMBERS) and (damage := find_damage([*inputs.shards, *inputs.before])):
                raise damage
        newest = newest_versions(facts) if inputs.has_copies else facts
        for name, table in sums_of_facts(newest, before).items():
            parts[name].append(table)
    for name, sums in TABLES.items():
        if inputs.earlier:
            table = session.read([folder / f"{name}.parquet" for folder in inputs.earlier], schema_of(sums))
            if _is_any_negative(session, table, sums.numbers):
                for folder in inputs.earlier:
                    check_fold(folder)
            parts[name].append(table)
    both = {name: several[0].union(*several[1:]) if several[1:] else several[0] for name, several in parts.items()}
    if inputs.shards and not inputs.earlier:
        return both
    return {name: total(table, TABLES[name]) for name, table in both.items()}


def _is_any_negative(session: OpenEngine, table: Table, numbers: Iterable[str]) -> bool:
    """Whether a number is below 0, which none is: it would take away what other files count."""
    below = [table[name] < 0 for name in sorted(numbers)]
    found = table.aggregate(any=functools.reduce(operator.or_, below).any())
    return any(row["any"] for batch in session.batches(found, 1) for row in batch.to_pylist())


def check_fold(folder: Path) -> None:
    """Looks whether a folder is the output of a fold whose files can be read."""
    for path in (folder / f"{name}.parquet" for name in TABLES):
        if problem := _unreadable(path):
            raise ShardDamaged(path=path, problem=problem)


def check_output(output: Path, *, tables: Iterable[str] = TABLES, others: Iterable[str] = ()) -> None:
    """Refuses a folder with other files than those of ``tables`` and ``others``."""
    ours = {*(f"{name}.parquet" for name in tables), *others}
    if output.is_symlink() or (output.exists() and not output.is_dir()):
        raise FolderInUse(f"{output} is no folder; name a new or empty one")
    found = {path.name for path in output.iterdir()} - ours if output.is_dir() else set()
    if {name for name in found if not name.endswith(TEMPORARY_SUFFIX)}:
        raise FolderInUse(f"{output} has other files; name a new or empty folder")


def write_tables(
    output: Path, tables: dict[str, Iterable[Any]], forms: dict[str, Sums] = TABLES, *, sample: Sample = ()
) -> dict[str, int]:
    """Writes each table from its record batches, all under other names first; gives their numbers of rows.

    ``sample`` is noted in one of them.
    """
    with replacing(output) as unfinished:
        return {
            name: _write(
                unfinished / f"{name}.parquet", forms[name], rows, as_metadata(sample if name == NOTED_IN else ())
            )
            for name, rows in tables.items()
        }


@contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """A new folder, whose files take their places in ``output`` at the end; no link that lies there is followed."""
    make_output_folder(output)
    with (
        WriteFailed.for_os_errors(output),
        TemporaryDirectory(dir=output, prefix=".", suffix=TEMPORARY_SUFFIX) as name,
    ):
        yield Path(name)
        for path in sorted(Path(name).iterdir()):
            path.chmod(0o600)
            path.replace(output / path.name)


def _write(path: Path, sums: Sums, batches: Iterable[Any], metadata: dict[bytes, bytes]) -> int:
    """Writes record batches in groups of equal size, so that the bytes do not depend on how they came."""
    pa, parquet = parquet_modules()
    schema, rows = schema_of(sums), 0
    with parquet.ParquetWriter(path, schema.with_metadata(metadata or None), compression="zstd") as writer:
        waiting: list[Any] = []
        have = 0
        for batch in batches:
            waiting.append(pa.Table.from_batches([batch]).cast(schema))
            have += batch.num_rows
            while have >= ROWS_A_GROUP:
                table = pa.concat_tables(waiting).combine_chunks()
                writer.write_table(table.slice(0, ROWS_A_GROUP).combine_chunks(), row_group_size=ROWS_A_GROUP)
                waiting, have, rows = [table.slice(ROWS_A_GROUP)], have - ROWS_A_GROUP, rows + ROWS_A_GROUP
        if have:
            writer.write_table(pa.concat_tables(waiting).combine_chunks(), row_group_size=ROWS_A_GROUP)
    return rows + have


@contextmanager
def _damage_named(inputs: FoldInputs) -> Iterator[None]:
    """Within, an error of an engine is that of a damaged file, where there is one."""
    try:
        yield
    except HelixGraphError:
        raise
    except engine_errors() as error:
        damage = find_damage([*inputs.shards, *inputs.before])
        if damage:
            raise damage from error
        for folder in inputs.earlier:
            check_fold(folder)
        raise ProgramFailed(
            f"the engine gave up: {next(iter(str(error).strip().splitlines()), type(error).__name__)}"
        ) from error


def _unreadable(path: Path) -> str:
    pa, parquet = parquet_modules()
    try:
        with open_regular(path) as file:
            for batch in parquet.ParquetFile(file).iter_batches():
                if problem := impossible_number(batch, most=_MOST_OF_ALL):
                    return problem
    except (pa.ArrowException, OSError) as error:
        return str(error)
    return ""


def local_sums(graph: Graph) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each of the `TABLES`, in the order of their keys."""
    with open_graph(graph.path_of_file) as connection:
        history = History(connection, graph.causality)
        projects = dict(connection.execute("SELECT episode, coalesce(project, '') FROM telling").fetchall())
        by_project: defaultdict[str, list[Failure]] = defaultdict(list)
        for one in history.recorded:
            by_project[projects[one.number]].append(one)
        failures = {project: first_occurrences(several) for project, several in by_project.items()}
        runs, situations = _runs(connection, projects)
        found: dict[str, Rows] = {
            "labels": chain(
                connection.execute(
                    "SELECT type, label, 'kind', '', '', id, mentions, episodes, measured, successes FROM node"
                ),
                *(connection.execute(_FINER, (resolution,)) for resolution in ("place", "thing")),
            ),
            "edges": connection.execute(
                "SELECT s.id, t.id, e.type, weight_sum, claims, e.episodes FROM edge e"
                " JOIN node s ON s.number = source JOIN node t ON t.number = target"
            ),
            "runs": runs,
            "situations": situations,
            "issues": _issues(history, failures),
            "remedies": _remedies(connection, failures),
        }
        return {name: sorted(found[name]) for name in TABLES}


#: Labels by place and thing are not summed in graph.db: this is how its nodes are, for finer keys.
_FINER = f"""
    SELECT n.type, n.label, ?1, place, thing, n.id, sum(times), sum(times > 0 AND origin <> 'assertion'),
        sum(times > 0 AND measures), sum(times > 0 AND measures AND success)
    FROM (
        SELECT m.node, coalesce(m.place, '') AS place, iif(?1 = 'thing', m.thing, '') AS thing,
            sum(m.counted) AS times, e.origin, e.outcome = 'success' AS success,
            e.basis IN ({", ".join(f"'{basis}'" for basis in sorted(MEASURED_BASES))}) AND e.outcome <> 'unknown'
                AS measures
        FROM mention m JOIN episode e ON e.number = m.episode
        WHERE iif(?1 = 'thing', m.thing, m.place) <> '' GROUP BY m.episode, m.node, 2, 3
    ) JOIN node n ON n.number = node GROUP BY node, place, thing"""  # noqa: S608  (constants)


def _runs(connection: sqlite3.Connection, projects: dict[int, str]) -> tuple[Rows, Rows]:
    runs: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    situations: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for number, body in read_digests(connection):
        for run in unpack([body])[0].runs:
            if is_judged(run):
                key, counts = (projects[number], *run_key(run)), run_counts(run)
                runs[key].update(counts)
                for one in set(situations_of(run)) if tries_a_change(run) else ():
                    situations[*key, *one].update(counts)
    return tuple(
        [(*key, *(counts[name] for name in TABLES[table].values)) for key, counts in sums.items()]
        for table, sums in (("runs", runs), ("situations", situations))
    )  # type: ignore[return-value]  # two of them


def _issues(history: History, failures: dict[str, list[Failure]]) -> Iterator[tuple[Any, ...]]:
    for (fingerprint, project), members in _by_issue(failures).items():
        failing = [one for one in members if not one.deliberate]
        sums = [sum(column) for column in zip(*map(failure_counts, failing), strict=True)] or [0] * 5
        days = sorted(history.sessions[one.number].moment[:10] or NO_DAY for one in members)
        yield (
            *(fingerprint, project),
            *(min(getattr(one, name) for one in members) for name in ("label", "check", "family", "thing")),
            *(min(one.said[:LONGEST_MESSAGE] for one in members), len(failing), len({one.number for one in failing})),
            *(len(members) - len(failing), *sums, days[0], days[-1]),
        )


def _by_issue(failures: dict[str, list[Failure]]) -> dict[tuple[str, str], list[Failure]]:
    found: defaultdict[tuple[str, str], list[Failure]] = defaultdict(list)
    for project, several in failures.items():
        for one in several:
            found[one.issue, project].append(one)
    return found


def _remedies(connection: sqlite3.Connection, failures: dict[str, list[Failure]]) -> Iterator[tuple[Any, ...]]:
    query = "SELECT episode, checked, min(kind) FROM run WHERE passed IS NOT NULL AND kind <> 'command' GROUP BY 1, 2"
    checks = {(number, check): kind for number, check, kind in connection.execute(query)}
    for (fingerprint, project), members in _by_issue(failures).items():
        failing = [one for one in members if not one.deliberate]
        changes = changes_for(connection, failing)
        used: defaultdict[tuple[str, str], list[tuple[int, bool]]] = defaultdict(list)
        for one in failing:
            made = changes.get((one.number, one.local), [])
            for kind, change in kinds_of_changes(one, made, checks=checks.get((one.number, one.check), "")).items():
                used[kind].append((one.number, change.verified_by is not None))
        for (how, what), uses in used.items():
            sessions = len({number for number, _ in uses})
            yield (fingerprint, project, how, what, len(uses), sum(verified for _, verified in uses), sessions)
