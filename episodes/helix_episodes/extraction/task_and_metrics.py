"""The task of a session, and its metrics.

The task has a title and a kind, from the first prompt, corrected by what was done. Metrics are counts over the session.
What the log does not say is None, never 0.
"""

from __future__ import annotations

import re
from itertools import pairwise
from posixpath import join, normpath
from typing import TYPE_CHECKING

from helix_episodes.extraction.actions import plan_title
from helix_episodes.extraction.calls import WITHOUT_EFFECT, written
from helix_episodes.extraction.check_runs import changes_repository
from helix_episodes.extraction.costs import active_seconds
from helix_episodes.extraction.drafts import evidence_of, line
from helix_episodes.extraction.paths import is_outside, relative
from helix_episodes.extraction.reports import is_report
from helix_episodes.model import Metrics, as_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Evidence, Fix, TaskKind
    from helix_episodes.session import Session, Step


#: What a word may suggest and no change to prose confirms.
_NO_PROSE: frozenset[TaskKind] = frozenset({"docs"})
NO_PROMPT = "(the log holds no prompt)"
_PLAN = re.compile(r"^\s*implement the following plan:\s*", re.IGNORECASE)
#: First match wins; more specific words come first ("fix the failing test" is a fix).
_WORDS: tuple[tuple[TaskKind, str], ...] = (
    ("merge", r"merge conflicts?|rebase|cherry-?pick|resolve (the )?conflicts?|merge (main|master|origin)"),
    ("review", r"review|audit|code[- ]review|pr comments"),
    ("fix", r"fix(es|ed|ing)?|bugs?|broken|fail(s|ing|ed|ure)?|errors?|crash(es|ed)?|regress\w*|flaky"),
    ("fix", r"address|issues?|wrong"),
    ("refactor", r"refactor\w*|rename|clean ?up|simplif\w+|move|extract|dedup\w*|unify|reorgani[sz]e|consolidat\w+"),
    ("docs", r"docs?|document(ation)?|readme|changelog|comments?|license"),
    (
        "test",
        r"(add|write|create|improve|extend) ((a|an|the|some|more|unit|integration|regression|missing|new) )*tests?",
    ),
    ("test", r"(test )?coverage|benchmarks?"),
    ("feature", r"add|implement|create|build|introduce|support|make|enable|write|new|provide|allow|ensure|change"),
    ("feature", r"update|use"),
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
    prompt = next((step.text for step in _prompts(session)), "")
    plan = _PLAN.sub("", prompt)
    if plan != prompt:
        return line(plan_title(plan))
    return line(prompt) or NO_PROMPT


def prompts_of(session: Session) -> Iterator[Evidence]:
    """What people wrote to the agent, in order: the beginning of each prompt and where it is."""
    return (evidence_of(step, step.text) for step in _prompts(session) if step.source.file is None)


def _prompts(session: Session) -> Iterator[Step]:
    return (step for step in session.steps if step.kind == "prompt" and step.actor == "user" and step.text.strip())


def task_kind_of(session: Session, decisions: Sequence[Decision]) -> TaskKind:
    """The kind of task. What asked for a fix and changed nothing was a question; what changed only prose was docs.

    A word such as "comment" or "documentation" makes no docs of what changed code and no prose.
    """
    words = task_of(session)
    inside = [one.action for one in decisions if one.action and one.action.path and not is_outside(one.action.path)]
    roles = {action.role for action in inside if action.role}
    besides = _NO_PROSE if roles and "docs" not in roles else frozenset()
    named: TaskKind = "other"
    for kind, pattern in _KINDS:
        if kind not in besides and pattern.search(words):
            named = kind
            break
    if not roles and named not in {"review", "merge"}:
        return "question" if _ASKS.search(words) else named
    if roles == {"docs"} and named != "merge":
        return "docs"
    if roles == {"test"} and named in {"feature", "question", "other"}:
        return "test"
    return "feature" if named == "question" else named


#: A report has few times: what lies between two of them is work, up to somebody's lunch or night.
_PAUSE_IN_REPORTS = 30


def metrics_of(session: Session, timeline: Timeline, fixes: Sequence[Fix]) -> Metrics:
    """The counts of a session; its duration is the time in which the agent worked, as costs count it."""
    recorded = not is_report(session)
    # The same failure again before its repair is repaired once.
    verified = [fix for fix in fixes if fix.verified_by]
    repaired = {(timeline.event(fix.error).content, fix.check, fix.verified_by) for fix in verified}
    errors = [event for event in timeline.events if event.type == "error"]
    return Metrics(
        duration_minutes=_duration(session, timeline, recorded=recorded),
        tool_calls=len(timeline.calls) if recorded else None,
        errors=len(errors),
        recoveries=len(repaired) if recorded else None,
        commits=len({event.commit for event in timeline.events if event.type == "commit"}),
        files_changed=_files_changed(timeline.calls, root=session.root) if recorded else None,
        tokens=as_count(session.tokens),
    )


def _files_changed(calls: Sequence[ParsedCall], *, root: str | None) -> int | None:
    """How many files of the project were changed; None where some change does not say of which."""
    paths: set[str] = set()
    for call in calls:
        changed = changed_by(call, root=root)
        if changed is None:
            return None
        paths |= changed
    return len(paths)


def changed_by(call: ParsedCall, *, root: str | None) -> set[str] | None:
    """The files of the project that a call changed; None where it does not say which."""
    if call.operation != "run":
        return set() if not call.changes_files else {call.path} if call.path else None
    changing = [segment for segment in call.segments if changes_repository(segment)]
    if call.outside or call.status in WITHOUT_EFFECT or not changing:
        return set()
    several = [written(segment) for segment in changing]
    found = {path for paths in several if paths is not None for path in paths}
    # As seen from the project's root, though the command went to a folder first.
    folder = next((one.arguments[0] for one in call.segments if one.program == "cd" and one.arguments), "")
    seen = (path if path.startswith("~") else normpath(join(folder, path)) for path in found)
    placed = {relative(path, root=root) for path in seen}
    return None if None in several else {path for path in placed if not is_outside(path)}


def _duration(session: Session, timeline: Timeline, *, recorded: bool) -> float | None:
    moments = sorted(step.at for step in session.steps if step.at is not None)
    if len(moments) < 2:  # noqa: PLR2004  (a span has two ends)
        return None
    minutes = ((after - before).total_seconds() / 60 for before, after in pairwise(moments))
    if recorded:
        return round(sum(active_seconds(session.steps, timeline.calls)) / 60, 1)
    return round(sum(gap for gap in minutes if gap <= _PAUSE_IN_REPORTS), 1)
