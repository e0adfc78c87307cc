"""People who share through a server: their memories, with sessions that met one error, and objects for the server."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from helix_graph import Memory
from helix_graph.sharing.server import ServerObject
from helix_graph.trust import begin
from session_script import BEGIN, Script

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_server import TeamDatabase

FAILURE = "ModuleNotFoundError: No module named 'parcels'"
SUBJECT = "a" * 32


def member(folder: Path, *sessions: str) -> Memory:
    """Somebody's memory, with sessions that met one error and repaired it."""
    (folder / ".git").mkdir(parents=True)
    begin(folder / ".helix")  # `Memory.init` would look at HELIX_DIR
    memory = Memory(folder / ".helix")
    for days, name in enumerate(sessions):
        log = (
            Script(name, begin=BEGIN + timedelta(days=days))
            .prompt("Fix the labels")
            .run("pytest -q", f"E   {FAILURE}\n1 failed in 0.1s", code=1)
        )
        log = log.edit("pyproject.toml", new="parcels = 1").run("pytest -q", "1 passed in 0.1s")
        memory.extract([log.save(folder / "logs")])
    memory.graph.compile()
    return memory


def sync(memory: Memory, url: str) -> tuple[int, int, int]:
    """What was pushed, what was pulled, and what was removed here; the graph is brought up to date."""
    done = memory.team.sync(url, project="shop")
    memory.graph.compile()
    assert (done.problems, done.pulled.problems) == ((), ())
    return done.pushed, done.pulled.objects, done.pulled.deleted


def contents(memory: Memory) -> list[str]:
    """What the memory's insights say."""
    return sorted(str(one["content"]) for one in memory.insights.newest(limit=None))


def an_object(data: bytes) -> ServerObject:
    """An object of one subject."""
    return ServerObject(subject=SUBJECT, kind="record", data=data)


def refused(database: TeamDatabase, role: str, statement: str) -> bool:
    """Whether the server refuses a statement that a client of ours would never send."""
    import psycopg

    try:
        database.execute(statement, role=role)
    except psycopg.errors.InsufficientPrivilege:
        return True
    return False
