"""Where each agent keeps its logs on this machine, and which folder each log was made in.

Every agent has a home of its own, which an environment variable of the agent's can move; `HOMES` has them all. A log is
found by the place and name that its agent gives it. The folder in which a session ran is told by the first lines of its
log, by a file beside it, or by the name of the folder it lies in, when that is made of the project's path; a log whose
folder nothing tells has none, and is then nobody's.
"""

from __future__ import annotations

import hashlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from helix_episodes.errors import LogError, UsageError
from helix_episodes.readers import is_part, read_head
from helix_episodes.readers.jsonl import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: How an agent makes the name of a log's folder of the project's path.
Naming = Literal["dashes", "sha256"]


class UnknownAgent(LogError, UsageError):  # noqa: N818  (our errors are named for the situation)
    """No agent has the name asked for."""

    def __init__(self, *, name: str) -> None:
        self.name = name
        self.known = tuple(home.agent for home in HOMES)
        super().__init__(f"no agent is called {name!r}; there are: {', '.join(self.known)}")


class Beside(NamedTuple):
    """A file that tells a log's folder: how many folders above the log, its name, and the keys that lead to it.

    Without keys the file holds nothing but the folder.
    """

    above: int
    name: str
    keys: tuple[str, ...] = ()


class Home(NamedTuple):
    """Where one agent keeps its logs.

    ``variables`` are environment variables that move it, each with what stands below; the first that is set counts,
    else ``default`` below the home folder. ``logs`` are patterns below that. ``named`` is how many levels above a log
    the folder lies that is called after the project, and how it is made of its path.
    """

    agent: str
    default: str
    logs: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()
    excluded: str | None = None
    beside: tuple[Beside, ...] = ()
    named: tuple[int, Naming] | None = None


#: By the agents' own documentation and sources as of November 2026 (docs/formats has a page for each).
HOMES = (
    Home("claude-code", ".claude", ("projects/*/*.jsonl",), (("CLAUDE_CONFIG_DIR", ""),), excluded="agent-*.jsonl"),
    Home(
        "codex",
        ".codex",
        ("sessions/**/rollout-*.jsonl", "archived_sessions/**/rollout-*.jsonl"),
        (("CODEX_HOME", ""),),
    ),
    Home(
        "gemini",
        ".gemini",
        ("tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl"),
        (("GEMINI_CLI_HOME", ".gemini"),),
        beside=(Beside(2, ".project_root"),),
        named=(2, "sha256"),
    ),
    Home("copilot", ".copilot", ("session-state/*/events.jsonl", "session-state/*.jsonl"), (("COPILOT_HOME", ""),)),
    Home(
        "opencode",
        ".local/share/opencode",
        ("opencode*.db", "storage/session/*/*.json"),
        (("XDG_DATA_HOME", "opencode"),),
    ),
    Home(
        "cursor",
        ".cursor",
        ("projects/*/agent-transcripts/*/*.jsonl",),
        (("CURSOR_CONFIG_DIR", ""),),
        named=(3, "dashes"),
    ),
    Home("droid", ".factory", ("sessions/*/*.jsonl", "sessions/*.jsonl"), (("FACTORY_HOME_OVERRIDE", ".factory"),)),
    Home(
        "kimi",
        ".kimi-code",
        ("sessions/*/*/agents/main/wire.jsonl",),
        (("KIMI_CODE_HOME", ""),),
        beside=(Beside(3, "state.json", ("workDir",)),),
    ),
    Home(
        "qwen",
        ".qwen",
        ("projects/*/chats/*.jsonl", "projects/*/chats/archive/*.jsonl"),
        (("QWEN_RUNTIME_DIR", ""), ("QWEN_HOME", "")),
    ),
    Home(
        "grok",
        ".grok",
        ("sessions/*/*/chat_history.jsonl",),
        (("GROK_HOME", ""),),
        beside=(Beside(1, "summary.json", ("info", "cwd")),),
    ),
    Home(
        "openclaw",
        ".openclaw",
        ("agents/*/sessions/*.jsonl",),
        (("OPENCLAW_STATE_DIR", ""),),
        excluded="*.trajectory.jsonl",
    ),
    Home("hermes", ".hermes", ("sessions/session_*.json",), (("HERMES_HOME", ""),)),
    Home(
        "antigravity",
        ".gemini",
        ("antigravity*/brain/*/.system_generated/logs/transcript.jsonl",),
        (("GEMINI_CLI_HOME", ".gemini"),),
    ),
    Home(
        "pi",
        ".pi/agent/sessions",
        ("*/*.jsonl", "*.jsonl"),
        (("PI_CODING_AGENT_SESSION_DIR", ""), ("PI_CODING_AGENT_DIR", "sessions")),
    ),
)

