"""The plugin's agents and skills in a folder of our own, which Claude Code loads as a plugin.

Its hooks and its server are left out: they stand in the settings, and both would be one too many. A file that somebody
has changed is theirs from then on: it is neither replaced nor removed, and named.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_cli.exporting import plugin_contents
from helix_cli.setup.editing import Change, inserting, no_change, read_text, undone
from helix_cli.setup.records import Records

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_SETTINGS = frozenset({Path("hooks/hooks.json"), Path(".mcp.json")})
_Planned = tuple[tuple[Change, ...], tuple[str, ...]]


def with_plugin(folder: Path) -> _Planned:
    """The changes that put the files there, and what is to be said of those that are somebody's.

    Raises:
        NotEditable: Something else than a file stands in the place of one.
    """
    wanted = _wanted(folder)
    changes = {path: _written(path, text) for path, text in wanted.items()}
    older = [path for path in Records().below(folder) if path not in wanted]
    changes |= {path: _taken(path, None) for path in older}
    return _planned(folder, changes)


def without_plugin(folder: Path) -> _Planned:
    """The changes that take the files away, and what is to be said of those that are somebody's.

    Raises:
        NotEditable: Something else than a file stands in the place of one.
    """
    wanted = _wanted(folder)
    places = sorted({*wanted, *Records().below(folder)})
    return _planned(folder, {path: _taken(path, wanted.get(path)) for path in places})


def has_plugin(folder: Path) -> bool:
    """Whether every file stands there, changed or not."""
    return all(path.is_file() for path in _wanted(folder))


def _wanted(folder: Path) -> dict[Path, str]:
    contents = plugin_contents()
    return {folder.resolve() / path: one.decode() for path, one in contents.items() if path not in _BY_SETTINGS}


def _written(path: Path, text: str) -> Change | None:
    """What puts a file there; None where somebody's stands in its place."""
    before = read_text(path)
    if before == text:
        return no_change(path, before)
    if before is not None and undone(path) is None:
        return None
    return inserting(path, before, None, [text], kept=())


def _taken(path: Path, text: str | None) -> Change | None:
    """What takes a file away that says what we wrote, now or when it was put there; None where it is somebody's."""
    before = read_text(path)
    if before is None:
        return no_change(path, None)
    if before == text:
        return Change(path=path, before=before.encode(), after=None, exact=True)
    return undone(path)


def _planned(folder: Path, changes: Mapping[Path, Change | None]) -> _Planned:
    theirs = tuple(f"{path}: somebody has changed it; it is left alone" for path, one in changes.items() if one is None)
    ours = (msgspec.structs.replace(one, within=folder) for one in changes.values() if one is not None)
    return tuple(ours), theirs
