"""``episode``: what happened in each session, read from its log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.commands.episode_by_hand import correct, decisions, new, outcome
from helix_cli.commands.episode_view import plain, render_episode, render_evidence
from helix_cli.memory import memory_at, open_memory
from helix_cli.options import GivenPath, json_option, since_option
from helix_cli.output import complain, count, progress, say, show, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from helix_episodes.model import Episode, Outcome
    from helix_episodes.recording import ExtractReport

OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure", "unknown")


@click.group
def episode() -> None:
    """Read session logs into episodes, and look at them."""


@episode.command
@click.argument("logs", nargs=-1, required=True, type=GivenPath(path_type=Path))
@click.option("--output", type=GivenPath(path_type=Path), help="Write the episodes to this folder, not the memory.")
@click.option(
    "--force", is_flag=True, help="Replace an episode whose log has changed since, and bring back what was forgotten."
)
@click.option("--format", "log_format", default="auto", show_default=True, help="The format of the logs.")
@json_option
def extract(*, logs: tuple[Path, ...], output: Path | None, force: bool, log_format: str, as_json: bool) -> int:
    """Read LOGS (files, or folders of them) into episodes.

    A log that cannot be used hides no other: the rest is read, and the command ends with 1.
    """
    # With --output no memory is touched, so none is needed: its root then stands for nothing.
    memory = memory_at(output) if output else open_memory()
    with progress("Reading logs") as advance:
        report = memory.extract(logs, output=output, force=force, format=log_format, progress=advance)
    for warning in (f"{one.log}: {warning}" for one in report.recorded for warning in one.warnings):
        complain(warning)
    for failure in report.failed:
        complain(failure.problem)
    for kept_out in report.left_out:
        complain(f"{kept_out.log}: {kept_out.problem}")
    show(report, as_json=as_json, render=_render_report)
    return 1 if report.failed else 0


def _render_report(report: ExtractReport) -> None:
    done = [one for one in report.recorded if one.change != "unchanged"]
    if done:
        rows = [(one.session, one.outcome, str(one.decisions), str(one.events), one.change) for one in done]
        table(("session", "outcome", "decisions", "events", ""), rows)
    render_counts(report)
    if done:
        say("Next: helix-graph compile")


def render_counts(report: ExtractReport) -> None:
    """Print how many logs came to what."""
    say(
        f"{count(len(report.written), 'episode')} written, {len(report.updated)} updated, "
        f"{len(report.unchanged)} unchanged, {count(len(report.failed), 'log')} failed"
        + (f", {len(report.left_out)} left out." if report.left_out else ".")
    )


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
    show([plain(one) for one in found] if as_json else found, as_json=as_json, render=_render_list)
    if not as_json and (total := episodes.count(outcome, since, task=task)) > len(found):
        say(f"The newest {len(found)} of {count(total, 'episode')}; --max-results shows up to 100.")


def _render_list(found: Sequence[Episode]) -> None:
    if not found:
        say("No such episode.")
        return
    rows = [
        ((one.timestamp or "")[:10], one.session, one.outcome, one.outcome_basis, str(len(one.decisions)), one.task)
        for one in found
    ]
    table(("date", "session", "outcome", "basis", "decisions", "task"), rows)


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


for command in (new, decisions, outcome, correct):
    episode.add_command(command)
