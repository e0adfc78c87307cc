"""Tombstones remember that a session was forgotten, and nothing else of it.

Without them the next run over the folder of logs would bring a forgotten session back. A tombstone is a file in
``forgotten/`` named by a hash of the session's id. It contains hashes of the ids of the session's steps, because the
log of a resumed session begins with a copy of the earlier one.

Until a search has verified that nothing remains, the tombstone also stores fingerprints of the session's texts: the
length, a 20-bit hash of the first twelve bytes and a 128-bit hash of the whole. A search computes the short hash at
every position of a file and compares the long hash where it matches, so a file is read once for any number of texts.

>>> prints = fingerprints_of(["the guillotine of hall seven", "the bindery"])
>>> len(prints), prints == Searcher(prints).search(b"... the guillotine of hall seven is stuck")
(1, True)
"""

from __future__ import annotations

import hashlib
import io
from abc import abstractmethod
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from helix_episodes.io import read_regular, write_atomically

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    import numpy as np


#: Shorter texts are words that everybody uses; in a database such a run of bytes also comes about by chance.
SHORTEST = 12
#: The start of a long text is enough to find it by; the rest may lie on another page of a database.
_LONGEST = 200
#: The size of the short hash: its table of 1 MB stays in a processor's cache, and one place in 200 is a false alarm
#: for the 5,000 texts of a long session.
_SHORT_BITS = 20
_FINGERPRINT_BYTES = 16
#: What is read at a time: its hashes (four bytes a place) stay in the cache.
_CHUNK = 1 << 20
_MULTIPLIER, _MIXER = 0x01000193, 0x9E3779B1  # FNV's prime, and the golden ratio for the upper bits
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_BEFORE_WORD = _WORD | {ord(".")}


class Readable(Protocol):
    """Whatever gives bytes piece by piece."""

    @abstractmethod
    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many; none at the end."""


class Form(msgspec.Struct, frozen=True, array_like=True, order=True):
    """One way in which a text is written: plain, or escaped as in JSON."""

    length: int
    short: int
    digest: str


class Fingerprint(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A text that can be looked for. ``names``: it is the id of a session."""

    forms: tuple[Form, ...]
    names: bool = False


def fingerprints_of(texts: Iterable[str], *, names: bool = False) -> frozenset[Fingerprint]:
    """The fingerprints of those texts that are long enough to be looked for."""
    return frozenset(
        Fingerprint(tuple(sorted({_form(data) for data in _written(text)})), names=names)
        for text in texts
        if len(text) >= SHORTEST
    )


def _written(text: str) -> tuple[bytes, bytes]:
    plain = text[:_LONGEST].encode("utf-8", "replace")
    return plain, msgspec.json.encode(plain.decode())[1:-1]


def _form(data: bytes) -> Form:
    value = 0
    for byte in data[:SHORTEST]:
        value = (value * _MULTIPLIER + byte) & 0xFFFFFFFF
    short = (value * _MIXER & 0xFFFFFFFF) >> (32 - _SHORT_BITS)
    return Form(length=len(data), short=short, digest=_digest(data))


def _digest(data: bytes | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=_FINGERPRINT_BYTES, person=b"helix-trace").hexdigest()


