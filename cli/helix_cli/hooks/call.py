"""One call of a hook: what an agent's program sends, in one shape whichever program it is.

Claude Code and Codex write ``tool_name``, Copilot's own form ``toolName``; fields may be missing, null or of another
type than documented. What is not usable counts as missing. Payloads hold more than is needed here (Cursor sends the
user's e-mail address): only the fields below are read.

>>> call = read_call("user-prompt", b'{"session_id": "s1", "prompt": "Fix the cart", "cwd": "/work"}')
>>> call.session, call.prompt, call.agent
('s1', 'Fix the cart', 'claude')
"""

from __future__ import annotations

import json
import os

from helix_cli.hooks.tool_results import decoded, read_result
from helix_episodes.light_imports import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Agent = Literal["claude", "gemini", "cursor", "copilot"]


#: Names of events that only Gemini CLI has; the others it shares with Claude Code, and the form of the answer too.
_GEMINI = ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress")


class HookCall(Value):
    """One call of a hook.

    ``failure`` is what a failed tool said; empty when it did not fail or nothing says so. ``suspected``: no exit code
    says that it failed, only its words may.
    """

    event: str
    cwd: str
    arguments: dict[str, Any]
    agent: Agent = "claude"
    session: str = ""
    source: str = ""
    prompt: str = ""
    tool: str = ""
    failure: str = ""
    suspected: bool = False
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


class HookAnswer(Value):
    """What the agent is given, nothing if empty, and a line for the person who watches it work."""

    text: str = ""
    notice: str = ""


def read_call(event: str, payload: bytes) -> HookCall | None:
    """The call, or None when the payload is no JSON object."""
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    values, result = _Fields(fields), read_result(event, fields)
    return HookCall(
        event=event,
        agent=_agent(fields),
        session=values.text("session_id", "sessionId", "conversation_id"),
        cwd=values.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd(),  # noqa: PTH109  (pathlib takes 7 ms to load)
        source=values.text("source", "trigger"),
        prompt=values.text("prompt"),
        tool=values.text("tool_name", "toolName"),
        arguments=values.object("tool_input", "toolArgs"),
        failure=result.said,
        suspected=result.suspected,
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
