"""Tables to look things up in, made from the sums of a fold: what repaired an issue, how often a label or check fails.

::

    DIR/remedies.parquet  issues.parquet  labels.parquet  checks.parquet      sorted by what is looked up
    DIR/remedies.csv …    load.sql                                            the same for PostgreSQL: psql -f load.sql

Issues and remedies are those of all projects together. A check has its one name of `CheckNames`, which is known only
once all runs of a project are: so it is given here and not in a shard.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from helix_graph.errors import FolderInUse
from helix_graph.shards.engines import TABLES, Sums, Table, Way, open_duckdb, total
from helix_graph.shards.files import parquet_modules
from helix_graph.shards.fold import ROWS_A_GROUP, check_fold, check_output, replacing, schema_of, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph.shards.engines import OpenEngine

_LABEL = ("label", "type", "resolution", "place", "thing")
_ISSUE = TABLES["issues"].values
_PROJECTS: dict[str, Way] = {"projects": "sum"}
#: The tables; their names are those of the files, and with ``helix_`` before them those of PostgreSQL's tables.
SERVED: Final[dict[str, Sums]] = {
    "remedies": Sums(("fingerprint", "how", "what"), TABLES["remedies"].values | _PROJECTS),
    "issues": Sums(("fingerprint",), _ISSUE | _PROJECTS),
    "labels": Sums(_LABEL, TABLES["labels"].values),
    "checks": Sums(("project", "check"), TABLES["runs"].values),
}
#: What is looked up in each table.
_LOOKED_UP = {"remedies": "fingerprint", "issues": "fingerprint", "labels": "label", "checks": '"check"'}


def check_serving(output: Path, *, sums: Path) -> None:
    """Refuses a folder that has other files than the tables that `serve` writes, or is to have the ``sums`` as well."""
    if output.resolve() == sums.resolve():
        raise FolderInUse(f"{output} is where the sums go; name another folder for the tables to look up in")
    check_output(output, tables=SERVED, others={"load.sql", *(f"{name}.csv" for name in SERVED)})


def serve(folder: Path, output: Path) -> dict[str, int]:
    """Writes the tables from the sums that a fold has written into ``folder``; gives their numbers of rows.

    Args:
        folder: The output of a fold, by any engine.
        output: A new folder, or that of an earlier call, which is replaced.

    Raises:
        ShardDamaged: A file of the fold cannot be read.
    """
    check_fold(folder)
    check_serving(output, sums=folder)
    with open_duckdb() as session:
        tables = _tables(folder, session)
        rows = write_tables(output, {name: session.batches(tables[name], ROWS_A_GROUP) for name in SERVED}, SERVED)
    with replacing(output) as unfinished:
        for name in SERVED:
            _write_csv(output / f"{name}.parquet", unfinished / f"{name}.csv")
        # One transaction replaces the tables in PostgreSQL: until its end, the old ones answer.
        (unfinished / "load.sql").write_text(
            "\n".join(("\\set ON_ERROR_STOP on", "BEGIN;", *_statements(), "COMMIT;", "")), encoding="utf-8"
        )
    return rows


def _tables(folder: Path, session: OpenEngine) -> dict[str, Table]:
    sums = {name: session.read([folder / f"{name}.parquet"], schema_of(TABLES[name])) for name in TABLES}
    parts = {
        "remedies": sums["remedies"].mutate(projects=1),
        "issues": sums["issues"].mutate(projects=1),
        "labels": sums["labels"],
        "checks": _named_checks(sums["runs"]),
    }
    return {name: total(parts[name], SERVED[name]) for name in SERVED}


def _named_checks(runs: Table) -> Table:
    """The runs of judging checks under their names, as `helix_graph.causality.check_runs.CheckNames` gives them."""
    of_head = runs.group_by(["project", "head"])
    tasks = of_head.aggregate(names=runs.check.nunique(), named=runs.check.max(where=runs.task == 1))
    tasks = tasks.filter((tasks.names > 1) & tasks.named.notnull())
    found = runs.left_join(tasks, ["project", "head"])
    name = found.named.coalesce(found.check)
    fixing = (found.rewrites == 1) & ~name.contains("fix")
    named = found.select("project", *TABLES["runs"].values, check=fixing.ifelse(name.concat(" --fix"), name))
    each = total(named, SERVED["checks"])
    passed = each.runs > each.failed  # one of which only failures are known has no rate
    return each.mutate(fresh=passed.ifelse(each.fresh, 0), fresh_failed=passed.ifelse(each.fresh_failed, 0))


def _write_csv(source: Path, target: Path) -> None:
    """A table as CSV that PostgreSQL takes: all texts in quotation marks, and no zero byte in one."""
    pa, parquet = parquet_modules()
    compute, csv = import_module("pyarrow.compute"), import_module("pyarrow.csv")

    def clean(batch: Any) -> Any:  # noqa: ANN401  (a pyarrow.RecordBatch)
        columns = [
            compute.replace_substring(one, "\0", " ") if pa.types.is_string(one.type) else one for one in batch.columns
        ]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    file = parquet.ParquetFile(source)
    with csv.CSVWriter(target, file.schema_arrow) as writer:
        for batch in file.iter_batches():
            writer.write_batch(clean(batch))


def _statements() -> Iterator[str]:
    for name, sums in SERVED.items():
        columns = ", ".join(f'"{one}" {"bigint" if one in sums.numbers else "text"}' for one in sums.columns)
        yield f"DROP TABLE IF EXISTS helix_{name};"
        yield f"CREATE TABLE helix_{name} ({columns});"
        yield f"\\copy helix_{name} FROM '{name}.csv' (FORMAT csv, HEADER)"
        yield f"CREATE INDEX ON helix_{name} ({_LOOKED_UP[name]});"


def remedies_of(folder: Path, fingerprint: str) -> list[dict[str, Any]]:
    """What repaired an issue, most sessions first; only blocks of the tables that may have it are read."""
    with open_duckdb() as session:
        table = session.read([folder / "remedies.parquet"], schema_of(SERVED["remedies"]))
        found = table.filter(table.fingerprint == fingerprint)
        rows = [row for batch in session.batches(found, ROWS_A_GROUP) for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: (-row["sessions"], -row["verified"], row["how"], row["what"]))
