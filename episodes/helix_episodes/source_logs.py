"""Provenance: which log an episode was read from, what happened to that log since, and which steps it copied.

Sizes and hashes tell whether a log is the same, has grown, or is another one. A session that is resumed into a new log
begins there with a copy of the old one, under the same ids. Where ids are unique in the world (a UUID, a long random
string) the same id is the same message. Other agents count: ``m1``, ``m2``; there the agent, the start, the times and
the words must agree as well. What cannot be compared is not taken for a copy: counted twice is better than lost.

>>> is_unique("7a3cf82d-9284-4b61-9e6b-d409226efa84"), is_unique("m1"), is_unique("message-000000000000000012")
(True, False, False)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.corrections import parts_of
from helix_episodes.errors import LogNotReadable
from helix_episodes.extraction.drafts import iso, timestamp_of
from helix_episodes.extraction.pipeline import EXTRACTOR_VERSION
from helix_episodes.model import Decision, Episode, Event, Provenance
from helix_episodes.msgspec_types import read_json
from helix_episodes.redaction import redact_text
from helix_episodes.redaction.value_looks import looks_random
from helix_episodes.safe_files import open_regular

if TYPE_CHECKING:
    from helix_episodes.session import Session, Step


_CHUNK = 1 << 20


class EpisodeBeginning(msgspec.Struct, frozen=True):
    """As much of an episode's file as tells how its log began; decoding skips the rest ten times faster."""

    session: str
    provenance: Provenance | None = None


def read_beginning(path: Path) -> EpisodeBeginning | None:
    """How an episode's log began; None for a file that is no episode, of which `helix-graph compile` reports."""
    return read_json(path, EpisodeBeginning)


def change_since(
    old: Episode | None, new: Provenance, *, prefix: str
) -> Literal["new", "unchanged", "grown", "differs"]:
    """What has become of a log since it was recorded; ``prefix`` is the hash of as much of it as was recorded then."""
    if old is None:
        return "new"
    if old.provenance is None:
        return "differs"
    if old.provenance.sha256 == new.sha256:
        same = (old.provenance.extractor, old.provenance.parts) == (new.extractor, new.parts)
        return "unchanged" if same else "grown"
    return "grown" if old.provenance.sha256 == prefix else "differs"


def is_older(session: Session, new: Provenance, old: Episode) -> bool:
    """Whether a log is the beginning of the one that was recorded, as far as the episode can tell.

    It begins with the same step, is shorter and ends with an earlier one, and of each of its lines that the episode
    quotes the step is the same. So only a log whose steps have ids can be recognised.
    """
    before = old.provenance
    if before is None or not new.first or new.first != before.first or new.last == before.last:
        return False
    steps = {(step.source.line, step.source.id) for step in session.steps if step.source.file is None}
    end = max(line for line, _ in steps)
    evidence = (one.evidence for one in parts_of(old))
    quoted = {(one.line, one.id) for one in evidence if one and one.file is None and one.line <= end}
    return new.bytes < before.bytes and quoted <= steps


def fingerprint(path: Path, *, upto: int) -> tuple[int, str, str]:
    """The size of a file, the SHA-256 of it, and that of its first ``upto`` bytes."""
    whole, prefix, size = hashlib.sha256(), hashlib.sha256(), 0
    with LogNotReadable.for_os_errors(path), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            whole.update(chunk)
            prefix.update(chunk[: max(0, upto - size)])
            size += len(chunk)
    return size, whole.hexdigest(), prefix.hexdigest()


def is_log_of(log: Path, recorded: Provenance, *, ids: Iterable[str]) -> bool:
    """Whether ``recorded`` says of a log what only those can who have read it; the log may have grown since.

    What was recorded has to be whole lines with all of ``ids``: anybody can tell the hash of nothing, or of how every
    log of an agent begins.

    Raises:
        OSError: The log cannot be read.
    """
    size = log.stat().st_size
    if not 0 < recorded.bytes <= size or recorded.sha256 != fingerprint(log, upto=recorded.bytes)[2]:
        return False
    with open_regular(log, follow=True) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        is_whole = recorded.bytes == size or data[recorded.bytes - 1] == ord("\n")
        return is_whole and all(data.find(one.encode(), 0, recorded.bytes) >= 0 for one in ids)


