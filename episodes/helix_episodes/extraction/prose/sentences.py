r"""Sentences, marked items, how much two statements have in common, and where words report no failure.

Rules that read prose judge sentences: a word means something else under a condition ("if it fails"), in a question
("does it fail?") and in a quotation. All of them start here, so that they agree on what prose is: the text without the
code, output and lists shown next to it. Items that a text puts behind a label ("Decision: …") or under a heading ("##
Lessons learned") are found by `marked_items`. Two statements are compared by the words that carry meaning, each cut to
where its forms agree ("validated", "validation"); synonyms are not known.

Words can name a failure and report none: it is wanted, feared, denied, quoted, seen in another session, taken back
after, or provoked on purpose to see a test fail.

>>> sentences_of("It fails.\n```\nerror: x\n```\nI'll keep `a.b()` instead of v2.0. Ready?")
['It fails.', "I'll keep `a.b()` instead of v2.0.", 'Ready?']
>>> sorted(stems("The exporter's totals were wrong"))
['expor', 'total', 'wrong']
>>> round(word_overlap(stems("Fixed the exporter's wrong totals"), stems("Totals of the exporter differ")), 2)
0.67
>>> negates_failure("the upload must fail"), negates_failure("the program said 'must fail' and failed")
(True, False)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from helix_episodes.light_imports import Regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: Where a sentence of a report's statement ends; a semicolon ends one too.
STATEMENT_END = Regex(r"(?<=[.!?])\s+(?=[A-Z(`'\"_])|;\s+|\n+")
#: What is longer is no sentence but a dump; the expressions take time with the square of its length.
LONGEST_SENTENCE = 1000
#: No one states more than this much prose in one message; what is longer is a document that was pasted.
PROSE_LIMIT = 20_000
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_FENCES = ("```", "~~~")
_SHOWN = re.compile(r"^(?:[ \t]*[>|]| {4,}\S|\t).*$", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])(?<!^\d\.)(?<!\n\d\.)[\"')*\u201d]*\s+(?=[\"'(*\u201c`]*[A-Z0-9`])|\n+")
_MARKS = re.compile(r"\*\*|__|^\s*(?:#{1,6}|[-*+]|\d+[.)])\s+")
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|when(?:ever)?(?! \w+ing\b)|would|could|might|should|makes? sure|so that|ensure)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;]\s| [-\u2013\u2014] ")
#: Who asks why, says that.
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)
_ANY_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*\s*(?::\s*)?$)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")
#: Words, those that a name is joined of apart ("parseError"), and numbers.
_WORD = Regex(r"[A-Z][a-z]{2,}|[a-z]{3,}|[A-Z]{3,}|\d{2,}")
#: Long enough to keep "exporter" from "expected", short enough to join "configured" and "configuration".
_STEM = 5
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "the and for not was were are has had have with from that this than then its into only per over when all but "
        "also did does been being nor via must should would could which who what where why how now still after before "
        "because since fixed fixes resolved corrected repaired addressed closed removed added updated changed issue",
    )
)


#: "doesnt", as many write it.
_UNMARKED = re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|wo|ca|could|would|should)nt\b", re.IGNORECASE)


def spelled(text: str) -> str:
    """A sentence with straight apostrophes, which are put in where they were left out.

    >>> spelled("it doesnt work, it\u2019s empty")
    "it doesn't work, it's empty"
    """
    marked = text.replace("\u2019", "'")
    # Nearly no sentence has these letters at a word's end, and the expression stops at each word to see.
    return _UNMARKED.sub(r"\1n't", marked) if "nt" in marked.lower() else marked


def has_any(text: str, signs: Iterable[str]) -> bool:
    """Whether one of the signs occurs; asked before a pattern is tried on a long text, because it is far faster."""
    # A plain loop: any() with a generator costs several times as much.
    for sign in signs:  # noqa: SIM110  (see above)
        if sign in text:
            return True
    return False


def lines_with(text: str, signs: Iterable[str]) -> list[tuple[int, int]]:
    """Where the lines begin and end that have one of the signs, in order; a sign is on one line."""
    places: set[int] = set()
    for sign in signs:
        place = text.find(sign)
        while place >= 0:
            places.add(place)
            place = text.find(sign, place + 1)
    lines: list[tuple[int, int]] = []
    end = -1
    for place in sorted(places):
        if place > end:
            begin, end = text.rfind("\n", 0, place) + 1, text.find("\n", place)
            end = len(text) if end < 0 else end
            lines.append((begin, end))
    return lines


def prose(text: str) -> str:
    """The text without code blocks, quotations and tables, cut to `PROSE_LIMIT` characters."""
    unfenced = _FENCED.sub("", text[:PROSE_LIMIT]) if has_any(text, _FENCES) else text[:PROSE_LIMIT]
    return _SHOWN.sub("", unfenced)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text's prose, without Markdown's marks; a line's end is a sentence's end."""
    return list(_sentences(text[:PROSE_LIMIT]))


#: Where somebody who types goes on without a capital letter.
_TYPED_ON = re.compile(r"(?<=[a-z)\d][.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)\s+")


def spoken(text: str) -> list[str]:
    """The sentences of what a person types.

    >>> spoken("the page is white. no error though, e.g. in the log")
    ['the page is white.', 'no error though, e.g. in the log']
    """
    return [part for one in sentences_of(text) for part in _TYPED_ON.split(one)]


# Half a dozen rules read the same message, some of them only after the whole session was gone through once.
@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[str, ...]:
    parts = (_MARKS.sub("", part).strip() for part in _END.split(prose(text)))
    return tuple(part for part in parts if part)


