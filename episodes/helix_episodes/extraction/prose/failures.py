"""What prose says went wrong: failures that a report tells of and their causes, and troubles that a person states.

A word like "error" proves nothing: reports speak of error handling, of tests that must fail, of zero errors. Three
shapes report a failure that occurred. *Fixed*: someone fixed, resolved or corrected a thing that has a defect's name.
*Found*: someone found, reproduced or traced something whose predicate is a failure's. *Failed*: a subject with such a
predicate in the past. What is denied, conditional, demanded, expected or a deliberate control is none of them. The
cause is what follows "because" and its like, or what precedes "so".

A person states that the work is not as it was to be in whatever words there are for it (`states_trouble`). No list of
complaints could be complete, so the form of the statement counts: it is said of the work, in the present and without
condition, and it says that something persists ("it still flickers"), is too much ("too slow"), is not there or not done
("I can't see the button", "the date doesn't update"), shows an error ("the page returns a 500"), is in a state that
nobody wants ("the list is empty"), or is one thing instead of another ("it prints 3 instead of 4").

>>> FAILING.search("The upload timed out")[0], FAILING.search("The upload works")
('timed out', None)
>>> states_trouble("the page shows a 500"), states_trouble("too slow.")
(True, True)
>>> states_trouble("make the page faster"), states_trouble("does the page still load?")
(False, False)
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.prose.sentences import (
    has_any,
    is_doubtful,
    is_on_purpose,
    is_rule_of_exit,
    is_supposed,
    negates_failure,
    spelled,
    spoken,
)
from helix_episodes.light_imports import Regex

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Verbs that fail by themselves, with a subject: "a failed run" does not.
_FAILED = (
    r"(?<!to )(?<!an )(?<!a )(?<!the )(?<!/)(?:failed|crashed|broke|timed out|conflicted|errors? with"
    r"|rejected the|exit(?:s|ed) (?:\w+ ){0,3}[1-9]\b|miss(?:es|ed)|hides?)"
)
_IS_BAD = r"(?:is|was|were|are|been|being|be) (?:\w+ ){0,2}?(?:wrong|false|absent)"
_DOES_NOT = r"(?:did not|does not|do not|could not|cannot|can't|never) (?:\w+ )?(?:exist|find|pass)(?:e?[sd])?"
_COUNTED = r"(?<!0 )[1-9]\d* (?:tests? )?(?:failed|failing|failures?)"
FAILING = Regex(rf"\b(?:{_FAILED}|{_IS_BAD}|{_DOES_NOT}|{_COUNTED})\b", re.IGNORECASE)


_CAUSED = Regex(r"\b(?:because of|because)\s+(?P<cause>(?:[^.;]|\.(?=\S)){12,}?)(?=\.\s|\.$|;|$)", re.IGNORECASE)


def cause_in(statement: str) -> str:
    """What a clause calls the cause of the failure that it reports, or nothing.

    >>> cause_in("The upload failed because the token had expired."), cause_in("The upload failed")
    ('the token had expired', '')
    """
    match = _CAUSED.search(statement)
    return match["cause"].strip() if match else ""


class StatedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """One failure as reported: the clause that reports it.

    ``quote`` is the clause as in the log, where something was added to it.
    """

    statement: str
    quote: str = ""


_SENTENCE = Regex(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z(`'\"_.0-9]|[a-z]\w*[._]\w)|\n+")
_CLAUSE = Regex(r";\s+")
_DEFECT = r"(?:bugs?|defects?|regressions?|mismatch(?:es)?|violations?|false positives?|gaps?|failures?)"
_LEAD = r"^(?:\W|also |then |and |first )*"
_FIXES = Regex(rf"{_LEAD}(?:fixed|resolved|corrected|closed|addressed)\b", re.IGNORECASE)
#: An order to fix reports the failure only where it is the session's task.
_ORDERS = Regex(r"^\W*fix\b", re.IGNORECASE)
#: Verbs that say that the work was changed. Nearly all begin a statement in three open logs or more.
_ALTERS = (
    r"added|applied|built|changed|cleared|created|deleted|extracted|implemented|made|merged|moved|removed|replaced"
    r"|restored|rewrote|set|split|updated|used"
)
#: With those that leave it as it was on purpose.
CHANGES = rf"(?:{_ALTERS}|kept)"
_CHANGED = Regex(rf"{_LEAD}(?:{_ALTERS})\b", re.IGNORECASE)
_FAULTY = r"stale [a-z][\w./-]+"
_NAMED = Regex(rf"\b(?:{_DEFECT}|{_FAULTY})\b", re.IGNORECASE)
_FOUND = r"(?:found|discovered|identified|caught|reproduced|exposed|flagged|reported)"
_FINDS = Regex(rf"\b{_FOUND}\b", re.IGNORECASE)
#: A finding of someone or something whose work it is to find faults.
_REVIEWED = Regex(
    rf"\breview(?:er)?s?\b(?: \S+){{0,4}}? {_FOUND} (?!(?:no|nothing|none|0)\b)",
    re.IGNORECASE,
)
#: Writing about a failure does not mean that it occurred.
_WRITES = Regex(r"^\W*documented\b", re.IGNORECASE)
#: Words that say that something was wrong, not what.
_BLANK = Regex(
    rf"\b(?:{_DEFECT}|{_FOUND}|issues?|errors?|findings?|confirmed|fixed|resolved|verified|exists?|critical|and|the|"
    r"was|were|been|all|new|real|its|their|this|that|these|for|with|from|again|still|\d+\w*|first|second|third|fifth"
    r"|two|three|four|five|six|both|each|every|one|more|another)\b",
    re.IGNORECASE,
)
_WORD = Regex(r"[A-Za-z]{2,}")
#: A clause that has fewer words of its own only counts or points at what another says.
_TELLING_WORDS = 2
_A_DEFECT = Regex(rf"\b(?:{_DEFECT}|{_FAULTY})\b", re.IGNORECASE)
#: A label of two words ("Commands missed") states nothing.
_CLAUSE_WORDS = 3
#: A list of clauses beyond this many says "everything is broken", which more events would not make clearer.
_PER_SENTENCE = 3
#: Fewer words of its own make a heading of a sentence ...
_FULL_WORDS = 8
#: ... and a name or two at most a mere pointer.
_HEAD_WORDS = 4
_POINTS_BACK = Regex(r"^(?:it|that|this|both|they|neither|these)\b", re.IGNORECASE)


# A statement is examined on its own, with its neighbours and as an answer, over the length of an entry.
@lru_cache(maxsize=1024)
def failures_in(text: str) -> tuple[StatedFailure, ...]:
    """The failures that the first sentence to report any says occurred.

    A paragraph that circles one defect names it again and again; what it begins with is what it is about. Another is
    only what fails after a repair.

    >>> [one.statement for one in failures_in("Unsupported option exited 2; all tests pass afterwards.")]
    ['Unsupported option exited 2']
    >>> failures_in("Improved error handling; 0 errors, and the control must still fail.")
    ()
    """
    sentences = _sentences(text)
    found: list[StatedFailure] = []
    changed = False
    for place, sentence in enumerate(sentences):
        is_changing = is_change(sentence)
        changed = changed or is_changing
        if found and (is_changing or not changed):
            continue
        reported = [_in_full(clause, sentences, place) for clause in _clauses(sentence) if _reports_failure(clause)]
        if reported and not is_on_purpose(sentence):
            found, changed = [*found, *reported], False
    return tuple(found[:_PER_SENTENCE])


def _in_full(clause: str, sentences: tuple[str, ...], place: int) -> StatedFailure:
    """A failure with the sentence that says which it was, where its own only says that there was one.

    "Found the cause of the crash." heads what follows; "Both were stale." ends what came before.
    """
    before, after = sentences[place - 1] if place else "", sentences[place + 1] if place + 1 < len(sentences) else ""
    if before and _POINTS_BACK.match(clause):
        return StatedFailure(statement=f"{before} {clause}", quote=clause)
    if not _heads(clause) or not after or is_change(after) or (_fails(clause) and _reports_failure(after)):
        return StatedFailure(statement=clause)
    return StatedFailure(statement=f"{clause} {after}", quote=clause)


def _heads(clause: str) -> bool:
    """Whether a sentence has so few words of its own that the next may have to say what it is about."""
    return clause.endswith(".") and _own_words(clause) < _FULL_WORDS


def requested_fixes(task: str) -> tuple[StatedFailure, ...]:
    """The failure that a task asks to fix.

    >>> requested_fixes("Fix the upload regression (#12)")[0].statement
    'Fix the upload regression (#12)'
    >>> requested_fixes("Add an upload"), requested_fixes("Resolve issue #12: add an upload")
    ((), ())
    """
    first = next(_clauses(task), "")
    asked = _ORDERS.match(first) and _NAMED.search(first)
    return (StatedFailure(statement=first),) if asked else ()


@lru_cache(maxsize=1024)
def fixes_in(text: str) -> tuple[StatedFailure, ...]:
    """The failures that a statement says were fixed.

    >>> fixes_in("Fixed an off-by-one bug in pagination")[0].statement
    'Fixed an off-by-one bug in pagination'
    >>> fixes_in("Added error handling")
    ()
    """
    behind = dict(pairwise(_sentences(text)))
    clauses = list(_clauses(text))
    fixed = (_fix_in_clause(one, after=behind.get(one, "")) for one in clauses if is_fix(clauses[0]))
    return tuple(filter(None, fixed))


def _fix_in_clause(clause: str, *, after: str) -> StatedFailure | None:
    """The failure that one clause says was fixed."""
    name = _NAMED.search(clause) if is_fix(clause) else None
    if name is None or negates_failure(clause[: name.end()]):
        return None
    whole = f"{clause} {after}" if _heads(clause) and after and not is_change(after) else clause
    return StatedFailure(statement=whole, quote=clause)


def is_heading(text: str) -> bool:
    """Whether a statement only says that there was a failure, so that another has to say which.

    >>> is_heading("Verified that the reported bug exists"), is_heading("Found that the nightly export drops rows")
    (True, False)
    """
    return _own_words(text) < _HEAD_WORDS


def _own_words(text: str) -> int:
    """How many words of a text say what was wrong, not only that something was."""
    return len(_WORD.findall(_BLANK.sub(" ", text)))


def is_fix(text: str) -> bool:
    """Whether a statement says that something was fixed.

    >>> is_fix("Fixed the export"), is_fix("Fix the export next"), is_fix("Ran the export")
    (True, False, False)
    """
    return _FIXES.match(text) is not None


def is_change(text: str) -> bool:
    """Whether a statement says that the work was changed, and not only looked at or run.

    >>> is_change("Replaced the parser"), is_change("Ran the parser")
    (True, False)
    """
    return _CHANGED.match(text) is not None or is_fix(text)


@lru_cache(maxsize=1024)
def _sentences(text: str) -> tuple[str, ...]:
    """A statement is asked for what failed and for what was fixed, one after the other."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())


