"""Whether a sentence states that the work is not as it was to be, in whatever words a person has for it.

No list of complaints could be complete, so the form of the statement counts: it is said of the work, in the present
and without condition, and it says that something persists ("it still flickers"), is too much ("too slow"), is not
there or not done ("I can't see the button", "the date doesn't update"), shows an error ("the page returns a 500"), is
in a state that nobody wants ("the list is empty"), or is one thing instead of another ("it prints 3 instead of 4").

The subject must be the work: a pronoun, a thing that both know ("the totals"), what the speaker sees, or words that the
task or the agent used before.

>>> used = stems("Add a date to the invoice page")
>>> states_trouble("the page shows a 500", used), states_trouble("too slow.", used)
(True, True)
>>> states_trouble("make the page faster", used), states_trouble("does the page still load?", used)
(False, False)
"""

from __future__ import annotations

import re

from helix_episodes.extraction.prose.sentences import is_denied, is_disclaimed, is_supposed, stems

#: What is longer is a document or a review, in which a sentence describes code.
LONGEST = 600
_OPENING = re.compile(
    r"^(?:\W*\b(?:hm+|ah|oh|ugh|ok(?:ay)?|well|so(?! that)|but|and|also|no|nope|yes|yeah|unfortunately|sadly|"
    r"weird(?:ly)?|"
    r"strange(?:ly)?|sorry|now|again|actually|great|thanks?|wait)\b\W*)+",
    re.IGNORECASE,
)
#: Where a statement ends and the question after it begins: the verb comes before its subject.
_INVERTED = re.compile(
    r"(?<=\w)[\s,;:)-]+(?:should|shall|can|could|would|will|do|does|did|is|are|was|were|may|why|what|how|where)"
    r" (?:we|you|i|it|this|that|they|there|the)\b",
    re.IGNORECASE,
)
#: "When I save, it crashes" states a fact; what is left is said of the work.
_CONDITION = re.compile(
    r"^(?:(?:when(?:ever)?|if|after|once|as soon as) (?:I|we|you|it) [^,]{1,80}, ?"
    r"|(?:when(?:ever)?|after|once|as soon as) (?:I|we|you) [^,]{1,80}? (?=(?:it|they|nothing|this|that|I|we) ))",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:can|may|will|shall|must|let['\u2019]?s|want|wants|wanted|need|needs|like to|consider|so)\b", re.IGNORECASE
)
_BE = (
    r"(?:is|are|was|were|['\u2019](?:s|re)|looks?|feels?|seems?|appears?|stays?|remains?|comes? (?:out|back|up)"
    r"|ends? up)"
)
#: A denial of somebody or something else than the speaker and the agent.
_NOT = (
    r"(?<=\w )(?<!\bi )(?<!\bwe )(?<!\byou )(?:(?:does|did|is|are|was|were|wo|ca|has|have)(?:n['\u2019]t| not)|cannot"
    r"|can not|no longer)"
    r"|\b(?:they|these|those|\w+s) (?:still |also )?do(?:n['\u2019]t| not)"
)
#: Verbs with which a denial says what is wanted or meant, and nothing of what happens.
_NO_EVENT = (
    r"(?:need|have to|matter|want|mean|care|mind|think|believe|know|require|make sense|sure|necessary|important)"
)
_STILL_FINE = (
    r"(?:to be|valid|relevant|open|fine|ok|good|works?\b|working\b|use[sd]?\b|prefer|consider|wonder|like\b|support"
    r"|should|would|have to|possible|thinking)"
)
_ERROR = (
    r"(?:[45]\d\d\b|errors?\b|exceptions?\b|failures?\b|traceback|stack ?trace|undefined\b|NaN\b|null\b|nothing\b|"
    r"garbage|blank|empty|time-?outs?|conflicts?\b)"
)
_SHOWS = (
    r"(?:shows|returns|gives|throws|prints|says|displays|raises|responds|answers|reports|ends|outputs"
    r"|(?:i|we)(?:['\u2019](?:m|re|ve)| am| are| have)?(?: just| still| now| also| keep)* (?:gets?|getting|got|sees?"
    r"|seeing|hit|hitting|facing))"
)
_OFTEN = r"(?:now |still |just |all |completely |totally |always |often |again |very |really |quite |sometimes |also )*"
_STATES = (
    r"(?:missing|gone|empty|blank|wrong|broken|stuck|slow|off|incorrect|inaccurate|unreadable|unusable|misaligned"
    r"|cut off|truncated|duplicated|garbled|invisible|lost|outdated|stale|worse|red|failing|crashing|hanging|ignored"
    r"|frozen)"
)
_BREAKS = (
    r"(?:crash(?:es|ed)|hangs|hung|freezes|froze|breaks|broke|fails|failed|flickers|disappear(?:s|ed)|vanish(?:es|ed)"
    r"|loops|leaks|stops|stopped|times out|timed out|errors out|explodes|loses|lost|jumps|overlaps|overflows)"
)
#: What nobody misses when it does not happen any more.
_NO_MORE = (
    rf"(?:{_STATES}|crash|hang|freeze|break|fail|flicker|disappear|vanish|loop|leak|stop|error|lose|jump|overlap)"
)
_TROUBLES = (
    # It persists.
    rf"(?:^|(?<=\w ))still (?!{_NO_EVENT}|{_STILL_FINE})\w+",
    # It is too much.
    rf"(?:^|\b{_BE} (?:\w+ )?|\b(?:takes|way|far|much|still|a bit) )too (?!many\b|bad\b)\w+",
    # It cannot be seen or done, does not happen.
    (
        r"\b(?:i|we|users?|one) (?:still )?(?:ca|do|did|could)(?:n['\u2019]t|nnot| not) (?:\w+ly )?(?:see|find|get|open"
        r"|load|run|reach|click|access|log|select|scroll|type|save|start|install|build|notice|read|edit|delete)\b"
    ),
    r"\b(?:i|we|users)(?: am| are|['\u2019](?:m|re)) (?:still )?not (?:\w+ly )?(?:seeing|getting|finding|able to)\b",
    rf"(?:{_NOT}) (?!{_NO_EVENT}|{_NO_MORE}|(?:an?|the|my|your|our)\b)(?:\w+ly )?\w+",
    r"\b(?:nothing|nobody|none of (?:it|them|the \w+)) (?:happen|show|chang|appear|work|is|are|has|have|get|come)\w*",
    # It shows an error.
    rf"\b{_SHOWS}\b[^.?!\n]{{0,30}}?\b{_ERROR}",
    # It is in a state that nobody wants, or goes wrong.
    rf"\b{_BE} {_OFTEN}{_STATES}\b",
    rf"\b(?:it|this|that|they|(?:the|my|our|your) [\w -]{{1,40}}?) {_OFTEN}{_BREAKS}\b",
    # It is one thing instead of another.
    (
        rf"\b(?:{_BE}|shows|prints|returns|says|uses|does|gets|got|sends|opens|goes|takes)\b[^.?!\n]{{0,60}}"
        r"\b(?:instead of|rather than|but (?:it )?should|while it should|though it should)\b"
    ),
    r"\b(?:was|were|is|are) supposed to\b",
)
_TROUBLE = re.compile("|".join(f"(?:{one})" for one in _TROUBLES), re.IGNORECASE)
#: Who speaks of "the totals" means something that both know.
_OF_WORK = re.compile(
    r"^(?:the|my|our|all|both|some|half)\b"
    r"|\b(?:it|this|that|they|these|those|there|everything|nothing|none|nobody|i|we|you|your)(?=\b|['\u2019])",
    re.IGNORECASE,
)


def mentions_trouble(text: str) -> bool:
    """Whether any words of trouble occur; asked first, because what was said before takes time to gather."""
    return _TROUBLE.search(text) is not None


def states_trouble(sentence: str, used: frozenset[str]) -> bool:
    """Whether a sentence states that the work is not as it was to be.

    ``used`` are the stems of what the task and the agent said before.
    """
    statement = _CONDITION.sub("", _OPENING.sub("", sentence)).strip()
    asked = _INVERTED.search(statement)
    if asked is not None:
        statement = statement[: asked.start()]
    found = _TROUBLE.search(statement)
    if found is None or statement.endswith("?"):
        return False
    before = statement[: found.start()]
    if _MODAL.search(before) or is_supposed(statement, upto=found.end()):
        return False
    if is_denied(statement, found, within=False) or is_disclaimed(statement, found):
        return False
    # Without a subject ("too slow", "still the same") it is said of what was just done.
    return not before.strip() or _OF_WORK.search(statement) is not None or not used.isdisjoint(stems(statement))
