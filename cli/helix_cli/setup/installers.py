"""How the memory gets into agents' settings, and out again; Claude Code and Codex, which have commands for servers.

Claude Code has hooks in its settings, the server through its own command, and the plugin's agents and skills as files.
Codex has hooks in ``hooks.json``, and the server through its own command or at the end of ``config.toml``. A server of
another program under our name is never replaced or removed.

Files that are wholly ours (the plugin's, the skill's) lie in a folder of the agent. One that somebody has changed is
theirs from then on: it is neither replaced nor removed, and the report names it.

Of the plugin, setup leaves out the hooks and the server: they are in the settings, and would run twice. The plugin can
also be exported whole.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from helix_cli.setup.agent_servers import (
    AgentServers,
    Command,
    ServerState,
    SetupPlan,
    run_agent,
    server_state_in_json,
    server_state_in_toml,
)
from helix_cli.setup.definitions import SERVER, Scope, claude_hooks, codex_hooks, program, server, tools_of
from helix_cli.setup.entries import JSON_SERVERS, JsonHooks, JsonServer, TomlServer, require_our_server
from helix_cli.setup.json_edit import NotEditable, parse
from helix_cli.setup.settings import (
    SettingsChange,
    apply,
    has_entries,
    read_text,
    read_toml,
    records,
    undone,
    with_entries,
    without_entries,
)
from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import remove_file, write_atomically
from helix_graph.errors import FolderInUse


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What of the memory is in an agent's settings.

    ``server`` is None where only the agent's absent command knows, ``plugin`` (agents, skills) where there is none to
    put in.
    """

    hooks: bool
    server: bool | None
    plugin: bool | None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.hooks and self.server is not False and self.plugin is not False


def own_files_plan(folder: Path, contents: Mapping[Path, str], *, removing: bool) -> SetupPlan:
    """The changes that put files there or take them away, and a note about each that somebody has changed.

    Raises:
        NotEditable: Something else than a file is in the place of one.
    """
    wanted = {folder.resolve() / path: text for path, text in contents.items()}
    changes, notes = [], []
    recorded = (path for path in map(Path, records().files) if path.is_relative_to(folder.resolve()))
    for path in sorted({*wanted, *recorded}):
        before, after = read_text(path), None if removing else wanted.get(path)
        if before is None or before == wanted.get(path) or undone(path):
            changes.append(SettingsChange(path=path, before=before, after=after, installs=True, within=folder))
        else:
            notes.append(f"{path}: somebody has changed it; it is left alone")
    return SetupPlan(changes=tuple(changes), notes=tuple(notes))


def has_own_files(folder: Path, contents: Mapping[Path, str]) -> bool:
    """Whether every file is there, changed or not."""
    return all((folder / path).is_file() for path in contents)


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, or would be.

    The diff of each shared file, where its bytes of before are kept, the ``plugin``'s files that come or go as a
    whole, the commands, and what is left to a person.
    """

    agent: str
    removed: bool
    files: tuple[Path, ...] = ()
    backups: tuple[Path, ...] = ()
    plugin: tuple[Path, ...] = ()
    diff: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False


def carry_out(agent: str, plan: SetupPlan, *, removing: bool, dry_run: bool) -> Done:
    """Does it, the files first: every edit has been worked out and checked by now.

    Raises:
        NotEditable: A file changed meanwhile; nothing is done then.
        ProgramFailed: The agent's own command failed; files done by then stay done.
        WriteFailed: A file cannot be written; files done by then stay done.
    """
    changes = [change for change in plan.changes if not change.is_none]
    if not dry_run:
        apply(changes)
        for command in plan.commands:
            _run(command)
    return Done(
        agent=agent,
        removed=removing,
        files=tuple(change.path for change in changes),
        backups=tuple(change.backup for change in changes if change.backup is not None),
        plugin=tuple(change.path for change in changes if change.within is not None),
        diff="".join(change.diff for change in changes if change.within is None),
        commands=tuple(command.line for command in plan.commands),
        notes=plan.notes,
        dry_run=dry_run,
    )


def _run(command: Command) -> None:
    """Runs one of the agent's own commands, and records which server it added and whether it made the file for it."""
    is_new = command.adds and command.file is not None and not command.file.exists()
    run_agent(command.line, command.cwd)
    found, name = records(), str(command.file)
    servers = {*found.servers, command.server} if command.adds else {*found.servers} - {command.server}
    made = {*found.made, name} if is_new else {*found.made}
    if not command.adds and name in made:
        made.remove(name)
        if command.file is not None and read_text(command.file) is not None and _is_empty(command.file):
            remove_file(command.file)
    msgspec.structs.replace(found, servers=tuple(sorted(servers)), made=tuple(sorted(made))).save()


