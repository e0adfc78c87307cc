"""The sentences about what stands out, as frozen values, and how they name sessions, files and counts.

Whatever a log contributed (commands, messages, file names) is quoted.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.insights.label_quoting import label_or_quoted
from helix_graph.insights.safe_quoting import logged_name_or_quoted, quoted

if TYPE_CHECKING:
    from helix_episodes.model import Episode, Evidence

#: How much a reader can do about a sentence, beside the number of its sessions: something is known that helps; only the
#: cause is.
HELPED, OPEN = 3.0, 2.0
#: In larger memories what two sessions met is one of very many such things.
FEWEST, FEWEST_OF_MANY, _MANY = 2, 3, 30
#: So many places of a sentence are named.
EVIDENCE = 5
LONGEST_QUOTE = 120

HighlightKind = Literal["issue", "situation", "command", "rule", "people"]


class EvidencePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a session's log; the id of the episode, where the session is not known by itself."""

    session: str
    log: str | None
    line: int | None


class Highlight(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence. ``see`` is the command that shows all of its evidence, ``evidence`` the newest places of it.

    ``brief`` is the sentence without costs and files, where it has them. This user's own sessions are counted;
    ``shared_sessions`` of others say the same. With ``shared`` none of one's own does, and what is counted is theirs.
    """

    kind: HighlightKind
    text: str
    see: str
    sessions: int
    evidence: tuple[EvidencePlace, ...] = ()
    brief: str = ""
    shared: bool = False
    shared_sessions: int = 0


class Highlights(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences about a memory of so many sessions, of which ``shared`` are others'."""

    sessions: int
    found: tuple[Highlight, ...]
    shared: int = 0


class RankedHighlight(msgspec.Struct, frozen=True):
    """A sentence and how much a reader can do about it."""

    usefulness: float
    highlight: Highlight


def fewest(sessions: int) -> int:
    """In how many sessions of so many something has to be seen."""
    return FEWEST_OF_MANY if sessions >= _MANY else FEWEST


def counted(number: float, noun: str) -> str:
    """A number with its noun.

    >>> counted(1.0, "step"), counted(2.4, "session")
    ('1 step', '2 sessions')
    """
    return f"{number:.0f} {noun}" if round(number) == 1 else f"{number:.0f} {noun}s"


def option(name: str, value: str) -> str:
    """What a command is asked for, unless it may be a sentence of a log: without it the answer is longer."""
    return f"{f' {name}' if name else ''} {shlex.quote(value)}" if label_or_quoted(value) == value else ""


def said_in(file: str, rule: str, *, longest: int = LONGEST_QUOTE) -> str:
    """What a rule file says, without the marks that only make it bold.

    >>> said_in("CLAUDE.md", "**Always** run `make lint`.")
    'CLAUDE.md says "Always run `make lint`."'
    """
    return f"{logged_name_or_quoted(file)} says {quoted(rule.replace('**', ''), longest=longest)}"


def place_in(episode: Episode, evidence: Evidence | None) -> EvidencePlace:
    """Where an episode's log has something."""
    log = episode.provenance.log if episode.provenance else None
    return EvidencePlace(session=episode.session, log=log, line=evidence.line if evidence else None)
