"""Remove sessions, a project or a span of time from every file of the memory, and verify it.

The order matters: a tombstone that keeps the session from coming back, with the fingerprints to search for; its
episode and the quarantined files of it; the assertions that name it; its share in the graph and the export; the vector
cache; deleted rows that SQLite still stores. Then every file of the memory is searched (`helix_graph.erasure_check`),
and only when nothing is found are the fingerprints deleted.

A process that is killed at any point leaves what the next run needs: every `forget` first finishes the unverified
ones. Files outside the memory are not touched: the agent's own logs, git history, backups.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from glob import escape
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import EpisodeNotFound, InvalidEpisode
from helix_episodes.io import TEMPORARY_SUFFIX, read_regular, remove_file
from helix_episodes.store import PREFIX, EpisodeStore, check_session_id, decode_episode
from helix_graph import database
from helix_graph.embedding.cache import CACHE_NAME, clear
from helix_graph.erasure_check import ErasureProof, find_traces, strings_of, to_verify
from helix_graph.errors import NothingSelected, NotOurDatabase
from helix_graph.graph.connection import EXPORT_NAME, GRAPH_FILE
from helix_graph.helix_db import database_path
from helix_graph.project import HOOK_LOG, PAGES, PREPARED
from helix_graph.quarantine import quarantined_assertions, quarantined_of_session
from helix_graph.tombstones import Tombstones, all_of, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.graph.api import Graph


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
    """What was forgotten, or would be.

    ``undecided`` are files whose project and time cannot be read. ``taken_up`` counts sessions that an earlier attempt
    had removed without a proof: this one's ``proof`` holds for them too.
    """

    sessions: tuple[str, ...]
    assertions: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    taken_up: int = 0
    proof: ErasureProof | None = None
    dry_run: bool = False


def forget(
    root: Path,
    graph: Graph,
    selection: Selection,
    *,
    dry_run: bool = False,
    rooms: Iterable[Callable[[Sequence[str]], object]] = (),
) -> ForgetReport:
    """Removes sessions from the memory in ``root`` and proves that nothing of them remains.

    An empty selection takes up what earlier attempts have left unproved. ``rooms`` remove what else is told of the
    sessions, and come first: while a session's episode is there, an attempt that was cut short can be made again.

    Raises:
        NothingSelected: The selection is empty, and nothing is unproved.
        EpisodeNotFound: A session is named that is neither recorded nor forgotten.
        InvalidSessionId: An id that cannot be a session's.
        WriteFailed: A file cannot be written or deleted.
        NotOurDatabase: Another program's file is where graph.db belongs.
    """
    store, tombstones, undecided = EpisodeStore(graph.episodes), Tombstones(root), list[str]()
    waiting = tombstones.unproved().keys()
    if not (selection.sessions or selection.by_condition or waiting):
        raise NothingSelected
    begun = {name for path in store.files() if digest(name := _session_of(path)) in waiting}
    chosen = {*_named(selection, root, store, tombstones), *_found(selection, store, undecided)}
    sessions = sorted(chosen | begun)
    folders = (graph.causality / ASSERTIONS, quarantined_assertions(root))
    assertions = [path for folder in folders for path in _assertions_naming(folder, sessions)]
    if not dry_run and (sessions or waiting):
        for remove_from_room in rooms:
            remove_from_room(sessions)
        _remove(root, store, sessions, assertions)
        _remove_pages(root)
        _remove_from_graph(graph)
        with suppress(NotOurDatabase):  # the proof says whether it holds anything
            clear(root / CACHE_NAME)
            for derived in (PREPARED, HOOK_LOG):
                remove_file(root / derived)
    return ForgetReport(
        sessions=tuple(sessions),
        assertions=tuple(path.name for path in assertions),
        undecided=tuple(undecided),
        taken_up=len(waiting - {digest(session) for session in sessions}),
        proof=None if dry_run else _prove(root, graph, sessions),
        dry_run=dry_run,
    )


def _prove(root: Path, graph: Graph, sessions: Iterable[str]) -> ErasureProof | None:
    """Searches for all that is unproved, of these sessions and of earlier ones; a whole proof settles it."""
    tombstones = Tombstones(root)
    waiting = tombstones.unproved()
    if not waiting:
        return None
    digests = waiting.keys() | {digest(session) for session in sessions}
    proof = find_traces(
        root, all_of(waiting.values()), sessions=digests, graph=graph.path_of_file, outside=_databases_outside(root)
    )
    if proof.whole:
        tombstones.settle(waiting)
    return proof


def _databases_outside(root: Path) -> list[Path]:
    """The database that ``HELIX_DB_PATH`` names, with its log; within the memory it is searched anyway."""
    path = database_path(root)
    beside = [path, *(path.with_name(path.name + side) for side in database.SIDE_FILES)]
    return [] if path.is_relative_to(root) else [one for one in beside if one.is_file()]


def _named(selection: Selection, root: Path, store: EpisodeStore, tombstones: Tombstones) -> Iterator[str]:
    """The sessions named, as they are recorded; one that is forgotten already may have been left half way."""
    for name in selection.sessions:
        forms = list(dict.fromkeys((name, check_session_id(name).removeprefix(PREFIX))))
        known = [
            form
            for form in forms
            if store.path_of(form).exists() or tombstones.holds(form) or quarantined_of_session(root, form)
        ]
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
            yield _session_of(path)


def _session_of(path: Path) -> str:
    """The session of an episode's file, by its name: what stands in it may differ."""
    return path.stem.removeprefix(PREFIX)


