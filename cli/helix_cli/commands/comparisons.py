"""``comparisons``, ``claims``, ``without``, ``placebo``: what many sessions say together, and how far to trust it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.caveats import NOT_TESTED, span
from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import complain, count, fields, percent, points, say, show, table
from helix_cli.terminal.pieces import Part, verdict
from helix_graph.causality.model import NOTHING_TO_COMPARE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.causality.chance import Placebo
    from helix_graph.causality.claims import Claim, ClaimReport
    from helix_graph.causality.model import Effect, EffectReport
    from helix_graph.causality.without import Rate, Without

_STATUSES = ("supported", "contradicted", "asserted")
_ROWS_SHOWN = 20
_COLUMNS = ("adjusted", "range", "q", "with", "without", "in the situation", "doing", "says")
_CLAIM_COLUMNS = ("status", "said in", "adjusted", "range", "q", "from", "logs say", "to")


@click.command
@json_option
def comparisons(*, as_json: bool) -> None:
    """Show what goes with success and failure once like tasks are compared, the most striking first."""
    show(open_memory().causality.comparisons(), as_json=as_json, render=_render_report)


@click.command
@click.option("--status", type=click.Choice(_STATUSES), help="Only edges of this status.")
@json_option
def claims(*, status: str | None, as_json: bool) -> None:
    """Show the edges that logs assert, held against what happens over all sessions."""
    found = open_memory().causality.claims(status=status)
    show(found, as_json=as_json, render=lambda report: _render_claims(report, status=status))


@click.command
@click.argument("label")
@json_option
def without(*, label: str, as_json: bool) -> None:
    """Show what follows in comparable sessions when something is not done."""
    show(open_memory().causality.without(label), as_json=as_json, render=_render_without)


@click.command
@click.option("--rounds", type=int, default=20, show_default=True, help="How often to shuffle, 1 to 1000.")
@json_option
def placebo(*, rounds: int, as_json: bool) -> None:
    """Show how much would be found if nothing mattered: outcomes shuffled within kinds of task."""
    show(open_memory().causality.placebo(rounds=rounds), as_json=as_json, render=_render_placebo)


def _render_report(found: EffectReport) -> None:
    if found.too_early:
        say(f"Too early: {found.too_early}.")
    elif not found.effects:
        say(f"Nothing to compare: {NOTHING_TO_COMPARE}.")
    if not found.effects:
        return
    shown = found.effects[:_ROWS_SHOWN]
    table(_COLUMNS, [_row(one) for one in shown], numbers=_COLUMNS[:5])
    say()
    say(
        f"{count(found.tested, 'comparison')} over {count(found.trials, 'judged session')}; adjusted: points of "
        "success with it less without, among like tasks after like steps; range: at 95 %, wider where associated. "
        f"{NOT_TESTED} A sequence mostly repeats the row of its action."
    )
    left = len(found.effects) - len(shown)
    if left > 0:
        complain(f"{count(left, 'more comparison')}; --json has all")


def _row(one: Effect) -> tuple[Part, ...]:
    with_it, without_it = f"{one.successes} of {one.uses}", f"{one.successes_of_others} of {one.others}"
    return (
        points(one.difference),
        span(one.interval),
        f"{one.q:.2f}",
        with_it,
        without_it,
        one.trigger,
        one.action,
        verdict(one.verdict),
    )


def _render_claims(found: ClaimReport, *, status: str | None) -> None:
    shown = found.claims[:_ROWS_SHOWN]
    if shown:
        table(_CLAIM_COLUMNS, [_claim_row(one) for one in shown], numbers=_CLAIM_COLUMNS[1:5])
    else:
        say(f"None that is {status}." if status else "None that could be looked at.")
    say()
    for line in _claim_notes(found):
        say(line)
    left = len(found.claims) - len(shown)
    if left > 0:
        complain(f"{count(left, 'more edge')}; --json has all, --status chooses")


def _claim_row(one: Claim) -> tuple[Part, ...]:
    adjusted, spread, q = "-", "-", "-"
    if one.effect:
        adjusted, spread, q = points(one.effect.difference), span(one.effect.interval), f"{one.effect.q:.2f}"
    return verdict(one.status), count(one.episodes, "session"), adjusted, spread, q, one.source, one.type, one.target


def _claim_notes(found: ClaimReport) -> Iterator[str]:
    """What was compared, what the statuses do not mean, and what was not looked at."""
    if found.too_early:
        yield f"Too early to compare: {found.too_early}."
    else:
        yield (
            f"{count(found.tested, 'edge')} compared over {count(found.sessions, 'session')}; adjusted: points by "
            "which the second is met more often with the first than without, among like tasks after like steps. "
            f"{NOT_TESTED} Supported: the sessions agree with what the logs say, and no more."
        )
    for reason, number in found.left_out.items():
        yield f"Not looked at: {count(number, 'edge')} {reason}."


def _render_without(found: Without) -> None:
    alike = (
        "-" if found.comparable is None else f"{percent(found.comparable)} (over {count(found.compared, 'session')})"
    )
    rows = [
        ("step", found.label),
        ("sessions with it", _rate(found.with_it)),
        ("sessions without it", _rate(found.without_it)),
        ("… on the same mix of tasks", alike),
    ]
    if found.effect:
        adjusted = f"{points(found.effect.difference)} ({span(found.effect.interval)}), {found.effect.verdict}"
        rows.append(("adjusted difference", adjusted))
    fields(rows)
    if found.alternatives:
        say()
        table(
            ("succeeded", "answer instead", "to", "success means"),
            [(_rate(one.rate), one.action, one.trigger, one.basis) for one in found.alternatives[:_ROWS_SHOWN]],
        )


def _rate(rate: Rate) -> str:
    if not rate.sessions:
        return "none judged"
    share = rate.successes / rate.sessions
    interval = f"{percent(rate.interval.low)} to {percent(rate.interval.high)}"
    return f"{rate.successes} of {rate.sessions} ({percent(share)}, {interval})"


def _render_placebo(found: Placebo) -> None:
    if found.too_early:
        say(f"Too early: {found.too_early}.")
    elif not found.tested:
        say(f"Nothing to compare: {NOTHING_TO_COMPARE}.")
    if not found.tested:
        return
    shuffles = f"on average over {count(found.rounds, 'shuffle')}"
    table(
        ("rule", "with the real outcomes", f"with shuffled ones, {shuffles}"),
        [
            ("adjusted comparisons, q at most 0.10", str(found.found), f"{found.found_in_noise:.1f}"),
            ("plain success rate at most 30 %", str(found.plain), f"{found.plain_in_noise:.1f}"),
        ],
    )
    say()
    say(
        f"{count(found.tested, 'comparison')} over {count(found.trials, 'judged session')}. Shuffled outcomes have "
        "nothing to do with what was done; the adjusted rule found anything in "
        f"{percent(found.any_in_noise)} of the shuffles."
    )
