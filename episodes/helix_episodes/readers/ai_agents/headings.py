"""What headings and labels say: which statement they are themselves, and which only name what stands below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.readers.ai_agents.words import is_cause, label_role, role_of, words_of

if TYPE_CHECKING:
    from helix_episodes.readers.ai_agents.blocks import Block
    from helix_episodes.readers.ai_agents.words import Role

_TITLE = re.compile(r"^(?:decision|learning|lesson|issue|problem|challenge|l)?\s*#?\d*\s*[:.)-]?\s+", re.IGNORECASE)
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


def names_problems(title: str) -> bool:
    """Whether a heading names problems, not what was made of them ("Gap Analysis", "Issues Created")."""
    words = words_of(head_words(title))
    last = words[-1:]
    return label_role(head_words(title)) == "problem" or any(role_of(one) == "problem" or is_cause(one) for one in last)
