"""Values that a name does not precede: below it in a table, in a row of SQL, in a block or a list that it heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import Cut, compiled_pattern, make_cut
from helix_episodes.redaction.value_looks import (
    is_mixed,
    is_placeholder,
    is_scrambled,
    is_unlike_words,
    says_what_it_is,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.redaction.rule_matching import SiftedText

_SEPARATORS = ("|", "│", "║", "┃", "\t", ";", ",")
#: A header of a table for people is not longer, and what has more rows is read by its beginning.
_LONGEST_HEADER, _MOST_ROWS = 400, 500
_HEAD = r"[ \t]*[\"'`*]{0,2}[\w #/%.-]{0,30}[\"'`*]{0,2}[ \t\r]*(?:\\n)?"
#: A line that only rules a table off.
_RULE, _FEWEST_COLUMNS = r"[-=+|│├┼┤─━═╞╪╡╠╬╣: \t]{3,}", 2
_VALUES = r"(?i)[^()]{0,40}?\bvalues\s*"
_ROW = r"\(((?:[^()'\"]|'(?:[^']|'')*'|\"[^\"]*\"|\([^()]*\))*)\)\s*,?\s*"
_CELL = r"\s*('(?:[^']|'')*'|\"[^\"]*\"|[^,]+)\s*(?:,|\Z)"
_SHORTEST_FIELD = 4
#: Fields of a block of which all are secret, and a list of codes under its heading.
_FIELDS = r"(?:stringData|(?<![A-Za-z])data)[\"']?:[ \t]*\{?[ \t]*((?:\n?[ \t]*[\"']?[\w.-]{1,80}[\"']?:[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s,}]+)[ \t]*,?)+)"  # noqa: E501
_BLOCK = r"kind[\"']?: ?[\"']?Secret\b"
_FIELD = r":[ \t]*[\"']?([^\s\"',}]+)"
_CODES = (
    r"(?i)\b(?:recovery|backup|scratch|rescue|emergency|2fa|mfa|otp)[ _-]?(?:codes?|keys?|tokens?)\b(?:[^\n]{0,40}?[:=\n]|\s(?:is|are))\s{0,4}"  # noqa: E501
    r"((?:[\s\"'`,;*\[\]>|-]|\d{1,2}[.)] ){0,12}(?:[A-Za-z0-9]{4,10}[- ]?){1,8}(?:(?:[\s\"'`,;*|-]|\d{1,2}[.)] ){1,12}(?:[A-Za-z0-9]{4,10}[- ]?){1,8}){0,40})"  # noqa: E501
)
_CODE_WORDS = frozenset(
    one + codes
    for one in ("recovery", "backup", "scratch", "rescue", "emergency", "2fa", "mfa", "otp")
    for codes in ("", "codes", "keys", "tokens")
)
#: What a vocabulary must tell of for headings.
HEADING_WORDS = _CODE_WORDS | {"stringdata", "secret"}
_CODE = r"[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,7}"


def column_values(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the values are that belong to a column's name between two places."""
    begin = text.rfind("\n", 0, start) + 1
    opening = text.rfind("(", begin, start)
    spans = _sql_values(text, opening, start, end) if opening >= 0 else _cells_below(text, begin, start, end)
    for first, last in spans:
        value = text[first:last]
        stripped = value.strip(" \t\r\"'`")
        begin = first + value.find(stripped)
        if stripped and " " not in stripped and (is_mixed(stripped) or is_scrambled(stripped)):
            yield begin, begin + len(stripped)


def _sql_values(text: str, opening: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    close = text.find(")", end, end + _LONGEST_HEADER)
    values = compiled_pattern(_VALUES).match(text, close + 1) if close >= 0 else None
    if values is None:
        return
    at, position = text.count(",", opening, start), values.end()
    while row := compiled_pattern(_ROW).match(text, position):
        cells = [cell.span(1) for cell in compiled_pattern(_CELL).finditer(row[1])]
        if at < len(cells):
            yield row.start(1) + cells[at][0], row.start(1) + cells[at][1]
        position = row.end()


def _cells_below(text: str, begin: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    stop = text.find("\n", end, end + _LONGEST_HEADER)
    if stop < 0 or stop - begin > _LONGEST_HEADER:
        return
    separator = next((sign for sign in _SEPARATORS if sign in text[begin:stop]), None)
    if separator is None:
        is_cell = text[max(begin, start - 2) : start].isspace() or start == begin
        if is_cell and (text[end : end + 2].isspace() or end == stop):
            yield from _aligned_below(text, start - begin, end - begin, stop)
        return
    # What is before the first cell may be a listing's or a message's.
    cells, at = text[begin:stop].split(separator), text.count(separator, begin, start)
    if not all(compiled_pattern(_HEAD).fullmatch(cell) for cell in cells[1 if at else 0 :]):
        return
    count = text.count(separator, begin, stop)
    if separator * 2 in text[begin:stop]:  # the head of a table in Jira's markup
        count, at = count // 2, at // 2
    for _ in range(_MOST_ROWS):
        position = stop + 1
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop
        if position < stop and compiled_pattern(_RULE).fullmatch(text, position, stop):
            continue
        # A listing's number before the row, which is left out, may have been its first cell.
        missing = count - text.count(separator, position, stop)
        if position >= stop or not 0 <= missing <= min(at, 1):
            return
        for _ in range(at - missing):
            position = text.index(separator, position) + 1
        last = text.find(separator, position, stop)
        yield position, stop if last < 0 else last


def _aligned_below(text: str, first: int, last: int, stop: int) -> Iterator[tuple[int, int]]:
    """The words of the lines below that are under a head between these columns."""
    for _ in range(_MOST_ROWS):
        position = stop + 1
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop
        if position < stop and compiled_pattern(_RULE).fullmatch(text, position, stop):
            continue
        words = compiled_pattern(r"\S+").finditer(text, position, max(position, stop))
        spans = [(word.start() - position, word.end() - position) for word in words]
        if len(spans) < _FEWEST_COLUMNS:
            return
        # One edge is the head's, or the word reaches from before to behind it.
        for begin, end in spans:
            value = text[position + begin : position + end]
            if (begin == first or end == last or begin <= first < last <= end) and is_scrambled(value):
                yield position + begin, position + end


def may_be_headed(sifted: SiftedText) -> bool:
    """Whether a word of a heading is in a text."""
    telling = sifted.telling
    is_secret = "secret" in telling and "kind" in sifted.words
    return is_secret or "stringdata" in telling or not telling.isdisjoint(_CODE_WORDS)


def headed_secrets(sifted: SiftedText) -> Iterator[Cut]:
    """The fields of a block that says of itself that it is secret, and codes that let in once."""
    text, words = sifted.text, sifted.words
    if "stringdata" in words or ("secret" in words and "kind" in words and compiled_pattern(_BLOCK).search(text)):
        for block in compiled_pattern(_FIELDS).finditer(text):
            for field in compiled_pattern(_FIELD).finditer(text, *block.span(1)):
                if len(field[1]) >= _SHORTEST_FIELD and not is_placeholder(field[1]) and not says_what_it_is(field[1]):
                    yield make_cut("secret", *field.span(1))
    if not words.isdisjoint(_CODE_WORDS):
        for block in compiled_pattern(_CODES).finditer(text):
            codes = list(compiled_pattern(_CODE).finditer(text, *block.span(1)))
            lengths = {len(code[0]) for code in codes if any(map(str.isdigit, code[0])) or is_unlike_words(code[0])}
            yield from (make_cut("secret", *code.span()) for code in codes if len(code[0]) in lengths)
