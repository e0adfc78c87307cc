"""What to paste into the settings of agents, for those that setup does not edit and for those that it does."""

from __future__ import annotations

from typing import Any

from helix_cli.setup.definitions import SERVER, claude_hooks, codex_hooks, program, server
from helix_cli.setup.settings import toml_settings

#: Each agent's own names of the events at which it takes a context (`helix_cli.hooks.forms`), or tells what work is
#: done with. Cursor and Copilot also run a project's hooks of Claude Code.
_CURSOR = {
    "sessionStart": "session-start",
    "postToolUse": "post-tool",
    "subagentStop": "subagent-stop",
    "preCompact": "pre-compact",
    "sessionEnd": "session-end",
}
#: The ends that Copilot tells of come without the transcript of what has ended.
_COPILOT = {
    "sessionStart": "session-start",
    "postToolUse": "post-tool",
    "preCompact": "pre-compact",
}
_GEMINI = {
    "SessionStart": "session-start",
    "BeforeAgent": "user-prompt",
    "AfterTool": "post-tool",
    "PreCompress": "pre-compact",
    "SessionEnd": "session-end",
}
_TIMEOUT_MS = 5000
_TWICE = "If this project has hooks of Claude Code, this agent runs them too: then leave the hooks here out."


def snippets(agent: str) -> list[tuple[str, Any]]:
    """Where to paste, and what: a JSON value, or a text as it stands."""
    command = program("user")
    entry = server(command)
    known: dict[str, list[tuple[str, Any]]] = {
        "claude-code": [
            ("~/.claude/settings.json", {"hooks": {event: [one] for event, one in claude_hooks(command).items()}}),
            (".mcp.json", {"mcpServers": {SERVER: entry}}),
        ],
        "codex": [
            ("~/.codex/hooks.json", {"hooks": {event: [one] for event, one in codex_hooks(command).items()}}),
            ("~/.codex/config.toml", "\n".join([f"[mcp_servers.{SERVER}]", *toml_settings(entry)])),
        ],
        "cursor": [
            ("~/.cursor/mcp.json", {"mcpServers": {SERVER: {"type": "stdio", **entry}}}),
            (f"~/.cursor/hooks.json. {_TWICE}", {"version": 1, "hooks": _flat(_CURSOR, command)}),
        ],
        "copilot": [
            ("~/.copilot/mcp-config.json", {"mcpServers": {SERVER: {"type": "local", **entry, "tools": ["*"]}}}),
            (f"~/.copilot/hooks/helix-graph.json. {_TWICE}", {"version": 1, "hooks": _flat(_COPILOT, command)}),
        ],
        "gemini": [
            (
                "~/.gemini/settings.json",
                {
                    "mcpServers": {SERVER: entry},
                    "hooks": {
                        event: [
                            {"hooks": [{"type": "command", "command": f"{command} hook {one}", "timeout": _TIMEOUT_MS}]}
                        ]
                        for event, one in _GEMINI.items()
                    },
                },
            )
        ],
        "opencode": [
            (
                "~/.config/opencode/opencode.json",
                {"mcp": {SERVER: {"type": "local", "command": [entry["command"], "mcp"], "enabled": True}}},
            )
        ],
    }
    return known[agent]


#: Every agent for which there is something to paste.
AGENTS = ("claude-code", "codex", "cursor", "copilot", "gemini", "opencode")


def _flat(events: dict[str, str], command: str) -> dict[str, Any]:
    return {event: [{"type": "command", "command": f"{command} hook {one}"}] for event, one in events.items()}
