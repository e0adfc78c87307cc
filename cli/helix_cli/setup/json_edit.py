r"""JSON as text: what a file says, and the same text changed so that it says something else.

Only what differs is cut out or inserted; every other byte stays. A file with comments or trailing commas is refused,
because an agent that reads strict JSON skips the whole of it. For agents that read them (`JsonDialect`), they stay
where they are.

>>> merged('{"a":  [1, 2], "b": 3}', {"a": [1], "b": 3})
'{"a":  [1], "b": 3}'
>>> as_strict('{"a": "//",} // x', "jsonc")
'{"a": "//" }     '
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple

from helix_episodes.errors import HelixGraphError

BOM = "\ufeff"
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"^[{\[]\s*?\n([ \t]+)\S", re.MULTILINE)
_SKIPPED = "an agent that reads strict JSON skips the whole file because of it: take it out"
_PROBLEMS = {
    "Extra data": "there is text after the end of the JSON",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
}
_DECODER = json.JSONDecoder()


class NotEditable(HelixGraphError):
    """A file of settings is not what it should be; ``line`` counts from 1. Nothing was written."""

    def __init__(
        self,
        problem: str,
        *,
        line: int | None = None,
        path: Path | None = None,
        advice: str = "correct the file, or paste what `--print` shows",
    ) -> None:
        self.problem = problem
        self.line = line
        self.path = path
        self.advice = advice
        where = ", ".join([*([str(path)] if path else []), *([f"line {line}"] if line else [])])
        sentence = f"{where}: {problem}" if where else problem
        super().__init__(f"{sentence}; nothing was written: {advice}")

    def at(self, path: Path) -> NotEditable:
        """The same, of a file."""
        return NotEditable(self.problem, line=self.line, path=path, advice=self.advice)


#: What an agent reads besides strict JSON: nothing, comments (Gemini CLI), or trailing commas too (OpenCode).
JsonDialect = Literal["strict", "comments", "jsonc"]
_COMMENT = r"//[^\n]*|/\*.*?\*/"
_BESIDES = {
    "comments": re.compile(rf'"(?:\\.|[^"\\])*"|{_COMMENT}', re.DOTALL),
    "jsonc": re.compile(rf'"(?:\\.|[^"\\])*"|{_COMMENT}|,(?=(?:\s|{_COMMENT})*[}}\]])', re.DOTALL),
}


def as_strict(text: str, dialect: JsonDialect) -> str:
    """The text with blanks in the place of what strict JSON has not, so that every place stays where it is."""
    if dialect == "strict":
        return text
    blanks = re.compile(r"[^\r\n]")
    return _BESIDES[dialect].sub(lambda found: found[0] if found[0][0] == '"' else blanks.sub(" ", found[0]), text)


class _Element(NamedTuple):
    """A member or an item from ``start`` to before ``end``; its value begins ``at``."""

    name: str
    start: int
    at: int
    end: int
    value: Any


def is_blank(text: str | None) -> bool:
    """Whether there is nothing in a file."""
    return not (text or "").strip("\ufeff \t\r\n")


def parse(text: str) -> Any:  # noqa: ANN401  (JSON)
    """What a whole text says; an empty object where it says nothing.

    Raises:
        NotEditable: It is no strict JSON, or an object names something twice: which of the two counts is unknown.
    """
    if is_blank(text):
        return {}
    text = text.removeprefix(BOM)
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        _require_unique(text, _skip(text, 0))
    except json.JSONDecodeError as error:
        raise NotEditable(_problem(error), line=error.lineno) from error
    except RecursionError as error:
        raise NotEditable("it is nested too deeply") from error
    return value


def merged(text: str, value: object, *, dialect: JsonDialect = "strict") -> str:
    """The text, cut and added to until it says ``value``; a scalar is never replaced.

    Raises:
        NotEditable: Something else than an object or a list is in the way.
    """
    mark, text = text[: text.startswith(BOM)], text.removeprefix(BOM)
    text = text + "{}\n" if is_blank(text) else text
    while parse(plain := as_strict(text, dialect)) != value:
        start, end, put = _step(plain, _skip(plain, 0), value, ())
        text = text[:start] + put + text[end:]
    return mark + text


def line_at(text: str, path: tuple[str, ...]) -> int | None:
    """The line on which the value at a path begins; None where it is not known."""
    text = text.removeprefix(BOM)
    try:
        parse(text)
        at = _skip(text, 0)
        for name in path:
            at = next(one.at for one in _elements(text, at) if one.name == name)
    except (NotEditable, StopIteration):
        return None
    return _line_of(text, at)


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _problem(error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is no strict JSON."""
    before, after = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    if after.startswith(("//", "/*")):
        return f"there is a comment here, and {_SKIPPED}"
    if before.endswith(",") and after.startswith(("}", "]")):
        return f"there is a comma too many here, and {_SKIPPED}"
    return _PROBLEMS.get(error.msg, "this is not JSON")


