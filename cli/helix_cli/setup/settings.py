"""Change files of settings: JSON and TOML, with one dated backup, so that removing restores the earlier bytes.

Every change is worked out and checked first. The backup next to an edited file keeps the file without our entries;
the records keep digests of both, and no word of anybody's settings. When nobody has edited the file since, removing
restores the backup; otherwise only our entries go.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from helix_cli.setup.entries import AnyEntries, toml_value
from helix_cli.setup.json_edit import NotEditable, is_blank
from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import home_folder, irregularity, remove_file, remove_leftovers, write_atomically

_ROOT = 0


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Digests of a file as setup wrote it and of its backup; ``made`` says that there was no file before."""

    after: str
    made: bool
    before: str = ""


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """The files that setup changed on this machine, and the servers that an agent's own command was asked to add.

    ``folders`` are those that were made for the files, ``made`` the files that an agent's own command made.
    """

    files: dict[str, FileRecord] = {}
    servers: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    made: tuple[str, ...] = ()

    def save(self) -> None:
        """Writes them."""
        _write(_records_path(), msgspec.json.encode(self).decode(), like=_records_path())


def _records_path() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or home_folder() / ".local" / "state"
    return Path(state) / "helix-graph" / "setup.json"


def records() -> Records:
    """What is known of earlier runs; nothing where the records cannot be read."""
    try:
        return msgspec.json.decode(_records_path().read_bytes(), type=Records)
    except (OSError, msgspec.MsgspecError):  # what is ours is still found by what it says
        return Records()


class SettingsChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a file: its text before and after, None where there is no file.

    ``kept`` is what the backup holds, None where nothing of anybody's is replaced. A change that ``installs`` something
    is recorded. ``within`` is the folder of our own that the file is in, if any.
    """

    path: Path
    before: str | None
    after: str | None
    kept: str | None = None
    installs: bool = False
    within: Path | None = None

    @property
    def is_none(self) -> bool:
        """Whether everything is as it should be already."""
        return self.before == self.after

    @property
    def diff(self) -> str:
        """What changes, for a person to look at."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, fromfile=str(self.path), tofile=str(self.path)))

    @property
    def backup(self) -> Path | None:
        """Where the backup goes; None without one."""
        target = self.path.resolve()
        name = f"{target.name}.helix-graph-{datetime.now(UTC).date().isoformat()}.bak"
        return None if self.is_none or self.kept is None else target.with_name(name)


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


def require_inside(project: Path, paths: Iterable[Path]) -> None:
    """Whether a project's settings are files of the project: a clone may contain links to a user's own files.

    Raises:
        NotEditable: One of them is a link, or lies outside the project.
    """
    root = os.path.realpath(project)
    for path in paths:
        leads_to = Path(os.path.realpath(path))
        if path.is_symlink() or not leads_to.is_relative_to(root):
            problem = f"a link in this project leads to {leads_to}"
            raise NotEditable(problem, path=path, advice="replace the link by a file or folder")


def undone(path: Path) -> SettingsChange | None:
    """The change that restores the bytes of before, when nobody has edited the file since; else None."""
    now, record = read_text(path), records().files.get(str(path.resolve()))
    if now is None or record is None or record.after != _digest(now):
        return None
    original = _original(path)
    return SettingsChange(path=path, before=now, after=original) if record.made or original is not None else None


def apply(changes: Sequence[SettingsChange]) -> None:
    """Makes the changes, and records how to take them out again.

    Raises:
        NotEditable: Somebody has changed one of the files meanwhile; nothing is done then.
        WriteFailed: One cannot be written; those before it are done.
    """
    for change in changes:
        if read_text(change.path) != change.before:
            raise NotEditable("somebody is changing it at this moment", path=change.path, advice="try again")
    found = records()
    files, folders = dict(found.files), {*map(Path, found.folders)}
    try:
        for change in changes:
            target = change.path.resolve()
            folders |= {one for one in target.parents if change.after is not None and not one.exists()}
            _replace(change)
            files.pop(str(change.path.resolve()), None)
            if change.installs and change.after is not None:
                before = _digest(change.kept) if change.kept is not None else ""
                record = FileRecord(after=_digest(change.after), made=change.kept is None, before=before)
                files[str(change.path.resolve())] = record
    finally:
        left = tuple(sorted(map(str, _without_empty_folders(folders))))
        if (files, left) != (found.files, found.folders):
            msgspec.structs.replace(found, files=dict(sorted(files.items())), folders=left).save()


