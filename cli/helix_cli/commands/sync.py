"""``sync``: one command that brings the memory up to date, and creates it if needed."""

from __future__ import annotations

from pathlib import Path
from stat import S_IWOTH
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_memory
from helix_cli.commands.extraction_report import redacted, require_project, warn_about
from helix_cli.options import workers_option
from helix_cli.output import count, json_option, progress, say, show, warn
from helix_episodes.safe_files import home_folder
from helix_graph.errors import NoMemory
from helix_graph.insights.safe_quoting import logged_name_or_quoted
from helix_graph.project import FOLDER, project_folder

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.agent_logs import SyncReport
    from helix_graph.sharing.model import TeamReport


@click.command
@click.option("--project", metavar="NAME", help="Another project's logs, or any.")
@click.option(
    "--to",
    metavar="URL",
    is_flag=False,
    flag_value="",
    help="Exchange with the team's server (default HELIX_DATABASE).",
)
@click.option("--as", "team_project", metavar="NAME", help="The project's name there (default: its folder's).")
@click.option("--mine", is_flag=True, help="What you pushed there before becomes your own here.")
@workers_option
@json_option
def sync(
    *, project: str | None, to: str | None, team_project: str | None, mine: bool, workers: int | None, as_json: bool
) -> int:
    """Read new session logs and update the memory.

    Creates a memory for this project if it has none, reads its new logs of every agent on this machine, and updates the
    graph. Running it again changes nothing. The exit code is 1 when a log cannot be read.

    With --to, your episodes, insights and topics go to a team's server, without secrets, and what others have comes in
    as quotations. Keep the password in ~/.pgpass, or the URL in HELIX_DATABASE.

    With --mine, what you pushed counts as your own here from now on: edits and forgetting follow with each sync --to.
    A server admin could forge it.
    """
    if team_project is not None and to is None:
        raise click.UsageError("--as names the project on a team's server; give --to as well")
    if mine and to is None:
        raise click.UsageError("--mine takes back what a team's server has of yours; give --to as well")
    memory = _begun(asked=project is not None, to=to, team_project=team_project)
    with progress("Reading logs") as advance:
        report = memory.sync(
            project=project, to=to, team_project=team_project, mine=mine, progress=advance, workers=workers
        )
    warn_about(report.logs.report)
    require_project(project, report.logs)
    for skipped in (*report.graph.skipped, *report.graph.left_out):
        warn(f"{logged_name_or_quoted(str(skipped.path))}: left out: {skipped.problem}")
    team = report.team
    for problem in (*team.problems, *team.pulled.problems) if team else ():
        warn(f"{problem}; left out")
    for lost in team.other_machines.lost if team else ():
        warn(str(lost))
    show(report, as_json=as_json, render=render_sync)
    return 1 if report.logs.report.failed or report.graph.skipped or (team and team.problems) else 0


def _begun(*, asked: bool, to: str | None, team_project: str | None) -> Memory:
    """The memory, or a new one; in a folder that is nobody's project only where another project was ``asked`` for.

    A team's server is asked first: where it lets nobody in, no empty memory is left.
    """
    from helix_graph import Memory

    try:
        return open_memory()
    except NoMemory as none:
        here = Path.cwd()
        anybodys = here in {home_folder(), Path(here.anchor)} or here.stat().st_mode & S_IWOTH
        if project_folder(here) is None and anybodys and not asked:
            said = "this folder is not a project; go to one, or create a memory here with `helix-graph init`"
            raise click.UsageError(said) from None
        if to is not None:
            from helix_graph.sharing.team import check_server

            check_server(to, none.expected or here / FOLDER, project=team_project)
        memory = Memory.init()
        warn(f"Created a memory in {memory.root}.")
        return memory


def render_sync(report: SyncReport) -> None:
    """Print one line on what was read and how large the memory is, what a team's server got, and what to do next."""
    _render_logs(report)
    if report.team:
        _render_team(report.team)


def _render_team(team: TeamReport) -> None:
    pulled, others = team.pulled, team.other_machines
    if others.changed or others.forgotten:
        sessions = f" ({count(len(others.sessions), 'session')})" if others.sessions else ""
        taken = f"{others.changed} changed, {others.forgotten} forgotten{sessions}"
        say(f"From your other machines: {taken}; now so here too.")
    if others.waiting:
        one = f"{others.waiting} of yours {'was' if others.waiting == 1 else 'were'}"
        say(f"{one} changed or forgotten on another machine of yours; nothing was replaced here or there.")
        say("Next: helix-graph sync --to --mine makes it so here.")
    if team.may_write:
        said = f"{team.pushed} pushed, {team.unchanged} unchanged, {team.deleted} deleted"
    else:
        said = "nothing pushed (this role may only read)"
    kept = f"; {team.refused} stay deleted there" if team.refused else ""
    kept += f"; {team.taken_back} taken back as your own" if team.taken_back else ""
    lines = ((team.lines_pushed, "pushed"), (team.lines_taken_back, "taken back"))
    kept += "".join(f"; {count(number, 'line')} for you alone {done}" for number, done in lines if number)
    kept += f"; {team.missing} missing here and not forgotten stay there" if team.missing else ""
    say(
        f"Team project {team.project}, as {team.role}: {said}{kept}; {pulled.objects} pulled "
        f"({count(pulled.episodes, 'session')}), {pulled.deleted} removed here."
    )


def _render_logs(report: SyncReport) -> None:
    logs, graph = report.logs, report.graph
    read = logs.report
    sessions = graph.unchanged + graph.episodes_processed
    if not (sessions or graph.skipped or read.left_out or read.failed):
        looked = ", ".join(one.agent for one in logs.sources if one.found) or "none installed"
        say(f"No logs of this project were found (agents on this machine: {looked}).")
        if logs.elsewhere:
            say(f"{count(logs.elsewhere, 'log')} of other projects: helix-graph sync --project any reads them too.")
        say("Next: helix-graph episode sources shows where it looked; helix-graph demo shows an example.")
        return
    failed = f", {count(len(read.failed), 'log')} not readable" if read.failed else ""
    cut = redacted([one for one in read.recorded if one.change != "unchanged"])
    elsewhere = f"; {count(logs.elsewhere, 'log')} of other projects not read" if logs.elsewhere else ""
    say(
        f"{count(sessions, 'session')} in the memory: {len(read.written)} new, {len(read.updated)} updated{failed}"
        f"{elsewhere}" + (f"; redacted {cut}." if cut else ".")
    )
    if read.written or read.updated or graph.episodes_processed:
        say("Next: helix-graph shows what stands out; helix-graph issues, helix-graph seen, helix-graph --help")
