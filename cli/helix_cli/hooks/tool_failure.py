"""A tool failed: how the same error was repaired before, with the evidence and how close it is; or nothing.

Only the same line and the same kind of error count: that a test runner failed before says nothing about this failure.
The error is also remembered as the situation that the session is in, in which `pre_tool` warns.
"""

from __future__ import annotations

from helix_cli.hooks.given import SITUATION
from helix_cli.hooks.text import Line, Section, block
from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.asking import opened
from helix_graph.graph.precedents import find_precedents
from helix_graph.graph.version import FILE_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given
    from helix_graph.graph.precedents import Row

#: Where programs put what went wrong is one of the ends, and looking through more takes too long for a tool's call.
_AT_EACH_END = 10_000
_LEVELS = {"exact": "the same line", "family": "the same kind of error"}
_MOST_FIXES = 2


def answer(call: Call, root: Path, given: Given) -> str:
    """The precedent, if its repair is known and the session was not told."""
    text = call.failure if len(call.failure) < 2 * _AT_EACH_END else _ends(call.failure)
    if not text.strip():
        return ""
    try:
        with opened(root / "causality" / FILE_NAME) as connection:
            readable = text.encode("utf-8", "replace").decode()
            found = find_precedents(connection, readable, limit=1, nearest=True)
    except GraphNotCompiled:
        return ""
    given.remember(SITUATION + label for label in found["looked_for"])
    lines = [line for one in found["precedents"] for line in _told(one, found["sessions"])]
    return block([Section("Met before:", [Line(line) for line in given.take(lines)])])


def _ends(text: str) -> str:
    return f"{text[:_AT_EACH_END]}\n{text[-_AT_EACH_END:]}"


def _told(one: Row, sessions: dict[str, int]) -> Iterator[str]:
    level, date, fixes = one["level"], one["date"], one["fixes"]
    if level not in _LEVELS or not fixes:
        return
    day = f", the newest of {date[:10]}" if date else ""
    yield f"{one['label']} ({_LEVELS[level]}; sessions that met it: {sessions[level]}{day}; episode {one['episode']})"
    yield from map(_repair, fixes[:_MOST_FIXES])


def _repair(fix: Row) -> str:
    """What was done, how sure it is that this was it, and where that stands."""
    verified = f"verified: afterwards {fix['verified_by']}" if fix["verified_by"] else "verified"
    sure = verified if fix["verified"] else "not verified"
    why = f"; why: {fix['rationale']}" if fix["rationale"] else ""
    where = f" [{fix['log']}:{fix['line']}]" if fix["log"] and fix["line"] else ""
    done = fix["path"] or fix["command"] or fix["chosen"]
    return f"repaired by {fix['label']}: {done} ({sure}){why}{where}"
