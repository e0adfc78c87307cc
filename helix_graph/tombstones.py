"""Tombstones remember that a session was forgotten, and nothing else of it.

Without them the next run over the folder of logs would bring a forgotten session back. A tombstone is a file in
``forgotten/`` named by a hash of the session's id. It contains hashes of the ids of the session's steps, because the
log of a resumed session begins with a copy of the earlier one.

Until a search has verified that nothing remains, the tombstone also stores fingerprints of the session's texts: the
length, a 20-bit hash of the first twelve bytes and a 128-bit hash of the whole. A search computes the short hash at
every position of a file and compares the long hash where it matches, so a file is read once for any number of texts.

>>> prints = fingerprints_of(["the guillotine of hall seven", "the bindery"])
>>> len(prints), prints == set(Searcher(prints).search([b"... the guillotine", b" of hall seven is stuck"]))
(1, True)
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.light_imports import blake2b
from helix_episodes.msgspec_types import read_json
from helix_episodes.safe_files import write_atomically
from helix_graph.project import FORGOTTEN, digest

if TYPE_CHECKING:
    import numpy as np


#: Shorter texts are common words; in a database such a run of bytes also comes about by chance.
_SHORTEST = 12
#: The start of a long text is enough to find it by; the rest may lie on another page of a database.
_LONGEST = 200
#: As JSON has it, a character is of six bytes at most; one more byte stands before the text.
_OVERLAP = 6 * _LONGEST + 1
#: The size of the short hash: its table of 1 MB stays in a processor's cache, and one position in 200 is a false alarm
#: for the 5,000 texts of a long session.
_SHORT_BITS = 20
_MULTIPLIER, _MIXER = 0x01000193, 0x9E3779B1  # FNV's prime, and the golden ratio for the upper bits
_WEIGHTS = [(_MIXER * pow(_MULTIPLIER, power, 1 << 32)) & 0xFFFFFFFF for power in range(_SHORTEST)]
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_BEFORE_WORD = _WORD | {ord(".")}


class Fingerprint(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A text that can be looked for. ``names``: it is the id of a session.

    ``forms`` are the ways in which it is written, plain and escaped as in JSON: length, short hash and long hash.
    """

    forms: tuple[tuple[int, int, str], ...]
    names: bool = False


def fingerprints_of(texts: Iterable[str], *, names: bool = False) -> frozenset[Fingerprint]:
    """The fingerprints of those texts that are long enough to be looked for."""
    return frozenset(Fingerprint(_forms_of(text), names=names) for text in texts if len(text) >= _SHORTEST)


def _forms_of(text: str) -> tuple[tuple[int, int, str], ...]:
    plain = text[:_LONGEST].encode("utf-8", "replace")
    written = {plain, msgspec.json.encode(plain.decode())[1:-1]}
    return tuple(sorted((len(data), int(_short_hashes(data[:_SHORTEST])[0]), _long_hash(data)) for data in written))


