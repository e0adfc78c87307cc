"""What the files of the graph are called, and which version of the grammar and of the export they hold.

On its own, because every question asks for it before it knows whether it needs anything else.
"""

from __future__ import annotations

FILE_NAME = "graph.db"
EXPORT_NAME = "causal-graph.json"
#: The original schema asks for two numbers and a dot.
EXPORT_VERSION = "1.0"
#: A change to `labels`, `masking` or `vocabulary` that gives any mention another label is a new version.
LABEL_VERSION = "2"
#: ``grammar``: labels come from the grammar; raw text as labels is a mode to come.
LABEL_MODE = "grammar"
#: A change to `helix_episodes.later.telling` that reads anything else in an episode is a new version.
TELLING_VERSION = "1"
