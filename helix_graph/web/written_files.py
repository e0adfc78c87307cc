"""Which files `view` and `report` wrote, and what of them a search of their bytes does not see.

Each format is recognised in its file, whatever the file is called and wherever it is. A report into a folder replaces
only such files there; forgetting removes those below the memory, like the pages in ``pages/``, and its proof looks into
copies of them in archives: a page has its data in packs (`helix_graph.web.rendering`), and HTML has its texts escaped.
"""

from __future__ import annotations

import base64
import html
import os
import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.msgspec_types import ready
from helix_episodes.safe_files import read_regular
from helix_graph.errors import FolderInUse
from helix_graph.web.rendering import CARD_MARK, PAGE_MARK, REPORT_MARK
from helix_graph.web.report_text import QUOTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO


#: The formats of a report, each with the name of its file in a folder.
FORMATS = {"html": "index.html", "markdown": "report.md", "json": "report.json", "card": "card.svg"}
#: The page of the memory, next to a report in a folder.
VIEW = "view.html"


class _ReportHead(msgspec.Struct):
    """What a report in JSON begins with."""

    title: str
    since: str
    last: str
    days: int
    sessions: int


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=ready(_ReportHead))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


_KNOWN: dict[str, Callable[[bytes], bool]] = {
    "html": lambda data: REPORT_MARK.encode() in data,
    "markdown": lambda data: data.endswith(f"\n{QUOTES}\n".encode()),
    "json": _is_json,
    "card": lambda data: CARD_MARK.encode() in data,
    "page": lambda data: PAGE_MARK.encode() in data,
}
#: How our files begin: no database or log that quotes one of the marks does.
_BEGINNINGS = (b"<!doctype html>", b"# ", b'{\n  "title":', b"<svg ")
#: A page of a large memory has tens of megabytes; what is larger than this is none, and is not read whole.
LARGEST = 1 << 30
#: The mark of a page follows its policy; a browser that saves the page puts a line of its own before both.
MARK_WITHIN = 2048
_PACK = re.compile(rb'<script type="text/plain" id="pack-[^"]*">([^<]*)</script>')


def require_ours(folder: Path, format: str) -> None:  # noqa: A002  (the option's name)
    """Whether the files of the format in a folder, if any, are of an earlier report.

    Raises:
        FolderInUse: It is not, or cannot be read; or the folder is none.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise _in_use(folder)
    _require(folder / FORMATS[format], _KNOWN[format])
    if format == "html":
        _require(folder / VIEW, _KNOWN["page"])


def _require(path: Path, known: Callable[[bytes], bool]) -> None:
    try:
        if os.path.lexists(path) and not known(read_regular(path, most=LARGEST)):
            raise _in_use(path)
    except OSError:
        raise _in_use(path) from None


def _in_use(page: Path) -> FolderInUse:
    """What to raise of a file or folder that no earlier report has written."""
    return FolderInUse(f"{page} is of no earlier report of helix-graph; name another folder, or a file")


def written_below(folder: Path) -> Iterator[Path]:
    """The files of `view` and `report` below a folder, whatever they are called."""
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and _beginning(path).startswith(_BEGINNINGS):
                data = read_regular(path, most=LARGEST)
                if any(known(data) for known in _KNOWN.values()):
                    yield path


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(max(map(len, _BEGINNINGS)))


def is_page(head: bytes) -> bool:
    """Whether a file that begins so is HTML of ours, or a copy that a browser saved."""
    return any(mark.encode() in head[:MARK_WITHIN] for mark in (PAGE_MARK, REPORT_MARK))


def unpacked(stream: IO[bytes], *, most: int) -> Iterator[bytes]:
    """What a page shows: its text without escapes, and each of its packs, of which no more than ``most`` bytes.

    Raises:
        ValueError: A pack is damaged, or holds more; or it is larger than any page.
    """
    page = stream.read(LARGEST + 1)
    if len(page) > LARGEST:
        raise ValueError("it is larger than any page")
    # What begins with zeros is no page again.
    yield bytes(MARK_WITHIN) + html.unescape(page.decode("utf-8", "replace")).encode("utf-8", "replace")
    for pack in _PACK.finditer(page):
        deflated = zlib.decompressobj(-zlib.MAX_WBITS)
        with suppress(zlib.error):
            yield deflated.decompress(base64.b64decode(pack[1], validate=True), most)
        if not deflated.eof:
            raise ValueError("a pack of the page is damaged or too large")
