"""Values of sharing: what is on its way to the team, and what was exchanged through git or a server."""

from __future__ import annotations

from typing import Literal

import msgspec

from helix_episodes.normalization import one_line
from helix_graph.sharing.records import ShareProblem

ShareState = Literal["candidate", "corroborated", "proposed", "accepted", "changed"]


class ShareCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """An insight of this memory, and how far it is on its way to the team; ``sessions`` came out well with it.

    One that is ``changed`` was shared in another form, and changed here since.

    ``said_by`` says of one that no person here wrote, who did.
    """

    name: str
    content: str
    said_by: str = ""
    sessions: int
    state: ShareState


class ShareList(msgspec.Struct, frozen=True, kw_only=True):
    """What could be shared and what is, with the problems of files that were accepted and cannot be used."""

    insights: tuple[ShareCandidate, ...]
    accepted: int
    problems: tuple[ShareProblem, ...] = ()


class ShareAdded(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written and staged; those removed because what they say was forgotten.

    ``shared`` is how many files there are of what is shared, those that git has already among them.
    """

    written: tuple[str, ...]
    removed: tuple[str, ...]
    staged: tuple[str, ...]
    shared: int = 0


class ShareMerged(msgspec.Struct, frozen=True, kw_only=True):
    """How many insights, outcomes and entries came in, and how many were removed because others forgot them.

    ``removed`` names these, with who added the file that says so.
    """

    insights: int = 0
    feedback: int = 0
    entries: int = 0
    forgotten: int = 0
    removed: tuple[str, ...] = ()
    problems: tuple[ShareProblem, ...] = ()


class TeamSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table ``[team]`` of the user's configuration: the server, and for how long a question waits for it.

    The first question of a memory that begins from the server waits for at most ``first_seconds``.
    """

    database: str = ""
    seconds: float = 2.0
    first_seconds: float = 30.0


class LostEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What was edited on two machines of one person, or deleted on one and edited on the other.

    ``kept`` says which holds now: the edit of this machine (``here``), that of the other one (``there``), or that it
    was ``deleted`` or ``forgotten``. ``lost`` is what the edit said that does not hold.
    """

    what: str
    kept: Literal["here", "there", "deleted", "forgotten"]
    lost: str

    def __str__(self) -> str:
        """The sentence that names it."""
        if self.kept == "deleted":
            said = "was deleted on one of your machines and edited on another; it stays deleted"
        elif self.kept == "forgotten":
            said = "was forgotten on another machine of yours and edited here since; it is forgotten here too"
        else:
            whose = "this" if self.kept == "here" else "the other"
            said = f"was edited on two machines of yours; the edit of {whose} machine is later and holds"
        return f"{self.what} {said}" + (f', not: "{one_line(self.lost)}"' if self.lost else "")


class TeamPulled(msgspec.Struct, frozen=True, kw_only=True):
    """What came in from others: new or changed ``objects`` and ``episodes`` among them, and what its authors deleted.

    ``complete`` says that nothing was left for the next time; ``problems`` are objects that are not taken in. ``away``
    says why the server could not be asked. ``began`` is the project from which the memory began with this. Of this
    user's own things ``own_news`` came from other machines of theirs, and ``lost`` are edits that gave way.
    """

    episodes: int = 0
    objects: int = 0
    deleted: int = 0
    complete: bool = True
    problems: tuple[ShareProblem, ...] = ()
    away: str = ""
    began: str = ""
    own_news: int = 0
    lost: tuple[LostEdit, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What somebody who asked a question should know of it."""
        if self.away:
            return (self.away,)
        others = self.objects - self.episodes
        counts = f"{self.episodes} session{'s'[: self.episodes != 1]}, {others} other record{'s'[: others != 1]}"
        said = f"The memory began from the team project {self.began}: {counts}. What you store here goes there."
        more = f"{self.objects} new objects of the team were read, more are left. Next: helix-graph sync --to"
        return (*([said] if self.began else ()), *([] if self.complete else [more]), *map(str, self.lost))


class TeamPushed(msgspec.Struct, frozen=True, kw_only=True):
    """What was pushed at once: ``stored`` new or changed records and ``deleted`` ones; ``problems`` stay here.

    ``behind`` records were changed on another machine of this user too, and wait for `Team.sync`. ``away`` says why
    nothing could be pushed; where the server was away, it is with the next question, or `Team.sync`.
    """

    stored: int = 0
    deleted: int = 0
    problems: tuple[ShareProblem, ...] = ()
    behind: int = 0
    away: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What somebody who stored something should know of it."""
        if self.away:
            return (self.away,)
        one = "1 thing that you changed here was" if self.behind == 1 else f"{self.behind} things changed here were"
        waits = f"{one} changed on another machine of yours too. Next: helix-graph sync --to --mine"
        return (*(f"{one}; it is not shared" for one in self.problems), *([waits] if self.behind else ()))


class OtherMachines(msgspec.Struct, frozen=True, kw_only=True):
    """What other machines of the same person did to what is this memory's own, since the last exchange.

    Objects that were ``changed`` or ``forgotten`` there are so here now, and so are sessions among these
    (``sessions``); ``lost`` are edits that gave way. ``waiting`` ones were changed or forgotten there and are not so
    here: they are once the user says that the server speaks for them (``sync --to --mine``), and neither side is
    replaced until then.
    """

    changed: int = 0
    forgotten: int = 0
    sessions: tuple[str, ...] = ()
    lost: tuple[LostEdit, ...] = ()
    waiting: int = 0


class TeamReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was exchanged with the server, where one is known as ``role``.

    Of this memory's own things ``pushed`` were new or changed, ``unchanged`` were there, ``deleted`` were deleted there
    as they were forgotten or changed here, and ``refused`` stay deleted there. ``missing`` were pushed from here and
    are here no more, though nobody forgot them: they stay there. A role that may only read pushes nothing.
    Where that was asked for, ``taken_back`` objects of this role became this memory's own. What only this role reads,
    as the log of what was handed over, is counted apart (``lines_pushed``, ``lines_taken_back``).
    """

    project: str
    role: str
    may_write: bool
    pushed: int
    unchanged: int
    deleted: int
    refused: int
    pulled: TeamPulled
    problems: tuple[ShareProblem, ...] = ()
    missing: int = 0
    taken_back: int = 0
    lines_pushed: int = 0
    lines_taken_back: int = 0
    other_machines: OtherMachines = OtherMachines()


class ServerErasure(msgspec.Struct, frozen=True, kw_only=True):
    """What became of forgotten sessions on the team's server.

    Of this role's objects about them and of records that went with them, ``left`` are still there; it should be 0.
    ``tombstones`` keep them from coming back. ``problem`` says why the server could not be asked, and what to do.
    ``others`` is how many of the sessions stay there since ``authors`` pushed them: only they, or an administrator of
    the project, can delete these.
    """

    deleted: int = 0
    left: int = 0
    tombstones: int = 0
    others: int = 0
    authors: tuple[str, ...] = ()
    problem: str = ""

    @property
    def whole(self) -> bool:
        """Whether the server was asked and has nothing left of this role."""
        return not (self.left or self.problem)
