"""Where a failure is told and none was met: it is wanted, feared, denied, or done on purpose to see a test fail.

>>> is_unmeant("the upload must fail"), is_unmeant("the program said 'must fail' and failed")
(True, False)
"""

from __future__ import annotations

import re

from helix_episodes.regex import Regex

#: Where a failure is what was wanted, feared, denied, or done on purpose to see a test fail.
_UNMEANT = Regex(
    r"\b(?:(?:negative|positive) controls?|controls? (?:must|still|stay|fail|pass|turn|prov)\w*|"
    r"control:|ensur\w+|on revert|when reverted|if |unless|should|would|must|will|expected|"
    r"by design|deliberately|"
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
#: A code that is now given on purpose, or the rule by which it is given.
_RULES_OF_EXIT = Regex(
    r"\bnow (?:exits|returns)\b|"
    r"\b(?:exits|returns) (?:with )?(?:exit )?(?:code |status )?\d+ (?:only )?(?:when|on|for|if)\b",
    re.IGNORECASE,
)
_DENIED = Regex(r"\b(?:no|not|never|zero|0|without) (?:\w+ ){0,2}$", re.IGNORECASE)
#: Who breaks a thing to see whether a test notices has met no failure.
_ON_PURPOSE = Regex(
    r"\b(?:mutat\w+|flipping|fault[- ]inject\w+|killing)\b|^\W*[a-z]+ing\b.*\bfails?\b|"
    r"\bagainst (?:the )?(?:pre-fix|old|unfixed|original)\b|\bfail(?:s|ed)? (?:before|without) the fix\b",
    re.IGNORECASE,
)


def is_unmeant(text: str) -> bool:
    """Whether a text supposes, demands or denies the failure that it tells; what a program said in quotes does not."""
    return _UNMEANT.search(_QUOTED.sub("", text)) is not None


def finds_nothing(clause: str) -> bool:
    """Whether what somebody looked for was not there ("no errors", "zero unresolved")."""
    return _NOTHING_WRONG.search(clause) is not None


def is_on_purpose(sentence: str) -> bool:
    """Whether something was broken to see a test fail."""
    return _ON_PURPOSE.search(sentence) is not None


def is_rule_of_exit(clause: str) -> bool:
    """Whether a clause says when a program is to exit with which code."""
    return _RULES_OF_EXIT.search(clause) is not None


def is_denied(before: str) -> bool:
    """Whether the words before a failure's name deny it."""
    return _DENIED.search(before) is not None
