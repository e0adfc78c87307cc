r"""JSON as text: what a file says, and the same text changed so that it says something else.

Only what differs is cut out or inserted; every other byte stays. Comments and commas too many are read so that an
error can name them, and stay when something else is taken out.

>>> parse('{"hooks": {}, // ours\n "model": "x",}').value
{'hooks': {}, 'model': 'x'}
>>> merged('{"a":  [1, 2], "b": 3}', {"a": [1], "b": 3})
'{"a":  [1], "b": 3}'
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from helix_cli.setup.errors import NotEditable

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_LAST_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=[ \t\r\n]*[}\]])', re.DOTALL)
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"^[{\[]\s*?\n([ \t]+)\S", re.MULTILINE)
_SKIPPED = "an agent that reads strict JSON skips the whole file because of it: take it out"
_PROBLEMS = {
    "Extra data": "something stands behind the end of the JSON",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
}
_DECODER = json.JSONDecoder()


class JsonText(NamedTuple):
    """What a text says. ``plain`` is the text with blanks for comments and for commas too many."""

    value: Any
    plain: str
    comments: tuple[re.Match[str], ...]


class _Element(NamedTuple):
    """A member or an item from ``start`` to before ``end``; its value begins ``at``."""

    name: str
    start: int
    at: int
    end: int
    value: Any


def parse(text: str) -> JsonText:
    """What a whole text says.

    Raises:
        NotEditable: It is no JSON, or an object names something twice: which of the two counts is unknown.
    """
    plain = " " + text[1:] if text.startswith("\ufeff") else text
    comments = tuple(one for one in _STRING_OR_COMMENT.finditer(plain) if not one[0].startswith('"'))
    for pattern in (_STRING_OR_COMMENT, _STRING_OR_LAST_COMMA):
        plain = pattern.sub(_blanked, plain)
    try:
        value = json.loads(plain, parse_constant=_refuse_constant)
        _require_unique(plain, _skip(plain, 0))
    except json.JSONDecodeError as error:
        raise NotEditable(_PROBLEMS.get(error.msg, "this is no JSON"), line=error.lineno) from error
    except RecursionError as error:
        raise NotEditable("it is nested too deeply") from error
    return JsonText(value=value, plain=plain, comments=comments)


def strict_value(text: str) -> Any:  # noqa: ANN401  (JSON)
    """What a text says in strict JSON; an empty object where it says nothing.

    Raises:
        NotEditable: There is a comment or a comma too many, which an agent skips the file for, or it is no JSON.
    """
    if not text.strip("\ufeff \t\r\n"):
        return {}
    found = parse(text)
    for comment in found.comments:
        raise NotEditable(f"a comment stands here, and {_SKIPPED}", line=line_of(text, comment.start()))
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise NotEditable(f"a comma too many stands here, and {_SKIPPED}", line=error.lineno) from error
    return found.value


def merged(text: str, value: object) -> str:
    """The text, cut and added to until it says ``value``; a scalar is never replaced.

    Raises:
        NotEditable: Something else than an object or a list is in the way, or a comment would have to go.
    """
    new = text
    while (found := parse(new)).value != value:
        new = _step(new, found.plain, _skip(found.plain, 0), value, ())
    old, left = parse(text).comments, [one[0] for one in found.comments]
    lost = next((one for place, one in enumerate(old) if left[place : place + 1] != [one[0]]), None)
    if lost is not None:
        problem = "a comment stands in what would be taken out"
        raise NotEditable(problem, line=line_of(text, lost.start()), advice="take it out by hand")
    return new


def line_at(text: str, path: tuple[str, ...]) -> int | None:
    """The line on which the value at a path begins; None where it is not known."""
    try:
        plain = parse(text).plain
        at = _skip(plain, 0)
        for name in path:
            at = next(one.at for one in _elements(plain, at) if one.name == name)
    except (NotEditable, StopIteration):
        return None
    return line_of(text, at)


def line_of(text: str, at: int) -> int:
    """The number of the line of a position, from 1."""
    return text.count("\n", 0, at) + 1


def _blanked(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else re.sub(r"[^\r\n]", " ", found[0])


def _refuse_constant(_: str) -> None:
    raise NotEditable("this is no JSON")


def _skip(plain: str, at: int) -> int:
    """The first place from ``at`` on that is no blank."""
    found = _BLANKS.match(plain, at)
    return found.end() if found else at


def _elements(plain: str, at: int) -> list[_Element]:
    """The members of the object at a place, or the items of the list; none of anything else."""
    found: list[_Element] = []
    is_object = plain[at] == "{"
    end = _skip(plain, at + 1) if plain[at] in "{[" else len(plain)
    while end < len(plain) and plain[end] not in "}]":
        name, start = "", end
        if is_object:
            name, end = _DECODER.raw_decode(plain, start)
            end = _skip(plain, _skip(plain, end) + 1)
        value, after = _DECODER.raw_decode(plain, end)
        found.append(_Element(name, start, end, after, value))
        end = _skip(plain, after)
        end = _skip(plain, end + 1) if plain[end] == "," else end
    return found


def _require_unique(plain: str, at: int) -> None:
    names: set[str] = set()
    for one in _elements(plain, at):
        if plain[at] == "{" and one.name in names:
            raise NotEditable(f"{one.name!r} stands there twice", line=line_of(plain, one.start))
        names.add(one.name)
        _require_unique(plain, one.at)


def _step(text: str, plain: str, at: int, new: Any, path: tuple[str, ...]) -> str:  # noqa: ANN401  (JSON)
    """The text one cut or one insertion nearer to saying ``new`` at a place, which it does not say yet."""
    if plain[at] != ("{" if isinstance(new, dict) else "["):
        wanted = "an object" if isinstance(new, dict) else "a list"
        while len(path) < 2 and isinstance(new, dict):  # noqa: PLR2004  (all that setup adds is two names deep)
            path, new = (*path, next(iter(new))), next(iter(new.values()))
        raise NotEditable(f"what stands on the way to {'.'.join(path)} is not {wanted}", line=line_of(text, at))
    found = _elements(plain, at)
    for place, one in enumerate(found):
        if isinstance(new, dict):
            gone, wanted_value = one.name not in new, new.get(one.name)
        else:
            wanted_value = new[place] if place < len(new) else None
            gone = len(new) < len(found) and (place >= len(new) or one.value != wanted_value)
        if gone:
            return _cut(text, plain, at, found, place)
        if one.value != wanted_value:
            return _step(text, plain, one.at, wanted_value, (*path, one.name))
    if isinstance(new, list):
        return _put(text, plain, at, found, "", new[len(found)])
    name = next(name for name in new if name not in {one.name for one in found})
    return _put(text, plain, at, found, json.dumps(name) + ": ", new[name])


def _cut(text: str, plain: str, at: int, found: list[_Element], place: int) -> str:
    """The text without one element and the comma that joins it to a neighbour."""
    if place:
        start, end = _skip(plain, found[place - 1].end), found[place].end
    elif len(found) > 1:
        start, end = at + 1, _skip(plain, found[0].end) + 1
    else:
        start, end = at + 1, _DECODER.raw_decode(plain, at)[1] - 1
    return text[:start] + text[end:]


def _put(text: str, plain: str, at: int, found: list[_Element], name: str, value: object) -> str:
    """The text with an element at the end of the object or list at a place, indented as the rest of it is."""
    indent = _INDENT.search(text)
    unit, line = indent[1] if indent else "  ", "\r\n" if "\r\n" in text else "\n"
    begin = text[text.rfind("\n", 0, at) + 1 : at].removeprefix("\ufeff")
    opened = sum(begin.count(one) for one in "{[") - sum(begin.count(one) for one in "}]")
    outer = line + begin[: len(begin) - len(begin.lstrip())] + unit * max(opened, 0)
    element = (
        outer + unit + name + f"{outer}{unit}".join(json.dumps(value, indent=unit, ensure_ascii=False).split("\n"))
    )
    if found:
        return f"{text[: found[-1].end]},{element}{text[found[-1].end :]}"
    inside = text[at + 1 : _DECODER.raw_decode(plain, at)[1]]
    return text[: at + 1] + element + ("" if "\n" in inside else outer) + text[at + 1 :]
