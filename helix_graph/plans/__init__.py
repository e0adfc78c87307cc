"""Orchestrated work: explorations, plans, workspaces, injection, waiting, and learning from finished agents."""
