"""Topics: what agents and people write down to be found again.

A topic is a named list of entries; an entry is a text with tags, a source, a confidence and links to other entries.
`helix_graph.topics.door` has the seven questions and deeds of ``seeds/helix-kb-mcp-tools.md``: store, batch, search,
brief, read, edit and topics. ``docs/topics.md`` compares each with that document.

Two layers of tables stand in helix.db. The *log* is the truth: records are appended, each with a checksum, and a
tombstone buries a record that was replaced or deleted. The *view* (entries, tags, links, words and where they stand)
follows from the log in the same transaction, and ``reindex`` makes it anew.
"""
