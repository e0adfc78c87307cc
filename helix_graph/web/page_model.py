"""The content of a page of the graph, as one frozen value; the scripts in ``static`` read it as JSON.

Nodes, edges, groups, sessions and sightings refer to each other by their positions in their lists. Texts are as the
logs have them: the page shows them as text only, and `helix_graph.web.html` keeps them from ending their element.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from helix_graph.graph.subgraph import Occurrence

Copy = TypeVar("Copy", bound=msgspec.Struct)


def copied(kind: type[Copy], source: object, **others: object) -> Copy:
    """A value of ``kind`` with the fields of ``source`` that have the same names, and ``others``."""
    same = (name for name in kind.__struct_fields__ if name not in others)
    return kind(**{name: getattr(source, name) for name in same}, **others)


class PageNode(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A label. Of ``measured`` sessions ``successes`` came out well: within ``low`` to ``high`` at 95 %.

    ``rate`` (0 to 1) is None where nobody but the agent judged a session. ``x`` and ``y`` are its place.
    """

    id: str
    type: str
    label: str
    frequency: int
    episodes: int
    measured: int
    successes: int
    rate: float | None
    low: float
    high: float
    wordings: tuple[tuple[str, int], ...]
    wordings_left: int
    sightings: tuple[int, ...]
    sessions: tuple[int, ...]
    group: int
    x: int
    y: int


class Comparison(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the sessions say of an edge: how much more often (-1 to 1) its target is met with its source."""

    difference: float
    low: float
    high: float
    q: float
    uses: int
    successes: int
    others: int
    successes_of_others: int


class PageEdge(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An edge. ``status`` is asserted, supported or contradicted; ``joints`` are pairs of sightings."""

    source: int
    target: int
    type: str
    status: str
    weight: float
    evidence: int
    reasons: tuple[str, ...]
    joints: tuple[tuple[int, int], ...]
    sessions: tuple[int, ...]
    comparison: Comparison | None


class PageGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of the overview: its members, and where it stands by column and row."""

    type: str
    label: str
    members: tuple[int, ...]
    column: int
    row: int


class PageSession(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A session, or an assertion made by hand; ``day`` is its date in UTC, empty when it has none."""

    id: str
    task: str
    outcome: str
    basis: str
    day: str
    project: str
    log: str
    asserted: bool


class PagePath(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer to "how does one lead to the other": places of its nodes and edges, and the answer in words."""

    found: bool
    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    sentence: str


class PageSuspect(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a step is worth a look: its rank, counted from 1, the reasons, and sessions for and against it."""

    rank: int
    clear: bool
    reasons: tuple[str, ...]
    supporting: tuple[str, ...]
    contrary: tuple[str, ...]
    failed_with: int
    succeeded_with: int


class PageStep(msgspec.Struct, frozen=True, kw_only=True):
    """One decision or event of a session; ``links`` name the step, the edge and the reason, away from or to this one.

    ``node`` is the place of its label among the nodes, None when it is not on the page. ``how`` is how it came out;
    ``why`` and ``situation`` are of decisions, ``message`` is of events.
    """

    id: str
    kind: str
    type: str
    text: str
    why: str
    situation: str
    message: str
    how: str
    node: int | None
    line: int | None
    log: str
    quote: str
    time: str
    leads_to: tuple[tuple[str, str, str], ...]
    led_by: tuple[tuple[str, str, str], ...]
    suspect: PageSuspect | None


class PageParting(msgspec.Struct, frozen=True, kw_only=True):
    """A place where the session and the one beside it differ: after what, and what each did there."""

    after: str
    here: tuple[str, ...]
    there: tuple[str, ...]
    here_ids: tuple[str, ...]


class PageBeside(msgspec.Struct, frozen=True, kw_only=True):
    """The most alike session that succeeded; ``other`` is empty where there is none, and ``why`` says so."""

    other: str
    why: str
    likeness: float
    partings: tuple[PageParting, ...]
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]


class PageTimeline(msgspec.Struct, frozen=True, kw_only=True):
    """One session, step by step. ``sentence`` says what the list of suspects comes to."""

    episode: str
    task: str
    outcome: str
    basis: str
    rule: str
    quote: str
    compared: str
    agent: str
    project: str
    time: str
    log: str
    sentence: str
    steps: tuple[PageStep, ...]
    lessons: tuple[str, ...]
    beside: PageBeside


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a page shows.

    ``part`` says in words what is on it; ``notes`` what is not, and why. ``overview`` says whether it opens with
    groups. ``focus`` are the nodes that were asked for.
    """

    title: str
    part: str
    notes: tuple[str, ...]
    updated: str
    nodes_in_all: int
    edges_in_all: int
    overview: bool
    nodes: tuple[PageNode, ...]
    edges: tuple[PageEdge, ...]
    groups: tuple[PageGroup, ...]
    sessions: tuple[PageSession, ...]
    sightings: tuple[Occurrence, ...]
    focus: tuple[int, ...]
    path: PagePath | None
    timeline: PageTimeline | None
