"""Types that msgspec may decode in several threads at once, and files of one.

msgspec reads a type's definition when it first decodes one, and keeps it with the class before it is complete: a second
thread that decodes the same type meanwhile crashes the process (0.22). So the first use of each type is made under a
lock, by `ready`.

>>> msgspec.json.decode(b"[1, 2]", type=ready(list[int]))
[1, 2]
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

Kind = TypeVar("Kind")

_LOCK = threading.Lock()
_READY: set[object] = set()


@overload
def ready(kind: type[Kind]) -> type[Kind]: ...
@overload
def ready(kind: Any) -> Any: ...  # noqa: ANN401  (a union or an alias is no class)
def ready(kind: Any) -> Any:
    """The same type, which msgspec knows from now on."""
    if kind not in _READY:
        with _LOCK:
            msgspec.json.Decoder(kind)
            _READY.add(kind)
    return kind


def read_json(path: Path, kind: type[Kind]) -> Kind | None:
    """The value in a JSON file; None where there is no such file, or it holds something else."""
    from helix_episodes.safe_files import read_regular  # the server declares its tools without

    try:
        return msgspec.json.decode(read_regular(path), type=ready(kind))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
