"""One reader per log format, chosen by sniffing the content.

:mod:`~helix_episodes.readers.registry` says what a reader is and finds the right one; each format lives in a module (or
small package) of its own. Reading is tolerant: what cannot be read is reported by line in the session's accounting, and
the rest goes on.
"""

from __future__ import annotations

from helix_episodes.readers.base import LogHead, Reader, read_head
from helix_episodes.readers.registry import (
    find_files,
    find_logs,
    find_reader,
    is_part,
    read_sessions,
    reader_names,
    sessions_in,
)

__all__ = [
    "LogHead", "Reader", "find_files", "find_logs", "find_reader", "is_part", "read_head", "read_sessions",
    "reader_names", "sessions_in",
]  # fmt: skip
