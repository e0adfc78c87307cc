"""Remove sessions, a project or a span of time from every file of the memory, and verify it.

The order matters: a tombstone that keeps the session from coming back, with the fingerprints to search for; its
episode and the quarantined files of it; the assertions that name it; its share in the graph and the export; the vector
cache; deleted rows that SQLite still stores. Then every file of the memory is searched, and only when nothing is found
are the fingerprints deleted. A process that is killed at any point leaves what the next run needs: every `forget` first
finishes the unverified ones. Files outside the memory are not touched: the agent's own logs, git history, backups.

The search covers file names and bytes, databases with their write-ahead logs and free pages, and the content of gzip,
bzip2, xz and zip files, nested ones too. What this Python cannot unpack (zstd, lz4, 7z, rar, encrypted or damaged
archives) is reported, never skipped silently. It looks for the session ids and for every text of the episodes by their
fingerprints (`helix_graph.tombstones`), so a search gives the same answer when the texts themselves are gone. A text
that another session contains as well is counted apart. Texts shorter than twelve characters are not searched:
``pytest`` is in every memory.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zipfile
import zlib
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from glob import escape
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec

from helix_episodes.errors import EpisodeNotFound, InvalidEpisode
from helix_episodes.io import TEMPORARY_SUFFIX, read_regular, remove_file
from helix_episodes.store import PREFIX, EpisodeStore, check_session_id, decode_episode
from helix_graph import database
from helix_graph.embedding.cache import CACHE_NAME, clear
from helix_graph.errors import NothingSelected, NotOurDatabase, NotUnpacked
from helix_graph.graph.connection import EXPORT_NAME, GRAPH_FILE
from helix_graph.helix_db import database_path
from helix_graph.plans.workspaces import forget_tasks
from helix_graph.project import HOOK_LOG, PAGES, PREPARED
from helix_graph.quarantine import quarantined_assertions, quarantined_of_session
from helix_graph.tombstones import Fingerprint, Searcher, Tombstones, Unproved, all_of, digest, fingerprints_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.graph.api import Graph
    from helix_graph.insights.api import Insights


_ZIP = b"PK\x03\x04"
_OPENERS: dict[bytes, Callable[[IO[bytes]], object]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_UNKNOWN = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\x1f\x9d": "compress",
}
_LONGEST_MARK = 6
#: An archive in an archive in an archive is still somebody's backup; deeper ones are made to hurt.
_DEEPEST = 3
#: So much is unpacked of one file: a gigabyte of zeros fits into a megabyte.
_MOST_BYTES = 1 << 30
#: What the modules of the standard library raise for archives that are damaged, encrypted or of an unknown method.
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, struct.error, lzma.LZMAError, zipfile.BadZipFile)


def contents(path: Path) -> Iterator[Content]:
    """The file as it is, then what is packed in it, each to be read before the next is asked for.

    Raises:
        NotUnpacked: A part of it cannot be read; what came before was all that can be.
        FileNotFoundError: It is gone.
    """
    with _reporting(), path.open("rb") as raw:
        yield Content(raw)
        raw.seek(0)
        yield from _inner(raw, depth=0, budget=_Budget())


class Content:
    """What is in a file or packed in it, from its start."""

    def __init__(self, stream: IO[bytes], *, budget: _Budget | None = None) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, size: int) -> bytes:
        """The next bytes, at most so many; none at the end.

        Raises:
            NotUnpacked: It is damaged, or there is too much of it.
        """
        with _reporting():
            data = self._stream.read(size)
        if self._budget:
            self._budget.spend(len(data))
        return data


class _Budget:
    """How much may still be unpacked of one file."""

    def __init__(self) -> None:
        self.left = _MOST_BYTES

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise NotUnpacked("it holds more than a gigabyte when unpacked")


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise NotUnpacked(str(error) or type(error).__name__) from error


def _inner(stream: IO[bytes], *, depth: int, budget: _Budget) -> Iterator[Content]:
    """What is packed in a stream that can be read again from its start."""
    mark = stream.read(_LONGEST_MARK)
    stream.seek(0)
    unknown = next((name for start, name in _UNKNOWN.items() if mark.startswith(start)), None)
    if unknown:
        raise NotUnpacked(f"it is compressed by {unknown}, which Python cannot unpack")
    packed = mark.startswith((_ZIP, *_OPENERS))
    if packed and depth == _DEEPEST:
        raise NotUnpacked(f"it is packed more than {_DEEPEST} times over")
    for inner in _unpacked(stream, mark) if packed else ():
        yield Content(inner, budget=budget)
        inner.seek(0)
        yield from _inner(inner, depth=depth + 1, budget=budget)


def _unpacked(stream: IO[bytes], mark: bytes) -> Iterator[IO[bytes]]:
    if mark.startswith(_ZIP):
        with zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                with archive.open(member) as inner:
                    yield inner
        return
    opener = next(opener for start, opener in _OPENERS.items() if mark.startswith(start))
    with cast("IO[bytes]", opener(stream)) as inner:
        yield inner


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A file that still holds something: in how many ways, and whether a session's id is among them."""

    file: str
    texts: int
    names_session: bool


