"""``view`` and ``report``: the memory as pages to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_for_question
from helix_cli.options import OutputPath, label_texts, output_file, parse_time, session_names
from helix_cli.output import count, emit_json, json_option, say, show
from helix_cli.terminal import quiet

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.web.api import ViewReport, WrittenReport


#: So many sentences are printed; the report has all.
_STANDS_OUT = 3


@click.command
@click.option("--output", metavar="FILE", type=output_file, help="Write to this file instead of the memory's folder.")
@click.option("--focus", metavar="LABEL", shell_complete=label_texts, help="Open at what is around this label.")
@click.option("--from", "source", metavar="TEXT", help="With --to: open at the path between two labels.")
@click.option("--to", "target", metavar="TEXT", help="Where the path ends.")
@click.option(
    "--episode",
    metavar="EPISODE",
    shell_complete=session_names,
    help="Open at this session: its steps and where to look first.",
)
@click.option("--open", "opened", is_flag=True, help="Open it in the browser.")
@json_option
def view(*, opened: bool, as_json: bool, **options: Any) -> None:
    """Write a page of issues, places, sessions and graph.

    It is one file and needs no network.
    """
    report = open_for_question().view(**options)
    show(report, as_json=as_json, render=render_view)
    if opened:
        click.launch(Path(report.path).absolute().as_uri())


def render_view(report: ViewReport) -> None:
    """Print where the page is and what is on it."""
    say(f"{report.path} ({report.bytes / 1_000_000:.1f} MB)")
    if report.no_path:
        say(report.no_path)
    say(
        f"{count(report.issues, 'issue')} in {count(report.sessions, 'session')}, "
        f"{report.traces} of them step by step. It contains excerpts of your sessions; share it with care."
    )


@click.command
@click.option(
    "--output",
    metavar="DIR|FILE",
    type=OutputPath(),  # as it was typed: a slash at its end says that a folder is meant
    help="Where to write it; a folder gets the page of `view` too.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("html", "markdown", "json")),
    default="html",
    show_default=True,
    help="The format of the report.",
)
@click.option("--card", is_flag=True, help="Print an image (SVG) for a README instead.")
@click.option("--days", type=int, default=7, show_default=True, help="Length of the period in days, 1 to 366.")
@click.option("--until", type=parse_time, metavar="TIME", help="End of the period; by default the newest session.")
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser.")
@json_option
def report(  # noqa: PLR0913  (the command's options)
    *, output: str | None, form: str, card: bool, days: int, until: datetime | None, opened: bool, as_json: bool
) -> None:
    """Write a page about a week: what stands out, issues, fixes."""
    wanted = "card" if card else form
    made = open_for_question().report(output=output, format=wanted, days=days, until=until)
    if made.path is None:
        if as_json and made.format != "json":
            emit_json({"format": made.format, "text": made.data.decode()})
        else:
            click.echo(made.data, nl=False)
        return
    if as_json:
        emit_json({"path": made.path, "format": made.format, "bytes": len(made.data), "page": made.page})
    else:
        show(made, as_json=False, render=render_report)
    if opened and made.format == "html":
        click.launch(Path(made.path).absolute().as_uri())


def render_report(made: WrittenReport) -> None:
    """Print where the report is and what it is about."""
    found = made.report
    beside = ", and the memory's page next to it" if made.page else ""
    say(f"{made.path} ({made.format}, {len(made.data) / 1000:.0f} kB{beside})")
    days = f"{found.since} to {found.last}" if found.since else "no dated session yet"
    say(f"{days}: {count(found.sessions, 'session')} of {found.sessions_in_all}.")
    if found.highlights:
        say()
        say("What stands out:")
        for number, one in enumerate(found.highlights[:_STANDS_OUT], 1):
            say(f"{number}. {one.text}")
            say("   ", quiet(one.see))
        say()
    say("It contains excerpts of your sessions; share it with care.")
