r"""JSON as it stands in a file: values with the places that they stand at, comments and trailing commas included.

Settings are edited by inserting text at a place, so that everything else stays byte for byte; the standard library
tells values but no places.

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
from typing import Any

from helix_cli.errors import NotEditable

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
#: No settings are nested deeper, and Python's own stack ends somewhere above.
_DEEPEST = 200


@dataclass(frozen=True, kw_only=True)
class Node:
    """A value and where it stands: from ``start`` to before ``end``. ``members`` of an object, ``items`` of a list."""

    value: Any
    start: int
    end: int
    members: dict[str, Node] = field(default_factory=dict)
    items: tuple[Node, ...] = ()


def parse(text: str) -> Node:
    """The value that a whole text is.

    Raises:
        NotEditable: It is no JSON, or an object names something twice: which of the two counts, nobody can tell.
    """
    reader = _Reader(text)
    node = reader.value(reader.blank(text.startswith("\ufeff")), depth=0)
    if reader.blank(node.end) != len(text):
        reader.refuse(node.end, "something stands behind the end of the JSON")
    return node


def has_comments(text: str) -> bool:
    """Whether a text that `parse` reads is more than JSON: an agent that wants JSON may skip the file."""
    try:
        json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        return True
    return False


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def blank(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def refuse(self, at: int, problem: str) -> None:
        raise NotEditable(problem, line=self._text.count("\n", 0, at) + 1)

    def value(self, at: int, *, depth: int) -> Node:
        if depth > _DEEPEST:
            self.refuse(at, "it is nested too deeply")
        if self._text.startswith("{", at):
            return self._object(at, depth=depth)
        if self._text.startswith("[", at):
            return self._list(at, depth=depth)
        found = _STRING.match(self._text, at) or _SCALAR.match(self._text, at)
        if found is None:
            raise NotEditable("this is no JSON", line=self._text.count("\n", 0, at) + 1)
        try:
            return Node(value=json.loads(found[0]), start=at, end=found.end())
        except ValueError:
            raise NotEditable("this is no JSON", line=self._text.count("\n", 0, at) + 1) from None

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
