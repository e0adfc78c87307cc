"""The task of a session: its title and its kind, from the first prompt, corrected by what was done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.actions import plan_title
from helix_episodes.extraction.drafts import line
from helix_episodes.extraction.paths import is_outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.model import Decision, TaskKind
    from helix_episodes.session import Session

#: What a word may suggest and no change to prose confirms.
_NO_PROSE: frozenset[TaskKind] = frozenset({"docs"})
NO_PROMPT = "(the log holds no prompt)"
_PLAN = re.compile(r"^\s*implement the following plan:\s*", re.IGNORECASE)
#: First match wins; more specific words come first ("fix the failing test" is a fix).
_WORDS: tuple[tuple[TaskKind, str], ...] = (
    ("merge", r"merge conflicts?|rebase|cherry-?pick|resolve (the )?conflicts?|merge (main|master|origin)"),
    ("review", r"review|audit|code[- ]review|pr comments"),
    (
        "fix",
        r"fix(es|ed|ing)?|bugs?|broken|fail(s|ing|ed|ure)?|errors?|crash(es|ed)?|regress\w*|flaky|address|issues?|wrong",
    ),
    (
        "refactor",
        r"refactor\w*|rename|clean ?up|simplif\w+|move|extract|dedup\w*|unify|reorgani[sz]e|consolidat\w+",
    ),
    ("docs", r"docs?|document(ation)?|readme|changelog|comments?|license"),
    (
        "test",
        (
            r"(add|write|create|improve|extend) ((a|an|the|some|more|unit|integration|regression|missing|new) )*tests?|"
            r"(test )?coverage|benchmarks?"
        ),
    ),
    (
        "feature",
        r"add|implement|create|build|introduce|support|make|enable|write|new|provide|allow|ensure|change|update|use",
    ),
    ("question", r"why|what|how|explain|where|which|is there|can we|could we|does|do we|investigate|understand"),
)
_KINDS: tuple[tuple[TaskKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b({words})\b", re.IGNORECASE)) for kind, words in _WORDS
)
_ASKS = re.compile(
    r"^\s*(why|what|how|explain|where|which|is|are|does|do|did|can you (explain|tell))\b|\?\s*$", re.IGNORECASE
)


def task_of(session: Session) -> str:
    """What was to be done, on one line."""
    if session.task:
        return line(session.task)
    prompts = (step.text for step in session.steps if step.kind == "prompt" and step.actor == "user")
    prompt = next((text for text in prompts if text.strip()), "")
    plan = _PLAN.sub("", prompt)
    if plan != prompt:
        return line(plan_title(plan))
    return line(prompt) or NO_PROMPT


def task_kind_of(session: Session, decisions: Sequence[Decision]) -> TaskKind:
    """The kind of task. What asked for a fix and changed nothing was a question; what changed only prose was docs.

    A word such as "comment" or "documentation" makes no docs of what changed code and no prose.
    """
    words = task_of(session)
    inside = [one.action for one in decisions if one.action and one.action.path and not is_outside(one.action.path)]
    roles = {action.role for action in inside if action.role}
    besides = _NO_PROSE if roles and "docs" not in roles else frozenset()
    found = (kind for kind, pattern in _KINDS if kind not in besides and pattern.search(words))
    named: TaskKind = next(found, "other")
    if not roles and named not in {"review", "merge"}:
        return "question" if _ASKS.search(words) else named
    if roles == {"docs"} and named != "merge":
        return "docs"
    if roles == {"test"} and named in {"feature", "question", "other"}:
        return "test"
    return "feature" if named == "question" else named
