"""Advice: whether a lesson can be read on its own, away from its log, and says what to do or why something happens.

A log calls many things a lesson: headings, labels with a name behind them, halves of sentences, reports of what one
session did. Taken out of the log they say nothing, or something false. So a lesson is only kept when its shape shows
that it is whole (begins and ends as a sentence does, has no label before it), and its words that it holds beyond its
session: advice or a cause, in the present. What is doubtful is left out.

>>> is_advice("Always fetch and compare tips before believing that a push landed.")
True
>>> is_advice("UTF-8 trap: Observation: the default writes a byte order mark.")
False
>>> is_advice("The reviewer correctly found the missing exit code")
False
"""

from __future__ import annotations

import re

from helix_episodes.extraction.choices import sentences_told
from helix_episodes.regex import Regex

#: Shorter is a heading.
_FEWEST_WORDS = 5
#: A sentence begins with a capital, a number or a quotation; what refers back or counts on has lost its beginning.
_BEGINS = Regex(r"[A-Z`\"'(@$.0-9-]")
_REFERS = Regex(
    r"(?:this|that|these|those|it|its|they|he|she|we|i|our|my|both|all (?:of )?(?:these|those|the|\w+)|such"
    r"|another|also|however|instead|first|second|third|fourth|fifth|finally|last(?:ly)?|then|next|and|but|or|so)\b",
    re.IGNORECASE,
)
_ENDS = Regex(r"(?:[.!?]|[\w`\"')\]}%/])$")
#: "Prevention: …", "Corrected pattern: …", and sections run together with their labels.
_LABELLED = Regex(r"^(?!Avoid:)[^.!?`:]{1,80}:(?:\s|$)")
_SECTIONS = Regex(r"::\s|(?<=[.\s])(?:[A-Z][\w-]*(?: [A-Z]?[\w-]+){0,2}):\s")
#: It happened in one session, or is only about it.
_HAPPENED = Regex(
    r"\b(?:was|were|had|did|i|we|our|my|already|currently|today|outdated)\b"
    r"|\b(?:this|that|the) (?:session|run|pr|branch|review)\b|#\d|\bsessions? \d|\bpr \d|\b\d+/\d+\b",
    re.IGNORECASE,
)
#: Without a subject it tells what somebody did; so does a past form behind a subject, with or without an adverb.
_REPORTS = Regex(
    r"^(?:Re-)?[A-Za-z]+ed\b|^Re-?ran\b"
    r"|^[A-Z]\w*(?: \w+){0,3} (?:\w+ly )?(?:identified|found|flagged|added|fixed|missed)\b"
)
_FINITE = (
    r"is|are|isn't|aren't|can|cannot|can't|must|should|may|needs?|has|have|does|do|doesn't|don't|will|won't|means?"
    r"|causes?|leads?|makes?|fails?|breaks?|hides?|keeps?|leaves?|requires?|returns?|prevents?|proves?|becomes?|stays?"
)
_VERB = Regex(rf"\b(?:{_FINITE})\b", re.IGNORECASE)
_IMPERATIVE = Regex(
    r"^(?:Avoid: )?(?:Always|Never|Avoid|Use|Prefer|Do|Don't|Check|Verify|Run|Keep|Measure|Re-measure|Compare|Read|Test"
    r"|Add|Make|Wrap|Put|Set|Pass|Call|Write|Validate|Extract|Parse|Exclude|Key|Ship|Pin|Start|Stop|Wait|Fetch|Treat"
    r"|Document)\b"
)
_CONDITION = Regex(r"^(?:When|If|Before|After|While|Unless|Where) [^,]{4,160}, \S")
_CAUSE = Regex(
    r"\b(?:because|since|so|therefore|causes?|leads? to|means?|makes?|prevents?|breaks?|requires?|cannot|can't|must"
    r"|should|needs? to|never|always|instead of|rather than|unless|only when|only if|until)\b",
    re.IGNORECASE,
)


def is_advice(text: str) -> bool:
    """Whether a lesson is made of whole sentences, and says what to do or what leads to what."""
    line = " ".join(text.split())
    if len(line.split()) < _FEWEST_WORDS or not _is_whole(line):
        return False
    sentences = [one.strip() for one in sentences_told(line.removeprefix("Avoid: ")) if one.strip()]
    return bool(sentences) and not any(_tells(one) for one in sentences) and any(_advises(one) for one in sentences)


def _is_whole(line: str) -> bool:
    """Whether nothing of the text is missing at either end, and no label stands before or within it."""
    if not _BEGINS.match(line) or _REFERS.match(line) or not _ENDS.search(line):
        return False
    pairs = (("(", ")"), ("[", "]"), ("{", "}"))
    closed = line.count("`") % 2 == 0 and all(line.count(one) == line.count(other) for one, other in pairs)
    return closed and not _LABELLED.match(line) and not _SECTIONS.search(line.removeprefix("Avoid: "))


def _tells(sentence: str) -> bool:
    """Whether a sentence tells of what happened once."""
    return bool(_HAPPENED.search(sentence) or _REPORTS.match(sentence))


def _advises(sentence: str) -> bool:
    if _IMPERATIVE.match(sentence) or _CONDITION.match(sentence):
        return True
    return bool(_VERB.search(sentence) and _CAUSE.search(sentence))
