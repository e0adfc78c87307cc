"""The MCP server: agents' access to everything that the memory can do.

A tool is declared once (`tool_declaration.Tool`): its arguments and its answer are types, from which come the schemas
that clients see and the checks that calls pass; its text is what the command of the same name would print. `dispatch`
runs a call and turns every failure into a sentence; `server` connects both to the official SDK, and is the only file
that knows it.
"""

from __future__ import annotations
