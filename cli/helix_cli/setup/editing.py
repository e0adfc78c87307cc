"""Change a file of settings: everything is worked out and checked first, then the file is replaced at once.

The file keeps its owner, also when root runs setup in somebody's home, and one dated backup keeps what it was before
the last edit. `Records` remembers what setup did on this machine, so that it can be undone exactly; it holds no word
of anybody's settings.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_cli.errors import NotEditable
from helix_episodes.errors import WriteFailed
from helix_episodes.io import irregularity, remove_file, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_cli.setup.jsonc import Kept


#: A file of settings may hold keys, so one that we make is its owner's alone.
_MODE = 0o600
_ROOT = 0


def write_for_its_owner(path: Path, content: bytes, *, like: Path) -> None:
    """Writes a file that belongs to whom ``like`` belongs to, and may be read and written by the same people.

    Where there is no such file, it is its folder's owner's alone.

    Raises:
        WriteFailed: It cannot be written, or its owner cannot be set.
    """
    _make_folder(path.parent)
    try:
        found = like.stat()
    except FileNotFoundError:
        write_atomically(path, content, mode=_MODE, owner=_owner_of_new(path))
    else:
        write_atomically(path, content, mode=found.st_mode & 0o7777, owner=(found.st_uid, found.st_gid))


def _owner_of_new(path: Path) -> tuple[int, int] | None:
    """The owner of the folder; None where only root could give a file away."""
    if os.geteuid() != _ROOT:
        return None
    found = path.parent.stat()
    return found.st_uid, found.st_gid


def _make_folder(folder: Path) -> None:
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        for one in reversed(missing):
            one.mkdir()
            os.chown(one, *(_owner_of_new(one) or (-1, -1)))  # -1 leaves it as it is
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Of a file that was changed.

    ``after`` is the digest of what came out, ``steps`` are the places and lengths of the insertions, ``made`` says
    whether the file is ours as a whole, ``kept`` which lists and objects on the path to our entries were there before.
    """

    after: str
    steps: tuple[tuple[int, int], ...]
    made: bool
    kept: tuple[tuple[str, ...], ...] = ()


class _State(msgspec.Struct, frozen=True, kw_only=True):
    files: dict[str, FileRecord] = {}
    servers: tuple[str, ...] = ()


class Records:
    """The files that were changed, and the servers that an agent's own command was asked to add."""

    def __init__(self) -> None:
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        self._path = Path(state) / "helix-graph" / "setup.json"

    def of(self, path: Path) -> FileRecord | None:
        """What is known of a file."""
        return self._state().files.get(_key(path))

    def below(self, folder: Path) -> list[Path]:
        """The files below a folder of which something is known, in their order."""
        return sorted(path for path in map(Path, self._state().files) if path.is_relative_to(folder.resolve()))

    def note_files(self, found: Mapping[Path, FileRecord | None]) -> None:
        """Remembers changes of files, and forgets those of which nothing is to be known any longer."""
        state = self._state()
        files = {**state.files, **{_key(path): record for path, record in found.items()}}
        kept = {name: record for name, record in sorted(files.items()) if record is not None}
        if kept != state.files:
            self._write(msgspec.structs.replace(state, files=kept))

    def has_server(self, name: str) -> bool:
        """Whether an agent's command was asked to add a server, and not to remove it since."""
        return name in self._state().servers

    def note_server(self, name: str, *, added: bool) -> None:
        """Remembers that an agent's command added a server or removed it."""
        state = self._state()
        left = {one for one in state.servers if one != name} | ({name} if added else set())
        self._write(msgspec.structs.replace(state, servers=tuple(sorted(left))))

    def _write(self, state: _State) -> None:
        write_for_its_owner(self._path, msgspec.json.encode(state), like=self._path)

    def _state(self) -> _State:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_State)
        except (OSError, msgspec.MsgspecError):  # without a record what is ours is still found by what it says
            return _State()


def _key(path: Path) -> str:
    return str(path.resolve())


_MARK = ".helix-graph-"
_END = ".bak"


def backup_of(target: Path) -> Path:
    """Where today's copy of a file goes."""
    today = datetime.now(UTC).date().isoformat()
    return target.with_name(f"{target.name}{_MARK}{today}{_END}")


def drop_backups(target: Path, *, but: Path | None = None) -> None:
    """Removes the copies of a file that earlier edits left, all ``but`` one.

    Raises:
        WriteFailed: The folder cannot be read or written.
    """
    begin = f"{target.name}{_MARK}"
    try:
        found = [one for one in target.parent.iterdir() if one.name.startswith(begin) and one.name.endswith(_END)]
    except OSError as error:
        raise WriteFailed(path=target.parent, problem=error.strerror or str(error)) from error
    for one in sorted(found):
        if one != but:
            remove_file(one)


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a file: its bytes before and after, None where there is no file.

    ``steps`` are the insertions that lead from the file without us to ``after``, ``made`` says that there was no file
    without us, ``kept`` which lists and objects on the way were there. An ``exact`` change brings back known bytes.
    ``within`` is the folder of our own that the file is in, if any.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    steps: tuple[tuple[int, int], ...] = ()
    made: bool = False
    kept: tuple[tuple[str, ...], ...] = ()
    exact: bool = False
    within: Path | None = None

    @property
    def is_none(self) -> bool:
        """Whether everything is as it should be already."""
        return self.before == self.after

    @property
    def diff(self) -> str:
        """What changes, for a person to look at."""
        texts = ((text or b"").decode("utf-8", "replace") for text in (self.before, self.after))
        old, new = (text.splitlines(keepends=True) for text in texts)
        return "".join(difflib.unified_diff(old, new, fromfile=str(self.path), tofile=str(self.path)))

    @property
    def backup(self) -> Path | None:
        """Where the bytes of before are kept; None where nothing of anybody's is replaced."""
        if self.is_none or self.exact or self.before is None or self.within is not None:
            return None
        return backup_of(self.path.resolve())


