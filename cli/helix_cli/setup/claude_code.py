"""Claude Code: hooks in its settings, the server through its own command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.setup.editing import undone
from helix_cli.setup.files import (
    has_hooks,
    require_our_server,
    with_hooks,
    with_server,
    without_hooks,
    without_server,
)
from helix_cli.setup.plan import Installed, Plan
from helix_cli.setup.servers import Agent, standing_in_json
from helix_cli.setup.wanted import SERVER, claude_hooks, program, server

if TYPE_CHECKING:
    from helix_cli.setup.wanted import Scope


def install(scope: Scope, project: Path) -> Plan:
    """What puts the memory in.

    Raises:
        NotEditable: A file of settings is not what it should be, or another server has our name.
    """
    command = program(scope)
    hooks = with_hooks(settings(scope, project), claude_hooks(command))
    agent, found = _agent(scope, project), standing_in_json(_servers(scope, project))
    if found is not None:
        require_our_server(found.entry, path=found.path, line=found.line)
    if found is None and agent.is_there:
        return Plan(changes=(hooks,), commands=agent.adding(server(command)))
    if scope == "project":
        return Plan(changes=(hooks, with_server(_servers(scope, project), server(command))))
    by_hand = f"claude is not on the PATH; for the server run: claude mcp add --scope user {SERVER} -- {command} mcp"
    return Plan(changes=(hooks,), notes=() if found else (by_hand,))


def remove(scope: Scope, project: Path) -> Plan:
    """What takes it out again; another server of our name stays.

    Raises:
        NotEditable: A file of settings is not what it should be.
    """
    hooks = without_hooks(settings(scope, project))
    agent, found = _agent(scope, project), standing_in_json(_servers(scope, project))
    if found is None:
        commands, notes = agent.removing_unseen() if agent.is_there else ((), ())
        return Plan(changes=(hooks,), commands=commands, notes=notes)
    if not found.is_ours:
        return Plan(changes=(hooks,), notes=(found.note,))
    if scope == "project" and (undone(found.path) or not agent.is_there):
        return Plan(changes=(hooks, without_server(found.path)))
    if agent.is_there:
        return Plan(changes=(hooks,), commands=agent.removing())
    by_hand = f"claude is not on the PATH; for the server run: claude mcp remove --scope user {SERVER}"
    return Plan(changes=(hooks,), notes=(by_hand,))


def installed(scope: Scope, project: Path) -> Installed:
    """Whether all hooks are in place, and the server.

    Raises:
        NotEditable: The file of settings is not what it should be.
    """
    hooks = has_hooks(settings(scope, project), claude_hooks(program(scope)))
    agent, found = _agent(scope, project), standing_in_json(_servers(scope, project))
    unseen = agent.has_server() if agent.is_there else False if scope == "project" else None
    return Installed(hooks=hooks, server=found.is_ours if found else unseen)


def settings(scope: Scope, project: Path) -> Path:
    """Claude Code's file of settings."""
    if scope == "project":
        return project / ".claude" / "settings.json"
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"


def _agent(scope: Scope, project: Path) -> Agent:
    return Agent(program="claude", scope=scope, project=project, flags=("--scope", scope))


def _servers(scope: Scope, project: Path) -> Path:
    """Where Claude Code keeps its servers; of a user's file, which it writes all the time, nothing is edited."""
    if scope == "project":
        return project / ".mcp.json"
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"