def _is_empty(path: Path) -> bool:
    """Whether a file of servers has none, and nothing else."""
    try:
        return bool(parse(read_text(path) or "") == {JSON_SERVERS: {}})
    except NotEditable:
        return False


_MANIFEST = Path(".claude-plugin") / "plugin.json"
_READABLE = 0o644


class ExportedPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written, relative to the folder."""

    folder: Path
    files: tuple[Path, ...]


def export_plugin(folder: Path) -> ExportedPlugin:
    """Writes the plugin."""
    contents = plugin_contents()
    _require_free(folder, contents[_MANIFEST])
    for path, content in contents.items():
        write_atomically(folder / path, content, mode=_READABLE, follow=True)
    return ExportedPlugin(folder=folder, files=tuple(contents))


def plugin_contents() -> dict[Path, bytes]:
    """The plugin's files, named as they lie in its folder."""
    with as_file(files("helix_cli") / "plugin") as source:
        return {path.relative_to(source): path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file()}


def _require_free(folder: Path, manifest: bytes) -> None:
    """Whether the folder is empty, or ours by the name in its manifest.

    Raises:
        WriteFailed: It is no folder, or cannot be read.
    """
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return
        found = msgspec.json.decode((folder / _MANIFEST).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        found = None
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error
    if not isinstance(found, dict) or found.get("name") != msgspec.json.decode(manifest)["name"]:
        raise FolderInUse(f"{folder} contains something other than an earlier export; name an empty folder")


_BY_SETTINGS = frozenset({Path("hooks/hooks.json"), Path(".mcp.json"), Path(".claude-plugin/marketplace.json")})


def _settings_apart() -> dict[Path, str]:
    """The plugin's files without what is in the settings."""
    return {path: one.decode() for path, one in plugin_contents().items() if path not in _BY_SETTINGS}


def _chosen_tools(found: ServerState | None, asked: str | None) -> tuple[str | None, SetupPlan]:
    """The set of tools to install: the one asked for, else that of the entry that is there, if one is ours.

    With a note where the entry has settings of somebody's own and another set: it is not edited.
    """
    now = tools_of(found.entry) if found else None
    if found is None or now is None or asked in {None, now} or not found.is_customized:
        return asked or now, SetupPlan()
    where = f"{found.path}, line {found.line}" if found.line else str(found.path)
    note = f'{where}: our server has settings of yours and is left alone; write "args": ["mcp", "--tools", "{asked}"]'
    return asked, SetupPlan(notes=(note,))


_TRUST = "Codex runs new hooks only after you accept them: type /hooks in Codex"


class ClaudeCode:
    """Claude Code's settings of a user or of a project."""

    def __init__(self, scope: Scope, project: Path, *, tools: str | None = None) -> None:
        self.scope = scope
        home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
        #: Where Claude Code looks for plugins that lie in a user's folder of skills; a project gets none.
        self._plugin = home / "skills" / "helix-graph" if scope == "user" else None
        made = project / ".mcp.json" if scope == "project" else None
        self._agent = AgentServers(program="claude", scope=scope, project=project, flags=("--scope", scope), made=made)
        if scope == "project":
            self.settings, self._servers = project / ".claude" / "settings.json", project / ".mcp.json"
        else:  # of a user's file of servers, which Claude Code writes all the time, nothing is edited
            self.settings = home / "settings.json"
            self._servers = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home()) / ".claude.json"
        self.tools, self._note = _chosen_tools(server_state_in_json(self._servers), tools)
        self._entry = server(program(scope), self.tools)
        self._hooks, self._server = JsonHooks(claude_hooks(program(scope))), JsonServer(self._entry)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of settings."""
        return self.settings, self._servers

    def install(self) -> SetupPlan:
        """What puts the memory in.

        Raises:
            NotEditable: A file of settings is not what it should be, or another server has our name.
        """
        plan = SetupPlan(changes=(with_entries(self.settings, self._hooks),))
        plugin = own_files_plan(self._plugin, _settings_apart(), removing=False) if self._plugin else SetupPlan()
        return plan.joined(plugin).joined(self._with_server()).joined(self._note)

    def remove(self) -> SetupPlan:
        """What takes it out again."""
        plan = SetupPlan(changes=(without_entries(self.settings, self._hooks),))
        plugin = own_files_plan(self._plugin, _settings_apart(), removing=True) if self._plugin else SetupPlan()
        return plan.joined(plugin).joined(self._without_server())

    def installed(self) -> Installed:
        """Whether all hooks are in place, the server, and the plugin's agents and skills."""
        hooks = has_entries(self.settings, self._hooks)
        found = server_state_in_json(self._servers)
        unseen = self._agent.has_server() if self._agent.is_there else False if self.scope == "project" else None
        plugin = has_own_files(self._plugin, _settings_apart()) if self._plugin else None
        return Installed(hooks=hooks, server=found.is_ours if found else unseen, plugin=plugin)

    def _with_server(self) -> SetupPlan:
        entry, agent, found = self._entry, self._agent, server_state_in_json(self._servers)
        if found is not None:
            require_our_server(found.entry, path=found.path, line=found.line)
        if found is None and agent.is_there:
            return SetupPlan(commands=agent.adding(entry))
        if self.scope == "user" and found is not None and agent.is_there and found.is_older(entry):
            return SetupPlan(commands=agent.replacing(entry))
        if self.scope == "project":
            return SetupPlan(changes=(with_entries(self._servers, self._server),))
        add = shlex.join(["claude", "mcp", "add", "--scope", "user", SERVER, "--", entry["command"], *entry["args"]])
        return SetupPlan(notes=() if found else (f"claude is not on the PATH; for the server run: {add}",))

    def _without_server(self) -> SetupPlan:
        agent, found = self._agent, server_state_in_json(self._servers)
        if found is None:
            return agent.removing_unseen() if agent.is_there else SetupPlan()
        if not found.is_ours:
            return SetupPlan(notes=(found.note,))
        if self.scope == "project" and (undone(found.path) or not agent.is_there):
            return SetupPlan(changes=(without_entries(found.path, self._server),))
        if agent.is_there:
            return SetupPlan(commands=agent.removing())
        remove = f"claude mcp remove --scope user {SERVER}"
        return SetupPlan(notes=(f"claude is not on the PATH; for the server run: {remove}",))