def read_text(path: Path) -> str | None:
    """The text of a file, line ends unchanged; None where there is none.

    Raises:
        NotEditable: It cannot be read, or is no text.
    """
    problem = irregularity(path, follow=True)
    if problem:
        raise NotEditable(problem, path=path)
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise NotEditable(str(error), path=path) from error


def is_blank(text: str | None) -> bool:
    """Whether a file says nothing: it is not there, or empty, or holds nothing but blanks."""
    return not (text or "").strip("\ufeff \t\r\n")


def no_change(path: Path, text: str | None) -> FileChange:
    """That a file stays as it is."""
    content = None if text is None else text.encode()
    return FileChange(path=path, before=content, after=content)


def edited(path: Path, before: str, after: str) -> FileChange:
    """The change of a text into another, which nothing is known to lead back from."""
    return FileChange(path=path, before=before.encode(), after=after.encode())


def inserting(path: Path, before: str | None, base: str | None, texts: Sequence[str], *, kept: Kept) -> FileChange:
    """The change of ``before`` into the last of ``texts``, each an insertion into the one before it.

    ``base`` is what the first was inserted into: the file without us, None where there would be none.
    """
    steps: list[tuple[int, int]] = []
    old = base or ""
    for new in (text for text in texts if text != base):
        places = (place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
        steps.append((next(places, min(len(old), len(new))), len(new) - len(old)))
        old = new
    return FileChange(
        path=path,
        before=None if before is None else before.encode(),
        after=old.encode(),
        steps=tuple(steps),
        made=base is None,
        kept=tuple(sorted(tuple(str(name) for name in one) for one in kept)),
    )


def apply(changes: Sequence[FileChange]) -> None:
    """Puts the changes in place, and remembers how to take them out again.

    Raises:
        NotEditable: Somebody has changed one of the files meanwhile; nothing is done then.
        WriteFailed: One cannot be written; those before it are done.
    """
    for change in changes:
        _require_unchanged(change)
    done: dict[Path, FileRecord | None] = {}
    try:
        for change in changes:
            _replace(change)
            if change.after is None or not change.steps:
                done[change.path] = None
            else:
                digest = _digest(change.after)
                done[change.path] = FileRecord(after=digest, steps=change.steps, made=change.made, kept=change.kept)
    finally:
        Records().note_files(done)


def _require_unchanged(change: FileChange) -> None:
    """Refuses a change that was worked out for other bytes than the file has now.

    Raises:
        NotEditable: Somebody has changed the file meanwhile.
    """
    now = read_text(change.path)
    if (None if now is None else now.encode()) != change.before:
        raise NotEditable("somebody is changing it at this moment", path=change.path, advice="try again")


def undone(path: Path) -> FileChange | None:
    """The change that brings back the bytes of before, when nobody has changed the file since; else None."""
    now = read_text(path)
    record = Records().of(path)
    if now is None or record is None or record.after != _digest(now.encode()):
        return None
    old = now
    for start, length in reversed(record.steps):
        old = old[:start] + old[start + length :]
    after = None if record.made and not old else old.encode()
    return FileChange(path=path, before=now.encode(), after=after, exact=True)


def kept_containers(path: Path) -> Kept:
    """The lists and objects that a file had before we inserted something into them, as far as it is known."""
    record = Records().of(path)
    return frozenset(record.kept) if record else frozenset()


def require_same(found: object, wanted: object, *, path: Path, line: int | None = None) -> None:
    """Refuses a result that does not say exactly what was wanted: it is looked at before anything is written.

    Raises:
        NotEditable: It does not.
    """
    if found != wanted:
        problem = "our entry stands here in a form that cannot be edited without touching anything else"
        raise NotEditable(problem, path=path, line=line, advice="edit it by hand; `--print` shows what it is about")


def _replace(change: FileChange) -> None:
    """Writes where a link leads to, for the same owner and with the same permissions."""
    target = change.path.resolve()
    if change.after is None:
        remove_file(target)
        folder = target.parent
        while change.within and folder.is_relative_to(change.within.resolve()) and not any(folder.iterdir()):
            folder.rmdir()  # a folder of our own
            folder = folder.parent
    else:
        if change.backup and change.before is not None:
            write_for_its_owner(change.backup, change.before, like=target)
        write_for_its_owner(target, change.after, like=target)
    if target.parent.is_dir():
        drop_backups(target, but=change.backup)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_json(value: object) -> str:
    """A value as it is shown to be pasted."""
    return json.dumps(value, indent=2, ensure_ascii=False)
