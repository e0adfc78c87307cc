"""graph.db: its file name, versions and tables, and how to open it for one question.

A change to the tables is a new version, and the file is built again from the episodes. Rows are stored by episode, the
order in which they come and go; an index serves every other order. The ends of a claim have no foreign key to a node:
they are mentions of the same episode, which have one, and checking every claim adds half to the time of writing it.
``name`` has every place and thing once: a question about a part of a name would otherwise read all mentions.

Rows that an answer is made of have checksums (`helix_graph.graph.row_checksums`). Where a question fails on what it
read, they say whether the file is damaged, which a compile mends, or the program is wrong.

Hooks load this module, so it imports little.
"""

from __future__ import annotations

from contextlib import closing, contextmanager

from helix_episodes.errors import HelixGraphError
from helix_graph import database
from helix_graph.database import DatabaseKind, word_table
from helix_graph.errors import CUT_SHORT, DatabaseUnreadable, GraphNotCompiled, InvalidAssertion
from helix_graph.project import digest, forgotten_digests
from helix_graph.schema_digests import GRAPH_OBJECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType


FILE_NAME = "graph.db"
EXPORT_NAME = "causal-graph.json"
#: The original schema asks for two numbers and a dot.
EXPORT_VERSION = "1.0"
#: A change to `node_labels`, `mentions` or `normalization` that gives any mention another label, place or thing is
#: a new version.
LABEL_VERSION = "4"
#: ``grammar``: the only mode; part of the version, so that another mode would rebuild the file.
LABEL_MODE = "grammar"
#: Raise this when `trials` reads something else from an episode.
TRIAL_VERSION = "6"
#: Raise this when `helix_episodes.later_evidence` reads something else from an episode.
TELLING_VERSION = "2"


GRAPH_FILE = DatabaseKind(
    application_id=int.from_bytes(b"hlxg", "big"),
    version=19,
    known=GRAPH_OBJECTS,
    most_pages=1 << 21,  # 16 gigabytes: a million sessions
    page_size=8192,  # an episode's words fill half of it; they would waste half of a smaller one
    schema=f"""
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE episode (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, timestamp TEXT,
        moment TEXT NOT NULL, task TEXT NOT NULL, task_kind TEXT NOT NULL, outcome TEXT NOT NULL, basis TEXT NOT NULL,
        agent TEXT, model TEXT, branch TEXT, log TEXT, problems TEXT NOT NULL, origin TEXT NOT NULL, checksum INTEGER
    );
    CREATE TABLE assertion (
        name TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 BLOB NOT NULL,
        unit TEXT NOT NULL, moment TEXT NOT NULL, body BLOB, problem TEXT, checksum INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX assertion_of_unit ON assertion (unit);
    CREATE TABLE file (
        name TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 BLOB NOT NULL,
        episode INTEGER REFERENCES episode, problem TEXT, checksum INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE telling (
        episode INTEGER PRIMARY KEY REFERENCES episode, project TEXT, begin REAL NOT NULL, session TEXT NOT NULL,
        worked INTEGER NOT NULL, early INTEGER NOT NULL, commits INTEGER NOT NULL, reverts INTEGER NOT NULL, body BLOB,
        checksum INTEGER NOT NULL
    );
    CREATE TABLE node (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, label TEXT NOT NULL,
        folded TEXT NOT NULL, mentions INTEGER NOT NULL DEFAULT 0, episodes INTEGER NOT NULL DEFAULT 0,
        measured INTEGER NOT NULL DEFAULT 0, successes INTEGER NOT NULL DEFAULT 0
    );

    CREATE TABLE mention (
        episode INTEGER NOT NULL REFERENCES episode, local TEXT NOT NULL, node INTEGER NOT NULL REFERENCES node,
        place TEXT, thing TEXT, raw TEXT NOT NULL, timestamp TEXT, path TEXT, command TEXT, message TEXT,
        checked TEXT, family TEXT, issues TEXT, rationale TEXT, actor TEXT NOT NULL, line INTEGER, log TEXT,
        quote TEXT NOT NULL, counted INTEGER NOT NULL, context TEXT NOT NULL, outcome TEXT, deliberate INTEGER NOT NULL,
        replaced TEXT NOT NULL,
        PRIMARY KEY (episode, local)
    ) WITHOUT ROWID;
    CREATE TABLE name (name TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE issue (
        fingerprint TEXT NOT NULL, episode INTEGER NOT NULL REFERENCES episode, local TEXT NOT NULL,
        PRIMARY KEY (episode, local, fingerprint)
    ) WITHOUT ROWID;
    CREATE TABLE wording (episode INTEGER PRIMARY KEY REFERENCES episode, folded TEXT NOT NULL);
    CREATE TABLE claim (
        source INTEGER NOT NULL, target INTEGER NOT NULL, type TEXT NOT NULL,
        episode INTEGER NOT NULL REFERENCES episode, source_local TEXT NOT NULL, target_local TEXT NOT NULL,
        reason TEXT NOT NULL, weight INTEGER NOT NULL, loose INTEGER NOT NULL, line INTEGER, quote TEXT,
        lines TEXT, PRIMARY KEY (episode, source_local, target_local, type, reason)
    ) WITHOUT ROWID;
    CREATE TABLE edge (
        source INTEGER NOT NULL REFERENCES node, target INTEGER NOT NULL REFERENCES node, type TEXT NOT NULL,
        weight_sum INTEGER NOT NULL, claims INTEGER NOT NULL, episodes INTEGER NOT NULL,
        PRIMARY KEY (source, target, type)
    ) WITHOUT ROWID;
    CREATE TABLE repair (
        episode INTEGER NOT NULL REFERENCES episode, error TEXT NOT NULL, change TEXT NOT NULL, checked TEXT NOT NULL,
        verified_by TEXT, share INTEGER NOT NULL, quote TEXT, replaced TEXT, line INTEGER, silences INTEGER NOT NULL,
        PRIMARY KEY (episode, error, change, checked)
    ) WITHOUT ROWID;
    CREATE TABLE run (
        episode INTEGER NOT NULL REFERENCES episode, number INTEGER NOT NULL, checked TEXT NOT NULL, kind TEXT NOT NULL,
        passed INTEGER, command TEXT, directory TEXT, timestamp TEXT, line INTEGER, log TEXT, seconds REAL,
        fresh INTEGER NOT NULL, changed TEXT NOT NULL, files INTEGER NOT NULL, edits INTEGER NOT NULL,
        events TEXT NOT NULL, deliberate INTEGER NOT NULL, PRIMARY KEY (episode, number)
    ) WITHOUT ROWID;
    CREATE TABLE cost (
        episode INTEGER NOT NULL REFERENCES episode, local TEXT NOT NULL, steps REAL NOT NULL, seconds INTEGER,
        tokens INTEGER, ended TEXT NOT NULL, PRIMARY KEY (episode, local)
    ) WITHOUT ROWID;
    {word_table("decided")};
    CREATE TABLE digest (
        episode INTEGER PRIMARY KEY REFERENCES episode, body BLOB NOT NULL, checksum INTEGER NOT NULL
    );
    CREATE TABLE pattern (id TEXT PRIMARY KEY, uses INTEGER NOT NULL) WITHOUT ROWID
    """,
    indexes="""
    CREATE INDEX file_of_episode ON file (episode);
    CREATE INDEX file_with_problem ON file (name) WHERE problem IS NOT NULL;
    CREATE INDEX telling_in_time ON telling (project, begin, session, episode, early) WHERE worked;
    CREATE INDEX telling_of_commits ON telling (reverts) WHERE commits;
    CREATE UNIQUE INDEX node_by_id ON node (id);
    CREATE INDEX node_by_label ON node (type, label);
    CREATE INDEX mention_of_node ON mention (node, episode);
    CREATE INDEX mention_of_place ON mention (place, node) WHERE place IS NOT NULL;
    CREATE INDEX mention_of_thing ON mention (thing, node) WHERE thing IS NOT NULL;
    CREATE INDEX error_of_path ON mention (path) WHERE family IS NOT NULL;
    CREATE INDEX issue_by_fingerprint ON issue (fingerprint);
    CREATE INDEX claim_of_edge ON claim (source, target, type, reason, weight);
    CREATE INDEX edge_backwards ON edge (target, source, type)
    """,
)


