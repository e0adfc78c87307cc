"""Facts as frozen values: what one episode has to say about the graph.

A *mention* is one decision, event or outcome of an episode, under its label. A *claim* is one link of an episode,
between two mentions. The facts of an episode are a set of both; the graph is the sum over all episodes (`fold`), so the
union of two machines' facts is the merge of their graphs.

Weights are integer millionths (`weights`). Mentions, claims and repairs hold texts and numbers only, never each other,
so the garbage collector need not look at them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import msgspec

from helix_episodes.model import EdgeType, Outcome, OutcomeBasis
from helix_graph.graph.weights import MILLION

#: The local id of an episode's outcome; decisions are ``d…``, events ``e…``.
OUTCOME_ID = "outcome"
#: Somebody or something other than the agent vouches for these; only they count in rates.
MEASURED_BASES = frozenset({"rewarded", "judged", "measured"})

NodeType = Literal["decision", "event", "outcome", "pattern", "error"]
#: Whether facts come from an episode's file, from assertions about an episode without one, or from one assertion alone.
Origin = Literal["episode", "named", "assertion"]


class Mention(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One decision, event or outcome of an episode.

    ``local`` is its id there; ``type`` and ``label`` say which node it belongs to, whose id is ``node``. ``raw`` is its
    text as recorded. ``exact`` recognises the same message again (errors only), ``rationale`` is why (decisions only).
    ``context`` is the situation and ``outcome`` how it came out there (decisions only).
    ``line`` and ``log`` lead to the place in the session log, ``quote`` is what stands there. One that is not
    ``counted`` names a node (as the end of an asserted edge) without being an occurrence of it.
    """

    local: str
    node: str
    type: NodeType
    label: str
    raw: str = ""
    timestamp: str | None = None
    path: str | None = None
    command: str | None = None
    message: str | None = None
    check: str | None = None
    family: str | None = None
    exact: str | None = None
    rationale: str | None = None
    actor: str = "agent"
    line: int | None = None
    log: str | None = None
    quote: str = ""
    counted: bool = True
    context: str = ""
    outcome: str | None = None

    def folded(self) -> str:
        """Every text under which this mention may be looked for, each once, in one case."""
        return folded(self.raw, self.message, self.command, self.path)


def folded(*texts: str | None) -> str:
    """Texts on one page to look in, each once, in one case."""
    return "\n".join(dict.fromkeys(text for text in texts if text)).casefold()


class Claim(msgspec.Struct, frozen=True, kw_only=True, order=True, gc=False):
    """One link of an episode. ``source`` and ``target`` are node ids, the local ids name the mentions that it joins."""

    source: str
    target: str
    type: EdgeType
    reason: str
    weight: int
    source_local: str
    target_local: str


class Repair(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One change that may have made an error's check pass, by local ids. ``share`` is in millionths."""

    error: str
    change: str
    check: str
    verified_by: str | None = None
    share: int = MILLION


class EpisodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All that one episode says. ``problems`` are links left out because an end does not exist."""

    episode: str
    session: str
    timestamp: str | None
    task: str
    task_kind: str = "other"
    outcome: Outcome = "unknown"
    basis: OutcomeBasis = "none"
    log: str | None = None
    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()
    repairs: tuple[Repair, ...] = ()
    problems: tuple[str, ...] = ()
    origin: Origin = "episode"

    @property
    def succeeded(self) -> bool | None:
        """Whether the session came out well; None when nobody but the agent says so, or nobody at all."""
        if self.outcome == "unknown" or self.basis not in MEASURED_BASES:
            return None
        return self.outcome == "success"


def moment(timestamp: str | None) -> str:
    """A timestamp that sorts: UTC with microseconds. Without a zone it counts as UTC; what is no time sorts first.

    >>> moment("2026-01-01T17:05:00+01:00")
    '2026-01-01T16:05:00.000000+00:00'
    >>> moment("yesterday")
    ''
    """
    try:
        at = datetime.fromisoformat(timestamp or "")
        aware = at if at.tzinfo else at.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):  # the last day of the year 9999 is no time in UTC
        return ""
