"""The tools, one file a subject. Each calls one method of the library and renders its answer as the command does.

They are imported when they are first asked for, after the server has begun to answer.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_cli.mcp.schema import Tool


#: Files under ``tools``, in the order in which an agent should meet their tools.
_FILES = ("causal", "insights", "topics", "patterns", "memory")


@cache
def tools_by_name() -> Mapping[str, Tool]:
    """Every tool by its name, in the order of the list that clients get."""
    files = (import_module(f"helix_cli.mcp.tools.{name}") for name in _FILES)
    return {tool.name: tool for file in files for tool in file.TOOLS}
