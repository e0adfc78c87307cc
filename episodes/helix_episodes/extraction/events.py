"""Events: what came of the calls.

A result is a failure by its flag, its exit code, the tool's own error object, or the grammar of the runner that wrote
it; never because the word "error" stands in it. A call that a person refused, that lacked a permission, that was
stopped, or that never ran because the one beside it failed is a ``tool_call`` event with that status and no failure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.calls import UNDONE, ParsedCall
from helix_episodes.extraction.checks import (
    DIAGNOSTICS,
    CheckFinding,
    CheckVerdict,
    command_finding,
    exception_at_end,
    family_of_diagnostic,
    read_diagnostics,
    silent_failure,
    tool_finding,
)
from helix_episodes.extraction.drafts import (
    DraftEvent,
    ReportedFailure,
    evidence_of,
    line,
    reported_error,
    timestamp_of,
)
from helix_episodes.extraction.paths import relative
from helix_episodes.extraction.prose.sentences import has_any, sentences_of
from helix_episodes.extraction.shell.commands import decisive
from helix_episodes.model import Event, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.session import Session, Step


#: Whoever takes a diagnostic as real may look around before changing anything; beyond this many looks the change is
#: about what was found there.
_LOOKS_BEFORE_EDIT = 15


_SAYS = r"(?:show|say|complain|report|flag|indicat|warn)\w*"
_DIAGNOSED = re.compile(
    rf"\bdiagnostics? (?:\w+ )?{_SAYS}|\bdiagnostic errors?\b|\bdiagnostic {_SAYS}|\bschema (?:error|violation)s?\b"
    rf"|\b(?:IDE|LSP|language server|editor) (?:is |now )?{_SAYS}"
    r"|\bflagged\b[^.\n]{{0,60}}\bdiagnostics?\b",
    re.IGNORECASE,
)
_EDITOR_SIGNS = ("iagnostic", "chema ", "IDE", "LSP", "anguage server", "ditor")
_MEANS_IT = re.compile(
    r"\b(?:diagnostics?|warnings?|errors?|complaints?|linter|LSP|IDE|editor|it|they|that|this|these|those)\b",
    re.IGNORECASE,
)
_DISMISSED = re.compile(
    r"\bstale\b|\bunrelated\b|\bnot related\b|\bpre-?existing\b|\bexisting code\b|\bnot my\b|\bfalse positive"
    r"|\bsuggest(?:s|ions?)\b|\bmoderni[sz]e|\bhints?\b|\binformational\b|\bout of scope\b"
    r"|\bnot (?:actual |real )?errors?\b|\bexpected\b|\bwrong\b|\boutdated\b|\bshould be fine\b"
    r"|\b(?:did|do|does|is|are) (?:actually |in fact )?used? (?:it|them)\b"
    r"|\bno more (?:diagnostic|error|warning)s?\b|\b(?:is|that['\u2019]s|only) because\b",
    re.IGNORECASE,
)


# What an editor says.


def diagnostic_events(session: Session, calls: Sequence[ParsedCall]) -> Iterator[DraftEvent]:
    """Diagnostics sent along, and those that only the agent's words tell of."""
    positions = [call.position for call in calls]
    heard = -1
    for position, step in enumerate(session.steps):
        sent = step.kind == "note" and step.tool == DIAGNOSTICS
        if not sent and not _mentions_diagnostic(step):
            continue
        following = bisect_right(positions, position)
        until = positions[following] if following < len(positions) else len(session.steps)
        if heard == until and not sent:
            continue
        heard = until
        if _is_dismissed(session.steps[position:until]):
            continue
        if sent:
            yield from _sent_along(step, position, root=session.root)
        elif edit := _edit_that_follows(calls, following):
            yield from _mentioned_by_agent(
                session, range(position, until), calls[following - 1] if following else None, edit
            )


def _mentions_diagnostic(step: Step) -> bool:
    if step.kind not in {"message", "thought"} or step.actor != "agent" or not has_any(step.text, _EDITOR_SIGNS):
        return False
    return bool(_DIAGNOSED.search(step.text))


def _is_dismissed(said: Sequence[Step]) -> bool:
    spoken = (step for step in said if step.kind in {"message", "thought"} and _DISMISSED.search(step.text))
    sentences = (sentence for step in spoken for sentence in sentences_of(step.text))
    return any(_DISMISSED.search(one) and _MEANS_IT.search(one) for one in sentences)


def _edit_that_follows(calls: Sequence[ParsedCall], number: int) -> ParsedCall | None:
    """The next call that is more than a look, if it comes soon and changes a file."""
    soon = islice(calls, number, number + _LOOKS_BEFORE_EDIT)
    following = next((call for call in soon if call.operation not in {"look", "track"}), None)
    return following if following is not None and following.changes_files else None


def _sent_along(step: Step, position: int, *, root: str | None) -> Iterator[DraftEvent]:
    verdict = read_diagnostics(step.text)
    for finding in verdict.findings[:FAMILIES_PER_RUN]:
        placed = finding._replace(path=relative(finding.path, root=root) if finding.path else None)
        yield _diagnostic(step, position, placed)


