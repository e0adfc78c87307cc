"""Failures that prose tells of: defects met, checks that failed, claims that proved false.

A word like "error" tells nothing: reports speak of error handling, of tests that must fail, of zero errors. Three
shapes tell of a failure that was met. *Mended*: somebody fixed, resolved or corrected a thing that has a defect's name.
*Found*: somebody found, reproduced or traced something whose predicate is a failure's. *Failed*: a subject with such a
predicate in the past. What is denied, conditional, demanded, expected or a deliberate control is none of them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.predicates import FAILING
from helix_episodes.regex import Regex

if TYPE_CHECKING:
    from collections.abc import Iterator


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One failure as told: the clause that tells it, and its family when the clause names one.

    ``quote`` is the clause as it stands in the log, where something was added to it.
    """

    said: str
    family: str | None = None
    quote: str = ""


_SENTENCE = Regex(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z(`'\"_.0-9])|\n+")
_CLAUSE = Regex(r";\s+")
_DEFECT = (
    r"(?:bugs?|defects?|regressions?|flaws?|crash(?:es)?|leaks?|races?|deadlocks?|vulnerabilit\w+|mismatch(?:es)?|"
    r"violations?|alerts?|off-by-one|false (?:positives?|negatives?|claims?|pass(?:es)?)|fail-opens?|recursion|"
    r"contradictions?|conflicts?|gaps?|holes?|typos?|hangs?|timeouts?|drift|overflow|injection|failures?|"
    r"(?:syntax|type|lint|parse|runtime) errors?)"
)
_MENDS = Regex(
    r"^(?:\W|also |then |and |first |[A-Z]\w* \d[\w.]*: |P\d[-\w]*: )*(fix(?:ed|es)?|resolv(?:ed|e)|repair(?:ed)?|"
    r"correct(?:ed)?|clos(?:ed|e)|clear(?:ed)?|patch(?:ed)?|retract(?:ed)?|address(?:ed)?|"
    r"eliminat(?:ed|e)|(?:implement|appli|land|shipp)ed (?=(?:\S+ ){0,4}?(?:fix|fixes|repair|correction)\b))\b"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
#: Behind these stands how it was mended, not what.
_MEANS = Regex(r"\s(?:by|via|using|through|with (?:an?|the)|instead|rather|not by)\b", re.IGNORECASE)
#: Behind a colon stands what was done with each of the things that were dealt with.
_LISTS = Regex(r"(?<=threads):\s|(?<=comments):\s|(?<=points):\s", re.IGNORECASE)
#: What was mended is told in the past; an order to mend tells of the trouble only where it is the session's task.
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
_NAMED = Regex(
    rf"\b(?:{_DEFECT}|errors?|blockers?|issues? #?\d+|P\d(?: issues? ?#?\d*|(?:-[A-Z\d]+)+)|conflicted \w+|"
    r"(?:missing|empty|stale|broken|incorrect|wrong|invalid|duplicated?|unsafe|dead|flaky|failing|"
    r"dangling) [\w`./-]+)\b",
    re.IGNORECASE,
)
_ISSUE = Regex(r"\bissues? #?\d+", re.IGNORECASE)
#: "Round 1: fixed ... Round 2: fixed ...": each tells of its own.
_COUNTED_OFF = Regex(r"^\W*[A-Z]\w* \d[\w.]*: ")
#: "issue #1" alone says that there was one, not which: what was done to it tells.
_ONLY_NUMBERED = Regex(r"^[^.;]{0,40}\bissues? #?\d+[^.;]{0,40}$", re.IGNORECASE)
_FINDS = Regex(
    r"\b(?:found|discovered|identified|caught|reproduced|detected|exposed|revealed|diagnosed|root-caused|flagged|"
    r"reported|root cause|is (?:critical|real|confirmed|exploitable))\b",
    re.IGNORECASE,
)
#: What somebody or something whose work it is to find faults found is one.
_REVIEWED = Regex(
    r"\b(?:review(?:er)?s?|bots?|linter|scanner|guard|audit|council|gate|hook|ratchet|policy|CI|QA|CodeQL|Copilot|critic|"
    r"advisor|(?:budget|lint|limit|type|smoke|unit|new) (?:test|check))\b"
    r"(?: \S+){0,4}? (?:(?:found|flagged|caught|exposed|identified|spotted|refuted|disproved)|"
    r"(?<=gate )rejected|(?<=hook )rejected|(?<=hook )refused|(?<=gate )refused|(?<=CI )rejected)"
    r" (?!(?:no|nothing|none|zero|0|it|this|them|that)\b)",
    re.IGNORECASE,
)
_REFUTES = Regex(r"\b(?:spotted|refuted|disproved|rejected|refused)\b", re.IGNORECASE)
#: "Protocol violation: ...", "Error found: ...": the sentence itself says what it is.
_LABELLED = Regex(
    r"^\W*(?-i:BLOCKING|BLOCKER|CRITICAL|FINDING|DEFECT|BUG)(?: \d+)?(?: \([^)]*\))?: +(?!(?:none|no|0|n/a)\b)\S|"
    r"^\W*(?!(?:no|zero|the)\b)(?:[A-Za-z]+ ){0,2}(?:violation|defect|bug|failure|error|blocker|regression|problem)"
    r"(?: found| discovered| identified| met)?:\s+(?!(?:none|no|0|n/a)\b)\S",
    re.IGNORECASE,
)
#: "Found one open thread: the parser drops rows": what was handed in stands behind the colon.
_HANDED_IN = Regex(
    r"\b(?:found|identified|raised|reported|flagged) (?:\S+ ){0,3}?(?:thread|comment|finding|concern|problem)s?\b"
    r"[^:.;]{0,60}:\s+(?!#?\d|none\b|no\b)\S",
    re.IGNORECASE,
)
#: Who writes about a failure has not met it by that.
_WRITES = Regex(
    r"^\W*(?:(?:the|this|an?) \w+ )?(?:documented|recorded|described|noted|captured|updated|created|wrote|logged|"
    r"listed|summari[sz]ed|"
    r"established|explained|clarified|mentioned|posted|replied)\b",
    re.IGNORECASE,
)
#: Nouns that say that something was wrong, not what.
_BLANK = Regex(
    r"\b(?:defects?|bugs?|failures?|issues?|gaps?|errors?|problems?|findings?|regressions?|violations?|alerts?|"
    r"found|discovered|identified|caught|reproduced|confirmed|fixed|resolved|reported|flagged|detected|exposed|"
    r"and|the|was|were|been|all|new|real|its|their|this|that|these|for|with|from|locally|again|\d+\w*|"
    r"first|second|third|fourth|fifth|two|three|four|five|six|both|each|every|one|more|another|critical)\b",
    re.IGNORECASE,
)
_WORD = Regex(r"[A-Za-z]{2,}")
#: A clause that has fewer words of its own only counts or points at what another says.
_TELLING_WORDS = 2
#: "Drift warning" is a thing that looks for drift.
_A_DEFECT = Regex(
    rf"\b{_DEFECT}\b(?! (?:warning|check|gate|guard|detector|detection|scan|test|validator|report)s?\b)", re.IGNORECASE
)
#: Where a failure is what was wanted, feared, denied, or done on purpose to see a test fail.
_UNMEANT = Regex(
    r"\b(?:(?:negative|positive) controls?|controls? (?:must|still|stay|fail|pass|turn|prov)\w*|"
    r"control:|ensur\w+|on revert|when reverted|if |unless|should|would|must|will|expected|"
    r"by design|deliberately|"
    r"so that|so \S+(?: \S+){0,4} (?:cannot|can't|does not|is not|carries no)|"
    r"rather than (?:assert|assum|claim|trust|infer|leav)\w*|to (?:prevent|avoid|ensure)|in case|"
    r"whether|verif(?:y|ied) that|no (?:\w+ ){0,2}(?:errors?|failures?|"
    r"regressions?|findings?|issues?|violations?|defects?|gaps?)|zero|0 (?:errors?|failed|failures|new|newly)|without|"
    r"still (?:recover|pass|hold|work|score|parse)s?\b|what (?:the|it|its|each)(?: \w+)? (?:missed|lost|broke)|"
    r"\bI (?:\w+ )?(?:refused|rejected)|an? (?:single|lone) \w+ cannot|"
    r"not an? (?:\w+ )?(?:defect|bug|failure|error|regression)|fails? closed|fail-closed|"
    r"failed: 0|against (?:the )?baseline|reported ok|added|tests? cover|cover(?:s|ing)|"
    r"(?:error|exception) (?:handling|messages?|codes?|paths?))",
    re.IGNORECASE,
)
#: What a program said stands in quotation marks; its "expected" is none of the writer's.
_QUOTED = Regex(r"(?<!\w)(?:'[^']*'+|\"[^\"]*\")(?!\w)")
#: A code that is now given on purpose, or the rule by which it is given.
_RULES_OF_EXIT = Regex(
    r"\bnow (?:exits|returns)\b|"
    r"\b(?:exits|returns) (?:with )?(?:exit )?(?:code |status )?\d+ (?:only )?(?:when|on|for|if)\b",
    re.IGNORECASE,
)
_DENIED = Regex(r"\b(?:no|not|never|zero|0|without) (?:\w+ ){0,2}$", re.IGNORECASE)
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
_CAUSED = Regex(
    r"(?:\bbecause(?! of)|\bcaused by|\bdue to|\bbecause of|\btraced to)\s+(?P<cause>(?:[^.;]|"
    r"\.(?=\S)){12,}?)(?=\.\s|\.$|;|$)|"
    r"\broot cause (?:\w+ ){0,3}?(?:was|is)?(?: \w+)?: +(?P<root>[^.;]{12,}(?:\.(?=\S)[^.;]*)*)",
    re.IGNORECASE,
)
#: "The squash left no parent, so every file conflicted": the first half brought the second about.
_SO = Regex(r"^(?P<cause>[^.;:]{12,}?), (?:so|which is why) (?!that\b|I\b|we\b)(?P<effect>[^.;]{8,})", re.IGNORECASE)
#: Who breaks a thing to see whether a test notices has met no failure.
_ON_PURPOSE = Regex(
    r"\b(?:mutat\w+|flipping|fault[- ]inject\w+|killing)\b|^\W*[a-z]+ing\b.*\bfails?\b|"
    r"\bagainst (?:the )?(?:pre-fix|old|unfixed|original)\b|\bfail(?:s|ed)? (?:before|without) the fix\b",
    re.IGNORECASE,
)
#: A list of clauses beyond this many says "everything is broken", which more events would not make clearer.
_PER_SENTENCE = 3
#: What a text counts off one by one is as many things.
_PER_LIST = 6
#: Fewer words of its own make a heading of a sentence.
_FULL_WORDS = 8
_POINTS_BACK = Regex(r"^(?:it|that|this|both|they|neither|these)\b", re.IGNORECASE)
_NUMBERED = Regex(r"^\([1-9]\) \w")
_HEADS_LIST = Regex(
    r"\b(?:(?:defects|findings|bugs|gaps|failures|problems|flaws|violations|confounds|regressions|causes)\b[^:;]{0,80}|"
    r"confirmed (?:as )?real):\s+(?P<items>[^;]{8,};.{8,})",
    re.IGNORECASE | re.DOTALL,
)
#: A failure of another thing than the one that the paragraph began with.
_ANOTHER = Regex(
    r"\b(?:gate|hook|push|policy|ratchet|build|CI|suite|lint\w*|guard)\b(?: \S+){0,2} "
    r"(?:refused|rejected|blocked|failed)\b|"
    r"\b(?:second|third|another|fourth) (?:\w+ )?(?:defect|bug|failure|problem|false claim)\b|"
    r"^(?:finding|defect|bug|blocker|issue) \d+\b",
    re.IGNORECASE,
)


