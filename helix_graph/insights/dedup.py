"""Duplicates: whether two texts say the same, and how two records of one insight become one.

A cosine of 0.85 means that two sentences share a subject. A vector does not see which error code or file is meant, nor
``never``; words in a script that the model was not trained on all get the same vector, and so does everything after its
256th token. Merged advice is lost, while a duplicate is only longer to read, so the two stay separate where one of
these differs, and where the two sides of a comparison or an order are exchanged.

>>> same_advice("On E0499 clone the value first", "On E0382 clone the value first")
False
>>> same_advice("Always indent with tabs", "Never indent with tabs")
False
>>> same_advice("Prefer rebase over merge", "Prefer merge over rebase")
False
>>> same_advice("When pytest hangs, run it with -x", "Run pytest with -x when it hangs")
True

Joining two records gives the same result whichever comes first, and however often it is done.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from helix_graph.insights.model import LINK_ORIGINS, ORIGINS, Insight, InsightLink
from helix_graph.insights.scoring import LONGEST_KNOWN_WORD, READ_TOKENS
from helix_graph.stop_words import STOP_WORDS

_TERM = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*|\w+(?:[._:/\\-]+\w+)*[+#]*")
#: What makes a term a name of something: a digit, a joint, a capital within or nothing but capitals, an option's
#: dashes.
_NAME = re.compile(r"\d|\w[._:/\\]+\w|[a-z][A-Z]|^[A-Z]{2,}$|^-|[+#]$")
_PIECE = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[^\w\s]|_")
_NO_WORD = re.compile(r"[^\w\s'-]")
_DENIAL = re.compile(
    r"\b(?:never|not|no|none|nor|cannot|dont|without|avoid(?:s|ed|ing)?|instead of|rather than|\w+n't)\b(?!-)"
)
#: This many words behind a denial are what it denies: "never commit a secret to the repository".
_DENIED = 4
#: Each of a pair turns advice round where the other text has its opposite.
_OPPOSITES = tuple(
    tuple(pair.split())
    for pair in (
        "before after", "enable disable", "allow deny", "increase decrease", "add remove", "true false", "on off",
        "first last", "start stop", "public private", "sync async", "more fewer", "above below", "min max",
    )
)  # fmt: skip
#: What stands ahead of these and what stands behind them cannot be exchanged: "tabs over spaces", "lint before tests".
_JOINT = re.compile(r"\b(?:over|before|after|than|to|into|from|with|by)\b(?!-)")
#: Where a clause ends; a point or colon within a name ends none.
_CLAUSE = re.compile(r"[,;!?()\n]|[.:](?=\s|$)")
#: This many words on either side of a joint are what it joins: "prefer a plain text file over a database".
_JOINED = 4
#: Letters and pictures; marks of punctuation say nothing here.
_SAYING = ("L", "So")


class _Joined(NamedTuple):
    """What stands on the two sides of a joint, and on one of them only."""

    joint: str
    ahead: frozenset[str]
    behind: frozenset[str]


class _Read(NamedTuple):
    """The parts of a text that a vector may not represent."""

    terms: frozenset[str]
    names: frozenset[str]
    words: frozenset[str]
    unknown: frozenset[str]
    unread: frozenset[str]
    denied: frozenset[str] | None
    joined: tuple[_Joined, ...]


def same_advice(one: str, other: str) -> bool:
    """Whether two texts of a like vector may be taken for one; the order makes no difference."""
    left, right = _read(one), _read(other)
    return (
        left.names <= right.terms
        and right.names <= left.terms
        and left.unknown == right.unknown
        and left.unread <= right.words
        and right.unread <= left.words
        and (left.denied == right.denied or bool(left.denied and right.denied and left.denied & right.denied))
        and not _are_opposed(left.words, right.words)
        and not _are_exchanged(left.joined, right.joined)
    )


def _read(text: str) -> _Read:
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    terms = _TERM.findall(plain)
    folded = plain.casefold()
    pieces = _PIECE.findall(folded)
    words = frozenset(pieces)
    return _Read(
        terms=frozenset(term.casefold() for term in terms),
        names=frozenset(term.casefold() for term in terms if _NAME.search(term)),
        words=words,
        unknown=frozenset(word for word in words if _is_unknown(word)),
        unread=frozenset(_telling(_behind(pieces))),
        denied=_denied(folded),
        joined=tuple(_joined(folded)),
    )


def _telling(pieces: list[str]) -> Iterator[str]:
    return (piece for piece in pieces if piece[0].isalnum() and piece not in STOP_WORDS)


def _is_unknown(piece: str) -> bool:
    """Whether a model of English reads it as "some word": another script, a picture, or too long to look up.

    >>> _is_unknown("журнал"), _is_unknown("café"), _is_unknown("log")
    (True, False, False)
    """
    letters = unicodedata.normalize("NFKD", piece)
    strange = any(not one.isascii() and unicodedata.category(one).startswith(_SAYING) for one in letters)
    return strange or len(piece) > LONGEST_KNOWN_WORD


def _behind(pieces: list[str]) -> list[str]:
    """The pieces that a model no longer reads, or might not: long words are counted as several tokens."""
    count = 0
    for place, piece in enumerate(pieces):
        count += -(-len(piece) // (2 if any(one.isdigit() for one in piece) else 4))
        if count > READ_TOKENS:
            return pieces[place:]
    return []


def _denied(text: str) -> frozenset[str] | None:
    """The words that a text denies; None when it denies nothing."""
    found = [_NO_WORD.split(text[denial.end() :], maxsplit=1)[0] for denial in _DENIAL.finditer(text)]
    if not found:
        return None
    return frozenset(word for clause in found for word in list(_telling(_PIECE.findall(clause)))[:_DENIED])


def _are_opposed(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether one has a word and the other only its opposite."""
    return any(
        {*left & {first, second}, *right & {first, second}} == {first, second}
        and len(left & {first, second}) == len(right & {first, second}) == 1
        for first, second in _OPPOSITES
    )