class Searcher:
    """Looks for texts by their fingerprints; those in ``bounded`` count only where they stand as words."""

    def __init__(self, wanted: Collection[Fingerprint], *, bounded: Collection[Fingerprint] = ()) -> None:
        import numpy as np

        self._table = np.zeros(1 << _SHORT_BITS, dtype=np.bool_)
        self._by_short: dict[int, dict[int, dict[str, Fingerprint]]] = defaultdict(lambda: defaultdict(dict))
        self._bounded = frozenset(bounded)
        self._overlap = 1 + max((form.length for one in wanted for form in one.forms), default=0)
        for one in wanted:
            for form in one.forms:
                self._table[form.short] = True
                self._by_short[form.short][form.length][form.digest] = one

    def search(self, data: bytes) -> set[Fingerprint]:
        """Those that stand in the data."""
        return self.search_stream(io.BytesIO(data))

    def search_stream(self, stream: Readable) -> set[Fingerprint]:
        """Those that stand in what the stream gives, which may be larger than memory."""
        found: set[Fingerprint] = set()
        for data, first, last in _overlapping(stream, self._overlap):
            found.update(self._found_in(data, first=first, last=last, known=found))
        return found

    def _found_in(self, data: bytes, *, first: bool, last: bool, known: set[Fingerprint]) -> Iterator[Fingerprint]:
        """The start of a later piece and the end of an earlier one are left to the piece that holds their surroundings.

        Otherwise a name that is cut by the border would pass for a word.
        """
        view = memoryview(data)
        for place, short in self._likely(data):
            if place == 0 and not first:
                continue
            for length, digests in self._by_short[short].items():
                end = place + length
                if end > len(data) or (end == len(data) and not last):
                    continue
                one = digests.get(_digest(view[place:end]))
                if one and one not in known and (one not in self._bounded or _is_word(data, place, end)):
                    yield one

    def _likely(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Places whose short hash is one of those wanted, with it."""
        import numpy as np

        if len(data) < SHORTEST:
            return
        shorts = _shorts(np.frombuffer(data, dtype=np.uint8))
        places = np.flatnonzero(self._table[shorts])
        yield from zip(places.tolist(), shorts[places].tolist(), strict=True)


def _shorts(data: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The short hash at every place, as `_form` computes it."""
    import numpy as np

    count = len(data) - SHORTEST + 1
    values = np.zeros(count, dtype=np.uint32)
    for offset in range(SHORTEST):
        values *= np.uint32(_MULTIPLIER)
        values += data[offset : offset + count]
    values *= np.uint32(_MIXER)
    return values >> np.uint32(32 - _SHORT_BITS)


def _overlapping(stream: Readable, overlap: int) -> Iterator[tuple[bytes, bool, bool]]:
    """The content in pieces, each with the end of the one before; whether it holds the start, and whether the end."""
    kept, first = b"", True
    chunk = stream.read(_CHUNK)
    while chunk:
        following = stream.read(_CHUNK)
        data = kept + chunk
        yield data, first, not following
        first = first and len(data) <= overlap
        kept, chunk = data[-overlap:], following


def _is_word(data: bytes, start: int, end: int) -> bool:
    return (start == 0 or data[start - 1] not in _BEFORE_WORD) and (end == len(data) or data[end] not in _WORD)


FOLDER = "forgotten"
#: Two sessions with the same hash would be forgotten together; 128 bits rule that out.
_DIGEST_BYTES = 16


class Unproved(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be searched for, by fingerprints. ``too_short`` texts are not."""

    texts: tuple[Fingerprint, ...] = ()
    too_short: int = 0


class Tombstone(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands in a tombstone's file: hashes of the ids of the session's steps, and what is still to be proved."""

    steps: tuple[str, ...] = ()
    unproved: Unproved | None = None


def digest(name: str) -> str:
    """The hash under which a session or a step is remembered as forgotten.

    >>> digest("session-1") == digest("session-1") != digest("session-2")
    True
    """
    data = name.encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES, person=b"helix-forget").hexdigest()


class Tombstones:
    """Those of one memory. ``root`` is its ``.helix`` folder."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER

    def path_of(self, session: str) -> Path:
        """Where the session's tombstone is or would be."""
        return self.folder / f"{digest(session)}.json"

    def holds(self, session: str) -> bool:
        """Whether the session was forgotten."""
        return self.path_of(session).is_file()

    def bury(self, session: str, *, steps: Iterable[str], unproved: Unproved) -> None:
        """Remembers that the session was forgotten, the ids of its steps, and what is to be searched for.

        What an earlier attempt has remembered stays: it may have seen more of the session.

        Raises:
            WriteFailed: The disk is full or the folder read-only.
        """
        path = self.path_of(session)
        old = _read(path) or Tombstone()
        known = {digest(step) for step in steps}
        before = old.unproved or Unproved()
        waiting = Unproved(
            texts=tuple(sorted({*before.texts, *unproved.texts})),
            too_short=max(before.too_short, unproved.too_short),
        )
        stone = Tombstone(steps=tuple(sorted({*old.steps, *known})), unproved=waiting)
        write_atomically(path, msgspec.json.encode(stone))

    def unproved(self) -> dict[str, Unproved]:
        """What is still to be proved of which forgotten sessions, by the hashes of their ids."""
        return {path.stem: stone.unproved for path, stone in self._all() if stone.unproved is not None}

    def settle(self, digests: Iterable[str]) -> None:
        """Drops the fingerprints of these sessions: a search has found nothing of them.

        Raises:
            WriteFailed: The disk is full or the folder read-only.
        """
        for name in digests:
            path = self.folder / f"{name}.json"
            stone = _read(path)
            if stone and stone.unproved is not None:
                write_atomically(path, msgspec.json.encode(Tombstone(steps=stone.steps)))

    def lift(self, session: str) -> None:
        """Lets the session in again."""
        self.path_of(session).unlink(missing_ok=True)

    def steps(self) -> frozenset[str]:
        """The hashes of the steps of all forgotten sessions."""
        return frozenset(step for _, stone in self._all() for step in stone.steps)

    def _all(self) -> Iterator[tuple[Path, Tombstone]]:
        for path in sorted(self.folder.glob("*.json")):
            stone = _read(path)
            if stone:  # the name alone keeps a session out; of a spoilt file the doctor tells
                yield path, stone


def all_of(several: Iterable[Unproved]) -> Unproved:
    """What is to be searched for, of several sessions together."""
    each = list(several)
    texts = {text for one in each for text in one.texts}
    return Unproved(texts=tuple(sorted(texts)), too_short=sum(one.too_short for one in each))


def _read(path: Path) -> Tombstone | None:
    try:
        return msgspec.json.decode(read_regular(path), type=Tombstone)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
