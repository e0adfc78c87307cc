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
    >>> tools_of({"type": "local", "command": ["helix-graph", "mcp"]}), tools_of({"command": "x"})
    ('default', None)
    """
    if not is_our_server(entry):
        return None
    match _started_words(entry)[2:]:
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
    >>> is_our_server({"type": "local", "command": ["helix-graph", "mcp"]})
    True
    >>> is_our_server({"command": "helix-editor", "args": ["mcp"]})
    False
    """
    if not isinstance(entry, dict):
        return False
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [
        *(command if isinstance(command, list) else [command]),
        *(arguments if isinstance(arguments, list) else []),
    ]
    match words:
        case [str(name), "mcp", *_]:
            return is_our_program(name)
        case _:
            return False


def _started_words(entry: object) -> list[Any]:
    """The command and the arguments of a server's entry; OpenCode has both in one list."""
    if not isinstance(entry, dict):
        return []
    command, arguments = entry.get("command"), entry.get("args", [])
    return [*(command if isinstance(command, list) else [command]), *(arguments if isinstance(arguments, list) else [])]


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


#: Qwen Code has Claude Code's names. Its documentation gives limits of time in milliseconds and, elsewhere, in
#: seconds: this one is long enough as either.
_QWEN = {event: name for event, (name, _) in _CLAUDE.items() if event != "SubagentStop"}
#: The agents that are set up by their files alone, and the file of each with its hooks.
FileAgentName = Literal["cursor", "copilot", "gemini", "opencode", "qwen"]


def file_hooks(agent: FileAgentName, command: str) -> dict[str, dict[str, Any]]:
    """The group, or the handler, that each event of an agent gets; OpenCode has no hooks that a command answers."""
    flat = {"cursor": _CURSOR, "copilot": _COPILOT}
    grouped = {"gemini": _GEMINI, "qwen": _QWEN}
    if agent in flat:
        return {event: one for event, (one,) in _flat(flat[agent], command).items()}
    hooks = _flat(grouped.get(agent, {}), command)
    return {event: {"hooks": [one | {"timeout": _TIMEOUT_MS}]} for event, (one,) in hooks.items()}


def file_server(agent: FileAgentName, command: str, tools: str | None = None) -> dict[str, Any]:
    """The entry of the server with a set of tools as the agent has it."""
    entry = server(command, tools)
    forms: dict[str, dict[str, Any]] = {
        "cursor": {"type": "stdio", **entry},
        "copilot": {"type": "local", **entry, "tools": ["*"]},
        "opencode": {"type": "local", "command": [entry["command"], *entry["args"]], "enabled": True},
    }
    return forms.get(agent, entry)


def snippets(agent: str, *, tools: str | None = None) -> list[tuple[str, Any]]:
    """Where to paste, and what: a JSON value, or a text to copy."""
    command = program("user")
    entry = server(command, tools)
    if agent == "claude-code":
        return [
            ("~/.claude/settings.json", {"hooks": _listed(claude_hooks(command))}),
            (".mcp.json", {"mcpServers": {SERVER: entry}}),
        ]
    if agent == "codex":
        return [
            ("~/.codex/hooks.json", {"hooks": _listed(codex_hooks(command))}),
            ("~/.codex/config.toml", "\n".join(toml_table(entry))),
        ]
    name: FileAgentName = agent  # type: ignore[assignment]  # the command takes no other
    servers, hooks = {SERVER: file_server(name, command, tools)}, _listed(file_hooks(name, command))
    known: dict[str, list[tuple[str, Any]]] = {
        "cursor": [
            ("~/.cursor/mcp.json", {"mcpServers": servers}),
            (f"~/.cursor/hooks.json. {_TWICE}", {"version": 1, "hooks": hooks}),
        ],
        "copilot": [
            ("~/.copilot/mcp-config.json", {"mcpServers": servers}),
            (f"~/.copilot/hooks/helix-graph.json. {_TWICE}", {"version": 1, "hooks": hooks}),
        ],
        "gemini": [("~/.gemini/settings.json", {"mcpServers": servers, "hooks": hooks})],
        "qwen": [("~/.qwen/settings.json", {"mcpServers": servers, "hooks": hooks})],
        "opencode": [("~/.config/opencode/opencode.json", {"mcp": servers})],
    }
    return known[name]


def _listed(groups: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {event: [group] for event, group in groups.items()}


def _flat(events: dict[str, str], command: str) -> dict[str, Any]:
    return {event: [{"type": "command", "command": f"{command} hook {one}"}] for event, one in events.items()}


def toml_table(entry: Mapping[str, Any]) -> list[str]:
    """The lines of the server's table: what JSON writes of texts and lists of texts is TOML too."""
    settings = (f"{name} = {json.dumps(one, ensure_ascii=False)}" for name, one in entry.items())
    return [f"[mcp_servers.{SERVER}]", *settings]
