"""``report``: a page for a team's week."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import OutputPath, json_option, moment
from helix_cli.output import count, emit_json, say

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.report.door import Reported


@click.command
@click.option(
    "--output",
    metavar="DIR|FILE",
    type=OutputPath(),  # as it was typed: a slash at its end says that a folder is meant
    help="Where to write it; a folder gets the sessions' pages too.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("html", "markdown", "json")),
    default="html",
    show_default=True,
    help="For people; for a wiki or a pull request; for programs.",
)
@click.option("--days", type=int, default=7, show_default=True, help="How many days it is about, 1 to 366.")
@click.option(
    "--until", type=moment, metavar="TIME", help="The days before this day or time; else up to the newest session."
)
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser.")
@json_option
def report(*, output: str | None, form: str, days: int, until: datetime | None, opened: bool, as_json: bool) -> None:
    """Write a page for a team's week: outcomes, what works, what keeps failing, fixes, insights, health."""
    made = open_memory().report(output=output, format=form, days=days, until=until)
    if made.path is None:
        _print(made, as_json=as_json)
        return
    told = {"path": made.path, "format": made.format, "bytes": len(made.data), "pages": made.pages}
    if as_json:
        emit_json(told)
    else:
        render_report(made)
    if opened and made.format == "html":
        click.launch(Path(made.path).absolute().as_uri())


def _print(made: Reported, *, as_json: bool) -> None:
    if as_json and made.format != "json":
        emit_json({"format": made.format, "text": made.data.decode()})
    else:
        click.echo(made.data, nl=False)


def render_report(made: Reported) -> None:
    """Print where the report is and what it is about."""
    found = made.report
    beside = f", and {count(made.pages, 'session page')} beside it" if made.pages else ""
    say(f"{made.path} ({made.format}, {len(made.data) / 1000:.0f} kB{beside})")
    days = f"{found.since} to {found.last}" if found.since else "no dated session yet"
    say(f"{days}: {count(found.sessions, 'session')} of {found.health.sessions}.")
    say("It quotes sessions: mind whom you give it to.")