def _remove(root: Path, store: EpisodeStore, sessions: Iterable[str], assertions: Iterable[Path]) -> None:
    """Buries all of them before anything is removed, so that no kill can lose what is to be searched for."""
    tombstones = Tombstones(root)
    paths = {session: [store.path_of(session), *quarantined_of_session(root, session)] for session in sessions}
    for session, files in paths.items():
        said = {text for path in (*files, *_naming(assertions, [session])) for text in _texts(path)}
        steps = {step for path in files for step in _step_ids(path)}
        tombstones.bury(session, steps=steps, unproved=to_verify(session, said))
    for path in (*(path for files in paths.values() for path in files), *assertions):
        for leftover in path.parent.glob(f".{escape(path.name)}.*{TEMPORARY_SUFFIX}"):
            remove_file(leftover)
        remove_file(path)


def _step_ids(path: Path) -> set[str]:
    """The ids of steps that an episode is known to hold: by these a copy in a later log is recognised."""
    if not path.exists():
        return set()
    try:
        episode = decode_episode(read_regular(path), path=path)
    except (OSError, InvalidEpisode):
        return set()
    evidence = [*(one.evidence for one in episode.decisions), *(one.evidence for one in episode.events)]
    ends = (episode.provenance.first, episode.provenance.last) if episode.provenance else ()
    return {name for name in (*ends, *(one.id for one in evidence if one)) if name}


def _remove_pages(root: Path) -> None:
    """Deletes the pages made of the memory: they quote its sessions, and `view` and `report` make them anew."""
    for page in sorted((root / PAGES).rglob("*")):
        if not page.is_dir() or page.is_symlink():
            remove_file(page)


def _remove_from_graph(graph: Graph) -> None:
    """Takes the shares out of graph.db and the export, where there are any."""
    if graph.path_of_file.exists() or (graph.causality / EXPORT_NAME).exists():
        graph.compile()
        database.erase_traces(graph.path_of_file, GRAPH_FILE)


def _assertions_naming(folder: Path, sessions: Iterable[str]) -> Iterator[Path]:
    """Assertions that rest on one of these sessions, whatever else is in them."""
    yield from _naming(sorted(folder.glob("*.json")), sessions)


def _naming(paths: Iterable[Path], sessions: Iterable[str]) -> Iterator[Path]:
    ids = set(sessions) | {PREFIX + session for session in sessions}
    for path in paths:
        if any(text in ids or text.partition("#")[0] in ids for text in _texts(path)):
            yield path


def _texts(path: Path) -> set[str]:
    """Every text in a JSON file; nothing of one that cannot be read."""
    try:
        return set(strings_of(msgspec.json.decode(read_regular(path))))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return set()


def _instant(timestamp: str | None) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(timestamp or ""))
    except ValueError:
        return None


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
