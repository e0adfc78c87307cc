"""Safe file access: atomic writes, reads of regular files only, limits on how much of a log is read, packed files.

A reader never sees half a file, and a failed write leaves the old one in place. A pipe in a file's place would block
its reader for ever, and a link may lead out of the memory, so neither is opened and the error names which it is. The
path of an answer (``--output``) has a rule of its own, `write_output`: a link is followed, a device is never replaced.

A log may be cut off, overwritten or hostile. What exceeds a limit is reported by line and left out, so that time and
memory stay bounded. No log written by an agent comes near these limits.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from glob import escape
from io import FileIO
from pathlib import Path

from helix_episodes.errors import NoHome, WriteFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


#: The longest line that is read, in bytes. The largest request that a model's service takes is 32 MB, pictures and
#: documents included, so no message can be longer; the longest line of the corpora has 0.34 MB.
LONGEST_LINE = 32 << 20
#: The largest log that is one document and has to be read whole, in bytes. The largest of the corpora has 1.9 MB.
LARGEST_DOCUMENT = 64 << 20
#: The largest file of a memory that is read whole, in bytes: what git or a disk with holes makes long for nothing would
#: take the machine's memory. The largest episode of the corpora has 0.4 MB.
LARGEST_FILE = 64 << 20
#: The largest file of settings, in bytes: a parser of TOML takes half a second for it.
LARGEST_CONFIGURATION = 1 << 20
#: How deep JSON may be nested, in levels. orjson reads 1,024 and writes 254; Python's own stack, on which values are
#: walked, holds about 1,000 calls, of which some walks need two or three a level. The deepest record of the corpora
#: has 11 levels.
DEEPEST_NESTING = 240
#: How much of a log is looked at to tell its format, in bytes: the longest preamble seen (52 lines of snapshots and
#: hook records) has a fifth of it.
HEAD = 256 << 10
#: A shell command is read this far, in characters: the longest of the 703 in the Claude Code corpus has 9,000,
#: here-documents included. What is longer is data, and reading it must not take minutes.
LONGEST_COMMAND = 50_000
#: So many parts of a shell command are looked at.
MOST_PARTS = 200
#: So many damaged lines of a log are named; the rest is counted. No one reads more, and a log of two million lines
#: that are all damaged would otherwise take a gigabyte to report.
MOST_NAMED = 1000
#: So many different unknown types of record are counted separately, and their names are cut to this length: a log in
#: which each line is of another type is not made of types.
MOST_TYPES = 100
LONGEST_TYPE = 80


#: What `write_atomically` writes to before it renames; a killed process leaves one behind.
TEMPORARY_SUFFIX = ".tmp"
_OWNER_FOLDER = 0o700
#: How a file of SQLite begins.
_SQLITE = b"SQLite format 3\0"
#: What every memory has that somebody accepted, in its folder.
_ACCEPTANCE = "acceptance"


_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def expanded(path: str) -> Path:
    """The path with the user's home for its ``~``; as it is where it names a user whom this machine does not know."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  (that of `Path` fails for such a user)


def home_folder() -> Path:
    """The user's home.

    Raises:
        NoHome: As in a container for a user without a line in its list of users.
    """
    try:
        return Path.home()
    except RuntimeError as error:
        raise NoHome from error


def irregularity(path: Path | str, *, follow: bool = False) -> str | None:
    """What is in a file's place, in a sentence; None of a regular file, and where nothing is.

    With ``follow`` it is what a link leads to that counts.
    """
    try:
        mode = os.stat(path, follow_symlinks=follow).st_mode  # noqa: PTH116  (a text is no Path)
    except OSError:
        return None
    kind = _KINDS.get(stat.S_IFMT(mode))
    return kind and f"it is {kind}, not a regular file"


def read_regular(path: Path | str, *, follow: bool = False, most: int = LARGEST_FILE) -> bytes:
    """The content of a regular file, which has at most ``most`` bytes; with ``follow`` a link may lead to it.

    Raises:
        OSError: There is none, it may not be read, it is larger, or something else is there, which is not opened.
    """
    with FileIO(_descriptor(path, follow=follow)) as file:  # without a buffer: it is read at once
        _require_size(os.fstat(file.fileno()), path, most=most)
        return file.readall()


def _require_size(found: os.stat_result, path: Path | str, *, most: int) -> None:
    if found.st_size > most:
        raise OSError(errno.EFBIG, f"it is too large: more than {most:,} bytes", str(path))


def is_too_large(path: Path) -> bool:
    """Whether it has more than `LARGEST_FILE` bytes; not where nothing is."""
    try:
        return path.stat(follow_symlinks=False).st_size > LARGEST_FILE
    except OSError:
        return False


