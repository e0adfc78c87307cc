"""Acceptance: what a person explicitly says about the work; silence and thanks in passing say nothing.

A prompt accepts when all of it is acceptance ("Thanks, works great"): every clause is praise, a statement that it
works, or filler. It rejects when a sentence that neither asks nor supposes says that the work is wrong or does not
work, or that what it rests on was looked for and is not so, or when it orders that the work be taken back.
"""

from __future__ import annotations

import re
from typing import Literal

from helix_episodes.extraction.prose.negation import is_denied, is_disclaimed
from helix_episodes.extraction.prose.sentences import is_supposed, sentences_of

UserVerdict = Literal["accepts", "rejects", "takes back"]

#: Praise is short; a longer text says something else as well.
_SHORT = 160
_CLAUSES = re.compile(r"[.,;:!\n\u2013\u2014-]+|\band\b|\bbut\b", re.IGNORECASE)
_ACCEPTS = re.compile(
    r"(?:(?:many )?thanks|thank you|thx|ty|perfect|great|excellent|awesome|amazing|brilliant|fantastic|wonderful"
    r"|nice(?:ly done)?|"
    r"lovely|all good|lgtm|well done|good (?:job|work)|approved|solved|ship it|"
    r"(?:it|that|this|everything|all|all of it)?\s*(?:all )?(?:now )?"
    r"(?:works?|worked|is working|does the trick|did it|did the trick|fixed it|looks? (?:good|great|right"
    r"|perfect|fine)|"
    r"(?:is|['\u2019]s) (?:it|fixed|solved|good|great|perfect|right|correct|fine|exactly (?:it|right"
    r"|what i (?:wanted|needed|asked for)))))"
    r"(?: (?:now|again|well|great|fine|perfectly|nicely|as expected|to me|for me|so much|a lot|very much|job"
    r"|work|stuff|one|enough))*",
    re.IGNORECASE,
)
_FILLER = re.compile(r"(?:ok(?:ay)?|yes|yeah|yep|cool|hm+|ah|oh|claude|then|so|very|for now|again|\W*)", re.IGNORECASE)
_REJECTS = re.compile(
    r"\bstill (?:fails?|failing|broken|crash(?:es|ing)?|not (?:work|right|fixed)\w*|doesn['\u2019]t|does not"
    r"|the same)\b"
    r"|\b(?:does|did|do)(?:n['\u2019]t| not) (?:seem to )?(?:work|help|fix|compile|build)\b|\bnot working\b"
    r"|\b(?:this|that|it|you|which|part|one)(?:['\u2019](?:s|re)| is| are)? (?:(?:is|are) )?(?:still |just "
    r"|totally |completely )?"
    r"(?:not (?:correct|right|true|what i \w+)|wrong|incorrect|broken|worse)\b"
    r"|\byou(?:['\u2019]ve| have)? (?:just )?(?:broke|broken|made (?:it|that|this|them) (?:up|worse))\b"
    r"|\bnot what i (?:asked|wanted|meant|said)\b|^\W*(?:wrong|bad|terrible|awful|useless|nonsense)\b(?=\W*$|[,!.])"
    r"|^\W*too (?:slow|long|complicated|complex|verbose"
    r"|much)\W*$",
    re.IGNORECASE,
)
#: Questions that accuse.
_ACCUSES = re.compile(
    r"\b(?:have|did|are) you (?:just )?(?:ma(?:d|k)(?:e|ing)|invent(?:ed|ing)?|hallucinat\w+) (?:it|that|this"
    r"|them|things?)\b",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"^\W*(?:(?:no(?:pe)?|bad|wrong|terrible|please|stop|ok|just|can you|could you|actually|let['\u2019]s)\W+)*"
    r"(?:(?:revert|undo|roll ?back|throw away|discard)"
    r" (?:this|that|it|them|these|those|everything|all|your|the (?:whole|last|entire) ?)\b"
    r"|(?:revert|undo|roll ?back)(?: please)?\W*$)",
    re.IGNORECASE,
)
#: Who looked for what the work rests on, and says that there is none of it.
_REFUTES = re.compile(
    r"\bI(?:['\u2019]ve| have)?(?: just| also)? (?:checked|looked|verified|tried|tested|searched|grepped)\b"
    r"(?:[^.?!]|\.(?=\S)){0,160}\b(?:none|neither|not one|no one|nothing|nobody)\b(?: of [^,.?!]{1,40}?| there)? "
    r"(?:has|have|had|is|are|was|were|does|do|did|contains?|matches|match|starts?|uses?|exists?|shows?)\b"
    r"(?! (?:wrong|broken|missing|failing|affected|left|to worry))",
    re.IGNORECASE,
)

#: "Revert that and use a map" is about what comes next.
_GOES_ON = re.compile(r"\b(?:and|then|instead|but|use|only|except)\b", re.IGNORECASE)


def verdict_in(text: str) -> UserVerdict | None:
    """What a prompt says about the work so far, or None when it says nothing outright.

    >>> verdict_in("ok, works. Great!"), verdict_in("Great! Now add a test"), verdict_in("it still fails")
    ('accepts', None, 'rejects')
    >>> verdict_in("if it does not work, tell me"), verdict_in("please revert that")
    (None, 'takes back')
    """
    if _TAKES_BACK.search(text) and not _GOES_ON.search(text):
        return "takes back"
    if rejection_in(text) is not None:
        return "rejects"
    return "accepts" if _is_acceptance(text) else None


def rejection_in(text: str) -> str | None:
    """The sentence in which a prompt says that something is wrong."""
    for sentence in sentences_of(text):
        if _ACCUSES.search(sentence):
            return sentence
        if refutes(sentence):
            return sentence
        found = _REJECTS.search(sentence)
        if found and not is_supposed(sentence, upto=found.end()) and not _is_disowned(sentence, found):
            return sentence
    return None


def refutes(sentence: str) -> bool:
    """Whether a sentence says that somebody looked for what the work rests on, and it is not so.

    >>> refutes("I just checked and none of them has a date"), refutes("I checked and nothing is wrong")
    (True, False)
    """
    found = _REFUTES.search(sentence)
    return found is not None and not is_supposed(sentence, upto=found.end())


def _is_disowned(sentence: str, found: re.Match[str]) -> bool:
    return is_denied(sentence, found, within=False) or is_disclaimed(sentence, found)


def _is_acceptance(text: str) -> bool:
    if len(text) > _SHORT or "?" in text:
        return False
    clauses = [part.strip() for part in _CLAUSES.split(text) if part.strip()]
    said = [part for part in clauses if not _FILLER.fullmatch(part)]
    return bool(said) and all(
        _ACCEPTS.fullmatch(re.sub(r"^(?:ok(?:ay)?|yes|yeah|cool|very|so) ", "", part)) for part in said
    )
