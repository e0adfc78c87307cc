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

from helix_episodes.extraction.prose.sentences import (
    ends_in_denial,
    finds_nothing,
    is_on_purpose,
    is_rule_of_exit,
    negates_failure,
)
from helix_episodes.fast_loading import Regex

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Verbs that fail by themselves, in the past and with a subject: "to fail", "a failed run" and "failed closed" do not.
_FAILED = (
    r"(?<!to )(?<!will )(?<!would )(?<!must )(?<!an )(?<!a )(?<!the )(?<!/)(?:failed(?! clos)|"
    r"crashed|broke|hung|timed out|conflicted|mistook|fails? to [a-z]+|errors? with|"
    r"regressed|errored|threw|refused|(?:exited|exits|returned|returns|ended with|"
    r"died with) (?:with )?(?:exit )?(?:code |status )?[1-9]\b|"
    r"blocked (?:at|on|by|the|because)|collided|flipped|misread (?:an?|the|it|its|as)|mislabel\w+|"
    r"misclassif\w+|overstated (?:the|an?|its|how|by)|"
    r"evad(?:es|ed)|slip(?:s|ped) (?:through|past)|aborted|zeroed|leaked|double-count(?:s|ed)|"
    r"(?:raises|raised) (?:an? )?(?-i:[A-Z]\w*(?:Error|Exception))|(?:returned|matched) (?:0|zero|none) of|"
    r"rejected (?:the|a|with|four|valid)|contradicted|disagreed?|undercount(?:s|ed)|overcount(?:s|ed)|drifted|"
    r"destroyed|fabricates|been (?:\w+ )?rejected)"
)
_IS_BAD = (
    r"(?:is|was|were|are|been|became|stayed|being|be|proved|pinned at) (?:\w+ ){0,2}?(?:wrong|false|broken|missing|"
    r"stale|absent|unavailable|incorrect|invalid|incomplete|undocumented|unreachable|inert|masked|"
    r"vacuous|dead|untested|unconstrained|misleading|nonexistent|disproven|unknown|inverted|half wrong|out of date|"
    r"swallowed|lost|truncated|backwards|inaccurate|vulnerable|null|permanently false|"
    r"circular|uncheckable|unmeasurable|inconsistent|omitted|conflated|triplicated|too broad|not reachable|"
    r"not (?:configured|registered|set|available|addressed|met|tested|verified|updated))"
)
_DOES_NOT = (
    r"(?:did not|does not|do not|could not|cannot|can't|couldn't|never) (?:\w+ )?(?:catch|exist|run|ran|work|match|"
    r"reach\w*|survive|find|see|read|load|parse|support|check|surface\w*|handle|fire|measure|pass|resolve|cover|"
    r"prevent|stop|block|enforce|detect|validate|propagate|persist|recogni[sz]e|understand|update|write|emit|produce|"
    r"return|trigger|include|contain|apply|compile|start|build|land|succeed|complete|survive|hold|update)(?:e?s)?"
)
_HIDES = (
    r"(?:ignored|swallowed|masked|silently (?:\w+ed|\w+ing|fell|lost)|fell through|"
    r"fabricated (?:an?|the|its)|misses|missed|"
    r"unavailable because|unavailable$|codified|only documents?|hides?|hid|inverting|went blind|"
    r"not (?:available|found|registered|installed)$|not (?:yet )?(?:implemented|enforced|wired|emitted|honou?red)|"
    r"still (?:let|lets|fires?|fail(?:s|ed)?|passes))"
)
_LACKS = (
    r"(?:passed (?:with the \w+ reverted|with the (?:bug|defect)|despite|clean\b|vacuously)|"
    r"(?:imports?|calls?|runs?|ships?|emits?|loads?) \S.{0,60}? with no \S+ \w+|carr(?:y|ies|ied) (?:no|zero|an empty)|"
    r"no (?:\w+ ){1,2}(?:measures|checks|covers|tests|guards|catches|validates|enforces|reads|could \w+|can \w+)|"
    r"for the wrong reasons?|but only|(?:an? |zero-|empty )(?:empty )?diff\b)"
)
#: What is let in or let out and should not be, what breaks a rule or a limit, and what is gone.
_BREAKS = (
    r"(?:(?:accept|allow|permit|render|report|return|produce|show|emit|let|admit)(?:s|ed)? (?:an? |the |any |all )?"
    r"(?:out-of-range|invalid|malformed|wrong|stale|unsafe|untrusted|impossible|incorrect|unvalidated|duplicate|"
    r"misleading)|violat(?:es|ed) (?:an?|the|its|our|\w+ \w+)|contradict(?:s|ed|ing) (?:an?|the|its|each|both)|"
    r"lack(?:s|ed) (?:an?|the|any|\w+ \w+)|exceed(?:s|ed) (?:the|its)|breach(?:es|ed) (?:the|its)|"
    r"no longer (?:exist|work|emit|accept|match|resolve|compile|build|parse|load)(?:e?s)?|"
    r"(?:throws?|(?<!-)caus(?:es|ed|ing)) (?:an? |the |\d+ )?(?:[\w-]+ ){0,2}"
    r"(?:errors?|exceptions?|failures?|crash(?:es)?))"
)
_COUNTED = r"(?<!0 )(?<!zero )(?<!no )[1-9]\d* (?:tests? )?(?:failed|failing|failures?)"
#: "517 lines against the 500-line limit": a measure and its limit.
_OVER = (
    r"\d[\d,.]*k? (?:[\w-]+ ){0,2}against (?:an?|the|its) (?:[\w-]+ ){0,3}"
    r"(?:limit|ceiling|budget|cap|maximum|threshold)"
)
FAILING = Regex(
    rf"\b(?:{_FAILED}|{_IS_BAD}|{_DOES_NOT}|{_HIDES}|{_LACKS}|{_BREAKS}|{_COUNTED}|{_OVER})\b", re.IGNORECASE
)


