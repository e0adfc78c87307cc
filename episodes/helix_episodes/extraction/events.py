"""Events: what came of the calls.

A result is a failure by its flag, its exit code, the tool's own error object, or the grammar of the runner that wrote
it; never because the word "error" is in it. A call that a person refused, that lacked a permission, that was
stopped, or that never ran because the one next to it failed is a ``tool_call`` event with that status and no failure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import UNDONE, ParsedCall
from helix_episodes.extraction.checks import (
    NO_SUCH_TOOL,
    NOT_FETCHED,
    CheckFinding,
    Verdict,
    command_finding,
    exception_at_end,
    silent_failure,
    tool_finding,
)
from helix_episodes.extraction.checks.ci import CI, failed_job
from helix_episodes.extraction.checks.command_failures import INTERRUPTED
from helix_episodes.extraction.checks.compilers import DIAGNOSTICS, family_of_diagnostic, read_diagnostics
from helix_episodes.extraction.delivery import told_once
from helix_episodes.extraction.drafts import DraftEvent, ReportedFailure, draft_error, draft_event, line
from helix_episodes.extraction.paths import relative
from helix_episodes.extraction.prose.sentences import has_any, sentences_of
from helix_episodes.extraction.shell.commands import decisive
from helix_episodes.model import as_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Event, EventType
    from helix_episodes.session import Session, Step


#: One run of a linter may break many rules; each is an event, so that each can recur on its own. Beyond this
#: many a run says "everything is broken", which more events would not make clearer.
FAMILIES_PER_RUN = 5
#: The family of a command whose exit status is an answer (``grep`` found nothing) and no failure.
ANSWERED_NO = "answered no"
#: Programs that let through a part of what is piped into them.
_FILTERS = frozenset({"tail", "head", "grep", "egrep", "rg", "sed", "awk"})
#: The shell itself refuses a part of the text: the program there never ran.
_SHELL_REFUSES = re.compile(r"\(eval\):\d+: |(zsh|bash|sh|dash): (line )?\S*: ?")
#: How a program names the part of it that failed: "cannot pull with rebase", "dolt push failed".
_CANNOT = re.compile(r"\bcannot ([a-z]+)\b")
_NAMED_FAILED = re.compile(r"^(?:[Ee]rror: |fatal: )?[\w-]+ ([a-z]+) failed: ", re.MULTILINE)
#: A server was not reached, or refused; and the words with which each command of git shows that it got through.
_UNREACHED = re.compile(r"^fatal: (?:Could not read from remote|unable to access|Authentication failed)", re.MULTILINE)
_REACHES = {
    "fetch": re.compile(r"^From \S", re.MULTILINE),
    "pull": re.compile(r"^From \S|up to date\.?$|Fast-forward|Successfully rebased", re.MULTILINE),
    "push": re.compile(r"^To \S|^Everything up-to-date", re.MULTILINE),
}
_COMMIT = re.compile(r"^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
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


#: A person's reason is shown whole, unless it is a page.
_REASON_LIMIT = 300


def events_of(session: Session, calls: Sequence[ParsedCall]) -> list[DraftEvent]:
    """Everything that happened, in no particular order."""
    prompts = [position for position, step in enumerate(session.steps) if step.kind == "prompt"]
    # Who waits for a command is answered by that command's own result.
    ran = {end for call in calls if call.operation == "run" and call.result for end in _ends(call.result)}
    found: list[DraftEvent] = []
    for number, call in enumerate(calls):
        if call.operation != "run" and call.result and not ran.isdisjoint(_ends(call.result)):
            continue
        position = call.position if call.result_position is None else call.result_position
        for event in _results(call, session) if call.result is not None else ():
            ends = (*prompts[bisect_right(prompts, position) :], len(session.steps)) if event.check == CI else ()
            reported = ReportedFailure(until=ends[0], later=ends[1:]) if ends else None
            found.append(DraftEvent(position=position, call=number, event=event, reported=reported))
    event_of = partial(_ci_error, root=session.root)
    return [*told_once(found, calls, event_of=event_of), *_handed_over(calls), *_milestones(session)]


def _ends(result: Step) -> Iterator[tuple[int, str | int]]:
    """What tells a result from others: its line with its text, and with the exit status, which a terminal alone has."""
    yield result.source.line, result.text
    if result.exit_code is not None:
        yield result.source.line, result.exit_code


def _words_of_refusal(call: ParsedCall, steps: Sequence[Step]) -> str:
    """What the person said who rejected a call, without the program's own sentences around it."""
    if call.status != "rejected" or call.result_position is None:
        return ""
    following = steps[call.result_position + 1 : call.result_position + 2]
    return next((one.text for one in following if one.kind == "prompt" and one.text in call.output), "")


