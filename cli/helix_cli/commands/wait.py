"""``wait``: for builders and explorers that work in the background, by their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.given_json import names
from helix_cli.memory import open_memory
from helix_cli.options import json_option, moment
from helix_cli.output import count, say, show

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.plans.waiting import BuildersWait, ExplorersWait

#: With --strict; 1 and 2 are the command's own.
EXIT_TIMED_OUT, EXIT_WAVE_FAILED = 3, 4

_timeout = click.option(
    "--timeout", type=float, default=300.0, show_default=True, metavar="SECONDS", help="0 looks once."
)
_poll = click.option(
    "--poll-interval", type=float, default=2.0, show_default=True, metavar="SECONDS", help="From one look to the next."
)
_since = click.option("--since", type=moment, metavar="TIME", help="Only what ended from then on (ISO 8601).")
_strict = click.option("--strict", is_flag=True, help="End with 3 after a timeout, with 4 when somebody failed.")


@click.group
def wait() -> None:
    """Wait for agents that work in the background."""


@wait.command("builders")
@click.option("--task-ids", type=names, required=True, metavar="IDS", help="The tasks' ids, with commas between them.")
@_timeout
@_poll
@_since
@_strict
@json_option
def builders(
    *,
    task_ids: tuple[str, ...],
    timeout: float,
    poll_interval: float,
    since: datetime | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Wait until each of these tasks has ended, however."""
    plans = open_memory().plans
    found = plans.wait_builders(task_ids, timeout=timeout, poll_interval=poll_interval, since=since)
    show(found, as_json=as_json, render=_render_builders)
    return _code(found) if strict else 0


def _render_builders(found: BuildersWait) -> None:
    if found.timed_out:
        say(f"timed out; missing: {', '.join(found.missing or ())}")
        return
    for outcome in ("delivered", "blocked", "plan_complete", "crashed", "unknown"):
        for entry in getattr(found, outcome) or ():
            say(f"{outcome}  {entry.get('task_id')}  {entry.get('summary', '')}")


@wait.command("explorers")
@click.option("--count", "number", type=int, required=True, metavar="N", help="How many there are.")
@click.option("--agent-ids", type=names, default=(), metavar="IDS", help="Only the results of these.")
@_timeout
@_poll
@_since
@_strict
@json_option
def explorers(  # noqa: PLR0913  (what a wave is told by)
    *,
    number: int,
    agent_ids: tuple[str, ...],
    timeout: float,
    poll_interval: float,
    since: datetime | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Wait until so many explorers have left their results."""
    found = open_memory().plans.wait_explorers(
        number, timeout=timeout, poll_interval=poll_interval, since=since, agent_ids=agent_ids
    )
    show(found, as_json=as_json, render=_render_explorers)
    return _code(found) if strict else 0


def _render_explorers(found: ExplorersWait) -> None:
    say(f"{'timed out; ' if found.timed_out else ''}{found.count} of {count(found.expected, 'explorer')}")
    for one in found.findings:
        say(f"finding: {one}")
    for error in found.errors or ():
        say(f"error: {error}")


def _code(found: BuildersWait | ExplorersWait) -> int:
    if found.timed_out:
        return EXIT_TIMED_OUT
    return 0 if found.succeeded else EXIT_WAVE_FAILED
