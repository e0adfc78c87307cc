"""Remove sessions, a project or a span of time from every file of the memory, and verify it.

The order matters: what databases have of the sessions, while their episodes can still be read; a tombstone that keeps
each from coming back, with the fingerprints to search for; its episode, the quarantined files of it and the assertions
that name it; its share in the graph and the export, with what people said of its issues; what is derived; the shards
that the memory was packed to. Each store says what of it could not be reached, and one search of all files of the
memory proves the rest; only when nothing is found are the fingerprints deleted. A process that is killed at any point
leaves what the next run needs: every `forget` first finishes the unverified ones. Files outside the memory are not
touched otherwise: the agent's own logs, git history, backups.

The search covers file names and bytes, databases with their write-ahead logs and free pages, and the content of gzip,
bzip2, xz, zip, tar, Parquet, Arrow, Feather and ORC files and of copies of our own pages, nested ones too. (Pages and
reports below the memory are derived, and removed, whatever they are called.)
What this Python cannot unpack (zstd, lz4, 7z, rar, Avro, HDF5, DuckDB, encrypted or damaged archives) is reported,
never skipped silently. It looks for the session ids and for every text of the episodes by their fingerprints
(`helix_graph.tombstones`), so a search gives the same answer when the texts themselves are gone.
A text that another session contains as well is counted apart. Texts shorter than twelve characters are not searched:
``pytest`` is in every memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import os
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from errno import ENXIO
from functools import cached_property, partial
from glob import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import msgspec

from helix_episodes.errors import HelixGraphError, InvalidEpisode, NotFound
from helix_episodes.model import Episode, sortable_time
from helix_episodes.safe_files import TEMPORARY_SUFFIX, packed_format, read_regular, remove_file
from helix_episodes.source_logs import ids_in
from helix_episodes.store import PREFIX, RENAMED, EpisodeStore, decode_episode, is_session_id, session_of
from helix_episodes.verification import texts_of
from helix_graph.database import SIDE_FILES
from helix_graph.embedding.cache import CACHE_NAME, clear
from helix_graph.errors import MemoryDamaged, NotOurDatabase, ShareRefused
from helix_graph.graph.assertions import AssertionStore, IssueAssertion
from helix_graph.graph.compile import discard, erase_traces
from helix_graph.helix_db import HelixDatabase, database_path
from helix_graph.issues.api import Issues
from helix_graph.plans.workspaces import forget_names, forget_tasks
from helix_graph.project import ACCEPTED_RULES, PAGES, QUOTING, RULE_TRIALS, digest, forgotten_digests
from helix_graph.rules.staged import AcceptedRule, forget_rules
from helix_graph.set_aside import ASSERTIONS, SET_ASIDE, quarantined_of_session, quarantined_sessions
from helix_graph.shards.columnar_files import COLUMNAR, column_contents, columnar_format
from helix_graph.shards.files import forget_in_shards
from helix_graph.sharing.model import ServerErasure
from helix_graph.sharing.shared_files import FOLDER, insights_ever_shared
from helix_graph.tombstones import Fingerprint, Searcher, Tombstones, Unsearched
from helix_graph.topics.maintenance import compact
from helix_graph.topics.schema import TOPIC_TABLES
from helix_graph.trust import team_marker
from helix_graph.validation import as_str
from helix_graph.web.written_files import MARK_WITHIN, is_page, unpacked, written_below

if TYPE_CHECKING:
    from helix_graph.graph.api import Graph
    from helix_graph.insights.api import Insights
    from helix_graph.sharing.api import Sharing


_IN_MEMORY = 1 << 26
_STREAMS: dict[str, Callable[[IO[bytes]], object]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}


#: What is read at a time: its hashes (four bytes per position) stay in the cache.
_CHUNK = 1 << 20
#: An archive in an archive in an archive is still somebody's backup; deeper ones are made to hurt.
_DEEPEST = 3
#: So much is unpacked of one file: a gigabyte of zeros fits into a megabyte.
_MOST_BYTES = 1 << 30


def _members(stream: IO[bytes], packed: str) -> Iterator[IO[bytes]]:
    """The files in one that is packed so; of columns and pages the texts.

    Raises:
        ValueError: Python cannot unpack it.
        MissingExtra: It is a file of columns, and pyarrow is not installed.
    """
    if packed in COLUMNAR:
        yield from column_contents(stream, packed)
    elif packed == "zip":
        with zipfile.ZipFile(stream) as archive:
            yield from map(archive.open, archive.infolist())
    elif packed == "tar":
        with tarfile.open(fileobj=stream, mode="r:") as tar:
            for member in tar:
                if inner := tar.extractfile(member) if member.isfile() else None:
                    # In a compressed one every step back begins at the start, so that small files are read first.
                    yield io.BytesIO(inner.read()) if member.size <= _IN_MEMORY else inner
    elif packed == "page":
        yield from map(io.BytesIO, unpacked(stream, most=_MOST_BYTES))
    elif packed in _STREAMS:
        yield cast("IO[bytes]", _STREAMS[packed](stream))
    else:
        raise ValueError(f"it is compressed by {packed}, which Python cannot unpack")


def _without_holes(file: IO[bytes]) -> Iterator[bytes]:
    """An open file in chunks, of which what takes no room on the disk is left out: it says nothing.

    A file of that kind may be of any size. A zero stands before all, and for each hole.
    """
    file.seek(0)
    chunk = b"\0"
    while chunk:
        yield chunk
        try:
            if file.seek(at := file.tell(), os.SEEK_DATA) > at:
                yield b"\0"
        except OSError as error:
            if error.errno == ENXIO:  # nothing but a hole; other systems know of none
                return
        chunk = file.read(_CHUNK)


def _content(stream: IO[bytes], depth: int = 0) -> Iterator[bytes]:
    """A file in chunks, and then what is packed in it; a zero ends each of the files.

    Raises:
        ValueError: Python cannot unpack it, or it is packed more often or holds more than anybody's backup.
    """
    head = stream.read(MARK_WITHIN)
    rest = itertools.chain((head,), iter(partial(stream.read, _CHUNK), b""))
    yield from itertools.chain(rest if depth else _without_holes(stream), (b"\0",))
    packed = columnar_format(head) or ("page" if is_page(head) else packed_format(head))
    if packed is None:
        return
    if depth == _DEEPEST:
        raise ValueError(f"it is packed more than {_DEEPEST} times over")
    stream.seek(0)
    left = _MOST_BYTES
    for chunk in itertools.chain.from_iterable(_content(one, depth + 1) for one in _members(stream, packed)):
        left -= len(chunk)
        if left < 0:
            raise ValueError("it has more than a gigabyte when unpacked")
        yield chunk


class Trace(msgspec.Struct, frozen=True):
    """A file that still holds something: in how many ways, and whether a session's id is among them."""

    file: str
    texts: int
    names_session: bool


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


