"""Remove sessions, a project or a span of time from every file of the memory, and verify it.

The order matters: a tombstone that keeps the session from coming back, with the fingerprints to search for; its
episode and the quarantined files of it; the assertions that name it; its share in the graph and the export; the vector
cache; deleted rows that SQLite still stores. Then every file of the memory is searched, the session is taken out of
the shards that the memory was packed to, and only when nothing is found are the fingerprints deleted. A process that is
killed at any point leaves what the next run needs: every `forget` first finishes the unverified ones. Files outside the
memory are not touched otherwise: the agent's own logs, git history, backups.

The search covers file names and bytes, databases with their write-ahead logs and free pages, and the content of gzip,
bzip2, xz, zip and tar files, nested ones too. What this Python cannot unpack (zstd, lz4, 7z, rar, encrypted or damaged
archives) is reported, never skipped silently. It looks for the session ids and for every text of the episodes by their
fingerprints (`helix_graph.tombstones`), so a search gives the same answer when the texts themselves are gone. A text
that another session contains as well is counted apart. Texts shorter than twelve characters are not searched:
``pytest`` is in every memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from glob import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

import msgspec

from helix_episodes.errors import HelixGraphError, InvalidEpisode, NotFound
from helix_episodes.model import Episode, sortable_time
from helix_episodes.safe_files import TEMPORARY_SUFFIX, read_regular, remove_file
from helix_episodes.store import PREFIX, EpisodeStore, decode_episode, is_session_id
from helix_graph import database
from helix_graph.embedding.cache import CACHE_NAME, clear
from helix_graph.errors import MemoryDamaged, NotOurDatabase
from helix_graph.graph.assertions import AssertionStore, IssueAssertion, encode_assertion
from helix_graph.graph.compile import discard, erase_traces
from helix_graph.graph.graph_db import EXPORT_NAME, GRAPH_FILE
from helix_graph.helix_db import HelixDatabase, database_path
from helix_graph.issues.api import Issues
from helix_graph.plans.workspaces import forget_tasks
from helix_graph.project import ACCEPTED_RULES, HIGHLIGHTS, HOOK_LOG, PAGES, PREPARED
from helix_graph.rules.staged import AcceptedRule, forget_rules
from helix_graph.set_aside import ASSERTIONS, quarantined_of_session
from helix_graph.set_aside import FOLDER as ASIDE
from helix_graph.shards.places import forget_in_shards
from helix_graph.shared_authors import CACHE as SHARED_AUTHORS
from helix_graph.sharing.team import ServerErasure
from helix_graph.tombstones import Fingerprint, Searcher, Tombstones, Unproved, chunks_of, digest, fingerprints_of
from helix_graph.topics.maintenance import compact
from helix_graph.topics.schema import TOPIC_TABLES
from helix_graph.trust import team_marker

if TYPE_CHECKING:
    from helix_graph.graph.api import Graph
    from helix_graph.insights.api import Insights


def _zip_members(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            with archive.open(member) as inner:
                yield inner


def _tar_members(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        for member in archive:
            if inner := archive.extractfile(member) if member.isfile() else None:
                yield io.BytesIO(inner.read()) if member.size <= _IN_MEMORY else inner


#: Files in a tar file are read into memory up to this size: in a compressed one every step back begins at the start.
_IN_MEMORY = 1 << 26
#: Where in a packed file which bytes stand, and what unpacks it; the name of what Python cannot unpack.
_FORMATS: tuple[tuple[int, bytes, Callable[[IO[bytes]], Iterable[object]] | str], ...] = (
    (0, b"PK\x03\x04", _zip_members),
    (0, b"\x1f\x8b", lambda stream: map(gzip.open, (stream,))),
    (0, b"BZh", lambda stream: map(bz2.open, (stream,))),
    (0, b"\xfd7zXZ\x00", lambda stream: map(lzma.open, (stream,))),
    (257, b"ustar", _tar_members),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (0, b"\x04\x22\x4d\x18", "lz4"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"Rar!\x1a\x07", "rar"),
    (0, b"\x1f\x9d", "compress"),
)
_HEAD_BYTES = 262
#: An archive in an archive in an archive is still somebody's backup; deeper ones are made to hurt.
_DEEPEST = 3
#: So much is unpacked of one file: a gigabyte of zeros fits into a megabyte.
_MOST_BYTES = 1 << 30
#: What the modules of the standard library raise for archives that are damaged, encrypted or of an unknown method.
_DAMAGE = (
    *(OSError, EOFError, ValueError, RuntimeError, zlib.error, struct.error),
    *(lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError),
)


def _content(stream: IO[bytes], depth: int = 0) -> Iterator[bytes]:
    """A file in chunks, and then what is packed in it; a zero ends each of the files.

    Raises:
        ValueError: Python cannot unpack it, or it is packed more often or holds more than anybody's backup.
    """
    head = stream.read(_HEAD_BYTES)
    yield from itertools.chain((head,), chunks_of(stream), (b"\0",))
    unpack = next((unpack for at, magic, unpack in _FORMATS if head.startswith(magic, at)), None)
    if unpack is None:
        return
    if isinstance(unpack, str):
        raise ValueError(f"it is compressed by {unpack}, which Python cannot unpack")  # noqa: TRY004  (of its content)
    if depth == _DEEPEST:
        raise ValueError(f"it is packed more than {_DEEPEST} times over")
    stream.seek(0)
    left = _MOST_BYTES
    for inner in cast("Iterable[IO[bytes]]", unpack(stream)):
        for chunk in _content(inner, depth + 1):
            left -= len(chunk)
            if left < 0:
                raise ValueError("it has more than a gigabyte when unpacked")
            yield chunk


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


def find_traces(
    root: Path, unproved: Unproved, *, sessions: Collection[str], graph: Path, outside: Iterable[Path] = ()
) -> ErasureProof:
    """Searches every file of the memory in ``root``, and those ``outside`` of it.

    ``sessions`` are the digests of the sessions that are to be gone, ``graph`` is the memory's graph.db.
    """
    searcher = _searcher(root, unproved.texts)
    # Only another session may say the same in an episode's file; an assertion has it from this one.
    episode = (root / "episodes", ".json")
    derived = {path for path in root.rglob("*") if (path.parent, path.suffix) != episode and path.is_file()}
    found = dict(_searched(root, derived.union(outside), searcher))
    rows = _rows_in_graph(graph, sessions)
    # Sessions come last: one that is being recorded meanwhile is there before anything is derived from it.
    recorded = _recorded_texts(root, searcher)
    shared = _shared(recorded)
    left: list[Trace] = []
    for path, one in sorted({**found, **recorded}.items()):
        hits, theirs = one.hits - shared, rows if path == graph else 0
        if hits or theirs:
            named = bool(theirs) or any(hit.names for hit in hits)
            left.append(Trace(file=one.name, texts=len(hits) + theirs, names_session=named))
    all_searched = (*found.values(), *recorded.values())
    return ErasureProof(
        texts=len(unproved.texts),
        files=len(all_searched),
        bytes=sum(one.size for one in all_searched),
        shared=len(shared),
        too_short=unproved.too_short,
        left=tuple(left),
        unsearched=tuple(Unsearched(file=one.name, problem=one.problem) for one in all_searched if one.problem),
    )


def _searcher(root: Path, texts: Collection[Fingerprint]) -> Searcher:
    """What looks for texts: ``session-1`` stands in ``session-12`` as well, which may be recorded."""
    names = Searcher(texts)
    kept = {one for path in (root / "episodes").glob("*.json") for one in names.search(_bytes_of(path.stem))}
    return Searcher(texts, bounded=kept)


def _recorded_texts(root: Path, searcher: Searcher) -> dict[Path, _SearchedFile]:
    """What stands in the episodes that remain."""
    return dict(_searched(root, (path for path in (root / "episodes").glob("*.json") if path.is_file()), searcher))


def _shared(recorded: Mapping[Path, _SearchedFile]) -> set[Fingerprint]:
    """The texts that remaining sessions have as well."""
    return {hit for one in recorded.values() for hit in one.hits if not hit.names}


class _SearchedFile(NamedTuple):
    """What is in a file; ``problem`` says why not all of it was searched."""

    name: str
    size: int
    hits: set[Fingerprint]
    problem: str


def _searched(root: Path, paths: Iterable[Path], searcher: Searcher) -> Iterator[tuple[Path, _SearchedFile]]:
    """Each of the files that is still there, with what stands in its name or its content."""
    for path in sorted(paths):
        # A file within the memory goes by its name there, another one by its whole path.
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
        hits, size, problem = searcher.search(_bytes_of(name)), 0, ""
        try:
            size = path.stat().st_size
            with path.open("rb") as raw:
                hits.update(searcher.search_chunks(_content(raw)))
        except FileNotFoundError:
            continue  # a temporary file of another process
        except _DAMAGE as error:
            problem = str(error) or type(error).__name__
        yield path, _SearchedFile(name, size, hits, problem)


def _bytes_of(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _rows_in_graph(graph: Path, sessions: Collection[str]) -> int:
    """How many rows of the graph's tables are theirs, however short the id; a file not ours holds nothing of ours."""
    if not graph.exists() or database.ownership(graph, GRAPH_FILE) == "absent":
        return 0
    with database.reporting(graph), closing(database.open_for_reading(graph, GRAPH_FILE)) as connection:
        rows = connection.execute("SELECT id, session FROM episode").fetchall()
    return sum(digest(name) in sessions for node, session in rows for name in (node.removeprefix(PREFIX), session))


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
        if not (self.since or self.until):
            return True
        at = sortable_time(episode.timestamp)
        is_late = self.since is None or at >= sortable_time(self.since.isoformat())
        return bool(at) and is_late and (self.until is None or at < sortable_time(self.until.isoformat()))


class ForgetReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was forgotten, or would be.

    ``undecided`` are files whose project and time cannot be read. ``taken_up`` counts sessions that an earlier attempt
    had removed without a proof: this one's ``proof`` holds for them too. ``team`` says what became of
    them on the team's server, where the memory takes part in one.
    """

    sessions: tuple[str, ...]
    assertions: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    taken_up: int = 0
    proof: ErasureProof | None = None
    dry_run: bool = False
    team: ServerErasure | None = None


def forget(
    root: Path, graph: Graph, databases: Sequence[Insights], selection: Selection, *, dry_run: bool = False
) -> ForgetReport:
    """Removes sessions from the memory in ``root`` and verifies that nothing of them remains.

    An empty selection takes up what earlier attempts have left unverified. Plans and insights in ``databases`` come
    first: while a session's episode is there, an attempt that was cut short can be made again.

    Raises:
        HelixGraphError: The selection is empty, and nothing is unproved.
        NotFound: A session is named that is neither recorded nor forgotten.
        EpisodeError: An id that cannot be a session's.
        WriteFailed: A file cannot be written or deleted.
        NotOurDatabase: Another program's file is where graph.db belongs.
        GraphError: The graph could not be compiled: it was deleted with what it held, and the next run searches again.
    """
    store, tombstones = EpisodeStore(graph.episodes), Tombstones(root)
    waiting = tombstones.unproved().keys()
    if not (selection.sessions or selection.by_condition or waiting):
        raise HelixGraphError("nothing is named that should be forgotten; name sessions, a project, since or until")
    begun = {name for path in store.files() if digest(name := _session_of(path)) in waiting}
    named = {_recorded(name, root, store, tombstones, databases) for name in selection.sessions}
    scanned = list(store.scan()) if selection.by_condition else []
    met = {_session_of(path) for path, one in scanned if not isinstance(one, InvalidEpisode) and selection.takes(one)}
    sessions = sorted(named | met | begun)
    folders = (graph.causality / ASSERTIONS, root / ASIDE / ASSERTIONS)
    assertions = [path for folder in folders for path in _naming(sorted(folder.glob("*.json")), sessions)]
    statements: list[Path] = []
    unread: list[Unsearched] = []
    if not dry_run and (sessions or waiting):
        for insights in databases:
            try:
                forget_tasks(root, sessions, path=insights.path)
                insights.forget_sessions(sessions)
                compact(HelixDatabase(insights.path, TOPIC_TABLES))  # deleted entries may be of these sessions
            except (MemoryDamaged, NotOurDatabase) as error:
                unread.append(Unsearched(file=insights.path.name, problem=str(error)))
        _remove(root, store, sessions, assertions)
        for page in sorted((root / PAGES).rglob("*")):  # they quote sessions, and are made again on request
            if not page.is_dir() or page.is_symlink():
                remove_file(page)
        if any(one.exists() for one in (graph.path_of_file, graph.causality / EXPORT_NAME)) or any(_statements(graph)):
            statements = _take_out(root, graph)
        forget_rules(root, sessions=sessions, keep=_is_of_others(root, graph))
        with suppress(NotOurDatabase):  # the proof says whether it holds anything
            clear(root / CACHE_NAME)
            for derived in (PREPARED, HIGHLIGHTS, SHARED_AUTHORS, HOOK_LOG):
                remove_file(root / derived)
    return ForgetReport(
        sessions=tuple(sessions),
        assertions=tuple(path.name for path in (*assertions, *statements)),
        undecided=tuple(path.name for path, one in scanned if isinstance(one, InvalidEpisode)),
        taken_up=len(waiting - {digest(session) for session in sessions}),
        proof=None if dry_run else _prove(root, graph, sessions, unread=unread),
        dry_run=dry_run,
    )


def _take_out(root: Path, graph: Graph) -> list[Path]:
    """Brings the graph up to date; one that fails to is deleted, since it is derived and holds what has to go.

    The files of statements that went with it: only the graph of those that remain says which issues no session has.
    """
    with ExitStack() as unless_compiled:
        unless_compiled.callback(discard, graph.path_of_file)
        graph.compile()
        gone = _statements_of_nobody(root, graph)
        for path in gone:
            remove_file(path)
        if gone:
            graph.compile()
        erase_traces(graph.path_of_file)
        unless_compiled.pop_all()
    return gone


def _statements(graph: Graph) -> Iterator[tuple[Path, IssueAssertion]]:
    """What people said of issues, with its files."""
    for path, one in AssertionStore(graph.causality / ASSERTIONS).scan():
        if isinstance(one, IssueAssertion):
            yield path, one


def _statements_of_nobody(root: Path, graph: Graph) -> list[Path]:
    """Statements about issues that no remaining session has, and those that hold the words of a forgotten one."""
    statements = list(_statements(graph))
    if not statements:
        return []
    with Issues(graph).open() as survey:
        issues = survey.ids()
    searcher = _searcher(root, {text for one in Tombstones(root).unproved().values() for text in one.texts})
    said = {path: searcher.search(encode_assertion(one)) for path, one in statements}
    shared = _shared(_recorded_texts(root, searcher)) if any(said.values()) else set()
    return [path for path, one in statements if one.issue not in issues or said[path] - shared]


def _is_of_others(root: Path, graph: Graph) -> Callable[[AcceptedRule], bool]:
    """Whether an accepted rule is for an issue that a remaining session has, and in no forgotten one's words alone."""
    if not (root / ACCEPTED_RULES).exists():
        return lambda _: True  # every episode is read for what follows
    issues: set[str] = set()
    if graph.path_of_file.exists():
        with suppress(HelixGraphError), Issues(graph).open() as survey:  # a damaged graph knows of no issue
            issues = survey.ids()
    searcher = _searcher(root, {text for one in Tombstones(root).unproved().values() for text in one.texts})
    shared = _shared(_recorded_texts(root, searcher))
    return lambda one: one.issue in issues and not (searcher.search(msgspec.json.encode(one)) - shared)