def _mentioned_by_agent(
    session: Session, stretch: range, before: ParsedCall | None, edit: ParsedCall
) -> Iterator[DraftEvent]:
    """The last words between two calls that tell of a diagnostic; what is said aloud goes before what is thought."""
    if before is not None and before.verdicts:
        return  # then the words are about what was just run
    reported = [
        (session.steps[position].kind == "message", position, words)
        for position in stretch
        if _mentions_diagnostic(session.steps[position])
        for words in sentences_of(session.steps[position].text)
        if _DIAGNOSED.search(words)
    ]
    if reported:
        _, position, words = max(reported, key=lambda one: one[:2])
        finding = CheckFinding(family=family_of_diagnostic(words), message=words, path=edit.path)
        yield _diagnostic(session.steps[position], position, finding)


def _diagnostic(step: Step, position: int, finding: CheckFinding) -> DraftEvent:
    event = reported_error(step, DIAGNOSTICS, finding, f"{DIAGNOSTICS} fails: {finding.family}")
    scope = (finding.path,) if finding.path else ()
    verdict = CheckVerdict(check=DIAGNOSTICS, kind="lint", passed=False, findings=(finding,), scope=scope)
    return DraftEvent(position=position, event=event, reported=ReportedFailure(until=position, verdict=verdict))


