"""The examination: from the folder over the episodes to the graph, mending on the way when asked to."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.errors import HelixGraphError
from helix_graph import database
from helix_graph.doctor.assertions import aside_troubles, assertion_troubles
from helix_graph.doctor.episodes import episode_troubles
from helix_graph.doctor.graph import graph_troubles
from helix_graph.doctor.model import Examination
from helix_graph.doctor.place import place_troubles
from helix_graph.errors import NotOurDatabase
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.schema import GRAPH_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph.doctor.model import Finding, Trouble
    from helix_graph.graph.door import Graph


def examine(root: Path, graph: Graph, *, fix: bool, private: str) -> Examination:
    """Finds what is wrong with the memory in ``root``, and with ``fix`` mends what can be mended.

    Each trouble is mended as soon as it is found: what is looked at next sees the memory as it then is. ``private`` is
    the content of a .gitignore that keeps everything out of git.
    """
    findings = [_treated(each, fix=fix) for each in _troubles(root, graph, private)]
    if fix and any(one.kind == "secret" and one.mended for one in findings):
        with suppress(NotOurDatabase):  # which holds nothing of ours
            database.erase_traces(graph.path_of_file, GRAPH_FILE)  # the graph quoted what was cut
    return Examination(root=str(root), findings=tuple(findings))


def _troubles(root: Path, graph: Graph, private: str) -> Iterator[Trouble]:
    yield from place_troubles(root, private=private)
    yield from episode_troubles(root, graph.episodes)
    yield from assertion_troubles(root, graph.causality / ASSERTIONS)
    yield from aside_troubles(root)
    yield from graph_troubles(graph)


def _treated(each: Trouble, *, fix: bool) -> Finding:
    if not fix or each.mend is None:
        return each.finding
    try:
        return replace(each.finding, mended=each.mend() is not False)
    except HelixGraphError as error:
        return replace(each.finding, problem=f"{each.finding.problem}; not mended: {error}")
    except OSError as error:
        return replace(each.finding, problem=f"{each.finding.problem}; not mended: {error.strerror or error}")
