"""``insight neighbors``, ``relate``, ``connected``, ``chunk``: what belongs together, and what worked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from helix_cli.commands.insight_primitives import render_stored
from helix_cli.insight_command import insight_command
from helix_cli.output import say, table

if TYPE_CHECKING:
    from helix_graph.insights.door import Insights
    from helix_graph.insights.links import Related
    from helix_graph.insights.store import Stored

    Hits = list[dict[str, Any]]


def _render_neighbors(answer: Hits) -> None:
    rows = [[hit["_relation"], f"{hit['_score']:.2f}", hit["name"], hit["content"]] for hit in answer]
    table(["relation", "score", "name", "content"], rows, numbers=("score",)) if rows else say(
        "Nothing stands beside it."
    )


@insight_command("neighbors", render=_render_neighbors)
@click.argument("name")
@click.option("--limit", type=int, default=5, show_default=True, help="At most so many.")
def neighbors(insights: Insights, *, name: str, limit: int) -> Hits:
    """Show what an insight is linked with, and what is most like it."""
    return insights.neighbors(name, limit)


def render_related(answer: Related) -> None:
    """Print what became of a link."""
    link = f"{answer['from_name']} -{answer['rel_type']}-> {answer['to_name']}"
    say("  ".join(part for part in (answer["status"], link, answer["reason"]) if part))


@insight_command("relate", render=render_related)
@click.argument("from_name")
@click.argument("to_name")
@click.option(
    "--rel-type", "--type", "rel_type", default="similar", show_default=True,
    help="similar, led_to, co_occurs, causes or solves.",
)  # fmt: skip
@click.option("--weight", type=float, default=1.0, show_default=True, help="How sure you are, 0 to 1.")
def relate(insights: Insights, *, from_name: str, to_name: str, rel_type: str, weight: float) -> Related:
    """Link one insight to another."""
    return insights.relate(from_name, to_name, rel_type, weight)


def _render_connected(answer: Hits) -> None:
    rows = [[str(hit["_hop"]), hit["_via"], hit["_relation"], hit["name"]] for hit in answer]
    table(["hop", "via", "relation", "name"], rows, numbers=("hop",)) if rows else say("It is linked with nothing.")


@insight_command("connected", render=_render_connected)
@click.argument("name")
@click.option("--max-hops", type=int, default=2, show_default=True, help="Follow so many links at most.")
def connected(insights: Insights, *, name: str, max_hops: int) -> Hits:
    """Show what links lead to from an insight, in either direction."""
    return insights.connected(name, max_hops)


@insight_command("chunk", render=render_stored)
@click.option("--task-objective", required=True, metavar="TEXT", help="What was to be done.")
@click.option("--outcome", required=True, metavar="TEXT", help="How it went; only what begins with success is kept.")
@click.option("--approach", required=True, metavar="TEXT", help="How it was done.")
@click.option("--source", default="chunked", show_default=True, help="Where it comes from.")
def chunk(insights: Insights, *, task_objective: str, outcome: str, approach: str, source: str) -> Stored:
    """Remember the approach by which a task succeeded."""
    return insights.chunk(task_objective, outcome, approach, source)