@lru_cache(maxsize=512)
def statement_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a statement, each cut to `LONGEST_SENTENCE`; choices and lessons share them."""
    return tuple(part.strip()[:LONGEST_SENTENCE] for part in STATEMENT_END.split(text) if part and part.strip())


def is_supposed(sentence: str, *, upto: int | None = None) -> bool:
    """Whether a sentence asks or supposes instead of stating; with ``upto``, whether it does so of what is there.

    >>> is_supposed("If it fails, tell me"), is_supposed("It fails?"), is_supposed("It fails")
    (True, True, False)
    """
    clause = _CLAUSE_END.split(sentence[upto or 0 :], maxsplit=1)[0]  # "it fails, can you look?" asks only the second
    asks = clause.rstrip("\"')* ").endswith("?") and not _WHY.search(sentence)
    return asks or bool(_SUPPOSED.search(sentence[:upto]))


def marked_items(text: str, *, label: re.Pattern[str], heading: re.Pattern[str]) -> Iterator[str]:
    """What follows a ``label`` (its first group), and the items listed under a ``heading`` until the next one."""
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


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, each by its first letters."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word not in _EMPTY)


def word_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the shorter statement is in the longer one, from 0 to 1."""
    shorter = min(len(one), len(other))
    return len(one & other) / shorter if shorter else 0.0


_BREAK = re.compile(r"[,;:]\s| [-\u2013\u2014] |\b(?:and|but|because|since|so|which|though|although)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|never|cannot|nothing|none|nobody|neither|nor)\b"
    r"|n['\u2019]t\b|\bno (?!(?:you|it|this|that|the|they|there|i|we|still)\b)\w",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(r"\b(?:said|told|make|\w+ why)\b", re.IGNORECASE)
#: "a test that fails" is one to be written or found; "I think that it fails" says so.
_RELATIVE = re.compile(
    r"(?:which|where|who|that)(?: still| now)* (?!(?:is|was|still|now)\b)\w+(?:s|ed|ing)\b", re.IGNORECASE
)
_RELATING = re.compile(
    r"\b(?:which(?! means)|where|whose)(?: \w+){0,2}\s+$|\b(?!(?:after|and|but|so|see)\b)\w+ that\s+$",
    re.IGNORECASE,
)
_NOUN_BEFORE = re.compile(r"\b(?!(?:and|but|so|because|though|now|still|also|then|no)\b)\w+\s+$", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\b(?:but|and|now|which|that|this)\b[^.?!]{0,30}\b(?:works?|pass(?:es)?|(?:is|'s) expected)\b", re.IGNORECASE
)


def is_doubtful(sentence: str, found: re.Match[str], *, within: bool = True) -> bool:
    """Whether a report of what is seen is denied, not meant so, or only qualifies a thing that is talked about."""
    return is_denied(sentence, found, within=within) or is_disclaimed(sentence, found) or _is_relative(sentence, found)


def _is_relative(sentence: str, found: re.Match[str]) -> bool:
    before = sentence[: found.start()]
    if _RELATING.search(before):
        return True
    inside = _RELATIVE.search(found[0])
    return inside is not None and bool(inside.start() or _NOUN_BEFORE.search(before))


def is_denied(sentence: str, found: re.Match[str], *, within: bool = True) -> bool:
    """Whether what was found is denied in its own clause; with ``within``, also in the found words.

    >>> words = "I don't think that is wrong"
    >>> is_denied(words, re.search("that is wrong", words))
    True
    """
    clause = _BREAK.split(sentence[: found.start()])[-1]
    return bool(_DENIAL.search(clause) or (within and _DENIAL.search(_BREAK.split(found[0])[-1])))


def is_disclaimed(sentence: str, found: re.Match[str]) -> bool:
    """Whether the words are quoted, somebody else's, asked to be explained, or taken back after them."""
    before = sentence[: found.start()]
    quoted = any(before.count(mark) % 2 for mark in '"`') or before.count("\u201c") > before.count("\u201d")
    return bool(quoted or _SPOKEN_OF.search(before) or _TAKEN_BACK.search(sentence[found.end() :]))


#: Where a failure is what was wanted, feared, denied, or done on purpose to see a test fail.
_UNMEANT = Regex(
    r"\b(?:negative controls?|if|unless|should|would|must|will|whether|so that|zero|0 failed"
    r"|failed: 0|added)\b",
    re.IGNORECASE,
)
#: What a program said stands in quotation marks; its "expected" is none of the writer's.
_QUOTED = Regex(r"(?<!\w)(?:'[^']*'+|\"[^\"]*\")(?!\w)")
#: The rule by which a code is returned.
_RULES_OF_EXIT = Regex(r"\b(?:now exits|exits (?:\w+ )?\d+ (?:only )?(?:when|on|for|if))\b", re.IGNORECASE)
#: Breaking a thing to see whether a test notices is no failure.
_ON_PURPOSE = Regex(r"\bmutat\w+|\bagainst (?:the )?pre-fix\b", re.IGNORECASE)


def negates_failure(text: str) -> bool:
    """Whether a text supposes, demands or denies the failure that it names; what a program said in quotes does not."""
    return _UNMEANT.search(_QUOTED.sub("", text)) is not None


def is_on_purpose(sentence: str) -> bool:
    """Whether something was broken to see a test fail."""
    return _ON_PURPOSE.search(sentence) is not None


def is_rule_of_exit(clause: str) -> bool:
    """Whether a clause says when a program is to exit with which code."""
    return _RULES_OF_EXIT.search(clause) is not None
