"""``repeats``: do we repeat our mistakes?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, percent, say, show, table

if TYPE_CHECKING:
    from helix_graph.causality.repeats import Count, Repeats

_COLUMNS = ("month", "errors", "same line", "fixed", "same kind", "fixed", "same check only")


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
    say(
        f"Of {count(total.errors, 'error')} met, {total.met_again} ({percent(total.met_again / total.errors)}) had "
        f"been met in an earlier session as the same line or kind; {total.fixed_before} of these had been fixed there. "
        f"Of {total.met['check']} more nothing but the check was the same, which had failed before."
    )
    say()
    table(_COLUMNS, [_row(month, one) for month, one in found.months.items()], numbers=_COLUMNS[1:])
    if found.undated:
        are = "is" if found.undated == 1 else "are"
        say()
        say(f"{count(found.undated, 'session')} without a date {are} not in these counts.")


def _row(month: str, one: Count) -> tuple[str, ...]:
    met, fixed = one.met, one.fixed
    numbers = one.errors, met["exact"], fixed["exact"], met["family"], fixed["family"], met["check"]
    return month, *map(str, numbers)
