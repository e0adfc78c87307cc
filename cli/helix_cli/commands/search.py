"""``search``: one question to everything that the memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, fields, say, show
from helix_cli.terminal.pieces import quiet, strong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_graph.search.model import Result, SearchAnswer

#: Of each text a terminal gets so many lines; ``--json`` has all of it.
_LINES = 4


@click.command
@click.argument("query", required=False)
@click.option("--max-results", type=int, default=10, show_default=True, help="At most so many, 1 to 100.")
@click.option("--semantic-only", is_flag=True, help="Compare meanings alone; fails where nothing does.")
@click.option("--lexical-only", is_flag=True, help="Compare words alone.")
@click.option("--status", is_flag=True, help="Show what can be searched instead.")
@json_option
def search(
    *, query: str | None, max_results: int, semantic_only: bool, lexical_only: bool, status: bool, as_json: bool
) -> None:
    """Search insights, topics, episodes and configured notes at once for QUERY, the best first."""
    if status == (query is not None):
        reason = "give QUERY or --status, one of the two"
        raise click.UsageError(reason)
    searching = open_memory().search
    if query is None:
        show(searching.status(), as_json=as_json, render=render_search_status)
        return
    found = searching(query, max_results=max_results, semantic_only=semantic_only, lexical_only=lexical_only)
    show(found, as_json=as_json, render=render_search)


def render_search(found: SearchAnswer) -> None:
    """Print each result's place and first lines, and which sources could not answer."""
    for result in found.results:
        _render_result(result)
        say()
    searched = [f"{one.found} in {one.name}" for one in found.sources if one.state == "searched"]
    say(f"{count(len(found.results), 'result')}; found: {', '.join(searched) or 'nothing was searched'}.")
    for one in found.sources:
        if one.state == "failed":
            say(f"{one.name} could not answer: {one.problem}")
        if one.note:
            say(f"{one.name}: {one.note}")


def _render_result(result: Result) -> None:
    also = f", also {', '.join(result.also)}" if result.also else ""
    place = f"  {result.path}" if result.path else ""
    say(strong(result.name), f"  ({result.source}{also})", quiet(place))
    lines = result.content.split("\n")
    for line in lines[:_LINES]:
        say(f"  {line}")
    if len(lines) > _LINES:
        say(f"  … {count(len(lines) - _LINES, 'more line')}")


def render_search_status(status: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the seed's keys and, behind them, each source."""
    rows = [
        (f"{part}.{key}", str(value))
        for part, values in status.items()
        if part != "Sources"
        for key, value in values.items()
    ]
    sources = [
        (f"Sources.{name}", f"{'available' if one['Available'] else one['Problem']} ({', '.join(one['Manners'])})")
        for name, one in status["Sources"].items()
    ]
    fields([*rows, *sources])
