"""The rows of one episode in graph.db, made from its file by whatever process has time.

Nothing here asks the database. A mention and a claim name their nodes by place in ``nodes``; the process that writes
puts in the numbers. Rows are in the order of their table's key, as reading them back gives them, and packed once: for
the process that writes, and for their checksum.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import astuple

from helix_episodes.errors import InvalidEpisode
from helix_episodes.later_evidence import EpisodeSignals, signals_of
from helix_episodes.model import Episode, sortable_time
from helix_episodes.msgspec_types import ready
from helix_episodes.safe_files import read_own
from helix_episodes.store import MISNAMED, without_value
from helix_graph.database import as_list
from helix_graph.graph.asserted_facts import Named, as_corrected, facts_with
from helix_graph.graph.assertions import decode_assertion, distinct
from helix_graph.graph.mentions import wording
from helix_graph.graph.model import EpisodeFacts, Mention
from helix_graph.graph.node_labels import EpisodeLabels
from helix_graph.graph.observations import Trial, pack, trial_of
from helix_graph.graph.patterns import patterns_of
from helix_graph.graph.row_checksums import NOTHING, checksum
from helix_graph.graph.similar_decisions import decision_rows

SUFFIX = ".json"

#: The id, type and label of a node.
NodeRow = tuple[str, str, str]
#: The first fields of `EpisodeFacts`, up to its log, are columns of their own; they come in this order.
EPISODE_FIELDS = EpisodeFacts.__struct_fields__.index("log") + 1


class EpisodeRows(msgspec.Struct, frozen=True, array_like=True):
    """``content`` is an `EpisodeContent`, packed, and ``checksum`` that of its bytes.

    ``moment`` is when it began. ``about`` is the outcome, its basis and the origin, ``counts`` how often each node is
    mentioned. ``telling`` is a row of its own. ``digest`` is the packed trial with its checksum, ``patterns`` are the
    ids of those that the episode is a use of.
    """

    number: int
    content: bytes
    checksum: int
    moment: str
    about: tuple[str, str, str]
    counts: list[int]
    telling: tuple[Any, ...] | None = None
    digest: tuple[bytes, int] | None = None
    patterns: tuple[str, ...] = ()


class EpisodeContent(msgspec.Struct, frozen=True, array_like=True):
    """All that the rows of an episode say, but for what has a checksum of its own.

    ``episode`` has its own columns but the checksum, ``nodes`` are those of its mentions, in their order. ``parts`` are
    the rows in each of `PARTS` (`helix_graph.graph.row_checksums`), one value after the other, with `NOTHING` where
    there is no value, and the places of nodes for their numbers.
    """

    episode: list[Any]
    nodes: list[NodeRow]
    parts: list[list[Any]]


class FileStamp(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What shows that a file is the same without opening it; ``mtime_ns`` is 0 when it can't be relied on.

    There are tens of thousands of these and none is in a reference cycle, so ``gc=False`` is safe and faster.
    """

    size: int
    mtime_ns: int


class ReadFile(msgspec.Struct, frozen=True, array_like=True):
    """A file that was read: its rows, or what is wrong with it. ``left_out`` are links that name no end."""

    name: str
    stamp: FileStamp
    sha256: bytes
    problem: str | None = None
    rows: EpisodeRows | None = None
    left_out: tuple[str, ...] = ()


class FileToRead(msgspec.Struct, frozen=True, array_like=True):
    """A file and the number that its episode gets.

    ``known`` is the hash that is known of it: a file that has it is not read on. ``asserted`` are the names and bodies
    of the assertions about its episode.
    """

    name: str
    stamp: FileStamp
    number: int
    known: bytes | None = None
    asserted: tuple[tuple[str, bytes], ...] = ()


def read_file(folder: Path, one: FileToRead) -> ReadFile:
    """As `_read_file`; an error, which only the program can be guilty of, names the file."""
    try:
        return _read_file(folder, one)
    except BaseException as error:
        error.add_note(f"while reading {folder / one.name}")
        raise


def _read_file(folder: Path, one: FileToRead) -> ReadFile:
    """A file's rows, or what is wrong with it; never raises for what a file may contain.

    A file that is as known has neither rows nor a problem; one that is gone since the folder was listed no hash either.
    """
    path = f"{folder}/{one.name}"  # making a Path takes longer than the hash of most files
    try:
        data = read_own(path)
    except FileNotFoundError:
        return ReadFile(one.name, one.stamp, b"")
    except OSError as error:
        return ReadFile(one.name, FileStamp(0, 0), b"", f"cannot be read: {error.strerror or error}")
    digest = hashlib.sha256(data).digest()
    if digest == one.known:
        return ReadFile(one.name, one.stamp, digest)
    try:
        extracted = decode_episode(data, path)
    except InvalidEpisode as error:
        return ReadFile(one.name, one.stamp, digest, error.problem)
    asserted: list[Named] = []
    if one.asserted:
        asserted = distinct((name, decode_assertion(body, path=Path(path))) for name, body in one.asserted)
    episode = as_corrected(extracted, asserted)
    labels = EpisodeLabels(episode)
    facts = facts_with(episode, asserted, extracted=extracted, labels=labels)
    rows = rows_of(facts, one.number, trial=trial_of(episode, labels), signals=signals_of(extracted))
    return ReadFile(one.name, one.stamp, digest, rows=rows, left_out=facts.problems)


