"""A victim's machine in a temporary folder: project, home, command line, hooks and the MCP server, all as processes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_COMMAND = [sys.executable, "-c", "from helix_cli.entry import main; main()"]
#: Hooks are killed after a second or so; a machine that measures is slower than one that works.
_PATIENCE = "60"


@dataclass(frozen=True)
class Answer:
    """What an agent or a person was shown, and by what."""

    source: str
    text: str
    code: int = 0


@dataclass
class World:
    """One machine. Everything that is shown to an agent is noted in ``answers``."""

    root: Path
    name: str = "victim"
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.project.mkdir(parents=True)
        self.home.mkdir(parents=True)
        git = ["git", "init", "-q"]
        subprocess.run(git, cwd=self.project, env=self.environment, check=True)

    @classmethod
    def temporary(cls) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="poisoning-", ignore_cleanup_errors=True)

    @property
    def project(self) -> Path:
        return self.root / self.name / "shop"

    @property
    def home(self) -> Path:
        return self.root / self.name / "home"

    @property
    def memory(self) -> Path:
        return self.project / ".helix"

    @property
    def logs(self) -> Path:
        return self.home / ".claude" / "projects" / str(self.project).replace("/", "-")

    @property
    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "PYTHONPATH"}}
        folders = {
            f"XDG_{what}_HOME": str(self.home / where)
            for what, where in {
                "CONFIG": ".config",
                "DATA": ".local/share",
                "STATE": ".local/state",
                "CACHE": ".cache",
            }.items()
        }
        return {
            **inherited,
            **folders,
            "HOME": str(self.home),
            "HELIX_HOOK_SECONDS": _PATIENCE,
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def command(self, *arguments: str, shown: bool = False, stdin: str = "") -> Answer:
        """Runs the command; ``shown`` when an agent reads what it prints."""
        done = subprocess.run(
            [*_COMMAND, *arguments],
            cwd=self.project,
            env=self.environment,
            input=stdin.encode(errors="surrogateescape"),
            capture_output=True,
            check=False,
            timeout=120,
        )
        text = done.stdout.decode(errors="replace")
        assert b"Traceback" not in done.stderr, f"{arguments[:2]}: {done.stderr.decode(errors='replace')[-600:]}"
        answer = Answer(" ".join(arguments[:2]), text, done.returncode)
        if shown:
            self.answers.append(answer)
        return Answer(answer.source, text + done.stderr.decode(errors="replace"), done.returncode)

    def hook(self, event: str, session: str, **payload: object) -> str:
        """What the agent reads after this event; "" when nothing was said."""
        content = {"session_id": session, "cwd": str(self.project), **payload}
        done = subprocess.run(
            [*_COMMAND, "hook", event],
            cwd=self.project,
            env=self.environment,
            input=json.dumps(content).encode(),
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"hook {event}: exit code {done.returncode}"
        if not done.stdout.strip():
            return ""
        said = json.loads(done.stdout)
        texts = [str(part) for part in strings(said)]
        self.answers.append(Answer(f"hook {event}", "\n".join(texts)))
        return "\n".join(texts)

    def wait_until_idle(self) -> None:
        """Waits for work that a hook has left to a process of its own."""
        import fcntl
        import time

        time.sleep(0.3)
        lock = self.memory / "hooks" / "working.lock"
        if lock.exists():
            with lock.open("ab") as held:
                fcntl.flock(held, fcntl.LOCK_EX)

    def server(self) -> Server:
        return Server(self)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of helix.db, whose columns are documented; none where it does not exist or lacks the table."""
        path = self.memory / "helix.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError:
                return []

    def contents(self) -> Iterator[tuple[Path, bytes]]:
        """Every file that the product may have written: the memory, and the home but for the agents' own logs."""
        for folder in (self.memory, self.home):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and self.home / ".claude" not in path.parents:
                    yield path, path.read_bytes()
                    if path.suffix == ".db":
                        yield path, b"\n".join(cells(path))


class Server:
    """The MCP server and a client that writes and reads lines."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._number = 0
        self._process = subprocess.Popen(
            [*_COMMAND, "mcp", "--tools", "all"],
            cwd=world.project,
            env=world.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        client = {"name": "poisoning", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)

    def call(self, tool: str, **arguments: object) -> str:
        """The text of the tool's answer."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments}).get("result", {})
        return self._note(f"MCP {tool}", [str(part.get("text", "")) for part in result.get("content", [])])

    def plant(self, tool: str, **arguments: object) -> str:
        """A call of the attacker, whose answer nobody else reads."""
        text = self.call(tool, **arguments)
        self._world.answers.pop()
        return text

    def briefing(self, task: str) -> str:
        result = self._ask("prompts/get", {"name": "briefing", "arguments": {"task": task}}).get("result", {})
        return self._note("MCP briefing", [str(one["content"].get("text", "")) for one in result.get("messages", [])])

    def resource(self, uri: str) -> str:
        result = self._ask("resources/read", {"uri": uri}).get("result", {})
        return self._note("MCP resource", [str(one.get("text", "")) for one in result.get("contents", [])])

    def listed_resources(self) -> str:
        result = self._ask("resources/list").get("result", {})
        return self._note("MCP resources", [str(one.get("description", "")) for one in result.get("resources", [])])

    def _note(self, source: str, texts: list[str]) -> str:
        text = "\n".join(texts)
        self._world.answers.append(Answer(source, text))
        return text

    def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _ask(self, method: str, params: Mapping[str, object] | None = None) -> dict[str, Any]:
        assert self._process.stdout is not None
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params or {}})
        while True:
            line = self._process.stdout.readline()
            assert line, f"the server ended at {method}"
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._number:
                return answer


def strings(value: object) -> Iterable[str]:
    """Every text in an answer of a hook, whichever field it stands in."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def cells(path: Path) -> Iterator[bytes]:
    """The texts in a database; pages may cut them into parts."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608  (names of our own file)
                    for cell in row:
                        if isinstance(cell, str | bytes):
                            yield cell.encode() if isinstance(cell, str) else cell
    except sqlite3.DatabaseError:  # what is no database was searched as bytes
        return
