"""Episodes to Parquet shards: one file for each day and project, written in parallel and again only where it changes.

::

    DIR/2026-11-22/8c1f03….parquet      the day on which the sessions began (UTC), a digest of the project's name

A shard names its episodes with their digests in its metadata. So a run that was cut short is taken up where it ended,
an unchanged shard is left alone, and an episode that no memory has any more leaves its shard. An episode that several
memories have counts once: of two versions the one with the greater digest.

Shards quote sessions as episodes do: labels, paths, commands, the beginning of messages.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import InvalidArgument, InvalidEpisode, NotFound, WriteFailed
from helix_episodes.safe_files import TEMPORARY_SUFFIX, locked, make_output_folder, read_own, remove_file
from helix_episodes.store import PREFIX, EpisodeStore
from helix_episodes.workers import in_order, in_parts, worker_count
from helix_graph.errors import InvalidAssertion
from helix_graph.graph.asserted_facts import as_corrected, facts_alone, facts_with, unit_of
from helix_graph.graph.assertions import AssertionStore, decode_assertion, distinct, encode_assertion, name_of
from helix_graph.graph.episode_rows import SUFFIX, decode_episode
from helix_graph.graph.model import SkippedFile
from helix_graph.graph.observations import trial_of
from helix_graph.project import without_forgotten
from helix_graph.shards.engines import TABLES
from helix_graph.shards.files import (
    Member,
    ShardKey,
    is_remembered,
    path_of_shard,
    read_members,
    remember_folder,
    shard_files,
    write_shard,
)
from helix_graph.shards.rows import FACTS, Row, episode_id, rows_by_fact
from helix_graph.trust import ACCEPTANCE

if TYPE_CHECKING:
    from helix_graph.graph.asserted_facts import Named
    from helix_graph.graph.model import EpisodeFacts
    from helix_graph.graph.observations import Trial

    Progress = Callable[[int, int, Path], None]
    #: The shards that are there with their episodes; None for what is no shard of this version.
    _Stored = dict[Path, dict[str, Member] | None]

#: So many files are looked at in one task: a tenth of a second's work.
_FILES_AT_A_TIME = 64
#: A process starts in a third of a second, and reads so many bytes in one.
_WORTH_A_WORKER = 4_000_000


class PackReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack did: shards ``written``, ``removed`` and left ``unchanged`` in ``folder``.

    ``episodes`` and ``rows`` are those of the shards that were written, ``skipped`` the files that could not be read.
    """

    folder: Path
    written: int
    removed: int
    unchanged: int
    episodes: int
    rows: int
    skipped: tuple[SkippedFile, ...] = ()


class _Source(msgspec.Struct, frozen=True, array_like=True):
    """An episode of a memory with the assertions about it; ``known`` are the digests that shards have of it."""

    path: Path
    size: int
    asserted: tuple[tuple[str, bytes], ...] = ()
    known: tuple[str, ...] = ()


class _Found(msgspec.Struct, frozen=True, array_like=True):
    """What is in a source's file now; ``key`` is None where a shard knows the digest, or the file is no episode."""

    digest: str
    key: ShardKey | None = None
    problem: str | None = None


def pack(
    memories: Sequence[Path], output: Path, *, workers: int | None = 1, progress: Progress | None = None
) -> PackReport:
    """Brings the shards in ``output`` up to date with the episodes of some memories, as people have corrected them.

    Args:
        memories: The folders that have ``episodes`` and ``causality/assertions`` (``.helix``); together they are all
            that the shards may have.
        output: The folder of the shards; made when it is not there. What else is in it is left alone. Each memory
            remembers it, for what it forgets later.
        workers: At most so many processes where there is much to do; None: one for each core.
        progress: Called with shards done, shards to write and the shard, before each is written.

    Raises:
        NotFound: A folder has nothing of a memory.
        InvalidArgument: ``output`` is within a memory, has sums, or has shards of other memories' sessions. Of those
            that one of the memories was packed to before, only what has none but others' sessions.
    """
    for one in memories:
        if not any((one / name).exists() for name in (ACCEPTANCE, "episodes", "causality", "helix.db", "shared")):
            raise NotFound(f"no memory {str(one)!r}; name the folder of one (.helix)")
    if any(output.resolve().is_relative_to(one.resolve()) for one in memories):
        raise InvalidArgument("output", f"is {str(output)!r}, which is within a memory; name a folder outside")
    make_output_folder(output)
    with WriteFailed.for_os_errors(output), locked(output):
        stored = {path: read_members(path) for path in shard_files(output)}
        _require_own(memories, output, stored)
        return _pack(memories, output, stored, workers=workers, progress=progress)


