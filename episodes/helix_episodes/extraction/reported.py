"""Failures that no result shows: what a person reports in words, and what an editor's diagnostics say.

A person's report is taken conservatively: output of a tool that they paste (by the tool's own grammar), an observation
in the first person or of something that fails, a sentence that calls the work wrong. What is asked or supposed, and
what a review foresees, is no failure. Diagnostics count when the editor sent them along as errors and the agent did not
dismiss them, or, where the log leaves them out, when the agent says what they are and then edits: it took them as real.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice
from textwrap import dedent
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.account import DraftEvent, Told
from helix_episodes.extraction.checks import (
    DIAGNOSTICS,
    Finding,
    Verdict,
    family_of_diagnostic,
    read_diagnostics,
    verdicts_in,
)
from helix_episodes.extraction.commands import parse_command
from helix_episodes.extraction.events import FAMILIES_PER_RUN
from helix_episodes.extraction.evidence import evidence_of, timestamp_of
from helix_episodes.extraction.paths import relative
from helix_episodes.extraction.sentences import PROSE_LIMIT, has_any, is_supposed, sentences_of
from helix_episodes.extraction.symptoms import TROUBLE, TROUBLE_SIGNS, is_doubtful, tells_symptom
from helix_episodes.extraction.verdicts import refutes, rejection_in, verdict_in
from helix_episodes.extraction.words import line
from helix_episodes.model import Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.acts import Act
    from helix_episodes.session import Session, Step

#: Whoever takes a diagnostic as real may look around before changing anything; beyond this many looks the change is
#: about what was found there.
_SOON = 15
USER = "user"
_WORK = frozenset({"edit", "create", "delete", "run"})
#: The check of what a person reports without naming one, and the family of what says nothing of its cause.
WORK = "work"
REPORTED = "reported by the user"
_OBSERVED = re.compile(
    r"\b(?:I|we)(?:['\u2019](?:m|re|ve)| am| are| have)?(?: just| still| now| also| keep)* "
    r"(?:getting|seeing|hitting|facing|got|get|see|hit|ran into|running into|seen)\b"
    rf"[^.?!\n]{{0,80}}\b{TROUBLE}\b"
    r"|\b(?:tests?|builds?|CI|pipeline|lint(?:er)?|command|app|page|server|script|hook|it|this|that|Test\w+|test_\w+)\b"
    r"[^.?!\n,]{0,30}\b(?:fails|failed|failing|(?:is|are) (?:still )?broken|crashes|crashed|hangs)\b"
    r"|\bfound \d+ failing\b|\b\d+ (?:tests? )?fail(?:ed|ing)\b",
    re.IGNORECASE,
)
#: One of these stands, in small letters, wherever something is observed.
_OBSERVED_SIGNS = (*TROUBLE_SIGNS, "broken", "hangs")
_MISSED = re.compile(
    r"\bI(?:['\u2019]m| am) (?:still )?not seeing\b|\bI (?:can )?see\b[^.?!\n]{3,80}\bbut not\b", re.IGNORECASE
)
_HANDED_IN = re.compile(
    r"\b(?:fix|resolve|getting|got|ignore) (?:this|the following)(?: \w+)?(?: error| failure| issue)?\s*:\s*\S",
    re.IGNORECASE,
)
#: A command as people quote it: in backticks, or behind a prompt sign.
_COMMAND = re.compile(r"`([^`\n]{2,200})`|^[ \t]*\$ (.{2,200})$", re.MULTILINE)
_EMBEDDED = re.compile(r"(?<=:) +(?=[\w./-]+\.\w+:\d+:\d+: )")
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


def failures_told(session: Session, acts: Sequence[Act]) -> list[DraftEvent]:
    """The failures that words alone report, and the acceptances that settle them."""
    prompts = [n for n, step in enumerate(session.steps) if _is_prompt(step)] if _works_on_files(acts) else []
    reports = [draft for n in prompts for draft in _reported(session, n, prompts)]
    accepted = [draft for n in prompts[1:] if (draft := _accepted(session.steps[n], n))]
    approved = [_approved(step, n) for n, step in enumerate(session.steps) if _is_approval(step)]
    settling = sorted([*accepted, *approved], key=lambda draft: draft.position)
    settled = [_settled(report, reports, settling) for report in reports]
    used = {draft.told.settled for draft in settled if draft.told}
    return [*settled, *accepted, *(one for one in approved if one.mark in used), *_diagnosed(session, acts)]


def _works_on_files(acts: Sequence[Act]) -> bool:
    """Whether there is work to report failures of; a customer's broken headphones are none of the agent's."""
    return any(act.operation in _WORK for act in acts)


def _is_prompt(step: Step) -> bool:
    return step.kind == "prompt" and step.actor == USER


def _is_approval(step: Step) -> bool:
    return step.kind == "decision" and step.actor == USER and "plan" in step.arguments


def _reported(session: Session, position: int, prompts: Sequence[int]) -> Iterator[DraftEvent]:
    step = session.steps[position]
    before = session.steps[position - 1] if position else None
    if before is not None and _is_approval(before) and before.source == step.source:
        return  # the plan's own text, which nobody typed
    after = bisect_right(prompts, position)
    until = prompts[after] if after < len(prompts) else len(session.steps)
    shown = verdicts_in(_pasted(step.text[:PROSE_LIMIT]))
    command = _quoted_command(step.text[:PROSE_LIMIT]) if shown else ""
    for verdict in shown:
        for finding in verdict.findings[:FAMILIES_PER_RUN]:
            event = _event(step, verdict.check, finding, f"the user reports: {verdict.check} fails: {finding.family}")
            yield DraftEvent(position=position, event=event, told=Told(until=until, verdict=verdict, command=command))
    words = None if shown else reported_in(step.text, first=position == prompts[0])
    if words is not None:
        finding = Finding(family=REPORTED, message=words, generic=True)
        event = _event(step, WORK, finding, f"the user reports: {words}")
        refuted = _work_before(session, position, prompts) if refutes(words) else None
        yield DraftEvent(position=position, event=event, told=Told(until=until, refutes=refuted))


def _work_before(session: Session, position: int, prompts: Sequence[int]) -> int | None:
    """Where the turn began in which the agent last did something: that is what a person refutes."""
    last = next((n for n in range(position - 1, -1, -1) if session.steps[n].kind == "call"), None)
    return None if last is None else prompts[bisect_right(prompts, last) - 1]


def _quoted_command(text: str) -> str:
    """The first check that a text quotes as a command."""
    quoted = (part for one in _COMMAND.finditer(text) for part in parse_command(one[1] or one[2]))
    return next((part.text for part in quoted if part.purpose == "check"), "")


def _pasted(text: str) -> str:
    """The text with what was pasted brought to the margin, where a tool wrote it."""
    first, _, rest = _EMBEDDED.sub("\n", text).partition("\n")
    return f"{first}\n{dedent(rest)}"


def reported_in(text: str, *, first: bool = False) -> str | None:
    """The sentence in which a person reports that something fails or is wrong; ``first`` when nothing was done yet.

    >>> reported_in("I'm getting this error on CI: exit 3"), reported_in("Does it fail locally?")
    ("I'm getting this error on CI: exit 3", None)
    """
    for sentence in sentences_of(text):
        if tells_symptom(sentence) or _is_observed(sentence):
            return sentence
    return None if first else rejection_in(text)


def _is_observed(sentence: str) -> bool:
    if has_any(sentence.lower(), _OBSERVED_SIGNS) and (found := _OBSERVED.search(sentence)):
        doubtful = is_doubtful(sentence, found)
    else:
        found, doubtful = _MISSED.search(sentence) or _HANDED_IN.search(sentence), False
    return found is not None and not doubtful and not is_supposed(sentence, upto=found.end())


def _event(step: Step, check: str, finding: Finding, content: str) -> Event:
    return Event(
        id="",
        timestamp=timestamp_of(step),
        type="error",
        content=line(content),
        check=check,
        family=line(finding.family),
        message=line(finding.message) or None,
        path=finding.path,
        tests=finding.tests,
        status="error",
        actor=step.actor,
        evidence=evidence_of(step, finding.message or step.text),
    )


def _accepted(step: Step, position: int) -> DraftEvent | None:
    return _acceptance(step, position, f"the user accepts: {step.text}") if verdict_in(step.text) == "accepts" else None


def _approved(step: Step, position: int) -> DraftEvent:
    return _acceptance(step, position, f"the user approves the plan: {step.text}")


def _acceptance(step: Step, position: int, content: str) -> DraftEvent:
    event = Event(
        id="",
        timestamp=timestamp_of(step),
        type="milestone",
        content=line(content),
        actor=step.actor,
        status="ok",
        evidence=evidence_of(step, step.text),
    )
    return DraftEvent(position=position, event=event, mark=f"accepted {position}")


def _settled(report: DraftEvent, reports: Sequence[DraftEvent], settling: Sequence[DraftEvent]) -> DraftEvent:
    """A report with the acceptance that came after it, and the last report before that acceptance."""
    after = bisect_right(settling, report.position, key=_position)
    if report.told is None or report.told.verdict is not None or after == len(settling):
        return report
    settled = settling[after]
    last = reports[bisect_right(reports, settled.position, key=_position) - 1]
    told = msgspec.structs.replace(report.told, settled=settled.mark, since=last.position)
    return msgspec.structs.replace(report, told=told)


def _position(draft: DraftEvent) -> int:
    return draft.position


# What an editor says.


def _diagnosed(session: Session, acts: Sequence[Act]) -> Iterator[DraftEvent]:
    """Diagnostics sent along, and those that only the agent's words tell of."""
    calls = [act.position for act in acts]
    heard = -1
    for position, step in enumerate(session.steps):
        sent = step.kind == "note" and step.tool == DIAGNOSTICS
        if not sent and not _tells_of_diagnostic(step):
            continue
        following = bisect_right(calls, position)
        until = calls[following] if following < len(calls) else len(session.steps)
        if heard == until and not sent:
            continue
        heard = until
        if _is_dismissed(session.steps[position:until]):
            continue
        if sent:
            yield from _sent_along(step, position, root=session.root)
        elif edit := _edit_that_follows(acts, following):
            yield from _told_in(session, range(position, until), acts[following - 1] if following else None, edit)


