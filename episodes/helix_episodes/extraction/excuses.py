"""Which failing runs of a check say nothing of the work.

A run does not judge the work when the machine stopped it (a missing tool, a sandbox, ``^C``), when it was made with
rules that the project does not use, when it was meant to fail (a test written first, code broken to see a test fail),
or when the failure was there without the session's changes. What was run on a tree that the same command puts back is
no run of the session at all (`timeline`).

The last may be shown by a run while the changes were set aside or before there were any, or only be claimed. A claim
counts unless the log contradicts it: the same check passed earlier in the session, or passed while the changes were set
aside with ``git stash``. A guess ("probably unrelated") is no claim.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import covers
from helix_episodes.extraction.checks.command_failures import STOPPED, is_environment
from helix_episodes.extraction.prose.sentences import has_any, is_on_purpose, sentences_of
from helix_episodes.extraction.task_and_metrics import task_kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.session import Session, Step


_ELSEWHERE = re.compile(
    r"\bpre-?existing\b|\b(?:is|are|was|were) unrelated\b|\balso\b[^.\n]{0,60}\bon\b[^.\n]{0,20}\bmain\b", re.IGNORECASE
)
_SIGNS = ("xisting", "related", "also ")
_FAILURE = re.compile(
    r"\b(?:fail\w*|this|that|these|those|they|it)\b",
    re.IGNORECASE,
)
_GUESSED = re.compile(
    r"\b(?:might|may|could|probably|if|whether)\b|\?\s*$",
    re.IGNORECASE,
)
_KINDS = {"lint": re.compile(r"\blint\w*", re.IGNORECASE), "test": re.compile(r"\btests?\b", re.IGNORECASE)}


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The error events that someone calls not the session's own: those that may be, and those the log contradicts."""

    excused: frozenset[str] = frozenset()
    contradicted: frozenset[str] = frozenset()


def claims_in(session: Session, timeline: Timeline) -> Claims:
    """Every claim of the agent and of the user, judged."""
    excused: set[str] = set()
    contradicted: set[str] = set()
    for position, step in enumerate(session.steps):
        # Who knows what failed: the agent, or the user after the first prompt.
        speaks = (step.kind in {"message", "thought"} and step.actor == "agent") or (
            step.kind == "prompt" and step.actor == "user" and position > 0
        )
        if not (speaks and has_any(step.text, _SIGNS)):
            continue
        for words in sentences_of(step.text):
            if not has_any(words.lower(), _SIGNS) or _GUESSED.search(words):
                continue
            if _ELSEWHERE.search(words) and _FAILURE.search(words):
                for run in _meant(words, timeline, position):
                    # The same or more passed before, or passes without the agent's changes.
                    earlier = [one for one in timeline.runs[run.verdict.check] if one.position < run.position]
                    aside = [one for one in timeline.aside if one.verdict.check == run.verdict.check]
                    denied = any(one.passed and covers(one.ground, run.ground) for one in [*earlier, *aside])
                    (contradicted if denied else excused).update(run.events)
    return Claims(excused=frozenset(excused - contradicted), contradicted=frozenset(contradicted))


def _meant(words: str, timeline: Timeline, position: int) -> Sequence[CheckRun]:
    """The failing runs that a claim is about: those it names by test, check or kind; else the latest."""
    latest_of = (timeline.last_run_before(check, position) for check in timeline.runs)
    failing = [run for run in latest_of if run is not None and not run.passed]
    named = [run for run in failing if _names(words, run)]
    if named or not failing:
        return named
    latest = max(failing, key=lambda run: run.position)
    return [latest] if not any(kind.search(words) for kind in _KINDS.values()) else []


def _names(words: str, run: CheckRun) -> bool:
    tests = [test for found in run.ground.findings for test in found.tests]
    if any(test in words for test in tests) or run.verdict.check in words:
        return True
    kind = _KINDS.get(run.verdict.kind)
    return kind is not None and bool(kind.search(words))


def says_nothing(session: Session, timeline: Timeline, run: CheckRun) -> bool:
    """Whether a failing run, whatever anybody claims of it, does not judge the work."""
    if run.call is None:
        return False
    call = timeline.calls[run.call]
    return (
        is_stopped(run, call)
        or _is_probe(run, timeline)
        or _fails_aside(run, timeline)
        or _failed_before(session, run, timeline)
        or _is_meant_to_fail(session, call)
    )


def is_stopped(run: CheckRun, call: ParsedCall) -> bool:
    """Whether the machine, and not the work, is why the run failed."""
    findings = run.verdict.findings
    if call.result is not None and call.result.exit_code in STOPPED and not any(one.tests for one in findings):
        return True
    return bool(findings) and all(is_environment(one) for one in findings)


