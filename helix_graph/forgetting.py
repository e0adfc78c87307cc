"""forget: sessions, a project or a span of time are gone from every file of the memory, and that is proved.

In this order, so that a process killed at any point can simply be run again: a tombstone that keeps the session from
coming back, its episode, the assertions that name it, then its share in the graph, the export, and at last what SQLite
keeps of deleted rows. The proof reads every file of the memory again, whoever wrote it, and looks for what the episodes
said: `helix_graph.traces`.

What lies outside of the memory is not touched: the agent's own logs, git's history of a shared memory, backups.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import EpisodeNotFound, InvalidEpisode
from helix_episodes.files import TEMPORARY_SUFFIX, remove_file
from helix_episodes.store import PREFIX, EpisodeStore, check_session_id, decode_episode
from helix_graph import database
from helix_graph.errors import NothingSelected
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.version import EXPORT_NAME
from helix_graph.tombstones import Tombstones
from helix_graph.traces import Proof, find_traces, strings_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.graph.door import Graph

ASSERTIONS = "assertions"


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be forgotten: these sessions, and those that meet every one of the other conditions given.

    ``project`` is compared whole, in any case. The span holds ``since`` and what comes after it, but not ``until``;
    times without a zone are UTC. A session without a time lies in no span.
    """

    sessions: tuple[str, ...] = ()
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def by_condition(self) -> bool:
        """Whether there is any condition besides names."""
        return bool(self.project or self.since or self.until)

    def takes(self, episode: Episode) -> bool:
        """Whether an episode meets the conditions."""
        if self.project is not None and (episode.project or "").casefold() != self.project.casefold():
            return False
        return self._in_span(episode.timestamp) if self.since or self.until else True

    def _in_span(self, timestamp: str | None) -> bool:
        at = _instant(timestamp)
        if at is None:
            return False
        return (self.since is None or at >= _aware(self.since)) and (self.until is None or at < _aware(self.until))


class ForgetReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was forgotten, or would be. ``undecided`` are files whose project and time cannot be read."""

    sessions: tuple[str, ...]
    assertions: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    proof: Proof | None = None
    dry_run: bool = False


def forget(root: Path, graph: Graph, selection: Selection, *, dry_run: bool = False) -> ForgetReport:
    """Removes sessions from the memory in ``root`` and proves that nothing of them remains.

    Raises:
        NothingSelected: The selection is empty.
        EpisodeNotFound: A session is named that is neither recorded nor forgotten.
        InvalidSessionId: An id that cannot be a session's.
        WriteFailed: A file cannot be written or deleted.
        NotOurDatabase: Another program's file is where graph.db belongs.
    """
    if not selection.sessions and not selection.by_condition:
        raise NothingSelected
    store, undecided = EpisodeStore(graph.episodes), list[str]()
    sessions = sorted({*_named(selection, store, Tombstones(root)), *_found(selection, store, undecided)})
    assertions = list(_assertions_naming(graph.causality / ASSERTIONS, sessions))
    if dry_run or not sessions:
        return _report(sessions, assertions, undecided, dry_run=dry_run)
    said = {text for session in sessions for text in _texts(store.path_of(session))}
    said.update(text for path in assertions for text in _texts(path))
    _remove(root, store, sessions, assertions)
    _remove_from_graph(graph)
    proof = find_traces(root, sessions=sessions, texts=said, graph=graph.path_of_file)
    return _report(sessions, assertions, undecided, proof=proof)


def _report(
    sessions: list[str],
    assertions: list[Path],
    undecided: list[str],
    *,
    proof: Proof | None = None,
    dry_run: bool = False,
) -> ForgetReport:
    return ForgetReport(
        sessions=tuple(sessions),
        assertions=tuple(path.name for path in assertions),
        undecided=tuple(undecided),
        proof=proof,
        dry_run=dry_run,
    )


def _named(selection: Selection, store: EpisodeStore, tombstones: Tombstones) -> Iterator[str]:
    """The sessions named, as they are recorded; one that is forgotten already may have been left half way."""
    for name in selection.sessions:
        forms = list(dict.fromkeys((name, name.removeprefix(PREFIX))))
        known = [form for form in forms if store.path_of(form).exists() or tombstones.holds(form)]
        if not known:
            raise EpisodeNotFound(name)
        yield known[0]


def _found(selection: Selection, store: EpisodeStore, undecided: list[str]) -> Iterator[str]:
    if not selection.by_condition:
        return
    for path, episode in store.scan():
        if isinstance(episode, InvalidEpisode):
            undecided.append(path.name)
        elif selection.takes(episode):
            yield check_session_id(episode.session)


def _remove(root: Path, store: EpisodeStore, sessions: Iterable[str], assertions: Iterable[Path]) -> None:
    tombstones = Tombstones(root)
    for session in sessions:
        path = store.path_of(session)
        tombstones.bury(session, _step_ids(path))
        for leftover in path.parent.glob(f".{path.name}.*{TEMPORARY_SUFFIX}"):
            remove_file(leftover)
        remove_file(path)
    for path in assertions:
        remove_file(path)


def _step_ids(path: Path) -> set[str]:
    """The ids of steps that an episode is known to hold: by these a copy in a later log is recognised."""
    if not path.exists():
        return set()
    try:
        episode = decode_episode(path.read_bytes(), path=path)
    except InvalidEpisode:
        return set()
    evidence = [*(one.evidence for one in episode.decisions), *(one.evidence for one in episode.events)]
    ends = (episode.provenance.first, episode.provenance.last) if episode.provenance else ()
    return {name for name in (*ends, *(one.id for one in evidence if one)) if name}


def _remove_from_graph(graph: Graph) -> None:
    """Takes the shares out of graph.db and the export, where there are any."""
    if graph.path_of_file.exists() or (graph.causality / EXPORT_NAME).exists():
        graph.compile()
        database.erase_traces(graph.path_of_file, GRAPH_FILE)


def _assertions_naming(folder: Path, sessions: Iterable[str]) -> Iterator[Path]:
    """Assertions that rest on one of these sessions, whatever else is in them."""
    ids = set(sessions) | {PREFIX + session for session in sessions}
    for path in sorted(folder.glob("*.json")):
        if any(text in ids or text.partition("#")[0] in ids for text in _texts(path)):
            yield path


def _texts(path: Path) -> set[str]:
    """Every text in a JSON file; nothing of one that cannot be read."""
    try:
        return set(strings_of(msgspec.json.decode(path.read_bytes())))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return set()


def _instant(timestamp: str | None) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(timestamp or ""))
    except ValueError:
        return None


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
