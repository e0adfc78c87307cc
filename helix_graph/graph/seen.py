"""seen: have we met this before, and what fixed it?

A text (an error line, or all that a failed command printed) is compared with every error that an episode recorded, at
three levels, the closest first:

``exact``   one of its lines is the message of that error, but for numbers, hashes and times
``family``  the same kind of error of the same check: the same rule, exception, compiler's complaint
``check``   the same check failed, of another kind or of a kind that says nothing (``test failed``)

Each precedent says on which level it rests, since the three are worth very different trust. Within a level those with a
verified fix come first (a change after which the failing check was seen to pass), then the newest; a session counts
once per level. Without a text, the newest errors are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import EmptyQuery
from helix_graph.graph.error_text import Sought, read_error, says_something
from helix_graph.graph.labels import check_label
from helix_graph.graph.weights import MILLION

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

Level = Literal["exact", "family", "check", "recent"]


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """One change that may have repaired an error.

    ``verified`` is true when the failing check was seen to pass after it; ``verified_by`` says what was seen. Of
    several changes each may have done it: ``share`` is 1/n. ``rationale`` is what the agent said it was for, ``quote``
    what it changed.
    """

    label: str
    chosen: str
    path: str | None
    command: str | None
    verified: bool
    verified_by: str | None
    share: float
    rationale: str | None
    log: str | None
    line: int | None
    quote: str


class Precedent(msgspec.Struct, frozen=True, kw_only=True):
    """One earlier meeting of the error, with what was done about it; ``date`` is when the session began."""

    level: Level
    episode: str
    session: str
    date: str | None
    task: str
    outcome: str
    label: str
    message: str
    path: str | None
    log: str | None
    line: int | None
    quote: str
    fixed: bool
    fixes: tuple[Remedy, ...]


class SeenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an error.

    ``level`` is the closest at which it was met. ``looked_for`` are the labels that were read from the text.
    ``sessions`` counts the sessions that met it at each level; ``precedents`` are the most useful of them.
    """

    found: bool
    level: Level | None
    looked_for: tuple[str, ...]
    sessions: dict[str, int]
    precedents: tuple[Precedent, ...]


class _Hit(msgspec.Struct, frozen=True):
    level: Level
    episode: int
    local: str


def find_seen(connection: sqlite3.Connection, text: str | None, *, limit: int = 5) -> SeenAnswer:
    """The precedents of an error, at most ``limit``; the newest errors when no text is given.

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
    levels = {
        "exact": _hits(connection, "exact", f"m.exact {ANY_OF}", as_list(sought.lines)),
        "family": _hits(connection, "family", f"m.node {ANY_OF}", as_list(_family_nodes(connection, sought))),
        "check": _hits(connection, "check", f"m.node {ANY_OF}", as_list(_check_nodes(connection, sought))),
    }
    return _answer(connection, sought, levels, limit)


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


def _answer(connection: sqlite3.Connection, sought: Sought, levels: dict[str, list[_Hit]], limit: int) -> SeenAnswer:
    shown: dict[tuple[int, str], _Hit] = {}
    for hit in (hit for hits in levels.values() for hit in hits):
        shown.setdefault((hit.episode, hit.local), hit)
    chosen = list(shown.values())[:limit]
    return SeenAnswer(
        found=bool(chosen),
        level=chosen[0].level if chosen else None,
        looked_for=tuple((check_label(check) if check else "") + family for check, family in sought.families),
        sessions={level: len(hits) for level, hits in levels.items()},
        precedents=tuple(_precedent(connection, hit) for hit in chosen),
    )


def _precedent(connection: sqlite3.Connection, hit: _Hit) -> Precedent:
    row = connection.execute(
        "SELECT e.id, e.session, e.timestamp, e.task, e.outcome, n.label, coalesce(m.message, m.raw), m.path, m.log,"
        " m.line, m.quote FROM mention m JOIN node n ON n.number = m.node JOIN episode e ON e.number = m.episode"
        " WHERE m.episode = ? AND m.local = ?",
        (hit.episode, hit.local),
    ).fetchone()
    fixes = tuple(_remedies(connection, hit))
    names = [name for name in Precedent.__struct_fields__ if name not in {"level", "fixed", "fixes"}]
    given = dict(zip(names, row, strict=True))
    return Precedent(**given, level=hit.level, fixed=any(fix.verified for fix in fixes), fixes=fixes)


def _remedies(connection: sqlite3.Connection, hit: _Hit) -> Iterator[Remedy]:
    """The changes that may have repaired an error, in the order they were made; repeats of one are one."""
    rows = connection.execute(
        "SELECT n.label, m.raw, m.path, m.command, r.verified_by IS NOT NULL, coalesce(v.raw, r.verified_by),"
        " sum(r.share), m.rationale, m.log, m.line, m.quote, min(m.local) FROM repair r"
        " JOIN mention m ON m.episode = r.episode AND m.local = r.change JOIN node n ON n.number = m.node"
        " LEFT JOIN mention v ON v.episode = r.episode AND v.local = r.verified_by"
        " WHERE r.episode = ? AND r.error = ? GROUP BY n.label, m.raw, m.path, m.command, r.verified_by"
        " ORDER BY min(m.local)",
        (hit.episode, hit.local),
    )
    for label, chosen, path, command, verified, verified_by, share, rationale, log, line, quote, _ in rows:
        yield Remedy(
            label=label,
            chosen=chosen,
            path=path,
            command=command,
            verified=bool(verified),
            verified_by=verified_by,
            share=share / MILLION,
            rationale=rationale,
            log=log,
            line=line,
            quote=quote,
        )
