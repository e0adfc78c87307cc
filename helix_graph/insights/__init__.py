"""Insights: remembered advice, found again by meaning and by words, and judged by what followed."""
