"""The events that hooks answer, and how long each may take. Loaded before anything else in a hook's process."""

from __future__ import annotations

import os

#: The longest that an agent ever waits, in seconds: ten times what the event may usually take, for a machine that does
#: other things as well; more after a failing tool, for on two cores with ten busy processes an answer took 0.75 s.
#: Claude Code gives all hooks of a session's end 1.5 s together, Codex one second.
LIMITS = {"session-start": 1.5, "user-prompt": 1.0, "post-tool": 1.5, "tool-failure": 1.5, "session-end": 0.9}
_LIMIT_ELSEWHERE = 0.6
#: As long as Claude Code and Codex wait for a hook that says nothing of its time. Nobody hears a later answer.
_LONGEST_LIMIT = 600.0
#: Overrides the limit, for machines that are slower than any that was measured.
LIMIT_VARIABLE = "HELIX_HOOK_SECONDS"


def seconds_for(event: str) -> float:
    """How long the event may take; `LIMIT_VARIABLE` overrides it."""
    try:
        seconds = float(os.environ[LIMIT_VARIABLE])
    except (KeyError, ValueError):
        seconds = 0.0
    return min(seconds, _LONGEST_LIMIT) if seconds > 0 else LIMITS.get(event, _LIMIT_ELSEWHERE)  # NaN is not above 0


#: What each event is called in the answer: Claude Code refuses a context that does not name its event.
EVENTS = {
    "session-start": "SessionStart",
    "user-prompt": "UserPromptSubmit",
    "pre-tool": "PreToolUse",
    "post-tool": "PostToolUse",
    "tool-failure": "PostToolUseFailure",
    "subagent-stop": "SubagentStop",
    "pre-compact": "PreCompact",
    "stop": "Stop",
    "session-end": "SessionEnd",
}