def _without_empty_folders(made: set[Path]) -> set[Path]:
    """Removes the folders that were made for files of which none is left; those that remain."""
    for folder in sorted(made, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):  # it holds something, or is gone
            folder.rmdir()
    return {folder for folder in made if folder.is_dir()}


def _replace(change: SettingsChange) -> None:
    """Writes where a link leads to, for the same owner and with the same permissions."""
    target = change.path.resolve()
    if change.after is None:
        remove_file(target)
        folder = target.parent
        while change.within and folder.is_relative_to(change.within.resolve()) and not any(folder.iterdir()):
            folder.rmdir()  # a folder of our own
            folder = folder.parent
    else:
        if change.backup and change.kept is not None:
            _write(change.backup, change.kept, like=target)
        _write(target, change.after, like=target)
    for one in _backups(target):
        if one != change.backup:
            remove_file(one)
    for written in (target, change.backup):
        if written:
            remove_leftovers(written)


def _write(path: Path, text: str, *, like: Path) -> None:
    """Writes a file with the owner and the mode of ``like``; without such a file, for its folder's owner alone."""
    with WriteFailed.for_os_errors(path.parent):
        for folder in reversed([one for one in (path.parent, *path.parent.parents) if not one.exists()]):
            folder.mkdir(0o755)  # nobody else may add to what an agent reads there, whatever the umask
            os.chown(folder, *(_owner_of_new(folder) or (-1, -1)))  # -1 leaves it as it is
    try:
        found = like.stat()
    except FileNotFoundError:  # settings may hold keys
        write_atomically(path, text.encode(), mode=0o600, owner=_owner_of_new(path), follow=True)
    else:
        write_atomically(
            path, text.encode(), mode=found.st_mode & 0o7777, owner=(found.st_uid, found.st_gid), follow=True
        )


def _owner_of_new(path: Path) -> tuple[int, int] | None:
    """The owner of the folder; None where only root could give a file away."""
    found = path.parent.stat()
    return (found.st_uid, found.st_gid) if os.geteuid() == _ROOT else None


def _backups(target: Path) -> list[Path]:
    """The backups next to a file."""
    begin = f"{target.name}.helix-graph-"
    try:
        return sorted(one for one in target.parent.iterdir() if one.name.startswith(begin) and one.suffix == ".bak")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise WriteFailed(path=target.parent, problem=error.strerror or str(error)) from error


def _original(path: Path) -> str | None:
    """The text of a file before setup changed it; None where it is not known, or there was none."""
    record = records().files.get(str(path.resolve()))
    for one in _backups(path.resolve()) if record and record.before else ():
        with suppress(OSError, UnicodeDecodeError):
            text = one.read_bytes().decode()
            if record and _digest(text) == record.before:
                return text
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def with_entries(path: Path, entries: AnyEntries) -> SettingsChange:
    """The file with our entries; older entries of ours go first.

    Raises:
        NotEditable: The file is not what it should be, or another server has our name.
    """
    before = read_text(path)
    with _naming(path):
        if entries.has(before or ""):
            return SettingsChange(path=path, before=before, after=before)
        back = undone(path)
        if back is not None:
            base = back.after
        else:
            base = before if is_blank(before) else entries.remove(before or "", _original(path) or "")
        after = entries.add(base or "")
    return SettingsChange(path=path, before=before, after=after, kept=base, installs=True)


def without_entries(path: Path, entries: AnyEntries) -> SettingsChange:
    """The file without our entries: byte for byte as before, when nobody has edited it since.

    Raises:
        NotEditable: The file is not what it should be, or a comment would have to go.
    """
    before, back = read_text(path), undone(path)
    if back is not None or before is None or is_blank(before):
        return back or SettingsChange(path=path, before=before, after=before)
    with _naming(path):
        after = entries.remove(before, _original(path) or "")
    return SettingsChange(path=path, before=before, after=after, kept=before)


def has_entries(path: Path, entries: AnyEntries) -> bool:
    """Whether all our entries are in a file that its agent reads."""
    with _naming(path):
        return entries.has(read_text(path) or "")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Names the file in what is refused within."""
    try:
        yield
    except NotEditable as problem:
        raise problem.at(path) from None


def read_toml(path: Path) -> dict[str, Any]:
    """What a file of TOML says; nothing where there is none.

    Raises:
        NotEditable: It is no TOML.
    """
    with _naming(path):
        return toml_value(read_text(path) or "")
