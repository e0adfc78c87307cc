"""Actions: what a call does, in the parts that a label can be made of."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from helix_episodes.extraction.calls import SUPPRESSIONS, suppressions
from helix_episodes.extraction.drafts import line, quote
from helix_episodes.extraction.paths import role_of
from helix_episodes.model import Action, DecisionType, Marker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from helix_episodes.extraction.calls import ParsedCall

_MARKER = re.compile(rf"(?:{SUPPRESSIONS.pattern})(?::\s?[\w,/-]+|\[[\w,-]+\])?")
#: A line that brings a name in, a comment's or block's end, or nothing: it goes with a change and is not the change.
_SAYS_LITTLE = re.compile(
    r"\s*(?:import [\w\s.,*{}'\"/@-]+;?|from \S+ import .*|(?:pub )?use [\w:{}, *]+;|#include\b.*|using [\w.]+;|"
    r"(?:[\w.]+ )?\"[\w./-]+\"|[\W_]*)"
)
#: What a command is worth as a quotation: the first screenful, for here-documents can be long.
_COMMAND_LIMIT = 1000


def action_of(call: ParsedCall) -> Action:  # noqa: PLR0911  (one per kind of call)
    """The action of a call."""
    arguments = call.step.arguments
    if call.operation in ("edit", "create", "delete"):
        new, old = str(arguments.get("new") or ""), str(arguments.get("old") or "")
        suppresses = suppressions(new) > suppressions(old) and not call.carries_markers
        return Action(
            verb=call.operation,
            path=call.path,
            role=role_of(call.path or ""),
            suppresses=suppresses,
            markers=() if call.carries_markers else _added_markers(old, new, call.step.source.line),
        )
    if call.operation == "run":
        command = quote(str(arguments.get("command", "")), limit=_COMMAND_LIMIT)
        part = call.decisive
        if part is None:
            return Action(verb="run", program="shell", command=command)
        return Action(verb="run", program=part.program, subcommand=part.subcommand, flags=part.flags, command=command)
    if call.operation == "delegate":
        return Action(verb="delegate", object=str(arguments.get("agent") or "helper"))
    if call.operation == "plan":
        return Action(verb="choose", object="plan")
    if call.operation == "ask":
        return Action(verb="choose", object=line(question_of(call), limit=80))
    return Action(verb="use", object=call.step.tool or "tool", path=call.path)


def marker_names(text: str) -> list[str]:
    """The markers in a text that silence a check, one for each rule that they name.

    >>> marker_names("x = 1  # noqa: E501 (long)"), marker_names("return nil //nolint:nilerr,gosec // expected")
    (['noqa: E501'], ['nolint:nilerr', 'nolint:gosec'])
    """
    found = (one.group().lstrip("/# ") for one in _MARKER.finditer(text))
    split = ((one, "") if "[" in one else one.split(":") for one in found)
    return [f"{head}:{rule}" if rule else head for head, *rules in split for rule in ",".join(rules).split(",")]


def _added_markers(old: str, new: str, line: int) -> tuple[Marker, ...]:
    """The markers of which an edit leaves more than there were."""
    added = Counter(marker_names(new)) - Counter(marker_names(old)) if suppressions(new) else ()
    return tuple(Marker(name=name, line=line) for name in added)


def type_of(call: ParsedCall) -> DecisionType:
    """What sort of decision a call is, before it is known whether it answers an error."""
    if call.operation == "delegate":
        return "routing"
    if call.operation in {"plan", "ask"}:
        return "design"
    if call.asks_editor:
        return "test"
    segment = call.decisive
    if call.operation == "look" or (segment is not None and segment.purpose == "look"):
        return "recovery"
    if segment is not None and segment.purpose == "check" and segment.kind != "build":
        return "test"
    return "implementation"


def describe(call: ParsedCall) -> str:
    """The choice as one line for a reader.

    The wording is for people; labels are made from the action's parts.
    """
    arguments = call.step.arguments
    if call.operation == "run":
        return line(f"run {arguments.get('command', '')}")
    if call.operation == "delegate":
        order = arguments.get("description") or arguments.get("prompt") or ""
        return line(f"delegate to {arguments.get('agent') or 'helper'}: {order}")
    if call.operation == "plan":
        return line(f"plan: {plan_title(str(arguments.get('plan', '')))}")
    if call.operation == "ask":
        return line(f"ask: {question_of(call)}")
    if call.operation in {"edit", "create", "delete"}:
        return line(f"{call.operation} {call.path or ''}")
    return line(f"use {call.step.tool}: {call.path or ', '.join(values_of(arguments))}".removesuffix(": "))


def values_of(arguments: Mapping[str, object]) -> Iterator[str]:
    """The texts and numbers among a call's arguments, in the order in which it names them, from lists and objects too.

    >>> list(values_of({"order": "A7", "items": [{"id": 3, "gift": True}]}))
    ['A7', '3']
    """
    left: list[Any] = list(arguments.values())[::-1]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += list(one.values())[::-1]
        elif isinstance(one, list):
            left += one[::-1]
        elif isinstance(one, (str, int, float)) and not isinstance(one, bool) and str(one):
            yield str(one)


def question_of(call: ParsedCall) -> str:
    """The questions that a call asks, as one text."""
    return " ".join(str(one.get("question") or "") for one in _questions(call))


def options_of(call: ParsedCall) -> tuple[str, ...]:
    """What a call gives the person to choose from."""
    return tuple(line(str(option)) for one in _questions(call) for option in one.get("options") or ())


def _questions(call: ParsedCall) -> list[dict[str, Any]]:
    asked = call.step.arguments.get("questions") if call.operation == "ask" else None
    return [one for one in asked if isinstance(one, dict)] if isinstance(asked, list) else []


def changed_part(*, old: str, new: str) -> str:
    r"""The lines of ``new`` between the lines that both texts begin and end with; all of it when nothing remains.

    An edit names enough of its surroundings to be found; a reader wants to see what it changed.

    >>> changed_part(old="def f():\n    x = 1\n    return x", new="def f():\n    x = 2\n    return x")
    '    x = 2'
    """
    return "\n".join(_differing(old, new)[1]) or new


def replaced_part(*, old: str, new: str) -> str:
    r"""The lines of ``old`` in whose place `changed_part` is; all of it where that is all of ``new``.

    >>> replaced_part(old="def f():\n    x = 1\n    return x", new="def f():\n    x = 2\n    return x")
    '    x = 1'
    >>> replaced_part(old="x = 1\nprint(x)\nreturn x", new="x = 1\nreturn x")
    'x = 1\nprint(x)\nreturn x'
    """
    gone, come = _differing(old, new)
    return "\n".join(gone) if any(come) else old


def is_telling(line: str) -> bool:
    """Whether a changed line is more than an import, a bracket or nothing.

    >>> [is_telling(one) for one in ("import os", '    "fmt"', "})", "", "import os; os.remove(path)", "total += tax")]
    [False, False, False, False, True, True]
    """
    return not _SAYS_LITTLE.fullmatch(line)


def _differing(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines of each between those that both begin and end with."""
    before, after = old.split("\n"), new.split("\n")
    start = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    rest = zip(reversed(before[start:]), reversed(after[start:]), strict=False)
    end = next((n for n, (a, b) in enumerate(rest) if a != b), min(len(before), len(after)) - start)
    return before[start : len(before) - end], after[start : len(after) - end]


def plan_title(text: str) -> str:
    r"""A plan's heading, or its first line.

    >>> plan_title("# Plan: publish the formula\n\nSteps …")
    'publish the formula'
    """
    lines = [part.strip() for part in text.splitlines() if part.strip()]
    heading = next((part for part in lines if part.startswith("#")), lines[0] if lines else "")
    return re.sub(r"^(implementation )?plan\s*[:\u2014-]\s*", "", heading.lstrip("# "), flags=re.IGNORECASE)
