"""``assess``: go on, try another way, or ask for help?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, say, show

if TYPE_CHECKING:
    from helix_graph.plans.assessing import Assessment


@click.command
@click.argument("objective")
@click.option("--approach", required=True, metavar="TEXT", help="The way that is about to be tried.")
@json_option
def assess(*, objective: str, approach: str, as_json: bool) -> None:
    """Count an attempt at OBJECTIVE, and say whether to continue, pivot or escalate."""
    show(open_memory().plans.assess(objective, approach), as_json=as_json, render=_render)


def _render(found: Assessment) -> None:
    say(f"{found.recommendation} ({count(found.attempts, 'attempt')}): {found.reason}")
    if found.suggested_pivot:
        say(f"instead: {found.suggested_pivot}")
