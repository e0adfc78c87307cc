"""``compile``: fold episodes into the causal graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import GivenPath, json_option, since_option
from helix_cli.output import complain, count, progress, say, show

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.graph.compile import CompileReport


@click.command("compile")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=GivenPath(path_type=Path))
@since_option
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@json_option
def compile_command(*, paths: tuple[Path, ...], since: datetime | None, dry_run: bool, as_json: bool) -> None:
    """Fold episodes into the causal graph.

    Without PATH the whole memory is looked at; what has not changed costs nothing, and what was deleted is taken out.
    """
    with progress("Folding episodes") as advance:
        report = open_memory().graph.compile(paths, since=since, dry_run=dry_run, progress=advance)
    for skipped in (*report.skipped, *report.left_out):
        complain(f"{skipped.path}: left out: {skipped.problem}")
    show(report, as_json=as_json, render=_render)
    if report.skipped:
        click.get_current_context().exit(1)


def _render(report: CompileReport) -> None:
    render_compile(report)
    if not report.dry_run:
        say("Next: helix-graph seen, helix-graph path, helix-graph patterns")


def render_compile(report: CompileReport) -> None:
    """Print what changed, in the future when nothing has."""
    if report.rebuilt:
        say(f"Everything is folded anew: {report.rebuilt}.")
    say(
        f"{count(report.episodes_processed, 'episode')} processed, {report.unchanged} unchanged, "
        f"{report.retracted} taken out."
    )
    if report.assertions_processed or report.assertions_retracted:
        taken = count(report.assertions_processed, "assertion")
        say(f"{taken} processed, {report.assertions_retracted} taken out.")
    added = (
        count(report.nodes_added, "node"),
        count(report.edges_added, "edge"),
        count(report.patterns_added, "pattern"),
    )
    say(f"{', '.join(added)} {'would be added' if report.dry_run else 'added'}; {report.merged} nodes met again.")