# Under which keys the agents' first records say where they were started.
_FOLDER_KEYS = (
    ("cwd",),
    ("directory",),
    ("payload", "cwd"),
    ("data", "context", "cwd"),
    ("environmentDisclosure", "cwd"),
    ("model_config", "cwd"),
)
_NOT_LETTER_OR_DIGIT = re.compile(r"[^A-Za-z0-9]")


class FoundLog(msgspec.Struct, frozen=True, kw_only=True):
    """A log on this machine. ``folder`` is where its session ran, None when neither it nor its place tells."""

    path: Path
    agent: str
    modified: datetime
    folder: str | None = None


def check_agent(name: str | None) -> None:
    """Raises `UnknownAgent` unless logs of this agent can be found; None stands for every agent."""
    if name is not None and all(home.agent != name for home in HOMES):
        raise UnknownAgent(name=name)


def root_of(home: Home) -> Path:
    """The folder in which an agent keeps what it writes, whether it is there or not.

    An environment variable that is empty counts as not set, as with the agents themselves.
    """
    for variable, below in home.variables:
        moved = os.environ.get(variable, "").strip()
        if moved:
            return Path(moved).expanduser() / below
    return Path.home() / home.default


def logs_of(home: Home, *, candidates: Iterable[Path] = ()) -> Iterator[FoundLog]:
    """An agent's logs by path. ``candidates`` are projects whose path may be hidden in the name of a log's folder."""
    known = _names(home, candidates)
    root = root_of(home)
    for path in sorted({path for pattern in home.logs for path in root.glob(pattern)}):
        if not path.is_file() or (home.excluded and path.match(home.excluded)) or is_part(path):
            continue
        modified = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
        folder = _told_beside(home, path) or _told_by_name(home, path, known) or _told_inside(path)
        yield FoundLog(path=path, agent=home.agent, modified=modified, folder=folder)


def _names(home: Home, candidates: Iterable[Path]) -> dict[str, str]:
    """What the folder of each candidate's logs would be called."""
    if home.named is None:
        return {}
    _, naming = home.named
    return {_name(str(folder), naming): str(folder) for folder in candidates}


def _name(folder: str, naming: Naming) -> str:
    if naming == "sha256":
        return hashlib.sha256(folder.encode()).hexdigest()
    return _NOT_LETTER_OR_DIGIT.sub("-", folder).strip("-")


def _told_by_name(home: Home, log: Path, known: dict[str, str]) -> str | None:
    return known.get(log.parents[home.named[0] - 1].name) if home.named else None


def _told_beside(home: Home, log: Path) -> str | None:
    for above, name, keys in home.beside:
        try:
            written = (log.parents[above - 1] / name).read_bytes()
            told = _at(parse(written), keys) if keys else written.decode().strip()
        except (OSError, ValueError):
            continue  # this agent's version wrote no such file: the log itself may tell
        if isinstance(told, str) and told:
            return told
    return None


def _told_inside(log: Path) -> str | None:
    """The first folder that a record of the log's beginning names; databases hold sessions of many folders."""
    try:
        head = read_head(log)
    except LogError:
        return None  # whoever reads it will say what is wrong with it
    records = [head.document] if isinstance(head.document, dict) else head.records
    return next((told for record in records if (told := _told_in(record))), None)


def _told_in(record: dict[str, Any]) -> str | None:
    found = (_at(record, keys) for keys in _FOLDER_KEYS)
    return next((told for told in found if isinstance(told, str) and told), None)


def _at(value: object, keys: Sequence[str]) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
