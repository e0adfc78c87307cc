"""One search over everything that a memory holds: insights, topics, episodes, folders of Markdown, a Forgetful server.

Each source ranks what it has by its own means, and `merging` makes one list of the rankings. A source that cannot
answer is named beside the results; the others answer without it.
"""
