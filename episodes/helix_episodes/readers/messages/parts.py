"""The parts of a message, in all the spellings that agents have for the same four things.

A message is a text, a list of parts, or a text with a list of calls beside it. A part is words, a thought, a call or
the result of one; which of these is told by its ``type``, or in Google's form by the one key that it has. Names differ
(``tool_use``, ``toolCall``, ``tool-call``; ``input``, ``arguments``, ``args``), meanings do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.fields import Record, object_in, objects_in, text_in
from helix_episodes.readers.jsonl import parse
from helix_episodes.readers.vocabulary import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = frozenset({"text", "inputtext", "outputtext"})
_THOUGHTS = frozenset({"thinking", "think", "reasoning", "thought"})
_CALLS = frozenset({"tooluse", "toolcall", "functioncall", "servertooluse"})
_RESULTS = frozenset({"toolresult", "functionresult", "functioncalloutput"})
_PICTURES = frozenset({"image", "imageurl", "document", "file", "audio"})
#: An answer in a response in a part of a list is four deep.
_DEEPEST = 8
_CALL_IDS = ("toolCallId", "tool_call_id", "call_id", "callId", "toolUseId", "id")
_RESULT_IDS = ("tool_use_id", "toolCallId", "tool_call_id", "call_id", "callId", "id")
_NAMES = ("name", "toolName", "tool_name", "toolId")
_GIVEN = ("input", "arguments", "args", "parameters")
_ANSWERS = ("content", "output", "result", "value", "text")


class Words(NamedTuple):
    """What was said."""

    text: str


class Thought(NamedTuple):
    """What the agent thought."""

    text: str


class Call(NamedTuple):
    """A tool called."""

    id: str | None
    tool: str
    arguments: Record


class Answer(NamedTuple):
    """A call's result. ``failed`` is the log's flag, None without one; ``exit_code`` where a field has it."""

    id: str | None
    text: str
    failed: bool | None = None
    exit_code: int | None = None


class Other(NamedTuple):
    """A part of a type never met, or a picture (``known``)."""

    kind: str
    known: bool


Part = Words | Thought | Call | Answer | Other


def parts_of(message: Record) -> Iterator[Part]:
    """What a message holds, in its order; thoughts and calls that stand beside the content come before and after it."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        thought = text_in(message, name)
        if thought:
            yield Thought(thought)
            break
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        yield Words(content)
    elif isinstance(content, list):
        for block in content:
            yield Words(block) if isinstance(block, str) else _part(block if isinstance(block, dict) else {})
    for call in objects_in(message, "tool_calls"):
        yield read_call(object_in(call, "function") | {"id": _first(call, _CALL_IDS)} | _flat(call))


def read_call(record: Record) -> Call:
    """The call in a record that has a name and arguments, as an object or as the text of one."""
    given: object = next((record[name] for name in _GIVEN if name in record), {})
    return Call(_first(record, _CALL_IDS), _first(record, _NAMES) or "unnamed", arguments_of(given))


def read_answer(record: Record) -> Answer:
    """The result in a record that has the id of its call and a content."""
    flag = record.get("is_error", record.get("isError"))
    value = next((record[name] for name in _ANSWERS if record.get(name) is not None), "")
    code = value.get("exitCode") if isinstance(value, dict) else None
    failed = flag if isinstance(flag, bool) else None
    return Answer(_first(record, _RESULT_IDS), text_of(value), failed, code if isinstance(code, int) else None)


def arguments_of(given: object) -> Record:
    """A call's arguments; a text that is no JSON object is kept as ``input``.

    >>> arguments_of('{"command": "ls"}'), arguments_of("status")
    ({'command': 'ls'}, {'input': 'status'})
    """
    if isinstance(given, dict):
        return given
    if not isinstance(given, str) or not given.strip():
        return {}
    try:
        value = parse(given.encode("utf-8", "replace"))
    except ValueError:
        return {"input": given}
    return value if isinstance(value, dict) else {"input": given}


def text_of(value: object, *, depth: int = _DEEPEST) -> str:
    """The text of a content in any of its shapes: a text, parts, the streams of a command; of a picture only a mark.

    What stands deeper than ``depth`` is no content that an agent writes, and says nothing.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "\n".join(text for each in value if (text := text_of(each, depth=depth - 1)))
    if not isinstance(value, dict) or not depth:
        return ""
    streams = [value[name] for name in ("stdout", "stderr") if isinstance(value.get(name), str) and value[name]]
    if streams:
        return "\n".join(streams)
    told = next((value[name] for name in ("text", "output", "error", "content") if value.get(name)), None)
    if told is not None:
        return text_of(told, depth=depth - 1)
    return f"[{value['type']}]" if plain_name(str(value.get("type"))) in _PICTURES else ""


def _part(block: Record) -> Part:
    kind = plain_name(str(block.get("type", "")))
    if kind in _CALLS or "functionCall" in block:
        return read_call(object_in(block, "functionCall") or block)
    if kind in _RESULTS:
        return read_answer(block)
    if "functionResponse" in block:
        return _response(object_in(block, "functionResponse"))
    if kind in _THOUGHTS or block.get("thought") is True:
        return Thought(str(text_in(block, "thinking") or text_in(block, "think") or text_of(block)))
    if kind in _WORDS or (not kind and isinstance(block.get("text"), str)):
        return Words(text_of(block))
    return Other(str(block.get("type") or "part without type"), known=kind in _PICTURES or "inlineData" in block)


def _response(response: Record) -> Answer:
    """Google's form of a result: an output, or an error."""
    answer = object_in(response, "response")
    failed = True if "error" in answer else None
    return Answer(text_in(response, "id"), text_of(answer), failed)


def _first(record: Record, names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := text_in(record, name))), None)


def _flat(call: Record) -> dict[str, Any]:
    """Name and arguments where they stand on the call itself."""
    return {name: call[name] for name in ("name", "arguments", "args") if name in call}
