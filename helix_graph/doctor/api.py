"""Examine a memory from its folder over the episodes to the graph, and fix what can be fixed when asked."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.errors import HelixGraphError
from helix_graph import database
from helix_graph.doctor.folder import check_folder
from helix_graph.doctor.graph import check_graph
from helix_graph.doctor.model import Examination
from helix_graph.doctor.records import check_assertions, check_episodes, check_quarantine
from helix_graph.errors import DatabaseRefused, NotOurDatabase
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.connection import GRAPH_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from helix_graph.doctor.model import DoctorFinding, FindingKind, FixableFinding
    from helix_graph.graph.api import Graph


_SHARES: frozenset[FindingKind] = frozenset({"missing share", "orphan share"})
#: What is wrong with an episode or an assertion itself, and with it its share in the graph.
_OF_A_FILE: frozenset[FindingKind] = frozenset(
    {
        "unreadable episode",
        "misnamed episode",
        "spoilt part",
        "disagreeing links",
        "secret",
        "unreadable assertion",
        "copied assertion",
        "not a regular file",
    }
)


def examine(
    root: Path,
    graph: Graph,
    *,
    fix: bool,
    private: str,
    others: Callable[[], Iterable[FixableFinding]] = tuple,
) -> Examination:
    """Finds what is wrong with the memory in ``root``, and with ``fix`` mends what can be mended.

    Each trouble is mended as soon as it is found: what is looked at next sees the memory as it then is. ``private`` is
    the content of a .gitignore that keeps everything out of git. ``others`` looks into what stands on the graph, last.
    """
    findings: list[DoctorFinding] = []
    for each in chain(_troubles(root, graph, private), _later(others)):
        finding = _treated(each, fix=fix)
        if not (_follows(finding, findings) and (finding.mended or not fix)):
            findings.append(finding)
    if fix and any(one.kind == "secret" and one.mended for one in findings):
        with suppress(NotOurDatabase, DatabaseRefused):  # told already
            database.erase_traces(graph.path_of_file, GRAPH_FILE)  # the graph quoted what was cut
    return Examination(root=str(root), findings=tuple(findings))


def _troubles(root: Path, graph: Graph, private: str) -> Iterator[FixableFinding]:
    yield from check_folder(root, private=private)
    yield from check_episodes(root, graph.episodes)
    yield from check_assertions(root, graph.causality / ASSERTIONS)
    yield from check_quarantine(root)
    yield from check_graph(graph)


def _later(others: Callable[[], Iterable[FixableFinding]]) -> Iterator[FixableFinding]:
    """Asked when its turn has come: the graph may have been mended until then."""
    yield from others()


def _follows(share: DoctorFinding, told: list[DoctorFinding]) -> bool:
    """Whether a share is wrong only because its file is, which was told: one bad file is one fault."""
    return share.kind in _SHARES and any(one.file == share.file and one.kind in _OF_A_FILE for one in told)


def _treated(each: FixableFinding, *, fix: bool) -> DoctorFinding:
    if not fix or each.mend is None:
        return each.finding
    try:
        return replace(each.finding, mended=each.mend() is not False)
    except HelixGraphError as error:
        return replace(each.finding, problem=f"{each.finding.problem}; not mended: {error}")
    except OSError as error:
        return replace(each.finding, problem=f"{each.finding.problem}; not mended: {error.strerror or error}")