# A statement is asked on its own, beside its neighbours and as an answer, over the length of an entry.
@lru_cache(maxsize=1024)
def troubles_in(text: str) -> tuple[Trouble, ...]:
    """The failures that the first sentence to tell of any says were met.

    A paragraph that circles one defect names it again and again; what it begins with is what it is about. Only what
    failed elsewhere ("Validate failed at ... Test failed at ...") is another.

    >>> [one.said for one in troubles_in("Unsupported option exited 2; all tests pass afterwards.")]
    ['Unsupported option exited 2']
    >>> troubles_in("Improved error handling; 0 errors, and the control must still fail.")
    ()
    """
    sentences = _sentences(text)
    listed = _listed(sentences)
    if listed:
        return tuple(_trouble(one) for one in listed[:_PER_LIST])
    found: list[Trouble] = []
    for place, sentence in enumerate(sentences):
        told: list[Trouble] = []
        if not found:
            told = [_in_full(clause, sentences, place) for clause in _clauses(sentence) if _tells(clause)]
        elif (_FAILED_AT.search(sentence) or _ANOTHER.search(sentence)) and _tells(sentence):
            told = [_in_full(sentence, sentences, place)]
        if told and not _ON_PURPOSE.search(sentence):
            found += told
    return tuple(found[:_PER_SENTENCE])


