"""The memory as pages for people, each one file that needs nothing else: the graph, and a report of some days."""

from __future__ import annotations
