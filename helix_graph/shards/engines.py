"""DuckDB and Spark: each reads Parquet files as one table and answers queries that Ibis writes in its SQL.

Ibis only writes the queries. Its own connections ask for pandas and other packages that nothing here needs.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.errors import InvalidArgument, ProgramFailed
from helix_graph.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from helix_graph.shards.aggregate import Table

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