def _joined(text: str) -> Iterator[_Joined]:
    for joint in _JOINT.finditer(text):
        ahead = _terms(_CLAUSE.split(text[: joint.start()])[-1])[-_JOINED:]
        behind = _terms(_CLAUSE.split(text[joint.end() :], maxsplit=1)[0])[:_JOINED]
        both = {*ahead} & {*behind}
        yield _Joined(joint[0], frozenset(ahead) - both, frozenset(behind) - both)


def _terms(clause: str) -> list[str]:
    return [term for term in _TERM.findall(clause) if term not in STOP_WORDS]


def _are_exchanged(left: tuple[_Joined, ...], right: tuple[_Joined, ...]) -> bool:
    """Whether something ahead of a joint in one text is behind it in the other, and the other way round."""
    return any(
        one.joint == other.joint and one.ahead & other.behind and one.behind & other.ahead
        for one in left
        for other in right
    )


def join_insights(one: Insight, other: Insight) -> Insight:
    """Both as one, under the uid of ``one``; associative, commutative and idempotent for records of the same uid."""
    text = max(one, other, key=lambda record: (record.edited_at, len(record.content), record.content))
    state = max(one, other, key=lambda record: (record.state_at, record.state, record.merged_into, record.reason))
    first = min(one, other, key=lambda record: (record.created_at, record.slug))
    tagged = max(one, other, key=lambda record: record.tagged_at)
    both = tuple(sorted({*one.tags, *other.tags}))
    return replace(
        one,
        slug=first.slug,
        created_at=first.created_at,
        content=text.content,
        edited_at=text.edited_at,
        tags=both if one.tagged_at == other.tagged_at else tagged.tags,
        tagged_at=tagged.tagged_at,
        state=state.state,
        state_at=state.state_at,
        merged_into=state.merged_into,
        reason=state.reason,
        origin=min(one.origin, other.origin, key=ORIGINS.index),
        initial=max(one.initial, other.initial),
        episode=_first_word(one.episode, other.episode),
        source=_first_word(one.source, other.source),
        told=max(one.told, other.told, key=lambda told: sorted(told.items())),
    )


def absorb(one: Insight, other: Insight) -> Insight:
    """What ``one`` becomes when ``other``, which says the same in other words, goes into it.

    The words are those of the more trusted, and between equals the fuller ones; they bring along where they come from.
    Tags are united. What a person edited keeps its words. Name and date stay those of ``one``, and so does where it
    comes from if ``other`` has the very same words: they go with the session that said them.
    """
    mine, theirs = (ORIGINS.index("told" if each.edited_at else each.origin) for each in (one, other))
    fuller = mine == theirs and not one.edited_at and len(other.content) > len(one.content)
    said = other if theirs < mine or fuller else one
    is_same = one.content.casefold().split() == other.content.casefold().split()
    place = one if is_same else said
    return replace(
        one,
        content=said.content,
        tags=tuple(sorted({*one.tags, *other.tags})),
        origin=said.origin,
        source=place.source or (one.source if fuller else ""),
        episode=place.episode or (one.episode if fuller else ""),
    )


def join_links(one: InsightLink, other: InsightLink) -> InsightLink:
    """Two records of one link as one: the more trusted origin with its score, the earlier date."""
    best = min(one, other, key=lambda link: (LINK_ORIGINS.index(link.origin), -link.score))
    return replace(best, created_at=min(one.created_at, other.created_at))


def _first_word(one: str, other: str) -> str:
    """The one there is; of two the first in the alphabet."""
    return min(one, other) if one and other else one or other
