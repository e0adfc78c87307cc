"""The outcome of a session, by the first rule that applies, with the evidence for it.

The rules, in order: ``reward`` in the log · the user's explicit verdict · CI that passes or a pull request that is
merged after the work was delivered · a check that failed and was not seen passing again · the last run of the check
that was worked on · a commit after a passing check · interrupted or abandoned · what the log declares · otherwise
unknown, which is an answer. Only the evidence before the last two is measured or judged; a declared outcome is separate
from them.

A failing run decides only where nothing excuses it (`excuses`) and nothing after it settles it. A check fails in the
middle of the work, and what shows that the failure is gone is often another command: the same check under another name,
the formatter instead of the format check, the tests instead of the compiler, the hooks of a commit. These settle a
failing run:

- the same command, or one that contains it, ends with exit status 0; silent formatters count;
- the command runs again and nothing of the failure is left in its output, though its exit status is hidden;
- after a change, a check passes that covers the failed one: tests cover builds, builds cover vet and types, whatever
  must have compiled the package covers an error of the compiler, and a formatter or fixer covers its own check;
- a commit, a push or a merge succeeds afterwards, unless its hooks were skipped;
- what the check looks at was changed afterwards, and the check did not run again: then nobody knows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.extraction.calls import UNDONE
from helix_episodes.extraction.check_runs import changes_repository, rewrites
from helix_episodes.extraction.checks import covers
from helix_episodes.extraction.checks.model import covers_places
from helix_episodes.extraction.delivery import accepted_by, delivered_by, went_well
from helix_episodes.extraction.drafts import evidence_of, quote
from helix_episodes.extraction.edit_coverage import language_of
from helix_episodes.extraction.excuses import claims_in, says_nothing
from helix_episodes.extraction.shell.commands import hides_exit
from helix_episodes.extraction.user_reports import calls_wrong, is_delivery_request, verdict_in
from helix_episodes.model import Event, Outcome, OutcomeBasis, OutcomeEvidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision
    from helix_episodes.session import Session, Step


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


def judge_outcome(session: Session, timeline: Timeline) -> Judgement:
    """The outcome by the first rule that applies."""
    prompts = [n for n, step in enumerate(session.steps) if step.kind == "prompt" and step.actor == "user"]
    # What passed before the user called the work wrong says nothing of what was done about it.
    reported = {timeline.positions[name] for name in timeline.reported}
    wrong = [n for n in prompts[1:] if n in reported or calls_wrong(session, n)]
    since = wrong[-1] if wrong else -1
    accepted = _accepted(timeline, since)
    rules = (
        _rewarded(session),
        _user_verdict(session, timeline, prompts, reported),
        _open_failure(session, timeline, prompts, since=accepted[0] if accepted else -1),
        accepted[1] if accepted else None,
        _last_pass(session, timeline, since),
        _committed(timeline, since),
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


def _user_verdict(
    session: Session, timeline: Timeline, prompts: Sequence[int], reported: Collection[int]
) -> Judgement | None:
    """The last thing the user said, when that is a verdict that no later work puts in question.

    Whoever only asks for a commit after praise has not changed their mind.
    """
    # The first prompt is the task and cannot be a verdict on it.
    later = [(n, session.steps[n]) for n in prompts[1:]]
    while later and verdict_in(later[-1][1].text) is None and is_delivery_request(later[-1][1].text):
        later.pop()
    if not later:
        return None
    position, prompt = later[-1]
    verdict = verdict_in(prompt.text)
    if verdict == "takes back":
        return _judged("failure", prompt)
    if verdict == "accepts":
        return None if timeline.changes_between(position, None, kind=None) else _judged("success", prompt)
    if any(step.kind == "call" for step in session.steps[position:]):
        return None
    return _judged("failure", prompt) if position in reported or calls_wrong(session, position) else None


def _judged(outcome: Outcome, prompt: Step) -> Judgement:
    return _judgement(outcome, "judged", "the user's verdict", quote(prompt.text), line=prompt.source.line)


def _accepted(timeline: Timeline, since: int) -> tuple[int, Judgement] | None:
    """Where and how somebody else accepted what was delivered: CI, or whoever merged it; nothing changed since."""
    delivered = next((call.position for call in timeline.calls if delivered_by(call) is not None), None)
    if delivered is None:
        return None
    for call in reversed(timeline.calls):
        if call.position < max(delivered, since):
            return None
        found = accepted_by(call)
        if found is not None:
            rule, words = found
            if _source_changes(timeline, call.position):
                return None
            place = evidence_of(call.result or call.step, words)
            return call.position, _judgement("success", "measured", rule, quote(words), line=place.line)
    return None


def _open_failure(session: Session, timeline: Timeline, prompts: Sequence[int], *, since: int) -> Judgement | None:
    """The last failing run of a check that was worked on, when nothing excuses it and nothing settles it."""
    failing = [
        run
        for check in timeline.runs
        if (run := _last_judging(session, timeline, check)) is not None
        and not run.passed
        and run.events
        and run.position > since
        and timeline.changes_between(-1, run.position, kind=run.verdict.kind)
        and not is_settled(timeline, run, prompts=prompts)
    ]
    if not failing:
        return None
    claims = claims_in(session, timeline)
    failing = [run for run in failing if not claims.excused.issuperset(run.events)]
    if not failing:
        return None
    latest = max(failing, key=lambda run: run.position)
    denied = not claims.contradicted.isdisjoint(latest.events)
    but = ", which the agent calls not its own against the log" if denied else ""
    rule = f"{latest.verdict.check} was not seen passing again{but}{_ended_by(session)}"
    return _by_event("failure", rule, timeline.event(latest.events[0]), timeline)


def _ended_by(session: Session) -> str:
    """Who ended a session before its end, as the rest of a sentence."""
    stop = _stop(session)
    if stop is None:
        return ""
    how = "interrupted the session" if stop.status == "interrupted" else "refused its last call"
    return f", and the user {how}"


def _last_pass(session: Session, timeline: Timeline, since: int) -> Judgement | None:
    """The last passing run over changed files that no later change put in question."""
    last = (_last_judging(session, timeline, check) for check in timeline.runs)
    passing = [
        run
        for run in last
        if run is not None
        and run.passed
        and run.events
        and run.position > since
        and _changed_before(timeline, run)
        and not _source_changes(timeline, run.position)
    ]
    latest = max(passing, key=lambda run: run.position, default=None)
    return (
        _by_event("success", f"last run of {latest.verdict.check} passes", timeline.event(latest.events[0]), timeline)
        if latest
        else None
    )


def _last_judging(session: Session, timeline: Timeline, check: str) -> CheckRun | None:
    """The last run of a check that the session itself made and that judges the work."""
    made = (run for run in reversed(timeline.runs[check]) if run.call is not None)
    return next((run for run in made if run.passed or not says_nothing(session, timeline, run)), None)


def _changed_before(timeline: Timeline, run: CheckRun) -> bool:
    """Whether any file had been changed, by a tool or a command."""
    before = timeline.decisions_between(-1, run.position)
    edited = any(timeline.changes_files(one) and not timeline.went_wrong(one) for one in before)
    return edited or bool(timeline.changes_between(-1, run.position, kind=run.verdict.kind))


def _source_changes(timeline: Timeline, start: int) -> bool:
    later = timeline.decisions_between(start)
    return any(timeline.changes_files(one) and one.action and one.action.role in {"source", "test"} for one in later)


def _by_event(outcome: Outcome, rule: str, event: Event, timeline: Timeline) -> Judgement:
    """A judgement that quotes an event; of a check that passed without a word, the command that ran it."""
    place = event.evidence
    words, at = (place.quote, place.line) if place else (event.content, None)
    if not words and event.id in timeline.call_numbers:
        call = timeline.call_of(event)
        words, at = quote(str(call.step.arguments.get("command", ""))), call.step.source.line
    return _judgement(outcome, "measured", rule, words, source=event.id, line=at)


def _committed(timeline: Timeline, since: int) -> Judgement | None:
    """The last commit, when some check had passed before it or in its hooks, and no source was changed since."""
    commits = [event for event in timeline.events if event.type == "commit"]
    if not commits:
        return None
    position = timeline.positions[commits[-1].id]
    if position < since or _source_changes(timeline, position):
        return None
    passed = any(run.passed and run.position <= position for runs in timeline.runs.values() for run in runs)
    return _by_event("success", "commit after a passing check", commits[-1], timeline) if passed else None


def _stopped(session: Session) -> Judgement | None:
    stop = _stop(session)
    if stop is None:
        return None
    rule = f"{stop.status} and not taken up again"
    return _judgement("partial", "measured", rule, quote(stop.text), line=stop.source.line)


def _stop(session: Session) -> Step | None:
    """A person's no or stop with which the session ends: nothing was said or done after it."""
    for step in reversed(session.steps):
        if step.kind in {"message", "prompt", "thought"} and step.text.strip():
            return None
        if step.status in {"interrupted", "rejected"}:
            return step
        if step.kind in {"call", "result"}:
            return None
    return None


