"""``insight edit``, ``reject``, ``mute``, ``forget``, ``why``, ``promote``: people have the last word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.commands.insight_primitives import render_insight
from helix_cli.insight_command import TextList, insight_command
from helix_cli.options import GivenPath
from helix_cli.output import count, percent, say, verbatim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_graph.insights.door import Insights
    from helix_graph.insights.people import Changed, Forgotten
    from helix_graph.insights.promote import Promoted


def _render_changed(answer: Changed) -> None:
    say(f"{answer['name']} is {answer['state']}: {answer['content']}")


@insight_command("edit", render=_render_changed)
@click.argument("name")
@click.option("--content", metavar="TEXT", help="The text it is to have.")
@click.option("--tags", type=TextList(), metavar="JSON", help="The tags it is to have, instead of those it has.")
def edit(insights: Insights, *, name: str, content: str | None, tags: list[str] | None) -> Changed:
    """Give an insight another text or other tags; its name stays."""
    return insights.edit(name, content, tags)


@insight_command("reject", render=_render_changed)
@click.argument("name")
@click.option("--reason", default="", metavar="TEXT", help="Why it is wrong.")
@click.option("--off", is_flag=True, help="Take it back.")
def reject(insights: Insights, *, name: str, reason: str, off: bool) -> Changed:
    """Say that an insight is wrong: it is neither recalled nor stored again."""
    return insights.reject(name, reason, off=off)


@insight_command("mute", render=_render_changed)
@click.argument("name")
@click.option("--off", is_flag=True, help="Let it be recalled again.")
def mute(insights: Insights, *, name: str, off: bool) -> Changed:
    """Keep an insight from being recalled."""
    return insights.mute(name, off=off)


def _render_forgotten(answer: Forgotten) -> None:
    say(f"{count(len(answer['forgotten']), 'insight')} forgotten, {answer['remaining']} remain.")


@insight_command("forget", render=_render_forgotten)
@click.argument("names", nargs=-1, required=True)
def forget(insights: Insights, *, names: tuple[str, ...]) -> Forgotten:
    """Remove insights for good, with their links and their names in the logs."""
    return insights.forget(names)


def _render_why(answer: Mapping[str, Any]) -> None:
    render_insight(answer)
    where = " ".join(answer[key] for key in ("origin", "source", "episode") if answer[key])
    say(f"{where} on {answer['created_at']}; it is {answer['state']}")
    for name in answer["took_in"]:
        say(f"  took in {name}")
    for link in answer["links"]:
        say(f"  {link['from']} -{link['relation']}-> {link['to']}  ({link['origin']}, {link['score']:.2f})")
    say(f"put in {count(len(answer['injected']), 'time')}, held back {count(len(answer['withheld']), 'time')}")
    for step in answer["feedback"]:
        role = {True: "causal", False: "not causal", None: "idle"}[step["causal"]]
        told = "  ".join(part for part in (step["outcome"] or step["kind"], role, step["reason"]) if part)
        say(f"  {step['ts']}  {told}  -> {percent(step['effectiveness'])}")


@insight_command("why", render=_render_why)
@click.argument("name")
def why(insights: Insights, *, name: str) -> dict[str, Any]:
    """Show where an insight comes from, where it was put in, and what followed."""
    return insights.why(name)


def _render_promoted(answer: Promoted) -> None:
    if answer["reason"]:
        say(f"{answer['name']} is not promoted: {answer['reason']}.")
        return
    for line in answer["diff"].splitlines():
        verbatim(line)
    say(f"Written to {answer['file']}." if answer["written"] else "Nothing is written yet; --write applies it.")


@insight_command("promote", render=_render_promoted)
@click.argument("name")
@click.option(
    "--file", type=GivenPath(path_type=Path), default="CLAUDE.md", show_default=True, help="CLAUDE.md or AGENTS.md."
)
@click.option("--write", is_flag=True, help="Apply the diff. Otherwise it is shown.")
@click.option("--anyway", is_flag=True, help="Also when it is not proven yet.")
def promote(insights: Insights, *, name: str, file: Path, write: bool, anyway: bool) -> Promoted:
    """Show the diff that adds a proven insight to a file that agents always read."""
    return insights.promote(name, file, write=write, anyway=anyway)
