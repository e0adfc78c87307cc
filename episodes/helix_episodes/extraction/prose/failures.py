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
nobody wants ("the list is empty"), or is one thing instead of another ("it prints 3 instead of 4"). The subject must be
the work: a pronoun, a thing that both know ("the totals"), what the speaker sees, or words that the task or the agent
used before.

>>> FAILING.search("The upload timed out")[0], FAILING.search("The upload works")
('timed out', None)
>>> used = stems("Add a date to the invoice page")
>>> states_trouble("the page shows a 500", used), states_trouble("too slow.", used)
(True, True)
>>> states_trouble("make the page faster", used), states_trouble("does the page still load?", used)
(False, False)
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.prose.sentences import (
    finds_nothing,
    is_denied,
    is_disclaimed,
    is_on_purpose,
    is_rule_of_exit,
    is_supposed,
    negates_failure,
    sentences_of,
    stems,
)
from helix_episodes.light_imports import Regex

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Verbs that fail by themselves, with a subject: "a failed run" does not.
_FAILED = (
    r"(?<!to )(?<!an )(?<!a )(?<!the )(?<!/)(?:failed|crashed|broke|timed out|conflicted|errors? with|"
    r"refused|rejected the|(?:exited|exits) (?:with )?(?:exit )?(?:code |status )?[1-9]\b|miss(?:es|ed)|hides?|"
    r"silently \w+(?:ed|ing))"
)
_IS_BAD = r"(?:is|was|were|are|been|being|be) (?:\w+ ){0,2}?(?:wrong|false|absent|not available)"
_DOES_NOT = (
    r"(?:did not|does not|do not|could not|cannot|can't|couldn't|never) (?:\w+ )?(?:exist|find|pass|run)(?:e?[sd])?"
)
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
_DEFECT = (
    r"(?:bugs?|defects?|regressions?|mismatch(?:es)?|crash(?:es)?|leaks?|violations?|alerts?|false positives?|"
    r"conflicts?|gaps?|timeouts?|failures?|syntax errors?)"
)
_LEAD = r"^(?:\W|also |then |and |first )*"
_FIXES = Regex(rf"{_LEAD}(?:fixed|resolved|corrected|closed|addressed)\b", re.IGNORECASE)
#: An order to fix reports the failure only where it is the session's task.
_ORDERS = Regex(r"^\W*fix\b", re.IGNORECASE)
#: Verbs that say that the work was changed. Nearly all begin a statement in three open logs or more.
_ALTERS = (
    r"added|applied|built|changed|cleared|created|deleted|extracted|implemented|made|merged|moved|removed|replaced|"
    r"restored|rewrote|set|split|updated|used"
)
#: With those that leave it as it was on purpose.
CHANGES = rf"(?:{_ALTERS}|kept)"
_CHANGED = Regex(rf"{_LEAD}(?:{_ALTERS})\b", re.IGNORECASE)
_FAULTY = r"(?:stale|wrong) [a-z][\w./-]+"
_NAMED = Regex(rf"\b(?:{_DEFECT}|errors?|{_FAULTY})\b", re.IGNORECASE)
_FOUND = r"(?:found|discovered|identified|caught|reproduced|exposed|flagged|reported)"
_FINDS = Regex(rf"\b{_FOUND}\b", re.IGNORECASE)
#: A finding of someone or something whose work it is to find faults.
_REVIEWED = Regex(
    rf"\b(?:review(?:er)?s?|checks?)\b(?: \S+){{0,4}}? {_FOUND} (?!(?:no|nothing|none|0)\b)",
    re.IGNORECASE,
)
#: Writing about a failure does not mean that it occurred.
_WRITES = Regex(r"^\W*documented\b", re.IGNORECASE)
#: Words that say that something was wrong, not what.
_BLANK = Regex(
    rf"\b(?:{_DEFECT}|{_FOUND}|issues?|errors?|findings?|confirmed|fixed|resolved|verified|exists?|critical|and|the|"
    r"was|were|been|all|new|real|its|their|this|that|these|for|with|from|again|still|\d+\w*|first|second|third|"
    r"fourth|fifth|two|three|four|five|six|both|each|every|one|more|another)\b",
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
    r"(?:need|have to|matter|want|mean|care|mind|think|believe|know|require|make sense|sure|necessary|important"
    r"|urgent|critical|blocking|related|relevant|about)"
)
_STILL_FINE = (
    r"(?:to be|valid|relevant|open|fine|ok|good|works?\b|working\b|use[sd]?\b|prefer|consider|wonder|like\b|support"
    r"|should|would|have to|possible|thinking)"
)
_ERROR = (
    r"(?:[45]\d\d\b|errors?\b|exceptions?\b|failures?\b|traceback|stack ?trace|undefined\b|NaN\b|null\b|nil\b"
    r"|nothing\b|garbage|blank|empty|time-?outs?|conflicts?\b|panics?\b|not found\b|denied\b|cannot\b|unable to\b"
    r"|no such\b|the wrong \w+)"
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
    r"|frozen|dead|corrupt(?:ed)?|flaky|invalid|out of sync|not in sync|erroring|an? [45]\d\d)"
)
_BREAKS = (
    r"(?:crash(?:es|ed)|hangs|hung|freezes|froze|breaks|broke|fails|failed|flickers|disappear(?:s|ed)|vanish(?:es|ed)"
    r"|loops|leaks|stops|stopped|times out|timed out|errors out|explodes|loses|lost|jumps|overlaps|overflows"
    r"|segfaults|404s|500s)"
)
#: The thing that is spoken of, at the head of a statement.
_THING = (
    r"(?:it|this|that|they|these|those|[\w-]+"
    r"|(?:the|my|our|your|an?|one|some|all)(?: of (?:them|the))?(?: [\w/-]+){1,4}?)"
)
_ITS = rf"^{_THING} (?:now |still |also |just |only |always |often |again |then )*"
#: What there is where something failed; words about how failures are handled are of the design.
_FAULTS = (
    r"(?:(?:errors?|failures?|conflicts?|exceptions?|panics?|regressions?|crash(?:es)?|typos?)\b"
    r"(?! ?-?(?:handl|messag|code|type|class|page|event|log|path|case|state|report|count|rate|budget|or|bound|to|of)\w*"
    r"|\.\w)|(?:bug|issue|problem) (?:in|with|when|where|after|since|here)\b"
    r"|(?:bugs|issues|problems) (?:with|when|since)\b)"
)
_NOT_NONE = r"(?:(?!\b(?:no|not|any|without|to|for|enough|never)\b)[^.?!,;\n])"
#: How a person speaks of what they do or do not get, in a statement that needs no subject.
_IS_NOT_SO = (
    r"(?:working|right|correct|fixed|done|solved|resolved|showing|visible|there|updat(?:ed|ing)|load(?:ed|ing)"
    r"|compil(?:ed|ing)|build(?:ing)?|render(?:ed|ing)|applied|saved|happening|picked up"
    r"|what (?:i|we) \w+)"
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
    rf"\b(?:it|this|that|they|(?:the|my|our|your) [\w -]{{1,40}}?) {_OFTEN}{_BREAKS}\b(?! nothing\b)",
    # It is one thing instead of another.
    (
        rf"\b(?:{_BE}|shows|prints|returns|says|uses|does|gets|got|sends|opens|goes|takes)\b[^.?!\n]{{0,60}}"
        r"\b(?:instead of|rather than|but (?:it )?should|while it should|though it should)\b"
    ),
    r"\b(?:was|were|is|are) supposed to\b",
    # It is not so, or is the same as before.
    rf"(?:^|\b(?:it|this|that|they|these)['\u2019](?:s|re) )(?:still )?not {_IS_NOT_SO}\b",
    r"^(?:does|did|do)(?:n['\u2019]t| not) (?:seem to )?(?:work|help|compile|build|change anything)\b",
    r"^(?:exactly |still )?the same (?:error|issue|problem|failure)\b|^same (?:error|issue|problem|failure)\b",
    r"^no (?:change|difference|luck|effect)\W*$",
    r"\b(?:problem|issue|error|bug|crash|failure)s? (?:still )?(?:persists?|remains?|is back|came back|reappear\w*)\b",
    r"^(?:i|we) (?:can )?still (?:can )?(?:reproduce|reproduced)\b|^(?:i|we) can still reproduce\b",
    # There are errors.
    rf"\bthere(?:['\u2019]s| is| are)\b{_NOT_NONE}{{1,40}}?\b{_FAULTS}",
    (
        r"^(?:i|we)(?:['\u2019](?:m|re|ve)| am| are| have)?(?: just| now| also| again)* "
        rf"(?:have|got|get|getting|see|seeing|hit|found)\b{_NOT_NONE}{{1,40}}?\b{_FAULTS}"
    ),
    rf"^(?:lint(?:ing|er)?|type|compil(?:e|er|ation)|build|test|merge|syntax|runtime) {_FAULTS}",
    r"^(?:got|getting|seeing|hit) (?:an? |this |the same )?(?:\w+ )?(?:error|panic|exception|conflict|[45]\d\d)\b",
    rf"{_ITS}(?:has|have) (?:merge |some |\d+ |lint(?:ing)? |type |new )*(?:conflicts|errors)\b",
    rf"{_ITS}complain(?:s|ed|ing)?\b",
    # Of several, or of a program by its name.
    (
        r"\b(?:all|some|most|many|several|both|one|two|three|\d+)(?: of)?(?: the| our| my)?(?: \w+)? "
        r"(?:checks?|tests?|jobs?|builds?|runs?|hooks?|workflows?|suites?|specs?)\b"
        r"(?: is| are| were| have| has| still| now)* (?:fail(?:s|ed|ing)?|red)\b"
    ),
    (
        rf"(?:{_ITS}|^[\w-]+(?: [\w-]+){{1,2}} )"
        r"(?:fails|failed|crashes|crashed|hangs|hung|times out|timed out|regressed)"
        r"(?=\W*$|[.,;:!]| (?:on|in|at|with|when|while|after|because|for|again|now|here|to|due|since|and|but)\b)"
    ),
    # Once more than it should, or never.
    (
        rf"{_ITS}(?:shows?|is|are|prints?|appears?|runs?|ran|draws?|renders?|calls?|sends?|sent|creates?|created|has|have"
        r"|gets?)\b[^.?!\n]{0,50}\b(?:twice|two times|three times|multiple times)\b(?! (?:an?|per|each|every)\b)"
    ),
    (
        r"\bthere(?:['\u2019]s| is| are) (?:now |still |also )*(?:an? |some |the |\d+ )?"
        r"(?:extra|wrong|stale|broken|duplicated?|left-?over)\b"
    ),
    rf"{_ITS}(?:does|did|do) nothing\b(?! (?:by default|if|unless|on purpose|and)\b)",
    r"^\w+ing (?:[\w-]+ ){1,4}(?:does|did) nothing\b",
    (
        r"(?<=\w )never (?:finishes|stops|ends|loads|starts|returns(?! an error)|completes|appears|updates|gets|happens"
        r"|terminates|exits)\b"
    ),
    (
        rf"{_ITS}keeps? (?:on )?(?:fail|crash|ask|hang|break|loop|flicker|restart|reset|reload|tim|disappear|reappear"
        r"|throw|complain|lock|stall)\w*ing\b"
    ),
    rf"{_ITS}takes? (?:forever|ages)\b",
    r"\b(?:made|makes) (?:it|this|things) (?:even |much )?worse\b",
    r"(?<!is )(?<!are )(?<!be )\bused to work\b|\bworked (?:fine )?(?:before|yesterday|until)\b",
    r"\bworks?\b[^.?!\n]{0,40}\bbut not\b",
    rf"{_ITS}only works\b|\b(?:is|are|was|were) never \w+(?:ed|wn|en)\b|\b(?:has|have|had) no effect\b",
    r"\bgot (?:much |a (?:lot|bit) )?(?:worse|slower)\b",
    r"^\w+ing [^.?!,\n]{1,60}? (?:breaks|crashes|fails|loses|corrupts|hangs)\b(?! no)",
    # The agent, or what it made, did the wrong thing.
    (
        r"^you (?:also |just |accidentally |silently )*(?:removed|deleted|reverted|dropped|undid)"
        r" (?:the|my|our|all|some|it|that|this)\b|^i did(?:n['\u2019]t| not) ask (?:you )?(?:for|to)\b"
    ),
    (
        r"^you(?:['\u2019]ve| have)? (?:just |also |still )?(?:forgot|missed|broke|overwrote|left out)"
        r" (?:to|about|the|an?|one|some|that|this|my|our|it|all|two|\w+\.\w+)\b"
    ),
    (
        r"\b(?:it|this|that|they|you|which|the [\w -]{1,40}?)(?: (?:is|was|were|has|have|had|got|just|now|still|also))*"
        r" (?!should|must|may|might|could|would|will)\w+(?:s|ed|ot|oke|is|['\u2019]s)"
        r" (?:(?:from|in|on|to|at|with|into|for) )?the wrong \w+"
    ),
    r"\b(?:that|this|it)(?:['\u2019]s| is) the wrong \w+",
    r"\bsomething(?:['\u2019]s| is| went| goes| seems) (?:\w+ )?(?:off|wrong|broken|weird|odd)\b",
    r"\b(?:introduced|caused) (?:an?|another|the) (?:\w+ )?(?:bug|regression|failure|error|crash)\b",
)
#: What is against what should be; the "should" of it supposes nothing.
_CONTRASTED = re.compile(
    rf"^{_THING} should(?:n['\u2019]t| not)?\b[^.?!\n]{{1,80}}?,? but (?:now |only |still |instead |actually )*"
    r"(?:it|they|there|this|that|these|i|we|the [\w-]+|nothing|none|no|prints?|shows?|is|are|was|were|does|did|got|gets"
    r"|has)(?=['\u2019 ])"
    r"|^(?:it|this|that|they|the [\w -]{1,40}?) (?:is|are|was|were|only \w+s|\w+s|\w+ed)\b[^.?!\n]{1,80}?,?"
    r" (?:but|when|while) (?:it|they|this|that) should(?: have| be| say| show| print| send| use| return| only| not)?\b"
    r"|^(?:i |we )?(?:would have |had )?expected\b[^.?!\n]{1,80}?\b(?:but|got)\b",
    re.IGNORECASE,
)
_TROUBLE = re.compile("|".join(f"(?:{one})" for one in _TROUBLES), re.IGNORECASE)
#: Who speaks of "the totals" means something that both know.
_OF_WORK = re.compile(
    r"\b(?:after|since) (?:the|this|that|your) (?:last |latest )?(?:change|update|upgrade|commit|merge|edit|fix)\b"
    r"|^(?:the|my|our|all|both|some|half|one of|CI|lint\w*|tests?|builds?|pipelines?|checks?)\b"
    r"|\b(?:it|this|that|they|them|these|those|there|something|everything|nothing|none|nobody|i|we|you|your)"
    r"(?=\b|['\u2019])",
    re.IGNORECASE,
)


