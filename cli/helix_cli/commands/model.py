"""``model``: what turns texts into vectors here, and how to bring it here."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.options import GivenPath, json_option
from helix_cli.output import complain, fields, say, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.embedding.choice import ModelStatus
    from helix_graph.embedding.installing import InstallReport, Step


@click.group
def model() -> None:
    """See and install the model that compares texts by meaning."""


@model.command("status")
@json_option
def model_status(*, as_json: bool) -> None:
    """Show which weights and which engine are used, or why there are none and what to do."""
    from helix_graph.embedding.choice import status  # noqa: PLC0415  (imported when the command runs)

    show(status(), as_json=as_json, render=_render_status)


@model.command("install")
@click.option(
    "--from",
    "source",
    type=GivenPath(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Copy the model from this folder instead of downloading it.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@json_option
def install_model(*, source: Path | None, dry_run: bool, as_json: bool) -> None:
    """Bring the model here: the only command that downloads anything, and only this model and its engine.

    Each step is said on stderr before it is done. What is here already is left as it is.
    """
    from helix_graph.embedding.installing import install  # noqa: PLC0415  (as above)

    report = install(source=source, dry_run=dry_run, announce=lambda step: complain(_sentence(step)))
    show(report, as_json=as_json, render=_render_install)


def _render_status(answer: ModelStatus) -> None:
    fields(list(_rows(answer)))
    if answer.remedy:
        say()
        say(f"Next: {answer.remedy}")


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


def _render_install(report: InstallReport) -> None:
    if not report.steps:
        say("Everything is here already.")
    elif report.dry_run:
        for step in report.steps:
            say(f"Would {_sentence(step)}")
    _render_status(report.status)


def _sentence(step: Step) -> str:
    return f"{step.what}: {shlex.join(step.command)}" if step.command else step.what