def _listed(sentences: tuple[str, ...]) -> list[str]:
    """The faults that a text counts off, behind the words that say that it met them."""
    for place, sentence in enumerate(sentences):
        head = _HEADS_LIST.search(sentence)
        if head and not _UNMEANT.search(sentence[: head.start("items")]) and _MENDS.match(sentence) is None:
            return [
                one for one in map(str.strip, _CLAUSE.split(head["items"])) if not _UNMEANT.search(_QUOTED.sub("", one))
            ]
        numbered = [one for one in sentences[place + 1 :] if _NUMBERED.match(one)]
        if len(numbered) > 1 and _FINDS.search(sentence):
            return numbered
    return []


def _in_full(clause: str, sentences: tuple[str, ...], place: int) -> Trouble:
    """A failure with the sentence that says which it was, where its own only says that there was one.

    "Found the cause of the crash." heads what follows; "Both were stale." ends what came before.
    """
    before, after = sentences[place - 1] if place else "", sentences[place + 1] if place + 1 < len(sentences) else ""
    if before and _POINTS_BACK.match(clause):
        return msgspec.structs.replace(_trouble(f"{before} {clause}"), quote=clause)
    thin = clause.endswith(".") and len(_WORD.findall(_BLANK.sub(" ", clause))) < _FULL_WORDS
    if not thin or not after or _tells(after) or changes(after):
        return _trouble(clause)
    return msgspec.structs.replace(_trouble(f"{clause} {after}"), quote=clause)


