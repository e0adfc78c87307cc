r"""Codex's code mode: the calls of tools that a script in JavaScript makes, and their outputs among what it printed.

Newer models call one tool, ``exec``, with a script that calls the others (``tools.exec_command({cmd: "…"})``). The
script is no step of its own; what it calls is. A call is read where its argument is written out: texts, numbers, lists
and objects of them, joined texts, and names that the script gave such a value before. What is computed is not known.

>>> calls_in('const cmd = "pytest -q"; const r = await tools.exec_command({cmd, yield_time_ms: 1000}); text(r);')
[ScriptedCall(tool='exec_command', arguments={'cmd': 'pytest -q', 'yield_time_ms': 1000})]
>>> read_script_output("Script completed\nWall time 0.4 seconds\nOutput:\n{\"exit_code\": 1, \"output\": \"1 failed\"}")
ScriptOutput(state='completed', cell=None, texts=['{"exit_code": 1, "output": "1 failed"}'])
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.common.jsonl import parse

if TYPE_CHECKING:
    from helix_episodes.readers.common.fields import Record


class ScriptedCall(NamedTuple):
    """A tool that a script calls; a text that it is handed is the argument ``input``."""

    tool: str
    arguments: dict[str, Any]


class ScriptOutput(NamedTuple):
    """What came back from a script; while it is ``running``, the rest comes when its ``cell`` is waited for."""

    state: str
    cell: str | None
    texts: list[str]


_HEAD = re.compile(
    r"\AScript (completed|failed|terminated|running with cell ID (\S{1,100}))[^\n]*\n?"
    r"(?:Wall time [^\n]*\n?)?(?:(?:Final )?Output:\n?)?"
)
_CALL = re.compile(r"tools\s*(?:\.\s*(\w{1,100})|\[\s*[\"'](\w{1,100})[\"']\s*\])\s*\(")
_NAMED = re.compile(r"(?:const|let|var)\s+(\w{1,100})\s*=\s*(?!=)")
#: A text, a comment: what is in them is no code.
_OPAQUE = re.compile(
    r"//[^\n]*|/\*[\s\S]*?\*/|\"(?:[^\"\\\n]|\\[\s\S])*\"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`"
)
_BLANK = re.compile(r"(?:\s|//[^\n]*\n|/\*[\s\S]*?\*/)*")
_NUMBER = re.compile(r"-?\d[\d_]*(?:\.\d+)?")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_ESCAPED = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|[\s\S])")
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
#: A script that nests deeper computes, and does not write out.
_DEEPEST = 12


class _ComputedValueError(Exception):
    """The value is not written out in the script."""


def calls_in(script: str) -> list[ScriptedCall]:
    """The calls whose argument is written out, in the order in which they stand in the script."""
    opaque = [found.span() for found in _OPAQUE.finditer(script)]
    known: dict[str, Any] = {}
    calls: list[ScriptedCall] = []
    begins = [found for pattern in (_NAMED, _CALL) for found in pattern.finditer(script)]
    for found in sorted(begins, key=lambda one: one.start()):
        if any(start < found.start() < end for start, end in opaque):
            continue
        try:
            value = _Literal(script, known).read(found.end())
        except _ComputedValueError:
            continue
        if found.re is _NAMED:
            known[found[1]] = value
        elif isinstance(value, dict | str):
            arguments = value if isinstance(value, dict) else {"input": value}
            calls.append(ScriptedCall(found[1] or found[2], arguments))
    return calls


class _Literal:
    """Reads one value that is written out in a script."""

    def __init__(self, script: str, known: dict[str, Any]) -> None:
        self._script = script
        self._known = known
        self._at = 0

    def read(self, at: int) -> Any:  # noqa: ANN401  (any value)
        """The value that begins there."""
        self._at = at
        return self._joined(0)

    def _joined(self, depth: int) -> Any:  # noqa: ANN401  (as above)
        """A value, or several texts with a plus between them."""
        value = self._value(depth)
        while self._take("+"):
            more = self._value(depth)
            if not isinstance(value, str | int) or not isinstance(more, str | int):
                raise _ComputedValueError
            value = f"{value}{more}"
        return value

    def _value(self, depth: int) -> Any:  # noqa: ANN401  (one return for each kind of value)
        if depth > _DEEPEST:
            raise _ComputedValueError
        self._skip_blanks()
        sign = self._script[self._at : self._at + 1]
        if sign == "{":
            return self._object(depth)
        if sign == "[":
            return self._list(depth)
        if sign and sign in "\"'`":
            return self._text()
        if self._script.startswith("String.raw`", self._at):
            self._at += len("String.raw")
            return self._text(raw=True)
        if found := _NUMBER.match(self._script, self._at):
            self._at = found.end()
            digits = found[0].replace("_", "")
            return float(digits) if "." in digits else int(digits)
        return self._named()

    def _named(self) -> Any:  # noqa: ANN401  (as above)
        found = _WORD.match(self._script, self._at)
        if found is None or found[0] not in {*_CONSTANTS, *self._known}:
            raise _ComputedValueError
        self._at = found.end()
        if self._script[self._at : self._at + 1] in {".", "(", "["}:
            raise _ComputedValueError
        return self._known[found[0]] if found[0] in self._known else _CONSTANTS[found[0]]

    def _text(self, *, raw: bool = False) -> str:
        found = _OPAQUE.match(self._script, self._at)
        if found is None:
            raise _ComputedValueError
        self._at = found.end()
        inside = found[0][1:-1]
        if found[0].startswith("`"):
            # A template with something computed in it.
            if re.search(r"(?<!\\)\$\{", inside):
                raise _ComputedValueError
            inside = inside.replace("\\`", "`").replace("\\${", "${") if raw else inside
        return inside if raw else _ESCAPED.sub(_unescaped, inside)

    def _list(self, depth: int) -> Any:  # noqa: ANN401  (a list, or the text that it is joined to)
        self._at += 1
        values: list[Any] = []
        while not self._take("]"):
            values.append(self._joined(depth + 1))
            if not self._take(",") and not self._script.startswith("]", self._at):
                raise _ComputedValueError
        if self._take(".join("):
            self._skip_blanks()
            between = self._text()
            if not self._take(")") or not all(isinstance(value, str) for value in values):
                raise _ComputedValueError
            return between.join(values)
        return values

    def _object(self, depth: int) -> dict[str, Any]:
        self._at += 1
        values: dict[str, Any] = {}
        while not self._take("}"):
            name = self._key()
            # ``{cmd}`` is short for ``{cmd: cmd}``.
            values[name] = self._joined(depth + 1) if self._take(":") else self._shorthand(name)
            if not self._take(",") and not self._script.startswith("}", self._at):
                raise _ComputedValueError
        return values

    def _key(self) -> str:
        self._skip_blanks()
        if self._script[self._at : self._at + 1] in {'"', "'"}:
            return self._text()
        found = _WORD.match(self._script, self._at)
        if found is None:
            raise _ComputedValueError
        self._at = found.end()
        return found[0]

    def _shorthand(self, name: str) -> Any:  # noqa: ANN401  (as above)
        if name not in self._known:
            raise _ComputedValueError
        return self._known[name]

    def _take(self, sign: str) -> bool:
        self._skip_blanks()
        if not self._script.startswith(sign, self._at):
            return False
        self._at += len(sign)
        self._skip_blanks()
        return True

    def _skip_blanks(self) -> None:
        found = _BLANK.match(self._script, self._at)
        self._at = found.end() if found else self._at


def _unescaped(found: re.Match[str]) -> str:
    sign = found[1]
    if sign.startswith(("u", "x")) and len(sign) > 1:
        code = int(sign[1:].strip("{}"), 16)
        return chr(code) if code < 0xD800 or 0xDFFF < code <= 0x10FFFF else "?"  # noqa: PLR2004  (halves of pairs)
    return "" if sign.endswith("\n") else _PLAIN_ESCAPES.get(sign, sign)


def read_script_output(raw: object) -> ScriptOutput | None:
    """What a script's output says of it, and the texts that it printed; None when it is no script's."""
    parts = raw if isinstance(raw, list) else [raw]
    texts = [text for part in parts if isinstance(text := part.get("text") if isinstance(part, dict) else part, str)]
    head = _HEAD.match(texts[0]) if texts else None
    if head is None:
        return None
    state = "running" if head[2] else head[1]
    rest = [texts[0][head.end() :], *texts[1:]]
    return ScriptOutput(state, head[2], [text for text in rest if text.strip()])


def results_in(texts: list[str]) -> list[Record]:
    """The results of commands that a script printed whole, each as the object that the command's tool returned.

    >>> [one["exit_code"] for one in results_in(['[{"exit_code": 0, "output": ""}, {"exit_code": 2, "output": "x"}]'])]
    [0, 2]
    """
    found: list[Record] = []
    for text in texts:
        try:
            value = parse(text.encode("utf-8", "replace")) if text.lstrip()[:1] in {"{", "["} else None
        except ValueError:
            continue
        listed = value if isinstance(value, list) else [value]
        found += [one for one in map(_settled, listed) if one is not None]
    return found


def _settled(value: object) -> Record | None:
    """A result, or the one in the entry that ``Promise.allSettled`` makes of it."""
    if isinstance(value, dict) and isinstance(value.get("value"), dict):
        value = value["value"]
    if isinstance(value, dict) and "output" in value and ("exit_code" in value or "session_id" in value):
        return value
    return None
