"""``view``: the memory as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import OutputPath, json_option
from helix_cli.output import count, say, show

if TYPE_CHECKING:
    from helix_graph.view.door import ViewReport


@click.command
@click.option(
    "--output",
    metavar="FILE",
    type=OutputPath(path_type=Path, dir_okay=False),
    help="Where to write it, else in the memory.",
)
@click.option("--focus", metavar="LABEL", help="Only what is around this part of a label.")
@click.option("--from", "source", metavar="TEXT", help="With --to: the path between two labels, and what is around it.")
@click.option("--to", "target", metavar="TEXT", help="Where the path ends.")
@click.option(
    "--episode", metavar="EPISODE", help="One session: its steps, suspects, and one that succeeded beside it."
)
@click.option("--max-nodes", type=int, default=2000, show_default=True, help="The most frequent so many, 1 to 20000.")
@click.option("--open", "opened", is_flag=True, help="Open it in the browser.")
@json_option
def view(  # noqa: PLR0913  (the command's options)
    *,
    output: Path | None,
    focus: str | None,
    source: str | None,
    target: str | None,
    episode: str | None,
    max_nodes: int,
    opened: bool,
    as_json: bool,
) -> None:
    """Write a page that shows the graph: one file that needs no network."""
    report = open_memory().view(
        output=output, focus=focus, source=source, target=target, episode=episode, max_nodes=max_nodes
    )
    show(report, as_json=as_json, render=render_view)
    if opened:
        click.launch(Path(report.path).absolute().as_uri())


def render_view(report: ViewReport) -> None:
    """Print where the page is and how much of the memory is on it."""
    say(f"{report.path} ({report.bytes / 1_000_000:.1f} MB)")
    if report.no_path:
        say(report.no_path)
    say(
        f"On it: {report.part}, {count(report.nodes, 'label')} of {report.nodes_in_all} and "
        f"{count(report.edges, 'edge')} of {report.edges_in_all}. It quotes sessions: mind whom you give it to."
    )
