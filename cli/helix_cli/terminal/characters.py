r"""What characters do to a terminal: some it obeys, some are two columns wide, some it cannot show.

>>> clean("\x1b[31m2 failed\nin 0.3 s")
' [31m2 failed in 0.3 s'
>>> width("naïve"), width("価格"), width("e\u0301")
(5, 4, 1)
>>> escaped("a → b", "ascii")
'a \\u2192 b'
"""

from __future__ import annotations

import re

#: What a terminal may obey and JSON lets stand: DEL, the one-byte controls, marks that turn the direction of writing.
_OBEYED_IN_JSON = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
_WIDE = frozenset("WF")
_OVER_THE_LAST = frozenset(("Mn", "Me"))


def clean(text: str) -> str:
    """Replace every line break, control character and invisible mark by a blank."""
    return text if text.isprintable() else "".join(each if each.isprintable() else " " for each in text)


def clean_lines(text: str) -> str:
    """The same line by line, for a text that has several of its own."""
    return "\n".join(map(clean, text.split("\n")))


def harmless_json(encoded: str) -> str:
    r"""JSON with each character that a terminal could obey written as its escape; the value stays the same.

    >>> harmless_json('"\x9b2J"')
    '"\\u009b2J"'
    """
    return re.sub(_OBEYED_IN_JSON, lambda found: f"\\u{ord(found[0]):04x}", encoded)


def width(text: str) -> int:
    """How many columns a clean text takes: two for East Asian wide characters, none for marks over the last one."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    import unicodedata

    if unicodedata.category(character) in _OVER_THE_LAST:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def escaped(text: str, encoding: str) -> str:
    """A text as a stream of that encoding shows it: what it lacks as an escape, so that widths are counted right."""
    if text.isascii():
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)
