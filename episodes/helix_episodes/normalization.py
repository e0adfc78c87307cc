"""Normalise lines so that they match when only paths and numbers differ.

`template` masks everything that names a location (paths, quotations, addresses, hashes, numbers) and groups errors
into families. `message_template` masks what changes between two occurrences of one error and keeps the names in it: of
a path its last two parts, of a quotation what is a name or a type and no sentence.

Both keep what carries meaning: flags (``--no-verify``), codes of rules and errors (``E501``, ``TS2345``), HTTP
statuses, exit codes and signal names. Without those a label would join opposites.

>>> template("open /srv/shop/cart.py:12: no such file")
'open <path>.py: no such file'
>>> message_template("open /srv/shop/cart.py:12: no such file")
'open shop/cart.py: no such file'
>>> message_template("line 12: cannot use 'total' as 'list[int]', 3 times")
'line <n>: cannot use total as list[int], <n> times'
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


#: A line is looked at this far: what distinguishes errors stands at the front, and the work stays bounded.
LINE_LIMIT = 400

_ANSI = Regex(r"\x1b\[[0-9;?]*[A-Za-z]")

_EXTENSIONS = (
    "bat|cc?|cfg|conf|cpp|cs|css|csv|env|go|gradle|h|hpp|html?|ini|ipynb|java|jsx?|json|jsonl|kts?|lock|log|lua|md|mdx|"
    "mjs|mod|php|proto|ps1|psm1|py|pyi|rb|rs|rst|scala|scss|sh|sql|sum|svelte|swift|tf|toml|tsx?|txt|vue|xml|ya?ml|zig"
)

#: Survives whole: flags, codes, and the number after a word that makes it a code.
_KEPT = (
    r"(?<![\w-])--?[A-Za-z][\w-]*"
    r"|\b[A-Z]{1,6}-?\d{2,5}(?:-\d{2,7})?\b"
    r"|\b(?i:HTTP(?:/[\d.]+)?|(?:exit |error |status )?(?:code|status)|exited with(?: code)?|errno|signal):? \d{1,5}\b"
)
_URL = r"\b[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>)\]]+"
_UUID = r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
_TIME = r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_CLOCK = r"\b\d\d?:\d\d:\d\d(?:[.,]\d+)?\b"
_HASH = r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b|\b(?=[A-F]*\d)(?=\d*[A-F])[0-9A-F]{7,64}\b"
_QUOTE = (
    r"\"[^\"\n]{1,200}\"|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w)"
    r"|“[^”\n]{1,200}”|\u2018[^\u2019\n]{1,200}\u2019|«[^»\n]{1,200}»"
)
#: Rooted, or of three parts, or ending in an extension: "and/or" is none of these.
_PATH = (
    r"(?<![\w/.<>])(?:"
    r"(?:~|\.{1,2})?/[\w.@+=%-]+(?:/[\w.@+=%-]+)*/?"
    r"|[A-Za-z]:\\[\w.\\@+-]+"
    r"|[\w.@+=%-]+(?:/[\w.@+=%-]+)*/[\w@+=%-][\w.@+=%-]*\.[A-Za-z]\w{0,7}\b"
    r"|[\w.@+=%-]+(?:/[\w.@+=%-]+){2,}/?"
    rf"|[\w@+=%-][\w.@+=%-]*\.(?:{_EXTENSIONS})\b"
    r")(?::\d+)*"
)
#: With an exponent, or a version's "v".
_NUMBER = r"(?<![\w.])(?:[+-]|v(?=\d+\.\d))?\d(?:[\d_,.]*\d)?(?:[eE][+-]?\d+\b)?"

#: Words of letters alone, with blanks around them: nothing that is masked begins there, and looking at each of their
#: characters for all that follows here would take most of the time.
_WORDS = r"(?:(?<!\S)(?!(?i:http|exit|error|status|code|exited|errno|signal)\b)[A-Za-z]++(?:\s++|\Z))+"
_TEMPLATE = Regex(
    f"(?P<words>{_WORDS})|(?P<kept>{_KEPT})|(?P<quote>{_QUOTE})|(?P<url>{_URL})|(?P<id>{_UUID})|(?P<time>{_TIME}|{_CLOCK})"
    f"|(?P<path>{_PATH})|(?P<hash>{_HASH})|(?P<n>{_NUMBER})"
)
#: What is in a quotation is masked by itself.
_QUOTED = Regex(_QUOTE)
#: Whatever varies has one of these in it; of ASCII the marks of a quotation come to them.
_VARIES = frozenset("0123456789/\\.~")
_VARIES_OR_QUOTED = _VARIES | frozenset("\"'`")
_VARYING = Regex(
    f"(?P<words>{_WORDS})|(?P<kept>{_KEPT})|(?P<url>{_URL})|(?P<id>{_UUID})|(?P<time>{_TIME}|{_CLOCK})|(?P<path>{_PATH})|(?P<hash>{_HASH})"
    f"|(?P<n>{_NUMBER}|(?<=\\w[-_])\\d{{4,}}\\b)"
)
#: What a program calls a file of its own that is gone a moment later.
_RANDOM_NAME = Regex(r"(?=[\w.-]*\d)(?=[\w.-]*[A-Z])(?=[\w.-]*[a-z])[\w.-]{8,}")
#: A quotation of more words is a sentence or data, no name.
_WORDS_OF_A_NAME = 3
_KEPT_PART = Regex(_KEPT)
#: Word processors write "don't" with a closing quotation mark.
_APOSTROPHE = Regex(r"(?<=\w)\u2019(?=\w)")
_LINE_END = Regex(r"(?::\d+)+$")
_SUFFIX = Regex(r"\.[A-Za-z]\w{0,7}$")
_WORD = Regex(r"[^\W\d_]{3,}")
#: Words of which a message may consist without saying what is wrong.
_EMPTY_WORDS = """
    error errors errored fail fails failed failure failures failing exit exited code status with process command
    returned non-zero zero the was and has have see above below output run test tests
