"""How the memory gets into the settings of Claude Code and Codex, and out again: one plan of changes for each.

Claude Code has hooks in its settings, the server through its own command, and the plugin's agents and skills as files.
Codex has hooks in ``hooks.json``, and the server through its own command or at the end of ``config.toml``. A server of
another program under our name is never replaced or removed.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.errors import NotEditable
from helix_cli.setup.definitions import SERVER, claude_hooks, codex_hooks, program, server
from helix_cli.setup.editing import undone
from helix_cli.setup.plan import AgentServers, Installed, SetupPlan, server_state_in_json, server_state_in_toml
from helix_cli.setup.plugin import has_plugin, with_plugin, without_plugin
from helix_cli.setup.settings import (
    has_hooks,
    read_toml,
    require_our_server,
    with_hooks,
    with_server,
    with_toml_server,
    without_hooks,
    without_server,
    without_toml_server,
)

if TYPE_CHECKING:
    from helix_cli.setup.definitions import Scope

_TRUST = "Codex runs new hooks only after you accept them: type /hooks in Codex"


class ClaudeCode:
    """Claude Code's settings of a user or of a project."""

    def __init__(self, scope: Scope, project: Path) -> None:
        self.scope = scope
        home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
        #: Where Claude Code looks for plugins that lie in a user's folder of skills; a project gets none.
        self._plugin = home / "skills" / "helix-graph" if scope == "user" else None
        self._agent = AgentServers(program="claude", scope=scope, project=project, flags=("--scope", scope))
        if scope == "project":
            self.settings, self._servers = project / ".claude" / "settings.json", project / ".mcp.json"
        else:  # of a user's file of servers, which Claude Code writes all the time, nothing is edited
            self.settings = home / "settings.json"
            self._servers = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"

    def install(self) -> SetupPlan:
        """What puts the memory in.

        Raises:
            NotEditable: A file of settings is not what it should be, or another server has our name.
        """
        hooks = with_hooks(self.settings, claude_hooks(program(self.scope)))
        files, notes = with_plugin(self._plugin) if self._plugin else ((), ())
        return SetupPlan(changes=(hooks, *files), notes=notes).joined(self._with_server())

    def remove(self) -> SetupPlan:
        """What takes it out again.

        Raises:
            NotEditable: A file of settings is not what it should be.
        """
        hooks = without_hooks(self.settings)
        files, notes = without_plugin(self._plugin) if self._plugin else ((), ())
        return SetupPlan(changes=(hooks, *files), notes=notes).joined(self._without_server())

    def installed(self) -> Installed:
        """Whether all hooks are in place, the server, and the plugin's agents and skills.

        Raises:
            NotEditable: The file of settings is not what it should be.
        """
        hooks = has_hooks(self.settings, claude_hooks(program(self.scope)))
        found = server_state_in_json(self._servers)
        unseen = self._agent.has_server() if self._agent.is_there else False if self.scope == "project" else None
        plugin = has_plugin(self._plugin) if self._plugin else None
        return Installed(hooks=hooks, server=found.is_ours if found else unseen, plugin=plugin)

    def _with_server(self) -> SetupPlan:
        entry, agent, found = server(program(self.scope)), self._agent, server_state_in_json(self._servers)
        if found is not None:
            require_our_server(found.entry, path=found.path, line=found.line)
        if found is None and agent.is_there:
            return SetupPlan(commands=agent.adding(entry))
        if self.scope == "user" and found is not None and agent.is_there and found.is_older(entry):
            return SetupPlan(commands=agent.replacing(entry))
        if self.scope == "project":
            return SetupPlan(changes=(with_server(self._servers, entry),))
        add = shlex.join(["claude", "mcp", "add", "--scope", "user", SERVER, "--", entry["command"], *entry["args"]])
        return SetupPlan(notes=() if found else (f"claude is not on the PATH; for the server run: {add}",))

    def _without_server(self) -> SetupPlan:
        agent, found = self._agent, server_state_in_json(self._servers)
        if found is None:
            return agent.removing_unseen() if agent.is_there else SetupPlan()
        if not found.is_ours:
            return SetupPlan(notes=(found.note,))
        if self.scope == "project" and (undone(found.path) or not agent.is_there):
            return SetupPlan(changes=(without_server(found.path),))
        if agent.is_there:
            return SetupPlan(commands=agent.removing())
        remove = f"claude mcp remove --scope user {SERVER}"
        return SetupPlan(notes=(f"claude is not on the PATH; for the server run: {remove}",))


class Codex:
    """Codex's settings of a user or of a project."""

    def __init__(self, scope: Scope, project: Path) -> None:
        self.scope = scope
        folder = project / ".codex"
        if scope == "user":
            folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        self._hooks, self._config = folder / "hooks.json", folder / "config.toml"
        self._agent = AgentServers(program="codex", scope=scope, project=project)

    def install(self) -> SetupPlan:
        """What puts the memory in.

        Raises:
            NotEditable: A file of settings is not what it should be, the hooks are in ``config.toml``, or another
                server has our name.
        """
        if "hooks" in read_toml(self._config):  # Codex warns of hooks in both files, and the user has chosen one
            advice = "paste what `--print` shows, as TOML"
            raise NotEditable("your hooks stand here, in TOML", path=self._config, advice=advice)
        command = program(self.scope)
        hooks, found = with_hooks(self._hooks, codex_hooks(command)), server_state_in_toml(self._config)
        if self._by_command and found is None:
            return SetupPlan(changes=(hooks,), commands=self._agent.adding(server(command)), notes=(_TRUST,))
        return SetupPlan(changes=(hooks, with_toml_server(self._config, server(command))), notes=(_TRUST,))

    def remove(self) -> SetupPlan:
        """What takes it out again.

        Raises:
            NotEditable: A file of settings is not what it should be.
        """
        plan = SetupPlan(changes=(without_hooks(self._hooks),))
        found = server_state_in_toml(self._config)
        if found is None:
            return plan.joined(self._agent.removing_unseen()) if self._by_command else plan
        if not found.is_ours:
            return plan.joined(SetupPlan(notes=(found.note,)))
        if self._by_command and undone(self._config) is None:
            return plan.joined(SetupPlan(commands=self._agent.removing()))
        return plan.joined(SetupPlan(changes=(without_toml_server(self._config),)))

    def installed(self) -> Installed:
        """Whether all hooks are in place, and the server.

        Raises:
            NotEditable: A file of settings is not what it should be.
        """
        hooks = has_hooks(self._hooks, codex_hooks(program(self.scope)))
        found = server_state_in_toml(self._config)
        unseen = self._by_command and self._agent.has_server()
        return Installed(hooks=hooks, server=found.is_ours if found else unseen, plugin=None)

    @property
    def _by_command(self) -> bool:
        """Whether Codex's own command can add and remove the server: it knows the user's settings only."""
        return self.scope == "user" and self._agent.is_there