def read_own(path: Path | str) -> bytes:
    """The content of a regular file that nobody else can write to: what it says is told as this user's own.

    Raises:
        OSError: As `read_regular` of at most `LARGEST_FILE` bytes; or it belongs to another user, or its mode lets
            others write.
    """
    with FileIO(_descriptor(path, follow=False)) as file:
        found = os.fstat(file.fileno())
        problem = _others_part(found, file.fileno())
        if problem:
            raise PermissionError(errno.EPERM, problem, str(path))
        _require_size(found, path, most=LARGEST_FILE)
        return file.readall()


def others_part(path: Path) -> str | None:
    """That `read_own` refuses the file because of another user, in a sentence; None where nothing is."""
    try:
        return _others_part(path.stat(follow_symlinks=False), path)
    except OSError:
        return None


def _others_part(found: os.stat_result, where: Path | int) -> str | None:
    if found.st_uid not in {0, os.geteuid()}:
        return f"it belongs to another user (uid {found.st_uid}), who may have written it; delete it, or chown it"
    if others_can_write(found, where):
        return "other users can write to it; look at what it says, and run chmod go-w on it"
    return None


def others_can_write(found: os.stat_result, where: Path | int) -> bool:
    """Whether others may write what is open, or at a path: anybody, a group that is not this user's, or who is listed.

    Where there is an access list, the group's part of the mode is what the list gives at most.
    """
    if not found.st_mode & (stat.S_IWOTH | stat.S_IWGRP) or stat.S_ISLNK(found.st_mode):
        return False
    return bool(found.st_mode & stat.S_IWOTH) or not _is_private_group(found.st_gid) or _has_access_list(where)


def _has_access_list(where: Path | int) -> bool:
    try:
        return bool(os.getxattr(where, "system.posix_acl_access"))
    except (OSError, AttributeError):  # none, or a system that keeps them elsewhere
        return False


def _is_private_group(gid: int) -> bool:
    """Whether a group is this user's alone: by its number, or by its name and members, as ``useradd -U`` makes it."""
    if gid != os.getegid():
        return False
    if gid == os.geteuid():
        return True
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return (group.gr_name, user.pw_gid) == (user.pw_name, gid) and set(group.gr_mem) <= {user.pw_name}


def open_regular(path: Path, *, follow: bool = False) -> BinaryIO:
    """A regular file, open for reading; with ``follow`` a link may lead to it."""
    return os.fdopen(_descriptor(path, follow=follow), "rb")


def _descriptor(path: Path | str, *, follow: bool) -> int:
    problem = irregularity(path, follow=follow)
    if problem:
        raise OSError(errno.EINVAL, problem, str(path))
    # Something else may have taken its place since: such a thing is neither waited for nor followed.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    return os.open(path, flags)


#: Folders that this process found and must not make again, should somebody delete them meanwhile.
_NOT_MADE: set[Path] = set()


def never_make(path: Path) -> None:
    """From now on this process does not make the folder, whatever is to be written below it."""
    _NOT_MADE.add(path)


def is_any_gone() -> bool:
    """Whether a folder of `never_make` is there no more."""
    return not all(path.is_dir() for path in _NOT_MADE)


def make_folder(path: Path) -> None:
    """Makes a folder and those above it that are missing, for their owner alone, whatever the umask.

    Raises:
        OSError: One of them cannot be made, or something else is in its place, or it is one that this process must not
            make (`never_make`).
    """
    if path.is_dir():
        return
    if path in _NOT_MADE:
        raise FileNotFoundError(errno.ENOENT, "it was deleted meanwhile", str(path))
    make_folder(path.parent)
    with contextlib.suppress(FileExistsError):  # another process may have been faster
        path.mkdir()
        path.chmod(_OWNER_FOLDER)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is not a folder", str(path))


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process and thread at a time is within, for a file, which is made if need be, or for a folder."""
    import fcntl

    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    lock = os.open(path, flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write_atomically(
    path: Path,
    data: bytes,
    *,
    mode: int = 0o600,
    owner: tuple[int, int] | None = None,
    follow: bool = False,
    synced: bool = True,
) -> None:
    """Writes ``data`` to ``path`` through a temporary file next to it: written, synced, renamed.

    With ``owner`` the file belongs to that user and group. The folder may be a link with ``follow`` only: one of ours
    is none, and somebody may put one there at any time. What is not ``synced`` is safe from a crash of the machine with
    the caller's `os.sync`: of many small files that takes a hundredth of the time.

    Raises:
        WriteFailed: The disk is full, the folder is read-only, a link, or missing and cannot be made, or the file may
        not be given to its owner.
    """
    with WriteFailed.for_os_errors(path):
        make_folder(path.parent)
        folder = os.open(path.parent, _FOLDER_FLAGS | (0 if follow else os.O_NOFOLLOW))
        try:
            _write_in(folder, path.name, data, mode=mode, owner=owner, synced=synced)
        finally:
            os.close(folder)


def _write_in(
    folder: int, name: str, data: bytes, *, mode: int, owner: tuple[int, int] | None = None, synced: bool = True
) -> None:
    """Writes a file of an open folder, whatever takes the place of that folder meanwhile."""
    temporary = f".{name}.{os.urandom(6).hex()}{TEMPORARY_SUFFIX}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            _give(file.fileno(), owner)
            os.fchmod(file.fileno(), mode)  # after that, for giving takes special bits away
            if synced:
                os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def remove_leftovers(path: Path, *, older: float = 60.0) -> None:
    """Removes what killed processes left of writing this file: temporary files of so many seconds ago."""
    for leftover in path.parent.glob(f".{escape(path.name)}.{'[0-9a-f]' * 12}{TEMPORARY_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            if leftover.lstat().st_mtime < time.time() - older:
                remove_file(leftover)


#: A folder is opened to name files in it; searching it is enough for that, where the system has such a flag.
_FOLDER_FLAGS = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


def write_without_links(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Writes a file as `write_atomically` does, where no folder on the whole way to it is a link, from the root on.

    ``path`` has to be resolved: what was looked at is then what is written to, whatever was put there since.

    Raises:
        WriteFailed: There is a link on the way, or the file cannot be written.
    """
    with WriteFailed.for_os_errors(path):
        folder = os.open(path.anchor, _FOLDER_FLAGS)
        try:
            for name in path.parent.parts[1:]:
                # Within the open folder: made for its owner alone if need be, and no link.
                with contextlib.suppress(FileExistsError):
                    if not _has(folder, name):
                        os.mkdir(name, _OWNER_FOLDER, dir_fd=folder)
                outer, folder = folder, os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
                os.close(outer)
            _write_in(folder, path.name, data, mode=mode)
        finally:
            os.close(folder)


