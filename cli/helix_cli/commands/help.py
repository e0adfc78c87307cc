"""``help``, and ``helix-graph`` by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import EVERY_COMMAND
from helix_cli.output import count, say, show, table
from helix_cli.terminal import strong
from helix_graph.errors import GraphNotCompiled, NoMemory

if TYPE_CHECKING:
    from helix_graph.first_look import FirstLook
    from helix_graph.highlights.model import Highlights
    from helix_graph.issues.model import Issue


@click.command("help")
@click.argument("command", nargs=-1)
@click.option("--all", "every", is_flag=True, help="List every command.")
def help_command(*, command: tuple[str, ...], every: bool) -> None:
    """Show the help of a command, or of every command."""
    context = click.get_current_context().find_root()
    found: click.Command = context.command
    for name in command:
        if not isinstance(found, click.Group):
            raise click.UsageError(f"{context.info_name} has no commands of its own")
        _, below, _ = found.resolve_command(context, [name])
        if below is None:
            raise click.UsageError(f"No such command {name!r}.")
        context = click.Context(below, info_name=name, parent=context)
        found = below
    context.meta[EVERY_COMMAND] = every
    click.echo(found.get_help(context))


def show_beginning(context: click.Context) -> None:
    """Print what stands out in the memory; where there is none yet, what the logs on this machine would answer."""
    try:
        memory = open_for_question()
    except NoMemory:
        from helix_graph.first_look import first_look

        show(first_look(Path.cwd()), as_json=False, render=render_first_look)
        return
    try:
        show(memory.highlights(), as_json=False, render=_render_beginning)
    except GraphNotCompiled:
        click.echo(context.get_help())


def _render_beginning(found: Highlights) -> None:
    from helix_cli.commands.highlights import render_highlights

    render_highlights(found)
    say()
    say("Next: helix-graph issues, helix-graph checks, helix-graph runbook; helix-graph --help lists the commands.")


def render_first_look(found: FirstLook) -> None:
    """Print what is on this machine, the failure that recurs most, and what to do next."""
    if not found.agents:
        say("No session logs of any coding agent were found on this machine.")
        say("Next: helix-graph demo shows an example; helix-graph --help lists the commands.")
        return
    say("This project has no memory yet. Nothing has been written.")
    rows = [(one.agent, str(one.logs), str(one.here), _megabytes(one.bytes)) for one in found.agents]
    table(("agent", "logs", "of this project", "MB"), rows, numbers=("logs", "of this project", "MB"))
    say()
    whose = "of all projects (none is of this one)" if found.elsewhere else "of this project"
    say(f"Read for now: the newest {count(found.read, 'log')} {whose}, {_megabytes(found.read_bytes)} MB.")
    if found.issue is None:
        say("No failure occurs in more than one of these sessions.")
    else:
        _render_issue(found.issue, found.sessions)
    say()
    say("Next: helix-graph sync keeps a memory of this project; helix-graph --help lists the commands.")


def _render_issue(issue: Issue, sessions: int) -> None:
    from helix_graph.issues.model import remedy_words

    say()
    say("A failure that recurs: ", strong(issue.title))
    minutes = f", {issue.minutes:.0f} minutes" if issue.minutes else ""
    say(f"  {count(issue.occurrences, 'time')} in {issue.sessions} of {count(sessions, 'session')}{minutes}")
    if issue.message:
        say(f"  {issue.message}")
    if issue.remedy:
        say(f"  repaired by: {remedy_words(issue.remedy)}")


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f}"