class Unsearched(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be searched, or not all of it, and why."""

    file: str
    problem: str


class ErasureProof(msgspec.Struct, frozen=True, kw_only=True):
    """What was searched for, where, and what was found.

    ``texts`` were searched for in ``files`` of ``bytes``. ``left`` should be empty, and so should ``unsearched``.
    ``shared`` texts stand in kept sessions too. ``too_short`` ones were not searched for.
    """

    texts: int
    files: int
    bytes: int
    shared: int = 0
    too_short: int = 0
    left: tuple[Trace, ...] = ()
    unsearched: tuple[Unsearched, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether everything was searched and nothing found."""
        return not (self.left or self.unsearched)


def to_verify(session: str, texts: Iterable[str]) -> Unproved:
    """What has to be searched for after a session that said these texts is gone."""
    names = {session, PREFIX + session}
    said = set(texts) - names
    prints = fingerprints_of(said) | fingerprints_of(names, names=True)
    return Unproved(texts=tuple(sorted(prints)), too_short=sum(len(fingerprints_of([text])) == 0 for text in said))


def find_traces(
    root: Path, unproved: Unproved, *, sessions: Collection[str], graph: Path, outside: Iterable[Path] = ()
) -> ErasureProof:
    """Searches every file of the memory in ``root``, and those ``outside`` of it.

    ``sessions`` are the digests of the sessions that are to be gone, ``graph`` is the memory's graph.db.
    """
    search = _Search(root, Searcher(unproved.texts, bounded=_parts_of_kept_names(root, unproved.texts)))
    # Only another session may say the same in an episode's file; an assertion has it from this one.
    episode = (root / "episodes", ".json")
    derived = [path for path in root.rglob("*") if (path.parent, path.suffix) != episode and path.is_file()]
    found = search.all_of(sorted({*derived, *outside}))
    rows = _rows_in_graph(graph, sessions)
    # Sessions come last: one that is being recorded meanwhile is there before anything is derived from it.
    recorded = search.all_of(sorted(path for path in (root / "episodes").glob("*.json") if path.is_file()))
    shared = {one for hits in recorded.values() for one in hits if not one.names}
    found = dict(sorted({**found, **recorded}.items()))
    left = [_trace(root, path, hits - shared, rows if path == graph else 0) for path, hits in found.items()]
    size = 0
    for path in found:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return ErasureProof(
        texts=len(unproved.texts),
        files=len(found),
        bytes=size,
        shared=len(shared),
        too_short=unproved.too_short,
        left=tuple(trace for trace in left if trace.texts),
        unsearched=tuple(search.unsearched),
    )


def strings_of(value: Any) -> Iterator[str]:  # noqa: ANN401  (JSON)
    """Every text in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)


class _Search:
    """One search through the files of a memory; ``unsearched`` grows while it goes on."""

    def __init__(self, root: Path, searcher: Searcher) -> None:
        self.unsearched: list[Unsearched] = []
        self._root = root
        self._searcher = searcher

    def all_of(self, paths: Iterable[Path]) -> dict[Path, set[Fingerprint]]:
        """What stands in each of the files that are still there."""
        return {path: hits for path in paths if (hits := self.of(path)) is not None}

    def of(self, path: Path) -> set[Fingerprint] | None:
        """What stands in a file or its name; None when it is gone."""
        name = _name_in(self._root, path)
        found = self._searcher.search(name.encode("utf-8", "surrogateescape"))
        try:
            for stream in contents(path):
                found |= self._searcher.search_stream(stream)
        except FileNotFoundError:
            return None  # a temporary file of another process, which is done with it
        except NotUnpacked as error:
            self.unsearched.append(Unsearched(file=name, problem=str(error)))
        return found


def _name_in(root: Path, path: Path) -> str:
    """A file's name within the memory; its whole path when it stands elsewhere."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _parts_of_kept_names(root: Path, wanted: Collection[Fingerprint]) -> set[Fingerprint]:
    """Names with which a kept one begins: ``session-1`` stands in ``session-12`` as well."""
    searcher = Searcher(wanted)
    kept = (path.stem.encode("utf-8", "surrogateescape") for path in (root / "episodes").glob("*.json"))
    return {one for name in kept for one in searcher.search(name)}


def _trace(root: Path, path: Path, hits: set[Fingerprint], rows: int) -> Trace:
    names = bool(rows) or any(one.names for one in hits)
    return Trace(file=_name_in(root, path), texts=len(hits) + rows, names_session=names)


def _rows_in_graph(graph: Path, sessions: Collection[str]) -> int:
    """How many rows of the graph's tables are theirs, however short the id; a file not ours holds nothing of ours."""
    if not graph.exists() or database.ownership(graph, GRAPH_FILE) == "absent":
        return 0
    with database.reporting(graph), closing(database.open_for_reading(graph)) as connection:
        names = [name.removeprefix(PREFIX) for (name,) in connection.execute("SELECT id FROM episode")]
        names += [name for (name,) in connection.execute("SELECT session FROM episode")]
    return sum(digest(name) in sessions for name in names)


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
        try:
            at = _aware(datetime.fromisoformat(timestamp or ""))
        except ValueError:
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
    databases: Iterable[Insights],
    selection: Selection,
    *,
    dry_run: bool = False,
) -> ForgetReport:
    """Removes sessions from the memory in ``root`` and verifies that nothing of them remains.

    An empty selection takes up what earlier attempts have left unverified. Plans and insights in ``databases`` come
    first: while a session's episode is there, an attempt that was cut short can be made again.

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
    assertions = [path for folder in folders for path in _naming(sorted(folder.glob("*.json")), sessions)]
    if not dry_run and (sessions or waiting):
        for insights in databases:
            forget_tasks(root, sessions, path=insights.path)
            insights.forget_sessions(sessions)
        _remove(root, store, sessions, assertions)
        for page in sorted((root / PAGES).rglob("*")):  # they quote sessions, and are made again on request
            if not page.is_dir() or page.is_symlink():
                remove_file(page)
        if graph.path_of_file.exists() or (graph.causality / EXPORT_NAME).exists():
            graph.compile()
            database.erase_traces(graph.path_of_file, GRAPH_FILE)
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
    path = database_path(root)  # ``HELIX_DB_PATH`` may name one outside the memory
    files = [path, *(path.with_name(path.name + side) for side in database.SIDE_FILES)]
    outside = [] if path.is_relative_to(root) else [one for one in files if one.is_file()]
    wanted = all_of(waiting.values())
    proof = find_traces(root, wanted, sessions=digests, graph=graph.path_of_file, outside=outside)
    if proof.whole:
        tombstones.settle(waiting)
    return proof


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


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
