"""Small Forgetful servers, each on a path of its manner: ``python forgetful_server.py PORT``, over real HTTP.

Manners: ``newest`` (its tools behind one), ``oldest`` (the seed's tool), ``refusing`` (an error), ``talking`` (no
JSON), ``slow``, ``other`` (an MCP server that is no memory).
"""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MANNERS = ("newest", "oldest", "refusing", "talking", "slow", "other")
MEMORIES = [
    {"id": 7, "title": "Lock files", "content": "The lock file goes first.", "score": 0.9},
    {"id": 8, "title": "Caches", "content": "Caches are deleted last.", "score": 0.5},
]


def build(manner: str) -> MCPServer:
    """The server that behaves so."""
    server = MCPServer("forgetful", log_level="ERROR")
    if manner == "oldest":

        @server.tool(structured_output=False)
        def memory_search(query: str, limit: int) -> str:
            return json.dumps({"memories": [MEMORIES[0] | {"content": f"asked: {query}"}][:limit]})

    elif manner == "other":

        @server.tool(structured_output=False)
        def weather(town: str) -> str:
            return f"rain in {town}"

    else:

        @server.tool(structured_output=False)
        async def execute_forgetful_tool(tool_name: str, arguments: dict[str, Any]) -> str:
            if manner == "slow":
                await anyio.sleep(30)
            if manner == "refusing":
                problem = "no such project"
                raise ValueError(problem)
            found = {"primary_memories": MEMORIES[: arguments["k"]], "tool": tool_name}
            return "I found two" if manner == "talking" else json.dumps(found)

    return server


async def serve(port: int) -> None:
    """All of them in one process: importing the SDK is what takes time."""
    applications = [build(manner).streamable_http_app(streamable_http_path=f"/{manner}") for manner in MANNERS]
    routes = [route for application in applications for route in application.routes]

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in applications:
                await stack.enter_async_context(one.router.lifespan_context(one))
            yield

    together = Starlette(routes=routes, lifespan=running)
    await uvicorn.Server(uvicorn.Config(together, port=port, log_level="error")).serve()


if __name__ == "__main__":
    anyio.run(serve, int(sys.argv[1]))
