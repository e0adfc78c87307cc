"""``patterns`` and ``anti-patterns``: what works, and what keeps failing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.caveats import NOT_TESTED
from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, percent, points, say, show, table
from helix_cli.terminal.pieces import Part, verdict
from helix_graph.causality.model import NOTHING_TO_COMPARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.causality.door import Survey
    from helix_graph.causality.patterns import Pattern

_COLUMNS = (
    "says",
    "succeeded",
    "rate",
    "95 %",
    "without it",
    "adjusted",
    "q",
    "in the situation",
    "doing",
    "success means",
)
_NUMBERS = _COLUMNS[1:7]


@click.command
@click.option("--min-success-rate", type=float, default=0.0, show_default=True, help="From 0 to 1.")
@click.option("--min-occurrences", type=int, default=1, show_default=True, help="From 1 to 1000 episodes.")
@json_option
def patterns(*, min_success_rate: float, min_occurrences: int, as_json: bool) -> None:
    """Show what was done in which situation and how often it succeeded, best first."""
    survey = open_memory().causality.survey()
    found = survey.best(min_success_rate=min_success_rate, min_occurrences=min_occurrences)
    show(found, as_json=as_json, render=lambda rows: render_patterns(rows, survey))


@click.command("anti-patterns")
@click.option("--max-success-rate", type=float, default=0.3, show_default=True, help="From 0 to 1.")
@click.option(
    "--evidence",
    type=click.Choice(["associated"]),
    help="Only what goes with failure among like tasks after like steps.",
)
@json_option
def anti_patterns(*, max_success_rate: float, evidence: str | None, as_json: bool) -> None:
    """Show what was done in two episodes or more and seldom succeeded, worst first."""
    survey = open_memory().causality.survey()
    found = survey.worst(max_success_rate=max_success_rate, evidence=evidence)
    show(found, as_json=as_json, render=lambda rows: render_patterns(rows, survey))


def render_patterns(found: Sequence[Pattern], survey: Survey) -> None:
    """Print one row per pattern: what comparisons say of it, its counts, then what they are about."""
    if found:
        table(_COLUMNS, [_row(one) for one in found], numbers=_NUMBERS)
    else:
        say("None yet.")
    say()
    for line in _notes(found, survey):
        say(line)


def _notes(found: Sequence[Pattern], survey: Survey) -> list[str]:
    """What a reader has to know to read the rows right."""
    notes = [_compared(survey)]
    strengths = [one.effect.e_value for one in found if one.effect and one.standing == "associated"]
    weakest = min((each for each in strengths if each is not None), default=None)
    if strengths:
        enough = f" Tied to both by a risk ratio of {weakest:.1f}, it would explain the weakest row." if weakest else ""
        notes.append(f"{NOT_TESTED}{enough}")
    if any(one.too_early for one in found):
        notes.append("fewer than 10 uses: the counts are true, a rate would promise more than they hold.")
    return notes


def _compared(survey: Survey) -> str:
    if survey.too_early:
        return f"too early to compare: {survey.too_early}."
    if not survey.tested:
        return f"nothing to compare: {NOTHING_TO_COMPARE}."
    return (
        f"{count(survey.tested, 'comparison')} over {count(survey.compared, 'judged session')}; adjusted: points of "
        "success with it less without, among like tasks after like steps."
    )


def _row(one: Pattern) -> tuple[Part, ...]:
    if one.interval is None:  # told by a person: there is nothing to count
        rate = percent(one.success_rate) if one.measured else "not measured"
        counts = f"{one.occurrences} x"
        return verdict(one.standing), counts, rate, "-", "-", "-", "-", one.trigger, one.action, one.basis
    interval = f"{one.interval.low:.0%}-{one.interval.high:.0%}".replace("%-", "-").replace("%", " %")
    rate, spread = ("-", "-") if one.too_early else (percent(one.success_rate), interval)
    without = f"{percent(one.base_rate)} of {one.base_n}" if one.base_n else "-"
    counts = f"{one.successes} of {one.occurrences}"
    return verdict(one.standing), counts, rate, spread, without, *_adjusted(one), one.trigger, one.action, one.basis


def _adjusted(one: Pattern) -> tuple[str, str]:
    if one.effect is None:
        return "-", "-"
    low, high = points(one.effect.interval.low), points(one.effect.interval.high)
    return f"{points(one.effect.difference)} ({low} to {high})", f"{one.effect.q:.2f}"
