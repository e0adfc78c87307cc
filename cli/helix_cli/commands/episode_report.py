"""What became of logs that were read: a table of the episodes, a line of counts, and complaints on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_cli.commands.extract_view import render_cuts, render_lines, render_places
from helix_cli.output import complain, count, say, table
from helix_cli.terminal.pieces import verdict

if TYPE_CHECKING:
    from helix_episodes.recording import ExtractReport


def complain_of(report: ExtractReport, *, verbose: bool = False) -> None:
    """Say on stderr which lines and logs could not be used, and what was kept out.

    With ``verbose`` also why each format declined a log that is of none.
    """
    for warning in (f"{one.log}: {warning}" for one in report.recorded for warning in one.warnings):
        complain(warning)
    for failure in report.failed:
        complain(failure.problem)
        for reason in failure.reasons if verbose else ():
            complain(f"  {reason}")
    for kept_out in report.left_out:
        complain(f"{kept_out.log}: {kept_out.problem}")


def render_report(report: ExtractReport, *, verbose: bool = False) -> None:
    """Print the episodes that are new or have changed, the counts, and what to do next.

    With ``verbose`` also what became of every line of each log, and where something was cut.
    """
    if render_changes(report, verbose=verbose):
        say("Next: helix-graph compile")


def render_changes(report: ExtractReport, *, verbose: bool = False) -> bool:
    """Print the episodes that are new or have changed, and the counts; whether there are any."""
    done = [one for one in report.recorded if one.change != "unchanged"]
    if done:
        rows = [(one.session, verdict(one.outcome), str(one.decisions), str(one.events), one.change) for one in done]
        table(("session", "outcome", "decisions", "events", ""), rows, numbers=("decisions", "events"))
    if verbose:
        render_lines(report.recorded)
        render_places(report.recorded)
    render_counts(report)
    render_cuts(done)
    return bool(done)


def render_counts(report: ExtractReport, *, unchanged: int = 0) -> None:
    """Print how many logs came to what; ``unchanged`` are those that did not have to be read."""
    say(
        f"{count(len(report.written), 'episode')} written, {len(report.updated)} updated, "
        f"{len(report.unchanged) + unchanged} unchanged, {count(len(report.failed), 'log')} failed"
        + (f", {len(report.left_out)} left out." if report.left_out else ".")
    )
