"""Failures that prose reports: defects that occurred, checks that failed, claims that proved false, and their causes.

A word like "error" proves nothing: reports speak of error handling, of tests that must fail, of zero errors. Three
shapes report a failure that occurred. *Fixed*: someone fixed, resolved or corrected a thing that has a defect's name.
*Found*: someone found, reproduced or traced something whose predicate is a failure's. *Failed*: a subject with such a
predicate in the past. What is denied, conditional, demanded, expected or a deliberate control is none of them. The
cause is what follows "because" and its like, or what precedes "so".

>>> FAILING.search("The upload timed out")[0], FAILING.search("The upload works")
('timed out', None)
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.prose.sentences import finds_nothing, is_on_purpose, is_rule_of_exit, negates_failure
from helix_episodes.light_imports import Regex

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Verbs that fail by themselves, with a subject: "a failed run" does not.
_FAILED = (
    r"(?<!to )(?<!an )(?<!a )(?<!the )(?<!/)(?:failed|crashed|broke|timed out|conflicted|errored|errors? with|"
    r"refused|rejected the|blocked by|(?:exited|exits) (?:with )?(?:exit )?(?:code |status )?[1-9]\b|ignored|"
    r"miss(?:es|ed)|omitted|hides?|"
    r"silently \w+(?:ed|ing)|contradict(?:s|ed|ing) (?:an?|the|its|both)|violates)"
)
_IS_BAD = (
    r"(?:is|was|were|are|been|being|be) (?:\w+ ){0,2}?(?:wrong|false|broken|missing|stale|absent|unavailable|incorrect|"
    r"invalid|incomplete|lost|vulnerable|not (?:available|set))"
)
_DOES_NOT = (
    r"(?:did not|does not|do not|could not|cannot|can't|couldn't|never) (?:\w+ )?(?:catch|check|complete|contain|cover|"
    r"exist|find|hold|include|load|pass|reach|read|return|run|see|update|work)(?:e?[sd])?"
)
_COUNTED = r"(?<!0 )[1-9]\d* (?:tests? )?(?:failed|failing|failures?)"
FAILING = Regex(rf"\b(?:{_FAILED}|{_IS_BAD}|{_DOES_NOT}|{_COUNTED})\b", re.IGNORECASE)


_CAUSED = Regex(
    r"\b(?:because of|because|caused by|due to)\s+(?P<cause>(?:[^.;]|\.(?=\S)){12,}?)(?=\.\s|\.$|;|$)", re.IGNORECASE
)


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
_DEFECT = (
    r"(?:bugs?|defects?|regressions?|mismatch(?:es)?|crash(?:es)?|leaks?|races?|deadlocks?|recursion|overflow|"
    r"vulnerabilit(?:y|ies)|violations?|alerts?|false positives?|contradictions?|conflicts?|gaps?|holes?|typos?|hangs?|"
    r"timeouts?|drift|injection|failures?|(?:syntax|type|lint) errors?)"
)
_LEAD = r"^(?:\W|also |then |and |first )*"
_FIXES = Regex(rf"{_LEAD}(?:fixed|resolved|repaired|corrected|closed|cleared|addressed)\b", re.IGNORECASE)
#: An order to fix reports the failure only where it is the session's task.
_ORDERS = Regex(r"^\W*(?:fix|resolve|repair|correct|close|clear|address)\b", re.IGNORECASE)
#: Verbs that say that the work was changed, each of which begins a statement in at least three logs of the corpora.
_ALTERS = (
    r"added|adjusted|aligned|allowed|applied|bounded|built|changed|cleared|combined|configured|consolidated|converted|"
    r"created|deleted|disabled|enabled|expanded|extended|extracted|flipped|gave|implemented|improved|linked|made|marked|"
    r"merged|modified|moved|pinned|raised|refactored|refined|removed|renamed|replaced|restored|reused|reverted|"
    r"rewritten|rewrote|scoped|set|simplified|split|switched|trimmed|updated|used|wrapped"
)
#: With those that leave it as it was on purpose.
CHANGES = rf"(?:{_ALTERS}|kept|left|omitted|preserved|rejected|skipped)"
_CHANGED = Regex(rf"{_LEAD}(?:{_ALTERS})\b", re.IGNORECASE)
_FAULTY = r"(?:stale|broken|misleading|incorrect|wrong|missing) [a-z][\w./-]+"
_NAMED = Regex(rf"\b(?:{_DEFECT}|errors?|{_FAULTY})\b", re.IGNORECASE)
_FOUND = r"(?:found|discovered|identified|caught|reproduced|exposed|flagged|reported)"
_FINDS = Regex(rf"\b{_FOUND}\b", re.IGNORECASE)
#: A finding of someone or something whose work it is to find faults.
_REVIEWED = Regex(
    r"\b(?:review(?:er)?s?|bots?|guard|audit|gate|hook|checks?|tests?)\b(?: \S+){0,4}? "
    rf"{_FOUND} (?!(?:no|nothing|none|zero|0)\b)",
    re.IGNORECASE,
)
#: Writing about a failure does not mean that it occurred.
_WRITES = Regex(r"^\W*(?:documented|recorded|described|noted)\b", re.IGNORECASE)
#: Words that say that something was wrong, not what.
_BLANK = Regex(
    rf"\b(?:{_DEFECT}|{_FOUND}|issues?|errors?|problems?|findings?|confirmed|fixed|resolved|verified|exists?|critical|"
    r"and|the|was|were|been|all|new|real|its|their|this|that|these|for|with|from|again|still|\d+\w*|"
    r"first|second|third|fourth|fifth|two|three|four|five|six|both|each|every|one|more|another)\b",
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

    >>> requested_fixes("Fix the upload timeout (#12)")[0].statement
    'Fix the upload timeout (#12)'
    >>> requested_fixes("Add an upload"), requested_fixes("Resolve issue #12: add an upload")
    ((), ())
    """
    first = next(_clauses(task), "")
    asked = _ORDERS.match(first) and _NAMED.search(first)
    return (StatedFailure(statement=first),) if asked else ()


@lru_cache(maxsize=1024)
def fixes_in(text: str) -> tuple[StatedFailure, ...]:
    """The failures that a statement says were fixed.

    >>> fixes_in("Fixed off-by-one error in pagination")[0].statement
    'Fixed off-by-one error in pagination'
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
    return not negates_failure(clause[: caught.end()]) and not finds_nothing(clause)


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
