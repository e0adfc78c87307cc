"""The words by which these reports name their parts, and the words for a finished state.

A hundred agents named the same few things in a hundred ways (``workLog``, ``work_log``, ``actions``). A name is split
into lower-case words and looked up; what is not found here is unknown, and kept.

>>> role_of("decisionsMade"), role_of("Key Learnings (Session 4)"), role_of("lessons_learned")
('decision', 'lesson', 'lesson')
>>> role_of("issue"), role_of("branch"), role_of("frobnication")
('problem', 'header', None)
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Role = Literal[
    "work", "did", "label", "found", "decision", "lesson", "problem", "remedy", "rationale", "options", "outcome",
    "impact", "context", "task", "gates", "status", "commit", "time", "next", "header", "files", "measure",
    "background",
]  # fmt: skip

_SPLIT = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")

#: The first row that fits wins. A row fits when one of its words (or pairs of words) is among those of the name.
_ROLES: tuple[tuple[Role, str], ...] = (
    ("gates", "protocol,compliance,checklist,session start,session end,work blocked,completion criteria,acceptance"),
    ("header", "starting commit,starting,branch,schema,schema version"),
    ("header", "session type,session id,git state,worktree,author"),
    ("commit", "ending commit,commits,commit,git history"),
    ("header", "skill inventory,session info,reviewer,agent,priority,retroactive reason,section,category,level"),
    ("next", "next,follow up,todo,remaining"),
    ("lesson", "learning,learnings,lesson,lessons,takeaway,takeaways,insight,insights,learned,retrospective"),
    ("options", "alternative,alternatives,option,options,considered,rejected"),
    ("decision", "decision,decisions,verdict,winner,answer,choice,chosen"),
    ("rationale", "rationale,reason,why,justification"),
    ("remedy", "fix,remedy,workaround,solution,resolution,recovery,correction,solutions,resolutions,remedies"),
    ("problem", "issue,issues,problem,problems,blocker,blockers,challenge,challenges,failure,failures,bug"),
    ("problem", "defects,error,errors,vulnerability,vulnerabilities,gap"),
    ("problem", "gaps,root cause,regression,symptom,regressions"),
    ("task", "objective,objectives,user request"),
    ("status", "status,state"),
    ("impact", "impact,consequence,benefit"),
    ("work", "work log,work completed,actions,progress,progress log,timeline,what was done"),
    ("work", "implementation,changes,deliverables,work,completed,phase"),
    ("outcome", "outcome,outcomes,result"),
    ("found", "finding,findings,summary,detail,details,evidence,note,notes,observation,output,analysis"),
    ("found", "discovery,validation,results,verification"),
    ("found", "description,pattern,assessment,actual,test results"),
    ("did", "task,action,activity,step,item,entry,event,title,name,what,purpose"),
    ("label", "phase,type"),
    ("time", "time,timestamp,date,duration,session end,started,minutes,created"),
    ("files", "file,files,artifact,artifacts,related,reference,references,document,documents,cross,path,paths"),
    ("measure", "metric,metrics,tests,count,number,id,coverage,pr,prs,episode"),
    ("background", "context,background,scope,overview,plan,approach,constraints,methodology"),
    ("background", "recommendation,recommendations,question,signal"),
)

_LOOKUP: tuple[tuple[Role, frozenset[str]], ...] = tuple((role, frozenset(words.split(","))) for role, words in _ROLES)


def words_of(name: str) -> list[str]:
    """A name's words in lower case.

    >>> words_of("technicalDecisions"), words_of("Session 4: what_was_done")
    (['technical', 'decisions'], ['session', 'what', 'was', 'done'])
    """
    return [word.lower() for word in _SPLIT.split(name) if word]


@lru_cache(maxsize=1024)
def role_of(name: str) -> Role | None:
    """What a name represents, or None when it is unknown."""
    words = words_of(name)
    if words == ["key", "findings"] and " " not in name:
        return "lesson"
    runs = {" ".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, start + 4)}
    return next((role for role, known in _LOOKUP if known & runs), None)


def is_cause(name: str) -> bool:
    """Whether a name represents what brought a problem about.

    >>> is_cause("rootCause"), is_cause("Problem")
    (True, False)
    """
    return bool({"cause", "causes"} & set(words_of(name)))


#: What a label adds to the name of a part without making it another: "Issues Found", "Key Decision".
_ADDED = frozenset({
    "discovered", "found", "identified", "encountered", "fixed", "and", "the", "key", "new", "critical",
    "high", "severity", "must", "made", "original", "confirmed", "strategic", "technical", "design",
    "known", "of", "in", "this", "session", "used",
})  # fmt: skip


@lru_cache(maxsize=1024)
def label_role(name: str) -> Role | None:
    """As `role_of`, for a label before a text: the role's words must be all that it says.

    >>> label_role("Root Cause"), label_role("Issues found"), label_role("Error handling")
    ('problem', 'problem', None)
    """
    role = role_of(name)
    words = [word for word in words_of(name) if word not in _ADDED]
    known = frozenset(word for one, known in _LOOKUP if one == role for run in known for word in run.split())
    return role if role and set(words) <= known else None


_BARE_STATE = re.compile(
    r"^\W*(complete[d]?|done|success(ful)?|pass(ed)?|ok|pending|in progress|n/?a|none|yes|no|true|false|start(ed)?|end|"
    r"fail(ed|ure)?|partial|accepted|approved|rejected|confirmed)\W*$",
    re.IGNORECASE,
)
_SUCCESS = re.compile(r"\b(complete[d]?|done|success\w*|pass(ed|ing)?|shipped|merged|resolved)\b|\u2705", re.IGNORECASE)
_PARTIAL = re.compile(r"\b(partial\w*|in[ _-]progress|blocked|incomplete|pending|ongoing|wip|paused)\b", re.IGNORECASE)
_FAILURE = re.compile(r"\b(fail\w*|abort\w*|abandon\w*|error)\b", re.IGNORECASE)

#: "Accepted" says only that a decision was taken; "deferred" says which.
_TAKEN = re.compile(r"^\W*(?:accepted|approved|confirmed|active|final|decided|in effect)\W*$", re.IGNORECASE)
_GOES_ON = re.compile(r"^\W*(?:in[ _-]progress|ongoing|wip|started|active)\W*$", re.IGNORECASE)

Declared = Literal["success", "partial", "failure"]


def is_bare_state(text: str) -> bool:
    """Whether a text only says that something is over, or not.

    >>> is_bare_state("✅ Complete"), is_bare_state("Branch created")
    (True, False)
    """
    return not text.strip() or _BARE_STATE.match(text) is not None


def settles(status: str) -> bool:
    """Whether the status of a decision says what was decided.

    >>> settles("Deferred to #12"), settles("rejected"), settles("Accepted"), settles("complete")
    (True, True, False, False)
    """
    said = declared_by_words(status) is None and not _TAKEN.match(status)
    return bool(status.strip()) and said and (not is_bare_state(status) or "reject" in status.casefold())


#: Shorter words are in every text.
_TELLING = re.compile(r"[A-Za-z_][\w.-]{3,}")
_COMMON = frozenset({"with", "from", "that", "this", "were", "been", "have", "into", "when", "then", "than", "only"})


def closest(text: str, others: Sequence[str]) -> int | None:
    """Which of several texts is about the same thing, by the words that no two of them share; None when none is.

    >>> closest("Pinned the cache key", ["The export timed out", "Stale cache entries"])
    1
    >>> closest("Retried", ["The export timed out", "Stale cache entries"]) is None
    True
    """
    spelled = [_words(one) for one in others]
    own = _words(text)
    shared = [sum(1 for word in own & words if sum(word in each for each in spelled) == 1) for words in spelled]
    best = max(shared, default=0)
    return shared.index(best) if best and shared.count(best) == 1 else None


def _words(text: str) -> set[str]:
    return {word.casefold().rstrip("s.") for word in _TELLING.findall(text)} - _COMMON


def goes_on(status: str) -> bool:
    """Whether a status only says that the work goes on, as the head of a log does until someone corrects it.

    >>> goes_on("In Progress"), goes_on("In progress: two tests still fail")
    (True, False)
    """
    return _GOES_ON.match(status) is not None


def declared_by_words(status: str) -> Declared | None:
    """The outcome that a status declares, or None when it declares none.

    >>> declared_by_words("\u2705 COMPLETE"), declared_by_words("In Progress"), declared_by_words("filed")
    ('success', 'partial', None)
    """
    declared: tuple[tuple[Declared, re.Pattern[str]], ...] = (
        ("partial", _PARTIAL),
        ("failure", _FAILURE),
        ("success", _SUCCESS),
    )
    return next((outcome for outcome, pattern in declared if pattern.search(status)), None)
