"""Facts, nodes and anchors as frozen values: what one episode contributes to the graph.

A *mention* is one decision, event or outcome of an episode under its label. A *claim* is one link of an episode
between two mentions. The graph is the sum of the facts of all episodes (`helix_graph.graph.store`), so merging two
machines' facts merges their graphs.

Weights are integer millionths: integers add up to the same sum in any order and grouping, so a graph can be merged,
taken apart and computed elsewhere without a difference in any bit. Mentions, claims and repairs contain texts and
numbers only, so the garbage collector can ignore them.

An *anchor* is a reference from outside the graph that survives a change of labels. Each version of the label grammar
works out labels again, and with them nodes and their ids. So an anchor stores where it came from: the node's type, the
raw text, and the episode, if there was one; the node is looked up at each question. An anchor that finds none is kept
by its owner: the episode may be on another machine, or come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

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


#: ``episode`` anchors a whole session: what was learnt there rests on no single step of it.
ANCHOR_TYPES: tuple[str, ...] = (*get_args(NodeType), "episode")


class NodeAnchor(msgspec.Struct, frozen=True, kw_only=True):
    """What is spoken of: ``type``, the raw ``text`` (or a label), and the id of the ``episode`` it is from, or ""."""

    type: str
    text: str
    episode: str = ""


class AnchoredNode(msgspec.Struct, frozen=True, kw_only=True):
    """The node of an anchor now; ``command`` and ``path`` are those of the step it was made from, where it has any."""

    node: str
    type: str
    label: str
    command: str | None = None
    path: str | None = None


class NodeExample(msgspec.Struct, frozen=True, kw_only=True):
    """A node, with an anchor that leads to it: its first mention, by episode."""

    node: str
    label: str
    anchor: NodeAnchor


_STEP = (
    "SELECT n.id, n.type, n.label, m.command, m.path FROM mention m JOIN node n ON n.number = m.node"
    " JOIN episode e ON e.number = m.episode"
)


def find_anchored(connection: sqlite3.Connection, anchors: Iterable[NodeAnchor]) -> dict[NodeAnchor, AnchoredNode]:
    """The node of each anchor that has one."""
    found = ((anchor, _find(connection, anchor)) for anchor in anchors)
    return {anchor: node for anchor, node in found if node is not None}


def examples(connection: sqlite3.Connection, types: Iterable[str]) -> Iterator[NodeExample]:
    """The nodes of these types, by type and label, each with an anchor."""
    query = (
        "SELECT n.id, n.label, m.raw, min(e.id) FROM node n JOIN mention m ON m.node = n.number"
        " JOIN episode e ON e.number = m.episode"
        " WHERE n.type = ? AND e.origin <> 'assertion' GROUP BY n.number ORDER BY n.label"
    )
    for kind in types:
        for identity, label, raw, episode in connection.execute(query, (kind,)):
            anchor = NodeAnchor(type=kind, text=raw or label, episode=episode)
            yield NodeExample(node=identity, label=label, anchor=anchor)


def _find(connection: sqlite3.Connection, anchor: NodeAnchor) -> AnchoredNode | None:
    row = None
    if anchor.type == "episode":
        query = "SELECT id, 'episode', task, NULL, NULL FROM episode WHERE id = ?"
        row = connection.execute(query, (anchor.episode,)).fetchone()
    elif not anchor.episode:
        query = "SELECT id, type, label, NULL, NULL FROM node WHERE type = ? AND label = ?"
        row = connection.execute(query, (anchor.type, anchor.text)).fetchone()
    if row is None and anchor.type != "episode":
        within = "e.id = ?" if anchor.episode else "? = ''"
        query = f"{_STEP} WHERE {within} AND n.type = ? AND (m.raw = ? OR n.label = ?) ORDER BY e.id, m.local LIMIT 1"
        row = connection.execute(query, (anchor.episode, anchor.type, anchor.text, anchor.text)).fetchone()
    return AnchoredNode(**dict(zip(AnchoredNode.__struct_fields__, row, strict=True))) if row else None
