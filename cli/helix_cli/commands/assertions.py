"""``node``, ``edge`` and ``pattern``: what people add to the graph by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, percent, say, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]


@click.group
def node() -> None:
    """Add nodes to the graph by hand."""


@node.command("add")
@click.option("--type", "kind", required=True, metavar="TYPE", help="decision, event, outcome, pattern or error.")
@click.option("--label", required=True, metavar="TEXT", help="What it is called.")
@click.option("--episode", metavar="EPISODE", help="The episode that mentions it: then a repeated call counts once.")
@json_option
def add_node(*, kind: str, label: str, episode: str | None, as_json: bool) -> None:
    """Add a node, or count it once more when there is one of that type and label."""
    row = open_memory().graph.add_causal_node(kind, label, episode)
    show(row, as_json=as_json, render=_render_node)


def _render_node(row: Row) -> None:
    say(f"{row['id']}  {row['type']}  {row['label']}")
    say(f"counted {row['frequency']} x, in {count(len(row['episodes']), 'episode')}")


@click.group
def edge() -> None:
    """Add edges to the graph by hand."""


@edge.command("add")
@click.option("--source", required=True, metavar="NODE", help="Where it begins: a node's id or its whole label.")
@click.option("--target", required=True, metavar="NODE", help="Where it ends: the same.")
@click.option("--type", "kind", required=True, metavar="TYPE", help="causes, enables, prevents or correlates.")
@click.option("--weight", type=float, default=0.5, show_default=True, help="How sure you are, 0 to 1.")
@json_option
def add_edge(*, source: str, target: str, kind: str, weight: float, as_json: bool) -> None:
    """Add an edge between two nodes, or one more piece of evidence for the one there is."""
    row = open_memory().graph.add_causal_edge(source, target, kind, weight)
    show(row, as_json=as_json, render=_render_edge)


def _render_edge(row: Row) -> None:
    say(f"{row['source']} -{row['type']}-> {row['target']}")
    say(f"weight {row['weight']:.2f} over {row['evidence_count']} pieces of evidence ({', '.join(row['reasons'])})")


@click.group
def pattern() -> None:
    """Add patterns by hand."""


@pattern.command("add")
@click.option("--name", required=True, metavar="TEXT", help="What it is called: the same name is the same pattern.")
@click.option("--trigger", required=True, metavar="TEXT", help="The situation.")
@click.option("--action", required=True, metavar="TEXT", help="What to do in it.")
@click.option("--description", default="", metavar="TEXT", help="More about it.")
@click.option("--success-rate", type=float, help="How often it works, 0 to 1; without it the pattern is unmeasured.")
@json_option
def add_pattern(
    *, name: str, trigger: str, action: str, description: str, success_rate: float | None, as_json: bool
) -> None:
    """Add a pattern, or count one more use of it when there is one of that name."""
    row = open_memory().graph.add_pattern(name, trigger, action, description, success_rate)
    show(row, as_json=as_json, render=_render_pattern)


def _render_pattern(row: Row) -> None:
    say(f"{row['name']}: on {row['trigger']}, {row['action']}")
    rate = percent(row["success_rate"]) if row["measured"] else "not measured"
    say(f"used {row['occurrences']} x, success {rate}")
