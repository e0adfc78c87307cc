"""Remembered advice: kept, recalled, linked into the graph, and judged by what followed."""
