"""Files that are wholly ours in a folder of an agent: the plugin's and the skill's.

A file that somebody has changed is theirs from then on: it is neither replaced nor removed, and the report names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from helix_cli.setup.agent_servers import SetupPlan
from helix_cli.setup.settings import SettingsChange, read_text, records, undone


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What of the memory is in an agent's settings.

    ``server`` is None where only the agent's absent command knows, ``plugin`` (agents, skills) where there is none to
    put in.
    """

    hooks: bool
    server: bool | None
    plugin: bool | None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.hooks and self.server is not False and self.plugin is not False


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
