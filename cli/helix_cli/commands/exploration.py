"""``exploration``: what explorers found before planning."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import click

from helix_cli.given_json import json_object
from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, say, show

if TYPE_CHECKING:
    from helix_graph.plans.explorations import ClearedExplorations, SavedExploration
    from helix_graph.plans.model import Exploration


@click.group
def exploration() -> None:
    """Keep what explorers found, until a plan is made of it."""


@exploration.command("save")
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@click.option("--objective", metavar="TEXT", help="What it is for; else the objective in FILE.")
@json_option
def save(*, file: TextIO, objective: str | None, as_json: bool) -> None:
    """Keep the JSON object in FILE (- is stdin); the newest counts."""
    found = json_object(file, hint="FILE")
    answer = open_memory().plans.explorations.save(found, objective=objective)
    show(answer, as_json=as_json, render=_render_saved)


def _render_saved(answer: SavedExploration) -> None:
    say(f"exploration {answer.id} saved")


@exploration.command("load")
@json_option
def load(*, as_json: bool) -> None:
    """Show the newest exploration."""
    show(open_memory().plans.explorations.load(), as_json=as_json, render=_render)


def _render(found: Exploration | None) -> None:
    if found is None:
        say("No exploration has been saved.")
        return
    say(f"exploration {found.id}, {found.created_at}: {found.objective}")
    for name, value in found.data.items():
        say(f"{name}: {value}")


@exploration.command("clear")
@json_option
def clear(*, as_json: bool) -> None:
    """Forget all explorations, and the results that explorers left behind."""
    show(open_memory().plans.explorations.clear(), as_json=as_json, render=_render_cleared)


def _render_cleared(answer: ClearedExplorations) -> None:
    say(f"{count(answer.explorations, 'exploration')} and {count(answer.results, 'result')} of explorers removed")
