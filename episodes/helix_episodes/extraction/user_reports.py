"""What a person says about the work: failures they report, acceptance, rejection and corrections.

A report is read conservatively: output of a tool that they paste (by the tool's own grammar), an observation in the
first person ("I get a TypeError") or of something that fails ("the build fails on CI"), a statement of trouble
(`states_trouble`). What is asked, supposed, denied, quoted, explained or taken back ("but it works now") is no failure,
nor is what a review foresees.

A prompt accepts when it praises and every clause praises, states something or is filler ("Thanks, works great"). It
rejects when it states trouble, or when it orders that the work be taken back. Silence, thanks in passing and the next
request say nothing.

"Does it fail?" asks whether there is a failure, "why does it fail?" only what it comes of, and so reports one.

>>> presupposed_failure("why is https://ci.example/run/7 failing?")
'why is https://ci.example/run/7 failing?'
>>> [presupposed_failure(text) for text in ("does it fail?", "why is this a list?", "tell me why it would fail")]
[None, None, None]

A *correction* tells the agent to work in another way. It is worth more than anything else in a log, and a wrong one
would be obeyed, so it is read conservatively: a prompt that begins with "no" or a prohibition and says what not to do
or what to do instead, that says what was asked for, or how things are done here. What holds only for the moment
("don't commit yet") is no correction, nor is a question or a worry.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from operator import attrgetter
from textwrap import dedent
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.extraction.checks import CheckFinding, verdicts_in
from helix_episodes.extraction.delivery import delivered_by
from helix_episodes.extraction.drafts import DraftEvent, ReportedFailure, draft_error, draft_event, line
from helix_episodes.extraction.events import FAMILIES_PER_RUN, diagnostic_events
from helix_episodes.extraction.prose.failures import FAILS, LONGEST, mentions_trouble, states_trouble
from helix_episodes.extraction.prose.sentences import (
    PROSE_LIMIT,
    has_any,
    is_doubtful,
    is_supposed,
    sentences_of,
    spelled,
    spoken,
)
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.model import CORRECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.session import Session, Step


UserVerdict = Literal["accepts", "rejects", "takes back"]

#: Praise is short; a longer text says something else as well.
_SHORT = 160
_CLAUSE_MARKS = re.compile(r"\.(?!\w)|[,;:!\n\u2013\u2014]+|-(?!\w)|\band\b|\bbut\b", re.IGNORECASE)
#: Praise is said in a word or two, so no form of a sentence can stand for these.
_PRAISES = re.compile(
    r"\b(?:thanks|thank you|thx|great|nice|good|better|right|green|happy|i like|exactly|works?(?! \w+s\b)|ship it"
    r"|perfect(?:ly)?|excellent|awesome|lgtm|well done|approved|correct|fine|solved|fixed)\b|\U0001f44d",
    re.IGNORECASE,
)
#: What somebody says of it besides: a subject and what it is or did, or only what was done with it.
_TELLS = re.compile(
    r"(?:i|it|that|this|the|all|you're)\b.*|\w+ (?:is|are|was|were|has|have)\b.*|\w+(?:ed|ing)", re.IGNORECASE
)
_FILLER = re.compile(r"^(?:\W*\b(?:ok(?:ay)?|yes|again|then|so|for now)\b)*[^\w\U0001f44d]*", re.IGNORECASE)
#: Whoever denies, asks for more or goes on does not only praise.
_GOES_ON = re.compile(
    r"\b(?:not?|never|only|can|could|should|would|will|must|if|let's|need)\b|n't\b|^now\b(?! works?\b)",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"^\W*(?:\w+\W+){0,3}?(?:revert|undo)(?: (?:this|that|it|them|these|those|all|everything|your)\b|\W*$)",
    re.IGNORECASE,
)
#: "Revert that and use a map" is about what comes next.
_INSTEAD = re.compile(r"\b(?:and|then|instead|but|only|how)\b", re.IGNORECASE)


@lru_cache(maxsize=256)  # three stages ask it of each prompt
def verdict_in(text: str) -> UserVerdict | None:
    """What a prompt says about the work so far as a whole, or None when it says nothing outright.

    >>> verdict_in("ok, works. Great!"), verdict_in("Great! Now add a test"), verdict_in("please revert that")
    ('accepts', None, 'takes back')
    """
    if _TAKES_BACK.search(text) and not _INSTEAD.search(text):
        return "takes back"
    if any(states_trouble(one) for one in spoken(text)):
        return "rejects"
    return "accepts" if _is_acceptance(spelled(text)) else None


#: What hands on what was done, in a prompt of which every part does that or says nothing.
_DELIVERS = re.compile(r"\b(?:commit|push|PR|change-?log)\b", re.IGNORECASE)


def is_delivery_request(text: str) -> bool:
    """Whether a prompt only asks to commit, push, merge or note what was done.

    >>> is_delivery_request("commit and update changelog.md"), is_delivery_request("commit and fix the tests")
    (True, False)
    """
    parts = [part for part in _clauses(text) if not _PRAISES.fullmatch(part)]
    return len(text) <= _SHORT and bool(parts) and all(_DELIVERS.search(part) for part in parts)


def _is_acceptance(text: str) -> bool:
    if len(text) > _SHORT or "?" in text or mentions_trouble(text):
        return False
    clauses = _clauses(text)
    if not any(_PRAISES.search(part) for part in clauses) or any(_GOES_ON.search(part) for part in clauses):
        return False
    # "Looks good" tells, "write a good message" orders.
    return all(
        _PRAISES.match(part) or _TELLS.fullmatch(part) or (_PRAISES.search(part) and not _ORDERS.match(part))
        for part in clauses
    )


def _clauses(text: str) -> list[str]:
    """The parts of a short text that say something."""
    parts = (_FILLER.sub("", part.strip()) for part in _CLAUSE_MARKS.split(text))
    return [part for part in parts if part]


USER = "user"
#: How many of the last prompts and messages say what the work is; a person speaks of what was just done.
_REMEMBERED = 3
_WORK = frozenset({"edit", "create", "delete", "run"})
#: The check of what a person reports without naming one, and the family of what says nothing of its cause.
WORK = "work"
REPORTED = "reported by the user"
#: What programs say of an error, in the words of a person.
_ERROR = r"(?:errors?\b|(?-i:[A-Z]\w*(?:Error|Exception))\b)"
_OBSERVED = re.compile(
    r"\b(?:I|we)(?:'(?:m|re|ve)| am| are| have)?(?: just| still| now| also)* (?:get(?:ting)?|got)\b"
    rf"(?:(?!\b(?:to|no)\b)[^.?!,\n]){{0,60}}?\b{_ERROR}"
    r"|(?:^|(?<=[^:] ))(?!(?:can|could|may|might|would|will"
    r"|should|to|or|an?|the|longer|what(?:ever)?) )\w[\w-]*"
    r"(?: \w+ly| still| now| also| all)* (?:fail(?:s|ed|ing)|(?:is|are) broken|crash(?:es|ed))\b(?! \w+s\b)",
    re.IGNORECASE,
)
#: "When I save I get an error" reports the error, not of a condition.
_CONDITION = re.compile(r"^(?:when(?:ever)?|if|after|once) (?=(?:I|we|you) )", re.IGNORECASE)
#: Every observation contains one of these, in lower case; asked first, because that is far faster.
_OBSERVED_SIGNS = ("error", "fail", "exception", "crash", "broken")
#: A command as people quote it: in backticks, or after a prompt sign.
_COMMAND = re.compile(r"`([^`\n]{2,200})`|^[ \t]*\$ (.{2,200})$", re.MULTILINE)
#: An exception below a person's words is what they mean by "this error".
_PASTED = re.compile(r"^[ \t]*(?:[\w.]+(?:Error|Exception): \S.*|panic: \S.*)$", re.MULTILINE)
#: How tools and CI end what they print of a run that failed, where nothing but that was pasted. A cross alone does not
#: tell it: lists have one before what is to be refused.
_PASTED_END = re.compile(
    r"^[ \t]*[\u2a2f\u2717\u2716\u00d7] \S.*\bfailed (?:after|with|because)\b.*$"
    r"|^\W{0,4}(?:npm ERR! \S.*|##\[error\]\S.*"
    r"|Error: (?:Process completed|The process \S+ failed) with exit code [1-9].*)$",
    re.MULTILINE,
)
_EMBEDDED = re.compile(r"(?<=:) +(?=[\w./-]+\.\w+:\d+:\d+: )")


def reported_failures(session: Session, calls: Sequence[ParsedCall]) -> list[DraftEvent]:
    """The failures that words alone report, the acceptances after which they count as resolved, and corrections."""
    # Without work on files there is nothing to report failures of: a customer's broken headphones are none of it.
    works = any(call.operation in _WORK for call in calls)
    prompts = [n for n, step in enumerate(session.steps) if works and step.kind == "prompt" and step.actor == USER]
    changes = [call.position for call in calls if call.changes_files or delivered_by(call) is not None]
    # Words with which a call is rejected come in the middle of the turn that answers.
    turns = [n for n in prompts if not _rejects_call(session, n)]
    reports = [draft for n in prompts for draft in _reported(session, n, turns, changes)]
    wrong = {draft.position for draft in reports}
    accepted = [
        _acceptance(step, n, f"the user accepts: {step.text}")
        for n in prompts[1:]
        if verdict_in((step := session.steps[n]).text) == "accepts"
    ]
    approved = [
        _acceptance(step, n, f"the user approves the plan: {step.text}")
        for n, step in enumerate(session.steps)
        if _is_approval(step)
    ]
    acceptances = sorted([*accepted, *approved], key=_position)
    corrected = [
        DraftEvent(
            position=n,
            event=draft_event(step, "milestone", line(f"{CORRECTS}{words}"), quoted=step.text, status="ok"),
        )
        for n in prompts[1:]
        if n not in wrong and (words := correction_in((step := session.steps[n]).text)) is not None
    ]
    resolved = [_resolved(report, reports, acceptances) for report in reports]
    used = {draft.reported.resolved for draft in resolved if draft.reported}
    approvals = (one for one in approved if one.mark in used)
    return [*resolved, *accepted, *corrected, *approvals, *diagnostic_events(session, calls)]


def _is_approval(step: Step) -> bool:
    return step.kind == "decision" and step.actor == USER and "plan" in step.arguments


def _reported(session: Session, position: int, turns: Sequence[int], changes: Sequence[int]) -> Iterator[DraftEvent]:
    step = session.steps[position]
    before = session.steps[position - 1] if position else None
    if before is not None and _is_approval(before) and before.source == step.source:
        return  # the plan's own text, not typed by a person
    after = bisect_right(turns, position)
    until, *later = [*turns[after : after + 2], len(session.steps)][:2]
    text = step.text[:PROSE_LIMIT]
    # What was pasted is moved to the margin, where a tool wrote it.
    first, _, rest = _EMBEDDED.sub("\n", text).partition("\n")
    shown = verdicts_in(f"{first}\n{dedent(rest)}")
    if shown:
        quoted = (part for one in _COMMAND.finditer(text) for part in parse_command(one[1] or one[2]))
        command = next((part.text for part in quoted if part.purpose == "check"), "")
        for verdict in shown:
            reported = ReportedFailure(until=until, later=tuple(later), verdict=verdict, command=command)
            for finding in verdict.findings[:FAMILIES_PER_RUN]:
                content = f"the user reports: {verdict.check} fails: {finding.family}"
                event = draft_error(step, verdict.check, finding, content, quoted=step.text)
                yield DraftEvent(position=position, event=event, reported=reported)
    elif words := (
        report_in(step.text)
        or _trouble_in(session, position, changes)
        or presupposed_failure(text)
        or ((ended := _PASTED_END.search(text)) and ended[0].strip())
    ):
        pasted = _PASTED.search(text)
        finding = CheckFinding(family=REPORTED, message=pasted[0].strip() if pasted else words, generic=True)
        event = draft_error(step, WORK, finding, f"the user reports: {words}", quoted=step.text)
        reported = ReportedFailure(until=until, later=tuple(later))
        yield DraftEvent(position=position, event=event, reported=reported)


def report_in(text: str) -> str | None:
    """The sentence in which a person reports that something fails, of whatever it is said.

    >>> report_in("I'm getting this error on CI: exit 3"), report_in("Does it fail locally?")
    ("I'm getting this error on CI: exit 3", None)
    """
    return next((one for one in spoken(text) if _is_observed(spelled(one))), None)


def _trouble_in(session: Session, position: int, changes: Sequence[int]) -> str | None:
    """The sentence in which a person, after work on files, states that it is not as it was to be."""
    text = session.steps[position].text
    if len(text) > LONGEST or not changes or position < changes[0] or not mentions_trouble(text):
        return None
    if _rejects_call(session, position):
        return None  # why a call was refused: it is said of that call, before it did anything
    return next((one for one in spoken(text) if states_trouble(one)), None)


def calls_wrong(session: Session, position: int) -> bool:
    """Whether a prompt says outright that the work is wrong."""
    return not _rejects_call(session, position) and verdict_in(session.steps[position].text) == "rejects"


def _rejects_call(session: Session, position: int) -> bool:
    """Whether a prompt is what a person said when they rejected a call."""
    before, step = session.steps[position - 1 : position], session.steps[position]
    return any(one.status == "rejected" and one.source == step.source for one in before)


def _is_observed(sentence: str) -> bool:
    """Whether a sentence states in its own name, and of now, that something goes wrong."""
    if not has_any(sentence.lower(), _OBSERVED_SIGNS):
        return False
    statement = _CONDITION.sub("", sentence)
    found = _OBSERVED.search(statement)
    if found is None or (statement != sentence and found.start() == 0):
        return False
    return not is_doubtful(statement, found) and not is_supposed(statement, upto=found.end())


def _acceptance(step: Step, position: int, content: str) -> DraftEvent:
    event = draft_event(step, "milestone", line(content), quoted=step.text, status="ok")
    return DraftEvent(position=position, event=event, mark=f"accepted {position}")


def _resolved(report: DraftEvent, reports: Sequence[DraftEvent], acceptances: Sequence[DraftEvent]) -> DraftEvent:
    """A report with the acceptance that came after it, and the last report before that acceptance."""
    after = bisect_right(acceptances, report.position, key=_position)
    if report.reported is None or report.reported.verdict is not None or after == len(acceptances):
        return report
    acceptance = acceptances[after]
    last = reports[bisect_right(reports, acceptance.position, key=_position) - 1]
    reported = msgspec.structs.replace(report.reported, resolved=acceptance.mark, since=last.position)
    return msgspec.structs.replace(report, reported=reported)


_position = attrgetter("position")


#: Who asks why a thing fails, or does not do what it should, takes for granted that it is so.
_WHY = re.compile(
    r"\bwhy\b(?: (?:is|are|was|were|do|does|did|has|have|am))? (?!would|could|should|might|no\b|not\b)"
    rf"(?:(?!\b(?:would|could|should|might|not|no|if)\b)[^?!\n]){{0,300}}?\b(?:{FAILS}|fail)\b"
    r"|\bwhy (?:do|does|did|is|are|was|were|has|have)(?:n't (?!(?:we|you|I)\b)| (?:\S+ ){1,6}not )\w+",
    re.IGNORECASE,
)


def presupposed_failure(text: str) -> str | None:
    """The sentence of a prompt that asks why something fails."""
    return next((one for one in sentences_of(text) if _WHY.search(spelled(one))), None)


#: A longer prompt is a new task, whatever it begins with.
_LONGEST = 600
#: So much of it is kept: the sentence that corrects and the next ones.
_KEPT = 240
_NO = re.compile(
    r"^(?:no+(?!\s+(?:problem|more)\b)|stop(?! \w+ing\b))\b"
    r"[\s,.!:;\u2013\u2014-]*",
    re.IGNORECASE,
)
#: Where an order begins: no subject and no question word, but a verb in its plain form.
_BEGINS = (
    r"^(?:(?:please|and|but|again|so|just|actually|you should|we should|you must),? )*"
    r"(?!(?:it|this|that|they|these|those|there|the|an?|i|we|you|my|our|your|all|if|when|why|what|how|who|is|are|was|"
    r"were|do(?:es)?|did|can|could|will|would|should|has|have|ok|no|not|in|on|at|for|now|then|add)\b)"
    r"[a-z]+(?<!s)(?<!ed)(?<!ing)(?<!ly)\b(?! (?:is|are|was|were|has|have|does|doesn't)\b| \w+s,)"
)
_DO = re.compile(rf"{_BEGINS} \S|^do (?:it|this|that|the|an?)\b", re.IGNORECASE)
_ORDERS = re.compile(rf"{_BEGINS}|^(?:do|does|did|is|are|was|were|can|could|will|would|should)\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"^(?:(?:please|and|but|again|so|just),? )*"
    r"(?:(?:do not|don't|never)\s+(?:ever |just )?([a-z]+)\b|stop [a-z]+ing\b)",
    re.IGNORECASE,
)
#: What is to be left, or to be again, next to what is to be in its place.
_IN_PLACE = re.compile(
    r"\b(?:instead|rather than|and not)\b|, (?:not|no|never)\b|\bback to\b|\bas it was\b", re.IGNORECASE
)
#: Where an order follows its reason.
_PARTS = re.compile(r"[;:] |\bso (?:please )?")
_MEANT = re.compile(r"^I (?:said|meant)\b(?! nothing\b)|^I'd rather\b", re.IGNORECASE)
#: How things are done where the agent works.
_CUSTOM = re.compile(r"^we (?:never|don't (?!have)) ?", re.IGNORECASE)
#: What else asks for something new.
_ASKS = re.compile(r"^add\b|\bneed\b|\?$", re.IGNORECASE)
_HARMLESS = frozenset({"worry", "forget"})
_MOMENTARY = re.compile(r"\b(?:yet|for now|now|until|before|anything)\b", re.IGNORECASE)


def correction_in(text: str) -> str | None:
    """What a prompt corrects, None where it corrects nothing.

    >>> correction_in("No, don't use a third-party client for that. Keep a table of rates in the repo instead.")
    "No, don't use a third-party client for that. Keep a table of rates in the repo instead."
    >>> correction_in("Don't worry, looks good"), correction_in("no, don't push yet"), correction_in("No idea, you?")
    (None, None, None)
    """
    if len(text) > _LONGEST:
        return None
    sentences = sentences_of(text)
    refused = False
    for place, sentence in enumerate(sentences[:3]):
        begins = _NO.match(sentence)
        refused = refused or begins is not None
        order = spelled(sentence[begins.end() :] if begins else sentence)
        if order and _corrects(order, refused=refused):
            return _joined(sentences[0 if refused else place :])
        if not refused and (_DO.match(order) or _ASKS.search(order)):
            return None  # a prompt that begins with another order is about something else
    return None


def _corrects(order: str, *, refused: bool) -> bool:
    if is_supposed(order) or _MOMENTARY.search(order):
        return False
    forbids = _FORBIDS.match(order)
    if forbids is not None:
        return (forbids[1] or "").lower() not in _HARMLESS
    if _MEANT.match(order) or _CUSTOM.search(order):
        return True
    parts = _PARTS.split(order)
    return any(_DO.match(part) and (refused or _IN_PLACE.search(part)) for part in (order, *parts))


def _joined(sentences: list[str]) -> str:
    """The sentences, as many as fit; each ends as one."""
    found = ""
    for one in sentences:
        longer = f"{found} {one if one[-1] in '.!?' else f'{one}.'}".strip()
        if found and len(longer) > _KEPT:
            break
        found = longer
    return found[:_KEPT]
