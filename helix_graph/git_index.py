"""Which paths git tracks, as its index says: git is not started, for that takes longer than a hook may.

Format: https://git-scm.com/docs/index-format. Every hook loads this module, so it imports next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

#: The fields of an entry before its name: times, ids, mode, size; then the object's hash and two bytes of flags.
_BEFORE_HASH, _FLAGS = 40, 2
_LENGTH, _EXTENDED = 0x0FFF, 0x4000
_HEADER = 12
_PREFIX_COMPRESSED = 4
#: Where the kind of an entry is in it, in the upper half of the byte; git writes no other kinds.
_MODE = 26
_FOLDER, _FILE, _LINK, _SUBMODULE = 4, 8, 10, 14
_ENTRY_KINDS = frozenset({_FOLDER, _FILE, _LINK, _SUBMODULE})
#: Bounds for an index that somebody forged. A path has at most 4,096 bytes on Linux. The largest repositories known
#: have some million files, nearly all behind a name that begins with a dot; reading so many takes half a second.
_LONGEST_NAME = 4096
_MOST_READ = 200_000


def names_in(index: mmap, wanted: tuple[bytes, ...], *, inside: bytes, hash_size: int) -> Iterator[bytes]:
    """The paths in git's index that begin with one of ``wanted``, whatever their case, and submodules in ``inside``.

    Git checks a path out over one of another case where the disk makes no difference between them. Entries are in the
    order of their names, so reading ends behind the last that is wanted: near the beginning, for names that begin with
    a dot.

    Raises:
        ValueError, IndexError: It is damaged, or of a version that is not known here.
    """
    version = int.from_bytes(index[4:8], "big")
    if index[:4] != b"DIRC" or version not in {2, 3, _PREFIX_COMPRESSED}:
        raise ValueError(f"version {version}")
    wanted, inside = tuple(one.lower() for one in wanted), inside.lower()
    before, last = _BEFORE_HASH + hash_size, inside + b"\xff"  # capitals come before small letters
    at, name = _HEADER, b""
    for number in range(int.from_bytes(index[8:12], "big")):
        begin, flags, previous = at, index[at + before] << 8 | index[at + before + 1], name
        kind = index[at + _MODE] >> 4
        at += before + (2 * _FLAGS if flags & _EXTENDED else _FLAGS)
        if version == _PREFIX_COMPRESSED:  # the name before, less so many letters, and what is behind them
            dropped = index[at] & 0x7F
            while index[at] & 0x80:
                at += 1
                dropped = (dropped + 1 << 7) + (index[at] & 0x7F)
                if dropped > _LONGEST_NAME:
                    raise ValueError("it is damaged")
            end = _end_of_name(index, at + 1)
            name = name[: len(name) - dropped] + index[at + 1 : end]
            at = end + 1
        else:  # filled up with zeros to a multiple of eight bytes
            length = flags & _LENGTH
            end = at + length if length < _LENGTH else _end_of_name(index, at)
            name = index[at:end]
            at = begin + (end - begin) // 8 * 8 + 8
        if name < previous or kind not in _ENTRY_KINDS or number == _MOST_READ:
            raise ValueError("it is damaged, or too long")
        if name > last:
            return
        path = name.lower()
        if path.startswith(wanted) or (kind == _SUBMODULE and (path + b"/").startswith(inside)):
            yield name


def _end_of_name(index: mmap, at: int) -> int:
    end = index.find(b"\0", at, at + _LONGEST_NAME + 1)
    if end < 0:
        raise ValueError("a name without an end")
    return end
