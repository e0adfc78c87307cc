"""The plugin's files, out of the package into a folder."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from helix_cli.errors import FolderNotEmpty
from helix_episodes.errors import WriteFailed
from helix_episodes.files import write_atomically

_MANIFEST = Path(".claude-plugin") / "plugin.json"
_READABLE = 0o644


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written, relative to the folder."""

    folder: Path
    files: tuple[Path, ...]


def export_plugin(folder: Path) -> Exported:
    """Writes the plugin.

    Raises:
        FolderNotEmpty: Something else lies there.
        WriteFailed: The folder cannot be written.
    """
    contents = plugin_contents()
    _require_free(folder, contents[_MANIFEST])
    for path, content in contents.items():
        write_atomically(folder / path, content, mode=_READABLE)
    return Exported(folder=folder, files=tuple(contents))


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
