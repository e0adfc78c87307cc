"""Topics: what agents and people write down to be found again.

A topic is a named list of entries; an entry is a text with tags, a source, a confidence and links to other entries.
`helix_graph.topics.api` has the seven tools of ``seeds/helix-kb-mcp-tools.md``: store, batch, search, brief, read, edit
and topics. ``docs/internals/seed-topics.md`` compares each with that document.

There are two kinds of tables in helix.db. The *log* is the truth: records are appended, each with a checksum, and a
tombstone marks a record that was replaced or deleted. The *index* (entries, tags, links, words and their positions)
follows from the log in the same transaction, and ``reindex`` rebuilds it.
"""

from __future__ import annotations
