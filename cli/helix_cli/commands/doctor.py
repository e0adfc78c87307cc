"""``doctor``: what is wrong with the memory, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, say, show, table

if TYPE_CHECKING:
    from helix_graph.doctor.model import Examination, Finding


@click.command
@click.option("--fix", is_flag=True, help="Mend what can be mended.")
@json_option
def doctor(*, fix: bool, as_json: bool) -> int:
    """Find what is wrong with the memory, and how to mend it.

    Ends with 0 when nothing is wrong or everything was mended, with 1 otherwise.
    """
    found = open_memory().doctor(fix=fix)
    show(found, as_json=as_json, render=_render)
    return 0 if found.healthy else 1


def _render(found: Examination) -> None:
    if found.findings:
        table(("what", "file", "problem", "remedy"), [_row(one) for one in found.findings])
    faults = [one for one in found.findings if one.severity == "fault"]
    mended = sum(one.mended for one in faults)
    notes = count(len(found.findings) - len(faults), "note")
    say(f"{count(len(faults), 'fault')}, {mended} mended, {notes}." if found.findings else "Nothing is wrong.")


def _row(one: Finding) -> tuple[str, str, str, str]:
    return one.kind, one.file, one.problem, "mended" if one.mended else one.remedy
