"""Run one tool call: check its arguments, call the tool, and turn failures into sentences.

Strings are accepted for numbers and truth values, because the clients of the seed send nothing else.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_cli.mcp.argument_errors import problem_of
from helix_cli.mcp.pagination import fitted_text, next_part
from helix_cli.mcp.tool_declaration import MOST_TOKENS, Answered, PartArguments, typed_schema, without_nulls
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_episodes.msgspec_types import ready
from helix_episodes.redaction import for_disk
from helix_graph import Memory
from helix_graph.quoted_answers import with_notice
from helix_graph.trust import adopted_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_cli.mcp.tool_declaration import Progress, Tool


#: A dozen lines: each of the logs that an extraction could not read has one.
_LONGEST_SENTENCE = 2_000
#: In which Claude Code names the project to its servers.
_PROJECT = "CLAUDE_PROJECT_DIR"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What goes back to the client; of a failed call a sentence to act on."""

    text: str
    failed: bool = False
    value: msgspec.Struct | None = None

    def values(self) -> dict[str, Any] | None:
        """The same as JSON, for the page that a client may show it on; None of an answer that has no page."""
        if self.value is None:
            return None
        return {"kind": type(self.value).__name__, "value": msgspec.to_builtins(self.value)}


def answer(name: str, raw: Mapping[str, Any], progress: Progress, *, tools: Mapping[str, Tool]) -> Outcome:
    """Runs the call; what is wrong with it is an outcome too."""
    outcome = _outcome(name, raw, progress, tools=tools)
    # Answers and errors repeat what was sent, so that a secret in it would be recorded with them. What they have from
    # the memory was redacted when it was stored.
    return replace(outcome, text=for_disk(outcome.text), value=None) if _holds_secret(raw) else outcome


def _holds_secret(raw: Mapping[str, Any]) -> bool:
    try:
        return bool(for_disk(raw) != raw)
    except RecursionError:  # refused, in a sentence that repeats nothing
        return False


def _outcome(name: str, raw: Mapping[str, Any], progress: Progress, *, tools: Mapping[str, Tool]) -> Outcome:
    tool = tools.get(name)
    if tool is None:
        return Outcome(failed=True, text=f"there is no tool {name!r}; there are {', '.join(sorted(tools))}")
    try:
        answered = _answered(tool, without_nulls(raw), progress)
        return Outcome(text=with_notice(answered.text), value=answered.value)
    except HelixGraphError as error:
        return Outcome(failed=True, text=shortened(str(error)))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return Outcome(failed=True, text=f"{name}: {where}{error.strerror or error}")
    except UnicodeEncodeError as error:
        return Outcome(failed=True, text=f"{name}: {half_character(error)}")
    except RecursionError:
        return Outcome(failed=True, text=f"{name}: the arguments are nested too deeply; send flat ones")


def _answered(tool: Tool, sent: Mapping[str, Any], progress: Progress) -> Answered:
    if tool.long and sent.get("cursor"):  # the arguments of the first part need not be sent again
        sent = {name: sent[name] for name in ("cursor", "max_tokens") if name in sent}
        return Answered(next_part(**_checked(tool.name, sent, PartArguments)))
    asked = _checked(tool.name, sent, tool.takes)
    max_tokens, _ = asked.pop("max_tokens", MOST_TOKENS), asked.pop("cursor", "")
    if tool.tells_progress:
        asked["progress"] = progress
    found = tool.run(open_memory(), **asked)
    answered = Answered(found) if isinstance(found, str) else found
    text = with_notice(answered.text)
    return answered._replace(text=fitted_text(text, max_tokens=max_tokens) if tool.long else text)


def _checked(name: str, sent: Mapping[str, Any], takes: type[msgspec.Struct]) -> dict[str, Any]:
    """The arguments as their types; those that are null count as not sent, but the word "null" is a mistake.

    Raises:
        InvalidArgument: One is missing, unknown or none of its kind.
    """
    try:
        asked = msgspec.convert(sent, ready(takes), strict=False)
    except msgspec.ValidationError as error:
        raise InvalidArgument(None, f"{name}: {problem_of(error, sent, typed_schema(takes))}") from error
    for argument, value in sent.items():
        if getattr(asked, argument) is None:
            raise InvalidArgument(None, f"{name}: {argument} is {value!r}; leave it out where none is meant")
    return {argument: getattr(asked, argument) for argument in takes.__struct_fields__}


def shortened(sentence: str) -> str:
    """A sentence that repeats what was sent, which may be long."""
    return sentence if len(sentence) <= _LONGEST_SENTENCE else f"{sentence[:_LONGEST_SENTENCE]}…"


def half_character(error: UnicodeEncodeError) -> str:
    """The sentence for a text with half of a surrogate pair, which JSON can escape and no file can hold."""
    return f"an argument contains half a character, U+{ord(error.object[error.start]):04X}; send whole ones"


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
    memory = _memory_in(opened.root)
    pulled = memory.follow_team()
    if pulled and pulled.away:
        print(pulled.away, file=sys.stderr)  # noqa: T201  (as above)
    return memory


@lru_cache(maxsize=8)
def _memory_in(root: Path) -> Memory:
    """The same memory for every call: it keeps the embedding model, which takes longer to load than to use."""
    return Memory(root)
