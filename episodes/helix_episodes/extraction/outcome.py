"""The outcome of a session, by the first rule that applies, with the evidence for it.

The rules, in order: ``reward`` in the log · the user's explicit verdict · the last run of the check that was worked
on · a commit after a passing check · an error left unrepaired · interrupted or abandoned · what the log declares ·
otherwise unknown, which is an answer. Only the first four kinds of evidence are measured or judged; a declared outcome
is separate from them.

A failure that the agent calls pre-existing or unrelated does not count against the session, unless the log
contradicts the claim: the same check passed earlier in the session, or passed while the changes were set aside with
``git stash``. A guess ("probably unrelated") is no claim.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.extraction.checks import covers
from helix_episodes.extraction.drafts import quote
from helix_episodes.extraction.prose.sentences import has_any, sentences_of
from helix_episodes.extraction.user_reports import report_in, verdict_in
from helix_episodes.model import Event, Outcome, OutcomeBasis, OutcomeEvidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.timeline import CheckRun, Timeline
    from helix_episodes.model import Fix
    from helix_episodes.session import Session, Step


_ELSEWHERE = re.compile(
    r"\bpre-?existing\b|\balready (?:failing|failed|broken|there|present)\b|\b(?:existed|there|broken|failing"
    r"|failed) before\b"
    r"|\b(?:un|not |nothing )related to\b|\b(?:is|are|was|were) unrelated\b|\bnot (?:caused|introduced) by\b"
    r"|\bnot (?:from|due to|because of) (?:my|our|this|these|the) \w+|\b(?:known|baseline) (?:failures?|issues?"
    r"|errors?)\b"
    r"|\bexpected (?:failures?|to fail)\b",
    re.IGNORECASE,
)
_SIGNS: tuple[str, ...] = (
    "xisting", "lready ", " before", "related", "caused by", "introduced by", "not from", "due", "because", "nown ",
    "aseline", "xpected ",
)  # fmt: skip
_FAILURE = re.compile(
    r"\b(?:fail\w*|errors?|issues?|warnings?|findings?|broken|problems?|reports?|this|these|those|they|it)\b",
    re.IGNORECASE,
)
_GUESSED = re.compile(
    r"\b(?:might|may|could|seems?|possibly|perhaps|probably|likely|maybe|looks? like|appears?|if|whether|suspect"
    r"|think)\b|\?\s*$",
    re.IGNORECASE,
)
_KINDS = {"lint": re.compile(r"\blint\w*", re.IGNORECASE), "test": re.compile(r"\btests?\b", re.IGNORECASE)}


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The error events that the agent calls not its own: those it may, and those that the log contradicts."""

    excused: frozenset[str] = frozenset()
    contradicted: frozenset[str] = frozenset()


def claims_in(session: Session, timeline: Timeline) -> Claims:
    """Every claim of the agent, judged."""
    excused: set[str] = set()
    contradicted: set[str] = set()
    for position, step in enumerate(session.steps):
        if step.kind not in {"message", "thought"} or step.actor != "agent" or not has_any(step.text, _SIGNS):
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