def mentions_trouble(text: str) -> bool:
    """Whether any words of trouble occur; asked first, because what was said before takes time to gather."""
    return any(_trouble_in(_statement(one)) is not None for one in sentences_of(text))


def states_trouble(sentence: str, used: frozenset[str]) -> bool:
    """Whether a sentence states that the work is not as it was to be.

    ``used`` are the stems of what the task and the agent said before.
    """
    statement = _statement(sentence)
    found = _trouble_in(statement)
    if found is None or statement.endswith("?"):
        return False
    before = statement[: found.start()]
    # The "should" of what is against it supposes nothing.
    supposed = found.re is not _CONTRASTED and is_supposed(statement, upto=found.end())
    if supposed or _MODAL.search(before) or is_disclaimed(statement, found):
        return False
    if is_denied(statement, found, within=False):
        return False
    # Without a subject ("too slow", "still the same") it is said of what was just done.
    return not before.strip() or _OF_WORK.search(statement) is not None or not used.isdisjoint(stems(statement))


def _statement(sentence: str) -> str:
    """What a sentence states, without its opening, its condition and the question behind it."""
    statement = _CONDITION.sub("", _OPENING.sub("", sentence)).strip()
    asked = _INVERTED.search(statement)
    return statement if asked is None else statement[: asked.start()]


def _trouble_in(statement: str) -> re.Match[str] | None:
    return _CONTRASTED.match(statement) or _TROUBLE.search(statement)
