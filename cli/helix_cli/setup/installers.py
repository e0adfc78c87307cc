"""How the memory gets into the settings of Claude Code and Codex, and out again: one plan of changes for each.

Claude Code has hooks in its settings, the server through its own command, and the plugin's agents and skills as files.
Codex has hooks in ``hooks.json``, and the server through its own command or at the end of ``config.toml``. A server of
another program under our name is never replaced or removed.

Of the plugin, setup leaves out the hooks and the server: they are in the settings, and would run twice. A file that
somebody has changed is theirs from then on: it is neither replaced nor removed, and the report names it. The plugin can
also be exported whole.
"""

from __future__ import annotations

import os
import shlex
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_cli.errors import FolderNotEmpty, NotEditable
from helix_cli.setup.definitions import SERVER, claude_hooks, codex_hooks, program, server
from helix_cli.setup.editing import FileChange, Records, inserting, no_change, read_text, undone
from helix_cli.setup.plan import AgentServers, Installed, SetupPlan, server_state_in_json, server_state_in_toml
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
from helix_episodes.errors import WriteFailed
from helix_episodes.io import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_cli.setup.definitions import Scope


_MANIFEST = Path(".claude-plugin") / "plugin.json"
_READABLE = 0o644


class ExportedPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written, relative to the folder."""

    folder: Path
    files: tuple[Path, ...]


def export_plugin(folder: Path) -> ExportedPlugin:
    """Writes the plugin.

    Raises:
        FolderNotEmpty: It holds something else.
        WriteFailed: The folder cannot be written.
    """
    contents = plugin_contents()
    _require_free(folder, contents[_MANIFEST])
    for path, content in contents.items():
        write_atomically(folder / path, content, mode=_READABLE)
    return ExportedPlugin(folder=folder, files=tuple(contents))


def plugin_contents() -> dict[Path, bytes]:
    """The plugin's files, named as they lie in its folder."""
    with as_file(files("helix_cli") / "plugin") as source:
        return {path.relative_to(source): path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file()}


def _require_free(folder: Path, manifest: bytes) -> None:
    """Whether the folder is empty, or ours by the name in its manifest.

    Raises:
        FolderNotEmpty: It is neither.
        WriteFailed: It is no folder, or cannot be read.
    """
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return
        found = msgspec.json.decode((folder / _MANIFEST).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        raise FolderNotEmpty(folder) from None
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error
    if not isinstance(found, dict) or found.get("name") != msgspec.json.decode(manifest)["name"]:
        raise FolderNotEmpty(folder)


_BY_SETTINGS = frozenset({Path("hooks/hooks.json"), Path(".mcp.json")})
_Planned = tuple[tuple[FileChange, ...], tuple[str, ...]]


def with_plugin(folder: Path) -> _Planned:
    """The changes that put the files there, and what is to be said of those that are somebody's.

    Raises:
        NotEditable: Something else than a file is in the place of one.
    """
    wanted = _wanted(folder)
    changes = {path: _written(path, text) for path, text in wanted.items()}
    older = [path for path in Records().below(folder) if path not in wanted]
    changes |= {path: _taken(path, None) for path in older}
    return _planned(folder, changes)


def without_plugin(folder: Path) -> _Planned:
    """The changes that take the files away, and what is to be said of those that are somebody's.

    Raises:
        NotEditable: Something else than a file is in the place of one.
    """
    wanted = _wanted(folder)
    places = sorted({*wanted, *Records().below(folder)})
    return _planned(folder, {path: _taken(path, wanted.get(path)) for path in places})


def has_plugin(folder: Path) -> bool:
    """Whether every file is there, changed or not."""
    return all(path.is_file() for path in _wanted(folder))


def _wanted(folder: Path) -> dict[Path, str]:
    contents = plugin_contents()
    return {folder.resolve() / path: one.decode() for path, one in contents.items() if path not in _BY_SETTINGS}


def _written(path: Path, text: str) -> FileChange | None:
    """What puts a file there; None where somebody else's is in its place."""
    before = read_text(path)
    if before == text:
        return no_change(path, before)
    if before is not None and undone(path) is None:
        return None
    return inserting(path, before, None, [text], kept=())


def _taken(path: Path, text: str | None) -> FileChange | None:
    """What takes a file away that says what we wrote, now or when it was put there; None where it is somebody's."""
    before = read_text(path)
    if before is None:
        return no_change(path, None)
    if before == text:
        return FileChange(path=path, before=before.encode(), after=None, exact=True)
    return undone(path)


def _planned(folder: Path, changes: Mapping[Path, FileChange | None]) -> _Planned:
    theirs = tuple(f"{path}: somebody has changed it; it is left alone" for path, one in changes.items() if one is None)
    ours = (msgspec.structs.replace(one, within=folder) for one in changes.values() if one is not None)
    return tuple(ours), theirs


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
