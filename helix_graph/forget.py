"""Remove sessions, a project or a span of time from every file of the memory, and verify it.

The order matters: a tombstone that keeps the session from coming back, with the fingerprints to search for; its
episode and the quarantined files of it; the assertions that name it; its share in the graph and the export; what is
derived; the shards that the memory was packed to. Each store says what of it could not be reached, and one search of
all files of the memory proves the rest; only when nothing is found are the fingerprints deleted. A process that is
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
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import cached_property
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
from helix_graph.project import HIGHLIGHTS, HOOK_LOG, PAGES, PREPARED, digest
from helix_graph.rules.staged import forget_rules
from helix_graph.set_aside import ASSERTIONS, quarantined_of_session
from helix_graph.set_aside import FOLDER as ASIDE
from helix_graph.shards.places import forget_in_shards
from helix_graph.shared_authors import CACHE as SHARED_AUTHORS
from helix_graph.sharing.model import ServerErasure
from helix_graph.tombstones import Fingerprint, Searcher, Tombstones, Unproved, chunks_of, fingerprints_of
from helix_graph.topics.maintenance import compact
from helix_graph.topics.schema import TOPIC_TABLES
from helix_graph.trust import team_marker
from helix_graph.validation import as_str

if TYPE_CHECKING:
    from helix_graph.graph.api import Graph
    from helix_graph.insights.api import Insights


def _zip_members(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(stream) as archive:
        yield from (archive.open(member) for member in archive.infolist())


def _tar_members(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        for member in archive:
            if inner := archive.extractfile(member) if member.isfile() else None:
                # In a compressed one every step back begins at the start, so that small files are read first.
                yield io.BytesIO(inner.read()) if member.size <= _IN_MEMORY else inner


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


class _SearchedFile(NamedTuple):
    """What is in a file; ``problem`` says why not all of it was searched."""

    path: Path
    name: str
    size: int
    hits: set[Fingerprint]
    problem: str


class _Search:
    """Looks for texts in all files of a memory. What a remaining session says too is not the forgotten one's."""

    def __init__(self, root: Path, texts: Collection[Fingerprint]) -> None:
        self._root = root
        self._episodes = [path for path in sorted((root / "episodes").glob("*.json")) if path.is_file()]
        names = Searcher(texts)  # ``session-1`` stands in ``session-12`` as well, which may be recorded
        kept = {one for path in self._episodes for one in names.search(_bytes_of(path.stem))}
        self._searcher = Searcher(texts, bounded=kept)

    def files(self, outside: Iterable[Path]) -> list[_SearchedFile]:
        """What stands in every file of the memory, and in those ``outside`` of it.

        Sessions come last: one that is being recorded meanwhile is there before anything is derived from it.
        """
        paths = {*outside, *(path for path in self._root.rglob("*") if path.is_file())}.difference(self._episodes)
        return [*self._searched(sorted(paths)), *self._recorded]

    def is_in(self, data: bytes) -> bool:
        """Whether something stands there that no remaining session says."""
        hits = self._searcher.search(data)
        return bool(hits and hits - self.shared)

    @cached_property
    def _recorded(self) -> list[_SearchedFile]:
        return list(self._searched(self._episodes))

    @cached_property
    def shared(self) -> set[Fingerprint]:
        """The texts that remaining sessions have as well."""
        return {hit for one in self._recorded for hit in one.hits if not hit.names}

    def _searched(self, paths: Iterable[Path]) -> Iterator[_SearchedFile]:
        """What stands in files' names and contents; one within the memory goes by its name there."""
        for path in paths:
            name = path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.as_posix()
            hits, size, problem = self._searcher.search(_bytes_of(name)), 0, ""
            try:
                size = path.stat().st_size
                with path.open("rb") as raw:
                    hits.update(self._searcher.search_chunks(_content(raw)))
            except FileNotFoundError:
                continue  # a temporary file of another process
            except Exception as error:  # noqa: BLE001  (each archive is damaged in its own way; none is skipped silently)
                problem = str(error) or type(error).__name__
            yield _SearchedFile(path, name, size, hits, problem)


