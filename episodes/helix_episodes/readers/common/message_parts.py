"""Messages in all the spellings that agents have: texts, thoughts, calls, results and exit codes.

A message is a text, a list of parts, or a text with a list of calls next to it. A part is words, a thought, a call or
the result of one, known by its ``type``, or in Google's form by the one key that it has. Names differ (``tool_use``,
``toolCall``, ``tool-call``; ``input``, ``arguments``, ``args``), meanings do not.

Many agents write the exit code of a command into the text that the model sees, on the first line or among the last.
Only a line that is nothing but such a sentence counts: what a command printed may mention exit codes, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.echo import TAG
from helix_episodes.readers.common.fields import Record, id_in, object_in, objects_in, text_in
from helix_episodes.readers.common.jsonl import parse
from helix_episodes.readers.common.tool_translation import normalized_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from helix_episodes.session import Status


_WORDS = frozenset({"text", "inputtext", "outputtext"})
_THOUGHTS = frozenset({"thinking", "think", "reasoning", "thought"})
_CALLS = frozenset({"tooluse", "toolcall", "functioncall", "servertooluse"})
_RESULTS = frozenset({"toolresult", "functionresult", "functioncalloutput", "toolcallresponse"})
_PICTURES = frozenset({"image", "imageurl", "document", "file", "audio"})
#: An answer in a response in a part of a list is four deep.
_DEEPEST = 8
_CALL_IDS = ("toolCallId", "tool_call_id", "call_id", "callId", "toolUseId", "id")
_RESULT_IDS = ("tool_use_id", "toolCallId", "tool_call_id", "call_id", "callId", "id")
_NAMES = ("name", "toolName", "tool_name", "toolId")
_ARGUMENTS = ("input", "arguments", "args", "parameters")
_RESULT_CONTENTS = ("content", "output", "result", "value", "text", "response")


class TextPart(NamedTuple):
    """Words of a message."""

    text: str


class ThoughtPart(NamedTuple):
    """What the agent thought."""

    text: str


class CallPart(NamedTuple):
    """A tool called."""

    id: str | None
    tool: str
    arguments: Record


class ResultPart(NamedTuple):
    """A call's result. ``failed`` is the log's flag, None without one; ``exit_code`` where a field has it."""

    id: str | None
    text: str
    failed: bool | None = None
    exit_code: int | None = None


class OtherPart(NamedTuple):
    """A part of an unknown type, or a picture (``known``)."""

    kind: str
    known: bool


MessagePart = TextPart | ThoughtPart | CallPart | ResultPart | OtherPart


def read_parts(message: Record) -> Iterator[MessagePart]:
    """What a message holds, in its order; thoughts and calls next to the content come before and after it."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        thought = text_in(message, name)
        if thought:
            yield ThoughtPart(thought)
            break
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        yield TextPart(content)
    elif isinstance(content, list):
        for block in content:
            yield TextPart(block) if isinstance(block, str) else _part(block if isinstance(block, dict) else {})
    yield from tool_calls(message)


def tool_calls(message: Record) -> list[CallPart]:
    """The calls next to the content of an assistant's message.

    >>> tool_calls({"tool_calls": [{"id": "c1", "function": {"name": "get_order", "arguments": '{"id": 7}'}}]})
    [CallPart(id='c1', tool='get_order', arguments={'id': 7})]
    """
    # Name and arguments are below ``function``, or on the call itself.
    return [
        read_call(
            object_in(call, "function")
            | {"id": _id(call, _CALL_IDS)}
            | {name: call[name] for name in ("name", "arguments", "args") if name in call}
        )
        for call in objects_in(message, "tool_calls")
    ]


def read_call(record: Record) -> CallPart:
    """The call in a record that has a name and arguments, as an object or as the text of one."""
    logged: object = next((record[name] for name in _ARGUMENTS if name in record), {})
    named = next((value for name in _NAMES if (value := text_in(record, name))), "unnamed")
    return CallPart(_id(record, _CALL_IDS), named, parse_arguments(logged))


def read_result(record: Record) -> ResultPart:
    """The result in a record that has the id of its call and a content."""
    flag = record.get("is_error", record.get("isError"))
    value = next((record[name] for name in _RESULT_CONTENTS if record.get(name) is not None), "")
    code = value.get("exitCode") if isinstance(value, dict) else None
    failed = flag if isinstance(flag, bool) else None
    return ResultPart(_id(record, _RESULT_IDS), content_text(value), failed, code if isinstance(code, int) else None)


def parse_arguments(logged: object) -> Record:
    """A call's arguments; a text that is no JSON object is kept as ``input``.

    >>> parse_arguments('{"command": "ls"}'), parse_arguments("status")
    ({'command': 'ls'}, {'input': 'status'})
    """
    if isinstance(logged, dict):
        return logged
    if not isinstance(logged, str) or not logged.strip():
        return {}
    try:
        value = parse(logged.encode("utf-8", "replace"))
    except ValueError:
        return {"input": logged}
    return value if isinstance(value, dict) else {"input": logged}


