"""``pytest --stores=postgresql``: the suites of stores with PostgreSQL as the place where the memory is kept.

Before each question or change that a test asks of a memory, and before each process that it starts, what the calls
before it have written is pushed to a server of the tests' own, a memory is made in an empty folder from that server
alone (`helix_graph.sharing.team.Team.sync` with ``mine``), and takes the place of the one that was there: its helix.db,
episodes and graph.db are gone. So a test passes only if the server kept all that it looks at. Where nothing was written
since, nothing is done. The test files are the same, unchanged.

Some tests are about files of this machine (`UNTIL_TOUCHED`): they damage, delete or lock one, or look at how graph.db
is brought up to date. Their memory comes from the server until they change a file themselves, and is then left as they
made it; graph.db, which each machine makes for itself, stays where it is.
"""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from contextlib import closing, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kept_here import KEPT_HERE, UNTIL_TOUCHED
from postgres_server import PostgresServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

#: The suites of stores: what a memory answers from what it keeps. Each pattern with what its files ask.
SUITES = {
    "test_insights_*.py": "insights: stored, recalled, judged, linked, exchanged",
    "test_topics_*.py": "topics: stored, searched, briefed, edited, moved",
    "test_episode_store.py": "the files of episodes",
    "test_library_episodes.py": "episodes through the library",
    "test_seed_episodes.py": "episodes through the original's API",
    "test_later_evidence.py": "what later sessions show of earlier ones",
    "test_graph_*.py": "the graph that is compiled from episodes, and its answers",
    "test_seed_graph.py": "the same through the original's API",
    "test_path_truth.py": "path: answers that are true",
    "test_precedents.py": "seen: what repaired an error before",
    "test_fingerprints_seen.py": "seen: errors recognised by their fingerprint",
    "test_label_search.py": "names of things, found by words",
    "test_similar.py": "sessions like this one",
    "test_check_rates.py": "runbook and checks",
    "test_issues.py": "issues",
    "test_highlights.py": "what stands out, from all of these",
    "test_rules.py": "rules, and what sessions show of them",
    "test_patterns_*.py": "patterns and anti-patterns",
    "test_search_*.py": "one question to all of these",
    "test_mcp_*.py": "the same through agents' tools, in processes of their own",
}
#: What of a memory the server keeps, or is derived from that; everything else is no part of any of these suites.
_REMADE = ("helix.db", "helix.db-wal", "helix.db-shm", "episodes", "cache", "team")
_GRAPH = "causality/graph.db"


def suite_of(file: str) -> str | None:
    """The pattern by which a file of tests is one of the suites."""
    return next((pattern for pattern in SUITES if fnmatch(file, pattern)), None)


def reason_to_stay(file: str, test: str) -> str | None:
    """Why a test (its name without parameters, or with them) runs on this machine's files alone."""
    return _reason(KEPT_HERE, file, test)


def is_about_files(file: str, test: str) -> bool:
    """Whether a test changes files of this machine itself, or looks at how they are made."""
    return _reason(UNTIL_TOUCHED, file, test) is not None


def _reason(lists: dict[str, tuple[str, ...]], file: str, test: str) -> str | None:
    plain = test.partition("[")[0]
    return next((why for why, tests in lists.items() if {f"{file}::{test}", f"{file}::{plain}"} & set(tests)), None)


