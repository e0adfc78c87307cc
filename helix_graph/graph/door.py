"""Graph: the causal graph of one memory, and the questions to it.

Every question opens graph.db, asks and closes it again, so any number of processes may ask while one compiles. Nothing
heavy is imported for a question; `networkx` loads networkx, and only it.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, get_args

from msgspec.structs import replace

from helix_episodes.files import write_atomically
from helix_episodes.model import EdgeType
from helix_graph import database
from helix_graph.errors import DatabaseUnreadable, GraphNotCompiled, OneOfSeveral
from helix_graph.given import one_of, place, query, several, when, whole
from helix_graph.graph.neighbours import FileNeighbours
from helix_graph.graph.nodes import find_node, row_of
from helix_graph.graph.opening import opened
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.version import FILE_NAME

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import date
    from pathlib import Path
    from typing import Any

    import networkx as nx

    from helix_graph.graph.anchors import Anchor, Anchored, Example
    from helix_graph.graph.assertions import Assertion
    from helix_graph.graph.compile import CompileReport
    from helix_graph.graph.decided import Decided
    from helix_graph.graph.digests import Digests
    from helix_graph.graph.excerpt import Excerpt
    from helix_graph.graph.observations import PatternCounter
    from helix_graph.graph.paths import PathAnswer
    from helix_graph.graph.relations import RelationsAnswer
    from helix_graph.graph.seen import SeenAnswer
    from helix_graph.graph.status import Status

MOST_PRECEDENTS = 100
#: A browser draws so many, slowly; more nobody looks at, and other programs read the export.
MOST_NODES = 20_000
#: What may be asked for together.
_VIEWS: tuple[set[str], ...] = (set(), {"focus"}, {"source", "target"}, {"episode"})
#: More than ten paths between the same ends nobody compares.
MOST_ALTERNATIVES = 10


class PatternSource(Protocol):
    """Who counts patterns; `helix_graph.causality.door.Causality` does."""

    @abstractmethod
    def get_patterns(self, *, min_success_rate: float = 0.0, min_occurrences: int = 1) -> list[dict[str, Any]]:
        """What works."""

    @abstractmethod
    def get_anti_patterns(self, *, max_success_rate: float = 0.3) -> list[dict[str, Any]]:
        """What keeps failing."""


class Graph:
    """The causal graph in ``causality``, made from the episodes in ``episodes`` and the assertions beside it.

    ``patterns``, when given, makes the patterns that `compile` puts into the export, and ``counted`` answers
    `get_patterns` and `get_anti_patterns`: patterns are counted over episodes, not found in the graph.
    """

    def __init__(
        self,
        episodes: Path,
        causality: Path,
        *,
        patterns: PatternCounter | None = None,
        counted: Callable[[], PatternSource] | None = None,
    ) -> None:
        self.episodes = episodes
        self.causality = causality
        self._patterns = patterns
        self._counted = counted

    @property
    def path_of_file(self) -> Path:
        """graph.db."""
        return self.causality / FILE_NAME

    def compile(
        self,
        paths: Iterable[Path] = (),
        *,
        since: date | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int, Path], None] | None = None,
    ) -> CompileReport:
        """Brings the graph up to date with the episodes; see `helix_graph.graph.compile.compile_graph`.

        Raises:
            WrongType: An argument is none of its kind; so does every other function of this door.
            NotOurDatabase: Another program's file is where graph.db belongs.
            OutsideMemory: One of ``paths`` lies outside the episodes' folder.
            DatabaseBusy: Another process has been compiling for too long.
            WriteFailed: The export could not be written; graph.db is as before.
        """
        from helix_graph.graph.compile import compile_graph  # noqa: PLC0415  (questions do without)

        return compile_graph(
            self.episodes,
            self.causality,
            paths=[place("paths", path) for path in several("paths", paths)],
            since=when("since", since),
            dry_run=dry_run,
            progress=progress,
            patterns=self._patterns,
        )

    def digests(self) -> Digests:
        """What comparisons of sessions read of each episode; of all episodes the files, when there is no graph to ask.

        Raises:
            NotOurDatabase: Another program's file is where graph.db belongs.
        """
        from helix_graph.graph.digests import find_digests, nothing_kept  # noqa: PLC0415  (questions do without)

        version = self._patterns.version if self._patterns else "none"
        try:
            with self._open() as connection:
                return find_digests(connection, episodes=self.episodes, causality=self.causality, version=version)
        except (GraphNotCompiled, DatabaseUnreadable):  # derived: what it would say stands in the files
            return nothing_kept(self.episodes)

    def seen(self, text: str | None = None, *, limit: int = 5) -> SeenAnswer:
        """Whether an error was met before, and what fixed it; without ``text`` (a line or a whole output) the newest.

        Raises:
            EmptyQuery: There is nothing in the text.
            GraphNotCompiled: There is no graph yet.
            OutOfRange: ``limit`` is not between 1 and 100.
        """
        from helix_graph.graph.seen import find_seen  # noqa: PLC0415  (each question loads its own module)

        most = whole("limit", limit, lowest=1, highest=MOST_PRECEDENTS)
        wanted = None if text is None else query("the text", text)
        with self._open() as connection:
            return find_seen(connection, wanted, limit=most)

    def decided(self, words: Collection[str], *, limit: int) -> tuple[list[Decided], int]:
        """The earlier decisions most alike in these words, one a session, and how many sessions have one.

        Raises:
            GraphNotCompiled: There is no graph yet.
        """
        from helix_graph.graph.decided import find_decided  # noqa: PLC0415  (as above)

        with self._open() as connection:
            return find_decided(connection, words, limit=limit)

    def anchored(self, anchors: Iterable[Anchor]) -> dict[Anchor, Anchored]:
        """The nodes that anchors from outside of the graph lead to now; those that lead nowhere are left out.

        Raises:
            GraphNotCompiled: There is no graph yet.
        """
        from helix_graph.graph.anchors import find_anchored  # noqa: PLC0415  (few questions have anchors)

        with self._open() as connection:
            return find_anchored(connection, anchors)

    def examples(self, types: Iterable[str]) -> list[Example]:
        """The nodes of these types, each with an anchor that leads to it.

        Raises:
            GraphNotCompiled: There is no graph yet.
        """
        from helix_graph.graph.anchors import examples  # noqa: PLC0415  (as above)

        with self._open() as connection:
            return list(examples(connection, types))

    def path(
        self,
        *,
        source: str,
        target: str,
        max_depth: int = 5,
        follow: Collection[str] | None = None,
        strongest: bool = False,
        alternatives: int = 1,
    ) -> PathAnswer:
        """The shortest way from ``source`` to ``target``; see `helix_graph.graph.paths.find_path`.

        ``follow`` names the types of edges to go along; by default those that lead to something: causes and enables.
        ``strongest`` asks for the greatest product of weights instead, ``alternatives`` for so many different paths.

        Raises:
            GraphNotCompiled: There is no graph yet.
            EmptyQuery: One of the labels is empty.
            OutOfRange: ``max_depth`` or ``alternatives`` is not between 1 and 10.
        """
        from helix_graph.graph.paths import HIGHEST_DEPTH, LEADING, LOWEST_DEPTH, find_path  # noqa: PLC0415  (as above)

        ends = {"source": query("source", source), "target": query("target", target)}
        depth = whole("max_depth", max_depth, lowest=LOWEST_DEPTH, highest=HIGHEST_DEPTH)
        several_paths = whole("alternatives", alternatives, lowest=1, highest=MOST_ALTERNATIVES)
        types = [one_of("follow", each, get_args(EdgeType)) for each in several("follow", follow or LEADING)]
        with self._open() as connection:
            answer = find_path(
                FileNeighbours(connection),
                **ends,
                max_depth=depth,
                follow=types,
                strongest=strongest,
                alternatives=several_paths,
            )
            return replace(answer, path=tuple(find_node(connection, node.id) for node in answer.path))

    def causes(self, label: str) -> RelationsAnswer:
        """What leads straight to the nodes that match ``label``.

        Raises:
            GraphNotCompiled: There is no graph yet.
            EmptyQuery: The label is empty.
        """
        from helix_graph.graph.relations import find_relations  # noqa: PLC0415  (as above)

        wanted = query("the label", label)
        with self._open() as connection:
            return find_relations(FileNeighbours(connection), wanted, direction="causes")

    def effects(self, label: str) -> RelationsAnswer:
        """What the nodes that match ``label`` lead straight to.

        Raises:
            GraphNotCompiled: There is no graph yet.
            EmptyQuery: The label is empty.
        """
        from helix_graph.graph.relations import find_relations  # noqa: PLC0415  (as above)

        wanted = query("the label", label)
        with self._open() as connection:
            return find_relations(FileNeighbours(connection), wanted, direction="effects")

    def status(self) -> Status:
        """How large the graph is and how good its labels are.

        Raises:
            GraphNotCompiled: There is no graph yet.
        """
        from helix_graph.graph.sources import count_pending  # noqa: PLC0415  (as above)
        from helix_graph.graph.status import find_status  # noqa: PLC0415  (as above)

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
        max_nodes: int = 2000,
    ) -> Excerpt:
        """A part of the graph with its evidence, to be looked at; see `helix_graph.graph.choosing`.

        Around ``focus`` (part of a label), along the path from ``source`` to ``target``, or of one ``episode`` (its id
        or its session's); of everything the most frequent ``max_nodes`` (1 to 20000).

        Raises:
            GraphNotCompiled: There is no graph yet.
            OneOfSeveral: More than one of the three was asked for, or only one end of a path.
            EmptyQuery: A label is empty.
            LabelNotMet: Nothing has the label.
            EpisodeNotFound: The graph has no such episode.
            OutOfRange: ``max_nodes`` lies outside its range.
        """
        from helix_graph.graph.choosing import Wanted  # noqa: PLC0415  (as above)
        from helix_graph.graph.excerpt import find_excerpt  # noqa: PLC0415  (as above)

        texts = {"focus": focus, "source": source, "target": target, "episode": episode}
        given = {name: query(name, value) for name, value in texts.items() if value is not None}
        if set(given) not in _VIEWS:
            raise OneOfSeveral(("focus", "source with target", "episode"))
        most = whole("max_nodes", max_nodes, lowest=1, highest=MOST_NODES)
        with self._open() as connection:
            return find_excerpt(connection, Wanted(**given, max_nodes=most))

    def export(  # noqa: PLR0913  (the command's options)
        self,
        *,
        format: str = "json",  # noqa: A002  (the option's name)
        output: Path | None = None,
        focus: str | None = None,
        source: str | None = None,
        target: str | None = None,
        episode: str | None = None,
        max_nodes: int | None = None,
    ) -> bytes:
        """The graph for another program, as ``graphml``, ``dot``, ``mermaid`` or ``json``, in UTF-8; also in a file.

        ``json`` is the whole graph, as in causal-graph.json. The others take the options of `excerpt`, and hold every
        node (at most 20000) unless ``max_nodes`` says otherwise. See `helix_graph.graph.formats`.

        Raises:
            NotOneOf: ``format`` is none of the four.
            OneOfSeveral: As `excerpt`, which has the others; or a part of ``json`` was asked for.
            WriteFailed: ``output`` cannot be written.
        """
        from helix_graph.graph.formats import FORMATS, written  # noqa: PLC0415  (as above)

        wanted = one_of("format", format, ("json", *FORMATS))
        part = {"focus": focus, "source": source, "target": target, "episode": episode}
        if wanted != "json":
            most = MOST_NODES if max_nodes is None else max_nodes
            data = written(wanted, self.excerpt(**part, max_nodes=most))
        elif max_nodes is None and not any(value is not None for value in part.values()):
            data = self._canonical()
        else:
            raise OneOfSeveral(("format json, which is always whole", "a part of the graph"))
        if output is not None:
            write_atomically(place("output", output), data)
        return data

    def _canonical(self) -> bytes:
        from helix_graph.graph.export import export_bytes  # noqa: PLC0415  (as above)

        with self._open() as connection:
            return export_bytes(connection)

    def networkx(self) -> nx.MultiDiGraph[str]:
        """The whole graph as a networkx ``MultiDiGraph``; see `helix_graph.graph.fold.fold` for its attributes.

        Raises:
            GraphNotCompiled: There is no graph yet.
        """
        from helix_graph.graph.file import read_facts  # noqa: PLC0415  (as above)
        from helix_graph.graph.fold import fold  # noqa: PLC0415  (as above)

        with self._open() as connection:
            return fold(read_facts(connection))

    def add_causal_node(self, type: str, label: str, episode_id: str | None = None) -> dict[str, Any]:  # noqa: A002  (the original's word)
        """Adds a node, or counts it once more; ``Add-CausalNode`` of the original.

        Args:
            type: decision, event, outcome, pattern or error.
            label: Its text; a label that the graph has in another case is the same.
            episode_id: The episode that mentions it; the same node of the same episode counts once.

        Returns:
            ``id``, ``type``, ``label``, ``episodes``, ``frequency``, and ``success_rate``: of its episodes with a
            measured outcome the share that succeeded, None when there are none.

        Raises:
            EmptyText: The label is empty.
            NotOneOf: The type is none of the five.
            InvalidSessionId: The episode's id could not name a file.
            WriteFailed: The assertion could not be kept.
        """
        from helix_graph.graph.asserting import node_assertion  # noqa: PLC0415  (as above)
        from helix_graph.graph.facts import node_id  # noqa: PLC0415  (as above)

        with self._open_made() as connection:
            assertion = node_assertion(connection, type=type, label=label, episode=episode_id)
        self.keep(assertion)
        with self._open() as connection:
            return row_of(find_node(connection, node_id(assertion.type, assertion.label)))

    def add_causal_edge(self, source_id: str, target_id: str, type: str, weight: float = 0.5) -> dict[str, Any]:  # noqa: A002  (as above)
        """Adds an edge between two nodes, or one more piece of evidence for it; ``Add-CausalEdge`` of the original.

        Args:
            source_id: The id of a node, or its whole label.
            target_id: The same for where it leads.
            type: causes, enables, prevents or correlates.
            weight: How sure one is, 0 to 1.

        Returns:
            ``source``, ``target``, ``type``, ``weight`` (the mean over all evidence), ``evidence_count`` (episodes and
            assertions), ``reasons``, ``status``.

        Raises:
            NodeNotFound: One of the nodes does not exist.
            AmbiguousNode: A label belongs to several nodes.
            NotOneOf: The type is none of the four.
            OutOfRange: The weight is not between 0 and 1.
            SameNode: Both ends are one node.
            WriteFailed: The assertion could not be kept.
        """
        from helix_graph.graph.asserting import edge_assertion, edge_row  # noqa: PLC0415  (as above)

        with self._open_made() as connection:
            assertion = edge_assertion(connection, source=source_id, target=target_id, type=type, weight=weight)
        self.keep(assertion)
        with self._open() as connection:
            return edge_row(connection, assertion)

    def get_causal_path(self, from_label: str, to_label: str, max_depth: int = 5) -> dict[str, Any]:
        """The shortest path between two labels as the original gives it; `path` says more.

        Returns:
            ``found``, ``path`` (its nodes), and ``depth`` in edges when found, else ``error`` and ``hint``.

        Raises:
            GraphNotCompiled: There is no graph yet.
            EmptyQuery: One of the labels is empty.
            OutOfRange: ``max_depth`` is not between 1 and 10.
        """
        from helix_graph.graph.asserting import path_row  # noqa: PLC0415  (as above)

        return path_row(self.path(source=from_label, target=to_label, max_depth=max_depth))

    def add_pattern(
        self, name: str, trigger: str, action: str, description: str = "", success_rate: float | None = None
    ) -> dict[str, Any]:
        """Adds a pattern, or one more use of it; ``Add-Pattern`` of the original.

        Args:
            name: What it is called; the same name in any case is the same pattern.
            trigger: The situation.
            action: What to do in it.
            description: More about it. Of several, those of the first call are kept, as trigger and action are.
            success_rate: 0 to 1; the mean of those given counts. Without one the row says 1.0 and ``measured`` false.

        Returns:
            ``id``, ``name``, ``description``, ``trigger``, ``action``, ``success_rate``, ``occurrences``,
            ``last_used``, ``measured``.

        Raises:
            EmptyText: Name, trigger or action is empty.
            OutOfRange: The rate is not between 0 and 1.
            SameTriggerAndAction: The pattern would recommend its own trigger.
            WriteFailed: The assertion could not be kept.
        """
        from helix_graph.graph.asserted_patterns import pattern_named  # noqa: PLC0415  (as above)
        from helix_graph.graph.asserting import pattern_assertion  # noqa: PLC0415  (as above)

        assertion = pattern_assertion(
            name=name, trigger=trigger, action=action, description=description, success_rate=success_rate
        )
        self.keep(assertion)
        return pattern_named(self.causality, assertion.name)

    def get_patterns(self, min_success_rate: float = 0.0, min_occurrences: int = 1) -> list[dict[str, Any]]:
        """What works, as `Causality.get_patterns`; a Graph on its own, without episodes to count over, knows none.

        Raises:
            OutOfRange: An option lies outside its range.
        """
        if self._counted is None:
            return []
        return self._counted().get_patterns(min_success_rate=min_success_rate, min_occurrences=min_occurrences)

    def get_anti_patterns(self, max_success_rate: float = 0.3) -> list[dict[str, Any]]:
        """What keeps failing, as `Causality.get_anti_patterns`; otherwise as `get_patterns`.

        Raises:
            OutOfRange: The rate lies outside its range.
        """
        return self._counted().get_anti_patterns(max_success_rate=max_success_rate) if self._counted else []

    def get_reflexion_memory_status(self) -> dict[str, dict[str, Any]]:
        """``Get-ReflexionMemoryStatus`` of the original, key by key, even of an empty memory; `status` says more."""
        from helix_graph.graph.status import original_status  # noqa: PLC0415  (as above)

        if not self.path_of_file.exists():
            return original_status(None, episodes=self.episodes, causality=self.causality)
        with self._open() as connection:
            return original_status(connection, episodes=self.episodes, causality=self.causality)

    def keep(self, assertion: Assertion) -> str:
        """Keeps an assertion, takes it into the graph at once, and returns its name. The export waits for `compile`.

        Raises:
            WriteFailed: The file could not be written; nothing has changed.
            NotOurDatabase: Another program's file is where graph.db belongs; nothing has changed.
            DatabaseRefused: graph.db may not be written; nothing has changed.
            DatabaseBusy: Another process kept the graph locked. When it took the lock before this one began, nothing
                has changed; otherwise the file stands, and the next compile takes it in.
        """
        from helix_graph.graph.assertions import FOLDER, AssertionStore  # noqa: PLC0415  (as above)
        from helix_graph.graph.compile import compile_graph  # noqa: PLC0415  (as above)

        database.check_writable(self.path_of_file, GRAPH_FILE)  # what is refused is not kept either
        name = AssertionStore(self.causality / FOLDER).add(assertion)
        compile_graph(self.episodes, self.causality, patterns=self._patterns, assertions_only=True)
        return name

    @contextmanager
    def _open_made(self) -> Iterator[sqlite3.Connection]:
        """graph.db for somebody who adds to it: compiled first when there is none that can be read."""
        from helix_graph.graph.compile import compile_graph  # noqa: PLC0415  (as above)

        compile_graph(self.episodes, self.causality, patterns=self._patterns, assertions_only=True)
        with self._open() as connection:
            yield connection

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        """graph.db for one question; see `helix_graph.graph.opening.opened` for what may be wrong with it."""
        return opened(self.path_of_file)