def _contradicted(session: Session, timeline: Timeline) -> Judgement | None:
    """A success that the log declares although the last check that it reports failed."""
    judged = (event for event in timeline.events if event.check and event.type in {"error", "test"})
    checks = [event for event in judged if not _NOT_OURS.search(event.content)]
    declared = session.declared_outcome
    if declared is None or declared.outcome != "success" or not checks or checks[-1].type == "test":
        return None
    return _by_event("partial", "declared a success, but the last check failed", checks[-1], timeline)


def _declared(session: Session) -> Judgement | None:
    declared = session.declared_outcome
    outcome = _DECLARED.get(declared.outcome) if declared is not None else None
    if declared is None or outcome is None:
        return None
    rule = "inferred from the gates that the log reports" if declared.inferred else "declared by the log"
    return _judgement(outcome, "declared", rule, quote(declared.words.text), line=declared.words.line)


_STOPPED = {*UNDONE, "interrupted"}
#: A pass of the first kind shows that nothing is left of the second.
_COVERED_KINDS = {"test": frozenset({"build", "typecheck"}), "build": frozenset({"typecheck"})}
_VET = "go vet"


def is_settled(timeline: Timeline, failure: CheckRun, *, prompts: Sequence[int]) -> bool:
    """Whether anything after a failing run says that its failure is gone, or leaves that unknown.

    ``prompts`` are the places of the user's words among the steps.
    """
    if _delivered(timeline, failure, prompts) or _changed_unchecked(timeline, failure):
        return True
    if _shown_elsewhere(timeline, failure):
        return True
    place = failure.verdict.segment
    if failure.call is not None and place is not None and place < len(timeline.calls[failure.call].segments):
        part = timeline.calls[failure.call].segments[place]
        if any(_settles(call, at, part, failure) for call, at in _later_parts(timeline, failure)):
            return True
    return any(
        _covers(run, failure, timeline)
        for runs in timeline.runs.values()
        for run in runs
        if run.passed and run.position > failure.position
    )


