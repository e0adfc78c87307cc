"""Negation: where words name a failure and report none.

The failure is wanted, feared, denied, quoted, talked of elsewhere, taken back after, or provoked on purpose to see a
test fail.

>>> negates_failure("the upload must fail"), negates_failure("the program said 'must fail' and failed")
(True, False)
"""

from __future__ import annotations

import re

from helix_episodes.lightweight import Regex

_BREAK = re.compile(r"[,;:]\s| [-\u2013\u2014] |\b(?:and|but|because|since|so|which|though|although)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:not|never|cannot|nothing|none|nobody|neither|nor|without|hardly|zero|no longer|used to|doubt)\b"
    r"|n['\u2019]t\b|\bno (?!(?:you|it|this|that|the|they|there|i|we|still)\b)\w",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(
    r"\b(?:explain|describe|document|understand|discuss|summari[sz]e|elaborate|walk me through)\w*\b"
    r"|\b(?:said|told|wrote|claimed|mentioned|asked)\b"
    r"|\b(?:pretend|imagine|suppose|assume|simulate|reproduce|make)\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:another|other|previous|last|earlier|different) (?:session|chat|conversation|thread|project)\b", re.IGNORECASE
)
#: "a test that fails" is one to be written or found; "I think that it fails" says so.
_RELATIVE = re.compile(
    r"(?:which|where|who|that)(?: still| now)* (?!(?:is|was|still|now)\b)\w+(?:s|ed|ing)\b", re.IGNORECASE
)
_RELATING = re.compile(r"\b(?:which(?! means)|where|whose)(?: \w+){0,2}\s+$", re.IGNORECASE)
_NOUN_BEFORE = re.compile(
    r"\b(?!(?:and|but|so|because|though|now|still|also|then|no|yes|thanks|see|think|believe)\b)\w+\s+$", re.IGNORECASE
)
_TAKEN_BACK = re.compile(
    r"\b(?:but|and|though)\b[^.?!]{0,30}\b(?:works?|working|passe?s?|fixed|fine|gone|solved|resolved|ok(?:ay)?)\b"
    r"|\b(?:but|though)\b[^.?!]{0,30}\b(?:expected|unrelated|never mind|not important|my fault)\b"
    r"|^[^.?!]{0,60}[,;(] ?(?:which|that|this|it)(?:['\u2019]s| is) (?:expected|fine|ok(?:ay)?|on purpose)\b",
    re.IGNORECASE,
)


def is_doubtful(sentence: str, found: re.Match[str]) -> bool:
    """Whether a report of what is seen is denied, not meant so, or only qualifies a thing that is talked about."""
    return is_denied(sentence, found) or is_disclaimed(sentence, found) or _is_relative(sentence, found)


def _is_relative(sentence: str, found: re.Match[str]) -> bool:
    before = sentence[: found.start()]
    if _RELATING.search(before):
        return True
    inside = _RELATIVE.search(found[0])
    return inside is not None and bool(inside.start() or _NOUN_BEFORE.search(before))


def is_denied(sentence: str, found: re.Match[str], *, within: bool = True) -> bool:
    """Whether what was found is denied in its own clause; with ``within``, also in the found words.

    >>> words = "I don't think that is wrong"
    >>> is_denied(words, re.search("that is wrong", words))
    True
    """
    clause = _BREAK.split(sentence[: found.start()])[-1]
    return bool(_DENIAL.search(clause) or (within and _DENIAL.search(_BREAK.split(found[0])[-1])))


def is_disclaimed(sentence: str, found: re.Match[str]) -> bool:
    """Whether the words are quoted, reported from elsewhere, asked to be explained, or taken back after them."""
    before = sentence[: found.start()]
    quoted = any(before.count(mark) % 2 for mark in '"`') or before.count("\u201c") > before.count("\u201d")
    elsewhere = _SPOKEN_OF.search(before) or _ELSEWHERE.search(sentence)
    return bool(quoted or elsewhere or _TAKEN_BACK.search(sentence[found.end() :]))


#: Where a failure is what was wanted, feared, denied, or done on purpose to see a test fail.
_UNMEANT = Regex(
    r"\b(?:(?:negative|positive) controls?|controls? (?:must|still|stay|fail|pass|turn|prov)\w*|"
    r"control:|ensur\w+|on revert|when reverted|if |unless|should|would|must|will|expected|by design|deliberately|"
    r"so that|so \S+(?: \S+){0,4} (?:cannot|can't|does not|is not|carries no)|"
    r"rather than (?:assert|assum|claim|trust|infer|leav)\w*|to (?:prevent|avoid|ensure)|in case|"
    r"whether|verif(?:y|ied) that|(?:confirmed|verified|proved|checked) (?:that )?(?:no|none|nothing)|"
    r"no (?:\w+ ){0,2}(?:errors?|failures?|regressions?|findings?|issues?|violations?|defects?|gaps?)|zero\b|"
    r"0 (?:errors?|failed|failures|new|newly)|without|"
    r"still (?:recover|pass|hold|work|score|parse)s?\b|what (?:the|it|its|each)(?: \w+)? (?:missed|lost|broke)|"
    r"\bI (?:\w+ )?(?:refused|rejected)|an? (?:single|lone) \w+ cannot|"
    r"not an? (?:\w+ )?(?:defect|bug|failure|error|regression)|fails? closed|fail-closed|"
    r"failed: 0|against (?:the )?baseline|reported ok|added|tests? cover|cover(?:s|ing)|"
    r"(?:error|exception) (?:handling|messages?|codes?|paths?))",
    re.IGNORECASE,
)
_NOTHING_WRONG = Regex(
    r"\b(?:zero|0|no) (?:\w+ ){0,2}(?:errors?|fail(?:ed|ures?)|findings?|issues?|unresolved|new)\b", re.IGNORECASE
)
#: What a program said stands in quotation marks; its "expected" is none of the writer's.
_QUOTED = Regex(r"(?<!\w)(?:'[^']*'+|\"[^\"]*\")(?!\w)")
#: A code that is now returned on purpose, or the rule by which it is returned.
_RULES_OF_EXIT = Regex(
    r"\bnow (?:exits|returns)\b|"
    r"\b(?:exits|returns) (?:with )?(?:exit )?(?:code |status )?\d+ (?:only )?(?:when|on|for|if)\b",
    re.IGNORECASE,
)
_DENIED = Regex(r"\b(?:no|not|never|zero|0|without) (?:\w+ ){0,2}$", re.IGNORECASE)
#: Breaking a thing to see whether a test notices is no failure.
_ON_PURPOSE = Regex(
    r"\b(?:mutat\w+|flipping|fault[- ]inject\w+|killing)\b|^\W*[a-z]+ing\b.*\bfails?\b|"
    r"\bagainst (?:the )?(?:pre-fix|old|unfixed|original)\b|\bfail(?:s|ed)? (?:before|without) the fix\b",
    re.IGNORECASE,
)


def negates_failure(text: str) -> bool:
    """Whether a text supposes, demands or denies the failure that it names; what a program said in quotes does not."""
    return _UNMEANT.search(_QUOTED.sub("", text)) is not None


def finds_nothing(clause: str) -> bool:
    """Whether a search found nothing ("no errors", "zero unresolved")."""
    return _NOTHING_WRONG.search(clause) is not None


def is_on_purpose(sentence: str) -> bool:
    """Whether something was broken to see a test fail."""
    return _ON_PURPOSE.search(sentence) is not None


def is_rule_of_exit(clause: str) -> bool:
    """Whether a clause says when a program is to exit with which code."""
    return _RULES_OF_EXIT.search(clause) is not None


def ends_in_denial(before: str) -> bool:
    """Whether the words before a failure's name deny it."""
    return _DENIED.search(before) is not None
