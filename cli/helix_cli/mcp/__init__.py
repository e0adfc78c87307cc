"""The MCP server: an agent's door to everything that the memory can do.

A tool is declared once (`declaring.Tool`): its arguments and its answer are types, from which come the schemas that
clients see and the checks that calls pass; its text is what the command of the same name would print. `answering` runs
a call and never fails but in words; `server` hands both to the official SDK, and is the only file that knows it.
"""
