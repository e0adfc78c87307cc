"""``insight harvest``, ``link``, ``match``, ``uplift``: insights from episodes, tied to the graph, what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.insight_command import insight_command
from helix_cli.options import moment
from helix_cli.output import count, say, table

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.insights.anchoring import Linked
    from helix_graph.insights.door import Insights
    from helix_graph.insights.harvesting import Harvest
    from helix_graph.insights.uplift import Uplift, UpliftReport


def _render_harvest(answer: Harvest) -> None:
    for name in answer["added"]:
        say(name)
    taught = f"{count(answer['lessons'], 'lesson')}, {answer['fixes']} verified fixes"
    read = f"{count(answer['episodes'], 'episode')}: {taught}"
    done = "would be added" if answer["dry_run"] else "added"
    say(f"{read}. {len(answer['added'])} {done}, {answer['known']} known, {answer['taken_in']} told already.")
    say(f"{count(answer['links'], 'link')}, {answer['merged']} merged, {answer['kept_out']} kept out.")


@insight_command("harvest", render=_render_harvest)
@click.option("--episode", metavar="ID", help="Only this episode's.")
@click.option("--since", type=moment, metavar="TIME", help="Only of episodes that began then or later (ISO 8601).")
@click.option("--dry-run", is_flag=True, help="Say what would be added, and add nothing.")
def harvest(insights: Insights, *, episode: str | None, since: datetime | None, dry_run: bool) -> Harvest:
    """Make insights of the lessons and verified fixes of episodes, linked to where they come from."""
    return insights.harvest(episode, since=since, dry_run=dry_run)


def _render_linked(answer: Linked) -> None:
    to = answer["label"] or f"no node yet ({answer['type']}: {answer['text']})"
    how = f"{answer['origin']}, {answer['score']:.2f}"
    say(f"{answer['status']}  {answer['name']} -{answer['relation']}-> {to}  ({how})")


@insight_command("link", render=_render_linked)
@click.argument("name")
@click.option("--node-type", required=True, help="decision, event, error, outcome, pattern or episode.")
@click.option("--text", default="", help="The raw text of the step, or a label; nothing for a whole episode.")
@click.option("--episode", default="", metavar="ID", help="The episode that the step is in.")
@click.option("--relation", default="addresses", show_default=True, help="derived_from, addresses or prevents.")
def link(insights: Insights, *, name: str, node_type: str, text: str, episode: str, relation: str) -> Linked:
    """Tie an insight to a node of the graph by hand."""
    return insights.link(name, node_type, text, episode=episode, relation=relation)


def _render_matched(answer: list[Linked]) -> None:
    for one in answer:
        _render_linked(one)
    if not answer:
        say("No text speaks of a node, as far as labels and vectors tell.")


@insight_command("match", render=_render_matched)
@click.argument("name", required=False)
def match(insights: Insights, *, name: str | None) -> list[Linked]:
    """Tie insights (one, or all) to the nodes that their texts speak of, by label and by vector."""
    return insights.match(name)


def _render_uplift(answer: UpliftReport) -> None:
    say(f"{count(answer.measured, 'injection')} with a known outcome.")
    say(f"all together: {_told(answer.pooled)}")
    rows = [[one.insight or "", _told(one)] for one in answer.insights]
    if rows:
        table(["insight", "uplift"], rows)


def _told(one: Uplift) -> str:
    n = f"{one.given.n} given, {one.withheld.n} withheld"
    if one.difference is None or one.interval is None:
        return f"{one.verdict} ({n})"
    low, high = (f"{100 * end:+.0f}" for end in (one.interval.low, one.interval.high))
    return f"{one.verdict}: {100 * one.difference:+.0f} points ({low} to {high}; {n})"


@insight_command("uplift", render=_render_uplift)
def uplift(insights: Insights) -> UpliftReport:
    """Show what insights did, where chance decided who got them: all together first, then each."""
    return insights.uplift()
