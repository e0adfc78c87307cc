"""Codex: hooks in ``hooks.json``, the server through its own command or at the end of ``config.toml``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.errors import NotEditable
from helix_cli.setup.definitions import codex_hooks, program, server
from helix_cli.setup.editing import undone
from helix_cli.setup.plan import AgentServers, Installed, SetupPlan, server_state_in_toml
from helix_cli.setup.settings import (
    has_hooks,
    read_toml,
    with_hooks,
    with_toml_server,
    without_hooks,
    without_toml_server,
)

if TYPE_CHECKING:
    from helix_cli.setup.definitions import Scope

_TRUST = "Codex runs new hooks only after you accept them: type /hooks in Codex"


def install(scope: Scope, project: Path) -> SetupPlan:
    """What puts the memory in.

    Raises:
        NotEditable: A file of settings is not what it should be, the hooks stand in ``config.toml``, or another server
            has our name.
    """
    folder, command = _folder(scope, project), program(scope)
    config = folder / "config.toml"
    _refuse_hooks_in_toml(config)
    hooks = with_hooks(folder / "hooks.json", codex_hooks(command))
    agent, found = _agent(scope, project), server_state_in_toml(config)
    if scope == "user" and agent.is_there and found is None:
        return SetupPlan(changes=(hooks,), commands=agent.adding(server(command)), notes=(_TRUST,))
    return SetupPlan(changes=(hooks, with_toml_server(config, server(command))), notes=(_TRUST,))


def remove(scope: Scope, project: Path) -> SetupPlan:
    """What takes it out again; another server of our name stays.

    Raises:
        NotEditable: A file of settings is not what it should be.
    """
    folder = _folder(scope, project)
    hooks, config = without_hooks(folder / "hooks.json"), folder / "config.toml"
    agent, found = _agent(scope, project), server_state_in_toml(config)
    by_command = scope == "user" and agent.is_there
    if found is None:
        commands, notes = agent.removing_unseen() if by_command else ((), ())
        return SetupPlan(changes=(hooks,), commands=commands, notes=notes)
    if not found.is_ours:
        return SetupPlan(changes=(hooks,), notes=(found.note,))
    if by_command and undone(config) is None:
        return SetupPlan(changes=(hooks,), commands=agent.removing())
    return SetupPlan(changes=(hooks, without_toml_server(config)))


def installed(scope: Scope, project: Path) -> Installed:
    """Whether all hooks are in place, and the server.

    Raises:
        NotEditable: A file of settings is not what it should be.
    """
    folder = _folder(scope, project)
    hooks = has_hooks(folder / "hooks.json", codex_hooks(program(scope)))
    agent, found = _agent(scope, project), server_state_in_toml(folder / "config.toml")
    unseen = scope == "user" and agent.is_there and agent.has_server()
    return Installed(hooks=hooks, server=found.is_ours if found else unseen, plugin=None)


def _folder(scope: Scope, project: Path) -> Path:
    if scope == "project":
        return project / ".codex"
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _agent(scope: Scope, project: Path) -> AgentServers:
    return AgentServers(program="codex", scope=scope, project=project)


def _refuse_hooks_in_toml(path: Path) -> None:
    """Codex warns of hooks in both forms, and whoever has chosen one shall keep it.

    Raises:
        NotEditable: The hooks stand in ``config.toml``, or that is no TOML.
    """
    if "hooks" in read_toml(path):
        raise NotEditable("your hooks stand here, in TOML", path=path, advice="paste what `--print` shows, as TOML")
