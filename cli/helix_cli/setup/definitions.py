"""The hooks and the server of each agent: what setup installs, how to recognise it as ours, what to paste by hand."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from helix_cli import TOOL_SETS

Scope = Literal["user", "project"]
SERVER = "helix"
_PROGRAM = "helix-graph"
#: The tools whose calls may repeat what kept failing; looking does no harm. Codex's patches answer to Edit.
_ACTING = "Bash|Edit|MultiEdit|Write|NotebookEdit"
#: The plugin's and the project's own agents: ``helix-builder``, ``helix-graph:helix-builder``. A star makes it a
#: pattern.
_AGENTS = "(^|:)helix-.*"
#: In seconds. The memory stops by itself long before; an agent's program must only not wait for ten minutes.
_TIMEOUT = 5
#: Claude Code gives the hooks of a session's end 1.5 s, unless a hook asks for more; ours hands its work on at once.
_AT_THE_END = 3
_CLAUDE = {
    "SessionStart": ("session-start", None),
    "UserPromptSubmit": ("user-prompt", None),
    "PreToolUse": ("pre-tool", _ACTING),
    "PostToolUseFailure": ("tool-failure", None),
    "PostToolUse": ("post-tool", "Bash"),  # a command that was piped fails with exit code 0
    "SubagentStop": ("subagent-stop", _AGENTS),
    "PreCompact": ("pre-compact", None),
    "SessionEnd": ("session-end", None),
}
#: Codex reports failures only in the responses of tools.
_CODEX = {
    **{event: one for event, one in _CLAUDE.items() if event != "PostToolUseFailure"},
    "PostToolUse": ("post-tool", None),
}
_PROGRAM_PATH = re.compile(r"(?:^|[/\\])helix-graph(?:\.exe)?$")
_EVENT = re.compile(r"[a-z]+(?:-[a-z]+)*")


def program(scope: Scope) -> str:
    """How our command is called: by its name where others share the settings, else by its place, which stays."""
    if scope == "project":
        return _PROGRAM
    found = shutil.which(_PROGRAM) or str(Path(sys.executable).with_name(_PROGRAM))
    return shlex.quote(found)


def claude_hooks(command: str) -> dict[str, dict[str, Any]]:
    """The group that each of Claude Code's events gets."""
    return {event: _group(command, event, *one) for event, one in _CLAUDE.items()}


def codex_hooks(command: str) -> dict[str, dict[str, Any]]:
    """The group that each of Codex's events gets."""
    return {event: _group(command, event, *one) for event, one in _CODEX.items()}


def server(command: str, tools: str | None = None) -> dict[str, Any]:
    """The entry of a server with a set of tools, in the form that most agents share."""
    chosen = ["--tools", tools] if tools and tools != TOOL_SETS[0] else []
    return {"command": shlex.split(command)[0], "args": ["mcp", *chosen]}


def tools_of(entry: object) -> str | None:
    """The set of tools that the entry of a server of ours asks for; None where there is none, or it is not ours.

    >>> tools_of({"command": "helix-graph", "args": ["mcp", "--tools", "all"]})
    'all'
    """
    if not isinstance(entry, dict) or not is_our_server(entry):
        return None
    match entry["args"][1:]:
        case ["--tools", name] if name in TOOL_SETS:
            return str(name)
        case _:
            return TOOL_SETS[0]


def is_ours(group: object) -> bool:
    """Whether a group of hooks is ours: nothing in it but our command, by whatever path.

    >>> is_ours({"hooks": [{"type": "command", "command": "/opt/bin/helix-graph hook stop"}]})
    True
    >>> is_ours({"hooks": [{"type": "command", "command": "notify && helix-graph hook stop"}]})
    False
    """
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and bool(hooks) and all(is_our_handler(one) for one in hooks)


def is_our_handler(hook: object) -> bool:
    """Whether one handler of a group runs our command, and nothing besides."""
    command = hook.get("command") if isinstance(hook, dict) else None
    match _words(command) if isinstance(command, str) else []:
        case [name, "hook", event]:
            return is_our_program(name) and _EVENT.fullmatch(event) is not None
        case _:
            return False


def is_our_server(entry: object) -> bool:
    """Whether the entry of a server starts ours, by whatever path; its other settings do not matter.

    >>> is_our_server({"command": "/opt/bin/helix-graph", "args": ["mcp"], "env": {"HELIX_DIR": "x"}})
    True
    >>> is_our_server({"command": "helix-editor", "args": ["mcp"]})
    False
    """
    if not isinstance(entry, dict):
        return False
    command, arguments = entry.get("command"), entry.get("args")
    started = isinstance(arguments, list) and arguments[:1] == ["mcp"]
    return started and isinstance(command, str) and is_our_program(command)


