"""Read a table of ``.helix/config.toml``, the optional settings of one memory.

A setting that is not understood is refused: ignoring it silently would be worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from helix_episodes.io import read_regular
from helix_graph.errors import InvalidConfiguration
from helix_graph.project import CONFIGURATION

if TYPE_CHECKING:
    from pathlib import Path


_Table = TypeVar("_Table", bound=msgspec.Struct)


def read_table(root: Path, name: str, kind: type[_Table]) -> tuple[Path, _Table]:
    """The file of the memory in ``root``, and its table of that name; its defaults where there is none.

    Raises:
        InvalidConfiguration: The file cannot be read, is no TOML, or the table does not fit ``kind``.
    """
    path = root / CONFIGURATION
    try:
        text = read_regular(path).decode()
    except FileNotFoundError:
        return path, kind()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(path=path, problem=f"it cannot be read: {error}") from error
    import tomllib

    try:
        return path, msgspec.convert(tomllib.loads(text).get(name, {}), kind)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InvalidConfiguration(path=path, problem=str(error)) from error
