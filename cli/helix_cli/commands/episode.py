"""``episode``: what happened in each session, read from its log."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.commands.episode_by_hand import correct, decisions, new, outcome
from helix_cli.commands.episode_report import complain_of, render_report
from helix_cli.commands.episode_sources import extract_all, sources
from helix_cli.commands.episode_view import plain, render_episode, render_evidence
from helix_cli.memory import memory_at, open_memory
from helix_cli.options import GivenPath, json_option, moment, since_option
from helix_cli.output import count, progress, say, show, table
from helix_cli.terminal.pieces import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from helix_episodes.model import Episode, Outcome

OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure", "unknown")


@click.group
def episode() -> None:
    """Read session logs into episodes, and look at them."""


@episode.command
@click.argument("logs", nargs=-1, metavar="[LOGS]...", type=GivenPath(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Find the logs of every agent on this machine.")
@click.option("--agent", help="With --all: only this agent's logs.")
@click.option("--project", help="With --all: the project in this folder instead of this one, or any.")
@click.option("--since", type=moment, metavar="TIME", help="With --all: only logs written to since then (ISO 8601).")
@click.option("--dry-run", is_flag=True, help="With --all: say what would change, and change nothing.")
@click.option("--output", type=GivenPath(path_type=Path), help="Write the episodes to this folder, not the memory.")
@click.option(
    "--force", is_flag=True, help="Replace an episode whose log has changed since, and bring back what was forgotten."
)
@click.option("--strict", is_flag=True, help="Refuse a log with a damaged or unknown line; nothing of it is written.")
@click.option("--format", "log_format", default="auto", show_default=True, help="The format of the logs.")
@click.option("-v", "--verbose", is_flag=True, help="Say what became of every line, and where something was cut.")
@json_option
def extract(  # noqa: PLR0913  (the command's options)
    *,
    logs: tuple[Path, ...],
    everything: bool,
    agent: str | None,
    project: str | None,
    since: datetime | None,
    dry_run: bool,
    output: Path | None,
    force: bool,
    strict: bool,
    log_format: str,
    verbose: bool,
    as_json: bool,
) -> int:
    """Read LOGS (files, or folders of them) into episodes; with --all, what the agents on this machine have logged.

    A log that cannot be used hides no other: the rest is read, and the command ends with 1.
    """
    _check_choice(logs=bool(logs or output or log_format != "auto"), everything=everything,
                  narrowed=bool(agent or project or since or dry_run))  # fmt: skip
    if everything:
        return extract_all(
            agent=agent, project=project, since=since, dry_run=dry_run, force=force, strict=strict, as_json=as_json
        )
    # With --output no memory is touched, so none is needed: its root then stands for nothing.
    memory = memory_at(output) if output else open_memory()
    with progress("Reading logs") as advance:
        report = memory.extract(logs, output=output, force=force, strict=strict, format=log_format, progress=advance)
    complain_of(report, verbose=verbose)
    show(report, as_json=as_json, render=partial(render_report, verbose=verbose))
    return 1 if report.failed else 0


def _check_choice(*, logs: bool, everything: bool, narrowed: bool) -> None:
    """Either logs are named, or all are looked for; what narrows the search goes with the latter only."""
    if everything and logs:
        problem = "--all finds the logs by itself; leave LOGS, --output and --format out"
        raise click.UsageError(problem)
    if not everything and narrowed:
        problem = "--agent, --project, --since and --dry-run go with --all"
        raise click.UsageError(problem)
    if not everything and not logs:
        problem = "name LOGS, or give --all for the logs of every agent on this machine"
        raise click.UsageError(problem)


@episode.command("list")
@click.option("--outcome", type=click.Choice(OUTCOMES), help="Only those that came out so.")
@since_option
@click.option("--task", help="Only those with this text in their task, in any case.")
@click.option("--max-results", type=click.IntRange(1, 100), default=20, show_default=True, help="At most so many.")
@json_option
def list_episodes(
    *, outcome: Outcome | None, since: datetime | None, task: str | None, max_results: int, as_json: bool
) -> None:
    """List episodes, the newest first."""
    episodes = open_memory().episodes
    found = episodes.list(outcome, since, max_results, task=task)
    show([plain(one) for one in found] if as_json else found, as_json=as_json, render=render_list)
    if not as_json and (total := episodes.count(outcome, since, task=task)) > len(found):
        say(f"The newest {len(found)} of {count(total, 'episode')}; --max-results shows up to 100.")


def render_list(found: Sequence[Episode]) -> None:
    """Print one row per episode."""
    if not found:
        say("No such episode.")
        return
    rows = [
        (
            (one.timestamp or "")[:10],
            one.session,
            verdict(one.outcome),
            one.outcome_basis,
            str(len(one.decisions)),
            one.task,
        )
        for one in found
    ]
    table(("date", "session", "outcome", "basis", "decisions", "task"), rows, numbers=("decisions",))


@episode.command("show")
@click.argument("name", metavar="EPISODE")
@click.option("--evidence", is_flag=True, help="Show every quotation with the line of the log that it stands on.")
@click.option(
    "--log", type=GivenPath(path_type=Path), help="Look into this log whether each quotation stands on its line."
)
@json_option
def show_episode(*, name: str, evidence: bool, log: Path | None, as_json: bool) -> int:
    """Show one EPISODE (its id or its session's) with the log lines behind it.

    With --log the command ends with 1 when a quotation does not stand where it should.
    """
    if not (evidence or log):
        one = open_memory().episodes.require(name)
        show(plain(one) if as_json else one, as_json=as_json, render=render_episode)
        return 0
    quoted = open_memory().episodes.evidence(name, log=log)
    show(quoted, as_json=as_json, render=render_evidence)
    return 1 if any(one.result in {"moved", "missing"} for one in quoted) else 0


for command in (new, decisions, outcome, correct, sources):
    episode.add_command(command)
