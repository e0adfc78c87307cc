"""What a failed tool said, in whichever form an agent's program tells it.

Claude Code has an event of its own for failures. The others tell them, all or some, where they tell what a tool gave:
Codex in ``tool_response`` as an object or in words, Gemini CLI there with ``error`` and the exit code of a command
below its output, Cursor in ``tool_output`` as JSON within a text, Copilot in ``toolResult`` in words.

>>> failure_in("post-tool", {"tool_output": '{"exitCode": 2, "stderr": "no such file"}'})
'no such file'
>>> failure_in("post-tool", {"toolResult": {"resultType": "success", "textResultForLlm": "3 passed"}})
''
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RESPONSES = ("tool_response", "tool_output", "toolResult", "tool_result")
#: A response in words may say at its beginning (Codex), and what the model is shown at its end (Gemini, Copilot), in a
#: line of its own how the command exited. What a command printed may speak of exit codes too, so only so far is looked.
_EXITED = frozenset({"exit code:", "process exited with code", "exited with exit code"})
_REACH = 300
_SHOWN = ("llmContent", "textResultForLlm", "text_result_for_llm")
#: Gemini writes this before the first line of a command's output, which errors begin with as often as not.
_BEFORE_OUTPUT = "Output: "
_RESULTS = ("failure", "timeout")


def failure_in(event: str, fields: dict[str, Any]) -> str:
    """What a failed tool said; empty when it did not fail or nothing tells."""
    if event == "tool-failure":
        return _words(fields.get("error") or fields.get("error_message") or fields.get("tool_response"))
    response = next((fields[name] for name in _RESPONSES if fields.get(name)), None)
    if isinstance(response, str):
        found = decoded(response)
        response = found if isinstance(found, dict) else {"output": response, "success": not _exited(response[:_REACH])}
    if not isinstance(response, dict) or not _has_failed(response):
        return ""
    said = _words(response)
    return said.replace(_BEFORE_OUTPUT, f"{_BEFORE_OUTPUT}\n", 1) if "llmContent" in response else said


def decoded(text: str) -> object:
    """What JSON within a text says; None when it is no JSON."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found


def _has_failed(response: dict[str, Any]) -> bool:
    """Whether a tool's response says by a field of its own that it failed."""
    places = [response, *(one for one in response.values() if isinstance(one, dict))]
    codes = [place.get(name) for place in places for name in ("exit_code", "exitCode")]
    if any(isinstance(code, int) and code != 0 for code in codes):
        return True
    if any(place.get("success") is False or place.get("is_error") is True for place in places):
        return True
    if response.get("error") or response.get("resultType") in _RESULTS or response.get("result_type") in _RESULTS:
        return True
    return any(_exited(_words(response.get(name))[-_REACH:]) for name in _SHOWN)


def _exited(text: str) -> bool:
    """Whether a line of the text says that the command exited with another code than 0."""
    found = (line.strip("<> ").rpartition(" ") for line in text.splitlines())
    return any(said.casefold() in _EXITED and code.isdigit() and int(code) != 0 for said, _, code in found)


def _words(value: object) -> str:
    """All texts in a value, in their order."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    return "\n".join(filter(None, map(_words, value))) if isinstance(value, list) else ""
