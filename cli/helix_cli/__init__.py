"""The interfaces of helix-graph: the command line, the MCP server, the hooks of agents and their setup."""

from __future__ import annotations
