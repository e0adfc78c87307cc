"""The words and the ranges that parameters of topics take.

They are apart because agents' clients ask for them when a session begins, before anything of topics is needed.
"""

from __future__ import annotations

from typing import Literal

SearchDetail = Literal["full", "medium", "brief", "count", "topics", "grouped"]
SearchMode = Literal["and", "or"]
BriefDetail = Literal["summary", "scan", "full"]
EditAction = Literal["append", "revise", "delete", "tag", "rename", "merge"]
TopicsAction = Literal[
    "list", "recent", "entries", "stats", "xref", "graph", "stale", "prune", "compact", "export", "import", "reindex",
    "session",
]  # fmt: skip
StatsDetail = Literal["tags", "index"]
MOST_DAYS = 36_500
MOST_HOURS = 24 * MOST_DAYS
LARGEST_LIMIT = 1_000
#: Above any index that there can be; for a sentence instead of an overflow in the database.
LARGEST_INDEX = 2**31
