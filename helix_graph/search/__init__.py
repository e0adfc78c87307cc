"""One search over everything in a memory: insights, topics, episodes, folders of Markdown, a Forgetful server.

Each source ranks its own results, and `model.merged` merges the rankings into one list. A source that cannot answer is
named next to the results; the others answer without it.
"""

from __future__ import annotations
