r"""A text as a reader sees it: without colours, characters that show nothing, escapes, entities and marks of a listing.

The same secret is written ``"password": "x"``, ``\"password\": \"x\"`` and ``&quot;password&quot;: &quot;x&quot;``, on
lines that begin with a number, a time or ``>``. The rules are asked about the plain form only, and what they find is
cut where it was.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import compiled_pattern, mentions

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

#: Colours and characters that show nothing, as they are and as they are spelled in code and JSON.
_HIDDEN = (
    r"(?:\x1b|\^\[|\\{1,8}(?:x1b|e|033|u001b))\[[0-9;:?]{0,24}[A-Za-z]"
    r"|[\x00-\x08\x0e-\x1f\xad\u0300-\u036f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
    r"|\\{1,8}(?:u(?:200[b-f]|00ad|2060|feff)|xad|u00ad)"
)
_SIGNS = {
    "quot": '"',
    "apos": "'",
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "n": "\n",
    "r": "\n",
    "t": "\t",
    **{f"#{ord(sign)}": sign for sign in "\"'&<>`+="},
    **{f"#x{ord(sign):x}": sign for sign in "\"'&<>`+="},
}
_ENTITY = r"&(?P<sign>quot|apos|lt|gt|amp|#(?:34|39|38|60|62|96|43|61)|#x(?:22|27|26|3c|3e|60|2b|3d));"
#: A quote, a stroke or the end of a line within a text within a text.
_ESCAPE = r"\\(?<!\\\\)\\{0,14}(?P<sign>[\"'`/=:]|[nrt]|u[0-9a-fA-F]{4}|x[2-7a][0-9a-fA-F]|0[4-7][0-7])"
#: What listings, logs, mails, comments, diffs and tables of Markdown put before a line, and the last behind it.
_PREFIX = (
    r"(?:[ \t]{0,12}(?:\d{1,7}[→\t]|\d{1,7}:(?=\D)|\d{1,7} ?\| ?)"
    r"|[\w.-]{0,60}+(?>(?:/[\w.-]{1,60}+){1,12}):\d{1,7}:"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]{0,12}\]?[ \t]{1,4}"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,40} "
    r"|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|NOTICE)\]?[ :]{1,4}"
    r"|[\w./-]{1,30}+\[\d{1,7}\]:? |[\w-]{1,30}+ {1,12}+\| "
    r"|[ \t]{0,12}(?:>|#|//|\+|\*)[ \t]{0,8}(?=[^\s>#+*/])|[ \t]{0,12}> ?|\+(?=\n|\Z)"
    r"|\|(?![^|`\n]{0,40}(?i:passw|secret|token|key|pwd))[^|`\n]{0,40}\|\s?`)+"
)
_LINE_WITH_PREFIX = rf"\n({_PREFIX})"
_TABLE_END = r"` ?\|[^|\n]{0,60}\|(?=\n|\Z)"
_HIDDEN_SPELLED = ("xad", "x1b[", "\\e[", "033[", "u001b", "u200", "u00ad", "u2060", "ufeff")
_INVISIBLE = "[\u200b-\u200d\ufeff\u2060\xad\u0300-\u036f]"
_ENTITIES = ("&quot;", "&#", "&lt;", "&gt;", "&amp;", "&apos;")
_ESCAPES = ('\\"', "\\'", "\\n", "\\/", "\\r", "\\t", "\\u", "\\x", "\\0", "\\=", "\\:")


#: Full width, letters of mathematics, wide blanks and quotes, and Cyrillic letters next to Latin ones.
_CYRILLIC = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0405"
)
_LATIN = "aeopcyxijsABEKMHOPCTXIS"
#: One of these is in each text that holds such a letter; asked for alone it takes a tenth of the time.
_STRANGE = "[\u3000\xa0\u0400-\u04ff\uff01-\uff5e\U0001d400-\U0001d7ff]"
_LOOK_ALIKE = (
    r"(?P<sign>[\u3000\xa0\uff01-\uff5e\U0001d400-\U0001d7ff]"
    rf"|(?<=[A-Za-z_])[{_CYRILLIC}]|[{_CYRILLIC}](?=[A-Za-z_]))"
)
#: An assignment, a quoted name or an address in the codes of an address, and in those of a mail.
_CODED = ("%3D", "%22%3A", "%3A%2F%2F", "%3a%2f%2f", "%3d", "%22%3a")
_CODE = r"(?P<sign>%3[Dd](?<=[a-z_]%3.)|%(?:2[026-9CFcf](?!\d{3})|3[ABFabf]|40|5[BDbd]|7[BDbd]|0[AD]))"
_MAIL_CODE = r"(?P<sign>=(?:3D|\n))"
#: The code of an address, or a colour that lost its first character, right before what is as long as a token: its sign
#: is left, which is a part of no word and goes on with a value as before.
_CODE_BEFORE_LONG_WORD = (
    r"(?P<sign>[%[])(?:(?<=%)(?:25){0,3}[0-7][0-9A-Fa-f]|(?<=\[)\d{1,2}(?:;\d{1,3}){0,4}m)(?=[\w.-]{16})"
)
_BEGINNINGS_OF_CODES = ("%", "[3", "[9", "[0;", "[1;", "[01;", "[1m", "[0m")
#: A line that goes on in the next: within a word nothing is between, else a blank.
_CONTINUATION = r"(?<=[A-Za-z0-9+/_-])\\\n[ \t]*(?=[A-Za-z0-9+/_])|(?<=[ \t])\\\n[ \t]*"


class VisibleText:
    """The plain form of a text, and where its parts are in the text as it was."""

    def __init__(self, text: str, source: str, pattern: str, shift: int) -> None:
        self.text = text
        self._source, self._pattern, self._shift = source, pattern, shift

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where what lies between two places of the plain form is in the text as it was."""
        begins, places, widths = self._parts
        first, last = bisect_right(begins, start) - 1, bisect_right(begins, end - 1) - 1
        begin = places[first] + (start - begins[first])
        return begin, places[last] + (end - 1 - begins[last]) + widths[last]

    # Asked for only where something is cut, which is seldom.
    @cached_property
    def _parts(self) -> tuple[list[int], list[int], list[int]]:
        """Where each part begins in the plain form and in the source, and the width of its characters in the source."""
        begins, places, widths = [], [], []
        position, length = self._shift, 0
        for found in compiled_pattern(self._pattern).finditer(self._source):
            start, end = found.span(self._shift)
            sign = _sign(found) if not self._shift else ""
            for size, place, width in ((start - position, position, 1), (len(sign), start, end - start)):
                if size > 0:
                    begins.append(length)
                    places.append(place - self._shift)
                    widths.append(width)
                    length += size
            position = end
        begins.append(length)
        places.append(position - self._shift)
        widths.append(1)
        return begins, places, widths


