"""Whether a tool only reads, by the verb in its name.

Tools of servers and of trades are named by what they do: ``get_order``, ``search_flights``, ``cancel_booking``. The
verb is the name's first word that does not repeat the server's name. A verb not listed changes something, for that is
the reading that hides nothing.
"""

from __future__ import annotations

import re

_LOOKING_VERBS = frozenset(
    {
        *("get", "list", "search", "read", "query", "fetch", "resolve", "find", "lookup", "look", "view", "show"),
        *("describe", "browse", "count", "inspect", "check", "retrieve", "download", "explore", "ask", "grep", "glob"),
        *("calculate", "compute", "think", "verify"),
    }
)
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def only_reads(tool: str) -> bool:
    """Whether the tool's verb is one of looking; a leading word that repeats its server's name is no verb.

    >>> only_reads("search_direct_flight"), only_reads("mcp__tracker__tracker_get_issue"), only_reads("cancel_order")
    (True, True, False)
    """
    rest = tool.removeprefix("mcp__")
    server, _, name = rest.rpartition("__")
    of_server = {word.lower() for word in _WORD.findall(server)}
    words = [word.lower() for word in _WORD.findall(name)]
    return next((word for word in words if word not in of_server), "") in _LOOKING_VERBS
