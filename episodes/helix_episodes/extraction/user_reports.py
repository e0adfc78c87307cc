"""What a person says about the work: failures they report, acceptance, rejection and corrections.

A report is read conservatively: output of a tool that they paste (by the tool's own grammar), an observation in the
first person ("I get a TypeError") or of something that fails ("the tests fail on CI"), a sentence that calls the work
wrong. What is asked, supposed, denied, quoted, explained, reported from another conversation or taken back ("but it
works now") is no failure, nor is what a review foresees.

A prompt accepts when all of it is acceptance ("Thanks, works great"): every clause is praise, a statement that it
works, or filler. It rejects when a sentence that neither asks nor supposes says that the work is wrong or does not
work, or when it orders that the work be taken back. Silence, thanks in passing and the next request say nothing.

Whether a prompt takes a failure for granted: it asks why something fails, or orders that an error be fixed.

"Does it fail?" asks whether there is a failure, "why does it fail?" only what it comes of. Somebody who orders
"fix this: cannot use err as string" shows the message of whoever complained. Neither states the failure in a sentence
of its own, and both report one.

>>> presupposed_failure("why is https://ci.example/run/7 failing?")
'why is https://ci.example/run/7 failing?'
>>> presupposed_failure("investigate why I get 'Denied by hook' and fix it") is not None
True
>>> [presupposed_failure(text) for text in ("does it fail?", "why is this a list?", "tell me why it would fail")]
[None, None, None]

What a person tells an agent to do otherwise than it does, in the person's own words.

A correction is worth more than anything else in a log, and a wrong one would be obeyed, so it is read conservatively:
a prompt that begins with a "no" or a prohibition and says what not to do or what to do in its place, or that says what
was asked for. What holds only for the moment ("don't commit yet") is no correction, nor is a question or a worry.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import attrgetter
from textwrap import dedent
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.extraction.checks import CheckFinding, verdicts_in
from helix_episodes.extraction.delivery import delivered_by
from helix_episodes.extraction.drafts import DraftEvent, ReportedFailure, draft_error, draft_event, line
from helix_episodes.extraction.events import FAMILIES_PER_RUN, diagnostic_events
from helix_episodes.extraction.prose.failures import LONGEST, mentions_trouble, states_trouble
from helix_episodes.extraction.prose.sentences import (
    PROSE_LIMIT,
    has_any,
    is_denied,
    is_disclaimed,
    is_doubtful,
    is_supposed,
    prose,
    sentences_of,
    stems,
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
_CLAUSE_MARKS = re.compile(r"[.,;:!\n\u2013\u2014-]+|\band\b|\bbut\b", re.IGNORECASE)
_ACCEPTS = re.compile(
    r"(?:thanks|thank you|thx|perfect|great|excellent|awesome|nice|all good|lgtm|well done|good (?:job|work)|approved|"
    r"ship it|(?:(?:it|that|this|everything|all) )?(?:now )?(?:works?|worked|looks? (?:good|great|right|fine)|"
    r"(?:is|['\u2019]s) (?:it|fixed|solved|good|great|perfect|right|correct|fine|exactly what i (?:wanted|asked for))))"
    r"(?: (?:now|again|well|great|fine|perfectly|as expected|to me|for me|so much|a lot|very much|job|work))*",
    re.IGNORECASE,
)
_FILLER = re.compile(r"(?:ok(?:ay)?|yes|yeah|yep|cool|hm+|ah|oh|claude|then|so|very|for now|again|\W*)", re.IGNORECASE)
_REJECTS = re.compile(
    r"\bstill (?:fail(?:s|ing)?|broken|crash(?:es|ing)?|not \w+|doesn['\u2019]t|the same)\b"
    r"|\b(?:does|did|do)(?:n['\u2019]t| not) (?:work|help|compile|build)\b"
    r"|\b(?:this|that|it|you|which|part|one)(?:['\u2019](?:s|re)| is| are) (?:still )?"
    r"(?:not (?:correct|right|true|what i \w+)|wrong|incorrect|broken)\b",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"^\W*(?:(?:no(?:pe)?|bad|wrong|please|ok|just|can you|could you|actually)\W+)*"
    r"(?:revert|undo|roll ?back|discard)"
    r"(?: (?:this|that|it|them|these|those|everything|all|your|the (?:whole|last))\b|(?: please)?\W*$)",
    re.IGNORECASE,
)
#: "Revert that and use a map" is about what comes next.
_GOES_ON = re.compile(r"\b(?:and|then|instead|but|use|only|except)\b", re.IGNORECASE)


def verdict_in(text: str) -> UserVerdict | None:
    """What a prompt says about the work so far, or None when it says nothing outright.

    >>> verdict_in("ok, works. Great!"), verdict_in("Great! Now add a test"), verdict_in("it still fails")
    ('accepts', None, 'rejects')
    >>> verdict_in("if it does not work, tell me"), verdict_in("please revert that")
    (None, 'takes back')
    """
    if _TAKES_BACK.search(text) and not _GOES_ON.search(text):
        return "takes back"
    if rejection_in(text) is not None:
        return "rejects"
    return "accepts" if _is_acceptance(text) else None


#: Words of a prompt that asks for what is done to be recorded and handed on, and nothing else.
_DELIVERY = re.compile(
    r"\W*(?:(?:(?:ok(?:ay)?|yes|yep|great|cool|perfect|good|nice|thanks?|now|then|and|also|please|let['\u2019]?s|"
    r"(?:can|could) you|go ahead|you can|just|so|all|it|this|that|these|them|the|a|an|to|as|with|on|in|for|your|my|our|"
    r"changes?|work|files?|everything|everyone|main|master|origin|remote|branch|upstream|current|new|message|"
    r"commit(?:s|ted)?|push(?:ed)?|merge[ds]?|open|create|make|raise|submit|send|update|ship|land|squash|rebase|tag|"
    r"PRs?|MRs?|pull|merge|requests?|change-?log(?:\.md)?|release|notes?|draft|done|landed)\b|/\w+)\W*)+",
    re.IGNORECASE,
)
_DELIVERS = re.compile(r"\b(?:commit|push|merge|ship|land|PR|MR|pull request|change-?log)\b", re.IGNORECASE)


def is_delivery_request(text: str) -> bool:
    """Whether a prompt only asks to commit, push, merge or note what was done.

    >>> is_delivery_request("commit and update changelog.md"), is_delivery_request("commit and fix the tests")
    (True, False)
    """
    return len(text) <= _SHORT and bool(_DELIVERS.search(text)) and _DELIVERY.fullmatch(text) is not None


def rejection_in(text: str) -> str | None:
    """The sentence in which a prompt says that something is wrong."""
    for sentence in sentences_of(text):
        found = _REJECTS.search(sentence)
        if found is None or is_supposed(sentence, upto=found.end()):
            continue
        if not is_denied(sentence, found, within=False) and not is_disclaimed(sentence, found):
            return sentence
    return None


def _is_acceptance(text: str) -> bool:
    if len(text) > _SHORT or "?" in text:
        return False
    clauses = [part.strip() for part in _CLAUSE_MARKS.split(text) if part.strip()]
    statement = [part for part in clauses if not _FILLER.fullmatch(part)]
    return bool(statement) and all(
        _ACCEPTS.fullmatch(re.sub(r"^(?:ok(?:ay)?|yes|yeah|cool|very|so) ", "", part)) for part in statement
    )


USER = "user"
#: How many of the last prompts and messages say what the work is; a person speaks of what was just done.
_REMEMBERED = 3
_WORK = frozenset({"edit", "create", "delete", "run"})
#: The check of what a person reports without naming one, and the family of what says nothing of its cause.
WORK = "work"
REPORTED = "reported by the user"
#: What somebody runs into or still has; issues by number, on a list or to be worked on are tickets.
_A_TROUBLE = (
    r"(?:(?!\bto\b)[^.?!,\n]){0,40}?\b(?:issues?|problems?|bugs?)\b"
    r"(?=\W*$|[.,;:!]| (?:in|with|on|at|when|while|after|here|now|again|and|but|there|during|where|because|since)\b)"
)
_OBSERVED = re.compile(
    r"\b(?:I|we)(?:['\u2019](?:m|re|ve)| am| are| have)?(?: just| still| now| also| keep)* "
    r"(?:getting|seeing|hitting|got|get|see|hit|ran into)\b(?:(?!\bto\b)[^.?!,\n]){0,60}?\b"
    r"(?:errors?|failures?|exceptions?|conflicts?|(?-i:[A-Z]\w*(?:Error|Exception)))\b"
    r"|\b(?:tests?|builds?|CI|pipeline|lint(?:er)?|app|page|hook|it|this|that|they|Test\w+)\b"
    r"(?:(?!\b(?:can|could|may|might|would|will|should|what|whatever|anything)\b)[^.?!\n,]){0,30}"
    r"\b(?:fails|failed|failing|(?:is|are) broken|crash(?:es|ed)?|hangs?)\b"
    r"|(?:^|[,;:] |\bbut )(?:\w+ of |unfortunately )?(?:the|my|our|all|all the|these|both|they)(?: [\w-]+)?(?: still)? "
    r"(?:fail|crash|hang)\b(?! to\b)|\bfound \d+ failing\b|\b\d+ (?:tests? )?fail(?:ed|ing)\b"
    r"|\b(?:I|we)(?:(?:['\u2019](?:ve|m|re)| have| did| keep| am| are)(?: just| still| now| also)* run(?:ning)?"
    rf"|(?: just| still| now| also)* ran) into\b{_A_TROUBLE}"
    rf"|\b(?:I|we) still (?:have|get|see|hit)\b(?! (?:\w+ )?open\b){_A_TROUBLE}"
    r"|\bI (?:have )?just lost (?:my|all (?:my|the))\b"
    # What they found where it was not to be, and what is against what should have been.
    r"|\b(?:there(?:['\u2019]s| is| are)|(?:I|we) (?:now |still )?have) (?:\w+ ){0,2}?"
    r"(?:lint\w*|type|compil\w+|build|merge|syntax) (?:errors?|failures?|conflicts?)\b"
    r"|\b(?:branch|PR|MR|pull request|it) (?:now |still )?has (?:merge )?conflicts\b"
    r"|\b(?:all|some|most|several|one|two|three|\d+)(?: of)?(?: the| our| my)? (?:\w+ )?"
    r"(?:checks|tests|jobs|builds|hooks)(?: is| are| were| have| has| still| now)* (?:fail|failed|failing)\b"
    r"|\b(?:lint\w*|hook|check|CI|compiler|\w+-lint) complains\b"
    # What a person tried in vain.
    r"|\b(?:I|we)(?:['\u2019](?:m|re)| am| are) (?:\w+ )?unable to \w+",
    re.IGNORECASE,
)
#: "When I save I get an error" reports the error, not of a condition.
_CONDITION = re.compile(r"^(?:when(?:ever)?|if|after|once) (?=(?:I|we|you) )", re.IGNORECASE)
#: Every observation contains one of these, in lower case; asked first, because that is far faster.
_OBSERVED_SIGNS = (
    *("error", "fail", "exception", "crash", "conflict", "broken", "hang"),
    *("issue", "problem", "bug", "just lost", "unable to", "complains"),
)
#: The "should" of what happened otherwise supposes nothing.
_SHOULD_HAVE = re.compile(
    r"\bshould(?:n['\u2019]t| not)? have (?:been )?\w+[^.?!\n]{0,80}?,? but "
    r"(?:the|it|they|there|only|now|nothing|no|none|instead)\b",
    re.IGNORECASE,
)
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
        if (words := correction_in((step := session.steps[n]).text)) is not None
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
        report_in(step.text, first=position == turns[0])
        or _trouble_in(session, position, changes)
        or presupposed_failure(text)
        or ((ended := _PASTED_END.search(text)) and ended[0].strip())
    ):
        pasted = _PASTED.search(text)
        finding = CheckFinding(family=REPORTED, message=pasted[0].strip() if pasted else words, generic=True)
        event = draft_error(step, WORK, finding, f"the user reports: {words}", quoted=step.text)
        reported = ReportedFailure(until=until, later=tuple(later))
        yield DraftEvent(position=position, event=event, reported=reported)


def report_in(text: str, *, first: bool = False) -> str | None:
    """The sentence in which a person reports that something fails or is wrong; ``first`` when nothing was done yet.

    >>> report_in("I'm getting this error on CI: exit 3"), report_in("Does it fail locally?")
    ("I'm getting this error on CI: exit 3", None)
    """
    for sentence in sentences_of(text):
        if _is_observed(sentence):
            return sentence
    return None if first else rejection_in(text)


def _trouble_in(session: Session, position: int, changes: Sequence[int]) -> str | None:
    """The sentence in which a person, after work on files, states that it is not as it was to be."""
    text = session.steps[position].text
    if len(text) > LONGEST or not changes or position < changes[0] or not mentions_trouble(text):
        return None
    if _rejects_call(session, position):
        return None  # why a call was refused: it is said of that call, before it did anything
    before = session.steps[:position]
    asked = [step.text for step in before if step.kind == "prompt"][-_REMEMBERED:]
    said = [step.text for step in before if step.kind == "message"][-_REMEMBERED:]
    used = frozenset[str]().union(*(stems(prose(one)) for one in (*asked, *said)))
    return next((one for one in sentences_of(text) if states_trouble(one, used)), None)


def _rejects_call(session: Session, position: int) -> bool:
    """Whether a prompt is what a person said when they rejected a call."""
    before, step = session.steps[position - 1 : position], session.steps[position]
    return any(one.status == "rejected" and one.source == step.source for one in before)


def _is_observed(sentence: str) -> bool:
    """Whether a sentence states in its own name, and of now, that something goes wrong."""
    against = _SHOULD_HAVE.search(sentence) if "should" in sentence else None
    if against is not None:
        return not is_doubtful(sentence, against) and not is_supposed(sentence[: against.start()])
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


_FAILS = (
    r"(?:fail(?:s|ed|ing|ures?)?|broken|broke|breaks|crash(?:es|ed|ing)?|hang(?:s|ing)?|erroring|denied|refused|"
    r"rejected|timing out|timed out|stuck|red)"
)
#: What a thing is to do of which somebody asks why it does not.
_HAPPENS = r"(?:work|trigger|publish|show|load|run|start|build|compil|updat|appear|install|render|sav|deploy|fir)\w*"
#: "Why would it fail" supposes, and "why is it not failing" misses a failure.
_WHY = re.compile(
    r"\bwhy(?: is| are| was| were| do| does| did| has| have| am)? (?!would|could|should|might|no\b|not\b)"
    rf"(?:(?!\b(?:would|could|should|might|not|no|if)\b)[^?!\n]){{0,300}}?\b{_FAILS}\b"
    r"|\bwhy (?:am I|are we|do I|do we|I|we)(?: keep| always| still)? (?:gett?(?:ing)?|see(?:ing)?)\b"
    r"|\bwhy (?:did|does) (?:it|this|that) stop\b"
    rf"|\bwhy (?:does|did|is|are|do|was|were|has|have)(?:n['\u2019]t| (?:\S+ ){{1,6}}not) (?:\S+ ){{0,6}}?{_HAPPENS}",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"^\W*(?:please |can you |could you )?(?:fix|solve|resolve|repair)(?: this| the)?(?: following)?(?: \w+)?: *"
    r"(?P<message>\S.*)",
    re.IGNORECASE,
)
#: What compilers and runners say in the messages that people paste without their place.
_MESSAGE = re.compile(
    r"\b(?:cannot|can't|could not|undefined|unused|unexpected|expected|missing|invalid|unknown|unresolved|undeclared|"
    r"error|failed|fails|denied|not (?:found|assignable|defined|a function|exported)|no such|does not exist|"
    r"exit (?:code|status) [1-9])\b",
    re.IGNORECASE,
)
_DID_NOT = re.compile(
    r"^(?:I (?:think|guess|believe) |it (?:seems|looks like) |looks like |apparently,? |seems )?(?:that )?"
    r"(?:the|our|my|this|that|it)\b[^.?!,\n]{0,50}?"
    rf"\b(?:did|was|has|have|does|is|are|were)(?:n['\u2019]t| not) (?:get |getting |been |being )?{_HAPPENS}",
    re.IGNORECASE,
)


def presupposed_failure(text: str) -> str | None:
    """The sentence of a prompt that takes a failure for granted."""
    return next((sentence for sentence in sentences_of(text) if _presupposes(sentence)), None)


def _presupposes(sentence: str) -> bool:
    ordered = _ORDERED.match(sentence)
    if ordered is not None and _MESSAGE.search(ordered["message"]):
        return True
    return bool(_WHY.search(sentence)) or (not sentence.endswith("?") and bool(_DID_NOT.match(sentence)))


#: A longer prompt is a new task, whatever it begins with.
_LONGEST = 600
#: So much of it is kept: the sentence that corrects and the next ones.
_KEPT = 240
_NO = re.compile(
    r"^(?:no+(?!\s+(?:problem|worries|need|idea|rush))(?:pe)?|wrong|stop|wait|hold on|hey"
    r"|not (?:like )?(?:that|this))\b[\s,.!:;\u2013\u2014-]*",
    re.IGNORECASE,
)
#: Behind a "no" an order is a correction; without one it has to forbid or to name what comes in whose place.
_FORBIDS = re.compile(
    r"^(?:(?:please|and|but|again|so),? )*(?:do not|don['\u2019]?t|never|stop|avoid)\s+(?:ever |just |simply )?"
    r"([a-z]+)\b",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(
    r"^(?:(?:please|and|but|again|so|just|you should|we should|you must) )*"
    r"(?:use|keep|put|write|make|do|call|name|take|leave|store|read|run|move|return|prefer|go with|it should be)\b"
    r"[^.?!]{0,160}\b(?:instead|rather than|, not\b|and not\b)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^(?:(?:please|and|but|again|so|just|you should|we should|you must|we) )*"
    r"(?:(?:it|that|this|they) (?:should|must|has to|have to|needs? to)"
    r"|use|keep|put|write|make|call|name|take|leave|store|read|run|move|return|prefer|go with)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"^(?:but )?I (?:said|meant|asked (?:you )?(?:for|to)|told you|wanted|explicitly said)\b(?! (?:nothing|hi|hello))",
    re.IGNORECASE,
)
_HARMLESS = frozenset({
    "worry", "forget", "know", "think", "understand", "see", "mind", "hesitate", "care", "believe", "want", "need",
    "have", "feel", "remember", "get", "like",
})  # fmt: skip
_MOMENTARY = re.compile(
    r"\b(?:yet|for now|right now|now|today|this time|until|before|anything|wait|stop here|let me|for the moment)\b",
    re.IGNORECASE,
)


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
    for place, sentence in enumerate(sentences[:3]):
        begins = _NO.match(sentence)
        refused = place > 0 and _NO.fullmatch(f"{sentences[place - 1].rstrip('.!,;: ')}") is not None
        if _corrects(sentence[begins.end() :] if begins else sentence, refused=refused or begins is not None):
            said = sentences[place - 1 :] if refused else sentences[place:]
            return _joined(said)
        if not begins:
            return None  # a prompt that begins otherwise is about something else
    return None


def _corrects(order: str, *, refused: bool) -> bool:
    if is_supposed(order) or _MOMENTARY.search(order):
        return False
    forbids = _FORBIDS.match(order)
    if forbids is not None:
        return forbids[1].lower() not in _HARMLESS
    if _IN_PLACE.match(order) or _MEANT.match(order):
        return True
    return refused and _ORDERS.match(order) is not None


def _joined(sentences: list[str]) -> str:
    """The sentences, as many as fit; each ends as one."""
    found = ""
    for one in sentences:
        longer = f"{found} {one if one[-1] in '.!?' else f'{one}.'}".strip()
        if found and len(longer) > _KEPT:
            break
        found = longer
    return found[:_KEPT]