def _results(call: ParsedCall, session: Session) -> Iterator[Event]:
    name, root = _name(call), session.root
    if call.status in {*UNDONE, "interrupted"}:
        said = _words_of_refusal(call, session.steps)
        # Without a person's words a rejection has only the program's own sentence about it.
        why = line(said, limit=_REASON_LIMIT) if said or call.status == "rejected" else line(call.output)
        yield _event(call, "tool_call", f"{name} {call.status}{': ' if why else ''}{why}")
    elif call.operation == "run":
        yield from _verdicts(call, root=root)
        job = failed_job(call.segments, call.output)
        failure = None if any(verdict.passed is False for verdict in call.verdicts) else _failed_part(call)
        if job is not None:
            yield _ci_error(call, job, root=root)
            # The jobs that a watch showed until it was stopped are not why it ended.
            stopped = call.result is not None and call.result.exit_code == INTERRUPTED
            failure = CheckFinding(family="interrupted", message=f"exit code {INTERRUPTED}") if stopped else None
        if failure is not None:
            yield _error(call, check=_culprit(call, failure.message), finding=failure, root=root)
        yield from _commits(call)
    elif call.asks_editor:
        yield from _verdicts(call, root=root)
    elif call.hands_over:
        agent = _agent(call)
        status = "error" if call.status == "error" else "ok"
        yield _event(call, "handoff", f"{agent} came back: {line(call.output)}", check=agent, status=status)
        if call.status == "error":
            yield _error(call, check=agent, finding=tool_finding(agent, call.output), root=root, tool=name)
    elif call.status == "error" or (call.operation == "look" and call.output.startswith(NOT_FETCHED)):
        finding = tool_finding(name, call.output)
        if finding.family == NO_SUCH_TOOL:
            # Nothing of that name ran, so nothing failed at the work.
            yield _event(call, "tool_call", f"{name} never ran: {line(call.output)}")
        else:
            yield _error(call, check=name, finding=finding, root=root, tool=name)


def _verdicts(call: ParsedCall, *, root: str | None) -> Iterator[Event]:
    """What the checks of a call reported: each that passed, and each family of each that failed."""
    for verdict in map(partial(_as_counted, call), call.verdicts):
        if verdict.passed is False:
            for finding in verdict.findings[:FAMILIES_PER_RUN]:
                yield _failure(call, verdict, finding, root=root)
        elif verdict.passed:
            yield _event(
                call,
                "test",
                f"{verdict.check} passes{_counts(verdict)}",
                quoted=verdict.quote or call.output,
                check=verdict.check,
                passed=as_count(verdict.passed_count),
                failed=as_count(verdict.failed_count),
                status="ok",
            )


def _as_counted(call: ParsedCall, verdict: Verdict) -> Verdict:
    """A verdict without the counts of an output of which a filter let through a part."""
    after = call.segments[(verdict.segment or 0) + 1 :]
    filters = takewhile(lambda part: part.joiner == "|", after)
    if not any(part.program in _FILTERS for part in filters):
        return verdict
    findings = tuple(one._replace(times=1) for one in verdict.findings)
    if verdict.by_lines:
        return verdict._replace(findings=findings, passed_count=None, failed_count=None)
    return verdict._replace(findings=findings)


