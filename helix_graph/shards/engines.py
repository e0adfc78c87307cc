"""The sums over shards, written once in Ibis, and the engines that answer them: DuckDB and Spark.

Each engine reads Parquet files as one table. Ibis only writes the queries in its SQL: its own connections ask for
pandas and other packages that nothing here needs.

All are sums of whole numbers, least or greatest texts: sums of parts add up to the sums of the whole in any order, so a
day can be summed alone and added to other days later. An episode stands in one shard, so counts of sessions add up too.

==============  ===============================================================================================
table           one row for
==============  ===============================================================================================
``labels``      a label at a resolution: mentions, sessions, sessions with a measured outcome, successes
``edges``       an edge: the weights of its claims in millionths, claims, sessions
``runs``        a project's check with the command that ran it: runs, failed; fresh ones after a change, failed
``situations``  the same in one situation: fresh runs, failed
``issues``      a project's issue: failures, sessions, deliberate ones, repaired, verified; steps in thousandths,
                seconds and tokens; the first and the last day
``remedies``    a way in which a project repaired an issue: times, verified, sessions
==============  ===============================================================================================
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from helix_episodes.errors import InvalidArgument, ProgramFailed
from helix_graph.errors import MissingExtra
from helix_graph.shards.rows import EVERY, FACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path


#: A table of Ibis, and a column of one: Ibis says nothing of types.
Table: TypeAlias = Any
Column: TypeAlias = Any
Way = Literal["sum", "min", "max"]


class Sums(NamedTuple):
    """One table: what its rows are of, and how the other columns of two rows of the same are joined."""

    keys: tuple[str, ...]
    values: dict[str, Way]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in their order."""
        return (*self.keys, *self.values)

    @property
    def numbers(self) -> frozenset[str]:
        """The columns that are whole numbers; all others are texts."""
        return frozenset(
            {name for name, way in self.values.items() if way == "sum"} | ({"task", "rewrites"} & {*self.keys})
        )


def _sums(*names: str) -> dict[str, Way]:
    return dict.fromkeys(names, "sum")


_RUN = ("project", "check", "kind", "head", "task", "rewrites")
#: The tables of a fold; the names of their files come from here.
TABLES: Final[dict[str, Sums]] = {
    "labels": Sums(
        ("type", "label", "resolution", "place", "thing", "node"),
        _sums("mentions", "episodes", "measured", "successes"),
    ),
    "edges": Sums(("source", "target", "type"), _sums("weight", "claims", "episodes")),
    "runs": Sums(_RUN, _sums("runs", "failed", "fresh", "fresh_failed")),
    "situations": Sums((*_RUN, "dimension", "value"), _sums("fresh", "fresh_failed")),
    "issues": Sums(
        ("fingerprint", "project"),
        {
            **dict.fromkeys(("label", "check", "family", "thing", "message"), "min"),
            **_sums("failures", "sessions", "deliberate", "repaired", "verified", "steps", "seconds", "tokens"),
            "first_day": "min",
            "last_day": "max",
        },
    ),
    "remedies": Sums(("fingerprint", "project", "how", "what"), _sums("times", "verified", "sessions")),
}


def sums_of_facts(facts: Table, before: Table | None = None) -> dict[str, Table]:
    """The tables of `TABLES` from the rows of shards, each in the order of its keys.

    The rows ``before`` are those of days that are folded elsewhere: what they have first counts there.
    """
    remedies = _first_occurrences(facts, "remedy", before)
    keys = [*TABLES["remedies"].keys, "episode"]
    each = remedies.group_by(keys).aggregate(times=remedies.count(), verified=remedies.verified.sum())
    parts = {
        "labels": _rows(facts, "label"),
        "edges": _rows(facts, "edge").mutate(episodes=1),
        "runs": _rows(facts, "run"),
        "situations": _rows(facts, "situation"),
        "issues": _sessions_of_issues(_first_occurrences(facts, "failure", before)),
        "remedies": each.mutate(sessions=1),
    }
    return {name: total(parts[name], sums) for name, sums in TABLES.items()}


