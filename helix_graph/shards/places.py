"""Where a memory has been packed to, so that what it forgets leaves those shards too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import HelixGraphError
from helix_episodes.msgspec_types import read_json
from helix_episodes.safe_files import read_regular, write_atomically
from helix_graph.project import PACKED
from helix_graph.shards.files import remove_sessions
from helix_graph.tombstones import Unsearched
from helix_graph.trust import content_digest, is_own, seal

if TYPE_CHECKING:
    from collections.abc import Callable


def remember_folder(root: Path, folder: Path) -> None:
    """Adds a folder to those that the memory in ``root`` has been packed to; one from a clone begins anew."""
    known = _folders(root)
    if folder not in known:
        listed = msgspec.json.format(msgspec.json.encode(sorted(map(str, (*known, folder)))), indent=2) + b"\n"
        before = (read_regular(root / PACKED),) if known else ()
        seal(root, PACKED, *map(content_digest, (listed, *before)))  # whenever this process is killed
        write_atomically(root / PACKED, listed)


def _folders(root: Path) -> list[Path]:
    """The folders in the list; none where it cannot be read, or another than this user made it."""
    return [Path(one) for one in read_json(root / PACKED, list[str]) or ()] if is_own(root, PACKED) else []


def forget_in_shards(root: Path, is_gone: Callable[[str], bool]) -> list[Unsearched]:
    """Takes sessions out of all shards that the memory in ``root`` was packed to; what could not be reached."""
    unreached = []
    if (root / PACKED).exists() and not _folders(root):
        problem = "it is no list of folders that you wrote on this machine; pack to them again, or delete it"
        unreached.append(Unsearched(file=PACKED, problem=problem))
    for folder in _folders(root):
        if not folder.is_dir():
            problem = f"it is not there; if it was deleted, delete {PACKED} and pack to the others again"
            unreached.append(Unsearched(file=str(folder), problem=problem))
            continue
        try:
            remove_sessions(folder, is_gone)
        except (HelixGraphError, OSError) as error:
            unreached.append(Unsearched(file=str(folder), problem=str(error)))
    return unreached
