"""The doctor: what is wrong with a memory, and what can be done about it.

``place`` looks at the folder, ``episodes`` at the episodes (``names``, ``parts``, and ``agreement`` of their links),
``assertions`` at those, ``graph`` at graph.db and the export; ``door`` calls them in that order, because mending an
episode changes the graph. ``secrets`` looks into every file that people's words stand in. ``model`` says what a finding
is.
"""
