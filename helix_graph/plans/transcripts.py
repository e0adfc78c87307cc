r"""A finished agent's transcript: its task, messages and calls, whether it broke off, and its report.

It is read by the readers of `helix_episodes`, so any agent's log will do, also a sub-agent's transcript on its own.
What the agent was asked and what it said are separate, because a prompt that shows how to report holds every marker
that a report has.

A marker counts at the beginning of a line, in capitals, as the seeds write it: ``UNDELIVERED:``, ``Blocked: nothing``
and "report DELIVERED: when done" are none. Emphasis around it (``**DELIVERED:**``) does not matter. Text in a block of
code or a quotation (``>``) is an example or somebody else's word. The report follows the marker or, if nothing does,
is in the lines below it, up to the first empty one. The last report counts. A marker with only a placeholder
(``DELIVERED: <summary>``) repeats the instruction and reports nothing.

>>> report_in("I will report BLOCKED: or DELIVERED:\nBLOCKED: no network\n**DELIVERED:** it works after all")
AgentReport(outcome='delivered', told='it works after all')
>>> report_in("BLOCKED:\n\nThe network\nis down.\n\n```\nDELIVERED: this is what it would look like\n```")
AgentReport(outcome='blocked', told='The network is down.')
>>> insight_in('INSIGHT: {"content": "Use {braces} in strings with care", "tags": ["pattern"]}').tags
('pattern',)
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import orjson

from helix_episodes.echo import without_echo
from helix_episodes.errors import LogNotReadable, UnknownLogFormat
from helix_episodes.readers.registry import find_reader
from helix_episodes.redaction import redact_text
from helix_episodes.safe_files import irregularity
from helix_episodes.session import Session, Step

if TYPE_CHECKING:
    from helix_graph.plans.model import AgentOutcome


#: The least that an insight says, in characters: the seeds' own limit.
FEWEST_CHARACTERS = 20
#: A line that is indented further is a block of code, in Markdown.
_BEGIN = r"^ {0,3}(?:#{1,6}[ \t]+)?(?P<open>[*_`]{0,3})"
_COLON = r"(?P<close>[*_`]{0,3}[ \t]*:[*_`]{0,3})[ \t]*"
_REPORT = re.compile(rf"{_BEGIN}(?P<outcome>DELIVERED|BLOCKED|PLAN_COMPLETE){_COLON}(?P<told>.*)$", re.MULTILINE)
_INSIGHT = re.compile(rf"{_BEGIN}INSIGHT{_COLON}\s*(?=\{{)", re.MULTILINE)
_UTILIZED = re.compile(rf"{_BEGIN}UTILIZED{_COLON}\s*(?=\[)", re.MULTILINE)
_ANY_MARKER = re.compile(rf"{_BEGIN}(?:DELIVERED|BLOCKED|PLAN_COMPLETE|INSIGHT|INJECTED|UTILIZED){_COLON}")
#: Prompts may be indented as a whole; nobody shows examples of them in a prompt.
_FIELD = r"^[ \t]*[*_#`]{0,6}[ \t]*"
_INJECTED = re.compile(rf"{_FIELD}INJECTED{_COLON}\s*(?=\[)", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_PLACEHOLDER = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\.\.\.|…")
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_ANYWHERE = re.compile(r"\{")
#: An object that does not begin its line is looked for this often; a text with more braces is code, not a result.
_MOST_TRIES = 1000
#: Line breaks within strings are no JSON, and agents write them.
_DECODER = json.JSONDecoder(strict=False)


class AgentReport(NamedTuple):
    """How an agent says its work ended."""

    outcome: AgentOutcome
    told: str


class ReportedInsight(NamedTuple):
    """What an agent says it has learnt."""

    content: str
    tags: tuple[str, ...] = ()


def report_in(*messages: str) -> AgentReport | None:
    """The last report in an agent's own messages; None when it made none. One may tell nothing but how it ended."""
    found: AgentReport | None = None
    for text in messages:
        plain = _without_code(text)
        for match in _REPORT.finditer(plain):
            text_after = match["told"].strip()
            if not match["close"].strip(" \t:"):  # the emphasis that began before the marker ends here
                text_after = text_after.removesuffix(match["open"]).strip()
            text_after = text_after or _below(text, plain, match.end())
            if not _PLACEHOLDER.fullmatch(text_after):
                found = AgentReport(_OUTCOMES[match["outcome"]], text_after)
    return found


