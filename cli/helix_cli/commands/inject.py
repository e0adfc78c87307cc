"""``inject`` and ``batch-inject``: insights for the prompts of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.given_json import by_place
from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import show, verbatim

if TYPE_CHECKING:
    from helix_graph.plans.injecting import BatchInjection, Injection

_limit = click.option("--limit", type=int, default=5, show_default=True, metavar="N", help="How many at most, a task.")
_session = click.option(
    "--session",
    envvar=["HELIX_SESSION", "CLAUDE_CODE_SESSION_ID"],
    metavar="NAME",
    help="No insight is given out twice in this session.",
)
_reset = click.option("--reset", is_flag=True, help="First let the session be given everything again.")


@click.command
@click.argument("objective")
@_limit
@click.option("--task-id", metavar="ID", help="Note in injection-state/ID.json what the task was given.")
@click.option("--min-relevance", type=float, metavar="SHARE", help="The least relevance, 0 to 1.")
@click.option("--repeat", is_flag=True, help="Give what the session was given before, too.")
@_session
@json_option
def inject(  # noqa: PLR0913  (the seed's parameters)
    *,
    objective: str,
    limit: int,
    task_id: str | None,
    min_relevance: float | None,
    repeat: bool,
    session: str | None,
    as_json: bool,
) -> None:
    """Print the insights for a task with this OBJECTIVE, as a block to put into its prompt."""
    found = open_memory().plans.inject(
        objective, limit, task_id, min_relevance=min_relevance, diversify=not repeat, session=session
    )
    show(found, as_json=as_json, render=_render)


@click.command("batch-inject")
@click.argument("objectives", nargs=-1, required=True)
@_limit
@click.option(
    "--task-ids", type=by_place, default=(), metavar="IDS", help="The tasks' ids in the same order, with commas."
)
@_session
@_reset
@json_option
def batch_inject(
    *,
    objectives: tuple[str, ...],
    limit: int,
    task_ids: tuple[str, ...],
    session: str | None,
    reset: bool,
    as_json: bool,
) -> None:
    """Print the insights for the tasks of a wave with these OBJECTIVES, none of them twice."""
    found = open_memory().plans.batch_inject(objectives, limit, task_ids, session=session, reset=reset)
    show(found, as_json=as_json, render=_render_batch)


def _render(found: Injection) -> None:
    for line in found.text.splitlines():
        verbatim(line)


def _render_batch(found: BatchInjection) -> None:
    for one in found.results:
        _render(one)
