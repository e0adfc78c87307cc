"""A home with no agents in it but stand-ins: programs called ``claude`` and ``codex`` that only keep servers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

#: Keeps servers where Claude Code keeps them, and tells of them in its words; it adds none over another.
_TELLING = """
def place(scope):
    return pathlib.Path(".mcp.json") if scope == "project" else home / ".claude.json"
def known(scope):
    return json.loads(place(scope).read_text())["mcpServers"] if place(scope).exists() else {}
def keep(scope, servers):
    place(scope).write_text(json.dumps({"mcpServers": servers}))
if words[:2] == ["mcp", "get"]:
    for scope, named in (("project", "Project config"), ("user", "User config")):
        if words[2] in known(scope):
            one = known(scope)[words[2]]
            print(f"{words[2]}:\\n  Scope: {named}\\n  Type: stdio\\n  Command: {one['command']}")
            print(f"  Args: {' '.join(one['args'])}\\n  Environment:")
            sys.exit(0)
    sys.exit("No MCP server found")
scope, name = words[3:5]
if (name in known(scope)) == (words[1] == "add"):
    sys.exit("it is there" if words[1] == "add" else "it is not there")
others = {one: entry for one, entry in known(scope).items() if one != name}
added = {name: {"type": "stdio", "command": words[6], "args": words[7:], "env": {}}} if words[1] == "add" else {}
keep(scope, {**others, **added})
"""
#: Keeps servers where nobody looks, tells nothing of them, and puts one over another without a word.
_MUTE = """
kept = home / "kept.json"
servers = json.loads(kept.read_text()) if kept.exists() else {}
if words[:2] == ["mcp", "get"]:
    sys.exit(0 if words[2] in servers else 1)
if words[1] == "add":
    at = words.index("--")
    servers[words[at - 1]] = words[at + 1 :]
else:
    del servers[words[-1]]
kept.write_text(json.dumps(servers))
"""


class AgentsHome:
    """The folders of settings, and which programs are on the PATH."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.claude = root / ".claude" / "settings.json"
        self.claude_servers = root / ".claude.json"
        self.codex = root / ".codex"
        (self.project / ".git").mkdir(parents=True)

    def put(self, path: Path, text: str) -> Path:
        """Writes a file of settings, byte for byte."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def install(self, program: str, *, mute: bool = False) -> None:
        """Puts a stand-in on the PATH."""
        begin = f"#!{sys.executable}\nimport json, os, pathlib, sys\nwords = sys.argv[1:]\n"
        begin += 'home = pathlib.Path(os.environ["HOME"])\n'
        begin += 'with (home / "calls").open("a") as calls:\n    calls.write(" ".join(words) + "\\n")\n'
        path = self.put(self.root / "bin" / program, begin + (_MUTE if mute else _TELLING))
        path.chmod(0o755)

    def keep_unseen(self, servers: dict[str, list[str]]) -> None:
        """What a mute stand-in has."""
        self.put(self.root / "kept.json", json.dumps(servers))

    @property
    def unseen(self) -> dict[str, Any]:
        """What a mute stand-in has by now."""
        path = self.root / "kept.json"
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def calls(self) -> list[str]:
        """What the stand-ins were called with, `mcp get` left out."""
        path = self.root / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if not line.startswith("mcp get")]

    @property
    def files(self) -> dict[str, bytes]:
        """Every file below the home with its bytes; without what setup remembers, the stand-ins, and the memory."""
        places = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        named = {path.relative_to(self.root).as_posix(): path.read_bytes() for path in places}
        return {
            name: content
            for name, content in named.items()
            if not name.startswith((".local/", "bin/", "calls", "project/.helix/"))
        }