def _rows(facts: Table, fact: str) -> Table:
    """The rows of one kind with their own columns: of all columns, Ibis takes a second longer to write the queries."""
    return facts.select(*EVERY, *FACTS[fact]).filter(lambda rows: rows.fact == fact)


def total(table: Table, sums: Sums) -> Table:
    """The rows of a table, or of several in one, added up; in the order of the keys."""
    joined = table.group_by(list(sums.keys)).aggregate(**_joined(table, sums.values))
    typed = joined.mutate(**{name: joined[name].cast("int64") for name in sums.numbers})
    return typed.select(*sums.columns).order_by(list(sums.keys))


def _joined(table: Table, values: dict[str, Way]) -> dict[str, Column]:
    return {name: getattr(table[name], way)() for name, way in values.items()}


def _first_occurrences(facts: Table, fact: str, before: Table | None) -> Table:
    """The rows of failures without the copies that forked sessions have, which are those of the later session.

    The same as `helix_graph.issues.history.first_occurrences` in each project.
    """
    rows = _rows(facts, fact)
    names = ("fact", "project", "begun", "same")
    failures = facts.select(*names) if before is None else facts.select(*names).union(before.select(*names))
    copies = failures.filter((failures.fact == "failure") & (failures.same != ""))
    first = copies.group_by(["project", "same"]).aggregate(first=copies.begun.min())
    found = rows.left_join(first, ["project", "same"])
    kept = found.filter(found["first"].isnull() | (found["first"] == found.begun))
    return kept.select(*(name for name in rows.columns))


def _sessions_of_issues(failures: Table) -> Table:
    """One row for each session of an issue, which counts it once."""
    rows = failures.mutate(failures=1 - failures.deliberate, first_day=failures.day, last_day=failures.day)
    counted = rows.mutate(**{name: rows[name] * rows.failures for name in _COUNTED})
    values: dict[str, Way] = {name: way for name, way in TABLES["issues"].values.items() if name != "sessions"}
    each = counted.group_by(["fingerprint", "project", "episode"]).aggregate(**_joined(counted, values))
    return each.mutate(sessions=(each.failures > 0).cast("int64"))


#: What failures on purpose do not count for.
_COUNTED = ("repaired", "verified", "steps", "seconds", "tokens")


def newest_versions(facts: Table) -> Table:
    """The rows with each episode once: where shards of several folders have it, in the version of the greater digest.

    A row of an episode is told from its others by its columns, so equal rows are copies.
    """
    newest = facts.group_by("episode").aggregate(hash=facts["hash"].max())
    return facts.semi_join(newest, ["episode", "hash"]).distinct()


#: What Spark runs on where nothing else is said: all cores of this machine.
LOCAL_MASTER = "local[*]"
#: Where the errors of the engines are; those of an engine that is not installed cannot be raised.
_ERRORS = (
    ("pyarrow", "ArrowException"),
    ("duckdb", "Error"),
    ("ibis.common.exceptions", "IbisError"),
    ("pyspark.errors", "PySparkException"),
    ("py4j.protocol", "Py4JError"),
)


_PATTERN = frozenset("*?[]{}\\")


class OpenEngine(NamedTuple):
    """An open engine: ``read`` has Parquet files as one table, ``batches`` the rows of a table in Arrow's batches.

    The files of a table have its columns, given as a `pyarrow.Schema`. A path that an engine would take for a pattern
    is an `InvalidArgument`.
    """

    read: Callable[[Sequence[Path], Any], Table]
    batches: Callable[[Table, int], Iterable[Any]]


def engine_errors() -> tuple[type[Exception], ...]:
    """What the installed engines raise."""
    found: list[type[Exception]] = [OSError]
    for module, name in _ERRORS:
        try:
            found.append(getattr(import_module(module), name))
        except ImportError:
            continue
    return tuple(found)


