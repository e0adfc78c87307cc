"""Which agents are on this machine, and what installs the memory into each.

Agents that are set up by their files alone: Cursor, Copilot, Gemini CLI, OpenCode, Qwen Code; and a skill.

The skill is for every agent that reads ``.agents/skills``. OpenCode has no hooks that a command can answer: it gets a
plugin of its own that asks our command, and the skill, for its version 2 loads no such plugin.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from helix_cli.setup.agent_servers import SetupPlan
from helix_cli.setup.definitions import FileAgentName, Scope, file_hooks, file_server, program, tools_of
from helix_cli.setup.entries import JSON_SERVERS, OPENCODE_SERVERS, Entries, JsonHooks, JsonServer
from helix_cli.setup.installers import ClaudeCode, Codex, Installed, has_own_files, own_files_plan
from helix_cli.setup.settings import has_entries, with_entries, without_entries

if TYPE_CHECKING:
    from helix_cli.setup.json_edit import JsonDialect


_SKILL = Path("SKILL.md")
_PLUGIN = Path("helix-graph.js")
_SKILL_NAME = "helix-graph"


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
    return Path(moved) / places.below if moved else Path.home() / places.home


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
        self._folder = (Path.home() if scope == "user" else project) / ".agents" / "skills" / _SKILL_NAME

    @property
    def paths(self) -> tuple[Path, ...]:
        """The skill's file."""
        return (self._folder / _SKILL,)

    def install(self) -> SetupPlan:
        """What puts it there."""
        return own_files_plan(self._folder, skill_contents(), removing=False)

    def remove(self) -> SetupPlan:
        """What takes it away."""
        return own_files_plan(self._folder, skill_contents(), removing=True)

    def installed(self) -> Installed:
        """Whether it is there; there is nothing else."""
        return Installed(hooks=True, server=None, plugin=has_own_files(self._folder, skill_contents()))


def skill_contents() -> dict[Path, str]:
    """The skill's files, named as they lie in its folder."""
    return {_SKILL: (files("helix_cli.setup") / "skill" / _SKILL).read_text(encoding="utf-8")}


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
        ("claude-code", Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")),
        ("codex", Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")),
        *((one, agent_folder(one)) for one in _FILE_AGENTS),
    ]
    return [one for one, folder in homes if shutil.which(_PROGRAMS.get(one, one)) or folder.is_dir()]
