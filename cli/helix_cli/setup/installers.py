"""How the memory gets into agents' settings, and out again; which agents are on this machine.

Claude Code has hooks in its settings, the server through its own command, and the plugin's agents and skills as files.
Codex has hooks in ``hooks.json``, and the server through its own command or at the end of ``config.toml``. Cursor,
Copilot, Gemini CLI, OpenCode and Qwen Code are set up by their files alone. OpenCode has no hooks that a command can
answer: it gets a plugin of its own that asks our command, and the skill, for its version 2 loads no such plugin. The
skill by itself is for every agent that reads ``.agents/skills``. A server of another program under our name is never
replaced or removed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

import msgspec

from helix_cli.setup.agent_servers import (
    AgentServers,
    ServerState,
    SetupPlan,
    server_state_in_json,
    server_state_in_toml,
)
from helix_cli.setup.definitions import (
    SERVER,
    FileAgentName,
    Scope,
    claude_hooks,
    codex_hooks,
    file_hooks,
    file_server,
    program,
    server,
    tools_of,
)
from helix_cli.setup.entries import (
    JSON_SERVERS,
    OPENCODE_SERVERS,
    Entries,
    JsonHooks,
    JsonServer,
    TomlServer,
    require_our_server,
)
from helix_cli.setup.json_edit import NotEditable
from helix_cli.setup.own_files import SKILL_FILE, files_beside_settings, has_own_files, own_files_plan, skill_contents
from helix_cli.setup.settings import (
    has_entries,
    read_toml,
    undone,
    with_entries,
    without_entries,
)
from helix_episodes.safe_files import home_folder

if TYPE_CHECKING:
    from helix_cli.setup.json_edit import JsonDialect


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
        home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home_folder() / ".claude")
        #: Where Claude Code looks for plugins that lie in a user's folder of skills; a project gets none.
        self._plugin = home / "skills" / "helix-graph" if scope == "user" else None
        made = project / ".mcp.json" if scope == "project" else None
        self._agent = AgentServers(program="claude", scope=scope, project=project, flags=("--scope", scope), made=made)
        if scope == "project":
            self.settings, self._servers = project / ".claude" / "settings.json", project / ".mcp.json"
        else:  # of a user's file of servers, which Claude Code writes all the time, nothing is edited
            self.settings = home / "settings.json"
            self._servers = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home_folder()) / ".claude.json"
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
        plugin = own_files_plan(self._plugin, files_beside_settings(), removing=False) if self._plugin else SetupPlan()
        return plan.joined(plugin).joined(self._with_server()).joined(self._note)

    def remove(self) -> SetupPlan:
        """What takes it out again."""
        plan = SetupPlan(changes=(without_entries(self.settings, self._hooks),))
        plugin = own_files_plan(self._plugin, files_beside_settings(), removing=True) if self._plugin else SetupPlan()
        return plan.joined(plugin).joined(self._without_server())

    def installed(self) -> Installed:
        """Whether all hooks are in place, the server, and the plugin's agents and skills."""
        hooks = has_entries(self.settings, self._hooks)
        found = server_state_in_json(self._servers)
        unseen = self._agent.has_server() if self._agent.is_there else False if self.scope == "project" else None
        plugin = has_own_files(self._plugin, files_beside_settings()) if self._plugin else None
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
            folder = Path(os.environ.get("CODEX_HOME") or home_folder() / ".codex")
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


_PLUGIN = Path("helix-graph.js")
_SKILL_NAME = "helix-graph"
#: Where all agents but Claude Code look for skills, below the home folder or the project.
SKILL_FOLDER = Path(".agents") / "skills" / _SKILL_NAME


class _Places(NamedTuple):
    """Where an agent has its settings: for a user (a variable that moves it, and what is below), for a project."""

    variable: str
    below: str
    home: str
    project: str
    servers: str
    hooks: str


#: By the agents' documentation and, but for Cursor and Qwen Code, tried with the clients themselves.
_PLACES: dict[FileAgentName, _Places] = {
    "cursor": _Places("CURSOR_CONFIG_DIR", "", ".cursor", ".cursor", "mcp.json", "hooks.json"),
    "copilot": _Places("COPILOT_HOME", "", ".copilot", ".github", "mcp-config.json", "hooks/helix-graph.json"),
    "gemini": _Places("GEMINI_CLI_HOME", ".gemini", ".gemini", ".gemini", "settings.json", "settings.json"),
    "opencode": _Places("XDG_CONFIG_HOME", "opencode", ".config/opencode", "", "opencode.json", ""),
    "qwen": _Places("QWEN_HOME", "", ".qwen", ".qwen", "settings.json", "settings.json"),
}
#: What these read besides strict JSON; the others skip a file that has a comment.
_DIALECTS: dict[FileAgentName, JsonDialect] = {"gemini": "comments", "qwen": "comments", "opencode": "jsonc"}
#: A project's servers of Copilot have another name than a user's.
_COPILOT_PROJECT = "mcp.json"


def agent_folder(agent: FileAgentName) -> Path:
    """Where an agent keeps a user's settings."""
    places = _PLACES[agent]
    moved = os.environ.get(places.variable, "").strip()
    return Path(moved) / places.below if moved else home_folder() / places.home


