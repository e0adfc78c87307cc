"""Changing a file of settings: everything is worked out and checked first, then it replaces the file at once."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_cli.errors import NotEditable
from helix_episodes.errors import WriteFailed
from helix_episodes.files import remove_file, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

_MODE = 0o600


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a file: its bytes before and after, None where there is no file; ``steps`` are its insertions."""

    path: Path
    before: bytes | None
    after: bytes | None
    steps: tuple[tuple[int, int], ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether everything is as it should be already."""
        return self.before == self.after

    @property
    def diff(self) -> str:
        """What changes, for a person to look at."""
        old, new = (_lines(text) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, fromfile=str(self.path), tofile=str(self.path)))


def read_text(path: Path) -> str | None:
    """The text of a file as it stands, line ends and all; None where there is none.

    Raises:
        NotEditable: It cannot be read, or is no text.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotEditable(str(error), path=path) from error


def change_of(path: Path, before: str | None, texts: Sequence[str]) -> Change:
    """The change from ``before`` through ``texts``, each an insertion into the one before it, to the last."""
    steps: list[tuple[int, int]] = []
    old = before or ""
    for new in texts:
        steps.append((_same_beginning(old, new), len(new) - len(old)))
        old = new
    return Change(path=path, before=None if before is None else before.encode(), after=old.encode(), steps=tuple(steps))


def apply(change: Change) -> None:
    """Puts the change in place, and remembers how to take it out again.

    Raises:
        NotEditable: Somebody has changed the file meanwhile.
        WriteFailed: It cannot be written.
    """
    if change.is_none:
        return
    now = read_text(change.path)
    if (None if now is None else now.encode()) != change.before:
        raise NotEditable("somebody is changing it at this moment; try again", path=change.path)
    records = _Records()
    if change.after is None:
        remove_file(change.path)
    else:
        _replace(change.path, change.after)
    if change.steps:
        records.put(change)
    else:
        records.drop(change.path)


def undone(path: Path) -> Change | None:
    """The change that brings back the bytes of before, when nobody has changed the file since; else None."""
    now = read_text(path)
    record = _Records().of(path)
    if now is None or record is None or record.after != _digest(now.encode()):
        return None
    old = now
    for start, length in reversed(record.steps):
        old = old[:start] + old[start + length :]
    return Change(path=path, before=now.encode(), after=None if record.made and not old else old.encode())


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """Of a file that was changed: the digest of what came out, where was inserted, whether we made the file."""

    after: str
    steps: tuple[tuple[int, int], ...]
    made: bool


class _Records:
    """The changes that were made on this machine. They hold no word of any settings."""

    def __init__(self) -> None:
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        self._path = Path(state) / "helix-graph" / "setup.json"

    def of(self, path: Path) -> _Record | None:
        return self._all().get(_key(path))

    def put(self, change: Change) -> None:
        made = change.before is None
        record = _Record(after=_digest(change.after or b""), steps=change.steps, made=made)
        self._write({**self._all(), _key(change.path): record})

    def drop(self, path: Path) -> None:
        self._write({name: one for name, one in self._all().items() if name != _key(path)})

    def _all(self) -> dict[str, _Record]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, _Record])
        except (OSError, msgspec.MsgspecError):  # without a record what is ours is still found by what it says
            return {}

    def _write(self, records: dict[str, _Record]) -> None:
        write_atomically(self._path, msgspec.json.encode(dict(sorted(records.items()))))


def same(text: str, wanted: Any, *, parsed: Any, path: Path) -> None:  # noqa: ANN401  (JSON)
    """Refuses a text that does not say exactly what was wanted.

    Raises:
        NotEditable: It does not; this is a fault of ours, and the reason why it is looked at before anything is
        written.
    """
    if parsed != wanted:
        problem = f"the edit would not come out as meant ({len(text)} characters)"
        raise NotEditable(problem, path=path)


def _replace(path: Path, content: bytes) -> None:
    """Writes beside the file (where a link leads to) and renames, keeping its permissions.

    Raises:
        WriteFailed: The folder cannot be written.
    """
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o7777 if target.exists() else _MODE
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except OSError as error:
        raise WriteFailed(path=path, problem=error.strerror or str(error)) from error


def _same_beginning(one: str, other: str) -> int:
    """How many characters the beginnings of two texts share."""
    places = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(places, min(len(one), len(other)))


def _lines(text: bytes | None) -> list[str]:
    return (text or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _key(path: Path) -> str:
    return str(path.resolve())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_json(value: object) -> str:
    """A value as it is shown to be pasted."""
    return json.dumps(value, indent=2, ensure_ascii=False)
