"""The entry point of the command: hooks and the MCP server go straight to work, everything else to `helix_cli.app`.

An agent waits for every hook, and for the server's tools at the start of a session; click alone takes longer to load
than a hook may need.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


#: Garbage collection runs after this many new objects: loading a command creates no garbage, and a run takes 5 ms.
_SELDOM = 50_000


def main() -> NoReturn:
    """Run the command line of this process and end it."""
    if sys.platform == "win32":
        sys.exit("helix-graph: Windows is not supported, since file locks and hooks need Linux or macOS; use WSL.")
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        answer_hook(arguments[1:])
    gc.set_threshold(_SELDOM)
    if arguments[:1] == ["mcp"]:
        from helix_cli import TOOL_SETS

        if arguments[1:] in ([], *(["--tools", name] for name in TOOL_SETS)):
            from helix_cli.mcp.stdio import serve

            serve(arguments[-1] if arguments[1:] else TOOL_SETS[0])
    from helix_cli.app import run

    code = run(arguments)
    gc.freeze()  # else the interpreter looks through all that was loaded before it ends, a tenth of a question's time
    sys.exit(code)


def answer_hook(arguments: Sequence[str]) -> NoReturn:
    """Answer an event and end this process with 0, whatever happens."""
    try:
        from helix_cli.hooks.process import answer

        answer(arguments)
    finally:  # also of a Ctrl-C: an agent may take any other exit code, or a traceback, for a refusal
        os._exit(0)  # the answer is written, and taking the interpreter down takes 3 ms more
