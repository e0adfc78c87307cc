r"""HTML that cannot be broken by what is put into it.

Every text that goes into an element is escaped there, at the one place where elements are made; only what is `Markup`
already is not. So no caller can forget it. Characters that a screen obeys instead of showing them (controls, marks that
turn the direction of writing) are shown as boxes.

>>> str(element("p", "<b> & ", element("bdi", "a\x07"), class_="x"))
'<p class="x">&lt;b&gt; &amp; <bdi>a□</bdi></p>'
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: As in the page of the graph (``view/static/text.js``).
_OBEYED = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def visible(text: str) -> str:
    """A text with every character in it that cannot be seen shown as a box."""
    return _OBEYED.sub("\u25a1", text.replace("\r\n", "\n").replace("\r", "\n"))


def short(text: str, length: int) -> str:
    """A text on one line, cut to a length.

    >>> short("one   two three", 9)
    'one two …'
    """
    line = " ".join(visible(text).split())
    return line if len(line) <= length else line[: length - 1] + "\u2026"


def escaped(text: str) -> Markup:
    """A text as HTML."""
    return Markup(html.escape(visible(text)))


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """An element; children that are no `Markup` are escaped.

    ``class_`` is the attribute class, ``aria_label`` is aria-label. An attribute of None is left out.
    """
    inside = "".join(one if isinstance(one, Markup) else escaped(one) for one in children)
    return Markup(f"<{name}{_attributes(attributes)}>{inside}</{name}>")


def joined(parts: Iterable[str], by: str = "") -> Markup:
    """Parts one after the other, those that are no `Markup` escaped."""
    between = escaped(by)
    return Markup(between.join(one if isinstance(one, Markup) else escaped(one) for one in parts))


def quoted(text: str) -> Markup:
    """A text of a log within a sentence of ours: its direction of writing stays its own."""
    return element("bdi", text, dir="auto")


def _attributes(given: dict[str, str | float | None]) -> str:
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in given.items() if value is not None)
    return "".join(f' {name}="{html.escape(visible(_written(value)))}"' for name, value in named)


def _written(value: str | float) -> str:
    """Places in a drawing to a tenth: nobody sees more."""
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
