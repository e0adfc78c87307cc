r"""HTML that its content cannot break: escaped elements, and pages that load nothing from anywhere.

Every text that goes into an element is escaped there, at the one place where elements are made; only `Markup` is not.
So no caller can forget it. Characters that a screen obeys instead of showing them (controls, marks that turn the
direction of writing) are shown as boxes.

A page of the graph holds everything: style, script, the drawing library (cytoscape.js, MIT, in ``static/vendor`` with
its licence) and the data. Its content-security policy starts from ``default-src 'none'`` and names the only style and
scripts that may run by their SHA-256, so even a browser that was tricked into reading data as a script would not run
it. The data is in an element of type ``application/json``. Every ``<``, ``>`` and ``&`` in it is written as an escape
of JSON, so no text of a log can end that element, begin a comment or be a tag; U+2028 and U+2029 end no line either.

>>> str(element("p", "<b> & ", element("bdi", "a\x07"), class_="x"))
'<p class="x">&lt;b&gt; &amp; <bdi>a□</bdi></p>'
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.web.graph_content import Page


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


#: By which a page is known to be ours.
PAGE_MARK = '<meta name="generator" content="helix-graph view">'
#: In this order they make one script: each may use what those before it define.
_SCRIPTS = (
    "text.js",
    "data.js",
    "filters.js",
    "picture.js",
    "scene.js",
    "panel.js",
    "timeline.js",
    "search.js",
    "legend.js",
    "keys.js",
    "main.js",
)
#: cytoscape.js adds this style itself unless the page has it, which the policy would refuse.
_CYTOSCAPE_STYLE = ".__________cytoscape_container { position: relative; }"
_TOKEN = re.compile(r"@@helix-graph:([a-z-]+)@@")
#: Inside JSON these occur in texts only, where an escape means the same.
_MEANING_SOMETHING = "<>&\u2028\u2029"


def page_html(page: Page) -> bytes:
    """The page as the bytes of an HTML file; the same page gives the same bytes."""
    script = '"use strict";\n(() => {\n' + "\n".join(_static(name) for name in _SCRIPTS) + "})();\n"
    library, style = _static("vendor", "cytoscape.min.js"), colours() + _static("page.css")
    parts = {
        "policy": _policy(scripts=(library, script), styles=(style, _CYTOSCAPE_STYLE)),
        "mark": PAGE_MARK,
        "title": html.escape(page.title),
        "style": style,
        "library-style": _CYTOSCAPE_STYLE,
        "library": library,
        "data": json_of(page),
        "script": script,
    }
    # In one pass, so that nothing that is put in is looked through for tokens itself.
    return _TOKEN.sub(lambda found: parts[found[1]], _static("page.html")).encode()


def json_of(page: Page) -> str:
    """The page's data as JSON without a character that means something in HTML."""
    text = msgspec.json.encode(page).decode()
    for character in _MEANING_SOMETHING:  # one pass each: `str.translate` takes ten times as long
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _policy(*, scripts: tuple[str, ...], styles: tuple[str, ...]) -> str:
    return (
        f"default-src 'none'; script-src {' '.join(map(hash_of, scripts))}; style-src {' '.join(map(hash_of, styles))};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def colours() -> str:
    """The style sheet that gives pages their colours, light and dark."""
    return _static("colours.css")


def hash_of(text: str) -> str:
    """A script or style sheet as a content-security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _static(*names: str) -> str:
    return files("helix_graph.web").joinpath("static", *names).read_text(encoding="utf-8")