def _refuse_constant(_: str) -> None:
    raise NotEditable("this is not JSON")


def _skip(text: str, at: int) -> int:
    """The first place from ``at`` on that is no blank."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def _elements(text: str, at: int) -> list[_Element]:
    """The members of the object at a place, or the items of the list; none of anything else."""
    found: list[_Element] = []
    is_object = text[at] == "{"
    end = _skip(text, at + 1) if text[at] in "{[" else len(text)
    while end < len(text) and text[end] not in "}]":
        name, start = "", end
        if is_object:
            name, end = _DECODER.raw_decode(text, start)
            end = _skip(text, _skip(text, end) + 1)
        value, after = _DECODER.raw_decode(text, end)
        found.append(_Element(name, start, end, after, value))
        end = _skip(text, after)
        end = _skip(text, end + 1) if text[end] == "," else end
    return found


def _require_unique(text: str, at: int) -> None:
    names: set[str] = set()
    for one in _elements(text, at):
        if text[at] == "{" and one.name in names:
            raise NotEditable(f"{one.name!r} is there twice", line=_line_of(text, one.start))
        names.add(one.name)
        _require_unique(text, one.at)


#: What to put into the place of the text from one place to another.
_Edit = tuple[int, int, str]


def _step(text: str, at: int, new: Any, path: tuple[str, ...]) -> _Edit:  # noqa: ANN401  (JSON)
    """The cut or insertion that brings a text nearer to saying ``new`` at a place, which it does not say yet."""
    if text[at] != ("{" if isinstance(new, dict) else "["):
        wanted = "an object" if isinstance(new, dict) else "a list"
        while len(path) < 2 and isinstance(new, dict):  # noqa: PLR2004  (all that setup adds is two names deep)
            path, new = (*path, next(iter(new))), next(iter(new.values()))
        raise NotEditable(f"what is on the way to {'.'.join(path)} is not {wanted}", line=_line_of(text, at))
    found = _elements(text, at)
    for place, one in enumerate(found):
        if isinstance(new, dict):
            gone, wanted_value = one.name not in new, new.get(one.name)
        else:
            wanted_value = new[place] if place < len(new) else None
            gone = len(new) < len(found) and (place >= len(new) or one.value != wanted_value)
        if gone:
            return _cut(text, at, found, place)
        if one.value != wanted_value:
            return _step(text, one.at, wanted_value, (*path, one.name))
    if isinstance(new, list):
        return _put(text, at, found, "", new[len(found)])
    name = next(name for name in new if name not in {one.name for one in found})
    return _put(text, at, found, json.dumps(name) + ": ", new[name])


def _cut(text: str, at: int, found: list[_Element], place: int) -> _Edit:
    """Takes out one element and the comma that joins it to a neighbour."""
    if place:
        start, end = _skip(text, found[place - 1].end), found[place].end
    elif len(found) > 1:
        start, end = at + 1, _skip(text, found[0].end) + 1
    else:
        start, end = at + 1, _DECODER.raw_decode(text, at)[1] - 1
    return start, end, ""


def _put(text: str, at: int, found: list[_Element], name: str, value: object) -> _Edit:
    """Puts an element at the end of the object or list at a place, indented as the rest of it is."""
    indent = _INDENT.search(text)
    unit, line = indent[1] if indent else "  ", "\r\n" if "\r\n" in text else "\n"
    begin = text[text.rfind("\n", 0, at) + 1 : at]
    opened = sum(begin.count(one) for one in "{[") - sum(begin.count(one) for one in "}]")
    outer = line + begin[: len(begin) - len(begin.lstrip())] + unit * max(opened, 0)
    element = (
        outer + unit + name + f"{outer}{unit}".join(json.dumps(value, indent=unit, ensure_ascii=False).split("\n"))
    )
    if found:
        return found[-1].end, found[-1].end, f",{element}"
    inside = text[at + 1 : _DECODER.raw_decode(text, at)[1]]
    return at + 1, at + 1, element + ("" if "\n" in inside else outer)