def after_prefix(text: str, begin: int) -> int:
    """Where a line begins that starts at this place, behind what a listing, a log or a comment puts before it."""
    found = compiled_pattern(_PREFIX).match(text, begin)
    return found.end() if found else begin


def _plain_letter(sign: str) -> str:
    place = _CYRILLIC.find(sign)
    plain = _LATIN[place] if place >= 0 else unicodedata.normalize("NFKC", sign)
    return plain if len(plain) == 1 else sign


def _without(text: str, pattern: str) -> VisibleText | None:
    if pattern == _LINE_WITH_PREFIX:  # the first line has a prefix as well
        source, shift = "\n" + text, 1
        plain, count = compiled_pattern(pattern).subn("\n", source)
    else:
        source, shift = text, 0
        plain, count = compiled_pattern(pattern).subn(_sign if "(?P<sign>" in pattern else "", text)
    return VisibleText(plain[shift:], source, pattern, shift) if count else None


def _sign(found: re.Match[str]) -> str:
    """What an entity or an escape stands for; nothing where the pattern names no sign."""
    sign = found.groupdict().get("sign")
    if not sign:
        return ""
    if sign in _SIGNS:
        return _SIGNS[sign]
    if sign[0] in "ux" and len(sign) > 1:
        return chr(int(sign[1:], 16))
    if sign[0] == "0" and len(sign) > 1:
        return chr(int(sign, 8))
    if sign[0] in "%=" and len(sign) > 1:
        return chr(int(sign[1:], 16)) if sign[1:] != "\n" else ""
    return sign if sign.isascii() else _plain_letter(sign)


def without_escapes(text: str) -> Iterator[VisibleText]:
    """The text without what is within its words, step by step: colours and hidden characters, escapes and entities."""
    # Most texts have nothing of the kind, and each step would ask by itself.
    if not text.isascii() or mentions(text, _SIGNS_IN_WORDS):
        yield from _steps(text, _IN_WORDS)


def without_frames(text: str) -> Iterator[VisibleText]:
    """The text without what is around its lines: the other cells of a table, then what a listing puts before them."""
    yield from _steps(text, _AROUND_LINES)


def _steps(text: str, steps: tuple[tuple[str, Callable[[str], bool]], ...]) -> Iterator[VisibleText]:
    for pattern, may_match in steps:
        if may_match(text) and (plain := _without(text, pattern)):
            yield plain
            text = plain.text


def _has_hidden(text: str) -> bool:
    if "\x1b" in text or "^[[" in text or ("\\" in text and mentions(text, _HIDDEN_SPELLED)):
        return True
    return not text.isascii() and compiled_pattern(_INVISIBLE).search(text) is not None


def _is_coded(text: str) -> bool:
    """Whether whole assignments are written in the codes of addresses."""
    return "%" in text and mentions(text, _CODED)


def _has_entities(text: str) -> bool:
    return "&" in text and mentions(text, _ENTITIES)


#: What is taken out of words, in order, each with a cheap test; what an entity stands for may be one itself.
_IN_WORDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    (_HIDDEN, _has_hidden),
    (_LOOK_ALIKE, lambda text: not text.isascii() and compiled_pattern(_STRANGE).search(text) is not None),
    (_ENTITY, _has_entities),
    (_ENTITY, _has_entities),
    (_ESCAPE, lambda text: "\\" in text and mentions(text, _ESCAPES)),
    (_MAIL_CODE, lambda text: "=3D" in text and not _is_coded(text)),
    (_CODE, _is_coded),
    (_CODE_BEFORE_LONG_WORD, lambda text: mentions(text, _BEGINNINGS_OF_CODES)),
)
#: A text of plain letters in which none of the steps finds anything has none of these.
_SIGNS_IN_WORDS = ("\\", "&", "\x1b", "^[[", "=3D", *_BEGINNINGS_OF_CODES)
_AROUND_LINES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    (_TABLE_END, lambda text: "` |" in text),
    (_LINE_WITH_PREFIX, lambda _: True),
    (_CONTINUATION, lambda text: "\\\n" in text),
)