def _prove(root: Path, graph: Graph, sessions: Iterable[str], *, unread: Iterable[Unsearched]) -> ErasureProof | None:
    """Searches for all that is unproved, of these sessions and of earlier ones; a whole proof settles it."""
    tombstones = Tombstones(root)
    waiting = tombstones.unproved()
    if not waiting:
        return None
    texts = {text for one in waiting.values() for text in one.texts}
    wanted = Unproved(texts=tuple(sorted(texts)), too_short=sum(one.too_short for one in waiting.values()))
    digests = waiting.keys() | {digest(session) for session in sessions}
    path = database_path(root)  # ``HELIX_DB_PATH`` may name one outside the memory
    files = [] if path.is_relative_to(root) else [Path(f"{path}{side}") for side in ("", *database.SIDE_FILES)]
    outside = [file for file in files if file.is_file()]
    unreached = forget_in_shards(root, lambda session: digest(session) in digests)
    proof = find_traces(root, wanted, sessions=digests, graph=graph.path_of_file, outside=outside)
    unsearched = (*proof.unsearched, *unread, *(Unsearched(file=one.path, problem=one.problem) for one in unreached))
    proof = msgspec.structs.replace(proof, unsearched=unsearched)
    if proof.whole:
        tombstones.settle(waiting)
    return proof


