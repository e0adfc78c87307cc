"""What `seen` answers, as frozen values: the issues of a text, and for each the most useful precedents."""

from __future__ import annotations

from typing import Literal

import msgspec

#: How closely an error was matched; ``recent`` where nothing was compared.
PrecedentLevel = Literal["exact", "family", "part", "words", "recent"]


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """One change that may have repaired an error.

    ``verified`` is true when the failing check was seen to pass after it; ``verified_by`` says what was seen. Of
    several changes each may have done it: ``share`` is 1/n. ``rationale`` is what the agent said it was for, ``quote``
    what it changed, ``deleted`` the lines that it took away where it wrote none. ``state`` is whether the working tree
    still has it (`helix_graph.graph.recent_work`), None where that cannot be compared; a change that has moved is
    ``now_at`` another file. ``line`` is the log's.
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
    deleted: tuple[str, ...] = ()
    state: Literal["holds", "moved", "gone", "changed"] | None = None
    now_at: str | None = None


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent did next about an error that it did not repair: its words or command, and what that failed with.

    ``again`` is whether it failed with the same issue, ``line`` the log's.
    """

    chosen: str
    command: str | None
    line: int | None
    message: str
    again: bool


class Precedent(msgspec.Struct, frozen=True, kw_only=True):
    """One earlier occurrence of an error, with what was done about it; ``date`` is when the session began.

    ``issue`` is the place of the issue of the text that it is a precedent of, in ``SeenAnswer.issues``. ``shared`` says
    that git tracks the episode: somebody else may have written it, and ``author`` is the one whom its
    last commit names. ``tried`` is what was done about an error that the session never repaired, and ``reply``
    what a person said when the agent had stopped at it.
    """

    level: PrecedentLevel
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
    tried: tuple[Attempt, ...] = ()
    reply: str | None = None
    issue: int = 0
    shared: bool = False
    author: str = ""


class UsualRepair(msgspec.Struct, frozen=True, kw_only=True):
    """What repaired a kind of error in ``sessions`` of the ``of`` sessions that repaired it.

    A ``command``, an edit of ``path``, or without both an edit of the file that the message names.
    """

    sessions: int
    of: int
    command: str | None = None
    path: str | None = None


class SilencedIssue(msgspec.Struct, frozen=True, kw_only=True):
    """In how many ``sessions`` a marker silenced the check instead of a repair; the others say where the newest is."""

    sessions: int
    session: str
    line: int | None
    quote: str


class SeenIssue(msgspec.Struct, frozen=True, kw_only=True):
    """One issue of a text: in how many ``sessions`` it was met at its closest ``level``, and ``fixed`` in how many.

    Of those ``shared`` are ones that somebody else may have written, and ``shared_fixed`` of the repaired ones.
    ``usual`` is set where no repair says anything of this issue, and several sessions repaired the kind in one way.
    ``silenced`` counts what is no repair. ``repaired_as`` is the place of an earlier one with the same best precedent.
    """

    message: str
    level: PrecedentLevel
    sessions: int
    fixed: int
    shared: int = 0
    shared_fixed: int = 0
    usual: UsualRepair | None = None
    silenced: SilencedIssue | None = None
    repaired_as: int | None = None


class SeenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an error.

    ``level`` is the closest at which it was found. ``looked_for`` are the labels that were read from the text.
    ``issues`` are those of its issues that were met before. ``sessions`` counts the sessions that met one of them, each
    at its closest level, and ``shared`` those of them that somebody else may have written; ``precedents`` are the most
    useful, the best one of each issue first, own repairs before shared ones.
    """

    found: bool
    level: PrecedentLevel | None
    looked_for: tuple[str, ...]
    sessions: dict[str, int]
    issues: tuple[SeenIssue, ...]
    precedents: tuple[Precedent, ...]
    shared: dict[str, int] = {}
