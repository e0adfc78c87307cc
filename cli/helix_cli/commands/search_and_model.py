"""``search`` and ``model``: one question to everything in the memory, and the model that compares texts by meaning."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_for_question
from helix_cli.command_group import TextCommand, joined_words
from helix_cli.options import NonEmptyPath
from helix_cli.output import count, fields, json_option, prints, say, show, warn
from helix_cli.terminal import quiet, strong
from helix_graph.insights.safe_quoting import logged_name_or_quoted, name_or_quoted, quoted, sanitize_line
from helix_graph.search.sources import INSIGHTS

if TYPE_CHECKING:
    from helix_graph.embedding.choice import ModelStatus
    from helix_graph.embedding.installation import InstallReport, InstallStep
    from helix_graph.search.model import MemorySearchAnswer, SearchResult


#: A terminal gets this many lines of each text; ``--json`` has all of it.
_LINES = 4


@click.command(cls=TextCommand)
@click.argument("query", metavar="[QUERY]", nargs=-1, callback=joined_words)
@click.option(
    "--max-results", "--limit", type=int, default=10, show_default=True, help="Maximum number of results, 1 to 100."
)
@click.option("--semantic-only", is_flag=True, help="Search by meaning only; needs a model.")
@click.option("--lexical-only", is_flag=True, help="Search by words only.")
@click.option("--status", is_flag=True, help="Show what can be searched.")
@json_option
def search(*, query: str | None, status: bool, as_json: bool, **options: Any) -> None:
    """Search sessions, insights, topics and notes.

    QUERY is a few words. The best results come first.
    """
    if status == (query is not None):
        raise click.UsageError("Give words to search for, or --status.")
    searching = open_for_question().search
    if query is None:
        show(searching.status(), as_json=as_json, render=render_search_status)
        return
    show(searching(query, **options), as_json=as_json, render=render_search)


def render_search(found: MemorySearchAnswer) -> None:
    """Print each result's place and first lines, and which sources could not answer."""
    for result in found.results:
        _render_result(result)
        say()
    searched = [one for one in found.sources if one.state == "searched"]
    counts = ", ".join(f"{one.found} in {logged_name_or_quoted(one.name)}" for one in searched if one.found)
    names = ", ".join(logged_name_or_quoted(one.name) for one in searched)
    where = f"searched {names}" if searched else "nothing was searched"
    say(f"{count(len(found.results), 'result')}{f'. Matches: {counts}' if counts else f': {where}'}.")
    for one in found.sources:
        name = logged_name_or_quoted(one.name)  # of a folder it is what the project's configuration calls it
        if one.state == "failed":
            say(f"{name} could not answer: {one.problem}")
        if one.note:
            say(f"{name}: {one.note}")


def _render_result(result: SearchResult) -> None:
    sources = ", also ".join(
        filter(None, (logged_name_or_quoted(result.source), ", ".join(map(logged_name_or_quoted, result.also))))
    )
    place = f"  {logged_name_or_quoted(result.path)}" if result.path else ""
    said_by = "another program's words, not this project's" if result.foreign else result.said_by
    whose = f": {said_by}" if said_by else ""
    # Everything that is not a person's insight has a name that a log, a file or somebody else chose.
    imported = result.said_by and result.source == INSIGHTS
    name = quoted(result.name) if imported else (logged_name_or_quoted if said_by else name_or_quoted)(result.name)
    say(strong(name), f"  ({sources}{whose})", quiet(place))
    lines = result.content.split("\n")
    for line in lines[:_LINES]:
        say(f"  > {sanitize_line(line)}" if said_by else f"  {line}")
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
        (
            f"Sources.{logged_name_or_quoted(name)}",
            f"{'available' if one['Available'] else one['Problem']} ({', '.join(one['Manners'])})",
        )
        for name, one in status["Sources"].items()
    ]
    fields([*rows, *sources])


@click.group
def model() -> None:
    """Show or install the model that compares texts by meaning."""


def _render_status(answer: ModelStatus) -> None:
    fields(list(_rows(answer)))
    if answer.remedy:
        say()
        say(f"Next: {answer.remedy}")


@model.command("status")
@prints(_render_status)
def model_status() -> ModelStatus:
    """Show which model is used, or why none is."""
    from helix_graph.embedding.choice import status

    return status()


def _render_install(report: InstallReport) -> None:
    if not report.steps:
        say("Everything is here already.")
    elif report.dry_run:
        for step in report.steps:
            say(f"Would {_sentence(step)}")
    _render_status(report.status)


@model.command("install")
@click.option(
    "--from",
    "source",
    type=NonEmptyPath(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Copy the model from this folder instead of downloading it.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@prints(_render_install)
def install_model(*, source: Path | None, dry_run: bool) -> InstallReport:
    """Install the model and its engine.

    This is the only command that downloads anything.

    Each step is said on stderr before it is done. What is here already is left as it is.
    """
    from helix_graph.embedding.installation import install

    return install(source=source, dry_run=dry_run, announce=lambda step: warn(_sentence(step)))


def _rows(answer: ModelStatus) -> Iterator[tuple[str, str]]:
    yield "mode", f"{answer.mode}: {answer.reason}" if answer.reason else answer.mode
    if answer.model:
        yield "model", f"{answer.model}, {answer.dimensions or 'not yet known'} dimensions"
    if answer.engine:
        yield "engine", answer.engine
        yield "  for many", answer.bulk_engine or answer.engine
    for number, place in enumerate(answer.looked):
        state = f"{place.state}: {place.problem}" if place.problem else place.state
        yield ("" if number else "weights"), f"{place.folder} ({place.origin}; {state})"


def _sentence(step: InstallStep) -> str:
    return f"{step.what}: {shlex.join(step.command)}" if step.command else step.what
