"""``mcp``: the server through which agents reach the memory."""

from __future__ import annotations

import click

from helix_graph.errors import MissingExtra


@click.command
def mcp() -> None:
    """Serve the memory to an agent over the Model Context Protocol, on stdin and stdout.

    An agent's client starts this; it ends when the client closes stdin.
    """
    try:
        from helix_cli.mcp.server import serve  # noqa: PLC0415  (an extra, and most of a second to load)
    except ImportError as error:
        raise MissingExtra(wanted="the MCP server", extra="mcp") from error
    serve()
