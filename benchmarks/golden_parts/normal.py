"""What changes from run to run by nature, and the named rule for each; everything else is compared as it is."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import helix_graph

if TYPE_CHECKING:
    from collections.abc import Callable

_NOW = datetime.now(UTC)
#: A run may begin before midnight and end after it.
_DAYS = {(_NOW + timedelta(days=days)).date().isoformat() for days in (-1, 0, 1)}
_NEAR = 2 * 24 * 3600
#: A run takes no longer than this.
_RUN = 3600
_ASSERTED = "<ASSERTED>"


class Rule(NamedTuple):
    """One kind of change: its name, where it stands in a text, and what stands there afterwards."""

    name: str
    pattern: re.Pattern[str]
    instead: str | Callable[[re.Match[str]], str]


def _day(found: re.Match[str]) -> str:
    return "<TODAY>" if found[1] in _DAYS else found[0]


def _clock(found: re.Match[str]) -> str:
    whole = int(found[1])
    seconds = whole / 10 ** max(len(found[1]) - 10, 0)
    return "<CLOCK>" if abs(seconds - _NOW.timestamp()) < _NEAR else found[0]


def _days_ago(found: re.Match[str]) -> str:
    """A time that was computed from now: the same time of another day, but for the minutes of this run."""
    apart = abs((_NOW - datetime.fromisoformat(found[1])).total_seconds()) % (24 * 3600)
    return '": "<DAYS AGO>"' if min(apart, 24 * 3600 - apart) < _RUN else found[0]


def rules(root: Path) -> tuple[Rule, ...]:
    """The rules for a run in ``root``, in the order in which they apply."""
    checkout = Path(helix_graph.__path__[0]).parent
    return (
        Rule("the run's folder", re.compile(re.escape(root.name)), "golden-<RUN>"),
        Rule("the interpreter", re.compile(re.escape(sys.executable)), "<PYTHON>"),
        Rule("the environment", re.compile(re.escape(sys.prefix)), "<PREFIX>"),
        Rule("the checkout", re.compile(re.escape(str(checkout))), "<CHECKOUT>"),
        Rule(
            "whole days before now", re.compile(r'(?:(?<="since)|(?<="before))": "(\d{4}-\d\d-\d\dT[^"]+)"'), _days_ago
        ),
        Rule(
            "a time of today",
            re.compile(r"\b(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?(?!\d)"),
            _day,
        ),
        Rule("a clock's seconds", re.compile(r"\b(\d{10,19})(?:\.\d+)?\b"), _clock),
        Rule("a random id", re.compile(r"(?<!forgotten/)\b[0-9a-f]{32}\b"), "<ID>"),
        Rule("an assertion's id, made of its time", re.compile(r"\ba[a-z2-7]{16}\b"), _ASSERTED),
        Rule("a task's time", re.compile(r"(?<=task-)\d{14}"), "<TODAY>"),
        Rule("a duration", re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|milliseconds)\b"), "<DURATION>"),
        Rule("a process's number", re.compile(r"(?<=pid )\d+"), "<PID>"),
        Rule("a file's number on its disk", re.compile(r'(?<="inode": )\d+'), "<INODE>"),
        Rule("a temporary name", re.compile(r"(?<=helix-graph-demo-)\w{8}"), "<TEMPORARY>"),
        Rule("the version", re.compile(re.escape(helix_graph.__version__) + r"\b"), "<VERSION>"),
    )


class Normaliser:
    """Applies the rules of a run."""

    def __init__(self, root: Path) -> None:
        self._rules = rules(root)

    def __call__(self, text: str) -> str:
        for rule in self._rules:
            text = rule.pattern.sub(rule.instead, text)
        return _in_order(text) if _ASSERTED in text else text

    def database(self, text: str) -> str:
        """The same of the rows of a database, which stood in the order of their ids."""
        grouped = groupby(self(text).split("\n"), lambda line: line.startswith("("))
        return "\n".join(line for rows, some in grouped for line in (sorted(some) if rows else some))


def _in_order(text: str) -> str:
    """Neighbouring lines that begin with an assertion's id, sorted: their order is that of the ids."""
    lines: list[str] = []
    for asserted, some in groupby(text.split("\n"), lambda line: line.lstrip(' "').startswith(_ASSERTED)):
        every = list(some)
        lines += sorted(line.rstrip(",") for line in every) if asserted else every
    return "\n".join(lines)