_CAUSED = Regex(
    r"(?:\bbecause(?! of)|\bcaused by|\bdue to|\bbecause of|\btraced to)\s+(?P<cause>(?:[^.;]|"
    r"\.(?=\S)){12,}?)(?=\.\s|\.$|;|$)|"
    r"\broot cause (?:\w+ ){0,3}?(?:was|is)?(?: \w+)?: +(?P<root>[^.;]{12,}(?:\.(?=\S)[^.;]*)*)",
    re.IGNORECASE,
)
#: "The squash left no parent, so every file conflicted": the first half brought the second about.
_SO = Regex(r"^(?P<cause>[^.;:]{12,}?), (?:so|which is why) (?!that\b|I\b|we\b)(?P<effect>[^.;]{8,})", re.IGNORECASE)


def cause_in(statement: str) -> str:
    """What a clause calls the cause of the failure that it reports, or nothing.

    >>> cause_in("The upload failed because the token had expired."), cause_in("The upload failed")
    ('the token had expired', '')
    """
    match = _CAUSED.search(statement)
    if match:
        return (match["cause"] or match["root"]).strip()
    so = _SO.match(statement)
    return so["cause"].strip() if so and FAILING.search(so["effect"]) else ""


class StatedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """One failure as reported: the clause that reports it, and its family when the clause names one.

    ``quote`` is the clause as in the log, where something was added to it.
    """

    statement: str
    family: str | None = None
    quote: str = ""


