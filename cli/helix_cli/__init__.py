"""The interfaces of helix-graph: the command line, the MCP server, the hooks of agents and their setup."""

from __future__ import annotations

import time

#: When this process was started: what hooks noted long before is of other sessions than an MCP server's.
STARTED = time.time()
#: What an MCP server may offer: the five tools of every day, the seven for topics that the seed names, or all.
TOOL_SETS = ("default", "topics", "all")
