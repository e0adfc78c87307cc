"""Claude Code: hooks in its settings, the server through its own command."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.setup.files import has_hooks, with_hooks, with_server, without_hooks, without_server
from helix_cli.setup.plan import Command, Plan
from helix_cli.setup.wanted import SERVER, claude_hooks, program, server

if TYPE_CHECKING:
    from helix_cli.setup.wanted import Scope

_AGENT = "claude"


def install(scope: Scope, project: Path) -> Plan:
    """What puts the memory in.

    Raises:
        NotEditable: A file of settings is not what it should be.
    """
    command = program(scope)
    hooks = with_hooks(settings(scope, project), claude_hooks(command))
    if shutil.which(_AGENT):
        add = (_AGENT, "mcp", "add", "--scope", scope, SERVER, "--", server(command)["command"], "mcp")
        return Plan(changes=(hooks,), commands=(Command(line=add, unless=(_AGENT, "mcp", "get", SERVER), cwd=project),))
    if scope == "project":
        return Plan(changes=(hooks, with_server(project / ".mcp.json", server(command))))
    note = f"claude is not on the PATH; for the server run: claude mcp add --scope user {SERVER} -- {command} mcp"
    return Plan(changes=(hooks,), notes=(note,))


def remove(scope: Scope, project: Path) -> Plan:
    """What takes it out again.

    Raises:
        NotEditable: A file of settings is not what it should be.
    """
    hooks = without_hooks(settings(scope, project))
    file = () if scope == "user" or shutil.which(_AGENT) else (without_server(project / ".mcp.json"),)
    if not shutil.which(_AGENT):
        return Plan(changes=(hooks, *file))
    drop = (_AGENT, "mcp", "remove", "--scope", scope, SERVER)
    return Plan(changes=(hooks,), commands=(Command(line=drop, only_if=(_AGENT, "mcp", "get", SERVER), cwd=project),))


def is_installed(scope: Scope, project: Path) -> bool:
    """Whether all hooks are in place.

    Raises:
        NotEditable: The file of settings is not what it should be.
    """
    return has_hooks(settings(scope, project), claude_hooks(program(scope)))


def settings(scope: Scope, project: Path) -> Path:
    """Claude Code's file of settings."""
    if scope == "project":
        return project / ".claude" / "settings.json"
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"