_SENTENCE = Regex(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z(`'\"_.0-9]|[a-z]\w*[._]\w)|\n+")
_CLAUSE = Regex(r";\s+")
_DEFECT = (
    r"(?:bugs?|defects?|regressions?|flaws?|crash(?:es)?|leaks?|races?|deadlocks?|vulnerabilit\w+|mismatch(?:es)?|"
    r"violations?|alerts?|off-by-one|false (?:positives?|negatives?|claims?|pass(?:es)?)|fail-opens?|recursion|"
    r"contradictions?|conflicts?|gaps?|holes?|typos?|hangs?|timeouts?|drift|overflow|injection|failures?|"
    r"(?:syntax|type|lint|parse|runtime) errors?)"
)
_FIXES = Regex(
    r"^(?:\W|also |then |and |first |[A-Z]\w* \d[\w.]*: |P\d[-\w]*: )*(fix(?:ed|es)?|resolv(?:ed|e)|repair(?:ed)?|"
    r"correct(?:ed)?|clos(?:ed|e)|clear(?:ed)?|patch(?:ed)?|retract(?:ed)?|address(?:ed)?|"
    r"eliminat(?:ed|e)|(?:implement|appli|land|shipp)ed (?=(?:\S+ ){0,4}?(?:fix|fixes|repair|correction)\b))\b"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
#: After these comes how it was fixed, not what.
_MEANS = Regex(r"\s(?:by|via|using|through|with (?:an?|the)|instead|rather|not by)\b", re.IGNORECASE)
#: After a colon comes what was done with each of the things that were dealt with.
_LISTS = Regex(r"(?<=threads):\s|(?<=comments):\s|(?<=points):\s", re.IGNORECASE)
#: What was fixed is reported in the past; an order to fix reports the failure only where it is the session's task.
_ORDERS = Regex(
    r"^(?:\W|[A-Z]\w* \d[\w.]*: )*(?:fix|resolve|repair|correct|close|clear|patch|address|eliminate)\b", re.IGNORECASE
)
_CHANGED = Regex(
    r"^(?:\W|also |then |[A-Z]\w* \d[\w.]*: )*(?:added|allowed|changed|cleared|converted|deleted|"
    r"disabled|dropped|enabled|"
    r"extended|extracted|guarded|hardened|migrated|moved|narrowed|patched|pinned|reimplemented|"
    r"removed|renamed|reordered|"
    r"replaced|restored|restricted|reverted|rewrote|rewritten|split|switched|tightened|updated|used|widened|wrapped)\b",
    re.IGNORECASE,
)
#: What the agent did: a verb in the past without a subject.
_DEED = Regex(
    r"^(?:Also |Then )?(?!Need|Failed|Crashed|Expected|Unexpected)"
    r"(?:[A-Z][a-z-]+ed|Rewrote|Made|Took|Built|Kept|Left|Put|Set|Cut|Ran|Gave|Shrank)\b"
)
_NAMED = Regex(
    rf"\b(?:{_DEFECT}|errors?|blockers?|issues? #?\d+|P\d(?: issues? ?#?\d*|(?:-[A-Z\d]+)+)|conflicted \w+|"
    r"(?:missing|empty|stale|broken|incorrect|wrong|invalid|duplicated?|unsafe|dead|flaky|failing|"
    r"dangling) [\w`./-]+)\b",
    re.IGNORECASE,
)
_ISSUE = Regex(r"\bissues? #?\d+", re.IGNORECASE)
#: "Round 1: fixed ... Round 2: fixed ...": each reports its own.
_COUNTED_OFF = Regex(r"^\W*[A-Z]\w* \d[\w.]*: ")
#: "issue #1" alone says that there was one, not which: what was done to it says so.
_ONLY_NUMBERED = Regex(r"^[^.;]{0,40}\bissues? #?\d+[^.;]{0,40}$", re.IGNORECASE)
_FINDS = Regex(
    r"\b(?:found|discovered|identified|caught|reproduced|detected|exposed|revealed|diagnosed|root-caused|flagged|"
    r"reported|root cause|is (?:critical|real|confirmed|exploitable))\b",
    re.IGNORECASE,
)
#: A finding of someone or something whose work it is to find faults.
_REVIEWED = Regex(
    r"\b(?:review(?:er)?s?|bots?|linter|scanner|guard|audit|council|gate|hook|ratchet|policy|CI|QA|CodeQL|Copilot|critic|"
    r"advisor|(?:budget|lint|limit|type|smoke|unit|new) (?:test|check))\b"
    r"(?: \S+){0,4}? (?:(?:found|flagged|caught|exposed|identified|spotted|refuted|disproved)|"
    r"(?<=gate )rejected|(?<=hook )rejected|(?<=hook )refused|(?<=gate )refused|(?<=CI )rejected)"
    r" (?!(?:no|nothing|none|zero|0|them|that)\b|(?:it|this)\b(?!(?: \w+)? \w+ing\b))",
    re.IGNORECASE,
)
_REFUTES = Regex(r"\b(?:spotted|refuted|disproved|rejected|refused)\b", re.IGNORECASE)
#: "Protocol violation: ...", "Error found: ...": the sentence itself says what it is.
_LABELLED = Regex(
    r"^\W*(?-i:BLOCKING|BLOCKER|CRITICAL|FINDING|DEFECT|BUG)(?: \([^)]*\))?: +(?!(?:none|no|0|n/a)\b)\S|"
    r"^\W*(?!(?:no|zero|the)\b)(?:[A-Za-z]+ ){0,2}(?:violation|defect|bug|failure|error|blocker|regression|problem)"
    r"(?: found| discovered| identified| met| on (?:my|our|its) (?:part|side)| worth \w+)?:\s+"
    r"(?!(?:none|no|0|n/a)\b)\S",
    re.IGNORECASE,
)
#: "Finding 2: ...": a numbered finding is one, whatever its words suppose.
_NUMBERED_LABEL = Regex(
    r"^\W*(?:blocking|blocker|critical|finding|defect|bug) \d+(?: \([^)]*\))?(?::|, (?:an?|the)\b) +"
    r"(?!(?:none|no|0|n/a|an? accepted)\b)\S",
    re.IGNORECASE,
)
#: "Found one open thread: the parser drops rows": what was handed in follows the colon.
_HANDED_IN = Regex(
    r"\b(?:found|identified|raised|reported|flagged) (?:\S+ ){0,3}?(?:thread|comment|finding|concern|problem)s?\b"
    r"[^:.;]{0,60}:\s+(?!#?\d|none\b|no\b)\S|\breproduced (?:it|both|all|each|them)\b[^:.;]{0,40}:\s+(?!none\b|no\b)\S",
    re.IGNORECASE,
)
#: Writing about a failure does not mean that it occurred.
_WRITES = Regex(
    r"^\W*(?:(?:the|this|an?) \w+ )?(?:documented|recorded|described|noted|captured|updated|created|wrote|logged|"
    r"listed|summari[sz]ed|established|explained|clarified|mentioned|posted|replied)\b",
    re.IGNORECASE,
)
#: Nouns that say that something was wrong, not what.
_BLANK = Regex(
    r"\b(?:defects?|bugs?|failures?|issues?|gaps?|errors?|problems?|findings?|regressions?|violations?|alerts?|"
    r"found|discovered|identified|caught|reproduced|confirmed|fixed|resolved|reported|flagged|detected|exposed|"
    r"and|the|was|were|been|all|new|real|its|their|this|that|these|for|with|from|locally|again|\d+\w*|"
    r"described|verified|still|exists?|remains?|"
    r"first|second|third|fourth|fifth|two|three|four|five|six|both|each|every|one|more|another|critical)\b",
    re.IGNORECASE,
)
_WORD = Regex(r"[A-Za-z]{2,}")
#: A clause that has fewer words of its own only counts or points at what another says.
_TELLING_WORDS = 2
#: "Drift warning" is a thing that looks for drift.
_A_DEFECT = Regex(
    rf"\b(?:{_DEFECT}|(?:outdated|stale|broken|misleading|incorrect|wrong|false|dangling|contradictory|dead|unused) "
    rf"[a-z][\w./-]+)\b(?! (?:warning|check|gate|guard|detector|detection|scan|test|validator|report)s?\b)",
    re.IGNORECASE,
)
#: Families that prose names as a program would; else the clause itself is all there is.
_FAMILIES: tuple[tuple[str, Regex], ...] = (
    ("timeout", Regex(r"\btim(?:ed|es|e)[ -]?out", re.IGNORECASE)),
    ("not available", Regex(r"\b(?:unavailable|not available|not registered)\b", re.IGNORECASE)),
    ("merge conflict", Regex(r"\bmerge conflicts?\b", re.IGNORECASE)),
    ("false positive", Regex(r"\bfalse positives?\b", re.IGNORECASE)),
    ("race condition", Regex(r"\brace\b", re.IGNORECASE)),
    ("injection", Regex(r"\binjection\b", re.IGNORECASE)),
    ("syntax error", Regex(r"\bsyntax errors?\b", re.IGNORECASE)),
    ("stale", Regex(r"\bstale\b", re.IGNORECASE)),
    ("missing", Regex(r"\bmissing\b", re.IGNORECASE)),
)
#: "Caught a rounding error": what was met, before or after it did harm.
_CAUGHT = Regex(
    r"^\W*(?:caught|found|discovered|spotted|hit|noticed) (?:an?|one|two|three|\d+|another|the) (?:[\w-]+ ){0,4}"
    r"(?:errors?|mistakes?|problems?|conflicts?|inconsistenc\w+)\b",
    re.IGNORECASE,
)
#: A failure of another check or command than the one that the paragraph began with.
_FAILED_AT = Regex(r"\b(?:failed|crashed|timed out|errored) (?:at|on|with|in|because|when|after)\b", re.IGNORECASE)
#: A label of two words ("Commands missed") states nothing.
_CLAUSE_WORDS = 3
#: A list of clauses beyond this many says "everything is broken", which more events would not make clearer.
_PER_SENTENCE = 3
#: What a text counts off one by one is as many things.
_PER_LIST = 6
#: Fewer words of its own make a heading of a sentence.
_FULL_WORDS = 8
#: "Found two bugs in the export." is explained by the sentences that follow.
_COUNTS = Regex(
    r"\b(?:two|three|four|five|six|several|[2-9]) (?:[\w-]+ ){0,4}(?:bugs|defects|findings|flaws|problems|gaps|"
    r"failures|errors|claims|issues|regressions|causes|violations)\b",
    re.IGNORECASE,
)
#: ... and a name or two at most a mere pointer.
_HEAD_WORDS = 4
_OF_TESTS = Regex(r"\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?)\b", re.IGNORECASE)
_POINTS_BACK = Regex(
    r"^(?:it|that|this|both|they|neither|these|the (?:two|three|four|first|second|former|latter)|"
    r"reproduced as|confirmed as)\b",
    re.IGNORECASE,
)
_NUMBERED = Regex(r"^\([1-9]\) \w")
_HEADS_LIST = Regex(
    r"\b(?:(?:defects|findings|bugs|gaps|failures|problems|flaws|violations|confounds|regressions|causes)\b[^:;]{0,80}|"
    r"confirmed (?:as )?real|reproduced (?:it|both|all|each|them)\b[^:;.]{0,40}):\s+(?P<items>[^;]{8,};.{8,})",
    re.IGNORECASE | re.DOTALL,
)
#: A failure of another thing than the one that the paragraph began with.
_ANOTHER = Regex(
    r"\b(?:gate|hook|push|policy|ratchet|build|CI|suite|lint\w*|guard)\b(?: \S+){0,2} "
    r"(?:refused|rejected|blocked|failed)\b|"
    r"\b(?:second|third|another|fourth) (?:\w+ )?(?:defect|bug|failure|problem|false claim)\b|"
    r"^(?:finding|defect|bug|blocker|blocking|issue) \d+\b|^(?:one|two|three|the)? ?(?:others?|another|blocking): ",
    re.IGNORECASE,
)


