"""JSON lines as agents leave them, and the ledger in which every line is counted once.

A log that is still being written ends in half a line; a machine that lost power leaves a run of NUL bytes; an editor
adds a byte order mark. So each line is parsed by itself, and a bad one is entered in the ledger with its number and
what is wrong with it. `helix_episodes.safe_files` limits how much is read.

A reader either uses a line, skips it as a known type, does not know its type, finds it blank, or cannot read it. The
ledger counts all five, and they add up to the lines, so that a user can trust that nothing was lost silently.

>>> ledger = LineLedger()
>>> ledger.use(); ledger.skip("snapshot"); ledger.leave_blank()
>>> ledger.accounting().lines, ledger.accounting().skipped
(3, {'snapshot': 1})
"""

from __future__ import annotations

import codecs
import io
import json
import stat
from collections import Counter
from errno import EFBIG
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import orjson

from helix_episodes.errors import LogNotReadable
from helix_episodes.redaction import redact_text
from helix_episodes.safe_files import (
    DEEPEST_NESTING,
    HEAD_BYTES,
    LARGEST_DOCUMENT,
    LONGEST_LINE,
    LONGEST_TYPE,
    MOST_NAMED,
    MOST_TYPES,
    packed_format,
)
from helix_episodes.session import Accounting, BadLine, format_position

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: Represents the unknown types that are too many to be counted separately.
OTHER_TYPES = "(others)"


class SkippedRecord(NamedTuple):
    """Why a record gave no step: of a known type, or of an unknown one."""

    reason: str
    known: bool = True


class LineLedger:
    """Counts the lines of one session's files, each once."""

    def __init__(self) -> None:
        self._used = 0
        self._skipped: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._unknown_at: dict[str, str] = {}
        self._blank = 0
        self._bad: list[BadLine] = []
        self._more_bad = 0

    def enter(self, passed: SkippedRecord | None, *, line: int | None = None, file: str | None = None) -> None:
        """A record that gave a step, when there is no reason against it; where it is, when that is known."""
        if passed is None:
            self.use()
        elif passed.known:
            self.skip(passed.reason)
        else:
            self.leave_unknown(passed.reason, line=line, file=file)

    def use(self, lines: int = 1) -> None:
        """Lines that gave a step."""
        self._used += lines

    def skip(self, reason: str, lines: int = 1) -> None:
        """Lines of a known type that say nothing worth a step."""
        self._skipped[reason] += lines

    def leave_unknown(self, kind: str, *, line: int | None = None, file: str | None = None) -> None:
        """A line of an unknown type; where, when it is known."""
        name = redact_text(kind)[:LONGEST_TYPE]
        if name not in self._unknown and len(self._unknown) >= MOST_TYPES:
            name = OTHER_TYPES
        self._unknown[name] += 1
        if line is not None:
            self._unknown_at.setdefault(name, format_position(line, file))

    def leave_blank(self) -> None:
        """A line of nothing but white space."""
        self._blank += 1

    def report_bad(self, *, line: int, problem: str, file: str | None = None) -> None:
        """A line that cannot be read at all."""
        if len(self._bad) < MOST_NAMED:
            self._bad.append(BadLine(line=line, problem=problem, file=file))
        else:
            self._more_bad += 1

    def accounting(self) -> Accounting:
        """The columns and their sum."""
        understood = self._used + self._skipped.total() + self._blank
        return Accounting(
            lines=understood + self._unknown.total() + len(self._bad) + self._more_bad,
            used=self._used,
            skipped=dict(sorted(self._skipped.items())),
            unknown=dict(sorted(self._unknown.items())),
            unknown_at=dict(sorted(self._unknown_at.items())),
            blank=self._blank,
            bad=tuple(self._bad),
            more_bad=self._more_bad,
        )


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEGABYTE = 1 << 20
#: Lines of a log are long: with Python's own 8 kB at a time, reading the Claude Code corpus takes three times as long.
_BUFFER = 256 << 10

#: So much is read of a line that is too long to be used, to come to the next.
_LONGEST_SKIPPED = 256 << 20

