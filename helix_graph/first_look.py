"""The first answer: the costliest failure with a fix. Before there is a memory, it comes from a temporary one.

`first_look` writes nothing into the project. The newest logs are read into a folder that is deleted afterwards, up to
`MOST_BYTES` of them, so that the answer comes within seconds. Where no log is of this project, those of all projects
are read: what the answer looks like can be seen all the same. `prepared_memory` begins the project's own.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from helix_episodes.discovery import AGENT_HOMES, logs_of
from helix_graph.agent_logs import Project
from helix_graph.errors import UntrustedMemory
from helix_graph.graph.graph_db import FILE_NAME, open_graph
from helix_graph.graph.recent_work import best_find
from helix_graph.highlights.model import Highlights
from helix_graph.issues.api import MOST_ROWS
from helix_graph.issues.model import Issue
from helix_graph.memory import Memory
from helix_graph.project import FOLDER, memory_folder, project_folder

#: Reading takes about a second for five megabytes.
MOST_BYTES = 40_000_000
#: Remedies that say what to do.
_TELLING = frozenset({"run", "instead", "edit named", "edit"})


class FoundAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The logs of one agent on this machine, and how many of them are of this project."""

    agent: str
    logs: int
    bytes: int
    here: int


class FirstLook(msgspec.Struct, frozen=True, kw_only=True):
    """What is on this machine, how much of it was read, and a failure that recurs.

    ``read`` counts the logs that were read, of this project, or with ``elsewhere`` of all projects. ``issue`` is None
    where no failure recurs; it is the costliest that has a remedy in common, or the costliest where none has.
    """

    agents: tuple[FoundAgent, ...]
    read: int
    read_bytes: int
    sessions: int = 0
    elsewhere: bool = False
    issue: Issue | None = None


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """What stands out in a memory, and the costliest failure that has a fix; None where none has."""

    highlights: Highlights
    sessions: int
    issue: Issue | None = None


class PreparedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a project's memory.

    ``begun``: there was none before. ``read`` sessions were new or had grown, of ``sessions`` in all. ``error`` is what
    most of them met (``met``) and repaired by ``change``. ``problem`` says why the memory was left alone.
    """

    root: Path
    begun: bool = False
    read: int = 0
    sessions: int = 0
    met: int = 0
    error: str = ""
    change: str = ""
    verified_by: str = ""
    problem: str = ""


def beginning(memory: Memory) -> Beginning:
    """What ``helix-graph`` by itself says of a memory."""
    found = memory.issues.list(limit=MOST_ROWS)
    issue = costliest(found.issues)
    solved = issue if issue and is_solved(issue) else None
    return Beginning(highlights=memory.highlights(), sessions=found.sessions, issue=solved)


def first_look(start: Path) -> FirstLook:
    """What the logs on this machine say of the project around ``start``."""
    project = Project(str(project_folder(start) or start), memory=start / FOLDER)
    found = [log for home in AGENT_HOMES for log in logs_of(home, candidates=project.folders)]
    sizes = {log.path: log.path.stat().st_size for log in found}
    here = {log.path for log in found if log.folder and project.holds(log.folder)}
    by_agent: dict[str, list[Path]] = {}
    for log in found:
        by_agent.setdefault(log.agent, []).append(log.path)
    agents = tuple(
        FoundAgent(
            agent=agent,
            logs=len(paths),
            bytes=sum(sizes[path] for path in paths),
            here=sum(path in here for path in paths),
        )
        for agent, paths in by_agent.items()
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


def prepared_memory(project: Path) -> PreparedMemory:
    """Begins the memory of a project, or goes on with it, and reads what is new in its logs."""
    before = memory_folder(project)
    is_new = before is None or not before.is_dir()
    if project.stat().st_uid != os.geteuid():
        return PreparedMemory(root=before or project, problem=f"{project} is another user's: its memory was left alone")
    try:
        memory = Memory.init(project)
    except UntrustedMemory as error:
        return PreparedMemory(root=before or project, problem=str(error))
    read = memory.extract_all().report.recorded
    memory.graph.compile()
    look = PreparedMemory(root=memory.root, begun=is_new, read=len(read), sessions=len(memory.episodes.list()))
    with open_graph(memory.root / "causality" / FILE_NAME) as connection:
        best = best_find(connection)
    if best is None:
        return look
    fix, change = best.fix, f"{best.fix.path}: {' '.join(best.fix.change.split())}"
    found = {"met": best.sessions, "error": fix.error, "change": change, "verified_by": fix.verified_by}
    return msgspec.structs.replace(look, **found)


def _answered(logs: list[Path]) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="helix-graph-") as name:
        memory = Memory(Path(name) / FOLDER)
        memory.extract(logs)
        memory.graph.compile()
        found = memory.issues.list(limit=MOST_ROWS)
    return {"sessions": found.sessions, "issue": costliest(found.issues)}


def costliest(issues: Sequence[Issue]) -> Issue | None:
    """The issue that took most minutes of those that sessions fixed alike; of all where they fixed none alike."""
    solved = [one for one in issues if is_solved(one)]
    return max(solved or issues, key=lambda one: (one.minutes or 0, one.steps or 0), default=None)


def is_solved(issue: Issue) -> bool:
    """Whether most of its fixes, and more than one, were the same, and say what to do."""
    remedy = issue.remedy
    return remedy is not None and remedy.how in _TELLING and remedy.times > 1 and 2 * remedy.times >= remedy.of
