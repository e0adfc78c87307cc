"""``repeats``: do we repeat our mistakes?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, percent, say, show, table

if TYPE_CHECKING:
    from helix_graph.causality.repeats import Count, Repeats


@click.command
@json_option
def repeats(*, as_json: bool) -> None:
    """Show how many of the errors met had been met, and fixed, in an earlier session; by level and month."""
    show(open_memory().causality.repeats(), as_json=as_json, render=_render)


def _render(found: Repeats) -> None:
    total = found.total
    if not total.errors:
        say("No session with a date met an error.")
        return
    known = sum(total.fixed.values())
    say(
        f"Of {count(total.errors, 'error')} met, {sum(total.met.values())} had been met in an earlier session, and "
        f"{known} ({percent(known / total.errors)}) had been fixed there."
    )
    say()
    rows = [_row(month, one) for month, one in found.months.items()]
    table(("month", "errors", *(f"{what} ({level})" for what in ("met", "fixed") for level in total.met)), rows)
    if found.undated:
        say()
        say(f"{count(found.undated, 'session')} without a date could not be put in order and is not in these counts.")


def _row(month: str, one: Count) -> tuple[str, ...]:
    return month, str(one.errors), *map(str, one.met.values()), *map(str, one.fixed.values())