#: A failure that the log calls someone else's, or an old one, is no verdict on the session.
_NOT_OURS = re.compile(
    r"\b(?:pre-?existing|baseline|unrelated|external|rate limit\w*|infrastructure|known flaky|expected)\b",
    re.IGNORECASE,
)
_DECLARED: dict[str, Outcome] = {"success": "success", "partial": "partial", "failure": "failure"}


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome, what kind of evidence it rests on, and that evidence."""

    outcome: Outcome
    basis: OutcomeBasis
    evidence: OutcomeEvidence | None = None


UNKNOWN = Judgement(outcome="unknown", basis="none")


def judge_outcome(session: Session, timeline: Timeline, fixes: Sequence[Fix]) -> Judgement:
    """The outcome by the first rule that applies."""
    claims = claims_in(session, timeline)
    rules = (
        _rewarded(session),
        _user_verdict(session, timeline),
        _last_check(timeline, claims),
        _committed(timeline),
        _unrepaired(timeline, fixes, claims),
        _stopped(session),
        _contradicted(session, timeline),
        _declared(session),
    )
    return next((one for one in rules if one is not None), UNKNOWN)


def _judgement(outcome: Outcome, basis: OutcomeBasis, rule: str, words: str, **place: Any) -> Judgement:  # noqa: ANN401  (fields of OutcomeEvidence)
    return Judgement(outcome=outcome, basis=basis, evidence=OutcomeEvidence(rule=rule, quote=words, **place))


def _rewarded(session: Session) -> Judgement | None:
    if session.reward is None:
        return None
    outcome: Outcome = "success" if session.reward >= 1 else "failure" if session.reward <= 0 else "partial"
    return _judgement(outcome, "rewarded", "reward", f"reward {session.reward:g}")


def _user_verdict(session: Session, timeline: Timeline) -> Judgement | None:
    """The last thing the user said, when that is a verdict that no later work puts in question."""
    prompts = [(n, step) for n, step in enumerate(session.steps) if step.kind == "prompt" and step.actor == "user"]
    if len(prompts) < 2:  # noqa: PLR2004  (the first prompt is the task and cannot be a verdict on it)
        return None
    position, prompt = prompts[-1]
    verdict = verdict_in(prompt.text)
    if verdict == "takes back":
        return _judged("failure", prompt)
    if verdict == "accepts":
        return None if timeline.changes_between(position, None, kind=None) else _judged("success", prompt)
    if any(step.kind == "call" for step in session.steps[position:]):
        return None
    return _judged("failure", prompt) if verdict == "rejects" or report_in(prompt.text) else None


def _judged(outcome: Outcome, prompt: Step) -> Judgement:
    return _judgement(outcome, "judged", "the user's verdict", quote(prompt.text), line=prompt.source.line)


def _last_check(timeline: Timeline, claims: Claims) -> Judgement | None:
    """The last verdict of each check that was worked on; only those that no later change put in question.

    A failure that the agent calls someone else's, and the log does not deny it, says nothing of this session.
    """
    last = (_last_made(timeline, check) for check in timeline.runs)
    worked_on = [
        run
        for run in last
        if run is not None
        and run.events
        and timeline.changes_between(-1, run.position, kind=run.verdict.kind)
        and not claims.excused.issuperset(run.events)
    ]
    if not worked_on:
        return None
    failing = [run for run in worked_on if not run.passed]
    if failing:
        latest_failing = max(failing, key=lambda run: run.position)
        denied = not claims.contradicted.isdisjoint(latest_failing.events)
        rule = "last run of the check fails" + (", which the agent calls not its own against the log" if denied else "")
        return _by_event("failure", rule, timeline.event(latest_failing.events[0]))
    unchanged = [run for run in worked_on if not _changed_after(timeline, run)]
    latest = max(unchanged, key=lambda run: run.position, default=None)
    return _by_event("success", "last run of the check passes", timeline.event(latest.events[0])) if latest else None


def _last_made(timeline: Timeline, check: str) -> CheckRun | None:
    """The last run of a check that the session itself made."""
    return next((run for run in reversed(timeline.runs.get(check, [])) if run.call is not None), None)


def _changed_after(timeline: Timeline, run: CheckRun) -> bool:
    later = timeline.decisions_between(run.position)
    return any(timeline.changes_files(one) and one.action and one.action.role in {"source", "test"} for one in later)


def _by_event(outcome: Outcome, rule: str, event: Event) -> Judgement:
    place = event.evidence
    words, at = (place.quote, place.line) if place else (event.content, None)
    return _judgement(outcome, "measured", rule, words, source=event.id, line=at)


def _committed(timeline: Timeline) -> Judgement | None:
    """The last commit, when some check had passed before it."""
    commits = [event for event in timeline.events if event.type == "commit"]
    if not commits:
        return None
    position = timeline.positions[commits[-1].id]
    passed = any(run.passed and run.position < position for runs in timeline.runs.values() for run in runs)
    return _by_event("success", "commit after a passing check", commits[-1]) if passed else None


def _unrepaired(timeline: Timeline, fixes: Sequence[Fix], claims: Claims) -> Judgement | None:
    """An error of a check that nothing repaired, or a last call that failed."""
    closed = {fix.error for fix in fixes} | claims.excused
    last = len(timeline.calls) - 1
    for error in reversed(timeline.events):
        if error.type != "error" or error.id in closed:
            continue
        run = _last_made(timeline, error.check or "")
        still_failing = run is not None and not run.passed and error.id in run.events
        if still_failing or timeline.call_numbers.get(error.id) == last:
            return _by_event("failure", "error left unrepaired", error)
    return None


def _stopped(session: Session) -> Judgement | None:
    """The session ends in a person's no or stop, and nothing was said after it."""
    for step in reversed(session.steps):
        if step.kind in {"message", "prompt", "thought"} and step.text.strip():
            return None
        if step.status in {"interrupted", "rejected"}:
            rule = f"{step.status} and not taken up again"
            return _judgement("partial", "measured", rule, quote(step.text), line=step.source.line)
        if step.kind in {"call", "result"}:
            return None
    return None


def _contradicted(session: Session, timeline: Timeline) -> Judgement | None:
    """A success that the log declares although the last check that it reports failed."""
    judged = (event for event in timeline.events if event.check and event.type in {"error", "test"})
    checks = [event for event in judged if not _NOT_OURS.search(event.content)]
    if session.declared_outcome != "success" or not checks or checks[-1].type == "test":
        return None
    return _by_event("partial", "declared a success, but the last check failed", checks[-1])


def _declared(session: Session) -> Judgement | None:
    outcome = _DECLARED.get(session.declared_outcome or "")
    words = session.declared_outcome or ""
    return _judgement(outcome, "declared", "declared by the log", words) if outcome else None
