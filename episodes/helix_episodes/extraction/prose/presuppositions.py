"""Whether a prompt takes a failure for granted: it asks why something fails, or orders that an error be fixed.

"Does it fail?" asks whether there is a failure, "why does it fail?" only what it comes of. Somebody who orders
"fix this: cannot use err as string" shows the message of whoever complained. Neither states the failure in a sentence
of its own, and both report one.

>>> presupposed_failure("why is https://ci.example/run/7 failing?")
'why is https://ci.example/run/7 failing?'
>>> presupposed_failure("investigate why I get 'Denied by hook' and fix it") is not None
True
>>> [presupposed_failure(text) for text in ("does it fail?", "why is this a list?", "tell me why it would fail")]
[None, None, None]
"""

from __future__ import annotations

import re

from helix_episodes.extraction.prose.sentences import sentences_of

_FAILS = (
    r"(?:fail(?:s|ed|ing|ures?)?|broken|broke|breaks|crash(?:es|ed|ing)?|hang(?:s|ing)?|erroring|denied|refused|"
    r"rejected|timing out|timed out|stuck|red)"
)
#: What a thing is to do of which somebody asks why it does not.
_HAPPENS = r"(?:work|trigger|publish|show|load|run|start|build|compil|updat|appear|install|render|sav|deploy|fir)\w*"
#: "Why would it fail" supposes, and "why is it not failing" misses a failure.
_WHY = re.compile(
    r"\bwhy(?: is| are| was| were| do| does| did| has| have| am)? (?!would|could|should|might|no\b|not\b)"
    rf"(?:(?!\b(?:would|could|should|might|not|no|if)\b)[^?!\n]){{0,300}}?\b{_FAILS}\b"
    r"|\bwhy (?:am I|are we|do I|do we|I|we)(?: keep| always| still)? (?:gett?(?:ing)?|see(?:ing)?)\b"
    rf"|\bwhy (?:does|did|is|are|do|was|were|has|have)(?:n['\u2019]t| (?:\S+ ){{1,6}}not) (?:\S+ ){{0,6}}?{_HAPPENS}",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"^\W*(?:please |can you |could you )?(?:fix|solve|resolve|repair)(?: this| the)?(?: following)?(?: \w+)?: *"
    r"(?P<message>\S.*)",
    re.IGNORECASE,
)
#: What compilers and runners say in the messages that people paste without their place.
_MESSAGE = re.compile(
    r"\b(?:cannot|can't|could not|undefined|unused|unexpected|expected|missing|invalid|unknown|unresolved|undeclared|"
    r"error|failed|fails|denied|not (?:found|assignable|defined|a function|exported)|no such|does not exist|"
    r"exit (?:code|status) [1-9])\b",
    re.IGNORECASE,
)
_DID_NOT = re.compile(
    r"^(?:I (?:think|guess|believe) |it (?:seems|looks like) |looks like |apparently,? |seems )?(?:that )?"
    r"(?:the|our|my|this|that|it)\b[^.?!,\n]{0,50}?"
    rf"\b(?:did|was|has|have|does|is|are|were)(?:n['\u2019]t| not) (?:get |getting |been |being )?{_HAPPENS}",
    re.IGNORECASE,
)


def presupposed_failure(text: str) -> str | None:
    """The sentence of a prompt that takes a failure for granted."""
    return next((sentence for sentence in sentences_of(text) if _presupposes(sentence)), None)


def _presupposes(sentence: str) -> bool:
    ordered = _ORDERED.match(sentence)
    if ordered is not None and _MESSAGE.search(ordered["message"]):
        return True
    return bool(_WHY.search(sentence)) or (not sentence.endswith("?") and bool(_DID_NOT.match(sentence)))
