"""Fingerprints: enough of a text to find it again in any file, and too little to read it.

Of each text the length, a 20-bit hash of its first twelve bytes and a 128-bit hash of the whole are kept. A search
computes the short hash at every place of a file at once; where it is one of those kept, the long hash decides. So a
file is read once, however many texts are looked for, and the search can be taken up again by another process that
never saw the texts. Twenty bits say next to nothing about twelve bytes; whoever guesses a whole text can check the
guess, as with any hash.

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

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import numpy as np

#: Shorter texts are words that everybody uses; in a database such a run of bytes also comes about by chance.
SHORTEST = 12
#: The start of a long text is enough to find it by; the rest may lie on another page of a database.
_LONGEST = 200
#: The size of the short hash: its table of 1 MB stays in a processor's cache, and one place in 200 is a false alarm
#: for the 5,000 texts of a long session.
_SHORT_BITS = 20
_DIGEST_BYTES = 16
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
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES, person=b"helix-trace").hexdigest()


class Searcher:
    """Looks for texts by their fingerprints; those in ``bounded`` count only where they stand as words."""

    def __init__(self, wanted: Collection[Fingerprint], *, bounded: Collection[Fingerprint] = ()) -> None:
        import numpy as np  # noqa: PLC0415  (takes 100 ms to load, and only a search needs it)

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
        import numpy as np  # noqa: PLC0415  (as above)

        if len(data) < SHORTEST:
            return
        shorts = _shorts(np.frombuffer(data, dtype=np.uint8))
        places = np.flatnonzero(self._table[shorts])
        yield from zip(places.tolist(), shorts[places].tolist(), strict=True)


def _shorts(data: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The short hash at every place, as `_form` computes it."""
    import numpy as np  # noqa: PLC0415  (as above)

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
