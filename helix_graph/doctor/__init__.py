"""The doctor: what is wrong with a memory, and what can be done about it.

``place`` looks at the folder, ``episodes`` at the episodes (``agreement`` at their links), ``graph`` at graph.db and
the export; ``door`` calls them in that order, because mending an episode changes the graph. ``model`` says what a
finding is.
"""
