r"""JSON as it stands in a file: values with the places that they stand at, comments and trailing commas included.

Settings are edited by inserting text at a place, so that everything else stays byte for byte; the standard library
tells values but no places. Comments are read so that they can be named, and kept when something is taken out: the
files that we put something into have to be strict JSON, for their agents skip them otherwise.

>>> root = parse('{"hooks": {}, // ours\n "model": "x",}')
>>> root.value
{'hooks': {}, 'model': 'x'}
>>> root.members["hooks"].start
10
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from helix_cli.errors import NotEditable

_BLANK = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
#: No settings are nested deeper, and Python's own stack ends somewhere above.
_DEEPEST = 200
_SKIPPED = "an agent that reads strict JSON skips the whole file because of it: take it out"


@dataclass(frozen=True, kw_only=True)
class Node:
    """A value and where it stands: from ``start`` to before ``end``. ``members`` of an object, ``items`` of a list."""

    value: Any
    start: int
    end: int
    members: dict[str, Node] = field(default_factory=dict)
    items: tuple[Node, ...] = ()


class Comment(NamedTuple):
    """A comment, marks and all, and where it begins."""

    start: int
    text: str


def parse(text: str) -> Node:
    """The value that a whole text is.

    Raises:
        NotEditable: It is no JSON, or an object names something twice: which of the two counts, nobody can tell.
    """
    return _Reader(text).whole()


def comments(text: str) -> tuple[Comment, ...]:
    r"""The comments of a text, in their order.

    >>> comments('{"a": 1 // one\n}')
    (Comment(start=8, text='// one'),)

    Raises:
        NotEditable: As for `parse`.
    """
    reader = _Reader(text)
    reader.whole()
    return tuple(Comment(start, found) for start, found in sorted(reader.comments.items()))


def require_strict(text: str) -> None:
    """Refuses what is JSON only for a lenient reader: an agent that wants JSON skips the whole file.

    Raises:
        NotEditable: A comment or a comma too many stands there, or it is no JSON at all.
    """
    for found in comments(text):
        raise NotEditable(f"a comment stands here, and {_SKIPPED}", line=line_of(text, found.start))
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise NotEditable(f"a comma too many stands here, and {_SKIPPED}", line=error.lineno) from error


def behind_blanks(text: str, at: int) -> int:
    """The first place from ``at`` on where neither a blank nor a comment stands."""
    return _Reader(text).blank(at)


def line_of(text: str, at: int) -> int:
    """The number of the line on which a place stands, from 1."""
    return text.count("\n", 0, at) + 1


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.comments: dict[int, str] = {}

    def whole(self) -> Node:
        node = self.value(self.blank(self._text.startswith("\ufeff")), depth=0)
        if self.blank(node.end) != len(self._text):
            self.refuse(node.end, "something stands behind the end of the JSON")
        return node

    def blank(self, at: int) -> int:
        while (found := _BLANK.match(self._text, at)) is not None:
            if found[0].startswith("/"):
                self.comments[at] = found[0]
            at = found.end()
        return at

    def refuse(self, at: int, problem: str) -> NoReturn:
        raise NotEditable(problem, line=line_of(self._text, at))

    def value(self, at: int, *, depth: int) -> Node:
        if depth > _DEEPEST:
            self.refuse(at, "it is nested too deeply")
        if self._text.startswith("{", at):
            return self._object(at, depth=depth)
        if self._text.startswith("[", at):
            return self._list(at, depth=depth)
        found = _STRING.match(self._text, at) or _SCALAR.match(self._text, at)
        if found is None:
            self.refuse(at, "this is no JSON")
        try:
            return Node(value=json.loads(found[0]), start=at, end=found.end())
        except ValueError:
            self.refuse(at, "this is no JSON")

    def _object(self, start: int, *, depth: int) -> Node:
        members: dict[str, Node] = {}
        at = self.blank(start + 1)
        while not self._text.startswith("}", at):
            key = self.value(at, depth=depth + 1)
            if not isinstance(key.value, str):
                self.refuse(at, "a name is no text")
            if key.value in members:
                self.refuse(at, f"{key.value!r} stands there twice")
            at = self.blank(key.end)
            if not self._text.startswith(":", at):
                self.refuse(at, "a colon is missing")
            members[key.value] = node = self.value(self.blank(at + 1), depth=depth + 1)
            at = self._next(node.end, "}")
        value = {name: node.value for name, node in members.items()}
        return Node(value=value, start=start, end=at + 1, members=members)

    def _list(self, start: int, *, depth: int) -> Node:
        items: list[Node] = []
        at = self.blank(start + 1)
        while not self._text.startswith("]", at):
            items.append(self.value(at, depth=depth + 1))
            at = self._next(items[-1].end, "]")
        return Node(value=[one.value for one in items], start=start, end=at + 1, items=tuple(items))

    def _next(self, at: int, closing: str) -> int:
        """Where the next element begins, or the closing bracket stands."""
        at = self.blank(at)
        if self._text.startswith(",", at):
            return self.blank(at + 1)
        if not self._text.startswith(closing, at):
            self.refuse(at, "a comma is missing")
        return at
