"""The checksum of a record of the log: of its body and its number, so that no record passes for another."""

from __future__ import annotations

import zlib


def checksum_of(number: int, body: bytes) -> int:
    """What stands beside the record in the log."""
    return zlib.crc32(body, zlib.crc32(b"%d" % number))


def is_sound(number: int, body: bytes, checksum: int) -> bool:
    """Whether a row of the log is what was written."""
    return isinstance(body, bytes) and checksum_of(number, body) == checksum