def _failure(call: ParsedCall, verdict: Verdict, finding: CheckFinding, *, root: str | None) -> Event:
    if verdict.kind == "test":
        times, failed = _counts(verdict), verdict.failed_count
    else:
        times, failed = f" ({finding.times} times)" if finding.times > 1 else "", finding.times
    return draft_error(
        call.result or call.step,
        verdict.check,
        finding,
        f"{verdict.check} fails: {finding.family}{times}",
        quoted=verdict.quote or call.output,
        actor=call.actor,
        path=_placed(finding, root),
        passed=as_count(verdict.passed_count),
        failed=as_count(failed),
    )


def _counts(verdict: Verdict) -> str:
    counts = ((verdict.failed_count, "failed"), (verdict.passed_count, "passed"))
    known = [f"{count} {word}" for count, word in counts if count]
    return f" ({', '.join(known)})" if known else ""


def _placed(finding: CheckFinding, root: str | None) -> str | None:
    return relative(finding.path, root=root) if finding.path else None


def _failed_part(call: ParsedCall) -> CheckFinding | None:
    """What went wrong in a command besides its checks, flagged or in the shell's own words; None for a mere "no"."""
    if call.refusals:
        return call.refusals[0]
    # What a look prints is a text that it shows, not how it ended.
    if call.status == "unknown" and call.purpose not in {None, "look"} and (ended := exception_at_end(call.output)):
        return ended
    if call.status != "error" or call.result is None:
        return silent_failure(call.segments, output=call.output)
    finding = command_finding(call.segments, output=call.output, exit_code=call.result.exit_code)
    return None if finding.family == ANSWERED_NO else finding


def _culprit(call: ParsedCall, message: str) -> str:
    """The part of a command that failed, as program and subcommand."""
    if _SHELL_REFUSES.match(call.output.lstrip()):
        return "shell"
    speaker = message.partition(": ")[0]
    if any(segment.program == speaker and not segment.subcommand for segment in call.segments):
        return speaker
    segment = failed_segment(call, message)
    return " ".join(filter(None, (segment.program, segment.subcommand))) if segment else _name(call)


def failed_segment(call: ParsedCall, message: str) -> Segment | None:
    """The part of a command that failed: the one that says so by its name, or the first that had to reach a server.

    Else the deciding one, no check that passed and no filter behind a pipe.
    """
    passed = {verdict.segment for verdict in call.verdicts if verdict.passed}
    others = [segment for number, segment in enumerate(call.segments) if number not in passed and segment.joiner != "|"]
    if len(others) > 1:
        said = _CANNOT.search(message) or _NAMED_FAILED.search(call.output)
        named = (one for one in others if said and said[1] in (one.subcommand, *one.arguments[:1], *one.arguments[1:2]))
        remote = (one for one in others if one.program == "git" and one.subcommand in _REACHES)
        unseen = (one for one in remote if not _REACHES[one.subcommand or ""].search(call.output))
        found = next(named, None) or (next(unseen, None) if _UNREACHED.search(call.output) else None)
        if found is not None:
            return found
    return decisive(tuple(others)) or call.decisive


def _ci_error(call: ParsedCall, finding: CheckFinding, *, root: str | None) -> Event:
    return _error(call, check=CI, finding=finding, root=root)


def _error(call: ParsedCall, *, check: str, finding: CheckFinding, root: str | None, tool: str | None = None) -> Event:
    step, content, path = (
        call.result or call.step,
        f"{check} fails: {finding.family}",
        call.path or _placed(finding, root),
    )
    return draft_error(
        step, check, finding, content, quoted=call.output, actor=call.actor, path=path, tests=(), tool=tool
    )


def _commits(call: ParsedCall) -> Iterator[Event]:
    if not call.outside and any(segment.program == "git" for segment in call.segments):
        for match in _COMMIT.finditer(call.output):
            yield _event(call, "commit", line(match[2]), quoted=match[0], commit=match[1], status="ok")