def _require_own(memories: Sequence[Path], output: Path, stored: _Stored) -> None:
    """Raises where these memories would take everything out of the folder that others have packed there."""
    if any((output / f"{name}.parquet").exists() for name in TABLES):
        raise InvalidArgument("output", f"is {str(output)!r}, which has the sums of a fold; name another folder")
    here = {path.stem for one in memories for path in EpisodeStore(one / "episodes").files()}
    there = {name for members in stored.values() for name in members or ()}
    if here and there and here.isdisjoint(there):
        problem = "has shards of other memories' sessions alone; name these memories too, or another folder"
        raise InvalidArgument("output", f"is {str(output)!r}, which {problem}")


def _pack(
    memories: Sequence[Path], output: Path, stored: _Stored, *, workers: int | None, progress: Progress | None
) -> PackReport:
    known: defaultdict[str, dict[str, Path]] = defaultdict(dict)
    for path, members in stored.items():
        for name, member in (members or {}).items():
            known[name][member.digest] = path
    wanted, skipped = _wanted(memories, output, known, workers=workers)
    if not any(is_remembered(one, output) for one in memories):
        _require_none_of_others(output, stored, wanted, skipped)
    for one in memories:
        remember_folder(one, output)
    tasks = [
        (path, [source for source, _ in sources.values()])
        for path, sources in sorted(wanted.items())
        if {name: digest for name, (_, digest) in sources.items()}
        != {name: member.digest for name, member in (stored.get(path) or {}).items()}
    ]
    many = worker_count(sum(one.size for _, sources in tasks for one in sources), worth=_WORTH_A_WORKER, asked=workers)
    episodes = rows = 0
    for done, packed in enumerate(in_order(_write, tasks, workers=many)):
        if progress:
            progress(done, len(tasks), tasks[done][0])
        episodes, rows = episodes + packed[0], rows + packed[1]
    gone = [path for path in stored if path not in wanted]
    for path in (*gone, *output.glob(f"*/.*{TEMPORARY_SUFFIX}")):  # others are left of a pack that was killed
        remove_file(path)
    return PackReport(
        folder=output,
        written=len(tasks),
        removed=len(gone),
        unchanged=len(wanted) - len(tasks),
        episodes=episodes,
        rows=rows,
        skipped=tuple(sorted(skipped, key=lambda one: one.path)),
    )


_Wanted = dict[Path, dict[str, tuple[_Source, str]]]


def _require_none_of_others(output: Path, stored: _Stored, wanted: _Wanted, skipped: Sequence[SkippedFile]) -> None:
    """Raises where what is there did not come from these memories alone: one session that others have too is no sign.

    In a folder that one of them was packed to before, such shards are what has left the memories since.
    """
    ours = {name for sources in wanted.values() for name in sources} | {Path(one.path).stem for one in skipped}
    others = [
        path
        for path, members in stored.items()
        if (path not in wanted if members is None else not members.keys() <= ours)
    ]
    if others:
        number = f"{len(others)} shard{'s'[: len(others) != 1]}"
        problem = f"has {number} of others, such as {others[0].relative_to(output)}"
        raise InvalidArgument(
            "output", f"is {str(output)!r}, which {problem}; name the memories of these too, or another folder"
        )


