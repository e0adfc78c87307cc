"""The settings of the search, in ``.helix/config.toml``.

::

    [search]
    markdown = [".serena/memories", "docs/notes"]   # folders of Markdown; relative ones start at the project
    forgetful = "http://127.0.0.1:8020/mcp"         # a Forgetful server's MCP endpoint
    forgetful_timeout_ms = 500

Without the file, ``.serena/memories`` of the project is searched where there is one. A server is asked only when it is
named here: a query may hold what a stranger's program on that port should not read.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from helix_graph.configuration import read_table
from helix_graph.errors import InvalidConfiguration

SERENA = Path(".serena/memories")
#: The seed's: a server on the same machine answers in a few milliseconds, and a search does not wait longer for one.
_TIMEOUT_MS = 500
_LONGEST_TIMEOUT_MS = 60_000


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Folders to search, and the Forgetful server to ask."""

    markdown: tuple[Path, ...]
    forgetful: str | None = None
    forgetful_timeout_ms: int = _TIMEOUT_MS


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    markdown: list[str] | None = None
    forgetful: str | None = None
    forgetful_timeout_ms: int = _TIMEOUT_MS


def read_settings(root: Path) -> SearchSettings:
    """The settings of the memory in ``root``.

    Raises:
        InvalidConfiguration: The file is not understood; guessing could ask a server that nobody named.
    """
    path, table = read_table(root, "search", _Table)
    if not 1 <= table.forgetful_timeout_ms <= _LONGEST_TIMEOUT_MS:
        raise InvalidConfiguration(path=path, problem=f"forgetful_timeout_ms must be 1 to {_LONGEST_TIMEOUT_MS}")
    if table.forgetful is not None and not _is_endpoint(table.forgetful):
        raise InvalidConfiguration(path=path, problem=f"forgetful is {table.forgetful!r}, which is no http(s) address")
    if any(not one.strip() for one in table.markdown or ()):
        raise InvalidConfiguration(path=path, problem='markdown names an empty folder; the project itself is "."')
    folders = [SERENA] if table.markdown is None else [Path(one).expanduser() for one in table.markdown]
    return SearchSettings(
        markdown=tuple(root.parent / folder for folder in folders),
        forgetful=table.forgetful,
        forgetful_timeout_ms=table.forgetful_timeout_ms,
    )


def _is_endpoint(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False