class FileAgent:
    """The settings of one such agent, of a user or of a project."""

    def __init__(self, agent: FileAgentName, scope: Scope, project: Path, *, tools: str | None = None) -> None:
        self.scope = scope
        places, command = _PLACES[agent], program(scope)
        folder = agent_folder(agent) if scope == "user" else project / places.project
        dialect = _DIALECTS.get(agent, "strict")
        servers = places.servers if (agent, scope) != ("copilot", "project") else _COPILOT_PROJECT
        if agent == "opencode" and (folder / f"{servers}c").exists():
            servers = f"{servers}c"
        key = OPENCODE_SERVERS if agent == "opencode" else JSON_SERVERS
        found = JsonServer({}, servers=key, dialect=dialect).entry_in(folder / servers)
        self.tools = tools or tools_of(found)
        server = JsonServer(file_server(agent, command, self.tools), servers=key, dialect=dialect)
        self._parts: dict[str, tuple[Path, JsonHooks | JsonServer]] = {"server": (folder / servers, server)}
        if wanted := file_hooks(agent, command):
            hooks = JsonHooks(wanted, flat=agent in {"cursor", "copilot"}, dialect=dialect)
            self._parts["hooks"] = (folder / places.hooks, hooks)
        #: The folders that are ours to fill, with the files in them.
        self._own: dict[Path, dict[Path, str]] = {}
        if agent == "opencode":
            around = folder if scope == "user" else project / ".opencode"
            # OpenCode's plugin, which starts our program by the name or the place that the command has.
            text = (files("helix_cli.setup") / "opencode" / _PLUGIN).read_text(encoding="utf-8")
            self._own = {
                around / "skills" / _SKILL_NAME: skill_contents(),
                around / "plugins": {
                    _PLUGIN: text.replace('"helix-graph"\n', f"{json.dumps(shlex.split(command)[0])}\n", 1)
                },
            }

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of settings, the plugin's and the skill's."""
        own = (folder / name for folder, contents in self._own.items() for name in contents)
        return *(path for path, _ in self._parts.values()), *own

    def install(self) -> SetupPlan:
        """What puts the memory in.

        Raises:
            NotEditable: A file of settings is not what it should be, or another server has our name.
        """
        plan = SetupPlan(changes=tuple(with_entries(path, entries) for path, entries in self._files()))
        return plan.joined(self._own_files(removing=False))

    def remove(self) -> SetupPlan:
        """What takes it out again."""
        plan = SetupPlan(changes=tuple(without_entries(path, entries) for path, entries in self._files()))
        return plan.joined(self._own_files(removing=True))

    def installed(self) -> Installed:
        """Whether the hooks are in place, where the agent has any, the server, the plugin and the skill."""
        found = {name: has_entries(*part) for name, part in self._parts.items()}
        own = all(has_own_files(*one) for one in self._own.items()) if self._own else None
        return Installed(hooks=found.get("hooks", True), server=found["server"], plugin=own)

    def _files(self) -> list[tuple[Path, Entries]]:
        """Each file once, with all that belongs into it."""
        by_path: dict[Path, list[JsonHooks | JsonServer]] = {}
        for path, entries in self._parts.values():
            by_path.setdefault(path, []).append(entries)
        return [(path, Entries(*parts)) for path, parts in by_path.items()]

    def _own_files(self, *, removing: bool) -> SetupPlan:
        plan = SetupPlan()
        for folder, contents in self._own.items():
            plan = plan.joined(own_files_plan(folder, contents, removing=removing))
        return plan


class AgentSkill:
    """The skill by itself, where all agents but Claude Code look for skills."""

    #: It has no server, and so no tools to choose.
    tools = ""

    def __init__(self, scope: Scope, project: Path) -> None:
        self.scope = scope
        self._folder = (home_folder() if scope == "user" else project) / SKILL_FOLDER

    @property
    def paths(self) -> tuple[Path, ...]:
        """The skill's file."""
        return (self._folder / SKILL_FILE,)

    def install(self) -> SetupPlan:
        """What puts it there."""
        return own_files_plan(self._folder, skill_contents(), removing=False)

    def remove(self) -> SetupPlan:
        """What takes it away."""
        return own_files_plan(self._folder, skill_contents(), removing=True)

    def installed(self) -> Installed:
        """Whether it is there; there is nothing else."""
        return Installed(hooks=True, server=None, plugin=has_own_files(self._folder, skill_contents()))


Installer = ClaudeCode | Codex | FileAgent | AgentSkill
#: The commands of agents whose names are others.
_PROGRAMS = {"claude-code": "claude", "cursor": "cursor-agent"}
_FILE_AGENTS: tuple[FileAgentName, ...] = get_args(FileAgentName)


def installer_for(agent: str, scope: Scope, project: Path, *, tools: str | None = None) -> Installer:
    """What sets up the agent of that name, with a set of tools."""
    if agent == "claude-code":
        return ClaudeCode(scope, project, tools=tools)
    if agent == "codex":
        return Codex(scope, project, tools=tools)
    for named in _FILE_AGENTS:
        if named == agent:
            return FileAgent(named, scope, project, tools=tools)
    return AgentSkill(scope, project)


def agents_here() -> list[str]:
    """The agents whose command is on the PATH, or whose folder of settings is there."""
    homes: list[tuple[str, Path]] = [
        ("claude-code", Path(os.environ.get("CLAUDE_CONFIG_DIR") or home_folder() / ".claude")),
        ("codex", Path(os.environ.get("CODEX_HOME") or home_folder() / ".codex")),
        *((one, agent_folder(one)) for one in _FILE_AGENTS),
    ]
    return [one for one, folder in homes if shutil.which(_PROGRAMS.get(one, one)) or folder.is_dir()]
