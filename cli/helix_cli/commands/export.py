"""``graph export``: the graph for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from helix_cli.memory import open_memory
from helix_cli.options import OutputPath, json_option
from helix_cli.output import complain, emit_json, hand_over, say


@click.group
def graph() -> None:
    """Hand the graph to other programs."""


@graph.command("export")
@click.option(
    "--format",
    "form",
    type=click.Choice(("graphml", "dot", "mermaid", "json")),
    default="json",
    show_default=True,
    help="For networkx, Gephi and yEd; Graphviz; Markdown; any program.",
)
@click.option(
    "--output",
    metavar="FILE",
    type=OutputPath(path_type=Path, dir_okay=False),
    help="Where to write it, else on stdout.",
)
@click.option("--focus", metavar="LABEL", help="Only what is around this part of a label.")
@click.option("--from", "source", metavar="TEXT", help="With --to: the path between two labels, and what is around it.")
@click.option("--to", "target", metavar="TEXT", help="Where the path ends.")
@click.option("--episode", metavar="EPISODE", help="Only one session's labels and edges.")
@click.option("--max-nodes", type=int, help="Only the most frequent so many, 1 to 20000.")
@json_option
def export(  # noqa: PLR0913  (the command's options)
    *,
    form: str,
    output: Path | None,
    focus: str | None,
    source: str | None,
    target: str | None,
    episode: str | None,
    max_nodes: int | None,
    as_json: bool,
) -> None:
    """Write the graph, or a part of it, in a format that other programs read."""
    written = open_memory().graph.export(
        format=form, output=output, focus=focus, source=source, target=target, episode=episode, max_nodes=max_nodes
    )
    _warn(form, written)
    if output is None and as_json and form != "json":
        emit_json({"format": form, "text": written.decode()})
    elif output is None:
        hand_over(written.decode())
    elif as_json:
        emit_json({"format": form, "path": str(output), "bytes": len(written)})
    else:
        say(f"{output} ({form}, {len(written):,} bytes)")


def _warn(form: str, written: bytes) -> None:
    if form != "mermaid":
        return
    from helix_graph.graph.formats import beyond_mermaid  # noqa: PLC0415  (imported when it is written)

    problem = beyond_mermaid(written)
    if problem:
        complain(f"{problem}; --focus or --max-nodes takes a part")
