"""How the memory gets into the settings of Claude Code and Codex, and out again: one plan of changes for each.

Claude Code has hooks in its settings, the server through its own command, and the plugin's agents and skills as files.
Codex has hooks in ``hooks.json``, and the server through its own command or at the end of ``config.toml``. A server of
another program under our name is never replaced or removed.

Of the plugin, setup leaves out the hooks and the server: they are in the settings, and would run twice. A file that
somebody has changed is theirs from then on: it is neither replaced nor removed, and the report names it. The plugin can
also be exported whole.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_cli.setup.definitions import (
    SERVER,
    Scope,
    claude_hooks,
    codex_hooks,
    is_our_program,
    is_our_server,
    program,
    server,
)
from helix_cli.setup.errors import AgentCommandFailed, NotEditable
from helix_cli.setup.jsonc import line_at
from helix_cli.setup.settings import (
    JSON_SERVERS,
    TOML_SERVERS,
    FileChange,
    JsonHooks,
    JsonServer,
    TomlServer,
    apply,
    has_entries,
    line_of_toml_server,
    read_text,
    read_toml,
    records,
    require_our_server,
    server_in,
    undone,
    with_entries,
    without_entries,
)
from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import write_atomically
from helix_graph.errors import FolderInUse

if TYPE_CHECKING:
    from collections.abc import Mapping


#: An agent's own command answers within a second or two; one that waits for input is stopped.
_SECONDS = 60


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One of the agent's own commands, which ``adds`` a server or removes it; the records call it ``server``."""

    line: tuple[str, ...]
    cwd: Path
    server: str
    adds: bool


class SetupPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done. ``notes`` are for a person to read."""

    changes: tuple[FileChange, ...] = ()
    commands: tuple[Command, ...] = ()
    notes: tuple[str, ...] = ()

    def joined(self, other: SetupPlan) -> SetupPlan:
        """This, and then another."""
        changes, commands = self.changes + other.changes, self.commands + other.commands
        return SetupPlan(changes=changes, commands=commands, notes=self.notes + other.notes)


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What of the memory is in an agent's settings.

    ``server`` is None where only the agent's absent command knows, ``plugin`` where there is none to put in.
    """

    hooks: bool
    server: bool | None
    plugin: bool | None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.hooks and self.server is not False and self.plugin is not False


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
        AgentCommandFailed: The agent's own command failed; files done by then stay done.
        WriteFailed: A file cannot be written; files done by then stay done.
    """
    changes = [change for change in plan.changes if not change.is_none]
    if not dry_run:
        apply(changes)
        for command in plan.commands:
            _called(command.line, command.cwd)
            found = records()
            servers = {*found.servers, command.server} if command.adds else {*found.servers} - {command.server}
            msgspec.structs.replace(found, servers=tuple(sorted(servers))).save()
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


def _called(line: tuple[str, ...], cwd: Path) -> str:
    """What one of the agent's own commands prints.

    Raises:
        AgentCommandFailed: It does not succeed.
    """
    try:
        done = subprocess.run(  # noqa: S603  (the agent's own command, found on the PATH; no shell)
            line, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AgentCommandFailed(line, str(error)) from error
    if done.returncode != 0:
        raise AgentCommandFailed(line, (done.stderr or done.stdout).strip()[-300:] or "no reason given")
    return done.stdout


_COMMAND = re.compile(r"^\s*command:[ \t]*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_ARGUMENTS = re.compile(r"^\s*args:[ \t]*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
#: What `claude mcp add` writes in addition to the command.
_ADDED_BY_CLAUDE: tuple[tuple[str, object], ...] = (("type", "stdio"), ("env", {}))
_SCOPE = re.compile(r"^\s*scope:[ \t]*(\w+)", re.IGNORECASE | re.MULTILINE)


class ServerState(msgspec.Struct, frozen=True, kw_only=True):
    """An entry under our name in the file of an agent's servers."""

    entry: Any
    path: Path
    line: int | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it starts our server."""
        return is_our_server(self.entry)

    def is_older(self, entry: Mapping[str, Any]) -> bool:
        """Whether it is ours as setup once had it added, but says something else than it would now."""
        added = {name: one for name, one in self.entry.items() if (name, one) not in _ADDED_BY_CLAUDE}
        return set(added) == set(entry) and added != entry

    @property
    def note(self) -> str:
        """What removing says of another's."""
        where = f"{self.path}, line {self.line}" if self.line else str(self.path)
        return f"{where}: another server is called {SERVER}; it is left alone"