# A statement is examined on its own, with its neighbours and as an answer, over the length of an entry.
@lru_cache(maxsize=1024)
def failures_in(text: str) -> tuple[StatedFailure, ...]:
    """The failures that the first sentence to report any says occurred.

    A paragraph that circles one defect names it again and again; what it begins with is what it is about. Another is
    only what failed elsewhere ("Validate failed at ... Test failed at ..."), what fails after a repair, and each item
    behind a sentence that counts them ("Found two bugs.").

    >>> [one.statement for one in failures_in("Unsupported option exited 2; all tests pass afterwards.")]
    ['Unsupported option exited 2']
    >>> failures_in("Improved error handling; 0 errors, and the control must still fail.")
    ()
    """
    sentences = _sentences(text)
    listed = _listed(sentences)
    if listed:
        return tuple(_stated_failure(one) for one in listed[:_PER_LIST])
    found: list[StatedFailure] = []
    changed = counted = listing = False
    for place, sentence in enumerate(sentences):
        reported: list[StatedFailure] = []
        changed, listing = changed or is_change(sentence), listing and not is_change(sentence)
        if not found or counted or listing or (changed and not is_change(sentence)):
            reported = [_in_full(clause, sentences, place) for clause in _clauses(sentence) if _reports_failure(clause)]
        elif (_FAILED_AT.search(sentence) or _ANOTHER.search(sentence)) and _reports_failure(sentence):
            reported = [_in_full(sentence, sentences, place)]
        if reported and not is_on_purpose(sentence):
            found, listing = reported if counted else [*found, *reported], listing or counted
            # Does it only say how many faults there were? How many tests failed is a failure itself.
            statement = [one.quote or one.statement for one in found]
            only_counts = all(_COUNTS.search(one) and not _OF_TESTS.search(one) for one in statement)
            changed, counted = False, not listing and only_counts
    return tuple(found[:_PER_SENTENCE])


