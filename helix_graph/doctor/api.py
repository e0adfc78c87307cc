"""Examine a memory from its folder over the episodes to the graph, and fix what can be fixed when asked.

The files that a team shares through git are checked too, and the record of which of them came in here.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import HelixGraphError
from helix_episodes.safe_files import irregularity, read_regular
from helix_graph.doctor.databases import check_database_secrets, check_graph, check_helix_db
from helix_graph.doctor.files import check_assertions, check_episodes, check_folder, check_quarantine
from helix_graph.doctor.model import DoctorFinding, Examination, FindingKind, Fixable
from helix_graph.errors import DatabaseRefused, NotOurDatabase
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.compile import erase_traces
from helix_graph.graph.graph_db import FILE_NAME
from helix_graph.shared_authors import SHARED_HERE
from helix_graph.sharing.shared_files import FOLDER, SharedHere, shared_problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph.graph.api import Graph
    from helix_graph.insights.api import Insights
    from helix_graph.topics.api import Topics


_SHARES: frozenset[FindingKind] = frozenset({"missing share", "orphan share"})
#: What is wrong with an episode or an assertion itself, and with it its share in the graph.
_OF_A_FILE: frozenset[FindingKind] = frozenset({
    "unreadable episode", "misnamed episode", "spoilt part", "disagreeing links", "secret", "unreadable assertion",
    "copied assertion", "not a regular file",
})  # fmt: skip


def examine(root: Path, graph: Graph, topics: Topics, insights: Insights, *, fix: bool) -> Examination:
    """Finds what is wrong with the memory in ``root``, and with ``fix`` repairs what can be repaired.

    Each check is a generator, and each fault is repaired as soon as it is found: the later checks see the memory as it
    then is.
    """
    found = chain(
        check_folder(root),
        check_episodes(root, graph.episodes),
        check_assertions(root, graph.causality / ASSERTIONS),
        check_quarantine(root),
        check_graph(graph),
        check_helix_db(root, topics, insights),
        check_database_secrets(root),
        check_shared_files(root),
    )
    findings: list[DoctorFinding] = []
    for each in found:
        finding = _repaired(each) if fix and each.mend else each.reported()
        if not (_follows(finding, findings) and (finding.mended or not fix)):
            findings.append(finding)
    if fix and any(one.kind == "secret" and one.mended for one in findings):
        with suppress(NotOurDatabase, DatabaseRefused):  # reported already
            erase_traces(graph.path_of_file)  # the graph quoted what was cut
    return Examination(root=str(root), findings=tuple(findings))


def _follows(share: DoctorFinding, earlier: list[DoctorFinding]) -> bool:
    """Whether a share is wrong only because its file is, which was reported: one bad file is one fault."""
    if share.kind == "secret" and share.file == f"causality/{FILE_NAME}":  # the graph quotes its episodes
        return any(one.kind == "secret" for one in earlier)
    return share.kind in _SHARES and any(one.file == share.file and one.kind in _OF_A_FILE for one in earlier)


def _repaired(each: Fixable) -> DoctorFinding:
    try:
        return each.reported(mended=each.mend is not None and each.mend() is not False)
    except (HelixGraphError, OSError) as error:
        why = (error.strerror or error) if isinstance(error, OSError) else error
        return each.reported(problem=f"{each.problem}; not fixed: {why}")


def check_shared_files(root: Path) -> Iterator[Fixable]:
    """Links and pipes among the shared files, those that nobody takes in, and a record that cannot be read."""
    for path in sorted((root / FOLDER).rglob("*")):
        if not path.is_dir() and (problem := irregularity(path)):
            name = path.relative_to(root).as_posix()
            yield Fixable("not a regular file", name, problem, "delete it, and run git status to see where it is from")
    for one in shared_problems(root):
        if one.kind == "secret":
            remedy = "edit the insight or entry and share it again; replace a secret that was committed at its service"
            yield Fixable("secret", one.file, f"line {one.line}: {one.problem}", remedy)
        else:
            remedy = "it is not read; restore it with git, or remove it with git rm"
            yield Fixable("unreadable file", one.file, one.problem, remedy)
    try:
        msgspec.json.decode(read_regular(root / SHARED_HERE), type=SharedHere)
    except FileNotFoundError:
        return
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        remedy = "delete it; `share merge` then takes in again what was deleted here since it came"
        yield Fixable("unreadable file", SHARED_HERE, str(error), remedy)
