"""Setting aside: what the doctor cannot mend without loss is kept, where nothing reads it.

``set-aside/`` holds whole files that were none, and files as they were before a mend left something out of them. Their
names carry a hash of their content, so nothing is ever overwritten. A person may look into them, move them back or
delete them; `helix_graph.forgetting` forgets them with their session.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from helix_episodes.files import remove_file, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "set-aside"
EPISODES, ASSERTIONS = "episodes", "assertions"
_HASH_DIGITS = 12


def set_aside(root: Path, path: Path) -> bool:
    """Moves a file to where nothing reads it; whether it was there.

    Raises:
        WriteFailed: The disk is full or the folder read-only.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return False
    keep_aside(root, path, data)
    return remove_file(path)


def keep_aside(root: Path, path: Path, data: bytes) -> None:
    """Keeps what stands in a file before something is left out of it.

    Raises:
        WriteFailed: The disk is full or the folder read-only.
    """
    mark = hashlib.sha256(data).hexdigest()[:_HASH_DIGITS]
    write_atomically(root / FOLDER / path.parent.name / f"{path.stem}.{mark}{path.suffix}", data)


def aside_of_session(root: Path, session: str) -> list[Path]:
    """What was set aside of a session's episode."""
    name = re.compile(rf"episode-{re.escape(session)}\.[0-9a-f]{{{_HASH_DIGITS}}}\.json")
    return sorted(path for path in (root / FOLDER / EPISODES).glob("*.json") if name.fullmatch(path.name))


def aside_of_assertions(root: Path) -> Path:
    """The folder of assertions that were set aside."""
    return root / FOLDER / ASSERTIONS
