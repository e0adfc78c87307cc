"""The words by which entries are found.

A text is cut at everything that is no letter or digit, so ``tf_map`` is *tf* and *map*; identifiers in mixed case are
cut where a word begins, so ``CachedEntry`` is *cached* and *entry* and ``HTTPServer`` *http* and *server*;
``parseJSON2Xml`` has *json* beside *json2*. What is
stored has the identifier as a whole beside its parts: ``cachedentry`` finds it as well. A question has the parts alone,
so that ``CachedEntry`` also finds the text "the cached entry". Chinese and Japanese are written without blanks: each of
their characters is a word.

>>> words("CachedEntry holds tf_map for the HTTPServer on arm64")
['cached', 'entry', 'cachedentry', 'holds', 'tf', 'map', 'for', 'the', 'http', 'server', 'httpserver', 'on', 'arm64']
>>> query_words("where is the CachedEntry of HTTPServer")
('cached', 'entry', 'http', 'server')
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from helix_episodes.lightweight import Regex

_RUN = Regex(r"[^\W_]+")
#: The parts of an identifier: capitals with their number, capitals before a word, a word with its capital.
_PART = Regex(r"[A-Z]+[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+")
_IDEOGRAPH = Regex("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
#: A single letter finds nothing that one looks for.
_SHORTEST = 2
#: Longer runs are encoded data; their beginning tells them apart.
_LONGEST = 64
_COMMON = """
    that this with from have been were will when which their there about would could should into also each does just
    more than then them some only other very after before most same both
    the of is an to in on at by as be or and for it its are was has had where what how why who do did can not
"""
#: The seed's list, and the short words that "all words must be there" would otherwise ask for.
STOP_WORDS = frozenset(_COMMON.split())


def words(text: str) -> list[str]:
    """Every word of a text as it is stored, in order and with repetitions; identifiers whole beside their parts."""
    return [word for run in _runs(text) for word in _stored_forms(run)]


def query_words(query: str) -> tuple[str, ...]:
    """The words that a question asks for, each once: without those that stand in every text, unless nothing else is."""
    found = tuple(dict.fromkeys(word for run in _runs(query) for word in _asked_forms(run)))
    telling = tuple(word for word in found if word not in STOP_WORDS)
    return telling or found


def significant_words(text: str) -> frozenset[str]:
    """The distinct words by which texts are compared: parts of identifiers, without those of every text."""
    return frozenset(word for run in _runs(text) for word in _asked_forms(run)) - STOP_WORDS


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index of two sets of words: shared ones among all, 0 to 1.

    >>> overlap(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _runs(text: str) -> list[str]:
    return _RUN.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65_536)
def _stored_forms(run: str) -> tuple[str, ...]:
    """The parts of a run, and the whole where that is another word."""
    parts = _parts(run)
    kept = tuple(word for part in parts for word in _with_letters(part, whole=len(parts) == 1) if _is_word(word))
    whole = run.casefold()[:_LONGEST]
    return kept if len(parts) == 1 or not _is_word(whole) or _IDEOGRAPH.search(run) else (*kept, whole)


def _with_letters(part: str, *, whole: bool) -> tuple[str, ...]:
    """A part, and before it its letters where a number ends it within an identifier: in ``toJSON2Xml`` is *json*."""
    letters = part.rstrip("0123456789")
    return (part,) if whole or letters == part else (letters, part)


@lru_cache(maxsize=65_536)
def _asked_forms(run: str) -> tuple[str, ...]:
    """The parts of a run; the whole where a part is too short to be asked for (iOS)."""
    parts = _parts(run)
    if all(map(_is_word, parts)) or _IDEOGRAPH.search(run):
        return tuple(filter(_is_word, parts))
    return tuple(filter(_is_word, (run.casefold()[:_LONGEST],)))


def _parts(run: str) -> tuple[str, ...]:
    if _IDEOGRAPH.search(run):
        spaced = _IDEOGRAPH.sub(lambda found: f" {found[0]} ", run)
        return tuple(part for piece in spaced.split() for part in _cut(piece))
    return _cut(run)


def _cut(run: str) -> tuple[str, ...]:
    return tuple(part.casefold()[:_LONGEST] for part in _PART.findall(run))


def _is_word(part: str) -> bool:
    return len(part) >= _SHORTEST or bool(_IDEOGRAPH.match(part))