def _has(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def write_output(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Writes an answer where someone wants it: as `write_atomically` does, but to the file that a link leads to.

    A device, a pipe or a folder is neither replaced nor written to, and no more is the file that stdout or stderr goes
    to: what is there already would be lost, and what is printed afterwards too. Nor is a database, whoever's it is: no
    answer is one, so the path is mistyped, and the memory's own holds what no log could bring back; nor a memory's
    episode, whose log may be gone. No folder is made for it, which would hide that a path is mistyped.

    Raises:
        WriteFailed: Something else than a regular file is there, or a database or an episode, its folder is not, or it
            cannot be written.
    """
    problem = _no_output(path) or _database(path) or _episode(path)
    if problem:
        raise WriteFailed(path=path, problem=problem)
    write_without_links(Path(os.path.realpath(path)), data, mode=mode)


def _no_output(path: Path) -> str | None:
    """Why an answer cannot be written here; None where it can, as far as one sees without trying."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return _without_folder(Path(os.path.realpath(path)))
    except OSError as error:
        return error.strerror or str(error)
    for stream in (1, 2):
        with contextlib.suppress(OSError):  # it is closed
            if os.path.samestat(found, os.fstat(stream)):
                return "it is where the command prints its answer"
    return irregularity(path, follow=True)


def _database(path: Path) -> str | None:
    try:
        with open_regular(path, follow=True) as file:
            found = file.read(len(_SQLITE)) == _SQLITE
    except OSError:  # it is not there, or one may write it but not read it
        return None
    return "a database is there, which no answer replaces; name another file" if found else None


def _episode(path: Path) -> str | None:
    real = Path(os.path.realpath(path))
    folder = real.parent
    found = folder.name == "episodes" and (folder.parent / _ACCEPTANCE).exists() and real.match("episode-*.json")
    return "it is an episode of a memory, which no answer replaces; name another file" if found else None


def _without_folder(path: Path) -> str | None:
    return None if path.parent.is_dir() else f"there is no folder {path.parent}; make it first"


def require_folder_of(path: Path) -> None:
    """Whether there is the folder in which somebody wants a new file or folder.

    Raises:
        WriteFailed: There is none.
    """
    if problem := _without_folder(path):
        raise WriteFailed(path=path, problem=problem)


def make_output_folder(path: Path) -> None:
    """Makes a folder for an answer where somebody wants it, but as `write_output` none above it.

    Raises:
        WriteFailed: The folder in which it is to be is not there, or it cannot be made.
    """
    require_folder_of(path)
    with WriteFailed.for_os_errors(path):
        make_folder(path)


def _give(handle: int, owner: tuple[int, int] | None) -> None:
    found = os.fstat(handle)
    if owner is None or owner == (found.st_uid, found.st_gid):
        return
    try:
        os.fchown(handle, *owner)
    except PermissionError as error:
        raise OSError(errno.EPERM, "it belongs to somebody else, and would not do so any longer") from error


def remove_file(path: Path) -> bool:
    """Deletes a file; whether it was there."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WriteFailed(path=path, problem=error.strerror or str(error)) from error
    return True


def replace_file(path: Path, *, before: bytes, after: bytes) -> bool:
    """Replaces ``before`` by ``after``; False, and nothing written, when someone else has changed it since."""
    try:
        if read_regular(path) != before:
            return False
    except OSError:
        return False
    write_atomically(path, after)
    return True


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