def server_state_in_json(path: Path) -> ServerState | None:
    """The entry under our name in a file of JSON; None where it has none, or is not what it should be.

    Such a file stays as it is: the agent's command says what is wrong with it, or the edit that it would need.
    """
    try:
        text = read_text(path) or ""
        entry = server_in(json.loads(text.removeprefix("\ufeff")), JSON_SERVERS)
    except (NotEditable, ValueError, RecursionError):
        return None
    return None if entry is None else ServerState(entry=entry, path=path, line=line_at(text, (JSON_SERVERS, SERVER)))


def server_state_in_toml(path: Path) -> ServerState | None:
    """The entry under our name in a file of TOML; None where it has none.

    Raises:
        NotEditable: It is no TOML.
    """
    entry, text = server_in(read_toml(path), TOML_SERVERS), read_text(path) or ""
    return None if entry is None else ServerState(entry=entry, path=path, line=line_of_toml_server(text))


class AgentServers(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's own command, asked about one scope from a project's folder; ``flags`` name the scope to it."""

    program: str
    scope: Scope
    project: Path
    flags: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether the command is on the PATH."""
        return shutil.which(self.program) is not None

    def has_server(self) -> bool:
        """Whether the agent knows our server."""
        answer = self._answer()
        return answer is not None and self._is_ours(answer)

    def adding(self, entry: Mapping[str, Any]) -> tuple[Command, ...]:
        """What adds our server where no file has one of its name; nothing when the agent has it already.

        Raises:
            NotEditable: The agent knows another server of that name.
        """
        answer = self._answer()
        if answer is None:
            return (self._add(entry),)
        if not self._is_ours(answer):
            problem = f"another server is called {SERVER}: `{' '.join(self._get)}` shows it"
            raise NotEditable(problem, advice="give it another name, or paste what `--print` shows under another one")
        return ()

    def replacing(self, entry: Mapping[str, Any]) -> tuple[Command, ...]:
        """What puts our server in the place of an older one of ours."""
        return (*self.removing(), self._add(entry))

    def removing(self) -> tuple[Command, ...]:
        """What removes our server, for which the file has to say that it is ours."""
        return (self._command(("mcp", "remove", *self.flags, SERVER), adds=False),)

    def removing_unseen(self) -> SetupPlan:
        """What removes a server that no file shows, if it is ours, and a note about another's."""
        answer = self._answer()
        if answer is None:
            return SetupPlan()
        if self._is_ours(answer):
            return SetupPlan(commands=self.removing())
        return SetupPlan(notes=(f"`{' '.join(self._get)}`: another server is called {SERVER}; it is left alone",))

    @property
    def _get(self) -> tuple[str, ...]:
        return (self.program, "mcp", "get", SERVER)

    @property
    def _name(self) -> str:
        """What the records call the server of this agent and scope."""
        return " ".join([self.program, self.scope, *([str(self.project)] if self.scope == "project" else [])])

    def _add(self, entry: Mapping[str, Any]) -> Command:
        words = ("mcp", "add", *self.flags, SERVER, "--", entry["command"], *entry["args"])
        return self._command(words, adds=True)

    def _command(self, words: tuple[str, ...], *, adds: bool) -> Command:
        return Command(line=(self.program, *words), cwd=self.project, server=self._name, adds=adds)

    def _answer(self) -> str | None:
        """What the agent's command prints about a server of our name in this scope; None when there is none."""
        try:
            answer = _called(self._get, self.project)
        except AgentCommandFailed:
            return None
        scope = _SCOPE.search(answer)
        return None if scope is not None and scope[1].lower() != self.scope else answer

    def _is_ours(self, answer: str) -> bool:
        command, arguments = _COMMAND.search(answer), _ARGUMENTS.search(answer)
        if command is None:
            return self._name in records().servers
        return is_our_program(command[1]) and arguments is not None and arguments[1].split()[:1] == ["mcp"]


_MANIFEST = Path(".claude-plugin") / "plugin.json"
_READABLE = 0o644


class ExportedPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written, relative to the folder."""

    folder: Path
    files: tuple[Path, ...]


def export_plugin(folder: Path) -> ExportedPlugin:
    """Writes the plugin.

    Raises:
        FolderInUse: It holds something else.
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
    """Whether the folder is empty, or ours by the name in its manifest."""
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return
        found = msgspec.json.decode((folder / _MANIFEST).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        found = None
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error
    if not isinstance(found, dict) or found.get("name") != msgspec.json.decode(manifest)["name"]:
        raise FolderInUse(f"{folder} holds something else than an earlier export; name an empty folder")


_BY_SETTINGS = frozenset({Path("hooks/hooks.json"), Path(".mcp.json")})


def plugin_plan(folder: Path, *, removing: bool) -> SetupPlan:
    """The changes that put the files there or take them away, and a note about each that somebody has changed.

    Raises:
        NotEditable: Something else than a file is in the place of one.
    """
    wanted, changes, notes = _wanted(folder), [], []
    recorded = (path for path in map(Path, records().files) if path.is_relative_to(folder.resolve()))
    for path in sorted({*wanted, *recorded}):
        before, after = read_text(path), None if removing else wanted.get(path)
        if before is None or before == wanted.get(path) or undone(path):
            changes.append(FileChange(path=path, before=before, after=after, installs=True, within=folder))
        else:
            notes.append(f"{path}: somebody has changed it; it is left alone")
    return SetupPlan(changes=tuple(changes), notes=tuple(notes))


def has_plugin(folder: Path) -> bool:
    """Whether every file is there, changed or not."""
    return all(path.is_file() for path in _wanted(folder))


def _wanted(folder: Path) -> dict[Path, str]:
    contents = plugin_contents()
    return {folder.resolve() / path: one.decode() for path, one in contents.items() if path not in _BY_SETTINGS}


_TRUST = "Codex runs new hooks only after you accept them: type /hooks in Codex"


class ClaudeCode:
    """Claude Code's settings of a user or of a project."""

    def __init__(self, scope: Scope, project: Path) -> None:
        self.scope = scope
        home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
        #: Where Claude Code looks for plugins that lie in a user's folder of skills; a project gets none.
        self._plugin = home / "skills" / "helix-graph" if scope == "user" else None
        self._agent = AgentServers(program="claude", scope=scope, project=project, flags=("--scope", scope))
        self._entry = server(program(scope))
        self._hooks, self._server = JsonHooks(claude_hooks(program(scope))), JsonServer(self._entry)
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
        plan = SetupPlan(changes=(with_entries(self.settings, self._hooks),))
        plugin = plugin_plan(self._plugin, removing=False) if self._plugin else SetupPlan()
        return plan.joined(plugin).joined(self._with_server())

    def remove(self) -> SetupPlan:
        """What takes it out again.

        Raises:
            NotEditable: A file of settings is not what it should be.
        """
        plan = SetupPlan(changes=(without_entries(self.settings, self._hooks),))
        plugin = plugin_plan(self._plugin, removing=True) if self._plugin else SetupPlan()
        return plan.joined(plugin).joined(self._without_server())

    def installed(self) -> Installed:
        """Whether all hooks are in place, the server, and the plugin's agents and skills.

        Raises:
            NotEditable: The file of settings is not what it should be.
        """
        hooks = has_entries(self.settings, self._hooks)
        found = server_state_in_json(self._servers)
        unseen = self._agent.has_server() if self._agent.is_there else False if self.scope == "project" else None
        plugin = has_plugin(self._plugin) if self._plugin else None
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

    def __init__(self, scope: Scope, project: Path) -> None:
        self.scope = scope
        folder = project / ".codex"
        if scope == "user":
            folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        self._file, self._config = folder / "hooks.json", folder / "config.toml"
        self._agent = AgentServers(program="codex", scope=scope, project=project)
        self._entry = server(program(scope))
        self._hooks, self._server = JsonHooks(codex_hooks(program(scope))), TomlServer(self._entry)

    def install(self) -> SetupPlan:
        """What puts the memory in.

        Raises:
            NotEditable: A file of settings is not what it should be, the hooks are in ``config.toml``, or another
                server has our name.
        """
        if "hooks" in read_toml(self._config):  # Codex warns of hooks in both files, and the user has chosen one
            advice = "paste what `--print` shows, as TOML"
            raise NotEditable("your hooks stand here, in TOML", path=self._config, advice=advice)
        hooks, found = with_entries(self._file, self._hooks), server_state_in_toml(self._config)
        if self._by_command and found is None:
            return SetupPlan(changes=(hooks,), commands=self._agent.adding(self._entry), notes=(_TRUST,))
        return SetupPlan(changes=(hooks, with_entries(self._config, self._server)), notes=(_TRUST,))

    def remove(self) -> SetupPlan:
        """What takes it out again.

        Raises:
            NotEditable: A file of settings is not what it should be.
        """
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
        """Whether all hooks are in place, and the server.

        Raises:
            NotEditable: A file of settings is not what it should be.
        """
        hooks = has_entries(self._file, self._hooks)
        found = server_state_in_toml(self._config)
        unseen = self._by_command and self._agent.has_server()
        return Installed(hooks=hooks, server=found.is_ours if found else unseen, plugin=None)

    @property
    def _by_command(self) -> bool:
        """Whether Codex's own command can add and remove the server: it knows the user's settings only."""
        return self.scope == "user" and self._agent.is_there
