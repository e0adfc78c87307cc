"""``hook``: what agents' programs call at their events. `helix_cli.entry` leads there without loading this file."""

from __future__ import annotations

import click

from helix_cli.hooks.events import EVENTS
from helix_cli.hooks.process import answer


@click.command
@click.argument("event", type=click.Choice(tuple(EVENTS)), metavar="EVENT")
def hook(*, event: str) -> int:
    """Answer an EVENT of an agent: its JSON on stdin, the answer on stdout, always exit code 0.

    ``helix-graph setup`` puts these into the agent's settings; nobody types them.
    """
    return answer([event])
