"""``insight decay``, ``prune``, ``health``, ``consolidate``, ``reindex``, ``rebuild``: looking after insights."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from helix_cli.insight_command import insight_command
from helix_cli.output import count, fields, percent, say
from helix_cli.terminal.characters import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_graph.insights.door import Insights
    from helix_graph.insights.upkeep import Consolidated, Decayed, Pruned, Rebuilt, Reindexed


def _render_decayed(answer: Decayed) -> None:
    moved = count(answer["decayed"], "insight")
    say(f"{moved} moved towards neutral, unused for {answer['threshold_days']} days or more.")


@insight_command("decay", render=_render_decayed)
@click.option("--days", type=int, default=30, show_default=True, help="One step for each so many idle days.")
def decay(insights: Insights, *, days: int) -> Decayed:
    """Move insights that nobody uses back towards neutral, by the time that has passed."""
    return insights.decay(days)


def _render_pruned(answer: Pruned) -> None:
    for name in answer["candidates"]:
        say(name)
    done = "would be removed; --yes removes" if answer["dry_run"] else "removed"
    say(f"{count(len(answer['candidates']), 'insight')} {done}, {answer['remaining']} there are.")


@insight_command("prune", render=_render_pruned)
@click.option("--threshold", type=float, default=0.25, show_default=True, help="Below this effectiveness ...")
@click.option("--min-uses", type=int, default=3, show_default=True, help="... after so many uses or more.")
@click.option("--yes", is_flag=True, help="Remove them. Otherwise they are shown, and a terminal is asked.")
def prune(insights: Insights, *, threshold: float, min_uses: int, yes: bool) -> Pruned:
    """Remove what has been consistently unhelpful; what a person provided stays."""
    shown = insights.prune(threshold, min_uses, yes=yes)
    if yes or not shown["candidates"] or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return shown
    for name in shown["candidates"]:
        click.echo(clean(name), err=True)
    agreed = click.confirm(f"Remove {count(len(shown['candidates']), 'insight')}?", err=True)
    return insights.prune(threshold, min_uses, yes=True) if agreed else shown


def render_health(answer: Mapping[str, Any]) -> None:
    """Print the figures, the tags and what is missing."""
    rows = [(name, value) for name, value in answer.items() if name not in {"by_tag", "issues"}]
    fields([(name, str(value)) for name, value in rows])
    for tag, number in answer["by_tag"].items():
        say(f"  {tag}  {number}")
    for issue in answer["issues"]:
        say(f"! {issue}")


@insight_command("health", render=render_health)
def health(insights: Insights) -> dict[str, Any]:
    """Show how the memory of insights does."""
    return insights.health()


def _render_consolidated(answer: Consolidated) -> None:
    for pair in answer["pairs"]:
        say(f"{pair['merged']} -> {pair['kept']}  ({percent(pair['cosine'])} alike)")
    say(f"{count(answer['merged'], 'insight')} merged, {answer['remaining']} remain.")


@insight_command("consolidate", render=_render_consolidated)
@click.option("--threshold", type=float, help="From this cosine on two say the same (default 0.9).")
def consolidate(insights: Insights, *, threshold: float | None) -> Consolidated:
    """Merge insights that say the same."""
    return insights.consolidate(threshold)


def _render_reindexed(answer: Reindexed) -> None:
    say(f"{count(answer['embedded'], 'text')} embedded with {answer['model'] or 'no model, for there is none'}.")
    if answer["without_vector"]:
        say(f"{answer['without_vector']} of {answer['total']} have no vector.")


@insight_command("reindex", render=_render_reindexed)
def reindex(insights: Insights) -> Reindexed:
    """Embed what has no vector of the model at hand, and make the index of words anew."""
    return insights.reindex()


def _render_rebuilt(answer: Rebuilt) -> None:
    entries = "1 entry" if answer["entries"] == 1 else f"{answer['entries']} entries"
    say(f"Folded {entries} over {count(answer['insights'], 'insight')}: {answer['changed']} came out otherwise.")


@insight_command("rebuild", render=_render_rebuilt)
def rebuild(insights: Insights) -> Rebuilt:
    """Work out every effectiveness and count anew from the log of feedback."""
    return insights.rebuild()