def content_text(value: object, *, depth: int = _DEEPEST) -> str:
    """The text of a content in any of its shapes: a text, parts, the streams of a command; of a picture only a mark.

    What is deeper than ``depth`` is no content that an agent writes, and says nothing.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and depth:
        return "\n".join(text for each in value if (text := content_text(each, depth=depth - 1)))
    if not isinstance(value, dict) or not depth:
        return ""
    streams = [value[name] for name in ("stdout", "stderr") if isinstance(value.get(name), str) and value[name]]
    if streams:
        return "\n".join(streams)
    inner = next((value[name] for name in ("text", "output", "error", "content") if value.get(name)), None)
    if inner is not None:
        return content_text(inner, depth=depth - 1)
    return f"[{value['type']}]" if normalized_name(str(value.get("type"))) in _PICTURES else ""


def _part(block: Record) -> MessagePart:
    kind = normalized_name(str(block.get("type", "")))
    if kind in _CALLS or "functionCall" in block:
        return read_call(object_in(block, "functionCall") or block)
    if kind in _RESULTS:
        return read_result(block)
    if "functionResponse" in block:
        # Google's form of a result: an output, or an error.
        response = object_in(block, "functionResponse")
        answer = object_in(response, "response")
        return ResultPart(text_in(response, "id"), content_text(answer), True if "error" in answer else None)
    if kind in _THOUGHTS or block.get("thought") is True:
        return ThoughtPart(str(text_in(block, "thinking") or text_in(block, "think") or content_text(block)))
    if kind in _WORDS or (not kind and isinstance(block.get("text"), str)):
        return TextPart(content_text(block))
    return OtherPart(str(block.get("type") or "part without type"), known=kind in _PICTURES or "inlineData" in block)


def _id(record: Record, names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := id_in(record, name))), None)


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a message, whether it is one or a list of blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text for block in objects_in(message, "content") if (text := text_in(block, "text")))


def is_error(text: str) -> bool:
    r"""Whether a tool's answer is its own error: a text that begins so, or an object that holds nothing else.

    >>> is_error("Error: no seats left"), is_error('{"error": "not found"}'), is_error('{"errors": 0, "rows": []}')
    (True, True, False)
    """
    if text.startswith("Error: "):
        return True
    value = parse_arguments(text) if text.startswith("{") else {}
    return bool(value.get("error")) and set(value) <= {"error", "message", "code", "status"}


_SENTENCE = re.compile(
    r"\s*[<\[(]?(?:Error: )?(?:(?:Command|Process|shellId: \S{1,40}) )?"
    r"(?:failed |exited |completed |finished )?(?:with )?"
    r"\(?(?:exit |return)code:? (-?\d{1,6})[>\])]{0,2}\.?\s*",
    re.IGNORECASE,
)
_NEW_FILE = re.compile(r"(?:Successfully )?created (?:and wrote to )?(?:a )?(?:new )?file\b", re.IGNORECASE)
# Gemini puts four lines below the one that has the code.
_LAST_LINES = 6
_LONGEST_SENTENCE = 120


class CallEnding(NamedTuple):
    """How a call came out, the exit code if it is known, and the output without the sentence that stated it."""

    status: Status
    exit_code: int | None
    text: str


def read_ending(text: str, *, failed: bool | None, ran: bool, exit_code: int | None = None) -> CallEnding:
    r"""The ending of a call. ``failed`` is the log's own flag, None without one; ``ran``: it is a shell command.

    A command is what its exit code says, whatever the flag: some flag only what could not be started. Where none is
    stated, none is made up of the flag: then what a runner printed may say more.

    >>> read_ending("1 failed\nCommand failed with exit code: 1.", failed=None, ran=True)
    CallEnding(status='error', exit_code=1, text='1 failed')
    >>> read_ending("the shop opens", failed=None, ran=False)
    CallEnding(status='unknown', exit_code=None, text='the shop opens')
    """
    code, rest = (exit_code, text) if exit_code is not None or not ran else _stated_exit_code(text)
    if code is not None:
        return CallEnding("error" if code or failed else "ok", code, rest)
    status: Status = "unknown" if failed is None else "error" if failed else "ok"
    return CallEnding(status, None, rest)


def says_new_file(text: str) -> bool:
    """Whether the result of writing a file says that there was none before.

    >>> says_new_file("Successfully created and wrote to new file: /srv/a.py.")
    True
    """
    return _NEW_FILE.match(text[:_LONGEST_SENTENCE]) is not None


def _stated_exit_code(text: str) -> tuple[int | None, str]:
    """The exit code that a text states, and the text without it; a memory may have been heard behind it."""
    code, rest = _sentence_in(text)
    begin = text.find(f"\n<{TAG}")
    if code is None and begin >= 0:
        code, rest = _sentence_in(text[:begin])
        rest += text[begin:]
    return code, rest


def _sentence_in(text: str) -> tuple[int | None, str]:
    lines = text.split("\n")
    places = dict.fromkeys((0, *range(len(lines) - 1, max(len(lines) - 1 - _LAST_LINES, 0), -1)))
    for place in places:
        found = _SENTENCE.fullmatch(lines[place][:_LONGEST_SENTENCE])
        if found:
            return int(found[1]), "\n".join([*lines[:place], *lines[place + 1 :]]).strip("\n")
    return None, text
