"""What a reader is, and the head of a log by which it recognises its format.

A class with the attributes of `Reader` is all that a format takes; `helix_episodes.readers.registry` finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.common.json_with_lines import parse_document, read_json_with_lines
from helix_episodes.readers.common.jsonl import lines_of, open_log, parse, read_records
from helix_episodes.readers.common.session_builder import SessionBuilder, id_from_path
from helix_episodes.safe_files import HEAD, LARGEST_DOCUMENT, LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.readers.common.fields import Record
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.jsonl import SkippedRecord
    from helix_episodes.session import Session


class LogHead(msgspec.Struct, frozen=True, kw_only=True):
    """The first lines of a log, for a reader to recognise: as bytes, and those that are JSON objects as such.

    ``document`` is the whole of a log that is one JSON object or list instead of a record a line; else ``None``.
    """

    path: Path
    lines: tuple[bytes, ...]
    records: Sequence[dict[str, Any]]
    document: Any = None


class _ParsedWhenAsked(Sequence[dict[str, Any]]):
    """The records of a head, each parsed when it is asked for: the first one mostly says what log it is."""

    def __init__(self, records: Iterator[dict[str, Any]]) -> None:
        self._left = records
        self._parsed: list[dict[str, Any]] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        position = 0
        while position < len(self._parsed) or self._parse_next():
            yield self._parsed[position]
            position += 1

    def _parse_next(self) -> bool:
        record = next(self._left, None)
        if record is not None:
            self._parsed.append(record)
        return record is not None

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, position: Any) -> Any:  # noqa: ANN401  (a number or a slice, and what is there)
        return tuple(self)[position]


class Reader(Protocol):
    """Reads one log format."""

    @property
    def name(self) -> str:
        """What ``--format`` and the episode's provenance call it."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How the names of its logs end, for walking a folder: ``(".jsonl",)``."""
        ...

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the log is of this format, else a short reason why not."""
        ...

    def is_part(self, path: Path) -> bool:
        """Whether the file belongs to another log and is read with it (a helper's transcript)."""
        ...

    def read(self, path: Path) -> Iterator[Session]:
        """The sessions in the log. Raises :class:`~helix_episodes.errors.LogNotReadable` when there is none."""
        ...


class SingleFileReader:
    """A base for readers of formats whose logs are single files."""

    name: str
    #: Why a log that is not `is_own` is none of this format.
    unfamiliar: str

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the log is of this format, else why not."""
        return None if self.is_own(head) else self.unfamiliar

    def is_own(self, head: LogHead) -> bool:
        """Whether a log begins as only this format does."""
        raise NotImplementedError

    def is_part(self, path: Path) -> bool:  # noqa: ARG002  (a reader's method)
        """Never: no file belongs to another log."""
        return False


class RecordLog:
    """A log of one record a line while it is read."""

    def __init__(self) -> None:
        self.builder = SessionBuilder()
        self.dialogue = self.builder.dialogue

    def enter(self, record: Record, *, line: int) -> None:
        """Takes in a record, and enters in the ledger what became of it."""
        self.builder.ledger.enter(self.take(record, line=line))

    def take(self, record: Record, *, line: int) -> SkippedRecord | None:
        """Turns a record into steps, or says why there are none."""
        raise NotImplementedError

    def end(self, path: Path) -> dict[str, Any]:  # noqa: ARG002  (for those that need it)
        """The fields of the session that are known when all was read."""
        return {}


class RecordReader(SingleFileReader):
    """A base for readers of formats in which a log has one record a line, all of one session."""

    suffixes: tuple[str, ...] = (".jsonl",)
    log: type[RecordLog]

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the log."""
        log = self.log()
        for line, record in read_records(path, ledger=log.builder.ledger):
            log.enter(record, line=line)
        stated = log.end(path)
        yield log.builder.session(path, reader=self.name, **stated)


class DocumentReader(SingleFileReader):
    """A base for readers of formats in which a log is one JSON document that holds one run."""

    suffixes: tuple[str, ...] = (".json",)
    #: What a document without any step lacks.
    empty: str

    def read(self, path: Path) -> Iterator[Session]:
        """The one run in the document."""
        builder = SessionBuilder()
        stated = self.take(read_json_with_lines(path), builder, path)
        yield builder.session(path, reader=self.name, empty=self.empty, **{"id": id_from_path(path), **stated})

    def take(self, document: JsonNode, builder: SessionBuilder, path: Path) -> dict[str, Any]:
        """Adds the run's steps to ``builder`` and returns the fields of the session that the document states."""
        raise NotImplementedError


#: The head of a log has so many lines where there are as many, however long they are.
_FEWEST_LINES = 3


def read_head(path: Path) -> LogHead:
    """The first lines of a file.

    Raises:
        LogNotReadable: missing, a folder, a device or pipe, no permission, empty, of too long lines alone, or not text.
    """
    with LogNotReadable.for_os_errors(path), open_log(path) as log:
        lines = tuple(_up_to(HEAD, lines_of(log)))
        is_empty = log.tell() == 0
    if not lines:
        too_long = f"its lines are longer than {LONGEST_LINE >> 20} MB, which no agent writes"
        raise LogNotReadable(path=path, problem="it is empty" if is_empty else too_long)
    records = _ParsedWhenAsked(_objects(lines))
    if any(b"\0" in line for line in lines) and not records and not lines[0].startswith(SQLITE_HEADER):
        raise LogNotReadable(path=path, problem="it is not text")
    return LogHead(path=path, lines=lines, records=records, document=_document(path, lines))


def _up_to(size: int, lines: Iterable[bytes | None]) -> Iterator[bytes]:
    """Whole lines until so many bytes are reached; a line that is too long to be read at all says nothing.

    They are a few at least, so that a torn line of megabytes hides no whole ones after it.
    """
    for number, line in enumerate(lines, 1):
        if line is not None:
            yield line
            size -= len(line)
        if size <= 0 and number >= _FEWEST_LINES:
            return


def _document(path: Path, lines: Sequence[bytes]) -> Any:  # noqa: ANN401  (JSON can be anything)
    """The JSON document that the whole file is, unless its first line is a record with others below it."""
    if not lines or not lines[0].removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")):
        return None
    if any(line.strip() for line in lines[1:]) and any(True for _ in _objects(lines[:1])):
        return None
    try:
        with open_log(path) as log:
            text = log.read(LARGEST_DOCUMENT + 1)
        return parse_document(text.decode("utf-8-sig"))[1] if len(text) <= LARGEST_DOCUMENT else None
    except ValueError:
        return None
    except OSError as error:
        raise LogNotReadable(path=path, problem=error.strerror or str(error)) from error


def _objects(lines: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not text.startswith(b"{"):  # of a document written on many lines none is an object
            continue
        try:
            record = parse(text)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


SQLITE_HEADER = b"SQLite format 3\0"
