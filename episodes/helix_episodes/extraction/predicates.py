"""What prose says of a thing that fails: the predicates by which a sentence tells of a failure, whatever its subject.

>>> FAILING.search("The upload timed out")[0], FAILING.search("The upload works")
('timed out', None)
"""

from __future__ import annotations

import re

from helix_episodes.regex import Regex

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
    r"vacuous|dead|untested|"
    r"unconstrained|misleading|nonexistent|disproven|unknown|inverted|half wrong|out of date|"
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
#: What is let in or given out and should not be, what breaks a rule or a limit, and what is gone.
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
#: "517 lines against the 500-line limit": a measure beside what it may be.
_OVER = (
    r"\d[\d,.]*k? (?:[\w-]+ ){0,2}against (?:an?|the|its) (?:[\w-]+ ){0,3}"
    r"(?:limit|ceiling|budget|cap|maximum|threshold)"
)
FAILING = Regex(
    rf"\b(?:{_FAILED}|{_IS_BAD}|{_DOES_NOT}|{_HIDES}|{_LACKS}|{_BREAKS}|{_COUNTED}|{_OVER})\b", re.IGNORECASE
)
