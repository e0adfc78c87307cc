"""The tools, one file a subject. Each calls one method of the library and renders its answer as the command does."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from helix_cli.mcp.tool_declaration import TOPIC_TOOLS, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What a server offers, in the order in which an agent should meet the tools: files of this folder. `topics` are the
#: seven that the seed names, and no others of their files.
_FILES = {
    "default": ("everyday",),
    "topics": ("everyday", "topics"),
    "all": ("everyday", "causal", "insights", "topics", "patterns_and_explanations", "check_runs", "memory"),
}


@cache
def tools_by_name(chosen: str) -> Mapping[str, Tool]:
    """The tools of a set by their names, in the order of the list that clients get."""
    modules = (import_module(f"helix_cli.mcp.tools.{name}") for name in _FILES[chosen])
    found = {one.name: one for module in modules for one in vars(module).values() if isinstance(one, Tool)}
    return {name: found[name] for name in TOPIC_TOOLS} if chosen == "topics" else found
