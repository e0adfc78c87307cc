"""What a file is packed as, by the bytes that it begins with."""

from __future__ import annotations

#: How much of a file has to be known to tell.
HEAD_BYTES = 262
#: Where which bytes stand, and what the format is called.
_MARKS = (
    (0, b"PK\x03\x04", "zip"),
    (0, b"\x1f\x8b", "gzip"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\x00", "xz"),
    (257, b"ustar", "tar"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (0, b"\x04\x22\x4d\x18", "lz4"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"Rar!\x1a\x07", "rar"),
    (0, b"\x1f\x9d", "compress"),
)


def packed_format(head: bytes) -> str | None:
    """The name of the format of a file that begins so; None where it is none that is known.

    >>> packed_format(b"BZh9"), packed_format(b"{}")
    ('bzip2', None)
    """
    return next((name for at, mark, name in _MARKS if head.startswith(mark, at)), None)
