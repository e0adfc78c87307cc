"""DuckDB and Spark through Ibis: each opens and reads Parquet files as one table; what is asked of it is the same."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.errors import HelixGraphError
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


class Session(NamedTuple):
    """An open engine: ``read`` has Parquet files as one table, ``batches`` the rows of a table in Arrow's batches."""

    read: Callable[[Sequence[Path]], Table]
    batches: Callable[[Table, int], Iterable[Any]]


class EngineFailed(HelixGraphError):
    """DuckDB or Spark could not be started, or gave up; no shard is damaged."""


def engine_errors() -> tuple[type[Exception], ...]:
    """What the installed engines raise."""
    found: list[type[Exception]] = [OSError]
    for module, name in _ERRORS:
        try:
            found.append(getattr(import_module(module), name))
        except ImportError:
            continue
    return tuple(found)


@contextmanager
def open_duckdb(memory_limit: str = "") -> Iterator[Session]:
    """DuckDB in this process; what does not fit into ``memory_limit`` goes to a temporary folder.

    Raises:
        MissingExtra: It is not installed.
        EngineFailed: The limit is no size.
    """
    try:
        ibis, duckdb = import_module("ibis"), import_module("duckdb")
        import_module("ibis.backends.duckdb")
    except ImportError as error:
        raise MissingExtra(wanted="folding with DuckDB", extra="duckdb") from error
    with tempfile.TemporaryDirectory(prefix="helix-fold-") as spill:
        options = {"temp_directory": spill, "preserve_insertion_order": False}
        try:
            connection = ibis.duckdb.connect(**options, **({"memory_limit": memory_limit} if memory_limit else {}))
        except duckdb.Error as error:
            raise EngineFailed(f"DuckDB cannot be opened: {error}") from error
        try:

            def read(paths: Sequence[Path]) -> Table:
                return connection.read_parquet([str(path) for path in paths], hive_partitioning=False)

            def batches(table: Table, size: int) -> Iterator[Any]:
                # Ibis' own way to Arrow asks for packages that nothing here needs. A query ends the one before it.
                yield from connection.con.execute(connection.compile(table)).to_arrow_reader(size)

            yield Session(read, batches)
        finally:
            connection.disconnect()


@contextmanager
def open_spark(master: str = LOCAL_MASTER, memory_limit: str = "") -> Iterator[Session]:
    """A Spark session on ``master``, whose workers see the same paths; ``memory_limit`` is for each of its processes.

    Raises:
        MissingExtra: It is not installed.
        EngineFailed: It cannot be started: there is no Java, or no such master.
    """
    try:
        ibis, sql, names = import_module("ibis"), import_module("pyspark.sql"), import_module("ibis.util")
        import_module("ibis.backends.pyspark")
    except ImportError as error:
        raise MissingExtra(wanted="folding with Spark", extra="spark") from error
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.maxResultSize": "0",
        "spark.log.level": "OFF",
        **(dict.fromkeys(("spark.driver.memory", "spark.executor.memory"), memory_limit) if memory_limit else {}),
    }
    try:
        session = sql.SparkSession.builder.master(master).appName("helix-graph fold").config(map=settings).getOrCreate()
    except engine_errors() as error:
        raise EngineFailed(
            f"Spark cannot be started on {master} ({next(iter(str(error).splitlines()), '')}); it needs Java 17"
            " (apt install openjdk-17-jre-headless)"
        ) from error
    try:
        connection = ibis.pyspark.connect(session)

        def read(paths: Sequence[Path]) -> Table:
            name = names.gen_name("shards")
            session.read.parquet(*(path.absolute().as_uri() for path in paths)).createOrReplaceTempView(name)
            return connection.table(name)

        yield Session(
            read, lambda table, size: session.sql(connection.compile(table)).toArrow().to_batches(max_chunksize=size)
        )
    finally:
        session.stop()
