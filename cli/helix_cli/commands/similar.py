"""``similar``: what was decided before in such a situation?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, say, show

if TYPE_CHECKING:
    from helix_graph.causality.similar import Similar
    from helix_graph.graph.decided import Decided


@click.command
@click.argument("text")
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="At most so many decisions.")
@json_option
def similar(*, text: str, limit: int, as_json: bool) -> None:
    """Show what was decided before in a situation that is told in these words, and how it came out."""
    show(open_memory().causality.similar(text, limit=limit), as_json=as_json, render=render_similar)


def render_similar(found: Similar) -> None:
    """Print earlier decisions, each with its reason, its session and what became of it."""
    if not found.decisions:
        say(f"No decision has one of these words: {', '.join(found.looked_for)}.")
        return
    for one in found.decisions:
        _render_decision(one)
        say()
    if found.not_met:
        say(f"In none of these: {', '.join(found.not_met)}.")
    left = found.sessions - len(found.decisions)
    if left > 0:
        say(f"{count(left, 'more session')} with a decision that has one of the words.")
    say(f"What this compares: {found.compares}.")


def _render_decision(one: Decided) -> None:
    day = (one.date or "time not known")[:10]
    say(f"{day}  {one.chosen or one.label}  (the session: {_outcome(one)})")
    if one.context:
        say(f"  when: {one.context}")
    if one.rationale:
        say(f"  why: {one.rationale}")
    say(f"  in {one.session}, line {one.line or '?'}: {one.task}")
    say(f"  words: {', '.join(one.words)}" + (f"; {count(one.others, 'more decision')} there" if one.others else ""))


def _outcome(one: Decided) -> str:
    """How the session came out by whom or what, and the decision where the log tells."""
    own = "" if one.decision_outcome in {None, "unknown"} else f"; the decision: {one.decision_outcome}"
    return (one.outcome if one.basis == "none" else f"{one.outcome}, {one.basis}") + own
