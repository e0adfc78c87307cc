"""``.helix/config.toml``: what a person sets for one memory, a table for each part that has settings.

Nobody has to have the file. What is in it must be understood: a setting that is silently ignored would be worse than a
refusal. Tables of other parts are none of a reader's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from helix_episodes.files import read_regular
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
    import tomllib  # noqa: PLC0415  (6 ms that a memory without the file does without)

    try:
        return path, msgspec.convert(tomllib.loads(text).get(name, {}), kind)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InvalidConfiguration(path=path, problem=str(error)) from error
