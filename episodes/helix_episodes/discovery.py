"""Where each agent keeps its logs on this machine, and which folder each log was made in.

Every agent has a home of its own, which an environment variable of the agent's can move; `AGENT_HOMES` has them
all. A log is found by the place and name that its agent gives it. The folder in which a session ran is known from
the first lines of its log, from a file next to it, or from the name of the folder it lies in, when that is made of the
project's path; a log whose folder is unknown belongs to no project.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Container, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from helix_episodes.errors import InvalidArgument, LogError
from helix_episodes.readers import is_part, read_head
from helix_episodes.readers.common.fields import text_at
from helix_episodes.readers.common.jsonl import parse
from helix_episodes.safe_files import expanded, home_folder, read_regular

#: How an agent makes the name of a log's folder of the project's path.
FolderNaming = Literal["dashes", "sha256"]


class FolderFile(NamedTuple):
    """A file that tells a log's folder: how many folders above the log, its name, and the path of keys to it.

    Without keys the file holds nothing but the folder.
    """

    above: int
    name: str
    keys: str = ""


class AgentHome(NamedTuple):
    """Where one agent keeps its logs.

    ``moved_by`` are environment variables that move it, each perhaps with a folder below it; the first that is set
    counts, else ``default`` below the home folder. ``logs`` are patterns below that. Blanks separate several of either.
    ``named`` is how many levels above a log the folder lies that is called after the project, and how it is made of
    its path.
    """

    agent: str
    default: str
    logs: str
    moved_by: str
    excluded: str | None = None
    folder_file: FolderFile | None = None
    named: tuple[int, FolderNaming] | None = None

    @property
    def variables(self) -> list[tuple[str, str]]:
        """The environment variables, each with what is below."""
        return [(name, below) for name, _, below in (one.partition("/") for one in self.moved_by.split())]


#: By the agents' own documentation and sources as of November 2026 (docs/reference/formats has a page for each).
AGENT_HOMES = (
    AgentHome("claude-code", ".claude", "projects/*/*.jsonl", "CLAUDE_CONFIG_DIR", excluded="agent-*.jsonl"),
    AgentHome("codex", ".codex", "sessions/**/rollout-*.jsonl archived_sessions/**/rollout-*.jsonl", "CODEX_HOME"),
    AgentHome(
        "gemini",
        ".gemini",
        "tmp/*/chats/session-*.json tmp/*/chats/session-*.jsonl",
        "GEMINI_CLI_HOME/.gemini",
        folder_file=FolderFile(2, ".project_root"),
        named=(2, "sha256"),
    ),
    AgentHome("copilot", ".copilot", "session-state/*/events.jsonl session-state/*.jsonl", "COPILOT_HOME"),
    AgentHome("opencode", ".local/share/opencode", "opencode*.db storage/session/*/*.json", "XDG_DATA_HOME/opencode"),
    AgentHome("cursor", ".cursor", "projects/*/agent-transcripts/*/*.jsonl", "CURSOR_CONFIG_DIR", named=(3, "dashes")),
    AgentHome("droid", ".factory", "sessions/*/*.jsonl sessions/*.jsonl", "FACTORY_HOME_OVERRIDE/.factory"),
    AgentHome(
        "kimi",
        ".kimi-code",
        "sessions/*/*/agents/main/wire.jsonl",
        "KIMI_CODE_HOME",
        folder_file=FolderFile(3, "state.json", "workDir"),
    ),
    AgentHome(
        "qwen", ".qwen", "projects/*/chats/*.jsonl projects/*/chats/archive/*.jsonl", "QWEN_RUNTIME_DIR QWEN_HOME"
    ),
    AgentHome(
        "grok",
        ".grok",
        "sessions/*/*/chat_history.jsonl",
        "GROK_HOME",
        folder_file=FolderFile(1, "summary.json", "info.cwd"),
    ),
    AgentHome(
        "openclaw", ".openclaw", "agents/*/sessions/*.jsonl", "OPENCLAW_STATE_DIR", excluded="*.trajectory.jsonl"
    ),
    AgentHome("hermes", ".hermes", "sessions/session_*.json", "HERMES_HOME"),
    AgentHome(
        "antigravity",
        ".gemini",
        "antigravity*/brain/*/.system_generated/logs/transcript.jsonl",
        "GEMINI_CLI_HOME/.gemini",
    ),
    AgentHome(
        "pi", ".pi/agent/sessions", "*/*.jsonl *.jsonl", "PI_CODING_AGENT_SESSION_DIR PI_CODING_AGENT_DIR/sessions"
    ),
)

# Under which keys the agents' first records say where they were started.
_FOLDER_KEYS = ("cwd", "directory", "payload.cwd", "data.context.cwd", "environmentDisclosure.cwd", "model_config.cwd")
#: In bytes, of a file that says in which folder a session ran.
_LARGEST_NOTE = 1 << 20
_NOT_LETTER_OR_DIGIT = re.compile(r"[^A-Za-z0-9]")


#: What is below these is another thing for each process that looks.
_OF_A_PROCESS = frozenset({"/proc", "/dev/fd"})
#: As many links as Linux follows in a path.
_MOST_LINKS = 40


class FoundLog(msgspec.Struct, frozen=True, kw_only=True):
    """A log on this machine. ``folder`` is where its session ran, None when neither it nor its place tells."""

    path: Path
    agent: str
    modified: datetime
    folder: str | None = None


def check_agent(name: str | None) -> None:
    """Raises `InvalidArgument` unless logs of this agent can be found; None means every agent."""
    if name is not None and all(home.agent != name for home in AGENT_HOMES):
        known = ", ".join(home.agent for home in AGENT_HOMES)
        raise InvalidArgument(None, f"no agent is called {name!r}; there are: {known}")


def root_of(home: AgentHome) -> Path:
    """The folder in which an agent keeps what it writes, whether it is there or not.

    An environment variable that is empty counts as not set, as with the agents themselves.
    """
    for variable, below in home.variables:
        if moved := os.environ.get(variable, "").strip():
            return expanded(moved) / below
    return home_folder() / home.default


def logs_named(names: Container[str]) -> Iterator[tuple[AgentHome, Path]]:
    """The logs in any agent's own folder that have one of these file names, without a look into them."""
    for home in AGENT_HOMES:
        root = root_of(home)
        for path in sorted({path for pattern in home.logs.split() for path in root.glob(pattern)}):
            if path.name in names and path.is_file():
                yield home, path