def _later_parts(timeline: Timeline, failure: CheckRun) -> Iterator[tuple[ParsedCall, int]]:
    """The parts of every command after a failure that ran on the session's own tree."""
    aside = {(run.call, run.verdict.segment) for run in timeline.aside}
    for number, call in enumerate(timeline.calls):
        if call.position > failure.position and call.result is not None and call.status not in _STOPPED:
            yield from ((call, at) for at in range(len(call.segments)) if (number, at) not in aside)


def _settles(call: ParsedCall, at: int, failed: Segment, failure: CheckRun) -> bool:
    """Whether one part of a later command is the failed one again, or its fixer, and went well."""
    part = call.segments[at]
    if (part.program, part.arguments) == (failed.program, failed.arguments):
        return went_well(call, at) or _left_open(call, at, failure)
    return _fixes(part, failed, failure) and went_well(call, at)


def _left_open(call: ParsedCall, at: int, failure: CheckRun) -> bool:
    """Whether a check ran again with its exit status hidden, and what it had complained of is not in its output."""
    judged = any(one.segment == at and one.passed is not None for one in call.verdicts)
    if judged or call.status == "error" or not hides_exit(call.segments, at):
        return False
    messages = [found.message for found in failure.verdict.findings if found.message]
    return not any(message in call.output for message in messages)


