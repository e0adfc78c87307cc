r"""The events that hooks answer, and how long each may take; which of them plainly need no answer.

This is loaded before anything else in a hook's process, and of a tool's result asks plain words, before it is parsed.
Most calls of tools succeed, and an agent waits after each of them. Loading the parser of JSON takes twice as long as
all else that a success needs; a payload without any word of a failure cannot hold one.

>>> surely_succeeded(b'{"tool_input": {"command": "pytest"}, "tool_response": {"stdout": "3 passed", "stderr": ""}}')
True
>>> surely_succeeded(b'{"tool_response": {"stdout": "1 failed, 2 passed"}}')
False
"""

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


#: One of these words is in whatever a runner, compiler or interpreter prints of a failure.
SIGNS = (
    "fail",
    "error",
    "exception",
    "traceback",
    "panic",
    "fatal",
    "not ok",
    "issue",
    "problem",
    "would re",
    "✗",
    "✖",
)
#: What agents' programs say of a failure in fields of their own, in words below the output, or in their log.
_STATED = ("exit", "success", "timeout", "rollout-")
#: As JSON writes them, in UTF-8 or escaped.
_WORDS = (*(word.encode() for word in (*SIGNS, *_STATED)), b"\\u2717", b"\\u2716")


def surely_succeeded(payload: bytes) -> bool:
    """Whether the payload of a tool's result has none of the words without which it reports no failure."""
    text = payload.lower()
    return not any(word in text for word in _WORDS)
