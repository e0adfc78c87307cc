"""Stored text as it may be shown to an agent: one quoted line with nothing in it that reads as an instruction."""

from __future__ import annotations

import re
import unicodedata

from helix_episodes.fast_loading import Regex

#: The words by which orchestration tells what became of a task, and the fields of its prompts.
_MARKER = Regex(
    r"(?<![^\W_])(DELIVERED|BLOCKED|PLAN_COMPLETE|INSIGHTS?|INJECTED|NO_PRIOR_MEMORY|NO_INJECT|TASK_ID|TASK|OBJECTIVE"
    r"|VERIFY|WARNING|PARENT_DELIVERIES|UTILIZED|ERROR|PROCEED|CLARIFY)(\s*\([^()\n]{0,40}\))?\s*[:\uff1a\ufe55\u2236]",
    re.IGNORECASE,
)
#: Who speaks, where a line or a sentence begins: the turns of a conversation as models were taught to read them.
_TURN = Regex(
    r"((?:^|[.!?;:]\s)[\s>*#\"'-]*)(Human|Assistant|System|User|Developer)(\**)\s*[:\uff1a\ufe55\u2236]",
    re.IGNORECASE | re.MULTILINE,
)
#: The marks of chat templates between square brackets.
_TEMPLATE = Regex(r"\[\s*(/?\s*(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS))\s*\]", re.IGNORECASE)
#: Where a tag or a mark of a chat template begins; `a<b` and `Vec<T>` are none.
_TAG = Regex(r"<(?=/|\||s>|[A-Za-z!?][\w-]{2})")
#: What `_MARKER` and `_TURN` end with.
_COLONS = frozenset(":\uff1a\ufe55\u2236")
#: What ends a line.
_ENDS = frozenset("\n\r\v\f\x85\u2028\u2029")
#: What cannot be seen, or turns the direction of what can: controls, formats, surrogates, separators of lines.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def sanitize_line(text: str) -> str:
    """The text on one line, with nothing in it that is obeyed instead of read."""
    # Each expression is tried where its last character occurs: most texts need none, and compiling them takes 2 ms.
    seen = "".join(map(_visible, unicodedata.normalize("NFC", text)))
    has_colon = not _COLONS.isdisjoint(seen)
    flat = " ".join((_TURN.sub(r"\1\2\3 -", seen) if has_colon else seen).split())
    plain = _MARKER.sub(lambda found: f"{found[1]}{found[2] or ''} -", flat) if has_colon else flat
    plain = _TEMPLATE.sub(r"(\1)", plain) if "]" in plain else plain
    return (_TAG.sub("< ", plain) if "<" in plain else plain).replace("```", "'''")


def _visible(one: str) -> str:
    if one in _ENDS:
        return "\n"
    return " " if unicodedata.category(one) in _UNSEEN else one
