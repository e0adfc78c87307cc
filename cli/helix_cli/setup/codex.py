"""Codex: hooks in ``hooks.json``, the server through its own command or at the end of ``config.toml``."""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.errors import NotEditable
from helix_cli.setup.editing import read_text
from helix_cli.setup.files import has_hooks, with_hooks, with_toml_server, without_hooks, without_toml_server
from helix_cli.setup.plan import Command, Plan
from helix_cli.setup.wanted import SERVER, codex_hooks, program, server

if TYPE_CHECKING:
    from helix_cli.setup.wanted import Scope

_AGENT = "codex"
_TRUST = "Codex runs new hooks only after you accept them: type /hooks in Codex"


def install(scope: Scope, project: Path) -> Plan:
    """What puts the memory in.

    Raises:
        NotEditable: A file of settings is not what it should be, or the hooks stand in ``config.toml``.
    """
    folder, command = _folder(scope, project), program(scope)
    _refuse_hooks_in_toml(folder / "config.toml")
    hooks = with_hooks(folder / "hooks.json", codex_hooks(command))
    entry = server(command)
    if scope == "user" and shutil.which(_AGENT):
        add = (_AGENT, "mcp", "add", SERVER, "--", entry["command"], *entry["args"])
        own = Command(line=add, unless=(_AGENT, "mcp", "get", SERVER), cwd=project)
        return Plan(changes=(hooks,), commands=(own,), notes=(_TRUST,))
    return Plan(changes=(hooks, with_toml_server(folder / "config.toml", entry)), notes=(_TRUST,))


def remove(scope: Scope, project: Path) -> Plan:
    """What takes it out again.

    Raises:
        NotEditable: A file of settings is not what it should be.
    """
    folder = _folder(scope, project)
    hooks = without_hooks(folder / "hooks.json")
    if scope == "user" and shutil.which(_AGENT):
        drop = (_AGENT, "mcp", "remove", SERVER)
        own = Command(line=drop, only_if=(_AGENT, "mcp", "get", SERVER), cwd=project)
        return Plan(changes=(hooks,), commands=(own,))
    return Plan(changes=(hooks, without_toml_server(folder / "config.toml")))


def is_installed(scope: Scope, project: Path) -> bool:
    """Whether all hooks are in place.

    Raises:
        NotEditable: The file of hooks is not what it should be.
    """
    return has_hooks(_folder(scope, project) / "hooks.json", codex_hooks(program(scope)))


def _folder(scope: Scope, project: Path) -> Path:
    if scope == "project":
        return project / ".codex"
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _refuse_hooks_in_toml(path: Path) -> None:
    """Codex warns of hooks in both forms, and whoever has chosen one shall keep it.

    Raises:
        NotEditable: The hooks stand in ``config.toml``, or that is no TOML.
    """
    text = read_text(path)
    try:
        found = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"it is no TOML: {error}", path=path) from error
    if "hooks" in found:
        raise NotEditable("your hooks stand here, in TOML", path=path)