def _tells_of_diagnostic(step: Step) -> bool:
    if step.kind not in {"message", "thought"} or step.actor != "agent" or not has_any(step.text, _EDITOR_SIGNS):
        return False
    return bool(_DIAGNOSED.search(step.text))


def _is_dismissed(said: Sequence[Step]) -> bool:
    spoken = (step for step in said if step.kind in {"message", "thought"} and _DISMISSED.search(step.text))
    sentences = (sentence for step in spoken for sentence in sentences_of(step.text))
    return any(_DISMISSED.search(one) and _MEANS_IT.search(one) for one in sentences)


def _edit_that_follows(acts: Sequence[Act], number: int) -> Act | None:
    """The next call that is more than a look, if it comes soon and changes a file."""
    soon = islice(acts, number, number + _SOON)
    following = next((act for act in soon if act.operation not in {"look", "track"}), None)
    return following if following is not None and following.changes_files else None


def _sent_along(step: Step, position: int, *, root: str | None) -> Iterator[DraftEvent]:
    verdict = read_diagnostics(step.text)
    for finding in verdict.findings[:FAMILIES_PER_RUN]:
        placed = finding._replace(path=relative(finding.path, root=root) if finding.path else None)
        yield _diagnostic(step, position, placed)


def _told_in(session: Session, stretch: range, before: Act | None, edit: Act) -> Iterator[DraftEvent]:
    """The last words between two calls that tell of a diagnostic; what is said aloud goes before what is thought."""
    if before is not None and before.verdicts:
        return  # then the words are about what was just run
    told = [
        (session.steps[position].kind == "message", position, words)
        for position in stretch
        if _tells_of_diagnostic(session.steps[position])
        for words in sentences_of(session.steps[position].text)
        if _DIAGNOSED.search(words)
    ]
    if told:
        _, position, words = max(told, key=lambda one: one[:2])
        finding = Finding(family=family_of_diagnostic(words), message=words, path=edit.path)
        yield _diagnostic(session.steps[position], position, finding)


def _diagnostic(step: Step, position: int, finding: Finding) -> DraftEvent:
    event = _event(step, DIAGNOSTICS, finding, f"{DIAGNOSTICS} fails: {finding.family}")
    scope = (finding.path,) if finding.path else ()
    verdict = Verdict(check=DIAGNOSTICS, kind="lint", passed=False, findings=(finding,), scope=scope)
    return DraftEvent(position=position, event=event, told=Told(until=position, verdict=verdict))