class _Search:
    """Looks in all files of a memory for what is unproved. What a remaining session says too is not only of that."""

    def __init__(self, root: Path) -> None:
        self.root, self.bytes, self.unsearched = root, 0, list[Unsearched]()
        self.unproved = Tombstones(root).unproved()
        self.texts = {text for one in self.unproved.values() for text in one.texts}
        self.episodes = [path for path in sorted((root / "episodes").glob("*.json")) if path.is_file()]
        # ``session-1`` stands in ``session-12`` as well, which may be recorded.
        names, longer = Searcher(self.texts), defaultdict[Fingerprint, set[bytes]](set)
        for path in self.episodes:
            forms = [path.stem, called := session_of(path)]
            if called.startswith(RENAMED + PREFIX):  # as its log calls it stands in its episode, too
                forms.append(called.removeprefix(RENAMED))
            for one in names.search([os.fsencode(path.stem)]):
                longer[one].update(map(os.fsencode, forms))
        self._searcher = Searcher(self.texts, longer=longer)

    def is_in(self, data: bytes) -> bool:
        """Whether something stands there that no remaining session says."""
        return not self.shared.issuperset(self._searcher.search([data]))

    @cached_property
    def recorded(self) -> dict[str, set[Fingerprint]]:
        return dict(self.searched(self.episodes))

    @cached_property
    def shared(self) -> set[Fingerprint]:
        """The texts that remaining sessions have as well."""
        return {hit for hits in self.recorded.values() for hit in hits if not hit.names}

    def searched(self, paths: Iterable[Path]) -> Iterator[tuple[str, set[Fingerprint]]]:
        """What stands in files' names and contents; one within the memory goes by its name there."""
        for path in paths:
            name = path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()
            hits = set(self._searcher.search([os.fsencode(name)]))
            try:
                self.bytes += path.stat().st_size
                with path.open("rb") as raw:
                    hits.update(self._searcher.search(_content(raw)))
            except FileNotFoundError:
                continue  # a temporary file of another process
            except Exception as error:  # noqa: BLE001  (each archive is damaged in its own way; none is skipped silently)
                self.unsearched.append(Unsearched(file=name, problem=str(error) or type(error).__name__))
            yield name, hits


