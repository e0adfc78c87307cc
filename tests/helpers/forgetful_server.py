"""A small Forgetful server: ``python forgetful_server.py PORT MANNER``, spoken to over real HTTP.

MANNER: ``newest`` (its tools behind one), ``oldest`` (the seed's tool), ``refusing`` (an error), ``talking`` (no JSON),
``slow``, ``other`` (an MCP server that is no memory).
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from mcp.server.mcpserver import MCPServer

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
        def execute_forgetful_tool(tool_name: str, arguments: dict[str, Any]) -> str:
            if manner == "slow":
                time.sleep(30)
            if manner == "refusing":
                problem = "no such project"
                raise ValueError(problem)
            found = {"primary_memories": MEMORIES[: arguments["k"]], "tool": tool_name}
            return "I found two" if manner == "talking" else json.dumps(found)

    return server


if __name__ == "__main__":
    build(sys.argv[2]).run("streamable-http", port=int(sys.argv[1]))