#: A folder, and several of its files.
ReadingTask = tuple[Path, tuple[FileToRead, ...]]


def read_files(task: ReadingTask) -> bytes:
    """`read_file` for several files of a folder, packed as another process hands them over."""
    return msgspec.msgpack.encode([read_file(task[0], one) for one in task[1]])


def decode_episode(data: bytes, path: Path | str) -> Episode:
    """The episode in a file, which has to bear its id as its name: a copy under another name is no second session.

    Raises:
        InvalidEpisode: It does not fit the schema, or bears another id than its file.
    """
    try:
        episode = msgspec.json.decode(data, type=ready(Episode))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidEpisode(path=Path(path), problem=without_value(str(error))) from error
    if str(path).rpartition("/")[2] != f"{episode.id}{SUFFIX}":
        raise InvalidEpisode(path=Path(path), problem=MISNAMED)
    return episode


def rows_of(
    facts: EpisodeFacts, number: int, *, trial: Trial | None = None, signals: EpisodeSignals | None = None
) -> EpisodeRows:
    """The rows of these facts, of a trial, and of what the episode shows about earlier ones."""
    fields = astuple(facts)[:EPISODE_FIELDS]
    moment = sortable_time(facts.timestamp)
    places: dict[str, int] = {}
    nodes: list[NodeRow] = []
    counts: list[int] = []
    mentions: list[Any] = []
    issues: list[Any] = []
    for one in facts.mentions:
        place = places.get(one.node)
        if place is None:
            place = places[one.node] = len(nodes)
            nodes.append((one.node, one.type, one.label))
            counts.append(0)
        counts[place] += one.counted
        mentions += _mention(number, place, one)
        if one.issues:
            for key in sorted(one.issues.split(" ")):
                issues += (key, number, one.local)
    claims: list[Any] = []
    for claim in facts.claims:
        claims += (
            places[claim.source],
            places[claim.target],
            claim.type,
            number,
            claim.source_local,
            claim.target_local,
            claim.reason,
            claim.weight,
            claim.loose,
            NOTHING if claim.line is None else claim.line,
            NOTHING if claim.quote is None else claim.quote,
            NOTHING if claim.lines is None else claim.lines,
        )
    problems = as_list(facts.problems) if facts.problems else "[]"
    content = msgspec.msgpack.encode(
        (
            [number, *fields[:3], moment, *fields[3:], problems, facts.origin],
            nodes,
            [
                mentions,
                issues,
                (number, wording(facts)),
                claims,
                _flat(_filled(number, astuple(one)) for one in facts.repairs),
                _flat(_filled(number, _with_real(astuple(one), 9)) for one in facts.runs),
                _flat(_filled(number, _with_real(astuple(one), 1)) for one in facts.costs),
                _flat(decision_rows(number, facts)),
            ],
        )
    )
    packed = pack(trial) if trial else None
    return EpisodeRows(
        number,
        content,
        zlib.crc32(content),
        moment,
        (facts.outcome, facts.basis, facts.origin),
        counts,
        _telling(number, signals) if signals else None,
        (packed, checksum((number, packed))) if packed is not None else None,
        patterns_of(trial.observations) if trial else (),
    )


def _flat(rows: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(rows))


def _mention(number: int, node: int, one: Mention) -> tuple[Any, ...]:
    """The row of a mention. Written out, because a loop over its columns takes three times as long."""
    return (
        number,
        one.local,
        node,
        NOTHING if one.place is None else one.place,
        NOTHING if one.thing is None else one.thing,
        one.raw,
        NOTHING if one.timestamp is None else one.timestamp,
        NOTHING if one.path is None else one.path,
        NOTHING if one.command is None else one.command,
        NOTHING if one.message is None else one.message,
        NOTHING if one.check is None else one.check,
        NOTHING if one.family is None else one.family,
        NOTHING if one.issues is None else one.issues,
        NOTHING if one.rationale is None else one.rationale,
        one.actor,
        NOTHING if one.line is None else one.line,
        NOTHING if one.log is None else one.log,
        one.quote,
        1 if one.counted else 0,
        one.context,
        NOTHING if one.outcome is None else one.outcome,
        1 if one.deliberate else 0,
        one.replaced,
    )


def _filled(number: int, row: tuple[Any, ...]) -> list[Any]:
    return [number, *[NOTHING if value is None else value for value in row]]


def _with_real(row: tuple[Any, ...], column: int) -> tuple[Any, ...]:
    """The row as it is read back: SQLite gives the numbers of a column of type REAL as floats."""
    value = row[column]
    return row if value is None else (*row[:column], float(value), *row[column + 1 :])


def _telling(number: int, signals: EpisodeSignals) -> tuple[Any, ...]:
    """What revisions of outcomes ask of the episode; its evidence only where it can matter to another episode."""
    matters = signals.commits or signals.early or signals.may_be_contradicted
    body = msgspec.msgpack.encode(signals, order="deterministic") if matters else None
    row = (
        *(number, signals.project, signals.begin.timestamp(), signals.session, int(signals.worked)),
        *(int(bool(signals.early)), int(bool(signals.commits)), int(signals.reverts), body),
    )
    return (*row, checksum(row))