def asked_to_mend(task: str) -> tuple[Trouble, ...]:
    """The trouble that a task orders to be mended.

    >>> asked_to_mend("Fix the upload timeout (#12)")[0].said
    'Fix the upload timeout (#12)'
    >>> asked_to_mend("Add an upload"), asked_to_mend("Resolve issue #12: add an upload")
    ((), ())
    """
    first = next(_clauses(task), "")
    match = _ORDERS.match(first)
    if match is None or _NAMED.search(_ISSUE.sub("", first[match.end() :])) is None:
        return ()
    return (_trouble(first),)


@lru_cache(maxsize=1024)
def mended_in(text: str, *, found: str = "") -> tuple[Trouble, ...]:
    """The trouble that a statement says was mended; ``found`` tells which, where it has only a number.

    >>> mended_in("Fixed off-by-one error in pagination")[0].said
    'Fixed off-by-one error in pagination'
    >>> mended_in("Fixed critical issue #1", found="Restored the file mode")[0].said
    'Fixed critical issue #1: Restored the file mode'
    >>> mended_in("Added error handling")
    ()
    """
    first, *others = [*_clauses(text)] or [""]
    counted = [one for one in others if _COUNTED_OFF.match(one)] if _COUNTED_OFF.match(first) else []
    return tuple(trouble for one in (first, *counted) for trouble in _mended(one, found=found))


