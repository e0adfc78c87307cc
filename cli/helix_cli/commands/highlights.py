"""``highlights``: what stands out in the memory, each sentence with the way to its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question
from helix_cli.output import json_option, say, show
from helix_cli.terminal import quiet

if TYPE_CHECKING:
    from helix_graph.highlights import Highlights


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
    """Show what stands out, each sentence with the way to its evidence."""
    found = open_for_question().highlights()
    show(found, as_json=as_json, render=lambda answer: render_highlights(answer, evidence=evidence))
