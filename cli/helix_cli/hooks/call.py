"""One call of a hook: what an agent's program sends, in one shape whichever program it is.

Claude Code and Codex write ``tool_name``, Copilot's own form ``toolName``; fields may be missing, null or of another
type than documented. What is not usable counts as missing. Payloads hold more than is needed here (Cursor sends the
user's e-mail address): only the fields below are read.

Claude Code has an event of its own for failed tools. The others report all or some of them with the tool's result:
Codex in ``tool_response`` as an object or as text, Gemini CLI there with ``error`` and the exit code of a command
below its output, Cursor in ``tool_output`` as JSON within a text, Copilot in ``toolResult`` as text.

>>> call = read_call("user-prompt", b'{"session_id": "s1", "prompt": "Fix the cart", "cwd": "/work"}')
>>> call.session, call.prompt, call.agent
('s1', 'Fix the cart', 'claude')
>>> failure_in("post-tool", {"tool_output": '{"exitCode": 2, "stderr": "no such file"}'})
'no such file'
>>> failure_in("post-tool", {"toolResult": {"resultType": "success", "textResultForLlm": "3 passed"}})
''
"""

from __future__ import annotations

import json
import os

from helix_episodes.light_imports import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Agent = Literal["claude", "gemini", "cursor", "copilot"]


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
    """What a failed tool said; empty when it did not fail or nothing says so."""
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


#: Names of events that only Gemini CLI has; the others it shares with Claude Code, and the form of the answer too.
_GEMINI = ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress")


class HookCall(Value):
    """One call of a hook. ``failure`` is what a failed tool said; empty when it did not fail or nothing says so."""

    event: str
    cwd: str
    arguments: dict[str, Any]
    agent: Agent = "claude"
    session: str = ""
    source: str = ""
    prompt: str = ""
    tool: str = ""
    failure: str = ""
    transcript: str = ""
    agent_id: str = ""
    agent_type: str = ""
    agent_transcript: str = ""
    last_message: str = ""
    prompt_id: str = ""

    @property
    def says_nothing(self) -> bool:
        """Whether nothing can come of it: most tools succeed, and that needs no answer."""
        return self.event in {"post-tool", "tool-failure"} and not self.failure


def read_call(event: str, payload: bytes) -> HookCall | None:
    """The call, or None when the payload is no JSON object."""
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    values = _Fields(fields)
    return HookCall(
        event=event,
        agent=_agent(fields),
        session=values.text("session_id", "sessionId", "conversation_id"),
        cwd=values.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd(),  # noqa: PTH109  (pathlib takes 7 ms to load)
        source=values.text("source", "trigger"),
        prompt=values.text("prompt"),
        tool=values.text("tool_name", "toolName"),
        arguments=values.object("tool_input", "toolArgs"),
        failure=failure_in(event, fields),
        transcript=values.text("transcript_path", "transcriptPath"),
        agent_id=values.text("agent_id", "agentId", "subagent_id"),
        agent_type=values.text("agent_type", "agentType", "subagent_type"),
        agent_transcript=values.text("agent_transcript_path", "agentTranscriptPath"),
        last_message=values.text("last_assistant_message", "response", "summary"),
        prompt_id=values.text("prompt_id", "turn_id", "generation_id", "timestamp"),
    )


class _Fields:
    """The fields of an object, by any of their names."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def text(self, *names: str) -> str:
        """The first that is a text or a number."""
        found = (self._fields.get(name) for name in names)
        return next((str(one) for one in found if isinstance(one, str | int) and one not in ("", True, False)), "")

    def object(self, *names: str) -> dict[str, Any]:
        """The first that is an object, also when it was written as JSON within a text."""
        for value in (self._fields.get(name) for name in names):
            found = decoded(value) if isinstance(value, str) else value
            if isinstance(found, dict):
                return found
        return {}


def _agent(fields: dict[str, Any]) -> Agent:
    """Which form the answer takes; Codex takes Claude Code's."""
    if "cursor_version" in fields or "conversation_id" in fields:
        return "cursor"
    if "sessionId" in fields:
        return "copilot"
    return "gemini" if fields.get("hook_event_name") in _GEMINI else "claude"