def _mended(first: str, *, found: str) -> tuple[Trouble, ...]:
    """The trouble that one clause says was mended."""
    match = _MENDS.match(first)
    if match is None or _ORDERS.match(first):
        return ()
    what = _LISTS.split(_MEANS.split(match["rest"])[0])[0]
    name = _NAMED.search(what)
    if name is None or _UNMEANT.search(what[: name.end() + 12].partition("(")[0]):
        return ()
    said = f"{first}: {found}" if found and _ONLY_NUMBERED.match(first) else first
    return (msgspec.structs.replace(_trouble(said), quote=first),)


def mends(text: str) -> bool:
    """Whether a statement says that something was mended.

    >>> mends("Fixed the export"), mends("Fix the export next"), mends("Ran the export")
    (True, False, False)
    """
    return _MENDS.match(text) is not None and _ORDERS.match(text) is None


def changes(text: str) -> bool:
    """Whether a statement says that the work was changed, and not only looked at or run.

    >>> changes("Replaced the parser"), changes("Ran the parser")
    (True, False)
    """
    return _CHANGED.match(text) is not None or mends(text)


def cause_in(said: str) -> str:
    """What a clause calls the cause of the failure that it tells, or nothing.

    >>> cause_in("The upload failed because the token had expired."), cause_in("The upload failed")
    ('the token had expired', '')
    """
    match = _CAUSED.search(said)
    if match:
        return (match["cause"] or match["root"]).strip()
    so = _SO.match(said)
    return so["cause"].strip() if so and FAILING.search(so["effect"]) else ""


@lru_cache(maxsize=1024)
def _sentences(text: str) -> tuple[str, ...]:
    """A statement is asked for what failed and for what was mended, one after the other."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())


def _clauses(text: str) -> Iterator[str]:
    return (part.strip() for sentence in _sentences(text) for part in _CLAUSE.split(sentence) if part.strip())


@lru_cache(maxsize=1024)
def _tells(clause: str) -> bool:
    told = (
        _fails(clause)
        or _CAUGHT.match(clause)
        or _LABELLED.match(clause)
        or _HANDED_IN.search(clause)
        or _is_found(clause)
    )
    return bool(told) and not _UNMEANT.search(_QUOTED.sub("", clause)) and not _WRITES.match(clause)


def _fails(clause: str) -> bool:
    """Whether a clause has a failure's predicate; what begins with it, the agent did itself."""
    predicate = FAILING.search(clause)
    if predicate is None or len(_WORD.findall(clause)) < _CLAUSE_WORDS or _RULES_OF_EXIT.search(clause):
        return False
    return predicate.start() > 0 or clause[0].isdigit()


def _is_found(clause: str) -> bool:
    """Whether a clause says that somebody found a fault, and which."""
    if _FINDS.search(clause) is None and _REFUTES.search(clause) is None:
        return False
    return (_REVIEWED.search(clause) is not None or _finds_defect(clause)) and _says_what(clause)


def _finds_defect(clause: str) -> bool:
    defect = _A_DEFECT.search(clause)
    return defect is not None and _FINDS.search(clause) is not None and not _DENIED.search(clause[: defect.start()])


def _says_what(clause: str) -> bool:
    """Whether a clause says what was wrong, not only that something was."""
    return len(_WORD.findall(_BLANK.sub(" ", clause))) >= _TELLING_WORDS


def _trouble(said: str) -> Trouble:
    return Trouble(said=said, family=next((name for name, pattern in _FAMILIES if pattern.search(said)), None))
