"""Marked items: what a text puts behind a label ("Decision: …") or lists under a heading ("## Lessons learned").

Agents write such blocks in Markdown. Only what is marked counts; words of the kind in running prose do not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANY_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*\s*:?\s*$)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")


def marked_items(text: str, *, label: re.Pattern[str], heading: re.Pattern[str]) -> Iterator[str]:
    """What stands behind a ``label`` (its first group), and the items listed under a ``heading`` until the next one."""
    listed = False
    for part in text.splitlines():
        labelled, item = label.match(part), _ITEM.match(part)
        if labelled:
            yield labelled[1]
        elif heading.match(part):
            listed = True
        elif _ANY_HEADING.match(part):
            listed = False
        elif listed and item:
            yield item[1]
