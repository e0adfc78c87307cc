r"""What an agent reports at the end of its work, read from its own words.

A marker counts where it stands at the beginning of a line, in capitals, as the seeds write it: ``UNDELIVERED:``,
``Blocked: nothing`` and "report DELIVERED: when done" are none. Emphasis around it (``**DELIVERED:**``) does not
matter. What stands in a block of code or is quoted (``>``) is an example or somebody else's word. What is reported
stands behind the marker, or, where nothing does, in the lines below it, up to the first that is empty. The last report
counts: what an agent says while it works may be taken back. A marker with nothing but a placeholder behind it
(``DELIVERED: <summary>``) repeats the instruction and reports nothing.

>>> report_in("I will report BLOCKED: or DELIVERED:\nBLOCKED: no network\n**DELIVERED:** it works after all")
Report(outcome='delivered', told='it works after all')
>>> report_in("BLOCKED:\n\nThe network\nis down.\n\n```\nDELIVERED: this is what it would look like\n```")
Report(outcome='blocked', told='The network is down.')
>>> insight_in('INSIGHT: {"content": "Use {braces} in strings with care", "tags": ["pattern"]}').tags
('pattern',)
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class Report(NamedTuple):
    """How an agent says its work ended."""

    outcome: AgentOutcome
    told: str


class Insight(NamedTuple):
    """What an agent says it has learnt."""

    content: str
    tags: tuple[str, ...] = ()


def report_in(*messages: str) -> Report | None:
    """The last report in an agent's own messages; None when it made none. One may tell nothing but how it ended."""
    found: Report | None = None
    for text in messages:
        plain = _without_code(text)
        for match in _REPORT.finditer(plain):
            told = _emphasised(match) or _below(text, plain, match.end())
            if not _PLACEHOLDER.fullmatch(told):
                found = Report(_OUTCOMES[match["outcome"]], told)
    return found


def insight_in(*messages: str) -> Insight | None:
    """The last insight that says something: an object with a ``content`` of 20 characters or more."""
    insights = (
        _insight(value)
        for text in messages
        for match in _INSIGHT.finditer(_without_code(text))
        for value in _decoded(text, match.end())
    )
    return next(reversed([one for one in insights if one]), None)


def utilized_in(*messages: str) -> tuple[str, ...] | None:
    """The insights that an agent says have helped, as its last list has them; None when it gives none of texts.

    >>> utilized_in('UTILIZED: ["one"]'), utilized_in("UTILIZED: []"), utilized_in("UTILIZED: [memories that helped]")
    (('one',), (), None)
    """
    lists = [
        tuple(value)
        for text in messages
        for match in _UTILIZED.finditer(_without_code(text))
        for value in _decoded(text, match.end())
        if all(isinstance(one, str) and not _PLACEHOLDER.fullmatch(one) for one in value)
    ]
    return next(reversed(lists), None)


def derived_insight(task: str, reason: str) -> Insight:
    """What a blocked task teaches when its agent did not say; the seeds' words.

    >>> derived_insight("sell shoes", "no shoes").content
    "When attempting 'sell shoes': blocked by no shoes"
    """
    content = f"When attempting '{task[:100]}': blocked by {reason[:200]}" if task else f"Blocked: {reason[:250]}"
    return Insight(content, ("derived", "failure"))


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
        for value in _decoded(prompt, match.end()):
            return tuple(one for one in value if isinstance(one, str))
    return ()


def result_in(*messages: str) -> dict[str, Any] | None:
    """What an explorer found: the last object with ``findings`` or ``status`` in its own words, in code or not."""
    text = "\n".join(messages)
    whole = [value for value in _objects(text, _OBJECT) if value.keys() & {"findings", "status"}]
    inline = [] if whole else [one for one in _objects(text, _ANYWHERE) if one.keys() & {"findings", "status"}]
    return next(reversed([*whole, *inline]), None)


_OUTCOMES: dict[str, AgentOutcome] = {
    "DELIVERED": "delivered",
    "BLOCKED": "blocked",
    "PLAN_COMPLETE": "plan_complete",
}


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


def _emphasised(match: re.Match[str]) -> str:
    """What stands behind a marker, without the end of the emphasis that was begun before it."""
    told = match["told"].strip()
    ended = match["close"].strip(" \t:")
    return told if ended else told.removesuffix(match["open"]).strip()


def _below(text: str, plain: str, at: int) -> str:
    """The paragraph after a place, which may be a block of code, on one line; nothing where another marker comes."""
    told: list[str] = []
    for line, outside in zip(text[at:].split("\n"), plain[at:].split("\n"), strict=True):
        if _ANY_MARKER.match(outside) or (told and not line.strip()):
            break
        if line.strip() and not _FENCE.match(line):
            told.append(line.strip())
    return " ".join(told)


def _insight(value: object) -> Insight | None:
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(content, str) or len(content.strip()) < FEWEST_CHARACTERS:
        return None
    tags = value.get("tags")
    return Insight(
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


def _decoded(text: str, at: int) -> Iterator[Any]:
    yield from (value for value, _ in _decoded_with_end(text, at))


def _decoded_with_end(text: str, at: int) -> Iterator[tuple[Any, int]]:
    """The JSON value that begins there and where it ends; nothing, when none does."""
    try:
        yield _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return
