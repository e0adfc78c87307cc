"""Session and Step: what every reader yields, whatever the log format.

A *session* is one run of an agent as logged; a *step* is one thing that happened in it. Extraction sees only these, so
a new log format is a new reader and nothing else. Readers translate an agent's own tool names into an ``operation``
with canonical ``arguments``:

========= ======================================================================
operation arguments
========= ======================================================================
edit      ``path``, ``old``, ``new`` (several replacements are joined by a newline)
create    ``path``, ``new``
delete    ``path``
run       ``command``, and ``background`` (bool) when the log says so
delegate  ``agent`` (kind of helper), ``prompt``, ``description``; ``inline`` (bool) when
          it is a skill that the agent carries out itself
look      what was looked at: ``path``, ``pattern``, ``url`` or ``query``
track     the agent's own to-do list: ``items`` (list of text)
plan      ``plan`` (text handed in for approval)
ask       ``questions`` (list of ``{question, options}``)
use       any other tool; ``arguments`` as logged
========= ======================================================================

Kinds of step:

``prompt`` what a person typed (also the words with which they rejected a call) · ``message`` and ``thought`` the
agent's own words · ``call`` and its ``result``, joined by ``call_id`` · ``decision`` one the log states (an approved
plan, an answered question: ``text`` is what was chosen, ``arguments`` has ``context``, ``options``, ``rationale``) ·
``lesson`` one the log states · ``gate`` a declared check (``arguments`` has ``name``, ``level``, ``phase`` and
``passed``) · ``boundary`` where the context was cut (``arguments`` has ``reason``: compaction, rewind, resume) ·
``note`` anything else worth keeping that is no one's words. What an editor complains of, unasked, is a note with the
tool ``diagnostics`` whose text is a JSON list of files with their ``diagnostics`` (``message``, ``severity``).

A log that *describes* the work instead of recording calls gives notes with a ``part``: ``did`` (what was done),
``found`` (what was found, or came of it), ``detail`` (more of what was done), ``problem`` (what the log names as one),
``cause`` (of the problem next to it), ``remedy``, ``outcome`` (what came of a stated decision), ``task`` (the
objective), ``commit`` (the name of one that the session made), ``next`` (what is left to do) or ``other`` (kept, but
nothing that happened). ``context`` says what it is about. Statements that the log puts side by side share a
``call_id``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

StepKind = Literal["prompt", "message", "thought", "call", "result", "note", "decision", "lesson", "gate", "boundary"]
Operation = Literal["edit", "create", "delete", "run", "delegate", "look", "track", "plan", "ask", "use"]
#: How a result came out. ``denied``: a permission was missing. ``rejected``: a person said no. ``interrupted``: a
#: person stopped it. ``cancelled``: a parallel call failed first, so this one never ran. Only ``error`` is a failure.
Status = Literal["ok", "error", "denied", "rejected", "interrupted", "cancelled", "unknown"]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where in the log a step is: line from 1, the record's own id, and the file when it is not the main log."""

    line: int
    id: str | None = None
    file: str | None = None


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Words on one line of the log."""

    line: int
    text: str


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened. ``actor`` is ``user``, ``agent``, ``agent:<id>`` for a helper, or ``system``.

    ``pieces`` is set where ``text`` was put together from several places of the log, so that each can be quoted.
    ``tokens`` is what the answer took that this is a step of; one step of each answer has it.
    """

    kind: StepKind
    source: Source
    text: str = ""
    at: datetime | None = None
    actor: str = "agent"
    tool: str | None = None
    operation: Operation | None = None
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    call_id: str | None = None
    status: Status = "unknown"
    exit_code: int | None = None
    pieces: tuple[Piece, ...] = ()
    tokens: int | None = None

    @property
    def places(self) -> tuple[Piece, ...]:
        """Where its words are in the log: the pieces that they were put together from, else its own line."""
        return self.pieces or (Piece(line=self.source.line, text=self.text),)


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that could not be read, and why."""

    line: int
    problem: str
    file: str | None = None


def format_position(line: int, file: str | None = None) -> str:
    """A line of the log in words; ``file`` is set when it is not the main one.

    >>> format_position(3), format_position(3, "agent-1.jsonl")
    ('line 3', 'agent-1.jsonl, line 3')
    """
    return f"{file}, line {line}" if file else f"line {line}"


class Accounting(msgspec.Struct, frozen=True, kw_only=True):
    """Every line of the log: used, known and skipped, of unknown type (by type), blank, bad; ``lines`` is their sum.

    Of very many bad lines the first are named in ``bad``, and ``more_bad`` counts the rest.
    ``unknown_at`` says where each unknown type was first seen: ``line 12``, or ``agent-1.jsonl, line 3``.
    Where a log is one JSON document, its messages, turns or events are counted instead of lines.
    """

    lines: int = 0
    used: int = 0
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)
    unknown_at: dict[str, str] = msgspec.field(default_factory=dict)
    blank: int = 0
    bad: tuple[BadLine, ...] = ()
    more_bad: int = 0


class DeclaredOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says of its own outcome, and the words that say it; ``inferred`` when they only imply it."""

    outcome: str
    words: Piece
    inferred: bool = False


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent as logged.

    ``root`` is the working directory the log names, used to make paths relative. ``task``, ``declared_outcome``,
    ``reward`` (0 to 1) and ``commits`` are set only when the log itself states them. ``injected`` names insights whose
    text a memory put into the session. ``branch`` is the branch of git on which it mostly ran. ``rewritten``: the log
    is not appended to but rewritten as the session goes on, or holds several sessions, so that its bytes do not tell
    whether this one has only grown.
    """

    id: str
    agent: str
    steps: tuple[Step, ...]
    reader: str
    agent_version: str | None = None
    model: str | None = None
    project: str | None = None
    root: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    task: str | None = None
    task_id: str | None = None
    declared_outcome: DeclaredOutcome | None = None
    reward: float | None = None
    commits: tuple[str, ...] = ()
    tokens: int | None = None
    branch: str | None = None
    injected: tuple[str, ...] = ()
    accounting: Accounting = Accounting()
    rewritten: bool = False