def _bytes_of(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def find_traces(
    root: Path, unproved: Unproved, *, sessions: Collection[str], graph: Path, outside: Iterable[Path] = ()
) -> ErasureProof:
    """Searches every file of the memory in ``root``, and those ``outside`` of it.

    ``sessions`` are the digests of the sessions that are to be gone, ``graph`` is the memory's graph.db.
    """
    search = _Search(root, unproved.texts)
    files, rows, left = search.files(outside), _rows_in_graph(graph, sessions), list[Trace]()
    for one in sorted(files):
        hits, theirs = one.hits - search.shared, rows if one.path == graph else 0
        if hits or theirs:
            named = bool(theirs) or any(hit.names for hit in hits)
            left.append(Trace(file=one.name, texts=len(hits) + theirs, names_session=named))
    return ErasureProof(
        texts=len(unproved.texts),
        files=len(files),
        bytes=sum(one.size for one in files),
        shared=len(search.shared),
        too_short=unproved.too_short,
        left=tuple(left),
        unsearched=tuple(Unsearched(file=one.name, problem=one.problem) for one in files if one.problem),
    )


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
        at, since, until = (sortable_time(one) for one in (episode.timestamp, _iso(self.since), _iso(self.until)))
        is_of_project = self.project is None or (episode.project or "").casefold() == self.project.casefold()
        is_within = since <= at and (not until or at < until)
        return is_of_project and (bool(at) and is_within if since or until else True)


def _iso(at: datetime | None) -> str:
    return at.isoformat() if at else ""


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
        GraphError: The graph could not be compiled: it was deleted with what it held, and the next run searches again.
    """
    store, waiting = EpisodeStore(graph.episodes), Tombstones(root).unproved().keys()
    if not (selection.sessions or selection.by_condition or waiting):
        raise HelixGraphError("say which sessions to forget: name sessions, a project, since or until")
    scanned = list(store.scan()) if selection.by_condition else []
    chosen = {_recorded(name, root, store, databases) for name in selection.sessions}
    chosen |= {_session_of(path) for path, one in scanned if isinstance(one, Episode) and selection.takes(one)}
    chosen |= {name for path in store.files() if digest(name := _session_of(path)) in waiting}
    erasure = _Erasure(root, graph, databases, sorted(chosen))
    assertions = erasure.assertions()
    is_due = not dry_run and bool(chosen or waiting)
    proof = erasure.carry_out() if is_due else None
    return ForgetReport(
        sessions=tuple(erasure.sessions),
        assertions=tuple(path.name for path in (*assertions, *erasure.statements)),
        undecided=tuple(path.name for path, one in scanned if isinstance(one, InvalidEpisode)),
        taken_up=len(waiting - set(map(digest, chosen))),
        proof=proof,
        dry_run=dry_run,
    )


class _Erasure:
    """One forgetting: what each store of the memory lets go of, in order, and what it could not reach."""

    def __init__(self, root: Path, graph: Graph, databases: Sequence[Insights], sessions: Sequence[str]) -> None:
        self.root, self.graph, self.databases, self.sessions = root, graph, databases, sessions
        self.statements: list[Path] = []
        self.unreached: list[Unsearched] = []

    def carry_out(self) -> ErasureProof:
        """Removes the sessions from every store and searches for all that is unproved; a whole proof settles it."""
        for store in (self._databases, self._files, self._graph, self._rules, self._derived, self._shards):
            store()
        tombstones = Tombstones(self.root)
        waiting = tombstones.unproved()
        path = database_path(self.root)  # ``HELIX_DB_PATH`` may name one outside the memory
        outside = [one for side in ("", *database.SIDE_FILES) if (one := Path(f"{path}{side}")).is_file()]
        graph, sessions = self.graph.path_of_file, self._digests()
        proof = find_traces(self.root, tombstones.wanted(), sessions=sessions, graph=graph, outside=outside)
        proof = msgspec.structs.replace(proof, unsearched=(*proof.unsearched, *self.unreached))
        if proof.whole:
            tombstones.settle(waiting)
        return proof

    def _digests(self) -> set[str]:
        return {*Tombstones(self.root).unproved(), *map(digest, self.sessions)}

    def assertions(self) -> list[Path]:
        """The files of assertions that name a session, those set aside included."""
        folders = (self.graph.causality / ASSERTIONS, self.root / ASIDE / ASSERTIONS)
        return [path for one in folders for path in _naming(sorted(one.glob("*.json")), self.sessions)]

    def _databases(self) -> None:
        """Tasks, insights and topics: deleted entries may be of these sessions."""
        for insights in self.databases:
            try:
                forget_tasks(self.root, self.sessions, path=insights.path)
                insights.forget_sessions(self.sessions)
                compact(HelixDatabase(insights.path, TOPIC_TABLES))
            except (MemoryDamaged, NotOurDatabase) as error:
                self.unreached.append(Unsearched(file=insights.path.name, problem=str(error)))

    def _files(self) -> None:
        """Episodes and what names them; all are buried first, so that no kill loses what is to be searched for."""
        store, tombstones, assertions = EpisodeStore(self.graph.episodes), Tombstones(self.root), self.assertions()
        doomed = list(assertions)
        for session in self.sessions:
            names, files = {session, PREFIX + session}, [store.path_of(session)]
            files += quarantined_of_session(self.root, session)
            said = {text for path in (*files, *_naming(assertions, [session])) for text in _texts(path)} - names
            prints = fingerprints_of(said) | fingerprints_of(names, names=True)
            unproved = Unproved(
                texts=tuple(sorted(prints)), too_short=sum(not fingerprints_of([text]) for text in said)
            )
            tombstones.bury(session, steps={step for path in files for step in _step_ids(path)}, unproved=unproved)
            doomed += [*files, team_marker(self.root, PREFIX + session)]
        for path in doomed:
            for leftover in (*path.parent.glob(f".{escape(path.name)}.*{TEMPORARY_SUFFIX}"), path):
                remove_file(leftover)

    def _graph(self) -> None:
        """The graph, its export, and what people said of issues that no session has any more."""
        derived = self.graph.path_of_file.exists() or (self.graph.causality / EXPORT_NAME).exists()
        if derived or any((self.graph.causality / ASSERTIONS).glob("*.json")):
            self.statements = _take_out(self.graph, self._stays)

    def _rules(self) -> None:
        """Accepted rules and their trials."""
        encode = msgspec.json.encode
        forget_rules(self.root, sessions=self.sessions, keep=lambda one: self._stays(one.issue, encode(one)))

    def _stays(self, issue: str, said: bytes) -> bool:
        """Whether a remaining session has an issue, and what was said of it is in no forgotten one's words alone."""
        issues, search = self._remaining
        return issue in issues and not search.is_in(said)

    @cached_property
    def _remaining(self) -> tuple[Collection[str], _Search]:
        search = _Search(self.root, Tombstones(self.root).wanted().texts)
        if self.graph.path_of_file.exists():
            with suppress(HelixGraphError), Issues(self.graph).open() as survey:  # a damaged graph knows of no issue
                return survey.ids(), search
        return (), search

    def _derived(self) -> None:
        """Pages quote sessions, caches have what was computed of them; all are made again on request."""
        for page in sorted((self.root / PAGES).rglob("*")):
            if not page.is_dir() or page.is_symlink():
                remove_file(page)
        with suppress(NotOurDatabase):  # the proof says whether it holds anything
            clear(self.root / CACHE_NAME)
            for derived in (PREPARED, HIGHLIGHTS, SHARED_AUTHORS, HOOK_LOG):
                remove_file(self.root / derived)

    def _shards(self) -> None:
        """Wherever the memory was packed to."""
        digests = self._digests()
        for one in forget_in_shards(self.root, lambda session: digest(session) in digests):
            self.unreached.append(Unsearched(file=one.path, problem=one.problem))


def _take_out(graph: Graph, stays: Callable[[str, bytes], bool]) -> list[Path]:
    """Brings the graph up to date; one that fails to is deleted, since it is derived and holds what has to go.

    The files of statements that went with it: only the graph of those that remain says which issues no session has.
    """
    try:
        graph.compile()
        said = AssertionStore(graph.causality / ASSERTIONS).scan()
        statements = [(path, one) for path, one in said if isinstance(one, IssueAssertion)]
        gone = [path for path, one in statements if not stays(one.issue, encode_assertion(one))]
        for path in gone:
            remove_file(path)
        if gone:
            graph.compile()
        erase_traces(graph.path_of_file)
    except BaseException:
        discard(graph.path_of_file)
        raise
    return gone


def _recorded(name: str, root: Path, store: EpisodeStore, databases: Sequence[Insights]) -> str:
    """A session as `EpisodeStore.resolve` understands it; one that is forgotten already may have been left half way."""

    def has_traces(form: str) -> bool:
        if store.path_of(form).exists() or Tombstones(root).holds(form) or quarantined_of_session(root, form):
            return True
        return any(form in insights.sessions_named() for insights in databases)

    # Exact names first: a forgotten session may be called like the beginning of another.
    forms = (as_str("session", name), name.removeprefix(PREFIX))
    exact = [form for form in forms if is_session_id(form)]
    found = next((form for form in exact if has_traces(form)), None) or store.resolve(name)
    if not has_traces(found):
        raise NotFound.of_episode(name)
    return found


def _session_of(path: Path) -> str:
    """The session of an episode's file, by its name: what stands in it may differ."""
    return path.stem.removeprefix(PREFIX)


def _step_ids(path: Path) -> set[str]:
    """The ids of steps that an episode is known to hold: by these a copy in a later log is recognised."""
    try:
        episode = decode_episode(read_regular(path), path=path)
    except (OSError, InvalidEpisode):
        return set()
    evidence = [*(one.evidence for one in episode.decisions), *(one.evidence for one in episode.events)]
    ends = (episode.provenance.first, episode.provenance.last) if episode.provenance else ()
    return {name for name in (*ends, *(one.id for one in evidence if one)) if name}


def _naming(paths: Iterable[Path], sessions: Iterable[str]) -> list[Path]:
    """The files of which a text is a session's id, begins with it before a mark, or has it as a word."""
    ids = {name for session in sessions for name in (session, PREFIX + session)}
    return [path for path in paths if any(ids & _names_in(text) for text in _texts(path))]


def _names_in(text: str) -> set[str]:
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