class Codex:
    """Codex's settings of a user or of a project."""

    def __init__(self, scope: Scope, project: Path, *, tools: str | None = None) -> None:
        self.scope = scope
        folder = project / ".codex"
        if scope == "user":
            folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        self._file, self._config = folder / "hooks.json", folder / "config.toml"
        self._agent = AgentServers(program="codex", scope=scope, project=project)
        self.tools, self._note = _chosen_tools(server_state_in_toml(self._config), tools)
        self._entry = server(program(scope), self.tools)
        self._hooks, self._server = JsonHooks(codex_hooks(program(scope))), TomlServer(self._entry)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of settings."""
        return self._file, self._config

    def install(self) -> SetupPlan:
        """What puts the memory in.

        Raises:
            NotEditable: A file of settings is not what it should be, the hooks are in ``config.toml``, or another
                server has our name.
        """
        if "hooks" in read_toml(self._config):  # Codex warns of hooks in both files, and the user has chosen one
            advice = "paste what `--print` shows, as TOML"
            raise NotEditable("your hooks are defined here, in TOML", path=self._config, advice=advice)
        hooks, found = with_entries(self._file, self._hooks), server_state_in_toml(self._config)
        if self._by_command and found is None:
            return SetupPlan(changes=(hooks,), commands=self._agent.adding(self._entry), notes=(_TRUST,))
        changes = (hooks, with_entries(self._config, self._server))
        return SetupPlan(changes=changes, notes=(_TRUST,)).joined(self._note)

    def remove(self) -> SetupPlan:
        """What takes it out again."""
        plan = SetupPlan(changes=(without_entries(self._file, self._hooks),))
        found = server_state_in_toml(self._config)
        if found is None:
            return plan.joined(self._agent.removing_unseen()) if self._by_command else plan
        if not found.is_ours:
            return plan.joined(SetupPlan(notes=(found.note,)))
        if self._by_command and undone(self._config) is None:
            return plan.joined(SetupPlan(commands=self._agent.removing()))
        return plan.joined(SetupPlan(changes=(without_entries(self._config, self._server),)))

    def installed(self) -> Installed:
        """Whether all hooks are in place, and the server."""
        hooks = has_entries(self._file, self._hooks)
        found = server_state_in_toml(self._config)
        unseen = self._by_command and self._agent.has_server()
        return Installed(hooks=hooks, server=found.is_ours if found else unseen, plugin=None)

    @property
    def _by_command(self) -> bool:
        """Whether Codex's own command can add and remove the server: it knows the user's settings only."""
        return self.scope == "user" and self._agent.is_there