def find_traces(search: _Search, unreached: Iterable[Unsearched]) -> ErasureProof:
    """Searches every file of the memory, and its database, which ``HELIX_DB_PATH`` may put elsewhere.

    Sessions come last: one that is being recorded meanwhile is there before anything is derived from it.
    ``unreached`` is what stores could not let go of, and nobody can search.
    """
    sides = (Path(f"{database_path(search.root)}{side}") for side in ("", *SIDE_FILES))
    paths = {path for path in (*sides, *search.root.rglob("*")) if path.is_file()}
    files = dict(search.searched(sorted(paths.difference(search.episodes)))) | search.recorded
    theirs = ((name, hits - search.shared) for name, hits in sorted(files.items()))
    return ErasureProof(
        texts=len(search.texts),
        files=len(files),
        bytes=search.bytes,
        shared=len(search.shared),
        too_short=sum(one.too_short for one in search.unproved.values()),
        left=tuple(Trace(name, len(some), any(hit.names for hit in some)) for name, some in theirs if some),
        unsearched=(*search.unsearched, *unreached),
    )


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be forgotten: these sessions, and those that meet every one of the other conditions given.

    ``project`` is compared whole, in any case. The span holds ``since`` and what comes after it, but not ``until``;
    times without a zone are UTC. A session without a time lies in no span.
    """

    sessions: tuple[str, ...] = ()
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, episode: Episode) -> bool:
        """Whether an episode meets the conditions."""
        at, since, until = (sortable_time(str(one)) for one in (episode.timestamp, self.since, self.until))
        is_of_project = self.project is None or (episode.project or "").casefold() == self.project.casefold()
        return is_of_project and (not (since or until) or (bool(at) and since <= at < (until or "~")))


class ForgetReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was forgotten, or would be.

    ``undecided`` are files whose project and time cannot be read. ``taken_up`` counts sessions that an earlier attempt
    had removed without a proof: this one's ``proof`` holds for them too. ``shared`` names the files that are to be
    committed, so that git takes out what was shared of them. ``team`` says what became of them on the team's server,
    where the memory takes part in one.
    """

    sessions: tuple[str, ...]
    assertions: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    taken_up: int = 0
    proof: ErasureProof | None = None
    dry_run: bool = False
    shared: tuple[str, ...] = ()
    team: ServerErasure | None = None


def forget(
    root: Path,
    graph: Graph,
    databases: Sequence[Insights],
    sharing: Sharing,
    selection: Selection,
    *,
    dry_run: bool = False,
) -> ForgetReport:
    """Removes sessions from the memory in ``root`` and verifies that nothing of them remains.

    An empty selection takes up what earlier attempts have left unverified, and what came back since from an older copy.
    The tombstones come first: whoever reads a log or harvests meanwhile sees them before it has finished. Then come
    plans and insights in ``databases``: while a session's episode is there, an attempt that was cut short can be made
    again. What was shared of them through git leaves the work tree, and is proposed to be forgotten
    (`helix_graph.sharing.api.Sharing.withdraw`).

    Raises:
        HelixGraphError: The selection is empty, and nothing is unproved.
        NotFound: A session is named that is neither recorded nor forgotten.
        GraphError: The graph could not be compiled: it was deleted with what it held, and the next run searches again.
    """
    store, tombstones = EpisodeStore(graph.episodes), Tombstones(root)
    recorded, waiting = _recorded(root, store, databases), tombstones.unproved().keys()
    by_condition = selection.project or selection.since or selection.until
    again = waiting if selection.sessions or by_condition else forgotten_digests(root)
    chosen = {name for name in recorded if digest(name) in again}
    chosen.update(_named(name, recorded, store, tombstones) for name in selection.sessions)
    if not (chosen or by_condition or waiting):
        raise HelixGraphError("say what to forget: sessions, a project, or a time (since, until)")
    scanned = list(store.scan()) if by_condition else []
    chosen |= {session_of(path) for path, one in scanned if isinstance(one, Episode) and selection.takes(one)}
    proof, shared, written = None, tuple[str, ...](), (graph.causality / ASSERTIONS, root / SET_ASIDE / ASSERTIONS)
    theirs = {one: _files_of(one, root, store, map(AssertionStore, written)) for one in sorted(chosen)}
    assertions = sorted({path for files in theirs.values() for path in files if path.parent in written})
    if not dry_run and (chosen or waiting):
        _bury(tombstones, theirs)
        unreached = [*_forget_in_databases(root, databases, [*theirs]), *forget_in_shards(root, tombstones.holds)]
        try:
            withdrawn = sharing.withdraw()
            shared = (*withdrawn.written, *withdrawn.removed)
        except (MemoryDamaged, NotOurDatabase, ShareRefused) as error:
            unreached.append(Unsearched(file=FOLDER, problem=str(error)))
        # The episodes last: while one is there, the next attempt takes its session up.
        doomed = [path for one, files in theirs.items() for path in (*files, team_marker(root, PREFIX + one))]
        _remove(sorted(doomed, key=lambda path: path.parent == store.folder))
        assertions += _forget_in_graph(root, graph, [*theirs])
        _remove([*written_below(root), *(root / PAGES).rglob("*"), *(root / name for name in QUOTING)])
        with suppress(NotOurDatabase):  # the proof says whether it holds anything
            clear(root / CACHE_NAME)
        search = _Search(root)
        proof = find_traces(search, unreached)
        if proof.whole:
            tombstones.settle(search.unproved)
    return ForgetReport(
        sessions=tuple(theirs),
        assertions=tuple(path.name for path in assertions),
        undecided=tuple(path.name for path, one in scanned if isinstance(one, InvalidEpisode)),
        taken_up=len(waiting - set(map(digest, theirs))),
        proof=proof,
        dry_run=dry_run,
        shared=shared,
    )


