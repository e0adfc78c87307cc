"""``helix-graph mcp`` with more tools: one that prints, one that makes a warning, two that are slow, one with a bug."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_cli.mcp.tool_declaration import Progress, Tool
    from helix_graph import Memory

ANSWER = "done"


def prints(_: Progress) -> None:
    """Writes to stdout in every way that Python and C libraries have."""
    print('{"jsonrpc": "2.0", "id": 1, "result": "this is no protocol"}', flush=True)  # noqa: T201  (what must do no harm)
    sys.stdout.write("a line without an end")
    os.write(1, b"from a library in C\n")
    subprocess.run(["echo", "from a child"], check=True)


def warns(_: Progress) -> None:
    """What a deprecated call would say."""
    warnings.warn("this will go", DeprecationWarning, stacklevel=1)
    sys.stderr.write("and so on\n")


def naps(progress: Progress) -> None:
    """A call that takes its time, and tells of it what it told before."""
    for done in (0, 2, 2, 1):
        progress(done, 2, "napping")
    time.sleep(1.5)


def hangs(_: Progress) -> None:
    """A call that does not end within any client's patience."""
    time.sleep(600)


def breaks(_: Progress) -> None:
    """A bug."""
    empty: dict[str, str] = {}
    empty["no such key"]


def add_unruly_tools() -> None:
    """Puts them beside the others."""
    from helix_cli.mcp import tool_declaration
    from helix_cli.mcp.tool_declaration import tool

    def declared(behave: Callable[[Progress], None]) -> Tool:
        def run(_: Memory, *, progress: Progress) -> str:
            """Misbehaves."""
            behave(progress)
            return ANSWER

        return tool(title="Unruly", effect="reads", name=behave.__name__)(run)

    known = tool_declaration.tools_by_name("all")
    more = {one.name: one for one in map(declared, (prints, warns, naps, hangs, breaks))}
    together = MappingProxyType({**known, **more})
    tool_declaration.tools_by_name = lambda _: together  # type: ignore[assignment]  # the server looks it up at each list


def main() -> None:
    """Serves."""
    from helix_cli.mcp.stdio import serve

    add_unruly_tools()
    serve("all")


if __name__ == "__main__":
    main()
