"""The commands that agents' programs start: ``mcp`` and ``hook``. `helix_cli.entry` runs hooks without click."""

from __future__ import annotations

import click

from helix_cli.hooks.event_limits import EVENTS
from helix_graph.errors import MissingExtra


@click.command
def mcp() -> None:
    """Serve the memory to an agent over MCP (stdin, stdout).

    An agent's client starts this; it ends when the client closes stdin.
    """
    try:
        from helix_cli.mcp.server import serve
    except ImportError as error:
        raise MissingExtra(wanted="the MCP server", extra="mcp") from error
    serve()


@click.command
@click.argument("event", type=click.Choice(tuple(EVENTS)), metavar="EVENT")
def hook(*, event: str) -> int:
    """Answer an event of an agent.

    Reads JSON from stdin and writes the answer to stdout. The exit code is always 0.

    ``helix-graph setup`` puts these into the agent's settings; nobody types them.
    """
    from helix_cli.hooks.process import answer

    return answer([event])