def insight_in(*messages: str) -> ReportedInsight | None:
    """The last insight that says something: an object with a ``content`` of 20 characters or more."""
    insights = [one for value in _values_after(_INSIGHT, messages) if (one := _insight(value))]
    return insights[-1] if insights else None


def utilized_in(*messages: str) -> tuple[str, ...] | None:
    """The insights that an agent says have helped, as its last list has them; None when it gives none of texts.

    >>> utilized_in('UTILIZED: ["one"]'), utilized_in("UTILIZED: []"), utilized_in("UTILIZED: [memories that helped]")
    (('one',), (), None)
    """
    lists = [
        tuple(value)
        for value in _values_after(_UTILIZED, messages)
        if all(isinstance(one, str) and not _PLACEHOLDER.fullmatch(one) for one in value)
    ]
    return lists[-1] if lists else None


def derived_insight(task: str, reason: str) -> ReportedInsight:
    """What a blocked task teaches when its agent did not say; the seeds' words.

    >>> derived_insight("sell shoes", "no shoes").content
    "When attempting 'sell shoes': blocked by no shoes"
    """
    content = f"When attempting '{task[:100]}': blocked by {reason[:200]}" if task else f"Blocked: {reason[:250]}"
    return ReportedInsight(content, ("derived", "failure"))


def field_in(text: str, name: str) -> str | None:
    """The last value of a field of a prompt, ``OBJECTIVE: Sell shoes``; None when it has none."""
    return next(reversed(fields_in(text, name)), None)


def fields_in(text: str, *names: str) -> list[str]:
    """The values of fields of a prompt, in the order in which they stand."""
    pattern = rf"{_FIELD}(?:{'|'.join(names)}){_COLON}(?P<value>\S.*)$"
    return [match["value"].strip() for match in re.finditer(pattern, text, re.MULTILINE)]


def injected_in(prompt: str) -> tuple[str, ...]:
    """The names of the insights that a prompt in the seeds' form says it was given."""
    for match in _INJECTED.finditer(prompt):
        for value, _ in _decoded_with_end(prompt, match.end()):
            return tuple(one for one in value if isinstance(one, str))
    return ()


def result_in(*messages: str) -> dict[str, Any] | None:
    """What an explorer found: the last object with ``findings`` or ``status`` in its own words, in code or not."""
    text = "\n".join(messages)
    whole = [value for value in _objects(text, _OBJECT) if value.keys() & {"findings", "status"}]
    inline = [] if whole else [one for one in _objects(text, _ANYWHERE) if one.keys() & {"findings", "status"}]
    return next(reversed([*whole, *inline]), None)


_OUTCOMES: dict[str, AgentOutcome] = {"DELIVERED": "delivered", "BLOCKED": "blocked", "PLAN_COMPLETE": "plan_complete"}


def _without_code(text: str) -> str:
    """The text with blanks in place of its blocks of code, so that every place in it stays where it is."""
    lines, closing = [], ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        inside = bool(closing or fence)
        if closing:
            closed = fence and fence[1].startswith(closing) and not fence[2].strip()
            closing = "" if closed else closing
        elif fence:
            closing = fence[1]
        lines.append(" " * len(line) if inside else line)
    return "\n".join(lines)


def _below(text: str, plain: str, at: int) -> str:
    """The paragraph after a place, which may be a block of code, on one line; nothing where another marker comes."""
    text_after: list[str] = []
    for line, outside in zip(text[at:].split("\n"), plain[at:].split("\n"), strict=True):
        if _ANY_MARKER.match(outside) or (text_after and not line.strip()):
            break
        if line.strip() and not _FENCE.match(line):
            text_after.append(line.strip())
    return " ".join(text_after)


def _insight(value: object) -> ReportedInsight | None:
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(content, str) or len(content.strip()) < FEWEST_CHARACTERS:
        return None
    tags = value.get("tags")
    return ReportedInsight(
        content.strip(), tuple(one for one in tags if isinstance(one, str)) if isinstance(tags, list) else ()
    )


