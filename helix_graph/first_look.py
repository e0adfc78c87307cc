"""What would a memory of this project know? An answer from a temporary memory, before there is one.

Nothing is written into the project. The newest logs are read into a folder that is deleted afterwards, up to
`MOST_BYTES` of them, so that the answer comes within seconds. Where no log is of this project, those of all projects
are read: what the answer looks like can be seen all the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from helix_episodes.discovery import AGENT_HOMES, FoundLog, logs_of
from helix_graph.agent_logs import Project
from helix_graph.issues.model import Issue
from helix_graph.memory import Memory
from helix_graph.project import FOLDER, project_folder

#: Reading takes about a second for five megabytes.
MOST_BYTES = 40_000_000
#: Of so many failures, those that recur most, the first is shown whose remedy says what to do.
_LOOKED_AT = 10
_TELLING = frozenset({"run", "edit named", "edit"})


class FoundAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The logs of one agent on this machine, and how many of them are of this project."""

    agent: str
    logs: int
    bytes: int
    here: int


class FirstLook(msgspec.Struct, frozen=True, kw_only=True):
    """What is on this machine, how much of it was read, and a failure that recurs.

    ``read`` counts the logs that were read, of this project, or with ``elsewhere`` of all projects. ``issue`` is None
    where no failure recurs.
    """

    agents: tuple[FoundAgent, ...]
    read: int
    read_bytes: int
    sessions: int = 0
    elsewhere: bool = False
    issue: Issue | None = None


def first_look(start: Path) -> FirstLook:
    """What the logs on this machine say of the project around ``start``."""
    project = Project(str(project_folder(start) or start), memory=start / FOLDER)
    found = [log for home in AGENT_HOMES for log in logs_of(home, candidates=project.folders)]
    sizes = {log.path: log.path.stat().st_size for log in found}
    here = {log.path for log in found if log.folder and project.holds(log.folder)}
    agents = tuple(
        FoundAgent(
            agent=agent,
            logs=len(paths),
            bytes=sum(sizes[path] for path in paths),
            here=sum(path in here for path in paths),
        )
        for agent, paths in _by_agent(found).items()
    )
    wanted = sorted((log for log in found if log.path in here or not here), key=lambda log: log.modified, reverse=True)
    chosen: list[Path] = []
    room = MOST_BYTES
    for log in wanted:
        if sizes[log.path] <= room:
            chosen.append(log.path)
            room -= sizes[log.path]
    looked = FirstLook(agents=agents, read=len(chosen), read_bytes=MOST_BYTES - room, elsewhere=not here)
    return msgspec.structs.replace(looked, **_answered(chosen)) if chosen else looked


def _by_agent(found: list[FoundLog]) -> dict[str, list[Path]]:
    paths: dict[str, list[Path]] = {}
    for log in found:
        paths.setdefault(log.agent, []).append(log.path)
    return paths


def _answered(logs: list[Path]) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="helix-graph-") as name:
        memory = Memory(Path(name) / FOLDER)
        memory.extract(logs)
        memory.graph.compile()
        found = memory.issues.list(limit=_LOOKED_AT)
    solved = [one for one in found.issues if one.remedy and one.remedy.how in _TELLING]
    return {"sessions": found.sessions, "issue": next(iter((*solved, *found.issues)), None)}
