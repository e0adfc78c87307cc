"""Inserting into JSON: members into objects and items at the ends of lists, and cutting them out again.

Nothing is replaced. So what was there stays byte for byte, and cutting the insertions out gives the bytes of before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_cli.errors import NotEditable
from helix_cli.setup.jsonc import behind_blanks, line_of, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_cli.setup.jsonc import Node

_INDENT = re.compile(r"^[{\[]\s*?\n([ \t]+)\S", re.MULTILINE)


#: Where something stands: the names of members and the places of items, from the root.
Path = Sequence[str | int]
Kept = Collection[tuple[str | int, ...]]


class Cut(NamedTuple):
    """A part of a text: from ``start`` to before ``end``."""

    start: int
    end: int


def inserted(text: str, path: Sequence[str], value: object, *, append: bool = False) -> str:
    """The text with a value at ``path``: a member where there is none, or with ``append`` an item of the list there.

    Objects and lists on the way are made where they are missing.

    Raises:
        NotEditable: The text is no JSON, or something else stands on the way.
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


def _first(text: str, path: Path, ours: Callable[[Any], bool], kept: Kept) -> Cut | None:
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


def _nodes(node: Node, path: Path) -> list[Node] | None:
    """The nodes from the root to the one at ``path``; None when there is none."""
    found = [node]
    for name in path:
        below = _below(found[-1], name)
        if below is None:
            return None
        found.append(below)
    return found


def _below(node: Node, name: str | int) -> Node | None:
    if isinstance(name, str):
        return node.members.get(name)
    return node.items[name] if name < len(node.items) else None


def _emptied(text: str, nodes: Sequence[Node], path: Path, kept: Kept) -> Cut:
    """The member to cut so that nothing empty is left: the outermost that holds nothing but the last."""
    depth = len(path)
    while depth > 1 and len(nodes[depth - 1].members) == 1 and tuple(path[: depth - 1]) not in kept:
        depth -= 1
    holder = nodes[depth - 1]
    members = list(holder.members.values())
    return _cut(text, holder, members, members.index(nodes[depth]))


def _cut(text: str, holder: Node, items: Sequence[Node], place: int) -> Cut:
    """One element with the comma that joins it to a neighbour."""
    if place:
        return Cut(behind_blanks(text, items[place - 1].end), items[place].end)
    if len(items) > 1:
        return Cut(holder.start + 1, behind_blanks(text, items[0].end) + 1)
    return Cut(holder.start + 1, holder.end - 1)


def _put(text: str, holder: Node, items: Sequence[Node], value: object, *, name: str | None = None) -> str:
    unit, line = _unit(text), _newline(text)
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


def _require(text: str, node: Node, kind: type, path: Sequence[str]) -> None:
    if not isinstance(node.value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise NotEditable(f"what stands on the way to {'.'.join(path)} is not {wanted}", line=line_of(text, node.start))


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _depth(text: str, at: int, unit: str) -> str:
    """The indent of the line on which a holder begins; of one that stands on its parent's line, as deep as it is."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    own = line[: len(line) - len(line.lstrip())].removeprefix("\ufeff")
    opened = sum(line.count(one) for one in "{[") - sum(line.count(one) for one in "}]")
    return own + unit * max(opened, 0)