def _clauses(text: str) -> Iterator[str]:
    return (part.strip() for sentence in _sentences(text) for part in _CLAUSE.split(sentence) if part.strip())


@lru_cache(maxsize=1024)
def _reports_failure(clause: str) -> bool:
    """Whether a clause reports a failure; of what someone caught, its words do not say that it is only feared."""
    caught = _REVIEWED.search(clause)
    if not (_fails(clause) or _finds_fault(clause, caught)) or _WRITES.match(clause):
        return False
    if caught is None:
        return not negates_failure(clause)
    return not negates_failure(clause[: caught.end()])


def _fails(clause: str) -> bool:
    """Whether a clause has a failure's predicate; what begins with it, the agent did itself."""
    predicate = FAILING.search(clause)
    if predicate is None or len(_WORD.findall(clause)) < _CLAUSE_WORDS or is_rule_of_exit(clause):
        return False
    return predicate.start() > 0 or clause[0].isdigit()


def _finds_fault(clause: str, caught: re.Match[str] | None) -> bool:
    """Whether a clause says that someone found a fault, and which."""
    found = caught is not None or (_FINDS.search(clause) is not None and _A_DEFECT.search(clause) is not None)
    return found and _own_words(clause) >= _TELLING_WORDS


#: What is longer is a document or a review, in which a sentence describes code.
LONGEST = 600
_OPENING = re.compile(
    r"^(?:\W*\b(?:hm+|oh|ok(?:ay)?|so(?! that)|but|and|also|no(?! (?!no|the|it|this|that)\w)|yes|unfortunately|now"
    r"|again|actually|great|thanks?)\b\W*)+",
    re.IGNORECASE,
)
#: Where a statement ends and the question after it begins: the verb comes before its subject.
_INVERTED = re.compile(
    r"(?:^|(?<=\w)(?<!not)[\s,;:)-]+)(?:should|shall|can|could|would|will|do|does|did|is|are|was|were|may|why|what|how|where)"
    r" (?:we|you|i|it|this|that|they|there|the)\b",
    re.IGNORECASE,
)
#: "When I save, it crashes" states a fact; what is left is said of the work.
_CONDITION = re.compile(
    r"^(?:when(?:ever)?|if|after|once) (?:I|we|you|it) [^,]{1,80}?(?:, ?| (?=(?:it|they|nothing|this|that|the|I|we) ))",
    re.IGNORECASE,
)
_MODAL = re.compile(r"\b(?:can(?!'t)|may|will|shall|must|consider|so)\b", re.IGNORECASE)
_BE = r"(?:is|are|was|were|'s|'re)"
#: A denial of somebody or something else than the speaker and the agent.
_NOT = (
    r"(?:(?<=\w )(?<!\bi )(?<!\bwe )(?<!\byou )(?:(?:does|did|is|are|was|were|wo|ca|has|have)(?:n't| not)|cannot"
    r"|can not|no longer)|\b(?:they|these|those|\w+s) (?:still |also )?do(?:n't| not)|(?<=\w)'(?:s|re) not)"
)
#: Verbs with which a denial says what is wanted or meant, and nothing of what happens.
_NO_EVENT = r"(?:need|matter)"
_STILL_FINE = r"(?:to be|works?\b|should|would|have to)"
#: A message of a program, and what stands where a value was to be.
_ERROR = (
    r"(?:[45]\d\d\b(?! \w+s\b)|errors?\b|stack ?trace|NaN\b"
    r"|(?-i:[A-Z])\w*(?:Error|Exception)\b)"
)
_GET = r"(?:i|we)(?:'(?:m|re|ve)| am| are| have)?(?: just| still| now| also)* (?:get(?:ting)?|got)"
_SEE = r"(?:just |now |also )?(?:have|get(?:ting)?|got|see(?:ing)?)"
#: What a thing does, by the ending of its verb.
_DOES = r"(?!(?:is|was|has|this)\b)[a-z]+s"
_OFTEN = r"(?:\w+ly |now |still |just |all |again |also )*"
#: States that nobody wants: some by their name, which no form could stand for, others by the syllable that denies the
#: good one.
_STATES = (
    r"(?:missing|gone|empty|blank|wrong|broken|stuck|slow|off|truncated|duplicated|garbled|lost"
    r"|outdated|stale|worse|red|ignored|frozen|dead|corrupt(?:ed)?|flaky|cut off|out of sync"
    r"|(?:un|mis)\w{3,}(?:able|ed)|in\w{3,}(?:ect|urate|id|ble|ete))"
)
_FAILURES = (
    "fail", "crash", "hang", "freeze", "flicker", "disappear", "vanish", "overlap", "overflow", "segfault", "explode",
    "complain", "loop", "leak", "break",
)  # fmt: skip
_FAIL = rf"(?:{'|'.join(_FAILURES)})"
FAILS = rf"{_FAIL}(?:e?[sdn]|ing)"
#: What there is where something failed.
_FAULTS = ("error", "exception", "failure", "conflict", "regression", "typo")
_FAULT = rf"(?:{'|'.join(_FAULTS)})s?\b(?! (?:to|of|for)\b)"
#: The forms of such a statement, each behind the letters of which some are in all that it finds: most sentences have
#: none of them, and the forms take a microsecond a letter.
_TROUBLES: tuple[tuple[tuple[str, ...], str], ...] = (
    # It persists.
    (("still ",), rf"(?:^|(?<=\w ))still (?!{_NO_EVENT}|{_STILL_FINE})\w+"),
    # It is too much.
    (("too ",), rf"(?:^|\b(?:{_BE}|{_DOES}|still) (?:\w+ )?)too \w+"),
    # It does not happen, or cannot be done.
    (("n't", "not"), r"\b(?:i|we) (?:still )?(?:(?:ca|could)(?:n't| not)|do(?:n't| not) see) \w+"),
    (
        ("n't", "not", "no longer"),
        rf"{_NOT} (?!{_NO_EVENT}|{_STATES}|{_FAIL}|(?:an?|the|my|your|our)\b)(?:\w+ly )?\w+",
    ),
    (("never", "nothing", "none of"), r"\b(?:never|nothing|none of (?:it|them|the \w+)) (?:is|are|has|have|\w+s)\b"),
    # It shows an error.
    (
        ("4", "5", "error", "trace", "nan", "exception", "does nothing"),
        rf"\b(?:{_DOES}|{_GET})\b(?:(?!\b(?:of|no)\b)[^.?!\n]){{0,30}}?\b{_ERROR}|\bdoes nothing\b(?! by\b)",
    ),
    (_FAULTS, rf"\bthere(?:'s| is| are) (?:(?!(?:no|not|any|never)\b)\w+ ){{0,2}}?{_FAULT}"),
    (
        _FAULTS,
        rf"^(?:i|we)(?:'(?:m|re|ve)| am| are)? {_SEE} (?:(?!(?:no|not|any|the)\b)\w+ ){{0,2}}?{_FAULT}",
    ),
    ((*_FAULTS, "persist"), rf"^(?:still )?(?:the )?same {_FAULT}|\bpersists?\b"),
    # It is in a state that nobody wants, or goes wrong.
    ((), rf"\b{_BE} {_OFTEN}{_STATES}\b|^{_STATES}\W*$"),
    (
        _FAILURES,
        rf"\b(?<!\bno )(?!(?:to|an?|the|not|longer|what(?:ever)?)\b)[\w)/.-]+ {_OFTEN}{FAILS}\b(?! (?:nothing|\w+s)\b)",
    ),
    (("fail", "crash"), rf"(?<!\bno )\b(?:they|both|\w+s) {_OFTEN}(?:fail|crash)\b"),
    ((*_FAULTS, "failed", "warning"), rf"\b[1-9]\d*(?: \w+)? (?:failed\b|warnings?\b|{_FAULT})"),
    # It is one thing instead of another, or twice what it was to be.
    (
        ("instead of", "rather than"),
        rf"\b(?:{_BE}|{_DOES}|{_GET})\b[^.?!\n]{{0,60}}\b(?:instead of|rather than)\b",
    ),
    (("twice",), rf"\b(?:{_BE}|{_DOES})\b[^.?!\n]{{0,50}}\btwice\b(?! (?:an?|each|every)\b)"),
    # It is not so, or not everywhere.
    (("but not",), rf"\b{_DOES}\b[^.?!\n]{{0,40}}\bbut not\b"),
    (("n't", "not"), r"^(?:still )?not \w+ed\b|^(?:does|did)(?:n't| not) \w+"),
)
_TROUBLE = tuple((words, Regex(form, re.IGNORECASE)) for words, form in _TROUBLES)
#: What is against what should be; the "should" of it supposes nothing.
_CONTRASTED = re.compile(
    r"\bshould(?:n't| not)?\b[^.?!\n]{1,80}?,? but (?:\w+ly |now |only |still )*"
    r"(?:it|they|there|we|the [\w-]+|nothing|no|\w+s)\b"
    r"|\b(?:but|when|while) (?:it|they|this|that) should\b",
    re.IGNORECASE,
)