def is_in_agents_folder(log: Path) -> bool:
    """Whether a path lies, with its links resolved, where one of the agents keeps its logs."""
    place = Path(os.path.realpath(expanded(str(log))))
    return any(place.is_relative_to(os.path.realpath(root_of(home))) for home in AGENT_HOMES)


def folder_of_log(home: AgentHome, log: Path) -> str | None:
    """The folder in which a log's session ran, as the log or a file next to it has it, without ``..`` in it."""
    return named_folder(_folder_from_file(home, log) or _folder_in_log(log))


def logs_of(
    home: AgentHome, *, candidates: Iterable[Path] = (), only: Container[Path] | None = None
) -> Iterator[FoundLog]:
    """An agent's logs by path, or those of them in ``only``.

    ``candidates`` are projects whose path may be hidden in the name of a log's folder.
    """
    known = {_folder_name(str(one), home.named[1]): str(one) for one in candidates} if home.named else {}
    root = root_of(home)
    for path in sorted({path for pattern in home.logs.split() for path in root.glob(pattern)}):
        if only is not None and path not in only:
            continue
        if not path.is_file() or (home.excluded and path.match(home.excluded)) or is_part(path):
            continue
        modified = datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
        by_name = known.get(path.parents[home.named[0] - 1].name) if home.named else None
        folder = named_folder(_folder_from_file(home, path) or by_name or _folder_in_log(path))
        yield FoundLog(path=path, agent=home.agent, modified=modified, folder=folder)


def named_folder(written: str | None) -> str | None:
    r"""The folder that a log names, without ``..`` in it; None unless its path begins at the root, or with a home.

    A relative one would be another folder in each project that asks, as what is seen in ``/proc`` is, and what another
    system calls a folder is none.

    >>> named_folder("/work/shop/../shop"), named_folder("."), named_folder("C:\\shop"), named_folder("~nobody-here/x")
    ('/work/shop', None, None, None)
    """
    folder = expanded(written or "")
    if not folder.is_absolute() or "\0" in str(folder):
        return None
    named = os.path.normpath(folder)
    return None if _differs_by_process(named) else named


def _differs_by_process(folder: str) -> bool:
    """Whether a path leads, perhaps through links, to where each process sees its own (``/proc/self/cwd``)."""
    for _ in range(_MOST_LINKS):
        way = [*reversed(Path(folder).parents), Path(folder)]
        if any(str(one) in _OF_A_PROCESS for one in way):
            return True
        try:
            link = next((one for one in way if one.is_symlink()), None)
            if link is None:
                return False
            folder = os.path.normpath(link.parent / link.readlink() / Path(folder).relative_to(link))
        except OSError:  # too long to be a path, or it went meanwhile
            return False
    return False  # a loop leads nowhere, for everybody


def _folder_name(folder: str, naming: FolderNaming) -> str:
    """What the folder of a project's logs is called."""
    if naming == "sha256":
        return hashlib.sha256(folder.encode()).hexdigest()
    return _NOT_LETTER_OR_DIGIT.sub("-", folder).strip("-")


def _folder_from_file(home: AgentHome, log: Path) -> str | None:
    if home.folder_file is None:
        return None
    above, name, keys = home.folder_file
    try:
        written = read_regular(log.parents[above - 1] / name, follow=True, most=_LARGEST_NOTE)
        return text_at(parse(written), keys) if keys else written.decode().strip() or None
    except (OSError, ValueError):
        return None  # this agent's version wrote no such file: the log itself may tell


def _folder_in_log(log: Path) -> str | None:
    """The first folder that a record of the log's beginning names; databases hold sessions of many folders."""
    try:
        head = read_head(log)
    except LogError:
        return None  # reading it will report what is wrong
    records = [head.document] if isinstance(head.document, dict) else head.records
    return next((folder for record in records for keys in _FOLDER_KEYS if (folder := text_at(record, keys))), None)
