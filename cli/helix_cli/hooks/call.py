r"""What an agent's program tells a hook, in one shape whichever program it is.

Claude Code and Codex write ``tool_name``, Copilot's own form ``toolName``; fields may be missing, null or of another
type than documented. What is not usable counts as missing. Payloads hold more than is needed here (Cursor sends the
user's e-mail address): only the fields below are looked at.

>>> call = read_call("user-prompt", b'{"session_id": "s1", "prompt": "Fix the cart", "cwd": "/work"}')
>>> call.session, call.prompt, call.agent
('s1', 'Fix the cart', 'claude')
"""

from __future__ import annotations

import json
import os

from helix_cli.hooks.failing import decoded, failure_in
from helix_episodes.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Agent = Literal["claude", "gemini", "cursor", "copilot"]


#: Names of events that only Gemini CLI has; the others it shares with Claude Code, and the form of the answer too.
_GEMINI = ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress")


class Call(Value):
    """One call of a hook. ``failure`` is what a failed tool said; empty when it did not fail or nothing tells."""

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


def read_call(event: str, told: bytes) -> Call | None:
    """The call, or None when what was told is no JSON object."""
    try:
        fields = json.loads(told)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    told_of = _Fields(fields)
    return Call(
        event=event,
        agent=_agent(fields),
        session=told_of.text("session_id", "sessionId", "conversation_id"),
        cwd=told_of.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd(),  # noqa: PTH109  (pathlib takes 7 ms to load)
        source=told_of.text("source", "trigger"),
        prompt=told_of.text("prompt"),
        tool=told_of.text("tool_name", "toolName"),
        arguments=told_of.object("tool_input", "toolArgs"),
        failure=failure_in(event, fields),
        transcript=told_of.text("transcript_path", "transcriptPath"),
        agent_id=told_of.text("agent_id", "agentId", "subagent_id"),
        agent_type=told_of.text("agent_type", "agentType", "subagent_type"),
        agent_transcript=told_of.text("agent_transcript_path", "agentTranscriptPath"),
        last_message=told_of.text("last_assistant_message", "response", "summary"),
        prompt_id=told_of.text("prompt_id", "turn_id", "generation_id", "timestamp"),
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
