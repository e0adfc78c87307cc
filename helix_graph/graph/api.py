"""The API of `memory.graph`: compile the causal graph and ask it questions.

Every question opens graph.db, reads and closes it, so any number of processes may ask while one compiles. Each
question imports only its own module; only `networkx` imports networkx.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from msgspec import convert
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.model import EdgeType, sortable_time
from helix_episodes.safe_files import write_output
from helix_graph import database
from helix_graph.errors import NO_WORDS, DatabaseUnreadable, GraphNotCompiled
from helix_graph.graph.adjacency import Adjacency
from helix_graph.graph.graph_db import FILE_NAME, GRAPH_FILE, open_graph
from helix_graph.graph.model import find_node
from helix_graph.validation import as_choice, as_datetime, as_int, as_path, as_str, as_tuple, as_workers

if TYPE_CHECKING:
    import sqlite3
    from datetime import date

    import networkx as nx

    from helix_graph.graph.anchors import AnchoredNode, NodeAnchor, NodeExample
    from helix_graph.graph.assertions import Assertion
    from helix_graph.graph.compile import CompileReport
    from helix_graph.graph.export import ExportedTables
    from helix_graph.graph.label_search import LabelsAnswer
    from helix_graph.graph.mentions import Resolution
    from helix_graph.graph.path_answer import PathAnswer
    from helix_graph.graph.relations import RelationsAnswer
    from helix_graph.graph.seen_answer import SeenAnswer
    from helix_graph.graph.similar_decisions import SimilarDecision
    from helix_graph.graph.source_files import Digests
    from helix_graph.graph.status import Status
    from helix_graph.graph.subgraph import Excerpt


MOST_PRECEDENTS = 100
#: More than a person looks through; `export` has all.
MOST_LABELS = 1000
#: About the most a browser can draw; use `export` for larger graphs.
MOST_NODES = 20_000
#: What may be asked for together.
_VIEWS: tuple[set[str], ...] = (set(), {"focus"}, {"source", "target"}, {"episode"})
#: `helix_graph.graph.mentions.Resolution`.
RESOLUTIONS: tuple[Resolution, ...] = ("kind", "place", "thing")
#: A person does not compare more than ten paths.
MOST_ALTERNATIVES = 10


class Graph:
    """The causal graph in ``causality``, made from the episodes in ``episodes`` and the assertions next to it."""

    def __init__(self, episodes: Path, causality: Path) -> None:
        self.episodes = episodes
        self.causality = causality

    @property
    def path_of_file(self) -> Path:
        """graph.db."""
        return self.causality / FILE_NAME

    def keep(self, assertion: Assertion) -> str:
        """Saves an assertion, takes it into the graph at once, and returns its name.

        Raises:
            NotOurDatabase: Another program's file is where graph.db belongs; nothing has changed.
            DatabaseRefused: graph.db may not be written; nothing has changed.
            DatabaseBusy: Another process had the graph locked. When it took the lock before this one began, nothing
                has changed; otherwise the file remains, and the next compile takes it in.
        """
        from helix_graph.graph.assertions import FOLDER, AssertionStore
        from helix_graph.graph.compile import compile_graph

        database.check_writable(self.path_of_file, GRAPH_FILE)  # what is refused is not saved either
        name = AssertionStore(self.causality / FOLDER).add(assertion)
        compile_graph(self.episodes, self.causality, assertions_only=True)
        return name

    @contextmanager
    def _open_made(self) -> Iterator[sqlite3.Connection]:
        """graph.db, compiled first if missing or unreadable; for callers that add to it."""
        from helix_graph.graph.compile import compile_graph

        compile_graph(self.episodes, self.causality, assertions_only=True)
        with self._open() as connection:
            yield connection

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        """graph.db for one question."""
        return open_graph(self.path_of_file)

    def compile(
        self,
        paths: Iterable[Path] = (),
        *,
        since: date | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int, Path], None] | None = None,
        export: bool = False,
        workers: int | None = 1,
    ) -> CompileReport:
        """Brings the graph up to date with the episodes; see `helix_graph.graph.compile.compile_graph`.

        With ``export`` it also writes causal-graph.json, the whole graph in the original schema. The next compile that
        changes the graph removes that file. ``workers`` is how many processes may read the files where there are many,
        None one for each core: then a script of yours needs ``if __name__ == "__main__":``.

        Raises:
            GraphError: One of ``paths`` lies outside the episodes' folder.
        """
        from helix_graph.graph.compile import compile_graph

        return compile_graph(
            self.episodes,
            self.causality,
            paths=[as_path("paths", path) for path in as_tuple("paths", paths)],
            since=as_datetime("since", since),
            dry_run=dry_run,
            progress=progress,
            export=export,
            workers=as_workers(workers),
        )

    def digests(self) -> Digests:
        """What comparisons of sessions read of each episode; of all episodes' files, when there is no graph to ask."""
        from helix_graph.graph.source_files import find_digests, nothing_kept

        try:
            with self._open() as connection:
                return find_digests(connection, episodes=self.episodes, causality=self.causality)
        except (GraphNotCompiled, DatabaseUnreadable):  # derived: what it would say is in the files
            return nothing_kept(self.episodes)

    def seen(self, text: str | None = None, *, limit: int = 5, before: date | str | None = None) -> SeenAnswer:
        """Whether an error was met before, and what fixed it; without ``text`` (a line or a whole output) the newest.

        With ``before`` the memory answers as it could have then: later sessions, and what was done later, count not.

        Raises:
            InvalidArgument: There is nothing in the text. ``limit`` is not between 1 and 100. ``before`` is no time.
        """
        from helix_graph.graph.error_precedents import find_precedents, shared_numbers
        from helix_graph.graph.past_remedies import Past
        from helix_graph.graph.recent_work import WorkingTree
        from helix_graph.graph.seen_answer import SeenAnswer
        from helix_graph.shared_authors import authors_of

        most = as_int("limit", limit, lowest=1, highest=MOST_PRECEDENTS)
        wanted = None if text is None else as_str("the text", text)
        by = as_datetime("before", before)
        with self._open() as connection:
            tree = WorkingTree(self.episodes.parent.parent, connection)
            shared = shared_numbers(connection, self.episodes.parent)
            past = Past(connection, sortable_time(by.isoformat() if by else None), shared)
            found = find_precedents(past, wanted, limit=most, tree=tree)
            answer = convert(found, SeenAnswer)
        authors = authors_of(self.episodes.parent, (one.episode for one in answer.precedents))
        marked = tuple(
            replace(one, shared=one.episode in authors, author=authors.get(one.episode, ""))
            for one in answer.precedents
        )
        return replace(answer, precedents=marked)

    def decided(self, words: Collection[str], *, limit: int) -> tuple[list[SimilarDecision], int]:
        """The earlier decisions most similar to these words, one per session, and how many sessions have one."""
        from helix_graph.graph.similar_decisions import find_similar_decisions

        with self._open() as connection:
            return find_similar_decisions(connection, words, limit=limit)

    def anchored(self, anchors: Iterable[NodeAnchor]) -> dict[NodeAnchor, AnchoredNode]:
        """The current node of each anchor stored outside the graph; anchors without a node are left out."""
        from helix_graph.graph.anchors import find_anchored

        with self._open() as connection:
            return find_anchored(connection, anchors)

    def examples(self, types: Iterable[str]) -> list[NodeExample]:
        """The nodes of these types, each with an anchor that leads to it."""
        from helix_graph.graph.anchors import examples

        with self._open() as connection:
            return list(examples(connection, types))

    def path(  # noqa: PLR0913  (the options of the question)
        self,
        *,
        source: str,
        target: str,
        max_depth: int = 5,
        follow: Collection[str] | None = None,
        strongest: bool = False,
        alternatives: int = 1,
        resolution: str | None = None,
    ) -> PathAnswer:
        """How ``source`` leads to ``target``, by the fewest edges; see `helix_graph.graph.paths.find_path`.

        ``follow`` names the types of edges to go along; by default those that lead to something: causes and enables.
        ``strongest`` asks for the path whose weakest edge is the firmest instead, ``alternatives`` for so many
        different paths, ``resolution`` (kind, place or thing) for one as fine as that; without it the finest is given.

        Raises:
            InvalidArgument: One of the labels is empty. ``max_depth`` or ``alternatives`` is not between 1 and 10. The
                resolution is none of the three.
        """
        from helix_graph.graph.paths import HIGHEST_DEPTH, LEADING, LOWEST_DEPTH, find_path, path_by_words

        ends = {"source": as_str("source", source), "target": as_str("target", target)}
        depth = as_int("max_depth", max_depth, lowest=LOWEST_DEPTH, highest=HIGHEST_DEPTH)
        several_paths = as_int("alternatives", alternatives, lowest=1, highest=MOST_ALTERNATIVES)
        finest = _as_resolution(resolution)
        types = [as_choice("follow", each, get_args(EdgeType)) for each in as_tuple("follow", follow or LEADING)]
        with self._open() as connection:
            graph = Adjacency(connection)
            ask = partial(
                find_path,
                graph,
                max_depth=depth,
                follow=types,
                strongest=strongest,
                alternatives=several_paths,
                resolution=finest,
            )
            answer = path_by_words(graph, ask, **ends)
            return replace(answer, path=tuple(find_node(connection, node.id) for node in answer.path))

    def causes(self, label: str, *, resolution: str | None = None) -> RelationsAnswer:
        """What leads straight to what ``label`` stands for: a label, file, test, rule, symbol or command.

        Raises:
            InvalidArgument: The label is empty. The resolution is none of kind, place and thing.
        """
        return self._relations(label, "causes", resolution)

    def effects(self, label: str, *, resolution: str | None = None) -> RelationsAnswer:
        """What that for which ``label`` stands leads straight to.

        Raises:
            InvalidArgument: The label is empty. The resolution is none of kind, place and thing.
        """
        return self._relations(label, "effects", resolution)

    def _relations(
        self, label: str, direction: Literal["causes", "effects"], resolution: str | None
    ) -> RelationsAnswer:
        from helix_graph.graph.relations import find_relations, relations_by_words

        wanted = as_str("the label", label)
        finest = _as_resolution(resolution)
        with self._open() as connection:
            graph = Adjacency(connection)
            ask = partial(find_relations, graph, direction=direction, resolution=finest)
            return relations_by_words(graph, ask, wanted)

    def labels(self, text: str | None = None, *, limit: int = 20) -> LabelsAnswer:
        """What some words may stand for, the best first; without ``text`` the labels that most sessions share.

        Raises:
            InvalidArgument: There is nothing in the text. ``limit`` is not between 1 and 1000.
        """
        from helix_graph.graph.label_search import frequent_labels, search_labels

        most = as_int("limit", limit, lowest=1, highest=MOST_LABELS)
        words = None if text is None else as_str("text", text).strip()
        if words == "":
            raise InvalidArgument("text", NO_WORDS)
        with self._open() as connection:
            if words is None:
                return frequent_labels(connection, limit=most)
            return search_labels(connection, words, limit=most)

    def status(self) -> Status:
        """How large the graph is and how good its labels are."""
        from helix_graph.graph.source_files import count_pending
        from helix_graph.graph.status import find_status

        with self._open() as connection:
            pending = count_pending(connection, self.episodes)
            return find_status(connection, episodes=self.episodes, causality=self.causality, pending=pending)

    def excerpt(
        self,
        *,
        focus: str | None = None,
        source: str | None = None,
        target: str | None = None,
        episode: str | None = None,
        max_nodes: int | None = 2000,
    ) -> Excerpt:
        """A part of the graph with its evidence, to be looked at; see `helix_graph.graph.subgraph`.

        Around ``focus`` (part of a label), along the path from ``source`` to ``target``, or of one ``episode`` (its id
        or its session's); of everything the most frequent ``max_nodes`` (1 to 20000; None for all).

        Raises:
            InvalidArgument: More than one of the three was asked for, or only one end of a path. A label is empty.
                ``max_nodes`` lies outside its range.
        """
        from helix_graph.graph.subgraph import find_excerpt

        texts = {"focus": focus, "source": source, "target": target, "episode": episode}
        parts = {name: as_str(name, value) for name, value in texts.items() if value is not None}
        if episode is not None:
            from helix_episodes.store import EpisodeStore

            parts["episode"] = EpisodeStore(self.episodes).resolve(parts["episode"])
        if set(parts) not in _VIEWS:
            raise InvalidArgument(None, "give only one of these: focus, or source with target, or episode")
        most = sys.maxsize if max_nodes is None else as_int("max_nodes", max_nodes, lowest=1, highest=MOST_NODES)
        with self._open() as connection:
            return find_excerpt(connection, **parts, max_nodes=most)

    def export(
        self,
        *,
        format: str = "json",  # noqa: A002  (the option's name)
        output: Path | None = None,
        max_nodes: int | None = None,
        **part: str | None,
    ) -> bytes:
        """The graph for another program, as ``graphml``, ``dot``, ``mermaid`` or ``json``, in UTF-8; also in a file.

        ``json`` is the whole graph, as in causal-graph.json. The others take the options of `excerpt`, and hold every
        node unless ``max_nodes`` says otherwise. See `helix_graph.graph.export`.

        Raises:
            InvalidArgument: ``format`` is none of the four. As `excerpt`, which has the others; or a part of ``json``
                was asked for.
            DatabaseUnreadable: ``json`` was asked for, and a row is damaged; ``doctor`` with ``fix`` builds it anew.
        """
        from helix_graph.graph.export import FORMATS, export_bytes
        from helix_graph.graph.row_checksums import find_damage

        wanted = as_choice("format", format, ("json", *FORMATS))
        if wanted != "json":
            data = FORMATS[wanted](self.excerpt(**part, max_nodes=max_nodes))
        elif max_nodes is None and not any(value is not None for value in part.values()):
            with self._open() as connection:
                # The file replaces what a compile would have built anew: a damaged row may not get into it unnoticed.
                if problem := find_damage(connection, version=GRAPH_FILE.version):
                    raise DatabaseUnreadable(path=self.path_of_file, problem=problem)
                data = export_bytes(connection)
        else:
            raise InvalidArgument(
                None, "give only one of these: format json, which is always whole, or a part of the graph"
            )
        if output is not None:
            write_output(as_path("output", output), data)
        return data

    def export_tables(self, *, format: str, output: Path) -> ExportedTables:  # noqa: A002  (as in `export`)
        """Writes the whole graph as tables into a new or empty folder.

        ``neo4j`` gives ``nodes.csv`` and ``relationships.csv`` for neo4j-admin import, ``parquet`` gives
        ``nodes.parquet`` and ``edges.parquet``. See `helix_graph.graph.export`.

        Raises:
            FolderInUse: There is a file, or a folder that is not empty.
            MissingExtra: Parquet was asked for without pyarrow.
        """
        from helix_graph.graph.export import TABLE_FORMATS, export_tables

        wanted = as_choice("format", format, tuple(TABLE_FORMATS))
        with self._open() as connection:
            return export_tables(connection, form=wanted, folder=as_path("output", output))

    def networkx(self, *, details: bool = False) -> nx.MultiDiGraph[str]:
        """The whole graph as a networkx ``MultiDiGraph``, which every writer of networkx can write.

        Attributes are texts and numbers only. Of a node (its key is the node's id): ``type``, ``label``, ``frequency``
        (mentions), ``episodes`` (in how many sessions), and where an outcome is known ``success_rate`` (0 to 1). Of an
        edge (its key is its type): ``type``, ``weight``, ``evidence_count``, ``reasons`` (with commas) and ``status``.
        The graph has ``version`` and ``label_version``. With ``details`` there are also the sessions and texts behind
        nodes and edges, which most formats cannot hold: see `helix_graph.graph.networkx_graph.fold`.
        """
        from helix_graph.graph.networkx_graph import fold, read_facts, writable

        with self._open() as connection:
            graph = fold(read_facts(connection))
        return graph if details else writable(graph)


def _as_resolution(value: str | None) -> Resolution | None:
    """A resolution that was asked for."""
    if value is None:
        return None
    resolution: Resolution = as_choice("resolution", value, RESOLUTIONS)
    return resolution