#: Kinds of check whose options choose the rules; an option of a test run mostly chooses tests.
_RULED = frozenset({"lint", "typecheck", "format"})


def _is_probe(run: CheckRun, timeline: Timeline) -> bool:
    """Whether a linter was run with options of which no other run of the session knows, and passed without them."""
    part = _part(run, timeline)
    # What a hook or a script runs is the project's own way to run it.
    if part is None or part.check is None or run.verdict.kind not in _RULED or run.verdict.task is not None:
        return False
    options = _options(part)
    if not options:
        return False
    others = [
        (one, other)
        for runs in timeline.runs.values()
        for one in runs
        if one.verdict.kind == run.verdict.kind and (other := _part(one, timeline)) is not None and other != part
    ]
    same = [other for _, other in others if other.program == part.program]
    known = {option for other in same for option in _options(other)}
    return not options <= known and any(one.passed for one, _ in others)


def _part(run: CheckRun, timeline: Timeline) -> Segment | None:
    """The part of a command that ran the check."""
    if run.call is None or run.verdict.segment is None:
        return None
    segments = timeline.calls[run.call].segments
    return segments[run.verdict.segment] if run.verdict.segment < len(segments) else None


def _options(part: Segment) -> set[str]:
    return {word.partition("=")[0] for word in part.arguments if word.startswith("-") and word != "--"}


def _fails_aside(run: CheckRun, timeline: Timeline) -> bool:
    """Whether the check fails in the same way while the session's changes are set aside."""
    return any(
        not one.passed and one.verdict.check == run.verdict.check and _failures(run) <= _failures(one)
        for one in timeline.aside
    )


#: Tasks that are not about making something pass.
_BUILDING = frozenset({"feature", "refactor", "docs"})


def _failed_before(session: Session, run: CheckRun, timeline: Timeline) -> bool:
    """Whether the check failed in the same way before the session changed anything, and the task was another."""
    earlier = [
        one
        for one in timeline.runs[run.verdict.check]
        if not one.passed
        and one.call is not None
        and one.position < run.position
        and _failures(run) <= _failures(one)
        and not timeline.changes_between(-1, one.position, kind=None)
    ]
    return bool(earlier) and task_kind_of(session, timeline.decisions) in _BUILDING


def _failures(run: CheckRun) -> set[str]:
    """What failed: tests by name where they are named, else families and messages."""
    tests = {test for found in run.verdict.findings for test in found.tests}
    return tests or {f"{found.family} {found.message}" for found in run.verdict.findings}


_ANNOUNCED = re.compile(
    r"\b(?:should|must|will|confirm\w*|verify|make sure|see)\b(?:(?!\b(?:no|not|nothing|none|never|any|anything|why"
    r"|what|which|where|how)\b|n['\u2019]t\b)[^.\n]){0,60}\bfail",
    re.IGNORECASE,
)
_AS_MEANT = re.compile(
    r"\bfail\w*[^.\n]{0,30}\b(?:as|which is) (?:we |I )?expect\w*",
    re.IGNORECASE | re.MULTILINE,
)


def deliberate_failures(session: Session, timeline: Timeline) -> frozenset[str]:
    """The error events of runs that the agent says are to fail: a test written first, code broken to see it fail."""
    runs = (run for one in (*timeline.runs.values(), timeline.aside) for run in one)
    failing = (run for run in runs if not run.passed and run.call is not None and run.events)
    meant = (run for run in failing if _is_meant_to_fail(session, timeline.calls[run.call or 0]))
    return frozenset(event for run in meant for event in run.events)


def _is_meant_to_fail(session: Session, call: ParsedCall) -> bool:
    """Whether the agent says before the run that it is to fail, or after it that it was meant to."""
    before = reversed(session.steps[: call.position])
    after = session.steps[(call.result_position or call.position) + 1 :]
    announced = any(
        _ANNOUNCED.search(words) and not _GUESSED.search(words) for words in _said(before, crossing={"call", "thought"})
    )
    meant = any(_AS_MEANT.search(words) or is_on_purpose(words) for words in _said(after, crossing={"result"}))
    return announced or meant


def _said(steps: Iterator[Step] | Sequence[Step], *, crossing: set[str]) -> Iterator[str]:
    """The sentences of the agent's words next to a call, as far as nothing but these kinds of step lies between."""
    for step in takewhile(lambda one: one.kind in {"message", "thought"} or one.kind in crossing, steps):
        if step.kind in {"message", "thought"} and step.actor == "agent":
            yield from sentences_of(step.text)
