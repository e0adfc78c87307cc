"""Examine a memory from its folder over the episodes to the databases, and fix what can be fixed when asked.

The files that a team shares through git are checked too, and the record of which of them came in here.

graph.db must be ours, whole, of this version, and contain every episode's share and no other. All of it is derived, so
a fix is a compile; only another program's file is left to its owner. In helix.db a damaged record cannot be restored,
since nothing else contains it: it is moved to set-aside/, and the rest is whole again.

Redaction cuts secrets before they are written. One that is found all the same was written by an older version, which
knew fewer kinds, or by another program; a finding names its table and row, never the secret. The rows of all databases
are searched.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import orjson

from helix_episodes.errors import HelixGraphError
from helix_episodes.redaction import HOME, redact
from helix_episodes.safe_files import irregularity, read_regular
from helix_episodes.store import without_value
from helix_episodes.verification import strings_in
from helix_graph import database
from helix_graph.doctor.files import (
    DoctorFinding,
    FindingKind,
    Fixable,
    check_assertions,
    check_episodes,
    check_folder,
    check_quarantine,
)
from helix_graph.embedding.cache import CACHE_NAME, VECTOR_CACHE
from helix_graph.errors import (
    CUT_SHORT,
    NEXT_STEP,
    DatabaseBusy,
    DatabaseRefused,
    DatabaseUnreadable,
    GraphNotCompiled,
    MemoryDamaged,
    NotOurDatabase,
)
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.compile import discard, erase_traces
from helix_graph.graph.export import export_bytes
from helix_graph.graph.graph_db import EXPORT_NAME, FILE_NAME, GRAPH_FILE, LABEL_MODE, LABEL_VERSION
from helix_graph.graph.row_checksums import SUMS, find_damage
from helix_graph.graph.source_files import digest_of, known_files, pending_assertions, scan
from helix_graph.helix_db import HELIX_DB
from helix_graph.insights.safe_quoting import logged_name_or_quoted
from helix_graph.plans.store import Explorations
from helix_graph.set_aside import copy_aside
from helix_graph.shared_authors import SHARED_HERE
from helix_graph.sharing.shared_files import FOLDER, SharedHere, shared_problems
from helix_graph.tombstones import Tombstones

if TYPE_CHECKING:
    from helix_graph.graph.api import Graph
    from helix_graph.insights.api import Insights
    from helix_graph.topics.api import Topics


_COMPILE = NEXT_STEP
_EXPORT = "helix-graph compile --export"
_FIX = "helix-graph doctor --fix"
_NAME = f"causality/{FILE_NAME}"


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """All findings, in the order in which the doctor looks."""

    root: str
    findings: tuple[DoctorFinding, ...]

    @property
    def healthy(self) -> bool:
        """Whether no fault is left."""
        return all(one.mended or one.severity == "note" for one in self.findings)


def check_graph(graph: Graph) -> Iterator[Fixable]:
    """Everything that is wrong with the compiled graph."""
    path = graph.path_of_file
    try:
        if database.ownership(path, GRAPH_FILE) == "absent":
            if waiting := len(scan(graph.episodes)):
                problem = f"{waiting} episodes are not in a graph yet"
                yield Fixable("missing share", _NAME, problem, _COMPILE, mend=graph.compile)
            return
        with database.reporting(path), closing(database.open_for_reading(path, GRAPH_FILE)) as connection:
            found = list(_in_file(connection, graph))
    except NotOurDatabase as error:
        yield Fixable("foreign database", _NAME, error.problem, f"move {path} elsewhere, then {_COMPILE}")
    except GraphNotCompiled as error:
        yield Fixable("damaged database", _NAME, f"it {error.problem}", _COMPILE, mend=graph.compile)
    except (DatabaseRefused, DatabaseBusy) as error:
        yield Fixable("unreadable file", _NAME, str(error), f"then {_COMPILE}")
    except DatabaseUnreadable as error:
        yield Fixable("damaged database", _NAME, error.problem, _FIX, mend=partial(_rebuild, graph))
    else:
        yield from found


def _in_file(connection: sqlite3.Connection, graph: Graph) -> Iterator[Fixable]:
    if not database.schema_version(connection):
        raise GraphNotCompiled(path=graph.path_of_file, problem=CUT_SHORT)
    version = _wrong_version(connection)
    if version:
        said = f"{version}; hooks know no fixes until then"
        yield Fixable("old version", _NAME, said, _COMPILE, mend=graph.compile)
        return
    damage = [text for (text,) in connection.execute("PRAGMA integrity_check(3)") if text != "ok"]
    damage += [f"{table} refers to a row that is gone" for table, *_ in connection.execute("PRAGMA foreign_key_check")]
    if damage:
        yield Fixable("damaged database", _NAME, "; ".join(damage[:3]), _FIX, mend=partial(_rebuild, graph))
        return
    sums = {what: wrong for what, query in SUMS.items() if (wrong := connection.execute(query).fetchone()[0])}
    for what, wrong in sums.items():
        said = f"the sums of {wrong} {what} are not those of their facts"
        yield Fixable("wrong sum", _NAME, said, _FIX, mend=partial(_rebuild, graph))
    problem = None if sums else find_damage(connection, version=GRAPH_FILE.version)
    if problem:
        yield Fixable("damaged database", _NAME, problem, _FIX, mend=partial(_rebuild, graph))
    if sums or problem:  # what the rows say of episodes and the export is not to be relied on
        return
    yield from _shares(connection, graph)
    yield from _export(connection, graph)


def _wrong_version(connection: sqlite3.Connection) -> str | None:
    tables = database.schema_version(connection)
    if tables != GRAPH_FILE.version:
        age = "a newer" if tables > GRAPH_FILE.version else "an older"
        return f"{age} helix-graph made it (tables {tables}, ours are {GRAPH_FILE.version})"
    found = connection.execute("SELECT value FROM meta WHERE key = 'labels'").fetchone()
    ours = f"{LABEL_VERSION} {LABEL_MODE}"
    return None if found == (ours,) else f"its labels are of version {found[0] if found else 'unknown'}, ours of {ours}"


def _shares(connection: sqlite3.Connection, graph: Graph) -> Iterator[Fixable]:
    """Episodes whose share is not in the graph as they are now, and shares of episodes that are gone."""
    present, known = scan(graph.episodes), known_files(connection)
    compile_once = cache(graph.compile)  # one compile mends all of them
    for name in pending_assertions(connection, graph.causality / ASSERTIONS):
        problem = "it is new, changed or gone since the graph was compiled"
        yield Fixable("missing share", f"causality/{ASSERTIONS}/{name}", problem, _COMPILE, mend=compile_once)
    for name in sorted(present):
        seen = known.get(name)
        if seen is None or seen.sha256 != digest_of(graph.episodes / name):
            problem = "it has changed since the graph was compiled" if seen else "its share is not in the graph"
            yield Fixable("missing share", f"episodes/{name}", problem, _COMPILE, mend=compile_once)
    for name in sorted(known.keys() - present.keys()):
        share = "names it" if known[name].episode is None else "holds its share"
        problem = f"it is gone, but the graph still {share}"
        yield Fixable("orphan share", f"episodes/{name}", problem, _COMPILE, mend=compile_once)


def _is_content(path: Path, data: bytes) -> bool:
    return path.stat().st_size == len(data) and read_regular(path, most=len(data)) == data


def _export(connection: sqlite3.Connection, graph: Graph) -> Iterator[Fixable]:
    path = graph.causality / EXPORT_NAME
    if problem := irregularity(path):
        yield Fixable("not a regular file", f"causality/{EXPORT_NAME}", problem, f"move it away, then {_COMPILE}")
    elif path.is_file() and not _is_content(path, export_bytes(connection)):
        problem = "it is not what the graph says"
        yield Fixable("wrong export", f"causality/{EXPORT_NAME}", problem, _EXPORT, mend=partial(_export_again, graph))


def _export_again(graph: Graph) -> None:
    """Compile knows its export by size and time, so one that was changed behind its back is removed first."""
    (graph.causality / EXPORT_NAME).unlink(missing_ok=True)
    graph.compile(export=True)


def _rebuild(graph: Graph) -> None:
    discard(graph.path_of_file)
    graph.compile()


def check_helix_db(root: Path, topics: Topics, insights: Insights) -> Iterator[Fixable]:
    """Everything that is wrong with helix.db: its pages, its records, and links that lead to no node of the graph."""
    path = topics.database.path
    if not path.exists():
        return
    try:
        damaged = topics.damaged()
    except MemoryDamaged as error:
        yield Fixable("damaged database", path.name, error.problem, "restore a copy of it; nothing else contains it")
        return
    except (DatabaseRefused, DatabaseBusy) as error:
        yield Fixable("unreadable file", path.name, str(error), "then look again")
        return

    def keep(number: int, body: bytes) -> None:
        copy_aside(root, root / "topics" / f"record-{number}.json", body)

    @cache  # one call moves all of them
    def mend() -> None:
        topics.set_damaged_aside(keep)

    remedy = "store it again from what was set aside; doctor --fix sets the record aside, the others stay"
    for one in damaged:
        place = f": topic {one.topic}, index {one.index}, entry {one.entry}"
        problem = f"{one.problem}{place if one.topic is not None else '; the index has no entry for it'}"
        yield Fixable("damaged record", path.name, problem, remedy, mend=mend)
    yield from _check_texts(insights)
    for session in sorted(filter(Tombstones(root).holds, insights.sessions_named())):
        problem = f"session {session} was forgotten, but insights of it are here again; is this an older copy?"
        yield Fixable("forgotten", path.name, problem, f"helix-graph forget --session {session}")
    try:
        lost = insights.unresolved()
    except DatabaseUnreadable:  # of the graph, which was reported
        return
    if lost:
        some = "1 link of an insight leads" if len(lost) == 1 else f"{len(lost)} links of insights lead"
        remedy = f"{NEXT_STEP}; links to sessions whose logs are gone stay and lead nowhere"
        problem = f"{some} to no node of the graph"
        yield Fixable("unresolved link", insights.path.name, problem, remedy, severity="note")


def _check_texts(insights: Insights) -> Iterator[Fixable]:
    """Insights whose text is not what was stored, and explorations that are not what was saved."""
    name = insights.path.name
    for one, is_known in insights.damaged().items():
        problem = f"insight {logged_name_or_quoted(one)} is not as it was stored, and is told to nobody"
        if is_known:
            remedy = f"{_FIX} restores it from the index of words"
            yield Fixable("damaged record", name, problem, remedy, mend=insights.restore_damaged)
        else:
            remedy = "store its text again, or correct it with `insight edit`, or remove it with `insight forget`"
            yield Fixable("damaged record", name, problem, remedy)
    for number in Explorations(insights.path.parent).unreadable():
        problem = f"exploration {number} is not what was saved"
        yield Fixable("damaged record", name, problem, "explore again; `exploration clear` removes it")


#: A finding names so many rows; the rest is counted.
_MOST_NAMED = 5
_REPLACE = "a secret that was ever shared should be replaced at its service"
#: Each database with what takes a secret out of it: two are derived from episodes, the third is the truth itself.
_DATABASES = (
    ("helix.db", HELIX_DB, "edit or forget the record with `insight`, `topic edit` or `forget`"),
    (f"causality/{FILE_NAME}", GRAPH_FILE, f"delete the file, then {NEXT_STEP}"),
    (CACHE_NAME, VECTOR_CACHE, "delete the file; it is made again when needed"),
)


def check_database_secrets(root: Path) -> Iterator[Fixable]:
    """Rows of helix.db, graph.db and the cache in which redaction would cut something.

    A file that is damaged, locked or another program's is left out here: the other checks report it.
    """
    for name, kind, remedy in _DATABASES:
        path = root / name
        if not path.exists() or irregularity(path):
            continue
        try:
            if database.ownership(path, kind) == "absent":
                continue
            with database.reporting(path), closing(database.open_for_reading(path, kind)) as connection:
                found = list(_rows_with_secrets(connection))
        except (NotOurDatabase, DatabaseBusy, DatabaseRefused, DatabaseUnreadable, GraphNotCompiled):
            continue
        if found:
            rows = [
                f"{place}: {', '.join(f'{n} x {kind}' for kind, n in sorted(kinds.items()))}" for place, kinds in found
            ]
            more = f"; and {len(rows) - _MOST_NAMED} more rows" if len(rows) > _MOST_NAMED else ""
            yield Fixable("secret", name, "; ".join(rows[:_MOST_NAMED]) + more, f"{remedy}; {_REPLACE}")


def _rows_with_secrets(connection: sqlite3.Connection) -> Iterator[tuple[str, Counter[str]]]:
    """Each table and row with the kinds of secrets in it."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    # An index of words is made of the texts of other tables.
    virtual = tuple(f"{name}_" for name, sql in found if str(sql).upper().startswith("CREATE VIRTUAL"))
    for table in [name for name, sql in found if not f"{name}_".startswith(virtual) and not name.startswith("sqlite_")]:
        for number, row in _rows(connection, table):
            kinds = Counter(kind for value in row for kind in _kinds(value))
            if kinds:
                yield f"table {table}, row {number}", kinds


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[tuple[int, tuple[object, ...]]]:
    name = table.replace('"', '""')
    try:
        rows = connection.execute(f'SELECT rowid, * FROM "{name}"')  # noqa: S608  (a name from the file itself, quoted)
    except sqlite3.OperationalError:  # a table without numbers of its own
        yield from enumerate(connection.execute(f'SELECT * FROM "{name}"'), 1)  # noqa: S608  (as above)
    else:
        yield from ((number, tuple(row)) for number, *row in rows)


def _kinds(value: object) -> Iterator[str]:
    """What redaction would cut of a value: of a text, or of the texts in JSON."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if not isinstance(text, str):
        return
    texts = [text]
    if text[:1] in ("{", "["):
        try:
            texts = list(strings_in(orjson.loads(text)))
        except orjson.JSONDecodeError:
            texts = [text]
    for one in texts:
        yield from (cut.kind for cut in redact(one).cuts if cut.kind != HOME)


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
        yield Fixable("unreadable file", SHARED_HERE, without_value(str(error)), remedy)
