"""The entry point of the command: hooks and the MCP server go straight to work, everything else to `helix_cli.app`.

An agent waits for every hook, and for the server's tools at the start of a session; click alone takes longer to load
than a hook may need.

Nothing that an event may meet (a locked database, a log of gigabytes, a reader that hangs, a bug in this program)
keeps the agent longer than the event's limit: the work is done in a child, which is killed, and then there is no
answer. The child writes the answer itself: only it knows which items the answer contains, and they count as shown once
the answer is out and not before. It loads what the event needs and this process does not: anything loaded here would
have to be copied for the child and taken down again after the agent was answered. `benchmarks/hooks.py` measures it.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NoReturn


#: Garbage collection runs after this many new objects: loading a command creates no garbage, and a run takes 5 ms.
_SELDOM = 50_000
#: More than any event should carry; what is longer is a tool's output, and no JSON once it is cut.
_MOST_BYTES = 32 * 1024 * 1024
_STDOUT = 1
#: The work for these must not be lost, and nobody reads an answer: all of it is done in the background.
_AFTERWARDS = frozenset({"subagent-stop", "session-end"})


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
    if connection := sys.modules.get("helix_graph.sharing.connection"):
        connection.end_at_once(code)
    gc.freeze()  # else the interpreter looks through all that was loaded before it ends, a tenth of a question's time
    sys.exit(code)


def answer_hook(arguments: Sequence[str]) -> NoReturn:
    """Answer an event on stdout and end this process with 0, whatever happens."""
    try:
        _answer_within_limit(arguments[0] if arguments else "")
    finally:  # also of a Ctrl-C: an agent may take any other exit code, or a traceback, for a refusal
        os._exit(0)  # the answer is written, and taking the interpreter down takes 3 ms more


def _answer_within_limit(event: str) -> None:
    from helix_cli.hooks.events import EVENTS, seconds_for

    if event not in EVENTS or sys.stdin is None or sys.stdin.isatty():
        return
    from helix_cli.hooks.timed_child import note_failure, note_if_stopped, run_within

    gc.disable()  # the answer is there before there is anything to collect; `run_detached` switches it on again
    asked = os.getpid()
    try:
        note_if_stopped(event, run_within(lambda: _work(event, asked), seconds=seconds_for(event)))
    except OSError as error:  # no process can be started or no file opened
        note_failure(event, f"{type(error).__name__}: {error}")


def _work(event: str, asked: int) -> Iterator[bytes]:
    """The child's work. ``asked`` is the process that the agent waits for: without it nobody reads an answer."""
    payload = sys.stdin.buffer.read(_MOST_BYTES)
    if event == "post-tool":
        from helix_cli.hooks.events import surely_succeeded

        if surely_succeeded(payload):
            return
    if event not in _AFTERWARDS:
        yield from _answer_payload(event, payload, lambda text: os.getppid() == asked and _say(text))
        return
    from helix_cli.hooks.background import run_detached

    run_detached(event, lambda: _answer_payload(event, payload, _say))


def _answer_payload(event: str, payload: bytes, say: Callable[[bytes], bool]) -> Iterator[bytes]:
    from helix_cli.hooks.call import read_call

    call = read_call(event, payload)
    if call is None or call.says_nothing:
        return
    from helix_cli.hooks.dispatch import answer_call

    yield from answer_call(call, say)


def _say(text: bytes) -> bool:
    """Writes the answer; returns whether the agent has it, which is always so for an empty one."""
    from helix_cli.hooks.timed_child import write_all

    return not text or (sys.stdout is not None and write_all(_STDOUT, text))
