"""Claude Code: hooks in its settings, the server through its own command, the plugin's agents and skills as files."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.setup.definitions import SERVER, claude_hooks, program, server
from helix_cli.setup.editing import undone
from helix_cli.setup.plan import AgentServers, Installed, SetupPlan, server_state_in_json
from helix_cli.setup.plugin import has_plugin, with_plugin, without_plugin
from helix_cli.setup.settings import (
    has_hooks,
    require_our_server,
    with_hooks,
    with_server,
    without_hooks,
    without_server,
)

if TYPE_CHECKING:
    from helix_cli.setup.definitions import Scope


def install(scope: Scope, project: Path) -> SetupPlan:
    """What puts the memory in.

    Raises:
        NotEditable: A file of settings is not what it should be, or another server has our name.
    """
    hooks = with_hooks(settings(scope, project), claude_hooks(program(scope)))
    files, notes = with_plugin(_plugin()) if scope == "user" else ((), ())
    return SetupPlan(changes=(hooks, *files), notes=notes).joined(_with_server(scope, project))


def remove(scope: Scope, project: Path) -> SetupPlan:
    """What takes it out again; another server of our name stays.

    Raises:
        NotEditable: A file of settings is not what it should be.
    """
    hooks = without_hooks(settings(scope, project))
    files, notes = without_plugin(_plugin()) if scope == "user" else ((), ())
    return SetupPlan(changes=(hooks, *files), notes=notes).joined(_without_server(scope, project))


def installed(scope: Scope, project: Path) -> Installed:
    """Whether all hooks are in place, the server, and the plugin's agents and skills.

    Raises:
        NotEditable: The file of settings is not what it should be.
    """
    hooks = has_hooks(settings(scope, project), claude_hooks(program(scope)))
    agent, found = _agent(scope, project), server_state_in_json(_servers(scope, project))
    unseen = agent.has_server() if agent.is_there else False if scope == "project" else None
    plugin = has_plugin(_plugin()) if scope == "user" else None
    return Installed(hooks=hooks, server=found.is_ours if found else unseen, plugin=plugin)


def settings(scope: Scope, project: Path) -> Path:
    """Claude Code's file of settings."""
    if scope == "project":
        return project / ".claude" / "settings.json"
    return _home() / "settings.json"


def _home() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def _plugin() -> Path:
    """Where Claude Code looks for plugins that lie in a user's folder of skills."""
    return _home() / "skills" / "helix-graph"


def _with_server(scope: Scope, project: Path) -> SetupPlan:
    entry = server(program(scope))
    agent, found = _agent(scope, project), server_state_in_json(_servers(scope, project))
    if found is not None:
        require_our_server(found.entry, path=found.path, line=found.line)
    if found is None and agent.is_there:
        return SetupPlan(commands=agent.adding(entry))
    if scope == "user" and found is not None and agent.is_there and found.is_older(entry):
        return SetupPlan(commands=agent.replacing(entry))
    if scope == "project":
        return SetupPlan(changes=(with_server(_servers(scope, project), entry),))
    add = shlex.join(["claude", "mcp", "add", "--scope", "user", SERVER, "--", entry["command"], *entry["args"]])
    return SetupPlan(notes=() if found else (f"claude is not on the PATH; for the server run: {add}",))


def _without_server(scope: Scope, project: Path) -> SetupPlan:
    agent, found = _agent(scope, project), server_state_in_json(_servers(scope, project))
    if found is None:
        commands, notes = agent.removing_unseen() if agent.is_there else ((), ())
        return SetupPlan(commands=commands, notes=notes)
    if not found.is_ours:
        return SetupPlan(notes=(found.note,))
    if scope == "project" and (undone(found.path) or not agent.is_there):
        return SetupPlan(changes=(without_server(found.path),))
    if agent.is_there:
        return SetupPlan(commands=agent.removing())
    return SetupPlan(notes=(f"claude is not on the PATH; for the server run: claude mcp remove --scope user {SERVER}",))


def _agent(scope: Scope, project: Path) -> AgentServers:
    return AgentServers(program="claude", scope=scope, project=project, flags=("--scope", scope))


def _servers(scope: Scope, project: Path) -> Path:
    """Where Claude Code keeps its servers; of a user's file, which it writes all the time, nothing is edited."""
    if scope == "project":
        return project / ".mcp.json"
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"