def _recorded(root: Path, store: EpisodeStore, databases: Sequence[Insights]) -> set[str]:
    """The sessions that have an episode here, one that was set aside, or an insight."""
    found = {session_of(path) for path in store.files()} | quarantined_sessions(root)
    for insights in databases:
        with suppress(MemoryDamaged, NotOurDatabase):  # the proof names it
            found |= insights.sessions_named()
    return found


def _named(name: str, recorded: Collection[str], store: EpisodeStore, tombstones: Tombstones) -> str:
    """A session as `EpisodeStore.resolve` understands it; one that is forgotten already may have been left half way."""
    # Exact names first: a forgotten session may be called like the beginning of another.
    exact = filter(is_session_id, (as_str("session", name), name.removeprefix(PREFIX)))
    for form in itertools.chain(exact, map(store.resolve, [name])):
        if form in recorded or tombstones.holds(form):
            return form
    raise NotFound.of_episode(name)


def _forget_in_databases(root: Path, databases: Sequence[Insights], sessions: Sequence[str]) -> Iterator[Unsearched]:
    """Tasks, insights and topics: deleted entries may be of these sessions."""
    shared = insights_ever_shared(root)
    for insights in databases:
        try:
            forget_tasks(root, sessions, path=insights.path)
            insights.forget_sessions(sessions, shared=shared)
            forget_names(root, path=insights.path)
            compact(HelixDatabase(insights.path, TOPIC_TABLES))
        except (MemoryDamaged, NotOurDatabase) as error:
            yield Unsearched(file=insights.path.name, problem=str(error))


def _files_of(session: str, root: Path, store: EpisodeStore, written: Iterable[AssertionStore]) -> list[Path]:
    """The files that are of a session, there or not: its episode, what was set aside of it, what people said of it."""
    aside, said = quarantined_of_session(root, session), (path for one in written for path in one.naming([session]))
    return [store.path_of(session), *aside, *said]


def _bury(tombstones: Tombstones, theirs: Mapping[str, Sequence[Path]]) -> None:
    """Buries all before anything is removed, so that no kill loses what is to be searched for."""
    for session, files in theirs.items():
        steps = set[str]()
        for path in files:
            with suppress(OSError, InvalidEpisode):  # by the ids of its steps a copy in a later log is recognised
                steps.update(ids_in(decode_episode(read_regular(path), path=path)))
        tombstones.bury(session, said={text for path in files for text in texts_of(path)}, steps=steps)


def _remove(doomed: Sequence[Path]) -> None:
    """Files, with what a killed process left of them."""
    for path in doomed:
        for file in (*path.parent.glob(f".{escape(path.name)}.*{TEMPORARY_SUFFIX}"), path):
            if file.is_symlink() or not file.is_dir():
                remove_file(file)


def _forget_in_graph(root: Path, graph: Graph, sessions: Sequence[str]) -> list[Path]:
    """Brings the graph up to date, and takes out the statements and rules about issues that no session has any more.

    So go those in words that only forgotten sessions have. A graph that fails to be brought up to date is deleted: it
    is derived, and holds what has to go. The files of statements that were removed.
    """
    store = AssertionStore(graph.causality / ASSERTIONS)
    rests_on = (graph.path_of_file, *graph.causality.rglob("*.json"), root / ACCEPTED_RULES, root / RULE_TRIALS)
    if not any(path.exists() for path in rests_on):
        return []

    def stays(one: IssueAssertion | AcceptedRule) -> bool:
        return one.issue in issues and not search.is_in(msgspec.json.encode(one))

    try:
        graph.compile()
        with Issues(graph).open() as survey:  # only the graph of those that remain says which issues they have
            issues, search = survey.ids(), _Search(root)
        gone = [path for path, one in store.scan() if isinstance(one, IssueAssertion) and not stays(one)]
        _remove(gone)
        if gone:
            graph.compile()
        erase_traces(graph.path_of_file)
    except BaseException:
        discard(graph.path_of_file)
        raise
    forget_rules(root, sessions=sessions, keep=stays)
    return gone