def _listed(sentences: tuple[str, ...]) -> list[str]:
    """The faults that a text counts off, after the words that say that they occurred."""
    for place, sentence in enumerate(sentences):
        head = _HEADS_LIST.search(sentence)
        if head and not negates_failure(sentence[: head.start("items")]) and _FIXES.match(sentence) is None:
            return [one for one in map(str.strip, _CLAUSE.split(head["items"])) if not negates_failure(one)]
        numbered = [one for one in sentences[place + 1 :] if _NUMBERED.match(one)]
        if len(numbered) > 1 and _FINDS.search(sentence):
            return numbered
    return []


def _in_full(clause: str, sentences: tuple[str, ...], place: int) -> StatedFailure:
    """A failure with the sentence that says which it was, where its own only says that there was one.

    "Found the cause of the crash." heads what follows; "Both were stale." ends what came before.
    """
    before, after = sentences[place - 1] if place else "", sentences[place + 1] if place + 1 < len(sentences) else ""
    if before and _POINTS_BACK.match(clause):
        return _stated_failure(f"{before} {clause}", quote=clause)
    if not _heads(clause) or not after or _is_apart(after) or (_fails(clause) and _reports_failure(after)):
        return _stated_failure(clause)
    return _stated_failure(f"{clause} {after}", quote=clause)