@contextmanager
def open_graph(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the graph in the file at ``path``, which only reads."""
    if database.ownership(path, GRAPH_FILE) == "absent":
        raise GraphNotCompiled(path=path)
    with database.reporting(path), closing(database.open_for_reading(path, GRAPH_FILE)) as connection:
        version = database.schema_version(connection)
        if not version:
            raise GraphNotCompiled(path=path, problem=CUT_SHORT)
        labels = connection.execute("SELECT value FROM meta WHERE key = 'labels'").fetchone()
        if version != GRAPH_FILE.version or labels != (f"{LABEL_VERSION} {LABEL_MODE}",):
            raise GraphNotCompiled(path=path, problem="was compiled by another version of helix-graph")
        with DamageNamed(connection, path):
            if holds_forgotten(connection, path):
                raise GraphNotCompiled(path=path, problem="holds a session that was forgotten (an older copy?)")
            yield connection


def holds_forgotten(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether an episode of a forgotten session is in the graph: an older copy, or not yet taken out.

    One that a person's assertion names since has nothing of the session but its id.
    """
    forgotten = forgotten_digests(path.parent.parent)
    sessions = connection.execute("SELECT session FROM episode WHERE origin = 'episode'") if forgotten else ()
    return any(digest(session) in forgotten for (session,) in sessions)


class DamageNamed:
    """Within, an error that damaged rows explain is reported as their damage; any other is a bug and passes."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def __enter__(self) -> None:
        """Nothing is looked at before something fails."""

    def __exit__(self, _: object, error: BaseException | None, __: TracebackType | None) -> None:
        ours = isinstance(error, HelixGraphError) and not isinstance(error, InvalidAssertion)
        if isinstance(error, Exception) and not ours:
            from helix_graph.graph.row_checksums import find_damage

            if problem := find_damage(self._connection, version=GRAPH_FILE.version):
                raise DatabaseUnreadable(path=self._path, problem=problem) from error