def own_fingerprint(session: Session, old: Provenance | None) -> tuple[int, str, str]:
    """As `fingerprint`, of a session's steps instead of its log's bytes, for logs that are rewritten.

    A message that was completed meanwhile changes an early step: then the recorded first and last ids, both still
    there, represent the old steps.
    """
    steps = b"\n".join(map(msgspec.json.encode, session.steps))
    own = [step.source.id for step in session.steps if step.source.id]
    if old is not None and own[:1] == [old.first] and old.last in own:
        prefix = old.sha256
    else:
        prefix = hashlib.sha256(steps[: old.bytes if old else 0]).hexdigest()
    return len(steps), hashlib.sha256(steps).hexdigest(), prefix


def parts_fingerprint(path: Path) -> str | None:
    """The SHA-256 of the logs in the folder that is named as this log: its helpers', which belong to the session."""
    folder = path.with_suffix("")
    files = sorted(one for one in folder.rglob("*.jsonl") if one.is_file()) if folder.is_dir() else []
    digests = [f"{one.relative_to(folder)} {fingerprint(one, upto=0)[1]}" for one in files]
    return hashlib.sha256("\n".join(digests).encode("utf-8", "backslashreplace")).hexdigest() if digests else None


def provenance_of(path: Path, session: Session, *, size: int, digest: str) -> Provenance:
    """What an episode is to remember of the log that its session was read from."""
    return Provenance(
        log=path.name.encode("utf-8", "backslashreplace").decode(),
        sha256=digest,
        bytes=size,
        reader=session.reader,
        extractor=EXTRACTOR_VERSION,
        first=first_id(session.steps),
        last=first_id(session.steps[::-1]),
        parts=parts_fingerprint(path),
    )


def first_id(steps: tuple[Step, ...]) -> str | None:
    """The id of the first step that has one."""
    return next((step.source.id for step in steps if step.source.id), None)


def last_id(episode: Episode) -> str | None:
    """The id of the last step of the episode's log."""
    return episode.provenance.last if episode.provenance else None


def ids_in(episode: Episode) -> Iterator[str]:
    """The ids of steps that an episode is known to hold."""
    ends = (episode.provenance.first, episode.provenance.last) if episode.provenance else ()
    yield from filter(None, (*ends, *(one.evidence.id for one in parts_of(episode) if one.evidence)))


_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_unique(name: str) -> bool:
    """Whether an id is made so that no other session can have it."""
    return _UUID.search(name) is not None or looks_random(name)


def has_same_beginning(session: Session, other: Episode) -> bool:
    """Whether the steps that both have ids for are the same ones; asked of two that begin with the same id."""
    first = other.provenance.first if other.provenance else None
    if first and is_unique(first):
        return True
    if other.agent is None or other.agent.name != session.agent or session.started is None:
        return False
    return other.timestamp == iso(session.started) and _quotations_match(session, other)


def without_first_steps(session: Session, count: int, *, copied_from: str) -> Session:
    """The session without its first steps; lines with only those count as skipped, not as used."""
    remaining = {(step.source.file, step.source.line) for step in session.steps[count:]}
    gone = {(step.source.file, step.source.line) for step in session.steps[:count]} - remaining
    accounting = session.accounting
    lines = min(len(gone), accounting.used)
    skipped = {**accounting.skipped, f"copy of {copied_from}": lines}
    return msgspec.structs.replace(
        session,
        steps=session.steps[count:],
        accounting=msgspec.structs.replace(accounting, used=accounting.used - lines, skipped=skipped),
    )


def _quotations_match(session: Session, other: Episode) -> bool:
    """Whether each quotation of the other's from a step that both have is there, at the same time."""
    steps: dict[str, list[Step]] = {}
    for step in session.steps:
        steps.setdefault(step.source.id or "", []).append(step)
    quoted = ((one, one.evidence.id) for one in parts_of(other) if one.evidence and one.evidence.id)
    shared = [(one, steps[name]) for one, name in quoted if name in steps]
    return bool(shared) and all(any(_is_quoted_from(one, step) for step in own) for one, own in shared)


def _is_quoted_from(one: Decision | Event, step: Step) -> bool:
    quote = one.evidence.quote.removesuffix("\u2026") if one.evidence else ""
    if timestamp_of(step) != one.timestamp:
        return False
    texts = [step.text, *(value for value in step.arguments.values() if isinstance(value, str))]
    words = redact_text("\n".join(texts))
    return all(part in words for part in quote.split("\n"))
