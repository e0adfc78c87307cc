"""A folder for a report: which files in it are ours, and so may be replaced or deleted.

The user does not name the files in it, so only files of an earlier report are touched. Each format is recognised in its
file, pages of sessions by the mark of our pages, and those only next to an earlier report: elsewhere somebody may have
collected them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import HelixGraphError
from helix_episodes.io import read_regular, remove_file
from helix_graph.web.html import PAGE_MARK as MARK_OF_VIEWS
from helix_graph.web.report_page import REPORT_MARK
from helix_graph.web.report_words import QUOTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


class FolderInUse(HelixGraphError):
    """What is of no earlier report lies where a report is to go; it is left alone."""

    def __init__(self, page: Path) -> None:
        self.page = page
        super().__init__(f"{page} is of no earlier report of helix-graph; name another folder, or a file")


#: The formats, each with the name of its file in a folder.
FORMATS = {"html": "index.html", "markdown": "report.md", "json": "report.json"}
SESSIONS = "sessions"


class _Head(msgspec.Struct):
    """What a report in JSON begins with."""

    title: str
    since: str
    last: str
    days: int
    sessions: int


def require_ours(folder: Path, format: str) -> None:  # noqa: A002  (the option's name)
    """Whether the file of the format that lies in a folder, if any, is an earlier report.

    Raises:
        FolderInUse: It is not, or cannot be read; or the folder is none.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise FolderInUse(folder)
    _require(folder / FORMATS[format], _KNOWN[format])


def require_free_sessions(folder: Path, names: Iterable[str]) -> None:
    """Whether the pages of the sessions named can be written: where there is something, it is such a page.

    Raises:
        FolderInUse: It is none, or the pages would land in another folder.
    """
    sessions = folder / SESSIONS
    if os.path.lexists(sessions) and (sessions.is_symlink() or not sessions.is_dir()):
        raise FolderInUse(sessions)
    for name in names:
        _require(sessions / f"{name}.html", _is_view)


def remove_stale(folder: Path) -> None:
    """Deletes the sessions' pages of an earlier report.

    Raises:
        WriteFailed: One cannot be deleted.
    """
    if not (folder / FORMATS["html"]).exists():
        return
    for page in sorted((folder / SESSIONS).glob("episode-*.html")):
        if _holds(page, _is_view):
            remove_file(page)


def _require(path: Path, known: Callable[[bytes], bool]) -> None:
    if os.path.lexists(path) and not _holds(path, known):
        raise FolderInUse(path)


def _holds(path: Path, known: Callable[[bytes], bool]) -> bool:
    try:
        return known(read_regular(path))
    except OSError:
        return False


def _is_view(data: bytes) -> bool:
    return MARK_OF_VIEWS.encode() in data


def _is_page(data: bytes) -> bool:
    return REPORT_MARK.encode() in data


def _is_markdown(data: bytes) -> bool:
    return data.endswith(f"\n{QUOTES}\n".encode())


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=_Head)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


_KNOWN = {"html": _is_page, "markdown": _is_markdown, "json": _is_json}
