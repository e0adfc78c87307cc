"""``highlights``, and ``helix-graph`` by itself: what stands out in the memory, each sentence with its evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.output import count, json_option, say, show, table, with_note
from helix_cli.terminal import quiet
from helix_graph.errors import GraphNotCompiled, NoMemory
from helix_graph.trust import note_of_shared

if TYPE_CHECKING:
    from helix_graph.first_look import Beginning, FirstLook
    from helix_graph.highlights.model import Highlights


def render_highlights(found: Highlights, *, evidence: bool = False) -> None:
    """Print one sentence a line with the command that shows its evidence, and with ``evidence`` places in the logs."""
    if not found.found:
        say(f"Nothing stands out in {count(found.sessions, 'session')}." if found.sessions else "No sessions yet.")
        return
    for number, one in enumerate(found.found, 1):
        say(f"{number}. {one.text}")
        say("   ", quiet(one.see))
        for place in one.evidence if evidence else ():
            where = ", ".join(filter(None, (place.session, place.log if place.log != f"{place.session}.jsonl" else "")))
            say("   ", quiet(f"{where}, line {place.line or '?'}"))


@click.command
@click.option("--evidence", is_flag=True, help="Also print log lines that each sentence rests on.")
@json_option
def highlights(*, evidence: bool, as_json: bool) -> None:
    """Show what stands out, with the evidence for each."""
    memory = open_for_question()
    note = note_of_shared(memory.root)

    def render(found: Highlights) -> None:
        render_highlights(found, evidence=evidence)

    show(memory.highlights(), as_json=as_json, render=with_note(render, note))


def show_beginning(context: click.Context) -> None:
    """Print what stands out in the memory; without a memory, what the logs on this machine would answer."""
    from helix_graph.first_look import beginning, first_look

    try:
        memory = open_for_question()
    except NoMemory:
        show(first_look(Path.cwd()), as_json=False, render=render_first_look)
        return
    try:
        show(beginning(memory), as_json=False, render=_render_beginning)
    except GraphNotCompiled:
        click.echo(context.get_help())


def _render_beginning(found: Beginning) -> None:
    render_highlights(found.highlights)
    if not found.sessions:
        return  # the next step is said on stderr
    if found.issue:
        from helix_cli.commands.issues import SHORT_ID, render_costliest

        render_costliest(found.issue, found.sessions, is_solved=True)
        say("  ", quiet(f"helix-graph issues show {found.issue.id[:SHORT_ID]}"))
    say()
    say("Next: helix-graph issues, helix-graph checks, helix-graph runbook; helix-graph --help lists the commands.")


def render_first_look(found: FirstLook) -> None:
    """Print what is on this machine, the costliest failure that recurs, and what to do next."""
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
        from helix_cli.commands.issues import render_costliest
        from helix_graph.first_look import is_solved

        render_costliest(found.issue, found.sessions, is_solved=is_solved(found.issue))
    say()
    say("Next: helix-graph sync keeps a memory of this project; helix-graph --help lists the commands.")


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f}"
