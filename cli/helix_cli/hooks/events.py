"""The events that hooks answer; what a hook's process looks at before it begins anything."""

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
