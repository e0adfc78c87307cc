"""Reading JSON lines as agents leave them: cut off in the middle, half overwritten, with stray bytes.

A log that is still being written ends in half a line; a machine that lost power leaves a run of NUL bytes; an editor
adds a byte order mark. None of that may cost the lines around it, so each line is parsed by itself and a bad one is
entered in the ledger with its number and what is wrong with it.
"""

from __future__ import annotations

import codecs
import json
import stat
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from helix_episodes.errors import LogNotReadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.ledger import Ledger

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_TYPE_NAMES = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def read_records(path: Path, *, ledger: Ledger, file: str | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file with their line numbers from 1; all other lines go into the ledger.

    ``file`` is noted with bad lines when this is not the session's main log. Lines are read one at a time.

    Raises:
        LogNotReadable: the file cannot be opened or read.
    """
    try:
        with open_log(path) as log:
            for number, line in enumerate(log, 1):
                record = _enter(line, number=number, ledger=ledger, file=file)
                if record is not None:
                    yield number, record
    except OSError as error:
        raise LogNotReadable(path=path, problem=error.strerror or str(error)) from error


def open_log(path: Path) -> BinaryIO:
    """The file, open for reading from its first byte.

    Raises:
        LogNotReadable: a folder, a device or a pipe (which may never end), or UTF-16.
        OSError: missing, or no permission.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise LogNotReadable(path=path, problem="it is a folder; name a log in it")
    if not stat.S_ISREG(mode):
        raise LogNotReadable(path=path, problem="it is not a regular file")
    log = path.open("rb")
    if log.peek(len(codecs.BOM_UTF16_LE)).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        log.close()
        raise LogNotReadable(path=path, problem="it is UTF-16, as PowerShell's > writes; save it as UTF-8")
    return log


def _enter(line: bytes, *, number: int, ledger: Ledger, file: str | None) -> dict[str, Any] | None:
    """The line's object, left to the caller to count; anything else is counted here."""
    text = (line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line).strip()
    if not text:
        ledger.leave_blank()
        return None
    try:
        record = parse(text)
    except ValueError as error:
        ledger.report_bad(line=number, problem=_problem(error, line=line), file=file)
        return None
    if not isinstance(record, dict):
        ledger.report_bad(line=number, problem=f"not a JSON object but {_TYPE_NAMES[type(record)]}", file=file)
        return None
    return record


def parse(text: bytes) -> Any:  # noqa: ANN401  (JSON can be anything)
    r"""The value of one JSON text; half a surrogate pair, as left by text cut inside an emoji, becomes a question mark.

    >>> parse(b'{"a": "cut \\ud83d"}')
    {'a': 'cut ?'}

    Raises:
        ValueError: not JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "surrogate" not in str(error):
            raise
    # json.loads() would guess the encoding of bytes, and take the first line of a UTF-16 file for JSON.
    return orjson.loads(json.dumps(json.loads(text.decode()), ensure_ascii=False).encode("utf-8", "replace"))


def _problem(error: ValueError, *, line: bytes) -> str:
    if b"\0" in line:
        return "NUL bytes, as a crash leaves them"
    if not line.endswith(b"\n"):
        return f"the last line is cut off ({error})"
    return f"not JSON ({error})"
