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

from helix_graph.graph.precedents import find_precedents

if TYPE_CHECKING:
    import sqlite3


#: How close the meeting was; ``recent`` where nothing was compared.
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


def find_seen(connection: sqlite3.Connection, text: str | None, *, limit: int = 5) -> SeenAnswer:
    """The precedents of an error, at most ``limit``; the newest errors when no text is given.

    Raises:
        EmptyQuery: A text is given and there is nothing in it, as when a program printed nothing.
    """
    return msgspec.convert(find_precedents(connection, text, limit=limit), SeenAnswer)