def _wanted(
    memories: Sequence[Path], output: Path, known: dict[str, dict[str, Path]], *, workers: int | None
) -> tuple[_Wanted, list[SkippedFile]]:
    """What each shard is to have: its episodes by name, with their digests; and what could not be read."""
    sources = [one for memory in memories for one in _sources(memory, known)]
    many = worker_count(sum(one.size for one in sources), worth=_WORTH_A_WORKER, asked=workers)
    decoder = msgspec.msgpack.Decoder(list[_Found])
    newest: dict[str, tuple[str, _Source, Path]] = {}
    skipped = []
    packed = in_order(_look_at, in_parts(sources, _FILES_AT_A_TIME), workers=many)
    found = (one for each in packed for one in decoder.decode(each))
    for source, one in zip(sources, found, strict=True):
        name = source.path.stem
        if one.problem is not None:
            skipped.append(SkippedFile(path=str(source.path), problem=one.problem))
        elif one.digest:
            path = path_of_shard(output, one.key) if one.key else known[name][one.digest]
            newest[name] = max(
                newest.get(name, ("", source, path)), (one.digest, source, path), key=lambda each: each[0]
            )
    wanted: _Wanted = defaultdict(dict)
    for name, (digest, source, path) in sorted(newest.items()):
        wanted[path][name] = (source, digest)
    return dict(wanted), skipped


def _sources(memory: Path, known: dict[str, dict[str, Path]]) -> Iterator[_Source]:
    """The episodes of a memory, and the assertions about episodes that it has not."""
    store = EpisodeStore(memory / "episodes")
    asserted: defaultdict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for path, one in AssertionStore(memory / "causality" / "assertions").scan():
        if not isinstance(one, InvalidAssertion) and (unit := unit_of(name_of(one), one)):
            asserted[unit].append((path.stem, encode_assertion(one)))
    for path in without_forgotten(memory, store.files()):
        name = path.stem
        try:
            size = path.stat().st_size
        except OSError:  # gone meanwhile, or unreadable: reading it says so
            size = 0
        yield _Source(path, size, tuple(asserted.pop(name, ())), tuple(known.get(name, ())))
    for unit, bodies in sorted(asserted.items()):
        yield _Source(store.folder / f"{unit}{SUFFIX}", 0, tuple(bodies), tuple(known.get(unit, ())))


def _look_at(sources: tuple[_Source, ...]) -> bytes:
    return msgspec.msgpack.encode([_find(one) for one in sources])


def _find(source: _Source) -> _Found:
    """What a source holds; without a digest where it has nothing to say (any more)."""
    try:
        digest, data = _read(source)
        if digest in source.known:
            return _Found(digest)
        facts, _, project = _facts(source, data)
    except OSError as error:
        return _Found("", problem=f"cannot be read: {error.strerror or error}")
    except InvalidEpisode as error:
        return _Found("", problem=error.problem)
    if facts is None:
        return _Found("")
    return _Found(digest, ShardKey(episode_id(facts, project=project, digest=digest).day, project or ""))


def _read(source: _Source) -> tuple[str, bytes | None]:
    """The digest of an episode's file with its assertions, and the file; None where there are assertions alone."""
    try:
        data = read_own(source.path)
    except FileNotFoundError:
        data = None
    digest = hashlib.blake2b(b"" if data is None else data, digest_size=16)
    for name, body in source.asserted:
        digest.update(b"\0" + name.encode() + b"\0" + body)
    return digest.hexdigest(), data


def _facts(source: _Source, data: bytes | None) -> tuple[EpisodeFacts | None, Trial | None, str | None]:
    """What an episode says, as `helix_graph.graph.episode_rows` reads it, and its project."""
    asserted: Sequence[Named] = distinct(
        (name, decode_assertion(body, path=source.path)) for name, body in source.asserted
    )
    if data is None:
        return facts_alone(source.path.stem, asserted), None, None
    extracted = decode_episode(data, source.path)
    episode = as_corrected(extracted, asserted)
    return facts_with(episode, asserted, extracted=extracted), trial_of(episode), episode.project


def _write(task: tuple[Path, list[_Source]]) -> tuple[int, int]:
    """Writes one shard from the files as they are now; gives its numbers of episodes and rows."""
    path, sources = task
    rows: dict[str, list[Row]] = {fact: [] for fact in FACTS}
    members: dict[str, Member] = {}
    for source in sources:
        try:
            digest, data = _read(source)
            facts, trial, project = _facts(source, data)
        except (OSError, InvalidEpisode):  # it has changed since it was looked at: the next pack says so
            continue
        if facts is not None:
            where = episode_id(facts, project=project, digest=digest)
            members[facts.episode] = Member(digest, facts.session or facts.episode.removeprefix(PREFIX))
            for fact, several in rows_by_fact(facts, trial, where).items():
                rows[fact] += several
    return len(members), write_shard(path, rows, members)
