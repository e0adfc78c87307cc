"""``episode sources`` and ``episode extract --all``: the logs of every agent on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.commands.episode_report import complain_of, render_changes
from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, progress, say, show, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from helix_graph.sources import Difference, Source, SourcesReport


@click.command
@click.option("--project", help="Count for the project in this folder instead of this one; any counts all.")
@json_option
def sources(*, project: str | None, as_json: bool) -> None:
    """List where the agents' logs are on this machine, and how many of them are this project's."""
    show(open_memory().sources(project=project), as_json=as_json, render=render_sources)


def extract_all(  # noqa: PLR0913  (the command's options)
    *,
    agent: str | None,
    project: str | None,
    since: datetime | None,
    dry_run: bool,
    force: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Read what is new in the logs of the agents on this machine, and say what was found."""
    with progress("Reading logs") as advance:
        answer = open_memory().extract_all(
            agent=agent,
            project=project,
            since=since,
            dry_run=dry_run,
            force=force,
            strict=strict,
            progress=advance,
        )
    complain_of(answer.report)
    show(answer, as_json=as_json, render=render_all)
    return 1 if answer.report.failed else 0


def render_sources(found: Sequence[Source]) -> None:
    """Print the agents that have a folder here, and name the others."""
    rows = [
        (one.agent, str(one.logs), str(one.here), str(one.unsaid), (one.newest or "-")[:10], one.root)
        for one in found
        if one.found
    ]
    if rows:
        table(("agent", "logs", "here", "unsaid", "newest", "in"), rows, numbers=("logs", "here", "unsaid"))
    missing = [one.agent for one in found if not one.found]
    if missing:
        say(f"Nothing on this machine of: {', '.join(missing)}.")


def render_all(answer: SourcesReport) -> None:
    """Print what was found on this machine, and what became of it."""
    render_sources(answer.sources)
    say(f"{count(answer.untouched, 'log')} recorded before and unchanged, {answer.elsewhere} of other projects.")
    changed = render_changes(answer.report)
    if answer.dry_run:
        _render_differences(answer.differences)
        say("Nothing was written: this was a dry run.")
    elif changed:
        say("Next: helix-graph compile")
    if answer.labels:
        say(f"The next compile would fold everything anew: {answer.labels}.")


def _render_differences(differences: Sequence[Difference]) -> None:
    rows = [
        (one.session, one.reason, *(f"{old} → {new}" for old, new in (one.decisions, one.events, one.outcome)))
        for one in differences
    ]
    if rows:
        table(("session", "because", "decisions", "events", "outcome"), rows)
