"""The files of a folder with what shows that they are the same: size and time of change.

To ask the system about each of a hundred thousand files is most of what a compile of one more takes. So where there are
many, a second process asks about a part of them: this file, run as a script without any other module of ours, which is
there in a hundredth of a second. A part is what lies on one side of a name, so that no file is missed that comes or
goes meanwhile. Stamps are told as texts, ``name/size/time``, which sets compare.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: A file changed this shortly before it was looked at may change again within the same tick of the file system's clock
#: (10 ms on Linux), unseen; such a file is hashed again next time.
TICK_NS = 50_000_000


def stamp_of(path: Path) -> str:
    """Size and time of one file; empty when it is not there."""
    try:
        stat = path.stat()
    except OSError:
        return ""
    return f"{stat.st_size} {stat.st_mtime_ns}"


def settled_time() -> int:
    """A time: whatever changes from here on is later."""
    return time.time_ns() - TICK_NS


def listed(
    folder: str, *, prefix: str, suffix: str, begin: str = "", end: str | None = None
) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of change of each file, from one name to before another; the time is 0 if it is too new."""
    settled = settled_time()
    # By its descriptor, the system does not look for the folder with every file again.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                name = entry.name
                if (
                    name.startswith(prefix)
                    and name.endswith(suffix)
                    and name[0] != "."
                    and begin <= name
                    and (end is None or name < end)
                ):
                    try:
                        stat = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:  # deleted since the folder was listed
                        continue
                    changed = stat.st_mtime_ns
                    yield name, stat.st_size, changed if changed < settled else 0
    finally:
        os.close(descriptor)


def stamps(folder: str, *, prefix: str, suffix: str, between: str | None = None) -> set[str]:
    """The stamps of all files; with ``between`` those from this name on are asked for by another process meanwhile.

    The time of a file that has only just changed is ``-``.
    """
    if between is None:
        return _texts(folder, prefix, suffix)
    import subprocess

    command = [sys.executable, "-I", "-S", __file__, folder, prefix, suffix, between]
    try:
        other = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603  (this file)
    except OSError:  # no more processes may be started, or nobody knows where Python is
        return _texts(folder, prefix, suffix)
    with other:
        found = _texts(folder, prefix, suffix, end=between)
        said, _ = other.communicate()
    if other.returncode:
        return found | _texts(folder, prefix, suffix, begin=between)
    found.update(os.fsdecode(said).split("\0") if said else ())
    return found


def _texts(folder: str, prefix: str, suffix: str, *, begin: str = "", end: str | None = None) -> set[str]:
    files = listed(folder, prefix=prefix, suffix=suffix, begin=begin, end=end)
    return {f"{name}/{size}/{changed or '-'}" for name, size, changed in files}


if __name__ == "__main__":
    sys.stdout.buffer.write(os.fsencode("\0".join(_texts(*sys.argv[1:4], begin=sys.argv[4]))))
