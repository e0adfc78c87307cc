"""Exports of insights, looked at as text."""

from __future__ import annotations


def unmarked(export: str) -> str:
    """Without the lines that say by which file something came: two memories with the same insights differ in them."""
    return "".join(line for line in export.splitlines(keepends=True) if not line.startswith('{"record":"imported"'))