class KeptByServer:
    """The server, and what the memories of the test under way had written when they last came from there."""

    def __init__(self) -> None:
        self._server = PostgresServer()
        self.database = self._server.team_database()
        self._admin: psycopg.Connection[Any] | None = None
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._calls = 0
        self._marks: dict[Path, object] = {}
        self._projects = 0
        self._names: dict[Path, str] = {}
        self._is_about_files = False
        self._left: dict[Path, object] = {}
        self._touched: set[Path] = set()
        self.openings = 0

    def close(self) -> None:
        if self._admin:
            self._admin.close()
        self._server.close()

    def begin_test(self, *, is_about_files: bool = False) -> None:
        """Memories of the tests before are none of this one's."""
        self.openings = 0
        self._is_about_files = is_about_files
        self._left.clear()
        self._touched.clear()
        self._marks.clear()
        self._names.clear()

    def install(self) -> None:
        """From now on each public method of a memory's parts asks the server first, and so does each process begun."""
        for kind in _parts():
            for name, function in list(vars(kind).items()):
                if not name.startswith("_") and inspect.isfunction(function):
                    setattr(kind, name, self._asking_first(function))
        os.sync = lambda: None  # no power is cut here, and it waits for all that the machine writes
        begin = subprocess.Popen.__init__

        @functools.wraps(begin)
        def begun(process: Any, *arguments: Any, **options: Any) -> None:  # noqa: ANN401  (as Popen takes them)
            if not self._calls and os.getpid() == self._pid:
                with self._lock:
                    for root in list(self._names):
                        self._make_anew(root, None)
            begin(process, *arguments, **options)

        vars(subprocess)["Popen"].__init__ = begun

    def _asking_first(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def asked(part: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  (any method)
            if os.getpid() != self._pid:  # a fork of a test's own
                return function(part, *arguments, **options)
            with self._lock:
                root = None if self._calls else _root_of(part)
                if root:
                    self._names.setdefault(root, "")
                    self._make_anew(root, part)
                self._calls += 1
            try:
                return function(part, *arguments, **options)
            finally:
                with self._lock:
                    self._calls -= 1
                    if self._is_about_files and root:
                        self._left[root] = _files_of(root)

        return asked

    def _make_anew(self, root: Path, part: object) -> None:
        """Puts a memory that comes from the server alone in the place of the one in ``root``."""
        written = _mark_of(root)
        if self._is_about_files and self._left.get(root, _files_of(root)) != _files_of(root):
            self._touched.add(root)
        if not written or self._marks.get(root) == written or root in self._touched:
            return
        self._calls += 1
        try:
            self._exchange(root, part)
        finally:
            self._calls -= 1
            self._marks[root] = _mark_of(root)
        self.openings += 1

    def _exchange(self, root: Path, part: object) -> None:
        from helix_graph import Memory
        from helix_graph.insights.api import Insights
        from helix_graph.trust import accept, begin

        url, project = self.database.url("ann"), self._project_of(root)
        had_vectors, had_graph = _has_vectors(root / "helix.db"), (root / _GRAPH).exists()
        accept(root, how="init")  # one that came from elsewhere would replace nothing that is on the server
        pushed = Memory(root).team.sync(url, project=project)
        assert not pushed.problems, f"the server does not take it: {pushed.problems}"
        with tempfile.TemporaryDirectory(prefix="empty-") as empty:
            new = Path(empty) / ".helix"
            begin(new)
            pulled = Memory(new).team.sync(url, project=project, mine=True)
            assert not pulled.problems, f"what the server has is not taken: {pulled.problems}"
            for name in _REMADE:
                old = root / name
                shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
                if (new / name).exists():
                    shutil.move(new / name, old)
        if not self._is_about_files:
            for path in (root / _GRAPH).parent.glob("graph.db*"):
                path.unlink()
            if had_graph:
                Memory(root).graph.compile()
        if had_vectors:  # the user is told to run `insight reindex`
            (part if isinstance(part, Insights) else Memory(root).insights).reindex()

    def _project_of(self, root: Path) -> str:
        if not self._names.get(root):
            self._projects += 1
            self._names[root] = f"test{self._projects}"
            if self._admin is None:
                import psycopg

                self._admin = psycopg.connect(self.database.url(), autocommit=True)
            self._admin.execute("INSERT INTO helix_team.member VALUES (%s, 'ann', 'member')", (self._names[root],))
        return self._names[root]


def _parts() -> Iterator[type]:
    from helix_episodes.store import EpisodeStore
    from helix_graph.causality.api import Causality
    from helix_graph.episodes import Episodes
    from helix_graph.graph.api import Graph
    from helix_graph.insights.api import Insights
    from helix_graph.issues.api import Issues
    from helix_graph.memory import Memory
    from helix_graph.rules.api import Rules
    from helix_graph.search.api import Search
    from helix_graph.seed_api import SeedGraph
    from helix_graph.topics.api import Topics

    yield from (Causality, EpisodeStore, Episodes, Graph, Insights, Issues, Memory, Rules, Search, SeedGraph, Topics)


def _root_of(part: Any) -> Path | None:  # noqa: ANN401  (any of the parts)
    """The folder of the memory that a part belongs to; None of episodes that are kept elsewhere."""
    graph = getattr(part, "_graph", part)
    if isinstance(episodes := getattr(graph, "episodes", None), Path):
        found: Path | None = episodes if episodes.name == "episodes" else None
        return found and found.parent
    if hasattr(part, "database"):
        path: Path = part.database.path
        return path.parent if path.name == "helix.db" else None
    if hasattr(part, "folder"):
        return part.folder.parent if part.folder.name == "episodes" else None
    root: Path | None = getattr(part, "root", getattr(part, "_root", None))
    return root


def _mark_of(root: Path) -> list[tuple[str, int, int, int]]:
    """What changes with every write to what the server keeps; nothing where there is nothing."""
    found = []
    for path in (root / "helix.db", root / "helix.db-wal", *sorted((root / "episodes").glob("*.json"))):
        with suppress(OSError):
            about = path.stat(follow_symlinks=False)
            found.append((path.name, about.st_ino, about.st_size, about.st_mtime_ns))
    return found


def _files_of(root: Path) -> list[tuple[str, int, int, int, int]]:
    """What changes with every change of a file of a memory; SQLite makes and removes its side files when it reads."""
    found = []
    for path in sorted(root.rglob("*")):
        with suppress(OSError):
            about = path.stat(follow_symlinks=False)
            if path.is_file() and not path.name.endswith(("-wal", "-shm")):
                found.append((str(path), about.st_ino, about.st_size, about.st_mtime_ns, about.st_mode))
    return found


def _has_vectors(path: Path) -> bool:
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return bool(connection.execute("SELECT count(embedding) FROM insight").fetchone()[0])
    return False  # it is absent, has no insights yet, or a test has spoilt it
