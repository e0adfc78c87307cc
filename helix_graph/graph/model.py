"""Facts and nodes as frozen values: what one episode contributes to the graph.

A *mention* is one decision, event or outcome of an episode under its label. A *claim* is one link of an episode
between two mentions. The graph is the sum of the facts of all episodes (`helix_graph.graph.store`), so merging two
machines' facts merges their graphs.

Weights are integer millionths: integers add up to the same sum in any order and grouping, so a graph can be merged,
taken apart and computed elsewhere without a difference in any bit. Mentions, claims and repairs contain texts and
numbers only, so the garbage collector can ignore them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from helix_episodes.light_imports import blake2b
from helix_episodes.model import ChangeKind, EdgeType, FileChange, Outcome, OutcomeBasis
from helix_episodes.msgspec_types import ready
from helix_graph.graph import MILLION

if TYPE_CHECKING:
    import sqlite3


@lru_cache(maxsize=65536)
def node_id(type_: NodeType, label: str) -> str:
    """The id of a node, the same on every machine: a hash of what it stands for.

    >>> node_id("event", "commit") == node_id("event", "commit") != node_id("error", "commit")
    True
    """
    return short_hash("n", f"{type_}\0{label}".encode())


def short_hash(prefix: str, content: bytes) -> str:
    """An id that two machines give to the same content: 80 bits, so that a clash takes about 10^12 ids."""
    number, pairs = int.from_bytes(blake2b(content, digest_size=10).digest(), "big"), _PAIRS
    return (
        f"{prefix}{pairs[number >> 70]}{pairs[number >> 60 & 1023]}{pairs[number >> 50 & 1023]}"
        f"{pairs[number >> 40 & 1023]}{pairs[number >> 30 & 1023]}{pairs[number >> 20 & 1023]}"
        f"{pairs[number >> 10 & 1023]}{pairs[number & 1023]}"
    )


_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
#: Two digits of base32 at a time: a compile gives an id to every new label.
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]


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


class Mention(msgspec.Struct, frozen=True, gc=False):
    """One decision, event or outcome of an episode.

    ``local`` is its id there; ``type`` and ``label`` say which node it belongs to, whose id is ``node``. ``raw`` is its
    text as recorded. ``issues`` are the fingerprints under which an error is recognised, with blanks between them;
    ``rationale`` is why a decision was taken, of an error what a person said next where the agent had stopped at it.
    ``context`` is the situation and ``outcome`` how it came out there (decisions only).
    ``line`` and ``log`` lead to the place in the session log, ``quote`` is what is there, and ``replaced`` what an edit
    took away (`helix_episodes.model.Evidence`). One that is not
    ``counted`` names a node (as the end of an asserted edge) without being an occurrence of it; a
    ``deliberate`` one failed on purpose. ``place`` and ``thing`` say what it was about: see
    `helix_graph.graph.mentions`.
    """

    local: str
    node: str
    type: NodeType
    label: str
    place: str | None = None
    thing: str | None = None
    raw: str = ""
    timestamp: str | None = None
    path: str | None = None
    command: str | None = None
    message: str | None = None
    check: str | None = None
    family: str | None = None
    issues: str | None = None
    rationale: str | None = None
    actor: str = "agent"
    line: int | None = None
    log: str | None = None
    quote: str = ""
    counted: bool = True
    context: str = ""
    outcome: str | None = None
    deliberate: bool = False
    replaced: str = ""


def folded(*texts: str | None) -> str:
    """Texts joined for a search that ignores case, each once."""
    return "\n".join(dict.fromkeys(filter(None, texts))).casefold()


class Claim(msgspec.Struct, frozen=True, kw_only=True, order=True, gc=False):
    """One link of an episode. ``source`` and ``target`` are node ids, the local ids name the mentions that it joins.

    ``loose`` is 1 where the log only shows that the target followed. ``line`` and ``quote`` are those of the edit that
    it rests on, where the source is quoted by another, ``lines`` those of all where it rests on several.
    """

    source: str
    target: str
    type: EdgeType
    reason: str
    weight: int
    source_local: str
    target_local: str
    loose: int = 0
    line: int | None = None
    quote: str | None = None
    lines: str | None = None


class Repair(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One change that may have made an error's check pass, by local ids. ``share`` is in millionths.

    ``quote``, ``replaced`` and ``line`` are those of the edit that speaks of the error, where the change's own are
    another edit's. ``silences`` is 1 where it only silences the check.
    """

    error: str
    change: str
    check: str
    verified_by: str | None = None
    share: int = MILLION
    quote: str | None = None
    replaced: str | None = None
    line: int | None = None
    silences: int = 0


class RunFact(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One run of a check, a formatter or a failed command; its fields are those of `helix_episodes.model.CommandRun`.

    ``number`` counts the runs of an episode in the order of the log. ``changed`` is a JSON list of the files changed,
    each a list of path, kind and lines (`changes_in` reads it); ``events`` are local ids with blanks between them.
    Truths are 0 and 1, ``passed`` is None where the run gave no verdict.
    """

    number: int
    check: str
    kind: str
    passed: int | None
    command: str | None
    directory: str | None
    timestamp: str | None
    line: int | None
    log: str | None
    seconds: float | None
    fresh: int
    changed: str
    files: int
    edits: int
    events: str
    deliberate: int


def changes_in(changed: str) -> tuple[FileChange, ...]:
    """The files that were changed before a run."""
    rows = msgspec.json.decode(changed, type=ready(list[tuple[str, ChangeKind, int | None]]))
    return tuple(FileChange(path=path, kind=kind, lines=lines) for path, kind, lines in rows)


class CostFact(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one failure took, by its local id; the fields are those of `helix_episodes.model.Cost`."""

    local: str
    steps: float
    seconds: int | None
    tokens: int | None
    end: str


class EpisodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All that one episode says, mentions and claims in the order of their local ids.

    ``problems`` are links left out because an end does not exist.
    """

    episode: str
    session: str
    timestamp: str | None
    task: str
    task_kind: str = "other"
    outcome: Outcome = "unknown"
    basis: OutcomeBasis = "none"
    agent: str | None = None
    model: str | None = None
    branch: str | None = None
    log: str | None = None
    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()
    repairs: tuple[Repair, ...] = ()
    runs: tuple[RunFact, ...] = ()
    costs: tuple[CostFact, ...] = ()
    problems: tuple[str, ...] = ()
    origin: Origin = "episode"

    @property
    def succeeded(self) -> bool | None:
        """Whether the session came out well; None when nobody but the agent says so, or nobody at all."""
        if self.outcome == "unknown" or self.basis not in MEASURED_BASES:
            return None
        return self.outcome == "success"


class SkippedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be used, or a link of it that could not, and why."""

    path: str
    problem: str


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
    """The node of that id, which must exist."""
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
