"""The tools, one file a subject. Each calls one method of the library and renders its answer as the command does.

They are imported when they are first asked for, after the server has begun to answer.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from helix_cli.mcp.tool_declaration import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Files under ``tools``, in the order in which an agent should meet their tools.
_FILES = ("causal", "insights", "topics", "patterns_and_explanations", "memory")


@cache
def tools_by_name() -> Mapping[str, Tool]:
    """Every tool by its name, in the order of the list that clients get."""
    members = (member for name in _FILES for member in vars(import_module(f"helix_cli.mcp.tools.{name}")).values())
    return {member.name: member for member in members if isinstance(member, Tool)}