def _plain(paths: Sequence[Path]) -> list[Path]:
    """The absolute paths; each names one file to an engine, and neither several nor one on a server."""
    whole = [path.absolute() for path in paths]
    for path in whole:
        if not _PATTERN.isdisjoint(str(path)):
            problem = f"have {path}, and the engines take {' '.join(sorted(_PATTERN))} for a pattern; rename the folder"
            raise InvalidArgument("folders", problem)
    return whole


def _query(dialect: str, table: Table) -> str:
    """The query for a table in an engine's SQL."""
    compiler = import_module(f"ibis.backends.sql.compilers.{dialect}").compiler
    return str(compiler.to_sqlglot(table).sql(dialect=compiler.dialect))


def _view(name: str, schema: Any) -> Table:  # noqa: ANN401  (a pyarrow.Schema, which need not be installed)
    """The table that a session has under a name."""
    return import_module("ibis").table({field.name: str(field.type) for field in schema}, name=name)


def _modules(engine: str, name: str) -> Any:  # noqa: ANN401  (a module, which need not be installed)
    try:
        import_module("ibis")
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(wanted=f"folding with {engine}", extra=engine.lower()) from error


@contextmanager
def open_duckdb(memory_limit: str = "") -> Iterator[OpenEngine]:
    """DuckDB in this process; what does not fit into ``memory_limit`` goes to a temporary folder.

    Raises:
        ProgramFailed: The limit is no size.
    """
    duckdb, names = _modules("DuckDB", "duckdb"), count()
    with tempfile.TemporaryDirectory(prefix="helix-fold-") as spill:
        options = {"temp_directory": spill, "preserve_insertion_order": "false"}
        try:
            connection = duckdb.connect(config=options | ({"memory_limit": memory_limit} if memory_limit else {}))
        except duckdb.Error as error:
            raise ProgramFailed(f"DuckDB cannot be opened: {error}") from error

        def read(paths: Sequence[Path], schema: Any) -> Table:  # noqa: ANN401  (as `OpenEngine` has it)
            name = f"t{next(names)}"
            connection.read_parquet([str(path) for path in _plain(paths)], hive_partitioning=False).create_view(name)
            return _view(name, schema)

        def batches(table: Table, size: int) -> Iterator[Any]:  # the next query ends this one
            yield from connection.execute(_query("duckdb", table)).to_arrow_reader(size)

        try:
            yield OpenEngine(read, batches)
        finally:
            connection.close()


@contextmanager
def open_spark(master: str = LOCAL_MASTER, memory_limit: str = "") -> Iterator[OpenEngine]:
    """A Spark session on ``master``, whose workers see the same paths; ``memory_limit`` is for each of its processes.

    Raises:
        ProgramFailed: It cannot be started: there is no Java, or no such master.
    """
    sql, names = _modules("Spark", "pyspark.sql"), count()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.maxResultSize": "0",
        "spark.log.level": "OFF",
        "spark.sql.files.openCostInBytes": "0",
        **(dict.fromkeys(("spark.driver.memory", "spark.executor.memory"), memory_limit) if memory_limit else {}),
    }
    try:
        session = sql.SparkSession.builder.master(master).appName("helix-graph fold").config(map=settings).getOrCreate()
    except engine_errors() as error:
        raise ProgramFailed(
            f"Spark cannot be started on {master} ({next(iter(str(error).splitlines()), '')}); it needs Java 17"
            " (apt install openjdk-17-jre-headless) and a master that runs"
        ) from error

    # Two hundred parts, Spark's own number, take minutes on a few cores whatever is in them.
    session.conf.set("spark.sql.shuffle.partitions", str(4 * session.sparkContext.defaultParallelism))

    def read(paths: Sequence[Path], schema: Any) -> Table:  # noqa: ANN401  (as `OpenEngine` has it)
        name = f"t{next(names)}"
        session.read.parquet(*(path.as_uri() for path in _plain(paths))).createOrReplaceTempView(name)
        return _view(name, schema)

    def batches(table: Table, size: int) -> Iterator[Any]:
        yield from session.sql(_query("pyspark", table)).toArrow().to_batches(max_chunksize=size)

    try:
        yield OpenEngine(read, batches)
    finally:
        session.stop()