#: One run of a linter may break many rules; each is an event, so that each can be met again on its own. Beyond this
#: many a run says "everything is broken", which more events would not make clearer.
FAMILIES_PER_RUN = 5
#: The family of a command whose exit status is an answer (``grep`` found nothing) and no trouble.
ANSWERED_NO = "answered no"
#: The shell itself refuses a part of the text: whichever program stood there never ran.
_SHELL_SPEAKS = re.compile(r"\(eval\):\d+: |(zsh|bash|sh|dash): (line )?\S*: ?")
_COMMIT = re.compile(r"^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)


def events_of(session: Session, calls: Sequence[ParsedCall]) -> list[DraftEvent]:
    """Everything that happened, in no particular order."""
    root = session.root
    found = [
        DraftEvent(position=_position(call), call=number, event=event)
        for number, call in enumerate(calls)
        for event in _results(call, root=root)
    ]
    return [*found, *_handed_over(calls), *_milestones(session)]


def _position(call: ParsedCall) -> int:
    return call.position if call.result_position is None else call.result_position


def _results(call: ParsedCall, *, root: str | None) -> Iterator[Event]:
    if call.result is None:
        return
    if call.status in {*UNDONE, "interrupted"}:
        yield _event(call, type="tool_call", content=f"{_name(call)} {call.status}: {line(call.output)}")
    elif call.operation == "run":
        yield from _command_results(call, root=root)
    elif call.asks_editor:
        for verdict in call.verdicts:
            yield from _verdict(call, verdict, root=root)
    elif call.operation == "delegate" and not _is_inline(call):
        yield _came_back(call)
    elif call.status == "error":
        yield _tool_error(call, root=root)


def _command_results(call: ParsedCall, *, root: str | None) -> Iterator[Event]:
    for verdict in call.verdicts:
        yield from _verdict(call, verdict, root=root)
    trouble = None if any(verdict.passed is False for verdict in call.verdicts) else _failed_part(call)
    if trouble is not None:
        yield _error(call, check=_culprit(call), finding=trouble, root=root)
    yield from _commits(call)


def _verdict(call: ParsedCall, verdict: CheckVerdict, *, root: str | None) -> Iterator[Event]:
    if verdict.passed is False:
        for finding in verdict.findings[:FAMILIES_PER_RUN]:
            yield _failure(call, verdict, finding, root=root)
    elif verdict.passed:
        yield _event(
            call,
            type="test",
            content=f"{verdict.check} passes{_counts(verdict)}",
            check=verdict.check,
            passed=verdict.passed_count,
            failed=verdict.failed_count,
            status="ok",
            evidence=_evidence(call, verdict.quote or call.output),
        )


def _failure(call: ParsedCall, verdict: CheckVerdict, finding: CheckFinding, *, root: str | None) -> Event:
    return _event(
        call,
        type="error",
        content=line(f"{verdict.check} fails: {finding.family}{_times(verdict, finding)}"),
        check=verdict.check,
        family=line(finding.family),
        message=line(finding.message) or None,
        path=relative(finding.path, root=root) if finding.path else None,
        tests=finding.tests,
        passed=verdict.passed_count,
        failed=verdict.failed_count if verdict.kind == "test" else finding.times,
        status="error",
        evidence=_evidence(call, finding.message or verdict.quote or call.output),
    )


def _times(verdict: CheckVerdict, finding: CheckFinding) -> str:
    """Counts of the test run; for anything else how often this one thing was found, when more than once."""
    if verdict.kind == "test":
        return _counts(verdict)
    return f" ({finding.times} times)" if finding.times > 1 else ""


def _counts(verdict: CheckVerdict) -> str:
    counts = [
        f"{count} {word}"
        for count, word in ((verdict.failed_count, "failed"), (verdict.passed_count, "passed"))
        if count
    ]
    return f" ({', '.join(counts)})" if counts else ""


def _failed_part(call: ParsedCall) -> CheckFinding | None:
    """What went wrong in a command beside its checks, flagged or in the shell's own words; None for a mere "no"."""
    if call.refusals:
        return call.refusals[0]
    if call.status == "unknown" and _does_more_than_look(call) and (ended := exception_at_end(call.output)):
        return ended
    if call.status != "error" or call.result is None:
        return silent_failure(call.segments, output=call.output)
    finding = command_finding(call.segments, output=call.output, exit_code=call.result.exit_code)
    return None if finding.family == ANSWERED_NO else finding


def _does_more_than_look(call: ParsedCall) -> bool:
    """Whether an output is what the command came to, and no text that it shows."""
    return call.decisive is not None and call.decisive.purpose != "look"


def _culprit(call: ParsedCall) -> str:
    """The part of a command that failed, as program and subcommand: no check that passed, no filter behind a pipe."""
    if _SHELL_SPEAKS.match(call.output.lstrip()):
        return "shell"
    passed = {verdict.segment for verdict in call.verdicts if verdict.passed}
    others = [segment for number, segment in enumerate(call.segments) if number not in passed and segment.joiner != "|"]
    segment = decisive(tuple(others)) or call.decisive
    return " ".join(filter(None, (segment.program, segment.subcommand))) if segment else _name(call)


def _tool_error(call: ParsedCall, *, root: str | None) -> Event:
    finding = tool_finding(_name(call), call.output)
    return msgspec.structs.replace(_error(call, check=_name(call), finding=finding, root=root), tool=_name(call))


def _error(call: ParsedCall, *, check: str, finding: CheckFinding, root: str | None) -> Event:
    path = call.path or (relative(finding.path, root=root) if finding.path else None)
    return _event(
        call,
        type="error",
        content=line(f"{check} fails: {finding.family}"),
        check=check,
        family=line(finding.family),
        message=line(finding.message) or None,
        path=path,
        status="error",
        evidence=_evidence(call, finding.message or call.output),
    )


def _commits(call: ParsedCall) -> Iterator[Event]:
    if not call.outside and any(segment.program == "git" for segment in call.segments):
        for match in _COMMIT.finditer(call.output):
            yield _event(
                call,
                type="commit",
                content=line(match[2]),
                commit=match[1],
                status="ok",
                evidence=_evidence(call, match[0]),
            )


def _came_back(call: ParsedCall) -> Event:
    agent = str(call.step.arguments.get("agent") or "helper")
    status = "error" if call.status == "error" else "ok"
    return _event(call, type="handoff", content=f"{agent} came back: {line(call.output)}", check=agent, status=status)


def _handed_over(calls: Sequence[ParsedCall]) -> Iterator[DraftEvent]:
    for number, call in enumerate(calls):
        if call.operation == "delegate" and call.status not in UNDONE and not _is_inline(call):
            agent = str(call.step.arguments.get("agent") or "helper")
            order = str(call.step.arguments.get("description") or call.step.arguments.get("prompt") or "")
            event = Event(
                id="",
                timestamp=timestamp_of(call.step),
                type="handoff",
                content=f"handed to {agent}: {line(order)}",
                check=agent,
                actor=call.actor,
                evidence=evidence_of(call.step, order),
            )
            yield DraftEvent(position=call.position, call=number, event=event)


def _is_inline(call: ParsedCall) -> bool:
    """Whether the agent carries the work out itself (a skill), so that nothing is handed to anybody."""
    return bool(call.step.arguments.get("inline"))


def _milestones(session: Session) -> Iterator[DraftEvent]:
    """A to-do of the agent that was finished: the first time its list says so."""
    done: set[str] = set()
    for position, step in enumerate(session.steps):
        if step.operation == "track" and step.kind == "call":
            for item in step.arguments.get("completed", ()):
                if isinstance(item, str) and item not in done:
                    done.add(item)
                    yield DraftEvent(position=position, event=_milestone(step, item))


def _milestone(step: Step, item: str) -> Event:
    return Event(
        id="",
        timestamp=timestamp_of(step),
        type="milestone",
        content=line(item),
        actor=step.actor,
        status="ok",
        evidence=evidence_of(step, "" if step.arguments.get("task") else item),
    )


def _name(call: ParsedCall) -> str:
    return call.step.tool or call.operation or "tool"


def _event(call: ParsedCall, **fields: object) -> Event:
    step = call.result or call.step
    given = {"status": call.status, "evidence": _evidence(call, call.output)} | fields
    return Event(id="", timestamp=timestamp_of(step), actor=call.actor, **given)  # type: ignore[arg-type]  # checked by msgspec


def _evidence(call: ParsedCall, text: str) -> Evidence:
    return evidence_of(call.result or call.step, text)
