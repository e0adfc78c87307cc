"""What a person tells an agent to do otherwise than it does, in the person's own words.

A correction is worth more than anything else in a log, and a wrong one would be obeyed, so it is read conservatively:
a prompt that begins with a "no" or a prohibition and says what not to do or what to do in its place, or that says what
was asked for. What holds only for the moment ("don't commit yet") is no correction, nor is a question or a worry.
"""

from __future__ import annotations

import re

from helix_episodes.extraction.prose.sentences import is_supposed, sentences_of

#: A longer prompt is a new task, whatever it begins with.
_LONGEST = 600
#: So much of it is kept: the sentence that corrects and the next ones.
_KEPT = 240
_NO = re.compile(
    r"^(?:no+(?!\s+(?:problem|worries|need|idea|rush))(?:pe)?|wrong|stop|wait|hold on|hey"
    r"|not (?:like )?(?:that|this))\b[\s,.!:;\u2013\u2014-]*",
    re.IGNORECASE,
)
#: Behind a "no" an order is a correction; without one it has to forbid or to name what comes in whose place.
_FORBIDS = re.compile(
    r"^(?:(?:please|and|but|again|so),? )*(?:do not|don['\u2019]?t|never|stop|avoid)\s+(?:ever |just |simply )?"
    r"([a-z]+)\b",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(
    r"^(?:(?:please|and|but|again|so|just|you should|we should|you must) )*"
    r"(?:use|keep|put|write|make|do|call|name|take|leave|store|read|run|move|return|prefer|go with|it should be)\b"
    r"[^.?!]{0,160}\b(?:instead|rather than|, not\b|and not\b)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^(?:(?:please|and|but|again|so|just|you should|we should|you must|we) )*"
    r"(?:(?:it|that|this|they) (?:should|must|has to|have to|needs? to)"
    r"|use|keep|put|write|make|call|name|take|leave|store|read|run|move|return|prefer|go with)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"^(?:but )?I (?:said|meant|asked (?:you )?(?:for|to)|told you|wanted|explicitly said)\b(?! (?:nothing|hi|hello))",
    re.IGNORECASE,
)
_HARMLESS = frozenset({
    "worry", "forget", "know", "think", "understand", "see", "mind", "hesitate", "care", "believe", "want", "need",
    "have", "feel", "remember", "get", "like",
})  # fmt: skip
_MOMENTARY = re.compile(
    r"\b(?:yet|for now|right now|now|today|this time|until|before|anything|wait|stop here|let me|for the moment)\b",
    re.IGNORECASE,
)


def correction_in(text: str) -> str | None:
    """What a prompt corrects, None where it corrects nothing.

    >>> correction_in("No, don't use a third-party client for that. Keep a table of rates in the repo instead.")
    "No, don't use a third-party client for that. Keep a table of rates in the repo instead."
    >>> correction_in("Don't worry, looks good"), correction_in("no, don't push yet"), correction_in("No idea, you?")
    (None, None, None)
    """
    if len(text) > _LONGEST:
        return None
    sentences = sentences_of(text)
    for place, sentence in enumerate(sentences[:3]):
        begins = _NO.match(sentence)
        refused = place > 0 and _NO.fullmatch(f"{sentences[place - 1].rstrip('.!,;: ')}") is not None
        if _corrects(sentence[begins.end() :] if begins else sentence, refused=refused or begins is not None):
            said = sentences[place - 1 :] if refused else sentences[place:]
            return _joined(said)
        if not begins:
            return None  # a prompt that begins otherwise is about something else
    return None


def _corrects(order: str, *, refused: bool) -> bool:
    if is_supposed(order) or _MOMENTARY.search(order):
        return False
    forbids = _FORBIDS.match(order)
    if forbids is not None:
        return forbids[1].lower() not in _HARMLESS
    if _IN_PLACE.match(order) or _MEANT.match(order):
        return True
    return refused and _ORDERS.match(order) is not None


def _joined(sentences: list[str]) -> str:
    """The sentences, as many as fit; each ends as one."""
    found = ""
    for one in sentences:
        longer = f"{found} {one if one[-1] in '.!?' else f'{one}.'}".strip()
        if found and len(longer) > _KEPT:
            break
        found = longer
    return found[:_KEPT]
