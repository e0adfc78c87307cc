r"""JSON with positions: parse a file, insert members and items into it as text, and cut them out again.

Settings are edited by inserting text at a position, so that everything else stays byte for byte, and cutting the
insertions out gives the earlier bytes; the standard library gives values but no positions. Comments are parsed so
that an error can name them, and kept when something is taken out: files that we insert into have to be strict JSON,
because their agents skip them otherwise.

>>> root = parse('{"hooks": {}, // ours\n "model": "x",}')
>>> root.value
{'hooks': {}, 'model': 'x'}
>>> root.members["hooks"].start
10
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from helix_cli.errors import NotEditable

if TYPE_CHECKING:
    from collections.abc import Callable


_BLANK = re.compile(r"[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
#: No settings are nested deeper, and Python's own stack ends somewhere above.
_DEEPEST = 200
_SKIPPED = "an agent that reads strict JSON skips the whole file because of it: take it out"


@dataclass(frozen=True, kw_only=True)
class JsonNode:
    """A value and its position: from ``start`` to before ``end``. ``members`` of an object, ``items`` of a list."""

    value: Any
    start: int
    end: int
    members: dict[str, JsonNode] = field(default_factory=dict)
    items: tuple[JsonNode, ...] = ()


class Comment(NamedTuple):
    """A comment, marks and all, and where it begins."""

    start: int
    text: str


def parse(text: str) -> JsonNode:
    """The value that a whole text is.

    Raises:
        NotEditable: It is no JSON, or an object names something twice: which of the two counts is unknown.
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
        NotEditable: There is a comment or a comma too many, or it is no JSON at all.
    """
    for found in comments(text):
        raise NotEditable(f"a comment stands here, and {_SKIPPED}", line=line_of(text, found.start))
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise NotEditable(f"a comma too many stands here, and {_SKIPPED}", line=error.lineno) from error


def behind_blanks(text: str, at: int) -> int:
    """The first place from ``at`` on that is neither a blank nor in a comment."""
    return _Reader(text).blank(at)


def line_of(text: str, at: int) -> int:
    """The number of the line of a position, from 1."""
    return text.count("\n", 0, at) + 1


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.comments: dict[int, str] = {}

    def whole(self) -> JsonNode:
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

    def value(self, at: int, *, depth: int) -> JsonNode:
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
            return JsonNode(value=json.loads(found[0]), start=at, end=found.end())
        except ValueError:
            self.refuse(at, "this is no JSON")

    def _object(self, start: int, *, depth: int) -> JsonNode:
        members: dict[str, JsonNode] = {}
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
        return JsonNode(value=value, start=start, end=at + 1, members=members)

    def _list(self, start: int, *, depth: int) -> JsonNode:
        items: list[JsonNode] = []
        at = self.blank(start + 1)
        while not self._text.startswith("]", at):
            items.append(self.value(at, depth=depth + 1))
            at = self._next(items[-1].end, "]")
        return JsonNode(value=[one.value for one in items], start=start, end=at + 1, items=tuple(items))

    def _next(self, at: int, closing: str) -> int:
        """Where the next element begins, or the closing bracket."""
        at = self.blank(at)
        if self._text.startswith(",", at):
            return self.blank(at + 1)
        if not self._text.startswith(closing, at):
            self.refuse(at, "a comma is missing")
        return at


_INDENT = re.compile(r"^[{\[]\s*?\n([ \t]+)\S", re.MULTILINE)


#: The path of something: the names of members and the places of items, from the root.
Path = Sequence[str | int]
Kept = Collection[tuple[str | int, ...]]


class JsonCut(NamedTuple):
    """A part of a text: from ``start`` to before ``end``."""

    start: int
    end: int


def inserted(text: str, path: Sequence[str], value: object, *, append: bool = False) -> str:
    """The text with a value at ``path``: a member where there is none, or with ``append`` an item of the list there.

    Objects and lists on the way are made where they are missing.

    Raises:
        NotEditable: The text is no JSON, or something else is on the path.
    """
    node, rest = parse(text), list(path)
    while rest and isinstance(node.value, dict) and rest[0] in node.members:
        node = node.members[rest.pop(0)]
    if rest:
        _require(text, node, dict, path)
        for name in reversed(rest[1:] if not append else [*rest[1:], ""]):
            value = {name: value} if name else [value]
        return _put(text, node, list(node.members.values()), value, name=rest[0])
    if not append:
        raise NotEditable(f"{'.'.join(path)} is there already", line=line_of(text, node.start))
    _require(text, node, list, path)
    return _put(text, node, node.items, value)


def without_items(text: str, path: Path, ours: Callable[[Any], bool], *, kept: Kept = frozenset()) -> str:
    """The text without the items of the list at ``path`` that are ours.

    What is emptied by it goes as well, down to what is ``kept``: the paths of lists and objects that others made.
    """
    while (found := _first(text, path, ours, kept)) is not None:
        text = text[: found.start] + text[found.end :]
    return text


def without_member(text: str, path: Path, *, kept: Kept = frozenset()) -> str:
    """The text without the member at ``path``, and without the objects that hold nothing else and are not ``kept``."""
    nodes = _nodes(parse(text), path)
    if nodes is None:
        return text
    found = _emptied(text, nodes, path, kept)
    return text[: found.start] + text[found.end :]


def _first(text: str, path: Path, ours: Callable[[Any], bool], kept: Kept) -> JsonCut | None:
    nodes = _nodes(parse(text), path)
    if nodes is None or not isinstance(nodes[-1].value, list):
        return None
    items = nodes[-1].items
    place = next((place for place, one in enumerate(items) if ours(one.value)), None)
    if place is None:
        return None
    if len(items) == 1 and tuple(path) not in kept:
        return _emptied(text, nodes, path, kept)
    return _cut(text, nodes[-1], items, place)


def _nodes(node: JsonNode, path: Path) -> list[JsonNode] | None:
    """The nodes from the root to the one at ``path``; None when there is none."""
    found = [node]
    for name in path:
        below = _below(found[-1], name)
        if below is None:
            return None
        found.append(below)
    return found


def _below(node: JsonNode, name: str | int) -> JsonNode | None:
    if isinstance(name, str):
        return node.members.get(name)
    return node.items[name] if name < len(node.items) else None


def _emptied(text: str, nodes: Sequence[JsonNode], path: Path, kept: Kept) -> JsonCut:
    """The member to cut so that nothing empty is left: the outermost that holds nothing but the last."""
    depth = len(path)
    while depth > 1 and len(nodes[depth - 1].members) == 1 and tuple(path[: depth - 1]) not in kept:
        depth -= 1
    holder = nodes[depth - 1]
    members = list(holder.members.values())
    return _cut(text, holder, members, members.index(nodes[depth]))


def _cut(text: str, holder: JsonNode, items: Sequence[JsonNode], place: int) -> JsonCut:
    """One element with the comma that joins it to a neighbour."""
    if place:
        return JsonCut(behind_blanks(text, items[place - 1].end), items[place].end)
    if len(items) > 1:
        return JsonCut(holder.start + 1, behind_blanks(text, items[0].end) + 1)
    return JsonCut(holder.start + 1, holder.end - 1)


def _put(text: str, holder: JsonNode, items: Sequence[JsonNode], value: object, *, name: str | None = None) -> str:
    found = _INDENT.search(text)
    unit, line = found[1] if found else "  ", "\r\n" if "\r\n" in text else "\n"
    outer = _depth(text, holder.start, unit)
    lines = json.dumps(value, indent=unit, ensure_ascii=False).splitlines()
    told = f"{line}{outer}{unit}".join(lines)
    element = f"{line}{outer}{unit}{json.dumps(name) + ': ' if name else ''}{told}"
    if items:
        at = items[-1].end
        return f"{text[:at]},{element}{text[at:]}"
    at = holder.start + 1
    closing = "" if "\n" in text[at : holder.end - 1] else f"{line}{outer}"
    return f"{text[:at]}{element}{closing}{text[at:]}"


def _require(text: str, node: JsonNode, kind: type, path: Sequence[str]) -> None:
    if not isinstance(node.value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise NotEditable(f"what stands on the way to {'.'.join(path)} is not {wanted}", line=line_of(text, node.start))


def _depth(text: str, at: int, unit: str) -> str:
    """The indent of the line on which a holder begins; for one on its parent's line, as deep as it is."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    own = line[: len(line) - len(line.lstrip())].removeprefix("\ufeff")
    opened = sum(line.count(one) for one in "{[") - sum(line.count(one) for one in "}]")
    return own + unit * max(opened, 0)
