"""A session log in JSON: one object whose members are given out by the role of their names."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.readers.ai_agents.gates import declared_by_gates, take_gates
from helix_episodes.readers.ai_agents.statements import (
    fields_of,
    skip,
    take_decisions,
    take_entry,
    take_lessons,
    take_problems,
)
from helix_episodes.readers.ai_agents.states import declared_by_words, goes_on, is_bare_state
from helix_episodes.readers.ai_agents.steps import Steps, day, moment
from helix_episodes.readers.ai_agents.words import role_of, words_of
from helix_episodes.session import Piece

if TYPE_CHECKING:
    from helix_episodes.readers.located import Node

PLACEHOLDER = re.compile(
    r"^\W*(migrated from \w+|tbd|todo|n/?a|none|placeholder|unknown|objective)?\W*$", re.IGNORECASE
)
#: A commit by its full or short name; one of digits alone is a number of something, unless a label says "commit".
SHA = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")


class Reading(msgspec.Struct, kw_only=True):
    """What one log states of the session as a whole, beside its steps."""

    steps: Steps
    task: str = ""
    date: datetime | None = None
    branch: str = ""
    status: str = ""
    starting: str = ""
    commits: list[Piece] = msgspec.field(default_factory=list)

    def take_status(self, text: str) -> None:
        """A status; one that only says that the work goes on yields to what a later one says."""
        if not self.status or (goes_on(self.status) and declared_by_words(text)):
            self.status = text

    @property
    def declared(self) -> str | None:
        """The outcome by the log's own status, else by its gates."""
        gates = [step for step in self.steps.found if step.kind == "gate"]
        return declared_by_words(self.status) or declared_by_gates(gates)


def read_report(document: Node) -> Reading:
    """The steps and statements of a log in JSON."""
    reading = Reading(steps=Steps())
    for key, member in document.members.items():
        _take(reading, key, member)
    reading.steps.found.sort(key=lambda step: _ORDER.get(step.kind, 0))
    return reading


#: Gates and lessons are written down when the work is over, wherever the file has them.
_ORDER = {"lesson": 1, "gate": 2}


def _take(reading: Reading, key: str, member: Node) -> None:  # noqa: PLR0911  (one line a role reads best)
    steps, role = reading.steps, role_of(key)
    if key == "session" and member.members:
        return _take_head(reading, member)
    if role == "gates":
        return take_gates(steps, member)
    if role == "work":
        return _take_work(steps, member)
    if role == "decision":
        return take_decisions(steps, member)
    if role == "lesson":
        return take_lessons(steps, member)
    if role == "problem":
        return take_problems(steps, member, name=key)
    if role in {"outcome", "status", "found"}:
        return _take_outcome(reading, key, member)
    if role in {"task", "commit", "time"} or key == "session_id":
        return _take_head_field(reading, key, member)
    if role == "header":
        return skip(steps, key, member)
    return _keep(reading, key, member)


def _take_work(steps: Steps, node: Node) -> None:
    """The work log: a list of entries, or an object that names groups of them."""
    if node.members and not any(role_of(key) in {"did", "found", "label"} for key in node.members):
        for member in node.members.values():
            _take_work(steps, member)
        return
    for item in node.items:
        take_entry(steps, item)


def _take_head(reading: Reading, node: Node) -> None:
    for key, member in node.members.items():
        _take_head_field(reading, key, member)


def _take_head_field(reading: Reading, key: str, member: Node) -> None:
    """What stands at the head of a log: objective, date, branch, commits."""
    role, steps = role_of(key), reading.steps
    if role == "task":
        state_task(reading, member.text, line=member.line)
    elif role == "time":
        steps.used.add(member.line)
        reading.date = reading.date or moment(member.text) or day(member.text)
    elif role == "commit":
        take_commits(reading, member)
    elif "starting" in words_of(key):
        steps.used.add(member.line)
        reading.starting = member.text
    elif key == "branch":
        steps.used.add(member.line)
        reading.branch = member.text
    elif role is None and any(fields_of(member)) and key != "session_id":
        _keep(reading, key, member)
    else:
        skip(steps, key, member)


def state_task(reading: Reading, text: str, *, line: int) -> None:
    """The objective, as what the session is for and as a statement of its own: it may name the trouble to be mended."""
    reading.steps.used.add(line)
    if not PLACEHOLDER.match(text):
        reading.task = reading.task or text
        reading.steps.note(text, part="task", line=line)


def take_commits(reading: Reading, node: Node) -> None:
    """The commits that a log names as its own."""
    for field in fields_of(node, name="commit"):
        reading.steps.used.add(field.line)
        shas = SHA.findall(field.text) or [field.text] * (field.text.isdigit() and len(field.text) >= 7)  # noqa: PLR2004  (git's shortest)
        reading.commits += [Piece(line=field.line, text=sha) for sha in shas]


def _take_outcome(reading: Reading, key: str, node: Node) -> None:
    """What came of the session: a status, what it brought about, and whatever else the log put under that name."""
    if not node.members:
        for item in node.items:
            _take_result(reading, key, item)
        return
    for name, member in node.members.items():
        role = role_of(name)
        if role in {"decision", "lesson", "problem", "work", "gates"}:
            _take_special(reading, name, member)
        elif role == "commit":
            take_commits(reading, member)
        elif member.members and role in {"outcome", "measure"}:
            _take_outcome(reading, name, member)
        elif role in {"files", "measure", "header", "time"} or not any(fields_of(member)):
            skip(reading.steps, name, member)
        else:
            for item in member.items:
                _take_result(reading, name, item)


def _take_special(reading: Reading, name: str, member: Node) -> None:
    """Decisions, lessons and problems that stand under the outcome."""
    role = role_of(name)
    if role == "decision":
        take_decisions(reading.steps, member)
    elif role == "lesson":
        take_lessons(reading.steps, member)
    elif role == "problem":
        take_problems(reading.steps, member, name=name)
    elif role == "gates":
        take_gates(reading.steps, member)
    else:
        for field in fields_of(member):
            reading.steps.note(field.text, part="other", line=field.line, context=name)


def _take_result(reading: Reading, name: str, item: Node) -> None:
    steps = reading.steps
    role = role_of(name)
    if item.members:
        take_entry(steps, item)
    elif role == "status" or (role == "outcome" and is_bare_state(item.text)):
        steps.used.add(item.line)
        reading.take_status(item.text)
    elif item.text.isdigit():
        steps.skip(item.line, name)
    else:
        steps.note(item.text, part="did" if role in {"outcome", "found"} else "other", line=item.line, context=name)


def _keep(reading: Reading, key: str, member: Node) -> None:
    """What is no part of what happened: known (what comes next, background) or unknown, but never lost."""
    role = role_of(key)
    for field in fields_of(member, name=key):
        if role == "next":
            reading.steps.note(field.text, part="next", line=field.line)
        elif role in {"background", "files", "measure"}:
            reading.steps.note(field.text, part="other", line=field.line, context=key)
        else:
            reading.steps.keep_unknown(field.text, line=field.line, name=key)