def mentions_trouble(text: str) -> bool:
    """Whether any words of trouble occur; asked first, because what was said before takes time to gather."""
    return any(_trouble_in(one)[1] is not None for one in spoken(text))


def states_trouble(sentence: str) -> bool:
    """Whether a sentence states that the work is not as it was to be."""
    statement, found = _trouble_in(sentence)
    if found is None or statement.endswith("?"):
        return False
    # The "should" of what is against it supposes nothing.
    supposed = found.re is not _CONTRASTED and is_supposed(statement, upto=found.end())
    return not (supposed or _MODAL.search(statement[: found.end()]) or is_doubtful(statement, found, within=False))


# A prompt is asked what it says of the work by half a dozen rules.
@lru_cache(maxsize=1024)
def _trouble_in(sentence: str) -> tuple[str, re.Match[str] | None]:
    """What a sentence states, without opening, condition and the question behind it, and the words of trouble in it."""
    statement = _CONDITION.sub("", _OPENING.sub("", spelled(sentence))).strip()
    if asked := _INVERTED.search(statement):
        statement = statement[: asked.start()]
    lowered = statement.lower()
    if "should" in lowered and (contrasted := _CONTRASTED.search(statement)):
        return statement, contrasted
    found = (form.search(statement) for words, form in _TROUBLE if not words or has_any(lowered, words))
    # Of two that begin at one place, the one whose form comes first.
    return statement, min(filter(None, found), key=lambda one: one.start(), default=None)
