"""What setup does for the project in which it is called: begin its memory, read its logs, and say the best of it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from helix_graph import Memory
from helix_graph.errors import UntrustedMemory
from helix_graph.graph.graph_db import FILE_NAME, open_graph
from helix_graph.graph.recent_work import best_find
from helix_graph.project import memory_folder


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


def first_look(project: Path) -> PreparedMemory:
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
    look = PreparedMemory(
        root=memory.root,
        begun=is_new,
        read=len(read),
        sessions=len(memory.episodes.list()),
    )
    with open_graph(memory.root / "causality" / FILE_NAME) as connection:
        best = best_find(connection)
    if best is None:
        return look
    fix, change = best.fix, f"{best.fix.path}: {' '.join(best.fix.change.split())}"
    found = {"met": best.sessions, "error": fix.error, "change": change, "verified_by": fix.verified_by}
    return msgspec.structs.replace(look, **found)
