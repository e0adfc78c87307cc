"""``highlights``: what stands out in the memory, each sentence with the way to its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.output import json_option, say, show, with_note
from helix_cli.terminal import quiet
from helix_graph.trust import note_of_shared

if TYPE_CHECKING:
    from helix_graph.highlights.model import Highlights


def render_highlights(found: Highlights, *, evidence: bool = False) -> None:
    """Print one sentence a line with the command that shows its evidence, and with ``evidence`` places in the logs."""
    if not found.found:
        say(f"Nothing stands out in {found.sessions} sessions.")
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
