"""Whether a server answers, asked at most twice a minute.

The answer stands in a file, since each question may come from a process of its own. A file that is damaged or from
another address or from the future counts as none.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.files import read_regular, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: The seed's.
TTL_SECONDS = 30.0
_PORTS = {"http": 80, "https": 443}


class _Checked(msgspec.Struct, frozen=True):
    endpoint: str
    at: float
    available: bool


class Availability:
    """What is known of one endpoint. ``clock`` gives seconds since the epoch."""

    def __init__(self, cache: Path, *, endpoint: str, timeout_ms: int, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._endpoint = endpoint
        self._timeout = timeout_ms / 1000
        self._clock = clock

    def available(self, *, force: bool = False) -> bool:
        """Whether something listens there; looked at anew after `TTL_SECONDS`, or with ``force``."""
        known = self._known()
        if known is not None and not force and 0 <= self._clock() - known.at < TTL_SECONDS:
            return known.available
        return self.note(available=self._listens())

    def note(self, *, available: bool) -> bool:
        """Keeps for the next questions what has just been learnt, where the folder lets one write."""
        checked = _Checked(endpoint=self._endpoint, at=self._clock(), available=available)
        with contextlib.suppress(WriteFailed):  # a memory that may only be read asks each time
            write_atomically(self._cache, msgspec.json.encode(checked))
        return available

    def age(self) -> float:
        """Seconds since it was last looked at; -1 when it never was."""
        known = self._known()
        return -1.0 if known is None else max(0.0, round(self._clock() - known.at, 3))

    def _known(self) -> _Checked | None:
        try:
            known = msgspec.json.decode(read_regular(self._cache), type=_Checked)
        except (OSError, msgspec.DecodeError):
            return None
        return known if known.endpoint == self._endpoint else None

    def _listens(self) -> bool:
        parts = urlsplit(self._endpoint)
        try:
            with socket.create_connection((parts.hostname, parts.port or _PORTS[parts.scheme]), self._timeout):
                return True
        except OSError:
            return False