def _objects(text: str, begin: re.Pattern[str]) -> Iterator[dict[str, Any]]:
    """The objects in a text, the outermost of each."""
    at = 0
    for _ in range(_MOST_TRIES):
        match = begin.search(text, at)
        if match is None:
            return
        at = match.end()
        for value, end in _decoded_with_end(text, match.end() - 1):
            at = end
            if isinstance(value, dict):
                yield value


def _values_after(marker: re.Pattern[str], messages: Iterable[str]) -> Iterator[Any]:
    """The JSON values that follow a marker outside of code."""
    for text in messages:
        for match in marker.finditer(_without_code(text)):
            yield from (value for value, _ in _decoded_with_end(text, match.end()))


def _decoded_with_end(text: str, at: int) -> Iterator[tuple[Any, int]]:
    """The JSON value that begins there and where it ends; nothing, when none does."""
    try:
        yield _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return


_AGENT, _USER = "agent", "user"
#: A last record is one line; a transcript's end of this length holds it whole, or it is no short word of an error.
_END = 64 * 1024


class AgentTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """What a transcript holds. ``crashed``: the agent's program broke off, or never got to say anything.

    ``root`` is the folder that the agent worked in, where the log names one.
    """

    session: str = ""
    root: str | None = None
    prompts: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    crashed: bool = False


def read_transcript(path: Path) -> AgentTranscript:
    """The transcript in a file; one that holds nothing is that of an agent that crashed."""
    if not path.is_file():
        raise LogNotReadable(path=path, problem=irregularity(path, follow=True) or "it does not exist")
    try:
        *_, session = find_reader(path, part=True).read(path)
    except UnknownLogFormat:
        if _broke_off(path):
            return AgentTranscript(crashed=True)
        raise
    except LogNotReadable:
        if not path.stat().st_size or _broke_off(path):
            return AgentTranscript(crashed=True)
        raise
    return _transcript(session, crashed=_broke_off(path))


def read_patiently(path: Path, *, done: Any, pauses: Sequence[float]) -> AgentTranscript:  # noqa: ANN401  (a predicate)
    """As `read_transcript`, again after each pause until ``done`` says that the report is there.

    An agent's program may tell of its end before the last lines are written.
    """
    found = read_transcript(path)
    for pause in pauses:
        if found.crashed or done(found):
            break
        time.sleep(pause)
        found = read_transcript(path)
    return found


def count_calls(path: Path) -> int:
    """How many tools the agent called."""
    return sum(step.kind == "call" and step.actor == _AGENT for step in read_transcript(path).steps)


def outcome_of(steps: Iterable[Step], command: str) -> bool | None:
    """How the last run of a command came out, alone or among others; None when it was not run, or nothing tells."""
    wanted = " ".join(command.split())
    runs: set[str | None] = set()
    verdict: bool | None = None
    for step in steps:
        if step.operation == "run" and wanted and wanted in " ".join(str(step.arguments.get("command", "")).split()):
            runs.add(step.call_id)
        elif step.kind == "result" and step.call_id in runs and step.call_id is not None:
            verdict = {"ok": True, "error": False}.get(step.status, verdict)
    return verdict


def _transcript(session: Session, *, crashed: bool) -> AgentTranscript:
    prompts = [without_echo(step.text) for step in session.steps if step.kind == "prompt" and step.actor == _USER]
    own = [
        redact_text(without_echo(step.text).text)
        for step in session.steps
        if step.kind == "message" and step.actor == _AGENT
    ]
    names = dict.fromkeys((*session.injected, *(name for one in prompts for name in one.insights)))
    return AgentTranscript(
        session=session.id,
        root=session.root,
        prompts=tuple(redact_text(one.text) for one in prompts),
        own=tuple(own),
        injected=tuple(names),
        steps=session.steps,
        crashed=crashed,
    )


def _broke_off(path: Path) -> bool:
    """Whether the last record is an error of the agent's program."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - _END))
        lines = [line for line in file.read().splitlines() if line.strip()]
    try:
        record = orjson.loads(lines[-1] if lines else b"")
    except orjson.JSONDecodeError:
        return False
    if not isinstance(record, dict):
        return False
    message = record.get("message")
    stopped = message.get("stop_reason") if isinstance(message, dict) else None
    errors = (record.get("error"), record.get("isApiErrorMessage"), stopped == "error", record.get("type") == "error")
    return any(errors)
