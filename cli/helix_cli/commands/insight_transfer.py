"""``insight export`` and ``import``: insights as text that git can merge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.insight_command import insight_command
from helix_cli.options import GivenPath, OutputPath
from helix_cli.output import count, hand_over, say

if TYPE_CHECKING:
    from helix_graph.insights.door import Insights
    from helix_graph.insights.transfer import Imported


def _render_export(answer: dict[str, str | int]) -> None:
    if "text" in answer:
        hand_over(str(answer["text"]))
    else:
        say(f"{count(int(answer['records']), 'record')} written to {answer['file']}.")


@insight_command("export", render=_render_export)
@click.option("--output", type=OutputPath(path_type=Path, dir_okay=False), help="Write to this file instead of stdout.")
def export(insights: Insights, *, output: Path | None) -> dict[str, str | int]:
    """Write insights, links and the log as lines of JSON: the same memory, the same text."""
    if output is None:
        return {"text": insights.export()}
    return {"records": insights.export_to(output), "file": str(output)}


def _render_imported(answer: Imported) -> None:
    new = ", ".join(
        (
            count(answer["insights"], "insight"),
            count(answer["links"], "link"),
            f"{answer['feedback']} of feedback",
            count(answer["injections"], "injection"),
        )
    )
    say(f"New: {new}. There are {count(answer['total'], 'insight')} now.")
    if answer["left_out"]:
        say(f"{answer['left_out']} left out: they rest on sessions that were forgotten here.")
    if answer["without_vector"]:
        say(f"{answer['without_vector']} have no vector yet; `helix-graph insight reindex` makes them.")


@insight_command("import", render=_render_imported)
@click.argument("file", type=GivenPath(path_type=Path))
def import_command(insights: Insights, *, file: Path) -> Imported:
    """Take in an export, or the original's helix.db; twice or in any order gives the same memory."""
    return insights.import_from(file)