def _heads(clause: str) -> bool:
    """Whether a sentence has so few words of its own that the next may have to say what it is about."""
    return clause.endswith(".") and _own_words(clause) < _FULL_WORDS


def _is_apart(sentence: str) -> bool:
    """Whether a sentence reports a deed or a finding of its own, and so nothing about the failure before it."""
    return bool(is_change(sentence) or _DEED.match(sentence) or _NUMBERED_LABEL.match(sentence))


def requested_fixes(task: str) -> tuple[StatedFailure, ...]:
    """The failure that a task asks to fix.

    >>> requested_fixes("Fix the upload timeout (#12)")[0].statement
    'Fix the upload timeout (#12)'
    >>> requested_fixes("Add an upload"), requested_fixes("Resolve issue #12: add an upload")
    ((), ())
    """
    first = next(_clauses(task), "")
    match = _ORDERS.match(first)
    if match is None or _NAMED.search(_ISSUE.sub("", first[match.end() :])) is None:
        return ()
    return (_stated_failure(first),)


@lru_cache(maxsize=1024)
def fixes_in(text: str, *, found: str = "") -> tuple[StatedFailure, ...]:
    """The failures that a statement says were fixed; ``found`` says which, where it has only a number.

    >>> fixes_in("Fixed off-by-one error in pagination")[0].statement
    'Fixed off-by-one error in pagination'
    >>> fixes_in("Fixed critical issue #1", found="Restored the file mode")[0].statement
    'Fixed critical issue #1: Restored the file mode'
    >>> fixes_in("Added error handling")
    ()
    """
    first, *others = [*_clauses(text)] or [""]
    counted = [one for one in others if _COUNTED_OFF.match(one)] if _COUNTED_OFF.match(first) else []
    counted = counted or ([one for one in others if is_fix(one)] if is_fix(first) else [])
    behind = dict(pairwise(_sentences(text)))
    fixed = (_fix_in_clause(one, found=found, after=behind.get(one, "")) for one in (first, *counted))
    return tuple(filter(None, fixed))


def _fix_in_clause(first: str, *, found: str, after: str) -> StatedFailure | None:
    """The failure that one clause says was fixed."""
    match = _FIXES.match(first)
    if match is None or _ORDERS.match(first):
        return None
    what = _LISTS.split(_MEANS.split(match["rest"])[0])[0]
    name = _NAMED.search(what)
    if name is None or negates_failure(what[: name.end() + 12].partition("(")[0]):
        return None
    statement = f"{first}: {found}" if found and _ONLY_NUMBERED.match(first) else first
    if _heads(first) and after and not _is_apart(after):
        statement = f"{first} {after}"
    return _stated_failure(statement, quote=first)


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
    return _FIXES.match(text) is not None and _ORDERS.match(text) is None


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
    if _NUMBERED_LABEL.match(clause):
        return True
    caught = _REVIEWED.search(clause)
    named = _fails(clause) or _CAUGHT.match(clause) or _LABELLED.match(clause) or _HANDED_IN.search(clause)
    if not (named or _finds_fault(clause, caught)) or _WRITES.match(clause):
        return False
    # Of what someone caught, what it is about does not say that it is only wanted or feared.
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
    finds = _FINDS.search(clause)
    if not (finds or _REFUTES.search(clause)) or _own_words(clause) < _TELLING_WORDS:
        return False
    defect = _A_DEFECT.search(clause) if finds else None
    return caught is not None or (defect is not None and not ends_in_denial(clause[: defect.start()]))


def _stated_failure(statement: str, *, quote: str = "") -> StatedFailure:
    family = next((name for name, pattern in _FAMILIES if pattern.search(statement)), None)
    return StatedFailure(statement=statement, family=family, quote=quote)
