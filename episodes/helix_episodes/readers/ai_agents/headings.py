"""What headings and labels say: which statement they are themselves, and which only name what stands below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.readers.ai_agents.words import is_cause, label_role, role_of, words_of

if TYPE_CHECKING:
    from helix_episodes.readers.ai_agents.blocks import Block
    from helix_episodes.readers.ai_agents.words import Role

_TITLE = re.compile(r"^(?:decision|learning|lesson|issue|problem|challenge|l)?\s*#?\d*\s*[:.)-]?\s+", re.IGNORECASE)
_TURNS_DOWN = re.compile(
    r"\bnot (?:created|made|done|fixed|changed|implemented|included|adopted|taken|applied|pursued|"
    r"migrated|converted)\b|"
    r"^(?:deferred|declined|out[- ]of[- ]scope|won'?t[- ]fix|excluded|kept as[- ]is|left alone)\b",
    re.IGNORECASE,
)
_IS_VERDICT = re.compile(
    r"^\*{0,2}(?:APPROVED?|REJECT(?:ED)?|ACCEPT(?:ED)?|DEFER(?:RED)?|BLOCK(?:ED)?|ADOPT(?:ED)?|KEEP|DO NOT [A-Z]+)"
    r"\*{0,2}:?\*{0,2} +\w|"
    r"^\*{0,2}(?i:option|approach|alternative|variant) \w+\b.{0,80}"
    r"\((?i:recommended|chosen|selected|preferred|adopted)\)"
)
_JUSTIFIES = re.compile(
    r"^why .+ (?:is|are|was|were) (?:acceptable|enough|sufficient|preferred|chosen|kept|deferred|skipped|not needed|"
    r"unnecessary|safe|better)\b",
    re.IGNORECASE,
)
#: "MUST Failures Identified in This Session"; what is longer is a sentence.
_TITLE_WORDS = 6


def checked(status: str) -> bool | None:
    """Whether a cell of a checklist says yes; None when it says nothing, or that the step does not apply."""
    if not status.strip() or "[N/A]" in status:
        return None
    return bool(re.search(r"\[x\]|pass|complete|verified|remediated|\u2705", status, re.IGNORECASE))


def head_words(title: str) -> str:
    """What names a section: without remarks in brackets, and before a colon; a sentence names none."""
    words = re.sub(r"\([^)]*\)", "", title).partition(":")[0]
    return words if len(words.split()) <= _TITLE_WORDS else ""


def is_item(title: str, role: Role | None) -> bool:
    """Whether a heading is itself the statement: "Decision 2: keep both", "Issue: the cache is stale"."""
    return (
        role in {"decision", "lesson", "problem"} and re.search(r"^\W*[A-Za-z]+(?: \d+)?\s*:\s*\S", title) is not None
    )


def without_number(title: str) -> str:
    """A title without "Decision 2:" or "L1:" before it."""
    return _TITLE.sub("", title, count=1) or title


def is_none(text: str) -> bool:
    """Whether a text under a heading of problems says that there were none."""
    return (
        re.match(
            r"^\W*(none|no (known )?(issues|problems|blockers|challenges|failures)\w*|n/?a|0)\b.{0,20}$",
            text,
            re.IGNORECASE,
        )
        is not None
    )


def asks(block: Block) -> bool:
    """Whether a label with a colon under a heading of decisions names something else: QUESTION:, TIMELINE:."""
    label = block.label
    if label is None or not re.match(r"\*\*[^*]+(?::\*\*|\*\*\s*:)", block.text):
        return False
    return label[0].isupper() or label_role(label[0]) not in {None, "decision"}


def problem_words(title: str) -> list[str]:
    """The words of a heading without those that only say that a problem is told: "Problem Statement"."""
    words = words_of(head_words(title))
    return words[:-1] if words[1:] and words[-1] in {"statement", "description"} else words


def names_problems(title: str) -> bool:
    """Whether a heading names problems, not what was made of them ("Gap Analysis", "Issues Created")."""
    words = problem_words(title)
    last = words[-1:]
    return label_role(" ".join(words)) == "problem" or any(role_of(one) == "problem" or is_cause(one) for one in last)


def tells_problem(title: str) -> bool:
    """Whether a heading is a finding that names a problem: "Critical finding: unbounded cache leak (P0)".

    >>> tells_problem("Finding 2: Coverage gap (P1)"), tells_problem("Finding: All is well"), tells_problem("Gaps")
    (True, False, False)
    """
    head, colon, told = title.partition(":")
    return bool(colon) and role_of(head_words(head)) == "found" and names_problems(told)


def deals_with_problems(title: str) -> bool:
    """Whether a heading names what was done about problems: "Issues Addressed"."""
    return words_of(head_words(title))[-1:] in (["addressed"], ["handled"], ["mitigated"], ["remediated"])


def turns_down(title: str) -> bool:
    """Whether a heading says that what stands below was left undone on purpose.

    >>> turns_down("Changes Not Made"), turns_down("Deferred Items (next release)"), turns_down("Not Started")
    (True, True, False)
    """
    return _TURNS_DOWN.search(head_words(title)) is not None


def is_verdict(text: str) -> bool:
    """Whether an item begins with the word of one who judges: "**REJECT** the second cache".

    >>> is_verdict("**DEFER** the migration"), is_verdict("Reject rate fell"), is_verdict("MERGE")
    (True, False, False)
    """
    return _IS_VERDICT.match(text) is not None


def justifies(title: str) -> bool:
    """Whether a heading says that what stands below is why something was settled so: "Why 80 % is enough".

    >>> justifies("Why one retry is enough"), justifies("Why it failed")
    (True, False)
    """
    return _JUSTIFIES.match(title) is not None
