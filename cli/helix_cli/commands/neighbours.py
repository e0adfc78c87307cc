"""``causes`` and ``effects``: what leads to a thing, and what it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import say, show, table
from helix_cli.terminal.pieces import strong

if TYPE_CHECKING:
    from helix_graph.graph.relations import Relation, RelationsAnswer


@click.command
@click.argument("label")
@json_option
def causes(*, label: str, as_json: bool) -> None:
    """Show what leads straight to LABEL, a part of a label in any case."""
    show(open_memory().graph.causes(label), as_json=as_json, render=render_causes)


@click.command
@click.argument("label")
@json_option
def effects(*, label: str, as_json: bool) -> None:
    """Show what LABEL, a part of a label in any case, leads straight to."""
    show(open_memory().graph.effects(label), as_json=as_json, render=render_effects)


def render_causes(answer: RelationsAnswer) -> None:
    """Print what leads to a label."""
    _render(answer, "Nothing leads to it.", "what leads to it")


def render_effects(answer: RelationsAnswer) -> None:
    """Print what a label leads to."""
    _render(answer, "It leads to nothing.", "what it leads to")


def _render(answer: RelationsAnswer, nothing: str, heading: str) -> None:
    if not answer.found:
        say(f"{answer.error}.")
    for place, group in enumerate(answer.groups):
        if place:
            say()
        say(strong(group.node.label), f" ({group.node.type}, {group.node.frequency} times)")
        if group.relations:
            table(
                ("edge", "weight", "reasons", "episodes", heading),
                [_row(one) for one in group.relations],
                numbers=("weight", "episodes"),
            )
        else:
            say(nothing)


def _row(one: Relation) -> tuple[str, ...]:
    return one.type, f"{one.weight:.2f}", ", ".join(one.reasons), str(one.evidence_count), one.node.label
