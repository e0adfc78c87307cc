"""Which agents are on this machine, and what installs the memory into each."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import get_args

from helix_cli.setup.definitions import FileAgentName, Scope
from helix_cli.setup.file_agents import AgentSkill, FileAgent, agent_folder
from helix_cli.setup.installers import ClaudeCode, Codex

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
