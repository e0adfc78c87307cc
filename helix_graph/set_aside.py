"""Move damaged files to ``set-aside/`` instead of deleting them.

The folder contains files that could not be read, and copies of files from which a repair removed something. Names end
in a hash of the content, so nothing is overwritten. A link, a pipe or a folder in a file's place is moved as it is.
`helix_graph.forget` removes a session's quarantined files with the session.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from glob import escape
from itertools import count, filterfalse
from pathlib import Path

from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import (
    irregularity,
    is_too_large,
    make_folder,
    read_regular,
    remove_file,
    write_atomically,
)

SET_ASIDE = "set-aside"
EPISODES, ASSERTIONS = "episodes", "assertions"
_HASH_DIGITS = 12


def move_aside(root: Path, path: Path) -> bool:
    """Moves a file to where nothing reads it; whether it was there."""
    if irregularity(path) or is_too_large(path):  # not to be copied, but moved under the first name that is free
        target = next(filterfalse(os.path.lexists, (_place(root, path, b"%d" % number) for number in count())))
        with WriteFailed.for_os_errors(path), suppress(FileNotFoundError):
            make_folder(target.parent)
            return bool(path.rename(target))
        return False
    with suppress(OSError):
        copy_aside(root, path, read_regular(path))
        return remove_file(path)
    return False


def copy_aside(root: Path, path: Path, data: bytes) -> None:
    """Keeps what stands in a file before something is left out of it."""
    write_atomically(_place(root, path, data), data)


def _place(root: Path, path: Path, marked_by: bytes) -> Path:
    mark = hashlib.sha256(marked_by).hexdigest()[:_HASH_DIGITS]
    return root / SET_ASIDE / path.parent.name / f"{path.stem}.{mark}{path.suffix}"


def quarantined_of_session(root: Path, session: str) -> list[Path]:
    """What was set aside of a session's episode."""
    return sorted((root / SET_ASIDE / EPISODES).glob(f"episode-{escape(session)}.{'[0-9a-f]' * _HASH_DIGITS}.json"))


def quarantined_sessions(root: Path) -> set[str]:
    """The sessions whose episodes were set aside."""
    names = (path.stem for path in (root / SET_ASIDE / EPISODES).glob(f"episode-*.{'[0-9a-f]' * _HASH_DIGITS}.json"))
    return {name.removeprefix("episode-")[: -_HASH_DIGITS - 1] for name in names}
