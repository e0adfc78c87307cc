"""Text on its way into an episode: secrets cut, one line where one line is wanted, never longer than it may be.

The session's secrets are gone by now; what is cut here are home folders, and secrets of texts that come from elsewhere.
It always runs before shortening, since half a secret no longer looks like one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from helix_episodes.model import QUOTE_LIMIT
from helix_episodes.redaction import redact_text

#: How far beyond the limit is redacted before shortening: longer than any secret whose end could be cut off
#: (a PEM key of 4096 bits is about 3,300 characters).
_MARGIN = 4000
#: A title, a context, a choice: what fits on two lines of a terminal.
LINE_LIMIT = 200


def quote(text: str, *, limit: int = QUOTE_LIMIT) -> str:
    """The beginning of ``text`` as it stands in the log, secrets cut, at most ``limit`` characters.

    >>> quote("a" * 500)[-3:], len(quote("a" * 500))
    ('aa…', 240)
    """
    return shorten(_redacted(text[: limit + _MARGIN].strip()), limit=limit)


def line(text: str, *, limit: int = LINE_LIMIT) -> str:
    r"""The beginning of ``text`` on one line, secrets cut, at most ``limit`` characters.

    >>> line("first\n  second")
    'first second'
    """
    words = _redacted(text[: limit + _MARGIN].strip()).split(maxsplit=limit)
    return shorten(" ".join(words[:limit]), limit=limit)  # so many words are longer than so many letters


#: A statement is quoted, shown on one line and summed up, one after the other.
_redacted = lru_cache(maxsize=64)(redact_text)


def shorten(text: str, *, limit: int) -> str:
    """``text``, cut to ``limit`` characters with an ellipsis as the last when it was longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def first_sentence(text: str) -> str:
    r"""The first paragraph's first sentence, without Markdown headings and emphasis.

    >>> first_sentence("**Fix 1:** guard the prefix. Then more.\n\nNext")
    'Fix 1: guard the prefix.'
    """
    paragraph = next((part for part in text.strip().split("\n\n") if part.strip()), "")
    plain = re.sub(r"^\s*(?:\d+[.)]|[-+])\s+", "", re.sub(r"[*`#>]+", "", paragraph)).strip()
    match = re.match(r".+?[.!?](?=\s|$)", plain, re.DOTALL)
    return line(match.group() if match else plain)
