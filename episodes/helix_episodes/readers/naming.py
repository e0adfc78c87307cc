"""Names for sessions and projects, from where they lie."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SEPARATORS = re.compile(r"[/\\]+")
# Folders in which work trees of one repository are kept; the project is the folder that holds them.
_TREE_FOLDERS = frozenset({".worktrees", "worktrees", ".trees"})
_OWN_FOLDERS = frozenset({".claude", ".git"})
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
# As long as the name of an episode's file may be with its ending.
_ID_LIMIT = 128
_DIGEST_LETTERS = 8


def project_of(root: str | None) -> str | None:
    r"""The project's name: the last part of its path, or for a work tree the folder that holds the work trees.

    >>> project_of("/home/kim/shop/.worktrees/3"), project_of("C:\\code\\shop")
    ('shop', 'shop')
    """
    parts = parts_of(root or "")
    for position, part in enumerate(parts):
        if part in _TREE_FOLDERS and position:
            parts = parts[:position]
            break
    while len(parts) > 1 and parts[-1] in _OWN_FOLDERS:
        parts = parts[:-1]
    return parts[-1] if parts else None


def parts_of(path: str) -> list[str]:
    r"""The parts of a path of either kind.

    >>> parts_of("C:\\code\\shop")
    ['C:', 'code', 'shop']
    """
    return [part for part in _SEPARATORS.split(path) if part]


def id_by_place(path: Path, *more: object) -> str:
    """An id for a session whose log bears none: its folder and its name, then whatever tells sessions of a log apart.

    Runs of one task lie in folders of different names under the same name, sometimes in a further folder of that name;
    so the nearest folder with another name is taken.

    >>> from pathlib import Path
    >>> id_by_place(Path("/runs/gpt-4/fix-1867/fix-1867.traj")), id_by_place(Path("/runs/air.json"), "task", 3)
    ('gpt-4-fix-1867', 'runs-air-task-3')
    """
    stem = path.name.partition(".")[0] or path.name
    folder = next((name for name in (one.name for one in path.absolute().parents) if name != stem), "")
    return fit_id("-".join(str(part) for part in (folder, stem, *more) if str(part)))


def fit_id(name: str) -> str:
    """The name as an id: what does not fit becomes a dash, and one too long ends in a digest of the whole.

    >>> fit_id("run of 3/4"), len(fit_id("x" * 500))
    ('run-of-3-4', 128)
    """
    fitting = _UNFIT.sub("-", name).strip("-._") or "session"
    if len(fitting) <= _ID_LIMIT:
        return fitting
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_DIGEST_LETTERS]
    return f"{fitting[: _ID_LIMIT - _DIGEST_LETTERS - 1]}-{digest}"
