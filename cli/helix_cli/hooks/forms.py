r"""In which form each agent takes a context, and at which of its events: elsewhere it drops what is said, or goes on.

>>> shaped("gemini", "user-prompt", "a fact")
b'{"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "a fact"}}\n'
>>> is_heard("cursor", "user-prompt"), is_heard("cursor", "session-end")
(False, True)
"""

from __future__ import annotations

import json

from helix_cli.hooks.events import EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from helix_cli.hooks.call import Agent

#: The events whose answer is put before an agent. At the others nothing is said, and work is done for any agent.
_SPOKEN = frozenset({"session-start", "user-prompt", "pre-tool", "post-tool", "tool-failure"})
#: What the agents other than Claude Code and Codex hear. Cursor and Copilot drop what is said to a prompt, before a
#: tool there is no place for a context, and failures have no answer, or one that takes exit code 2 (Copilot).
_HEARD = {
    "gemini": frozenset({"session-start", "user-prompt", "post-tool"}),
    "cursor": frozenset({"session-start", "post-tool"}),
    "copilot": frozenset({"session-start", "post-tool"}),
}
#: Claude Code refuses a context that does not name its event; Gemini has names of its own.
_NAMES = {"gemini": {"user-prompt": "BeforeAgent", "post-tool": "AfterTool"}}
_KEYS = {"cursor": "additional_context", "copilot": "additionalContext"}


def is_heard(agent: Agent, event: str) -> bool:
    """Whether anything comes of the event: the agent takes an answer there, or work is done that needs none."""
    return event not in _SPOKEN or event in _HEARD.get(agent, _SPOKEN)


def shaped(agent: Agent, event: str, text: str) -> bytes:
    """The answer as the agent's program takes it: one JSON object or nothing."""
    if not text:
        return b""
    name = _NAMES.get(agent, EVENTS).get(event, EVENTS[event])
    said: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    if agent in _KEYS:
        said = {_KEYS[agent]: text}
    return json.dumps(said).encode() + b"\n"