def _short_hashes(data: bytes) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The short hash at every position: a polynomial of twelve bytes, of which the upper bits are taken."""
    import numpy as np

    values = np.frombuffer(data, dtype=np.uint8).astype(np.uint32)
    return np.convolve(values, np.array(_WEIGHTS, dtype=np.uint32), "valid") >> np.uint32(32 - _SHORT_BITS)


def _long_hash(data: bytes | memoryview) -> str:
    """One of 128 bits, with which no text is taken for another."""
    return blake2b(data, digest_size=16, person=b"helix-trace").hexdigest()


class Searcher:
    """Looks for texts by their fingerprints.

    Of a text for which ``longer`` has those that may stay and that it is a part of, it counts only what is in none of
    them and stands as a word.
    """

    def __init__(
        self, wanted: Collection[Fingerprint], *, longer: Mapping[Fingerprint, Collection[bytes]] | None = None
    ) -> None:
        import numpy as np

        self._longer = longer or {}
        #: So much around a text is looked at, too.
        self._around = max((len(one) for several in self._longer.values() for one in several), default=0)
        self._by_digest, self._lengths = dict[str, Fingerprint](), defaultdict[int, set[int]](set)
        for one in wanted:
            for length, short, whole in one.forms:
                self._by_digest[whole] = one
                self._lengths[short].add(length)
        self._is_wanted = np.isin(np.arange(1 << _SHORT_BITS), [*self._lengths])

    def search(self, chunks: Iterable[bytes]) -> Iterator[Fingerprint]:
        """Those that stand in data which may be larger than memory, perhaps several times.

        Zeros before and after all of it give every text its surroundings, and each piece begins with the end of the one
        before. So what begins with a piece or ends with it is found in another one, where its surroundings are.
        """
        rest = bytes(_SHORTEST + self._around)
        for chunk in chunks:
            piece = rest + chunk
            yield from self._found_inside(piece)
            rest = piece[-(_OVERLAP + 2 * self._around) :]
        yield from self._found_inside(rest + bytes(1 + self._around))

    def _found_inside(self, data: bytes) -> Iterator[Fingerprint]:
        """Those that stand in the data with what is looked at around them."""
        view, shorts = memoryview(data), _short_hashes(data)
        for start in self._is_wanted[shorts].nonzero()[0].tolist():
            for length in self._lengths[int(shorts[start])]:
                end = start + length
                if not (start > self._around and end + self._around < len(data)):
                    continue
                one = self._by_digest.get(_long_hash(view[start:end]))
                if one and (one not in self._longer or _stands_alone(data, start, end, self._longer[one])):
                    yield one


def _stands_alone(data: bytes, start: int, end: int, longer: Iterable[bytes]) -> bool:
    """Whether a text in the data is a word and no part of a longer one."""
    if data[start - 1] in _BEFORE_WORD or data[end] in _WORD:
        return False
    text = data[start:end]
    places = ((one, found.start()) for one in longer for found in re.finditer(re.escape(text), one))
    return not any(data.startswith(one, start - place) for one, place in places)


class Unproved(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be searched for, by fingerprints. ``too_short`` texts are not."""

    texts: tuple[Fingerprint, ...] = ()
    too_short: int = 0


class Unsearched(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a folder that could not be searched, or not all of it, and why."""

    file: str
    problem: str


class Tombstone(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands in a tombstone's file: hashes of the ids of the session's steps, and what is still to be proved."""

    steps: tuple[str, ...] = ()
    unproved: Unproved | None = None


class Tombstones:
    """Those of one memory. ``root`` is its ``.helix`` folder."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FORGOTTEN

    def _path_of(self, session: str) -> Path:
        return self.folder / f"{digest(session)}.json"

    def holds(self, session: str) -> bool:
        """Whether the session was forgotten."""
        return os.path.lexists(self._path_of(session))

    def bury(self, session: str, *, said: Collection[str], steps: Iterable[str]) -> None:
        """Remembers that the session was forgotten, the ids of its steps, and the texts that are to be searched for.

        What an earlier attempt has remembered stays: it may have seen more of the session.
        """
        old = read_json(self._path_of(session), Tombstone) or Tombstone()
        before, names = old.unproved or Unproved(), {session, f"episode-{session}"}
        said = set(said) - names
        texts = {*before.texts, *fingerprints_of(said), *fingerprints_of(names, names=True)}
        too_short = max(before.too_short, sum(len(text) < _SHORTEST for text in said))
        unproved = Unproved(texts=tuple(sorted(texts)), too_short=too_short)
        stone = Tombstone(steps=tuple(sorted({*old.steps, *map(digest, steps)})), unproved=unproved)
        write_atomically(self._path_of(session), msgspec.json.encode(stone))

    def unproved(self) -> dict[str, Unproved]:
        """What is still to be proved of which forgotten sessions, by the hashes of their ids."""
        return {path.stem: stone.unproved for path, stone in self._all() if stone.unproved is not None}

    def settle(self, digests: Collection[str]) -> None:
        """Drops the fingerprints of these sessions: a search has found nothing of them."""
        for path, stone in self._all():
            if path.stem in digests and stone.unproved is not None:
                write_atomically(path, msgspec.json.encode(Tombstone(steps=stone.steps)))

    def lift(self, session: str) -> None:
        """Lets the session in again."""
        self._path_of(session).unlink(missing_ok=True)

    def steps(self) -> frozenset[str]:
        """The hashes of the steps of all forgotten sessions."""
        return frozenset(step for _, stone in self._all() for step in stone.steps)

    def _all(self) -> Iterator[tuple[Path, Tombstone]]:
        """Those that can be read: the name alone keeps a session out, and the doctor reports a damaged file."""
        stones = ((path, read_json(path, Tombstone)) for path in sorted(self.folder.glob("*.json")))
        return ((path, stone) for path, stone in stones if stone)
