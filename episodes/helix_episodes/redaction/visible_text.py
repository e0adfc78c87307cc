r"""A text as a reader sees it: without colours, characters that show nothing, escapes, entities and marks of a listing.

The same secret is written ``"password": "x"``, ``\"password\": \"x\"`` and ``&quot;password&quot;: &quot;x&quot;``, on
lines that begin with a number, a time or ``>``. The rules are asked about the plain form only, and what they find is
cut where it was.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import compiled_pattern, mentions

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

#: Colours and characters that show nothing, as they are and as they are spelled in code and JSON.
_HIDDEN = (
    r"(?:\x1b|\\{1,2}(?:x1b|e|033|u001b))\[[0-9;:?]{0,24}[A-Za-z]"
    r"|[\x00-\x08\x0e-\x1f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
    r"|\\{1,2}u(?:200[b-f]|00ad|2060|feff)"
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
_ESCAPE = r"(?<!\\)\\{1,15}(?P<sign>[\"'`/]|[nrt]|u[0-9a-fA-F]{4})"
#: What listings, logs, mails, comments, diffs and tables of Markdown put before a line, and the last behind it.
_PREFIX = (
    r"(?:[ \t]{0,12}(?:\d{1,7}[→\t]|\d{1,7}:(?=\D)|\d{1,7} ?\| ?)"
    r"|[\w.-]{0,60}+(?:/[\w.-]{1,60}+){1,12}+:\d{1,7}:"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]{0,12}\]?[ \t]{1,4}"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,40} "
    r"|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|NOTICE)\]?[ :]{1,4}"
    r"|[\w./-]{1,30}+\[\d{1,7}\]:? |[\w-]{1,30}+ {1,12}+\| "
    r"|[ \t]{0,12}(?:>|#|//|\+|\*)[ \t]{0,8}(?=[^\s>#+*/])|[ \t]{0,12}> ?"
    r"|\|[^|`\n]{0,40}\|\s?`)+"
)
_LINE_WITH_PREFIX = rf"\n({_PREFIX})"
_TABLE_END = r"` ?\|[^|\n]{0,60}\|(?=\n|\Z)"
_HIDDEN_SPELLED = ("x1b[", "\\e[", "033[", "u001b", "u200", "u00ad", "u2060", "ufeff")
_INVISIBLE = ("\u200b", "\u200c", "\u200d", "\ufeff", "\u2060", "\xad")
_ENTITIES = ("&quot;", "&#", "&lt;", "&gt;", "&amp;", "&apos;")
_ESCAPES = ('\\"', "\\'", "\\n", "\\/", "\\r", "\\t", "\\u")


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


def without_escapes(text: str) -> Iterator[VisibleText]:
    """The text without what is within its words, step by step: colours and hidden characters, escapes and entities."""
    return _steps(text, _without_hidden, _without_entities, _without_escapes)


def without_frames(text: str) -> Iterator[VisibleText]:
    """The text without what is around its lines: the other cells of a table, then what a listing puts before them."""
    return _steps(text, _without_table_ends, _without_prefixes)


def _steps(text: str, *steps: Callable[[str], VisibleText | None]) -> Iterator[VisibleText]:
    for step in steps:
        if plain := step(text):
            yield plain
            text = plain.text


def _without_hidden(text: str) -> VisibleText | None:
    if (
        "\x1b" in text
        or ("\\" in text and mentions(text, _HIDDEN_SPELLED))
        or (not text.isascii() and mentions(text, _INVISIBLE))
    ):
        return _without(text, _HIDDEN)
    return None


def _without_entities(text: str) -> VisibleText | None:
    return _without(text, _ENTITY) if "&" in text and mentions(text, _ENTITIES) else None


def _without_escapes(text: str) -> VisibleText | None:
    return _without(text, _ESCAPE) if "\\" in text and mentions(text, _ESCAPES) else None


def _without_table_ends(text: str) -> VisibleText | None:
    return _without(text, _TABLE_END) if "` |" in text else None


def _without_prefixes(text: str) -> VisibleText | None:
    source = "\n" + text
    plain, count = compiled_pattern(_LINE_WITH_PREFIX).subn("\n", source)
    return VisibleText(plain[1:], source, _LINE_WITH_PREFIX, 1) if count else None


def _without(text: str, pattern: str) -> VisibleText | None:
    plain, count = compiled_pattern(pattern).subn(_sign if "(?P<sign>" in pattern else "", text)
    return VisibleText(plain, text, pattern, 0) if count else None


def _sign(found: re.Match[str]) -> str:
    """What an entity or an escape stands for; nothing where the pattern names no sign."""
    sign = found.groupdict().get("sign")
    if not sign:
        return ""
    return _SIGNS.get(sign) or (chr(int(sign[1:], 16)) if sign[0] == "u" else sign)
