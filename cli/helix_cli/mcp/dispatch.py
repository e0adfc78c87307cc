"""Run one tool call: check its arguments, call the tool, and turn failures into sentences.

Strings are accepted for numbers and truth values, because the clients of the seed send nothing else.
"""

from __future__ import annotations

import os
import sys
import traceback
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_cli.mcp.pagination import ANSWERS, fitted_text
from helix_cli.mcp.rewording import answer_in_tools_words, in_tools_words, problem_of
from helix_cli.mcp.tool_declaration import typed_schema, without_nulls
from helix_cli.mcp.tools import tools_by_name
from helix_cli.output import plain
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_graph import Memory
from helix_graph.quoted_answers import with_notice
from helix_graph.trust import adopted_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_cli.mcp.tool_declaration import Arguments, Progress, Tool


#: The tool whose answer is a part of another's.
PARTS = "rest"
#: In which Claude Code names the project to its servers.
_PROJECT = "CLAUDE_PROJECT_DIR"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What goes back to the client; of a failed call a sentence to act on."""

    text: str
    failed: bool = False


def answer(name: str, raw: Mapping[str, Any], progress: Progress) -> Outcome:
    """Runs the call; whatever happens in it, the server goes on."""
    tool = tools_by_name().get(name)
    if tool is None:
        return Outcome(failed=True, text=f"there is no tool {name!r}; there are {', '.join(sorted(tools_by_name()))}")
    try:
        reply = tool.run(open_memory(), _arguments(tool, raw), progress)
        text = with_notice(answer_in_tools_words(plain(reply.value), reply.text))
        # a part is as long as an answer may be
        return Outcome(text=text if tool.name == PARTS else fitted_text(text, ANSWERS))
    except HelixGraphError as error:
        return Outcome(failed=True, text=in_tools_words(str(error)))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return Outcome(failed=True, text=f"{name}: {where}{error.strerror or error}")
    except Exception as error:  # noqa: BLE001  (a bug in one call must not end the agent's server; it is shown, here and on stderr)
        traceback.print_exc(file=sys.stderr)
        problem = f"{type(error).__name__}: {error}"
        return Outcome(failed=True, text=f"{name} has a bug ({problem}); other tools go on working, please report it")


def open_memory() -> Memory:
    """The memory of the project that the client works on, else of the folder that the server was started in.

    Raises:
        NoMemory: It has none yet.
        UntrustedMemory: It is not one that this user began or accepted.
    """
    project = os.environ.get(_PROJECT)
    opened = Memory.open(Path(project) if project else None)
    if opened.adopted:
        print(adopted_sentence(opened.root), file=sys.stderr)  # noqa: T201  (clients show a server's stderr to people)
    return _memory_in(opened.root)


@lru_cache(maxsize=8)
def _memory_in(root: Path) -> Memory:
    """The same memory for every call: it keeps the embedding model, which takes longer to load than to use."""
    return Memory(root)


def _arguments(tool: Tool, raw: Mapping[str, Any]) -> Arguments:
    """The arguments as their types; those that are null count as not sent, but the word "null" is a mistake.

    Raises:
        InvalidArgument: One is missing, unknown or none of its kind.
    """
    sent = without_nulls(raw)
    try:
        asked = msgspec.convert(sent, tool.takes, strict=False)
    except msgspec.ValidationError as error:
        problem = problem_of(error, sent, typed_schema(tool.takes))
        raise InvalidArgument(None, f"{tool.name}: {problem}") from error
    for name, value in sent.items():
        if getattr(asked, name) is None:
            raise InvalidArgument(None, f"{tool.name}: {name} is {value!r}; leave it out where none is meant")
    return asked
