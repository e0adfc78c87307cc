"""Chat messages in the shape that models' programming interfaces share: roles, texts, and tool calls with ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.fields import object_in, objects_in, text_in
from helix_episodes.readers.messages.parts import arguments_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class ToolCall(NamedTuple):
    """One call that a message asks for."""

    id: str | None
    tool: str
    arguments: dict[str, Any]


def calls_in(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of an assistant's message.

    >>> calls_in({"tool_calls": [{"id": "c1", "function": {"name": "get_order", "arguments": '{"id": 7}'}}]})
    (ToolCall(id='c1', tool='get_order', arguments={'id': 7}),)
    """
    return tuple(
        ToolCall(
            text_in(call, "id"),
            text_in(object_in(call, "function"), "name") or "unnamed",
            arguments_of(object_in(call, "function").get("arguments")),
        )
        for call in objects_in(message, "tool_calls")
    )


def words_of(message: Mapping[str, Any]) -> str:
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
    value = arguments_of(text) if text.startswith("{") else {}
    return bool(value.get("error")) and set(value) <= {"error", "message", "code", "status"}
