"""The commands that agents' programs start: ``mcp`` and ``hook``, which `helix_cli.entry` runs without click."""

from __future__ import annotations

import click

from helix_cli import TOOL_SETS
from helix_cli.entry import answer_hook
from helix_cli.hooks.events import EVENTS
from helix_graph.errors import MissingExtra


@click.command
@click.option(
    "--tools",
    type=click.Choice(TOOL_SETS),
    default=TOOL_SETS[0],
    show_default=True,
    help="Which tools to offer: five, the seven for topics, or all.",
)
@click.option(
    "--http", "port", type=click.IntRange(1, 65_535), metavar="PORT", help="Serve HTTP on this port of 127.0.0.1."
)
def mcp(*, tools: str, port: int | None) -> None:
    """Serve the memory to an agent over MCP (stdin, stdout).

    An agent's client starts this; it ends when the client closes stdin.
    """
    if port is None:
        from helix_cli.mcp.stdio import serve

        serve(tools)
    try:
        from helix_cli.mcp.http_server import serve_http
    except ImportError as error:
        raise MissingExtra(wanted="serving MCP over HTTP", extra="mcp") from error
    serve_http(tools, port=port)


@click.command
@click.argument("event", type=click.Choice(tuple(EVENTS)), metavar="EVENT")
def hook(*, event: str) -> None:
    """Answer an event of an agent.

    Reads JSON from stdin and writes the answer to stdout. The exit code is always 0.

    ``helix-graph setup`` puts these into the agent's settings; nobody types them.
    """
    answer_hook([event])
