"""The MCP server: agents' access to what the memory can do.

A tool is one typed function (`tool_declaration.tool`): its parameters become the schema that clients see and the check
that calls pass; its text is what the command of the same name would print. `dispatch` runs a call and turns failures
into sentences, `protocol` answers messages, `stdio` and `http_server` carry them.
"""