def _fixes(part: Segment, failed: Segment, failure: CheckRun) -> bool:
    """Whether a command rewrites what the failed check complained of: a formatter, the check itself asked to fix."""
    if part.program == failed.program and rewrites(part):
        return (part.subcommand or "").startswith(failed.subcommand or "")
    formats = part.purpose == "format" or part.kind == "format"
    return failure.verdict.kind == "format" and formats and _same_language(part.program, failure.verdict.check)


def _covers(run: CheckRun, failure: CheckRun, timeline: Timeline) -> bool:
    """Whether a later passing run shows that the failure is gone."""
    if covers(run.ground, failure.ground):
        return True
    later, failed = run.verdict, failure.verdict
    covered = failed.kind in _COVERED_KINDS.get(later.kind, ()) or (
        failed.check == _VET and later.kind in {"test", "build"}
    )
    # Where nothing was done in between, the two disagree, and the one that fails is right.
    return (
        covered
        and _same_language(later.check, failed.check)
        and covers_places(later, failed)
        and _may_have_changed(timeline, failure.position, run.position)
    )


def _shown_elsewhere(timeline: Timeline, failure: CheckRun) -> bool:
    """Whether the same task under another name, or what must have compiled the same code, passed after a change."""
    runs = [timeline.settled_elsewhere(failure, timeline.event(name)) for name in failure.events]
    return bool(runs) and all(
        run is not None
        and _same_language(run.verdict.check, failure.verdict.check)
        and _may_have_changed(timeline, failure.position, run.position)
        for run in runs
    )


def _same_language(one: str, other: str) -> bool:
    first, second = language_of(one), language_of(other)
    return first is None or second is None or first == second


def _delivered(timeline: Timeline, failure: CheckRun, prompts: Sequence[int]) -> bool:
    """Whether the work was committed or pushed after the failure, past whatever hooks there are.

    Without hooks, tests that fail do not hinder a commit. Then it counts where something was changed since, or where
    the user spoke in between: who has seen the failure and asks for a commit accepts it.
    """
    for call in timeline.calls:
        if call.position <= failure.position or delivered_by(call) is None:
            continue
        hooked = any(one.passed for one in call.verdicts)
        asked = any(failure.position < prompt < call.position for prompt in prompts)
        changed = _may_have_changed(timeline, failure.position, call.position)
        if hooked or asked or changed or failure.verdict.kind != "test":
            return True
    return False


def _may_have_changed(timeline: Timeline, start: int, end: int) -> bool:
    """Whether a call between two positions edited a file, or ran anything that may have."""
    between = (call for call in timeline.calls if start < call.position < end and call.status not in _STOPPED)
    return any(
        call.changes_files
        or any(part.purpose in {"change", "format"} and part.program != "git" for part in call.segments)
        for call in between
    )


def _changed_unchecked(timeline: Timeline, failure: CheckRun) -> bool:
    """Whether what the check looks at was changed after its last run; what is stashed and brought back is as it was."""
    changes = timeline.changes_between(failure.position, None, kind=failure.verdict.kind)
    return any(not _only_stashes(timeline, one) for one in changes)


def _only_stashes(timeline: Timeline, decision: Decision) -> bool:
    changing = [part for call in timeline.calls_of(decision) for part in call.segments if changes_repository(part)]
    stashes = all(part.program == "git" and (part.subcommand or "").startswith("stash") for part in changing)
    return bool(changing) and stashes and not timeline.changes_files(decision)