def _handed_over(calls: Sequence[ParsedCall]) -> Iterator[DraftEvent]:
    for number, call in enumerate(calls):
        if call.hands_over and call.status not in UNDONE:
            agent = _agent(call)
            order = str(call.step.arguments.get("description") or call.step.arguments.get("prompt") or "")
            event = draft_event(call.step, "handoff", f"handed to {agent}: {line(order)}", quoted=order, check=agent)
            yield DraftEvent(position=call.position, call=number, event=event)


def _agent(call: ParsedCall) -> str:
    return str(call.step.arguments.get("agent") or "helper")


def _milestones(session: Session) -> Iterator[DraftEvent]:
    """A to-do of the agent that was finished: the first time its list says so."""
    done: set[str] = set()
    for position, step in enumerate(session.steps):
        if step.operation == "track" and step.kind == "call":
            for item in step.arguments.get("completed", ()):
                if isinstance(item, str) and item not in done:
                    done.add(item)
                    quoted = "" if step.arguments.get("task") else item
                    event = draft_event(step, "milestone", line(item), quoted=quoted, status="ok")
                    yield DraftEvent(position=position, event=event)


def _name(call: ParsedCall) -> str:
    return call.step.tool or call.operation or "tool"


def _event(call: ParsedCall, kind: EventType, content: str, *, quoted: str | None = None, **fields: object) -> Event:
    """An event of a call's result, which rests on its output unless other words are passed."""
    quoted = call.output if quoted is None else quoted
    given = {"status": call.status, "actor": call.actor} | fields
    return draft_event(call.result or call.step, kind, content, quoted=quoted, **given)


def diagnostic_events(session: Session, calls: Sequence[ParsedCall]) -> Iterator[DraftEvent]:
    """Diagnostics sent along, and those that only the agent's words mention."""
    positions = [call.position for call in calls]
    last = -1
    for position, step in enumerate(session.steps):
        sent = step.kind == "note" and step.tool == DIAGNOSTICS
        if not sent and not _mentions_diagnostic(step):
            continue
        following = bisect_right(positions, position)
        until = positions[following] if following < len(positions) else len(session.steps)
        if last == until and not sent:
            continue
        last = until
        if _is_dismissed(session.steps[position:until]):
            continue
        if sent:
            for finding in read_diagnostics(step.text).findings[:FAMILIES_PER_RUN]:
                yield _diagnostic(step, position, finding._replace(path=_placed(finding, session.root)))
        else:
            # The next call that is more than a look, if it comes soon and changes a file.
            soon = islice(calls, following, following + _LOOKS_BEFORE_EDIT)
            edit = next((call for call in soon if call.operation not in {"look", "track"}), None)
            before = calls[following - 1] if following else None
            # After a check, the words are about what was just run.
            if edit is not None and edit.changes_files and not (before and before.verdicts):
                yield from _mentioned_by_agent(session, range(position, until), edit)


def _mentions_diagnostic(step: Step) -> bool:
    if step.kind not in {"message", "thought"} or step.actor != "agent" or not has_any(step.text, _EDITOR_SIGNS):
        return False
    return bool(_DIAGNOSED.search(step.text))


def _is_dismissed(steps: Sequence[Step]) -> bool:
    prose = (step for step in steps if step.kind in {"message", "thought"} and _DISMISSED.search(step.text))
    sentences = (sentence for step in prose for sentence in sentences_of(step.text))
    return any(_DISMISSED.search(one) and _MEANS_IT.search(one) for one in sentences)


def _mentioned_by_agent(session: Session, stretch: range, edit: ParsedCall) -> Iterator[DraftEvent]:
    """The last words between two calls that mention a diagnostic; a message goes before a thought."""
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
    event = draft_error(step, DIAGNOSTICS, finding, f"{DIAGNOSTICS} fails: {finding.family}", quoted=step.text)
    scope = (finding.path,) if finding.path else ()
    verdict = Verdict(check=DIAGNOSTICS, kind="lint", passed=False, findings=(finding,), scope=scope)
    return DraftEvent(position=position, event=event, reported=ReportedFailure(until=position, verdict=verdict))