def _recorded(name: str, root: Path, store: EpisodeStore, tombstones: Tombstones, databases: Sequence[Insights]) -> str:
    """A session as `EpisodeStore.resolve` understands it; one that is forgotten already may have been left half way."""

    def has_traces(form: str) -> bool:
        if store.path_of(form).exists() or tombstones.holds(form) or quarantined_of_session(root, form):
            return True
        return any(insights.has_written_in(form) for insights in databases)

    if is_session_id(name):  # exact names first: a forgotten session may be called like the beginning of another
        for form in (name, name.removeprefix(PREFIX)):
            if has_traces(form):
                return form
    found = store.resolve(name)
    if has_traces(found):
        return found
    raise NotFound.of_episode(name)


def _session_of(path: Path) -> str:
    """The session of an episode's file, by its name: what stands in it may differ."""
    return path.stem.removeprefix(PREFIX)


def _remove(root: Path, store: EpisodeStore, sessions: Iterable[str], assertions: Iterable[Path]) -> None:
    """Buries all of them before anything is removed, so that no kill can lose what is to be searched for."""
    tombstones = Tombstones(root)
    paths = {session: [store.path_of(session), *quarantined_of_session(root, session)] for session in sessions}
    for session, files in paths.items():
        names = {session, PREFIX + session}
        said = {text for path in (*files, *_naming(assertions, [session])) for text in _texts(path)} - names
        prints = fingerprints_of(said) | fingerprints_of(names, names=True)
        unproved = Unproved(texts=tuple(sorted(prints)), too_short=sum(not fingerprints_of([text]) for text in said))
        tombstones.bury(session, steps={step for path in files for step in _step_ids(path)}, unproved=unproved)
    markers = [team_marker(root, PREFIX + session) for session in paths]
    for path in (*(path for files in paths.values() for path in files), *assertions, *markers):
        for leftover in path.parent.glob(f".{escape(path.name)}.*{TEMPORARY_SUFFIX}"):
            remove_file(leftover)
        remove_file(path)


def _step_ids(path: Path) -> set[str]:
    """The ids of steps that an episode is known to hold: by these a copy in a later log is recognised."""
    try:
        episode = decode_episode(read_regular(path), path=path)
    except (OSError, InvalidEpisode):
        return set()
    evidence = [*(one.evidence for one in episode.decisions), *(one.evidence for one in episode.events)]
    ends = (episode.provenance.first, episode.provenance.last) if episode.provenance else ()
    return {name for name in (*ends, *(one.id for one in evidence if one)) if name}


def _naming(paths: Iterable[Path], sessions: Iterable[str]) -> Iterator[Path]:
    ids = set(sessions) | {PREFIX + session for session in sessions}
    return (path for path in paths if any(_names_in(text) & ids for text in _texts(path)))


def _names_in(text: str) -> set[str]:
    """What a text may name: all of it, the part before a mark, each word."""
    return {text, text.partition("#")[0], *(word.strip(".,;:()") for word in text.split())}


def _texts(path: Path) -> set[str]:
    """Every text in a JSON file, keys left out; nothing of one that cannot be read."""
    texts: set[str] = set()
    try:
        waiting = [msgspec.json.decode(read_regular(path))]
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return texts
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            texts.add(value)
        else:
            waiting.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return texts
