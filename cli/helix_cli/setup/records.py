"""What setup did on this machine, so that it can be taken back exactly. It holds no word of anybody's settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_cli.setup.owning import write_for_its_owner

if TYPE_CHECKING:
    from collections.abc import Mapping


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Of a file that was changed.

    ``after`` is the digest of what came out, ``steps`` are the places and lengths of the insertions, ``made`` says
    whether the file is ours as a whole, ``kept`` which lists and objects on the way to our entries stood there before.
    """

    after: str
    steps: tuple[tuple[int, int], ...]
    made: bool
    kept: tuple[tuple[str, ...], ...] = ()


class _State(msgspec.Struct, frozen=True, kw_only=True):
    files: dict[str, FileRecord] = {}
    servers: tuple[str, ...] = ()


class Records:
    """The files that were changed, and the servers that an agent's own command was asked to add."""

    def __init__(self) -> None:
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        self._path = Path(state) / "helix-graph" / "setup.json"

    def of(self, path: Path) -> FileRecord | None:
        """What is known of a file."""
        return self._state().files.get(_key(path))

    def below(self, folder: Path) -> list[Path]:
        """The files below a folder of which something is known, in their order."""
        return sorted(path for path in map(Path, self._state().files) if path.is_relative_to(folder.resolve()))

    def note_files(self, found: Mapping[Path, FileRecord | None]) -> None:
        """Remembers changes of files, and forgets those of which nothing is to be known any longer."""
        state = self._state()
        files = {**state.files, **{_key(path): record for path, record in found.items()}}
        kept = {name: record for name, record in sorted(files.items()) if record is not None}
        if kept != state.files:
            self._write(msgspec.structs.replace(state, files=kept))

    def has_server(self, name: str) -> bool:
        """Whether an agent's command was asked to add a server, and not to remove it since."""
        return name in self._state().servers

    def note_server(self, name: str, *, added: bool) -> None:
        """Remembers that an agent's command added a server or removed it."""
        state = self._state()
        left = {one for one in state.servers if one != name} | ({name} if added else set())
        self._write(msgspec.structs.replace(state, servers=tuple(sorted(left))))

    def _write(self, state: _State) -> None:
        write_for_its_owner(self._path, msgspec.json.encode(state), like=self._path)

    def _state(self) -> _State:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_State)
        except (OSError, msgspec.MsgspecError):  # without a record what is ours is still found by what it says
            return _State()


def _key(path: Path) -> str:
    return str(path.resolve())
