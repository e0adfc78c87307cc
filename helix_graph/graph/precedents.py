"""Precedents of an error, as `helix_graph.graph.seen` says, found without loading what its typed answer needs.

An agent waits for the answer after every failure of a tool (``helix_cli.hooks.tool_failure``), so it is worked out here
of plain values alone; `seen` gives it its types, and holds the description of every field.
"""

from __future__ import annotations

from helix_episodes.values import Value
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import EmptyQuery
from helix_graph.graph.error_text import Sought, read_error, says_something
from helix_graph.graph.labels import check_label
from helix_graph.graph.weights import MILLION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from typing import Any

    from helix_graph.graph.seen import Level

    #: One row of the answer, under the names of the fields in `seen`.
    Row = dict[str, Any]

_PRECEDENT = (
    "episode", "session", "date", "task", "outcome", "label", "message", "path", "log", "line", "quote"
)  # fmt: skip
_REMEDY = (
    "label", "chosen", "path", "command", "verified", "verified_by", "share", "rationale", "log", "line", "quote"
)  # fmt: skip


class _Hit(Value):
    level: Level
    episode: int
    local: str


def find_precedents(connection: sqlite3.Connection, text: str | None, *, limit: int, nearest: bool = False) -> Row:
    """The fields of a `seen.SeenAnswer`: the precedents of an error; the newest errors when no text is given.

    With ``nearest`` only those of the nearest level that has any, which takes less; others are neither looked for nor
    counted.

    Raises:
        EmptyQuery: A text is given and there is nothing in it, as when a program printed nothing.
    """
    if text is not None and not text.strip():
        option = "TEXT"
        raise EmptyQuery(option)
    if text is None:
        hits = _hits(connection, "recent", "n.type = 'error'", "")
        return _answer(connection, Sought(), {"recent": hits}, limit)
    sought = read_error(text)
    levels: dict[str, list[_Hit]] = {}
    for level, hits in _by_level(connection, sought):
        levels[level] = hits
        if hits and nearest:
            break
    return _answer(connection, sought, levels, limit)


def _by_level(connection: sqlite3.Connection, sought: Sought) -> Iterator[tuple[Level, list[_Hit]]]:
    """The mentions of each level, the nearest level first; each is looked for when it is asked for."""
    yield "exact", _hits(connection, "exact", f"m.exact {ANY_OF}", as_list(sought.lines))
    yield "family", _hits(connection, "family", f"m.node {ANY_OF}", as_list(_family_nodes(connection, sought)))
    yield "check", _hits(connection, "check", f"m.node {ANY_OF}", as_list(_check_nodes(connection, sought)))


def _family_nodes(connection: sqlite3.Connection, sought: Sought) -> list[int]:
    """The errors of the same check and family, those named in the text, and those whose label has the text in it."""
    rows = connection.execute("SELECT number, label, folded FROM node WHERE type = 'error'")
    return sorted(number for number, label, folded in rows if _is_family(label, folded, sought))


def _is_family(label: str, folded: str, sought: Sought) -> bool:
    check, _, family = label.partition(" fails: ")
    if sought.phrase and sought.phrase in folded:
        return True
    program = check.partition(" ")[0]
    if any(family == other and named in {None, check, program} for named, other in sought.families):
        return True
    return not sought.checks and says_something(family) and sought.names(check=check, family=family)


def _check_nodes(connection: sqlite3.Connection, sought: Sought) -> list[int]:
    """The errors of the same check, whatever their family."""
    beginnings = tuple(check_label(check) for check in sought.checks)
    rows = connection.execute("SELECT number, label FROM node WHERE type = 'error'")
    return [number for number, label in rows if beginnings and label.startswith(beginnings)]


def _hits(connection: sqlite3.Connection, level: Level, condition: str, values: str) -> list[_Hit]:
    """The mentions that meet a condition, the most useful of each episode, the most useful episode first."""
    fixed_first = "" if level == "recent" else "max(r.verified_by IS NOT NULL) DESC, count(r.error) DESC, "
    query = (
        "SELECT m.episode, m.local FROM mention m"  # noqa: S608  (both parts that vary are constants of this module)
        " JOIN node n ON n.number = m.node JOIN episode e ON e.number = m.episode"
        " LEFT JOIN repair r ON r.episode = m.episode AND r.error = m.local"
        f" WHERE {condition} AND e.origin = 'episode' GROUP BY m.episode, m.local"
        f" ORDER BY {fixed_first} e.moment DESC, e.id, m.local"
    )
    rows = connection.execute(query, (values,) if values else ())
    best: dict[int, str] = {}
    for episode, local in rows:
        best.setdefault(episode, local)
    return [_Hit(level, episode, local) for episode, local in best.items()]


def _answer(connection: sqlite3.Connection, sought: Sought, levels: dict[str, list[_Hit]], limit: int) -> Row:
    shown: dict[tuple[int, str], _Hit] = {}
    for hit in (hit for hits in levels.values() for hit in hits):
        shown.setdefault((hit.episode, hit.local), hit)
    chosen = list(shown.values())[:limit]
    return {
        "found": bool(chosen),
        "level": chosen[0].level if chosen else None,
        "looked_for": [(check_label(check) if check else "") + family for check, family in sought.families],
        "sessions": {level: len(hits) for level, hits in levels.items()},
        "precedents": [_precedent(connection, hit) for hit in chosen],
    }


def _precedent(connection: sqlite3.Connection, hit: _Hit) -> Row:
    row = connection.execute(
        "SELECT e.id, e.session, e.timestamp, e.task, e.outcome, n.label, coalesce(m.message, m.raw), m.path, m.log,"
        " m.line, m.quote FROM mention m JOIN node n ON n.number = m.node JOIN episode e ON e.number = m.episode"
        " WHERE m.episode = ? AND m.local = ?",
        (hit.episode, hit.local),
    ).fetchone()
    fixes = list(_remedies(connection, hit))
    told = dict(zip(_PRECEDENT, row, strict=True))
    return {**told, "level": hit.level, "fixed": any(fix["verified"] for fix in fixes), "fixes": fixes}


def _remedies(connection: sqlite3.Connection, hit: _Hit) -> Iterator[Row]:
    """The changes that may have repaired an error, in the order they were made; repeats of one are one."""
    rows = connection.execute(
        "SELECT n.label, m.raw, m.path, m.command, r.verified_by IS NOT NULL, coalesce(v.raw, r.verified_by),"
        " sum(r.share), m.rationale, m.log, m.line, m.quote FROM repair r"
        " JOIN mention m ON m.episode = r.episode AND m.local = r.change JOIN node n ON n.number = m.node"
        " LEFT JOIN mention v ON v.episode = r.episode AND v.local = r.verified_by"
        " WHERE r.episode = ? AND r.error = ? GROUP BY n.label, m.raw, m.path, m.command, r.verified_by"
        " ORDER BY min(m.local)",
        (hit.episode, hit.local),
    )
    for row in rows:
        told = dict(zip(_REMEDY, row, strict=True))
        yield {**told, "verified": bool(told["verified"]), "share": told["share"] / MILLION}