"""
_NOTHING_SAID = frozenset(_EMPTY_WORDS.split())


@lru_cache(maxsize=8192)
def template(text: str) -> str:
    """One line with everything masked that names a place or a number; paths keep their extension.

    >>> template("pull request 41 of 'cart': HTTP 404, rerun with --force")
    'pull request <n> of <text>: HTTP 404, rerun with --force'
    """
    plain = one_line(text)
    # Without one of these, as families of errors mostly are, it has nothing to mask; the expression takes 4 ms to
    # compile and looks at every character.
    if plain.isascii() and _VARIES_OR_QUOTED.isdisjoint(plain):
        return plain
    return _TEMPLATE.sub(_template_mask, plain)


def kept_parts(masked: str, *, after: int = 0) -> list[str]:
    """What of a masked line survives whole because it carries meaning, as far as it ends ``after`` that place.

    >>> kept_parts("rerun <path>.py with --force on HTTP 404, ignoring E501")
    ['--force', 'HTTP 404', 'E501']
    """
    return [found.group() for found in _KEPT_PART.finditer(masked) if found.end() > after]


@lru_cache(maxsize=8192)
def message_template(text: str) -> str:
    """One line with that masked which varies between two occurrences of one error; names are kept.

    >>> message_template("ImportError: cannot import 'Cart' from shop (commit 4fd21ab)")
    'ImportError: cannot import Cart from shop (commit <hash>)'
    """
    named = _QUOTED.sub(_unquoted, one_line(text))
    # Without one of these there is nothing in it that varies; the expression takes 4 ms to compile.
    return _VARYING.sub(_varying_mask, named) if not _VARIES.isdisjoint(named) else named


def is_telling(text: str) -> bool:
    """Whether a message says what is wrong, beyond that something is.

    >>> is_telling("undefined: Cart"), is_telling("exit status 1")
    (True, False)
    """
    return any(word.lower() not in _NOTHING_SAID for word in _WORD.findall(text))


def first_line(text: str) -> str:
    """The first line with something in it, or the empty string."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def one_line(text: str) -> str:
    """``text`` without colours, on one line with single blanks, in one Unicode form, no longer than `LINE_LIMIT`."""
    plain = text[: 4 * LINE_LIMIT]
    plain = _ANSI.sub("", plain) if "\x1b" in plain else plain
    line = " ".join(unicodedata.normalize("NFKC", plain).split())
    return (_APOSTROPHE.sub("'", line) if "\u2019" in line else line)[:LINE_LIMIT]


def shorten(text: str, *, limit: int) -> str:
    """``text``, cut to ``limit`` characters with an ellipsis as the last when it was longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def extension(path: str) -> str:
    """The extension with its dot in lower case, or the empty string.

    >>> extension("shop/Cart.PY"), extension("Makefile"), extension(".gitignore")
    ('.py', '', '')
    """
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    found = _SUFFIX.search(name)
    return found.group().lower() if found and found.start() > 0 else ""


def _template_mask(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind in {"words", "kept"}:
        return match.group()
    if kind == "quote":
        return "<text>"
    if kind == "path":
        return "<path>" + extension(_LINE_END.sub("", match.group()))
    return f"<{kind}>"


def _unquoted(match: re.Match[str]) -> str:
    inside = match.group()[1:-1]
    return inside.strip() if len(inside.split()) <= _WORDS_OF_A_NAME else "<text>"


def _varying_mask(match: re.Match[str]) -> str:
    kind, found = match.lastgroup, match.group()
    if kind in {"words", "kept"}:
        return found
    if kind not in {"path", "url"}:
        return f"<{kind}>"
    parts = _LINE_END.sub("", found).replace("\\", "/").rstrip("/").split("/")
    named = [part for part in parts if part.strip(".~")][-2:]
    if {"tmp", "T", "Temp"} & set(parts):
        named = [part for part in named[-1:] if not _RANDOM_NAME.fullmatch(part)]
    return "/".join(named) or f"<{kind}>"
