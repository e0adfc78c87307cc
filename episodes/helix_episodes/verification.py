r"""Verification: is each quotation of an episode on the line of the log that it names?

A quotation is the text behind a record, with secrets cut, home folders shortened and its end perhaps cut off; the log
has the same text in JSON, escaped. So both are brought to one form, in which blanks and terminal colours do not count,
and the quotation must be found within its line, or each line of it there in order (a quotation may leave out what lies
between). In prose the marks of Markdown do not count either (asterisks, underscores, the targets of links), and a
sentence that is wrapped may run on over the lines below the one where it begins. Where it is not, the rest of the log
is searched: a quotation found elsewhere means a log that was rewritten, one found nowhere a wrong
episode or another log.

>>> from helix_episodes.model import Evidence
>>> quoted = Evidence(line=2, quote="2 failed\n1 passed")
>>> _result(quoted, [_form('{"text": "go"}'), _form('{"out": "\\u001b[31m2 failed\\n1 passed"}')])
('found', 2)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from helix_episodes.corrections import parts_of
from helix_episodes.errors import LogNotReadable
from helix_episodes.model import QUOTE_LIMIT, Episode, Evidence
from helix_episodes.readers.base import SQLITE_HEADER
from helix_episodes.readers.common.jsonl import read_document
from helix_episodes.redaction import ADDRESS, redact_text, without_addresses
from helix_episodes.safe_files import read_regular

#: ``found``: on its line. ``moved``: on another. ``missing``: nowhere. ``unchecked``: its log is not at hand, or
#: nothing is quoted.
QuotationStatus: TypeAlias = Literal["found", "moved", "missing", "unchecked"]
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\)")
_MARKS = re.compile(r"[*_]+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_VALUE = re.compile(rf"{_STRING.pattern}(?!\s*:)")


class CheckedQuotation(msgspec.Struct, frozen=True, kw_only=True):
    """One quotation: what rests on it, where it should be, and where it was found (``None`` when nowhere)."""

    of: str
    line: int
    file: str | None
    quote: str
    result: QuotationStatus = "unchecked"
    found_on: int | None = None


def quotations(episode: Episode) -> tuple[CheckedQuotation, ...]:
    """Every quotation of an episode: of its decisions, events, lessons, and of its outcome."""
    return tuple(
        CheckedQuotation(of=of, line=evidence.line, file=evidence.file, quote=evidence.quote)
        for of, evidence in _evidence(episode)
    )


def verify(episode: Episode, log: Path) -> tuple[CheckedQuotation, ...]:
    """The same, each compared with the log; those from a helper's log with that, when it lies next to or below it."""
    quoted = quotations(episode)
    emails = any(ADDRESS in one.quote for one in quoted)
    logs: dict[str | None, list[str]] = {None: _lines(log, emails=emails)}
    checked = []
    for one in quoted:
        if one.file not in logs:
            helper_log = _helper_log(log, one.file or "")
            logs[one.file] = _lines(helper_log, emails=emails) if helper_log else []
        result, found_on = _result(one, logs[one.file])
        checked.append(msgspec.structs.replace(one, result=result, found_on=found_on))
    return tuple(checked)


def _evidence(episode: Episode) -> Iterator[tuple[str, Evidence]]:
    outcome = episode.outcome_evidence
    if outcome and outcome.quote and outcome.line:
        yield "outcome", Evidence(line=outcome.line, quote=outcome.quote)
    for part in parts_of(episode):
        if part.evidence:
            yield part.id, part.evidence
    for place, lesson in enumerate(episode.lesson_evidence, 1):
        if lesson.evidence:
            yield f"lesson {place}", lesson.evidence


def _result(evidence: Evidence | CheckedQuotation, lines: list[str]) -> tuple[QuotationStatus, int | None]:
    wanted = [plain for part in evidence.quote.removesuffix("…").split("\n") if (plain := _plain(part))]
    if not wanted or not lines:
        return "unchecked", None
    places = [evidence.line] if evidence.line <= len(lines) else []
    found = next((number for number in (*places, *range(1, len(lines) + 1)) if _begins(lines, number, wanted)), None)
    if found == evidence.line:
        return "found", found
    return ("moved", found) if found else ("missing", None)


def _begins(lines: list[str], number: int, wanted: list[str]) -> bool:
    """Whether the quotation is on a line, or begins there and continues below it."""
    line = lines[number - 1]
    if _holds(line, wanted):
        return True
    first = wanted[0].partition(" ")[0]
    return first in line[-QUOTE_LIMIT:] and _runs_on(lines, number, wanted)


def _runs_on(lines: list[str], number: int, wanted: list[str]) -> bool:
    end = lines[number - 1][-QUOTE_LIMIT:]
    text = end
    for below in lines[number:]:
        if len(text) > len(end) + QUOTE_LIMIT:
            break
        text = f"{text} {below}"
    return 0 <= text.find(wanted[0]) < len(end) and _holds(text, wanted)


def _holds(text: str, wanted: list[str]) -> bool:
    """Whether each part is in the text, behind the one before it."""
    place = 0
    for part in wanted:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _lines(log: Path, *, emails: bool) -> list[str]:
    """The lines as the quotations were made of them; ``emails``: with addresses cut, as the episode has them."""
    form = (lambda line: _form(without_addresses(line))) if emails else _form
    with LogNotReadable.for_os_errors(log):
        written = read_document(log)
        if written.startswith(SQLITE_HEADER):
            return []  # its texts are on no lines: they stay unchecked
        return [form(line) for line in written.decode("utf-8", "replace").split("\n")]


def _form(line: str) -> str:
    """A line of a log as text to be searched: every string in its JSON, or the line itself."""
    try:
        texts = list(strings_in(msgspec.json.decode(line)))
    except (msgspec.DecodeError, RecursionError):
        texts = [line, *_unescaped(line)]
    return "\n".join(_plain(redact_text(text)) for text in texts)


def strings_in(value: Any, *, names: bool = True) -> Iterator[str]:  # noqa: ANN401  (JSON)
    """Every text in a JSON value, however deep; with ``names`` those of its parts as well, each before its part."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            parts = [part for pair in one.items() for part in pair] if names else list(one.values())
            waiting.extend(reversed(parts))
        elif isinstance(one, list):
            waiting.extend(reversed(one))


#: Of a file that is searched, in bytes; a larger one is named as not searched.
_LARGEST = 1 << 30


def texts_of(path: Path) -> set[str]:
    """Every text in a JSON file, without the names of its parts; in a damaged one those that are whole.

    Of what cannot be read there is nothing.
    """
    data = b""
    try:
        data = read_regular(path, most=_LARGEST)
        return set(strings_in(msgspec.json.decode(data), names=False))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return set(_unescaped(data.decode("utf-8", "replace"), _VALUE))


def _unescaped(line: str, strings: re.Pattern[str] = _STRING) -> Iterator[str]:
    """The strings on one line of a JSON text that goes over many, or in all of one that is damaged."""
    for match in strings.finditer(line):
        try:
            yield msgspec.json.decode(match.group(), type=str)
        except msgspec.DecodeError:
            continue


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", _COLOUR.sub("", text))).split())


def _helper_log(log: Path, file: str) -> Path | None:
    """A helper's log: named from the session's folder, or from the folder that bears the session's name."""
    name = file.replace("\\", "/").rpartition("/")[2]
    own = log.with_suffix("")
    places = (log.parent / file, own / file, own / "subagents" / name, log.parent / name)
    return next((place for place in places if place.is_file()), None)
