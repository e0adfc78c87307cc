"""What a person says about the work: failures they report, acceptance and rejection.

A report is read conservatively: output of a tool that they paste (by the tool's own grammar), an observation in the
first person or of something that fails, a sentence that calls the work wrong. A *symptom* is stated in a main clause
and in the present: "I get a TypeError", "the tests fail on CI", "the page still shows a 500", "works here, but fails on
Windows", "same result". What is asked, supposed, denied, quoted, explained, reported from another conversation or taken
back ("but it works now") is no failure, nor is what a review foresees.

A prompt accepts when all of it is acceptance ("Thanks, works great"): every clause is praise, a statement that it
works, or filler. It rejects when a sentence that neither asks nor supposes says that the work is wrong or does not
work, or that what it rests on was looked for and is not so, or when it orders that the work be taken back. Silence,
thanks in passing and the next request say nothing.

>>> states_symptom("I get a TypeError when I click save"), states_symptom("I get no TypeError any more")
(True, False)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import attrgetter
from textwrap import dedent
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.extraction.checks import CheckFinding, verdicts_in
from helix_episodes.extraction.drafts import DraftEvent, ReportedFailure, draft_error, draft_event, line
from helix_episodes.extraction.events import FAMILIES_PER_RUN, diagnostic_events
from helix_episodes.extraction.prose.sentences import (
    PROSE_LIMIT,
    has_any,
    is_denied,
    is_disclaimed,
    is_doubtful,
    is_supposed,
    sentences_of,
)
from helix_episodes.extraction.shell.commands import parse_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.session import Session, Step


UserVerdict = Literal["accepts", "rejects", "takes back"]

#: Praise is short; a longer text says something else as well.
_SHORT = 160
_CLAUSE_MARKS = re.compile(r"[.,;:!\n\u2013\u2014-]+|\band\b|\bbut\b", re.IGNORECASE)
_ACCEPTS = re.compile(
    r"(?:(?:many )?thanks|thank you|thx|ty|perfect|great|excellent|awesome|amazing|brilliant|fantastic|wonderful"
    r"|nice(?:ly done)?|"
    r"lovely|all good|lgtm|well done|good (?:job|work)|approved|solved|ship it|"
    r"(?:it|that|this|everything|all|all of it)?\s*(?:all )?(?:now )?"
    r"(?:works?|worked|is working|does the trick|did it|did the trick|fixed it|looks? (?:good|great|right"
    r"|perfect|fine)|"
    r"(?:is|['\u2019]s) (?:it|fixed|solved|good|great|perfect|right|correct|fine|exactly (?:it|right"
    r"|what i (?:wanted|needed|asked for)))))"
    r"(?: (?:now|again|well|great|fine|perfectly|nicely|as expected|to me|for me|so much|a lot|very much|job"
    r"|work|stuff|one|enough))*",
    re.IGNORECASE,
)
_FILLER = re.compile(r"(?:ok(?:ay)?|yes|yeah|yep|cool|hm+|ah|oh|claude|then|so|very|for now|again|\W*)", re.IGNORECASE)
_REJECTS = re.compile(
    r"\bstill (?:fails?|failing|broken|crash(?:es|ing)?|not (?:work|right|fixed)\w*|doesn['\u2019]t|does not"
    r"|the same)\b"
    r"|\b(?:does|did|do)(?:n['\u2019]t| not) (?:seem to )?(?:work|help|fix|compile|build)\b|\bnot working\b"
    r"|\b(?:this|that|it|you|which|part|one)(?:['\u2019](?:s|re)| is| are)? (?:(?:is|are) )?(?:still |just "
    r"|totally |completely )?"
    r"(?:not (?:correct|right|true|what i \w+)|wrong|incorrect|broken|worse)\b"
    r"|\byou(?:['\u2019]ve| have)? (?:just )?(?:broke|broken|made (?:it|that|this|them) (?:up|worse))\b"
    r"|\bnot what i (?:asked|wanted|meant|said)\b|^\W*(?:wrong|bad|terrible|awful|useless|nonsense)\b(?=\W*$|[,!.])"
    r"|^\W*too (?:slow|long|complicated|complex|verbose"
    r"|much)\W*$",
    re.IGNORECASE,
)
#: Questions that accuse.
_ACCUSES = re.compile(
    r"\b(?:have|did|are) you (?:just )?(?:ma(?:d|k)(?:e|ing)|invent(?:ed|ing)?|hallucinat\w+) (?:it|that|this"
    r"|them|things?)\b",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"^\W*(?:(?:no(?:pe)?|bad|wrong|terrible|please|stop|ok|just|can you|could you|actually|let['\u2019]s)\W+)*"
    r"(?:(?:revert|undo|roll ?back|throw away|discard)"
    r" (?:this|that|it|them|these|those|everything|all|your|the (?:whole|last|entire) ?)\b"
    r"|(?:revert|undo|roll ?back)(?: please)?\W*$)",
    re.IGNORECASE,
)
#: Who looked for what the work rests on, and says that there is none of it.
_REFUTES = re.compile(
    r"\bI(?:['\u2019]ve| have)?(?: just| also)? (?:checked|looked|verified|tried|tested|searched|grepped)\b"
    r"(?:[^.?!]|\.(?=\S)){0,160}\b(?:none|neither|not one|no one|nothing|nobody)\b(?: of [^,.?!]{1,40}?| there)? "
    r"(?:has|have|had|is|are|was|were|does|do|did|contains?|matches|match|starts?|uses?|exists?|shows?)\b"
    r"(?! (?:wrong|broken|missing|failing|affected|left|to worry))",
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


def rejection_in(text: str) -> str | None:
    """The sentence in which a prompt says that something is wrong."""
    for sentence in sentences_of(text):
        if _ACCUSES.search(sentence):
            return sentence
        if refutes(sentence):
            return sentence
        found = _REJECTS.search(sentence)
        if found is None or is_supposed(sentence, upto=found.end()):
            continue
        if not is_denied(sentence, found, within=False) and not is_disclaimed(sentence, found):
            return sentence
    return None


def refutes(sentence: str) -> bool:
    """Whether a sentence says that someone looked for what the work rests on, and it is not so.

    >>> refutes("I just checked and none of them has a date"), refutes("I checked and nothing is wrong")
    (True, False)
    """
    found = _REFUTES.search(sentence)
    return found is not None and not is_supposed(sentence, upto=found.end())


def _is_acceptance(text: str) -> bool:
    if len(text) > _SHORT or "?" in text:
        return False
    clauses = [part.strip() for part in _CLAUSE_MARKS.split(text) if part.strip()]
    statement = [part for part in clauses if not _FILLER.fullmatch(part)]
    return bool(statement) and all(
        _ACCEPTS.fullmatch(re.sub(r"^(?:ok(?:ay)?|yes|yeah|cool|very|so) ", "", part)) for part in statement
    )


#: What goes wrong, as a thing: a word for it, the name of an exception, a status of the server.
FAILURE_NOUN = (
    r"(?:errors?|failures?|exceptions?|crash(?:es)?|panics?|conflicts?|stack ?traces?|tracebacks?|segfaults?|failing"
    r"|(?-i:[A-Z]\w*(?:Error|Exception))|(?:HTTP )?(?:4[0-2]\d|5[0-3]\d)(?! ?(?:[a-z]?px|lines|ms|items|rows|files)\b))"
)
#: In lower case: everything that `FAILURE_NOUN` matches contains one of these.
FAILURE_SIGNS = ("error", "fail", "exception", "crash", "panic", "conflict", "trace", "segfault", "4", "5")
_OFTEN = r"(?: just| still| now| also| again| keep| always| all| both| sometimes| then)*"
_HERE = r"(?:the|this|that|these|those|my|our|your|its|it|they|there|some|all|most|many|both|several|half|one|two|\d+)"
_LEAD = r"(?:(?:now|still|also|then|and|but|so|because|however|unfortunately|sadly|sorry|again|weirdly|apparently)\W+)*"
_MANY = r"(?:tests|builds|checks|jobs|pages|requests|specs|suites|pipelines|hooks|links|buttons|queries|imports|they)"
_GOES_WRONG = r"(?:fails|crashes|hangs|breaks|errors out|times out|explodes|dies|freezes)"
_SYMPTOMS = (
    re.compile(
        r"\b(?:I|we)(?:['\u2019](?:m|re|ve)| am| are| have)?" + _OFTEN + r" "
        r"(?:getting|gets?|got|seeing|see|hitting|hit|receiv(?:e|ing)|running into|run into)\b"
        r"(?:(?!\bto\b)[^.?!,\n]){0,60}?\b" + FAILURE_NOUN + r"\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|(?<=[,;:] )|\bbut ){_LEAD}(?:{_HERE} )*(?:of (?:the|my|our|your) )?"
        rf"(?:(?!(?:that|to|which|the|make|let|have)\b)[\w./-]+ ){{0,2}}"
        rf"{_MANY}{_OFTEN} (?:fail|crash|hang|break|time out)\b(?! to\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_HERE}\b(?:(?!\bto\b|\bthat\b)[^.?!,\n]){{0,40}}? (?:(?:still|now) (?:just )?|keeps? )"
        r"(?:show|return|throw|give|rais|print|display|report|respond|say|log|end)\w*\b[^.?!,\n]{0,40}?\b"
        rf"{FAILURE_NOUN}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b{_HERE}\b(?:(?!\bto\b|\bthat\b)[^.?!,\n]){{0,40}}? (?:shows|throws|gives (?:me|us))\b[^.?!,\n]{{0,30}}?\b"
        r"(?:(?-i:[A-Z]\w*(?:Error|Exception))|5[0-3]\d|stack ?trace|traceback)\b(?! (?:when|if|for|unless)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:works?|worked|passes|pass|builds?|compiles?|runs?|fine|good|great|nice|thanks|thank you)\b[^.?!\n]{0,60}"
        rf"\b(?:but|yet|though|except that|only)\b(?: (?:it|this|that))?{_OFTEN} {_GOES_WRONG}\b",
        re.IGNORECASE,
    ),
)
#: For each of these expressions what its matches contain, in lower case; tried first, because it is far faster.
_SYMPTOM_SIGNS = (
    FAILURE_SIGNS,
    ("fail", "crash", "hang", "break", "time out"),
    FAILURE_SIGNS,
    ("shows", "throws", "gives "),
    ("fails", "crashes", "hangs", "breaks", "errors out", "times out", "explodes", "dies", "freezes"),
)
_UNCHANGED = re.compile(
    r"(?:it(?:['\u2019]s| is)? |that(?:['\u2019]s| is)? |still |exactly |but )*(?:"
    r"(?:the |exactly )*same (?:exact )?(?:result|error|problem|issue|thing|output|behaviou?r|failure|bug|story)s?"
    r"(?: as before| again| here| still)*"
    r"|no (?:luck|change|difference|effect|improvement|dice|joy|success)(?: at all| yet| here| still| though)*)",
    re.IGNORECASE,
)
#: Everything that says so contains one of these.
_UNCHANGED_SIGNS = ("same ", "no ")
_CLAUSES = re.compile(r"[.,;:!\n\u2013\u2014]+|\bbut\b", re.IGNORECASE)


_CONDITION = re.compile(r"^(?:when(?:ever)?|if|after|once|as soon as) (?=(?:I|we|you) )", re.IGNORECASE)


def states_symptom(sentence: str) -> bool:
    """Whether a sentence states, in its own name and of now, that something goes wrong."""
    lowered = sentence.lower()
    if has_any(lowered, _UNCHANGED_SIGNS) and any(
        _UNCHANGED.fullmatch(clause.strip()) for clause in _CLAUSES.split(sentence)
    ):
        return not sentence.rstrip().endswith("?")
    statement = _CONDITION.sub("", sentence)  # "when I save I get an error" reports the error, not of a condition
    for shape, signs in zip(_SYMPTOMS, _SYMPTOM_SIGNS, strict=True):
        found = shape.search(statement) if has_any(lowered, signs) else None
        if found is None or (statement != sentence and found.start() == 0):
            continue
        if not is_supposed(statement, upto=found.end()) and not is_doubtful(statement, found):
            return True
    return False


USER = "user"
_WORK = frozenset({"edit", "create", "delete", "run"})
#: The check of what a person reports without naming one, and the family of what says nothing of its cause.
WORK = "work"
REPORTED = "reported by the user"
_OBSERVED = re.compile(
    r"\b(?:I|we)(?:['\u2019](?:m|re|ve)| am| are| have)?(?: just| still| now| also| keep)* "
    r"(?:getting|seeing|hitting|facing|got|get|see|hit|ran into|running into|seen)\b"
    rf"[^.?!\n]{{0,80}}\b{FAILURE_NOUN}\b"
    r"|\b(?:tests?|builds?|CI|pipeline|lint(?:er)?|command|app|page|server|script|hook|it|this|that|Test\w+|test_\w+)\b"
    r"[^.?!\n,]{0,30}\b(?:fails|failed|failing|(?:is|are) (?:still )?broken|crashes|crashed|hangs)\b"
    r"|\bfound \d+ failing\b|\b\d+ (?:tests? )?fail(?:ed|ing)\b",
    re.IGNORECASE,
)
#: Every observation contains one of these, in lower case.
_OBSERVED_SIGNS = (*FAILURE_SIGNS, "broken", "hangs")
_MISSED = re.compile(
    r"\bI(?:['\u2019]m| am) (?:still )?not seeing\b|\bI (?:can )?see\b[^.?!\n]{3,80}\bbut not\b", re.IGNORECASE
)
_HANDED_IN = re.compile(
    r"\b(?:fix|resolve|getting|got|ignore) (?:this|the following)(?: \w+)?(?: error| failure| issue)?\s*:\s*\S",
    re.IGNORECASE,
)
#: A command as people quote it: in backticks, or after a prompt sign.
_COMMAND = re.compile(r"`([^`\n]{2,200})`|^[ \t]*\$ (.{2,200})$", re.MULTILINE)
_EMBEDDED = re.compile(r"(?<=:) +(?=[\w./-]+\.\w+:\d+:\d+: )")


def reported_failures(session: Session, calls: Sequence[ParsedCall]) -> list[DraftEvent]:
    """The failures that words alone report, and the acceptances after which they count as resolved."""
    # Without work on files there is nothing to report failures of: a customer's broken headphones are none of it.
    works = any(call.operation in _WORK for call in calls)
    prompts = [n for n, step in enumerate(session.steps) if works and step.kind == "prompt" and step.actor == USER]
    reports = [draft for n in prompts for draft in _reported(session, n, prompts)]
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
    resolved = [_resolved(report, reports, acceptances) for report in reports]
    used = {draft.reported.resolved for draft in resolved if draft.reported}
    return [*resolved, *accepted, *(one for one in approved if one.mark in used), *diagnostic_events(session, calls)]


def _is_approval(step: Step) -> bool:
    return step.kind == "decision" and step.actor == USER and "plan" in step.arguments


def _reported(session: Session, position: int, prompts: Sequence[int]) -> Iterator[DraftEvent]:
    step = session.steps[position]
    before = session.steps[position - 1] if position else None
    if before is not None and _is_approval(before) and before.source == step.source:
        return  # the plan's own text, not typed by a person
    after = bisect_right(prompts, position)
    until = prompts[after] if after < len(prompts) else len(session.steps)
    text = step.text[:PROSE_LIMIT]
    # What was pasted is moved to the margin, where a tool wrote it.
    first, _, rest = _EMBEDDED.sub("\n", text).partition("\n")
    shown = verdicts_in(f"{first}\n{dedent(rest)}")
    if shown:
        quoted = (part for one in _COMMAND.finditer(text) for part in parse_command(one[1] or one[2]))
        command = next((part.text for part in quoted if part.purpose == "check"), "")
        for verdict in shown:
            reported = ReportedFailure(until=until, verdict=verdict, command=command)
            for finding in verdict.findings[:FAMILIES_PER_RUN]:
                content = f"the user reports: {verdict.check} fails: {finding.family}"
                event = draft_error(step, verdict.check, finding, content, quoted=step.text)
                yield DraftEvent(position=position, event=event, reported=reported)
    elif (words := report_in(step.text, first=position == prompts[0])) is not None:
        finding = CheckFinding(family=REPORTED, message=words, generic=True)
        event = draft_error(step, WORK, finding, f"the user reports: {words}", quoted=step.text)
        # A person refutes the turn in which the agent last did something.
        last = next((n for n in range(position - 1, -1, -1) if session.steps[n].kind == "call"), None)
        refuted = prompts[bisect_right(prompts, last) - 1] if last is not None and refutes(words) else None
        yield DraftEvent(position=position, event=event, reported=ReportedFailure(until=until, refutes=refuted))


def report_in(text: str, *, first: bool = False) -> str | None:
    """The sentence in which a person reports that something fails or is wrong; ``first`` when nothing was done yet.

    >>> report_in("I'm getting this error on CI: exit 3"), report_in("Does it fail locally?")
    ("I'm getting this error on CI: exit 3", None)
    """
    for sentence in sentences_of(text):
        if states_symptom(sentence) or _is_observed(sentence):
            return sentence
    return None if first else rejection_in(text)


def _is_observed(sentence: str) -> bool:
    if has_any(sentence.lower(), _OBSERVED_SIGNS) and (found := _OBSERVED.search(sentence)):
        doubtful = is_doubtful(sentence, found)
    else:
        found, doubtful = _MISSED.search(sentence) or _HANDED_IN.search(sentence), False
    return found is not None and not doubtful and not is_supposed(sentence, upto=found.end())


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