_TYPE_NAMES = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def read_records(path: Path, *, ledger: LineLedger, file: str | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file with their line numbers from 1; all other lines go into the ledger.

    ``file`` is noted with bad lines when this is not the session's main log. Lines are read one at a time.
    """
    with LogNotReadable.for_os_errors(path), open_log(path) as log:
        for number, line in enumerate(lines_of(log), 1):
            record = _enter(line, number=number, ledger=ledger, file=file)
            if record is not None:
                yield number, record


def lines_of(log: BinaryIO) -> Iterator[bytes | None]:
    """The lines of an open log; None for one longer than `LONGEST_LINE`, of which nothing is kept.

    Raises:
        OSError: A line has no end, as one would have in a file of any size that takes no room on the disk.
    """
    while line := log.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        end = log.tell() + _LONGEST_SKIPPED
        while line and not line.endswith(b"\n"):
            line = log.readline(_MEGABYTE)
            if log.tell() > end:
                raise OSError(EFBIG, f"a line of it does not end within {_LONGEST_SKIPPED // _MEGABYTE} MB")
        del line  # the longest line there is, and the next needs as much again
        yield None


def read_document(path: Path) -> bytes:
    """All of a log that is one document.

    Raises:
        LogNotReadable: as `open_log`, or it is larger than `LARGEST_DOCUMENT`.
    """
    with open_log(path) as log:
        data = log.read(LARGEST_DOCUMENT + 1)
    if len(data) > LARGEST_DOCUMENT:
        problem = f"it is larger than {LARGEST_DOCUMENT // _MEGABYTE} MB, which no document of one session is"
        raise LogNotReadable(path=path, problem=problem)
    return data


def read_object(path: Path) -> dict[str, Any] | None:
    """The object that a small file next to a log holds; None when it is missing, unreadable or anything else."""
    try:
        value = parse(read_document(path))
    except (OSError, ValueError, LogNotReadable):
        return None
    return value if isinstance(value, dict) else None


def open_log(path: Path) -> BinaryIO:
    """The file, open for reading from its first byte.

    Raises:
        LogNotReadable: a folder, a device or a pipe (which may never end), a compressed file, or UTF-16.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise LogNotReadable(path=path, problem="it is a folder; name a log in it")
    if not stat.S_ISREG(mode):
        raise LogNotReadable(path=path, problem="it is not a regular file")
    log = io.BufferedReader(path.open("rb", buffering=0), _BUFFER)
    problem = _unreadable(log.peek(HEAD_BYTES))
    if problem:
        log.close()
        raise LogNotReadable(path=path, problem=problem)
    return log


def _unreadable(beginning: bytes) -> str | None:
    """What is wrong with a file that begins so; None when it may be text."""
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "it is UTF-16, as PowerShell's > writes; save it as UTF-8"
    packed = packed_format(beginning)
    return f"it is compressed ({packed}); unpack it first" if packed else None


def _enter(line: bytes | None, *, number: int, ledger: LineLedger, file: str | None) -> dict[str, Any] | None:
    """The line's object, left to the caller to count; anything else is counted here."""
    if line is None:
        problem = f"longer than {LONGEST_LINE // _MEGABYTE} MB, which no agent writes on a line"
        ledger.report_bad(line=number, problem=problem, file=file)
        return None
    text = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
    if text.isspace() or not text:
        ledger.leave_blank()
        return None
    try:
        # The end of a line is no trouble to JSON; taking it off first would copy the line.
        record = parse(text if text.startswith(b"{") else text.strip())
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
        ValueError: not JSON, or nested deeper than `DEEPEST_NESTING`.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "surrogate" not in str(error):
            raise
        value = _parse_with_halves(text)
    # Fewer brackets than levels: nearly every line needs no second look.
    if text.count(b"[") + text.count(b"{") > DEEPEST_NESTING and _is_too_deep(value):
        raise ValueError(f"nested deeper than {DEEPEST_NESTING} levels")
    return value


def parse_object(text: bytes) -> dict[str, Any]:
    """As `parse`, when it is an object; an empty one when it is not, or no JSON at all."""
    if not text.lstrip().startswith(b"{"):
        return {}
    try:
        value = parse(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _parse_with_halves(text: bytes) -> Any:  # noqa: ANN401  (as parse)
    """JSON that contains half a surrogate pair."""
    # json.loads() would guess the encoding of bytes, and take the first line of a UTF-16 file for JSON.
    try:
        return orjson.loads(json.dumps(json.loads(text.decode()), ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError(f"nested deeper than {DEEPEST_NESTING} levels") from None


def _is_too_deep(value: object) -> bool:
    """Level by level, because a walk down would need the stack that this guards."""
    level = _inside([value])
    for _ in range(DEEPEST_NESTING - 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return any(level)


def _inside(value: Any) -> list[Any]:  # noqa: ANN401  (JSON can be anything)
    """The lists and objects in a list or an object."""
    values = value.values() if isinstance(value, dict) else value
    return [each for each in values if isinstance(each, dict | list)]


def _problem(error: ValueError, *, line: bytes) -> str:
    if b"\0" in line:
        return "NUL bytes, as a crash leaves them"
    if not line.endswith(b"\n") and (not line.rstrip().endswith(b"}") or "unexpected end" in str(error)):
        return f"the last line is cut off ({error})"
    try:
        line.decode()
    except UnicodeDecodeError:
        return f"not JSON in UTF-8, the encoding of every log ({error})"
    return f"not JSON ({error})"
