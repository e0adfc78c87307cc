"""The answer of `path`, as frozen values."""

from __future__ import annotations

from typing import Any

import msgspec

from helix_graph.graph.adjacency import Frequency, MentionPlace, NodeSummary
from helix_graph.graph.label_search import LabelMatch
from helix_graph.graph.mentions import Resolution
from helix_graph.graph.model import GraphNode, row_of

#: The hint where a text is of no node.
NO_NODE = "`helix-graph labels` lists all labels"


class Witness(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One episode behind a step: where its two ends are. Of an end that is several edits the lines of all of them."""

    episode: str
    source: MentionPlace
    target: MentionPlace
    source_lines: tuple[int, ...] = ()
    target_lines: tuple[int, ...] = ()


class PathStep(msgspec.Struct, frozen=True, kw_only=True):
    """One edge of a path; ``source`` and ``target`` are as fine as the path's resolution.

    ``weight`` is how sure the reasons of the link are, ``frequency`` in how many of the sessions with its source it is
    there. ``episodes`` are all that claim it, ``assertions`` how many of those do; ``evidence_count`` is both together,
    and at most ten are quoted as ``witnesses``.
    """

    source: str
    target: str
    type: str
    reasons: tuple[str, ...]
    weight: float
    frequency: Frequency
    evidence_count: int
    episodes: tuple[str, ...]
    assertions: int
    witnesses: tuple[Witness, ...]


class AlikeSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The same steps by their labels alone: which episodes contain them all, and the weakest of them."""

    whole: tuple[str, ...]
    weakest: Frequency


class FoundPath(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A path.

    ``path`` are its nodes; `Graph.path` names their episodes. ``depth`` counts edges. ``whole`` names the episodes that
    contain the path whole at its ``resolution``; with none it is ``stitched``. ``weakest`` is the frequency of the step
    that is found in the smallest share of the sessions with its source, by the low end of the interval. ``alike``
    says how common the same steps are between other files, tests and commands.
    """

    path: tuple[NodeSummary, ...] | tuple[GraphNode, ...]
    steps: tuple[PathStep, ...] = ()
    depth: int | None = None
    resolution: Resolution = "kind"
    whole: tuple[str, ...] = ()
    stitched: bool = False
    weakest: Frequency | None = None
    alike: AlikeSteps | None = None


class PathAnswer(FoundPath, frozen=True, kw_only=True, omit_defaults=True):
    """The path, or why there is none.

    ``error`` has the sentence of the original, ``hint`` what to do about it. ``read_as`` says what a text
    that names nothing was taken for, by its words, ``nearest`` what it may have meant. Asked for several, it has
    ``alternatives``, the others in their order; ``complete`` is false when there was too much to look at all of it.
    Asked for the resolution ``kind``, a stitched path has the shortest that single episodes contain as its
    ``witnessed_path``.
    """

    found: bool
    witnessed_path: FoundPath | None = None
    alternatives: tuple[FoundPath, ...] = ()
    complete: bool = True
    error: str | None = None
    hint: str | None = None
    read_as: dict[str, str] = {}
    nearest: tuple[LabelMatch, ...] = ()


def path_row(answer: PathAnswer) -> dict[str, Any]:
    """A path with the original's keys: ``depth`` only when it was found, ``error`` only when not."""
    nodes = [row_of(node) for node in answer.path if isinstance(node, GraphNode)]
    if answer.found:
        return {"found": True, "path": nodes, "depth": answer.depth}
    error = "Node not found" if answer.hint == NO_NODE else answer.error
    return {"found": False, "path": [], "error": error, "hint": answer.hint}
