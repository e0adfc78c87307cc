"""Facts and nodes as frozen values: what one episode contributes to the graph.

A *mention* is one decision, event or outcome of an episode under its label. A *claim* is one link of an episode
between two mentions. The graph is the sum of the facts of all episodes (`helix_graph.graph.store`), so merging two
machines' facts merges their graphs.

Weights are integer millionths: integers add up to the same sum in any order and grouping, so a graph can be merged,
taken apart and computed elsewhere without a difference in any bit. Mentions, claims and repairs contain texts and
numbers only, so the garbage collector can ignore them.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from helix_episodes.model import EdgeType, Outcome, OutcomeBasis
from helix_graph.graph.connection import MILLION

if TYPE_CHECKING:
    import sqlite3


@lru_cache(maxsize=65536)
def node_id(type_: NodeType, label: str) -> str:
    """The id of a node, the same on every machine: a hash of what it stands for.

    >>> node_id("event", "commit") == node_id("event", "commit") != node_id("error", "commit")
    True
    """
    digest = hashlib.blake2b(f"{type_}\0{label}".encode(), digest_size=10).digest()
    return "n" + base64.b32encode(digest).decode().lower()


def mean_weight(weight_sum: int, claims: int) -> float:
    """The mean of weights in millionths, as a number from 0 to 1 with six digits, rounded half up in integers.

    >>> mean_weight(1_500_000, 3)
    0.5
    """
    return (2 * weight_sum + claims) // (2 * claims) / MILLION


def rate(successes: int, measured: int) -> float | None:
    """Successes of measured, to six digits; None when nothing was measured."""
    return mean_weight(successes * MILLION, measured) if measured else None


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


class GraphNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node. ``episodes`` are those that mention it, sorted; ``success_rate`` is None when nothing was measured."""

    id: str
    type: str
    label: str
    episodes: tuple[str, ...]
    frequency: int
    success_rate: float | None


def row_of(node: GraphNode) -> dict[str, Any]:
    """A node as the original gives it: a plain dict."""
    return {**msgspec.to_builtins(node), "episodes": list(node.episodes)}


def find_node(connection: sqlite3.Connection, name: str) -> GraphNode:
    """The node of that id, which is there."""
    row = connection.execute(
        "SELECT number, id, type, label, mentions, successes, measured FROM node WHERE id = ?", (name,)
    ).fetchone()
    number, identity, kind, label, frequency, successes, measured = row
    rows = connection.execute(
        "SELECT DISTINCT e.id FROM mention JOIN episode e ON e.number = episode"
        " WHERE node = ? AND e.origin <> 'assertion' ORDER BY e.id",
        (number,),
    )
    return GraphNode(
        id=identity,
        type=kind,
        label=label,
        episodes=tuple(episode for (episode,) in rows),
        frequency=frequency,
        success_rate=rate(successes, measured),
    )


#: How closely an error was matched; ``recent`` where nothing was compared.
PrecedentLevel = Literal["exact", "family", "check", "recent"]


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
    """One earlier occurrence of an error, with what was done about it; ``date`` is when the session began."""

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


class SeenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an error.

    ``level`` is the closest at which it was found. ``looked_for`` are the labels that were read from the text.
    ``sessions`` counts the sessions that met it at each level; ``precedents`` are the most useful of them.
    """

    found: bool
    level: PrecedentLevel | None
    looked_for: tuple[str, ...]
    sessions: dict[str, int]
    precedents: tuple[Precedent, ...]
