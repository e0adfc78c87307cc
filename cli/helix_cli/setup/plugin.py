"""The files of the Claude Code plugin: exported into a folder, or its agents and skills installed by setup.

Setup leaves out the plugin's hooks and server: they are in the settings, and would run twice. A file that somebody has
changed is theirs from then on: it is neither replaced nor removed, and the report names it.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_cli.errors import FolderNotEmpty
from helix_cli.setup.editing import FileChange, Records, inserting, no_change, read_text, undone
from helix_episodes.errors import WriteFailed
from helix_episodes.io import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping


_MANIFEST = Path(".claude-plugin") / "plugin.json"
_READABLE = 0o644


class ExportedPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written, relative to the folder."""

    folder: Path
    files: tuple[Path, ...]


def export_plugin(folder: Path) -> ExportedPlugin:
    """Writes the plugin.

    Raises:
        FolderNotEmpty: Something else lies there.
        WriteFailed: The folder cannot be written.
    """
    contents = plugin_contents()
    _require_free(folder, contents[_MANIFEST])
    for path, content in contents.items():
        write_atomically(folder / path, content, mode=_READABLE)
    return ExportedPlugin(folder=folder, files=tuple(contents))


def plugin_contents() -> dict[Path, bytes]:
    """The plugin's files, named as they lie in its folder."""
    with as_file(files("helix_cli") / "plugin") as source:
        return {path.relative_to(source): path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file()}


def _require_free(folder: Path, manifest: bytes) -> None:
    """Whether the folder is empty, or ours by the name in its manifest.

    Raises:
        FolderNotEmpty: It is neither.
        WriteFailed: It is no folder, or cannot be read.
    """
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return
        found = msgspec.json.decode((folder / _MANIFEST).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        raise FolderNotEmpty(folder) from None
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error
    if not isinstance(found, dict) or found.get("name") != msgspec.json.decode(manifest)["name"]:
        raise FolderNotEmpty(folder)


_BY_SETTINGS = frozenset({Path("hooks/hooks.json"), Path(".mcp.json")})
_Planned = tuple[tuple[FileChange, ...], tuple[str, ...]]


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


def _written(path: Path, text: str) -> FileChange | None:
    """What puts a file there; None where somebody's stands in its place."""
    before = read_text(path)
    if before == text:
        return no_change(path, before)
    if before is not None and undone(path) is None:
        return None
    return inserting(path, before, None, [text], kept=())


def _taken(path: Path, text: str | None) -> FileChange | None:
    """What takes a file away that says what we wrote, now or when it was put there; None where it is somebody's."""
    before = read_text(path)
    if before is None:
        return no_change(path, None)
    if before == text:
        return FileChange(path=path, before=before.encode(), after=None, exact=True)
    return undone(path)


def _planned(folder: Path, changes: Mapping[Path, FileChange | None]) -> _Planned:
    theirs = tuple(f"{path}: somebody has changed it; it is left alone" for path, one in changes.items() if one is None)
    ours = (msgspec.structs.replace(one, within=folder) for one in changes.values() if one is not None)
    return tuple(ours), theirs
