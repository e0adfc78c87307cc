"""A page as one HTML file that asks nobody for anything.

The file holds everything: style, script, the drawing library (cytoscape.js, MIT, in ``static/vendor`` with its licence)
and the data. Its content-security policy starts from ``default-src 'none'`` and names the only style and scripts that
may run by their SHA-256, so even a browser that was tricked into reading data as a script would not run it.

The data stands in an element of type ``application/json``. Every ``<``, ``>`` and ``&`` in it is written as an escape
of JSON, so no text of a log can end that element, begin a comment or be a tag; U+2028 and U+2029 end no line either.
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
    from helix_graph.view.model import Page

#: By which a page is known to be ours.
MARK = '<meta name="generator" content="helix-graph view">'
#: In this order they make one script: each may use what stands in those before it.
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
#: Inside JSON these stand in texts only, where an escape means the same.
_MEANING_SOMETHING = "<>&\u2028\u2029"


def html_of(page: Page) -> bytes:
    """The page as the bytes of an HTML file; the same page gives the same bytes."""
    script = '"use strict";\n(() => {\n' + "\n".join(_static(name) for name in _SCRIPTS) + "})();\n"
    library, style = _static("vendor", "cytoscape.min.js"), colours() + _static("page.css")
    parts = {
        "policy": _policy(scripts=(library, script), styles=(style, _CYTOSCAPE_STYLE)),
        "mark": MARK,
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
    return files("helix_graph.view").joinpath("static", *names).read_text(encoding="utf-8")
