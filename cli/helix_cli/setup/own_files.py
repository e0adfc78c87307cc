"""Files that are wholly ours (the plugin's, the skill's), in a folder of an agent, and the plugin exported whole.

A file that somebody has changed is theirs from then on: it is neither replaced nor removed, and the report names it.

Of the plugin, setup leaves out the hooks and the server: they are in the settings, and would run twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from helix_cli.setup.agent_servers import SetupPlan
from helix_cli.setup.settings import SettingsChange, read_text, records, undone
from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import write_atomically
from helix_graph.errors import FolderInUse

SKILL_FILE = Path("SKILL.md")
_MANIFEST = Path(".claude-plugin") / "plugin.json"
_READABLE = 0o644
#: The plugin's files for what setup puts into the settings.
_BY_SETTINGS = frozenset({Path("hooks/hooks.json"), Path(".mcp.json"), Path(".claude-plugin/marketplace.json")})


def own_files_plan(folder: Path, contents: Mapping[Path, str], *, removing: bool) -> SetupPlan:
    """The changes that put files there or take them away, and a note about each that somebody has changed.

    Raises:
        NotEditable: Something else than a file is in the place of one.
    """
    wanted = {folder.resolve() / path: text for path, text in contents.items()}
    changes, notes = [], []
    recorded = (path for path in map(Path, records().files) if path.is_relative_to(folder.resolve()))
    for path in sorted({*wanted, *recorded}):
        before, after = read_text(path), None if removing else wanted.get(path)
        if before is None or before == wanted.get(path) or undone(path):
            changes.append(SettingsChange(path=path, before=before, after=after, installs=True, within=folder))
        else:
            notes.append(f"{path}: somebody has changed it; it is left alone")
    return SetupPlan(changes=tuple(changes), notes=tuple(notes))


def has_own_files(folder: Path, contents: Mapping[Path, str]) -> bool:
    """Whether every file is there, changed or not."""
    return all((folder / path).is_file() for path in contents)


class ExportedPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written, relative to the folder."""

    folder: Path
    files: tuple[Path, ...]


def export_plugin(folder: Path) -> ExportedPlugin:
    """Writes the plugin."""
    contents = plugin_contents()
    _require_free(folder, contents[_MANIFEST])
    for path, content in contents.items():
        write_atomically(folder / path, content, mode=_READABLE, follow=True)
    return ExportedPlugin(folder=folder, files=tuple(contents))


def plugin_contents() -> dict[Path, bytes]:
    """The plugin's files, named as they lie in its folder."""
    with as_file(files("helix_cli") / "plugin") as source:
        return {path.relative_to(source): path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file()}


def _require_free(folder: Path, manifest: bytes) -> None:
    """Whether the folder is empty, or ours by the name in its manifest.

    Raises:
        WriteFailed: It is no folder, or cannot be read.
    """
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return
        found = msgspec.json.decode((folder / _MANIFEST).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        found = None
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error
    if not isinstance(found, dict) or found.get("name") != msgspec.json.decode(manifest)["name"]:
        raise FolderInUse(f"{folder} contains something other than an earlier export; name an empty folder")


def files_beside_settings() -> dict[Path, str]:
    """The plugin's files without what is in the settings."""
    return {path: one.decode() for path, one in plugin_contents().items() if path not in _BY_SETTINGS}


def skill_contents() -> dict[Path, str]:
    """The skill's files, named as they lie in its folder."""
    return {SKILL_FILE: (files("helix_cli.setup") / "skill" / SKILL_FILE).read_text(encoding="utf-8")}
