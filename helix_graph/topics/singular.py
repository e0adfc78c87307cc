"""Tags in the singular, so that ``gotchas`` and ``gotcha`` are one tag.

The seed's rule drops a plural's ending; what it would spoil stands among the exceptions. Only the last word counts, and
the singular of a singular is itself, so that an export read back has the same tags.

>>> [singular(word) for word in ("gotchas", "classes", "entries", "data-flows", "patches")]
['gotcha', 'class', 'entry', 'data-flow', 'patch']
>>> [singular(word) for word in ("series", "apis", "status", "analysis", "redis", "https")]
['series', 'api', 'status', 'analysis', 'redis', 'https']
"""

from __future__ import annotations

import re

#: Shorter words are names more often than plurals: dns, aws, ios.
_SHORTEST_PLURAL = 4
#: Of words in -ies: shorter ones are ties and dies, whose singular keeps the e.
_SHORTEST_IES = 5
#: Names that end in s, and words that are their own plural.
_NO_PLURALS = """
    alias atlas bias canvas devops emacs gas gitops https ios js kubernetes lens macos mlops news nodejs nextjs pandas
    postgres rails sass series species windows
"""
#: What the rule would spoil.
_EXCEPTIONS = {
    **{word: word for word in _NO_PLURALS.split()},
    "analyses": "analysis",
    "apis": "api",
    "approaches": "approach",
    "axes": "axis",
    "branches": "branch",
    "buses": "bus",
    "caches": "cache",
    "clis": "cli",
    "cookies": "cookie",
    "guis": "gui",
    "gases": "gas",
    "halves": "half",
    "heroes": "hero",
    "hypotheses": "hypothesis",
    "indices": "index",
    "knives": "knife",
    "leaves": "leaf",
    "lenses": "lens",
    "lives": "life",
    "matrices": "matrix",
    "movies": "movie",
    "potatoes": "potato",
    "quizzes": "quiz",
    "regexes": "regex",
    "shelves": "shelf",
    "tomatoes": "tomato",
    "aliases": "alias",
    "canvases": "canvas",
    "biases": "bias",
    "searches": "search",
    "statuses": "status",
    "uris": "uri",
    "vertices": "vertex",
    "wolves": "wolf",
    "zombies": "zombie",
}
#: Endings in which the e belongs to the plural.
_WITH_E = re.compile(r"(?:ss|sh|tch|nch|rch|x|zz)es$")
#: Endings in s that are no plural's.
_NO_PLURAL = ("ss", "us", "is", "js")
_LAST_WORD = re.compile(r"[^\W_]+$")


def singular(tag: str) -> str:
    """The tag with its last word in the singular, as far as the rule knows it; the tag is in lower case already."""
    word = _LAST_WORD.search(tag)
    return tag[: word.start()] + _singular_word(word[0]) if word else tag


def _singular_word(word: str) -> str:
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(_NO_PLURAL):
        return word
    if word.endswith("ies") and len(word) >= _SHORTEST_IES:
        return word[:-3] + "y"
    return word[:-2] if _WITH_E.search(word) else word[:-1]
