"""A company's episodes: ``pack`` writes their facts as shards, ``fold`` sums these up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_memory
from helix_cli.options import OutputPath, any_path, parse_time, since_option, workers_option
from helix_cli.output import count, json_option, progress, say, show, warn

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.shards.pack import PackReport

_output = click.option(
    "--output", required=True, type=OutputPath(path_type=Path, file_okay=False), metavar="DIR", help="Folder to write."
)


@click.command
@click.argument("memories", nargs=-1, metavar="[MEMORY]...", type=any_path)
@_output
@workers_option
@json_option
def pack(*, memories: tuple[Path, ...], output: Path, workers: int | None, as_json: bool) -> int:
    """Write the facts of all episodes as Parquet shards.

    One shard for each day and project, written again only when its episodes change; running it again finishes what was
    cut short. MEMORY is another .helix folder whose episodes go there too. The exit code is 1 when an episode could not
    be read.
    """
    with progress("Packing shards") as advance:
        report = open_memory().pack(output, memories=memories, workers=workers, progress=advance)
    for skipped in report.skipped:
        warn(f"{skipped.path}: left out: {skipped.problem}")
    show(report, as_json=as_json, render=_render_packed)
    return 1 if report.skipped else 0


def _render_packed(report: PackReport) -> None:
    say(
        f"{count(report.written, 'shard')} written ({count(report.episodes, 'episode')}, {count(report.rows, 'row')}), "
        f"{report.unchanged} unchanged, {report.removed} removed."
    )
    say(f"Next: helix-graph fold {report.folder} --output sums")


@click.command
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=any_path)
@_output
@click.option(
    "--engine",
    type=click.Choice(("duckdb", "spark", "local")),
    default="duckdb",
    show_default=True,
    help="DuckDB, Spark, or this memory's own graph.",
)
@since_option
@click.option("--until", type=parse_time, metavar="TIME", help="Only before this day.")
@click.option("--master", metavar="URL", help="Where Spark runs (default: local[*]).")
@click.option("--memory-limit", metavar="SIZE", help="The most memory DuckDB or a Spark process takes, such as 4GB.")
@click.option(
    "--serving",
    type=OutputPath(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also write tables to look up in.",
)
@json_option
def fold(  # noqa: PLR0913  (its options)
    *,
    folders: tuple[Path, ...],
    output: Path,
    engine: str,
    since: datetime | None,
    until: datetime | None,
    master: str | None,
    memory_limit: str | None,
    serving: Path | None,
    as_json: bool,
) -> None:
    """Sum up what pack has written, with DuckDB or Spark.

    The sums have labels, edges, checks, issues and remedies. FOLDER is one that pack has written, or an earlier fold:
    sums add up in any order. With --engine local the same tables come from this memory's graph, without a FOLDER.
    Every engine writes the same bytes.
    """
    if engine == "local":
        if folders or since or until:
            raise click.UsageError("--engine local sums up this memory's graph; leave out folders and days")
        report = open_memory().fold(output)
    else:
        from helix_graph.shards.engines import LOCAL_MASTER
        from helix_graph.shards.fold import fold as fold_shards

        if not folders:
            raise click.UsageError("name a folder of shards; helix-graph pack --output DIR writes one")
        report = fold_shards(
            folders,
            output,
            engine=engine,
            since=since,
            until=until,
            master=master or LOCAL_MASTER,
            memory_limit=memory_limit or "",
        )
    if serving is not None:
        from helix_graph.shards.serving import serve

        serve(report.folder, serving)
    show(
        report,
        as_json=as_json,
        render=lambda one: say(f"{', '.join(f'{rows} {name}' for name, rows in one.rows.items())} in {one.folder}"),
    )
    if serving is not None and not as_json:
        say(f"Tables to look up in: {serving}. For PostgreSQL, run psql -f load.sql there.")
