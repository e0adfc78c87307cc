r"""What an agent reports at the end of its work, read from its own words.

A marker counts where it stands at the beginning of a line: ``UNDELIVERED:`` and "report DELIVERED: when done" are none.
Emphasis around it (``**DELIVERED:**``) does not matter, nor does its case. The last one counts: what an agent says
while it works may be taken back. A marker with nothing but a placeholder behind it (``DELIVERED: <summary>``) repeats
the instruction and reports nothing.

>>> report_in("I will report BLOCKED: or DELIVERED:\nBLOCKED: no network\n**DELIVERED:** it works after all")
Report(outcome='delivered', told='it works after all')
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
_BEGIN = r"^[ \t]*[*_#`]{0,6}[ \t]*"
_COLON = r"[*_`]{0,3}[ \t]*:[*_`]{0,3}[ \t]*"
_REPORT = re.compile(rf"{_BEGIN}(DELIVERED|BLOCKED|PLAN_COMPLETE){_COLON}(.*)$", re.IGNORECASE | re.MULTILINE)
_INSIGHT = re.compile(rf"{_BEGIN}INSIGHT{_COLON}\s*(?=\{{)", re.IGNORECASE | re.MULTILINE)
_INJECTED = re.compile(rf"{_BEGIN}INJECTED{_COLON}\s*(?=\[)", re.IGNORECASE | re.MULTILINE)
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


def report_in(text: str) -> Report | None:
    """The last report in an agent's own words; None when it made none."""
    found: Report | None = None
    for match in _REPORT.finditer(text):
        told = match[2].strip().strip("*_`").strip()
        if not _PLACEHOLDER.fullmatch(told):
            found = Report(_OUTCOMES[match[1].upper()], told)
    return found


def insight_in(text: str) -> Insight | None:
    """The last insight that says something: an object with a ``content`` of 20 characters or more."""
    insights = (_insight(value) for match in _INSIGHT.finditer(text) for value in _decoded(text, match.end()))
    return next(reversed([one for one in insights if one]), None)


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
    pattern = rf"{_BEGIN}(?:{'|'.join(names)}){_COLON}(\S.*)$"
    return [match[1].strip() for match in re.finditer(pattern, text, re.MULTILINE)]


def injected_in(prompt: str) -> tuple[str, ...]:
    """The names of the insights that a prompt in the seeds' form says it was given."""
    for match in _INJECTED.finditer(prompt):
        for value in _decoded(prompt, match.end()):
            return tuple(one for one in value if isinstance(one, str))
    return ()


def result_in(text: str) -> dict[str, Any] | None:
    """What an explorer found: the last object with ``findings`` or ``status`` in its own words."""
    whole = [value for value in _objects(text, _OBJECT) if value.keys() & {"findings", "status"}]
    inline = [] if whole else [one for one in _objects(text, _ANYWHERE) if one.keys() & {"findings", "status"}]
    return next(reversed([*whole, *inline]), None)


_OUTCOMES: dict[str, AgentOutcome] = {
    "DELIVERED": "delivered",
    "BLOCKED": "blocked",
    "PLAN_COMPLETE": "plan_complete",
}


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
