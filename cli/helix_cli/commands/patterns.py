"""``patterns`` and ``anti-patterns``: what works, and what keeps failing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import percent, say, show, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.causality.patterns import Pattern


@click.command
@click.option("--min-success-rate", type=float, default=0.0, show_default=True, help="From 0 to 1.")
@click.option("--min-occurrences", type=int, default=1, show_default=True, help="From 1 to 1000 episodes.")
@json_option
def patterns(*, min_success_rate: float, min_occurrences: int, as_json: bool) -> None:
    """Show what was done in which situation and how often it succeeded, best first."""
    causality = open_memory().causality
    found = causality.patterns(min_success_rate=min_success_rate, min_occurrences=min_occurrences)
    show(found, as_json=as_json, render=render_patterns)


@click.command("anti-patterns")
@click.option("--max-success-rate", type=float, default=0.3, show_default=True, help="From 0 to 1.")
@json_option
def anti_patterns(*, max_success_rate: float, as_json: bool) -> None:
    """Show what was done in two episodes or more and seldom succeeded, worst first."""
    found = open_memory().causality.anti_patterns(max_success_rate=max_success_rate)
    show(found, as_json=as_json, render=render_patterns)


def render_patterns(found: Sequence[Pattern]) -> None:
    """Print one row per pattern: its counts first, then what they are about."""
    if not found:
        say("None yet.")
        return
    table(
        ("succeeded", "rate", "95 %", "without it", "in the situation", "doing", "success means"),
        [_row(one) for one in found],
    )
    if any(one.too_early for one in found):
        say()
        say("too early: fewer than 10 uses; the counts are true, a rate would promise more than they hold.")


def _row(one: Pattern) -> tuple[str, ...]:
    if one.interval is None:  # told by a person: there is nothing to count
        rate = percent(one.success_rate) if one.measured else "not measured"
        return f"told {one.occurrences} x", rate, "-", "-", one.trigger, one.action, one.basis
    interval = f"{one.interval.low:.0%}-{one.interval.high:.0%}".replace("%-", "-").replace("%", " %")
    rate, spread = ("too early", "-") if one.too_early else (percent(one.success_rate), interval)
    without = f"{percent(one.base_rate)} of {one.base_n}" if one.base_n else "-"
    return f"{one.successes} of {one.occurrences}", rate, spread, without, one.trigger, one.action, one.basis