def is_our_program(name: str) -> bool:
    """Whether a program is ours, by its name behind whatever path."""
    return _PROGRAM_PATH.search(name) is not None


def _words(command: str) -> list[str]:
    """The words of a command, the shell's own signs as words of their own; none of what no shell reads."""
    words = shlex.shlex(command.replace("\\", "/"), posix=True, punctuation_chars=True)
    words.whitespace_split = True
    words.commenters = ""
    try:
        return list(words)
    except ValueError:
        return []


def _group(command: str, event: str, name: str, matcher: str | None) -> dict[str, Any]:
    timeout = _AT_THE_END if event == "SessionEnd" else _TIMEOUT
    hooks = [{"type": "command", "command": f"{command} hook {name}", "timeout": timeout}]
    return {"matcher": matcher, "hooks": hooks} if matcher else {"hooks": hooks}


#: Each agent's own names of the events at which it takes a context (`helix_cli.hooks.dispatch`), or that start work of
#: ours. Cursor and Copilot also run a project's hooks of Claude Code.
_CURSOR = {
    "sessionStart": "session-start",
    "postToolUse": "post-tool",
    "subagentStop": "subagent-stop",
    "preCompact": "pre-compact",
    "sessionEnd": "session-end",
}
_COPILOT = {
    "sessionStart": "session-start",
    "postToolUse": "post-tool",
    "preCompact": "pre-compact",
    "sessionEnd": "session-end",
}
#: Without PreCompress, which Gemini CLI reports before every turn, whether anything is compressed or not.
_GEMINI = {
    "SessionStart": "session-start",
    "BeforeAgent": "user-prompt",
    "AfterTool": "post-tool",
    "SessionEnd": "session-end",
}
_TIMEOUT_MS = 5000
_TWICE = "If this project has hooks of Claude Code, this agent runs them too: then leave the hooks here out."


def snippets(agent: str, *, tools: str | None = None) -> list[tuple[str, Any]]:
    """Where to paste, and what: a JSON value, or a text to copy."""
    command = program("user")
    entry = server(command, tools)
    local = {"type": "local", "command": [entry["command"], *entry["args"]], "enabled": True}
    known: dict[str, list[tuple[str, Any]]] = {
        "claude-code": [
            ("~/.claude/settings.json", {"hooks": {event: [one] for event, one in claude_hooks(command).items()}}),
            (".mcp.json", {"mcpServers": {SERVER: entry}}),
        ],
        "codex": [
            ("~/.codex/hooks.json", {"hooks": {event: [one] for event, one in codex_hooks(command).items()}}),
            ("~/.codex/config.toml", "\n".join(toml_table(entry))),
        ],
        "cursor": [
            ("~/.cursor/mcp.json", {"mcpServers": {SERVER: {"type": "stdio", **entry}}}),
            (f"~/.cursor/hooks.json. {_TWICE}", {"version": 1, "hooks": _flat(_CURSOR, command)}),
        ],
        "copilot": [
            ("~/.copilot/mcp-config.json", {"mcpServers": {SERVER: {"type": "local", **entry, "tools": ["*"]}}}),
            (f"~/.copilot/hooks/helix-graph.json. {_TWICE}", {"version": 1, "hooks": _flat(_COPILOT, command)}),
        ],
        "gemini": [("~/.gemini/settings.json", {"mcpServers": {SERVER: entry}, "hooks": _grouped(_GEMINI, command)})],
        "opencode": [("~/.config/opencode/opencode.json", {"mcp": {SERVER: local}})],
    }
    return known[agent]


def _flat(events: dict[str, str], command: str) -> dict[str, Any]:
    return {event: [{"type": "command", "command": f"{command} hook {one}"}] for event, one in events.items()}


def _grouped(events: dict[str, str], command: str) -> dict[str, Any]:
    """As `_flat`, in groups of one hook each, with a limit of time."""
    hooks = {event: one | {"timeout": _TIMEOUT_MS} for event, (one,) in _flat(events, command).items()}
    return {event: [{"hooks": [one]}] for event, one in hooks.items()}


def toml_table(entry: Mapping[str, Any]) -> list[str]:
    """The lines of the server's table: what JSON writes of texts and lists of texts is TOML too."""
    settings = (f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in entry.items())
    return [f"[mcp_servers.{SERVER}]", *settings]
