"""JSON documents whose values know their line.

Evidence names a line of the log, and a parser that returns bare values has lost it. The text is cut into tokens once
and put together without recursion, so that depth costs nothing but memory.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.common.jsonl import parse, read_document
from helix_episodes.safe_files import DEEPEST_NESTING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.common.session_builder import Dialogue


# Commas and colons tell nothing that the order does not. A text is skipped from backslash to backslash; letter
# by letter takes six times as long.
_TOKEN = re.compile(r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"|[{}\[\]]|[^\s{}\[\],:"]+', re.DOTALL)
_NEWLINE = re.compile("\n")


class JsonNode(msgspec.Struct, kw_only=True):
    """A value and its first line. ``value`` is a dict of nodes by key, a list of nodes, or a bare scalar.

    ``plain`` is the same without lines, as a parser would give it.
    """

    line: int
    value: Any
    plain: Any = None

    @property
    def text(self) -> str:
        """The value as text when it is one or a number; empty for anything else."""
        if isinstance(self.value, str):
            return self.value.strip()
        return str(self.value) if isinstance(self.value, (int, float)) and not isinstance(self.value, bool) else ""

    @property
    def record(self) -> dict[str, Any]:
        """The bare value when it is an object, else an empty one."""
        return self.plain if isinstance(self.plain, dict) else {}

    def get(self, name: str) -> JsonNode:
        """A member of an object; null on this line where there is none."""
        return self.members.get(name) or JsonNode(line=self.line, value=None)

    @property
    def members(self) -> dict[str, JsonNode]:
        """The members of an object; empty for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[JsonNode]:
        """The items of a list; a value that is no list is its only item, and null has none."""
        if isinstance(self.value, list):
            return self.value
        return [] if self.value is None else [self]


def parse_with_lines(text: str) -> JsonNode:
    r"""The document with lines counted from 1.

    >>> node = parse_with_lines('{\n "a": ["x",\n "y"]}')
    >>> [(item.text, item.line) for item in node.members["a"].items]
    [('x', 2), ('y', 3)]
    """
    text, whole = parse_document(text)
    if "\n" not in text.strip():
        return _on_one_line(whole, line=text[: len(text) - len(text.lstrip())].count("\n") + 1)
    root = JsonNode(line=1, value=[], plain=[])
    open_nodes = [root]
    key: str | None = None
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    for match in _TOKEN.finditer(text):
        piece = match.group()
        if piece in "}]":
            open_nodes.pop()
        else:
            key = _enter_token(piece, bisect_right(starts, match.start()), open_nodes, key)
    document: JsonNode = root.value[0]
    return document


def parse_document(text: str) -> tuple[str, Any]:
    r"""The value of a document, and the text that it is the value of: without values for whose sake `parse` fails.

    Among lines these cost one of them, and here they would cost the session: what is nested deeper than is read, as a
    tool may answer, numbers that are too large, and those that are none of JSON's, which Python writes. All other
    values stay on their lines.

    >>> parse_document('{"a": [NaN,\n 1e999, 1]}')
    ('{"a": [null,\n null, 1]}', {'a': [None, None, 1]})

    Raises:
        ValueError: It is no JSON all the same.
    """
    try:
        return text, parse(text.encode("utf-8", "replace"))
    except ValueError:
        readable = "".join(_readable(text))
        if readable == text:
            raise
        return readable, parse(readable.encode("utf-8", "replace"))


#: Numbers, and what Python's json writes for those that are none, which no other program reads.
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN")


def _readable(text: str) -> Iterator[str]:
    """The text in pieces, with null in the place of each value that `parse` does not take."""
    depth = done = 0
    for match in _TOKEN.finditer(text):
        piece = match.group()
        if piece in "}]":
            depth -= 1
            if depth == DEEPEST_NESTING - 1:
                yield "null" + "\n" * text.count("\n", done, match.end())
                done = match.end()
        elif piece in "{[":
            depth += 1
            if depth == DEEPEST_NESTING:
                yield text[done : match.start()]
                done = match.start()
        elif depth < DEEPEST_NESTING and _NUMBER.fullmatch(piece) and not isfinite(float(piece)):
            yield text[done : match.start()] + "null"
            done = match.end()
    yield text[done:]


def _on_one_line(whole: Any, *, line: int) -> JsonNode:  # noqa: ANN401  (JSON can be anything)
    """The nodes of a document whose values are all on one line; much quicker than to look for each."""
    root = JsonNode(line=line, value=whole, plain=whole)
    unopened = [root]
    while unopened:
        node = unopened.pop()
        if isinstance(node.plain, dict):
            node.value = {name: JsonNode(line=line, value=each, plain=each) for name, each in node.plain.items()}
            unopened += node.value.values()
        elif isinstance(node.plain, list):
            node.value = [JsonNode(line=line, value=each, plain=each) for each in node.plain]
            unopened += node.value
    return root


def _enter_token(piece: str, line: int, open_nodes: list[JsonNode], key: str | None) -> str | None:
    """Enters a value or an object's key; returns the key that waits for its value."""
    parent = open_nodes[-1]
    if isinstance(parent.value, dict) and key is None:
        return str(_scalar(piece))
    value = _opened(piece)
    node = JsonNode(line=line, value=value, plain=_opened(piece) if piece in "{[" else value)
    if isinstance(parent.value, dict):
        parent.value[str(key)] = node
        parent.plain[str(key)] = node.plain
    else:
        parent.value.append(node)
        parent.plain.append(node.plain)
    if piece in "{[":
        open_nodes.append(node)
    return None


def _opened(piece: str) -> object:
    return {} if piece == "{" else [] if piece == "[" else _scalar(piece)


def _scalar(piece: str) -> object:
    if piece.startswith('"') and "\\" not in piece:
        return piece[1:-1]
    return parse(piece.encode("utf-8", "replace"))


def read_text(path: Path) -> str:
    """The text of a document.

    Raises:
        LogNotReadable: the file cannot be opened or read, or is larger than a document is.
    """
    with LogNotReadable.for_os_errors(path):
        return read_document(path).decode("utf-8-sig", "replace")


def read_json_with_lines(path: Path, *, text: str | None = None) -> JsonNode:
    """The document, each of whose values knows its line; ``text`` where it was read already.

    Raises:
        LogNotReadable: as `read_text`, or it is no complete JSON.
    """
    try:
        return parse_with_lines(read_text(path) if text is None else text)
    except ValueError as error:
        raise LogNotReadable(path=path, problem=f"it is no complete JSON ({error})") from error


def set_step_lines(dialogue: Dialogue, node: JsonNode, *, since: int) -> None:
    """Gives the steps from ``since`` on, which were read out of ``node``, the lines of their words."""
    texts = list(_texts(node))
    for position, step in enumerate(dialogue.steps[since:], since):
        # Evidence of a call quotes the text that it wrote, else the first that it received.
        values = (step.arguments.get("new"), *step.arguments.values())
        quotable = step.text or next((value for value in values if isinstance(value, str) and value), "")
        first_line = quotable.strip().partition("\n")[0]
        line = next((one.line for one in texts if first_line and first_line in one.value), step.source.line)
        dialogue.change(position, source=msgspec.structs.replace(step.source, line=line))


def _texts(node: JsonNode) -> Iterator[JsonNode]:
    """The texts in a value, in their order, without recursion: a document may be deep."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one.value, str):
            yield one
        elif isinstance(one.value, dict):
            waiting.extend(reversed(one.value.values()))
        elif isinstance(one.value, list):
            waiting.extend(reversed(one.value))
