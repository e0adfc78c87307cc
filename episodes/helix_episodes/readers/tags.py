"""Text in tags: what agents put around a person's words, and between them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def cut_tags(text: str, tags: Iterable[str]) -> str:
    """The text without these tags and what stands in them, in one pass per tag.

    An opening that is never closed stays, for nothing says where it ends.

    >>> cut_tags("fix it <hint>be brief</hint>now", ["hint"])
    'fix it now'
    """
    wanted = tuple(tags)
    if not _opening(wanted).search(text):
        return text.strip()
    for tag in wanted:
        if f"<{tag}" in text:
            text = _cut(text, tag=tag)
    return text.strip()


def between(text: str, opening: str, closing: str) -> str:
    """What stands between the first ``opening`` and the ``closing`` after it; empty when either is missing."""
    _, opened, rest = text.partition(opening)
    inside, closed, _ = rest.partition(closing)
    return inside if opened and closed else ""


@cache
def _opening(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"<(?:{'|'.join(map(re.escape, tags))})")


def _cut(text: str, *, tag: str) -> str:
    kept: list[str] = []
    position = 0
    while (start := text.find(f"<{tag}", position)) >= 0:
        end = text.find(f"</{tag}>", start)
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + len(tag) + 3
    kept.append(text[position:])
    return "".join(kept)
