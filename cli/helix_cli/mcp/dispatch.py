"""Run one tool call: check its arguments, call the tool, and turn failures into sentences.

Strings are accepted for numbers and truth values, because the clients of the seed send nothing else.

An agent's context is small, and no part of an answer may be lost for it. One that is too long is cut between lines and
ends with a cursor; `AnswerCache` keeps the whole until others have taken its place, and a call with the cursor gets the
next part. A quotation that is cut ends with the part, and begins again with the next.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_cli.mcp.tool_declaration import MOST_TOKENS, Answered, PartArguments, problem_of, typed_schema, without_nulls
from helix_cli.terminal import clean_lines
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_episodes.msgspec_types import ready
from helix_episodes.redaction import for_disk
from helix_graph import Memory
from helix_graph.errors import NoMemory
from helix_graph.insights.safe_quoting import is_open_quotation
from helix_graph.quoted_answers import with_notice
from helix_graph.trust import adopted_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_cli.mcp.tool_declaration import Progress, Tool
    from helix_graph.sharing.model import TeamPulled


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
    return replace(outcome, text=for_disk(outcome.text), value=None) if holds_secret(name, raw) else outcome


def holds_secret(*asked: object) -> bool:
    """Whether what a client sent has something in it that is cut before it is stored."""
    raw = list(asked)
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
    memory = open_memory()
    answered = tool.answer(memory, **asked)
    pushed = memory.push_to_team()
    for sentence in pushed.sentences if pushed else ():
        _say(sentence)
    text = with_notice(answered.text)
    return answered._replace(text=fitted_text(text, max_tokens=max_tokens) if tool.long else text)


def _checked(name: str, sent: Mapping[str, Any], takes: type[msgspec.Struct]) -> dict[str, Any]:
    """The arguments as their types; null counts as not sent, but the word "null" is a mistake."""
    try:
        asked = msgspec.convert(sent, ready(takes), strict=False)
    except msgspec.ValidationError as error:
        raise InvalidArgument(None, f"{name}: {problem_of(error, sent, typed_schema(takes))}") from error
    for argument, value in sent.items():
        if getattr(asked, argument) is None:
            raise InvalidArgument(None, f"{name}: {argument} is {value!r}; leave it out where none is meant")
    return {argument: getattr(asked, argument) for argument in takes.__struct_fields__}


def shortened(sentence: str) -> str:
    """A sentence that repeats what was sent, which may be long and have letters that nobody sees."""
    sentence = clean_lines(sentence)
    return sentence if len(sentence) <= _LONGEST_SENTENCE else f"{sentence[:_LONGEST_SENTENCE]}…"


def half_character(error: UnicodeEncodeError) -> str:
    """The sentence for a text with half of a surrogate pair, which JSON can escape and no file can hold."""
    return f"an argument contains half a character, U+{ord(error.object[error.start]):04X}; send whole ones"


#: Of several questions at once, one begins the memory.
_BEGINNING = threading.Lock()


def open_memory() -> Memory:
    """The memory of the project that the client works on, else of the folder that the server was started in."""
    project = os.environ.get(_PROJECT)
    start = Path(project) if project else None
    try:
        opened, pulled = _followed(start)
    except NoMemory:
        with _BEGINNING:  # an agent asks several things at once
            try:
                opened, pulled = _followed(start)
            except NoMemory:
                begun = Memory.from_team(start)
                if begun is None:
                    raise
                opened, pulled = begun
    if opened.adopted:
        _say(adopted_sentence(opened.root))
    for sentence in pulled.sentences if pulled else ():
        _say(sentence)
    return _memory_in(opened.root)


def _followed(start: Path | None) -> tuple[Memory, TeamPulled | None]:
    opened = Memory.open(start)
    return opened, opened.follow_team()


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)  # noqa: T201  (clients show a server's stderr to people)


#: The same memory for every call: it keeps the embedding model, which takes longer to load than to use.
_memory_in = lru_cache(maxsize=8)(Memory)


#: Number of answers that are kept: enough for what an agent does at once.
_KEPT = 32
#: Code, paths and log lines come to fewer bytes a token than prose (4), and other scripts to about 3.
_BYTES_PER_TOKEN = 3.5
#: What stands around a part: the sentence on quotations and the line with the cursor.
_AROUND = 240


class AnswerCache:
    """The newest long answers, by an id that follows from the text. Safe for threads."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, text: str) -> str:
        """Puts a text away and gives its id."""
        name = sha256(text.encode(errors="replace")).hexdigest()[:12]
        with self._lock:
            self._texts[name] = text
            self._texts.move_to_end(name)
            while len(self._texts) > _KEPT:
                self._texts.popitem(last=False)
        return name

    def get(self, name: str) -> str | None:
        """The text of that id, if it is still there."""
        with self._lock:
            return self._texts.get(name)


#: The long answers of this process.
ANSWERS = AnswerCache()


def fitted_text(text: str, *, max_tokens: int, cache: AnswerCache = ANSWERS) -> str:
    """A text of at most so many tokens: the whole, or its first part with the cursor of the next."""
    return text if _size(text) <= max_tokens else _part(text, 0, max_tokens=max_tokens, cache=cache)


def next_part(cursor: str, *, max_tokens: int, cache: AnswerCache = ANSWERS) -> str:
    """The part of a long answer that a cursor stands for.

    Raises:
        InvalidArgument: It is no cursor, or the answer is not kept any more.
    """
    name, _, begin = cursor.partition("-")
    text = cache.get(name) if begin.isascii() and begin.isdigit() else None
    if text is None or int(begin) >= len(text):
        problem = f"cursor {cursor[:40]!r} is unknown or has expired; leave it out to ask the question again"
        raise InvalidArgument(None, problem)
    return _part(text, int(begin), max_tokens=max_tokens, cache=cache)


def _size(text: str) -> int:
    """About how many tokens a text has."""
    return round(len(text.encode(errors="replace")) / _BYTES_PER_TOKEN)


def _is_quoted_line(line: str) -> bool:
    return line.lstrip().startswith(">")


def _part(text: str, begin: int, *, max_tokens: int, cache: AnswerCache) -> str:
    """What is shown of a text from a character on.

    It ends with a paragraph or a line; within a line where it would be less than half full without.
    """
    limit = int(max_tokens * _BYTES_PER_TOKEN) - _AROUND
    end = begin + len(text[begin : begin + limit].encode(errors="replace")[:limit].decode(errors="ignore"))
    if end < len(text):
        half = begin + (end - begin) // 2
        end = text.rfind("\n\n", half, end) + 2 if "\n\n" in text[half:end] else text.rfind("\n", half, end) + 1 or end
        end -= (end - len(text[:end].rstrip("\\"))) % 2  # a mark stays with what escapes it
    before, last = (text[:place].rpartition("\n")[2] for place in (begin, end))
    # Behind `>` the whole line is a quotation, and marks within are its own.
    opening = "> …" if _is_quoted_line(before) else '"…' if is_open_quotation(before) else ""
    closing = '…"' if is_open_quotation(last) and not _is_quoted_line(last) else ""
    shown = f"{opening}{text[begin:end]}{closing}"
    if end >= len(text):
        return shown
    left = f"{_size(text[end:]):,}"
    more = f'[about {left} tokens more: call again with cursor "{cache.keep(text)}-{end}"]'
    return f"{shown.rstrip()}\n{more}"
