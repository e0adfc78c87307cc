"""The outline of a log in Markdown while it is read: open scopes, and the statement that what follows belongs to.

A *scope* is a heading, or a label in bold that stands alone; it lasts until the next of its rank. The *owner* is the
statement opened last (a decision, a problem, an entry of the work log), to which deeper items, reasons and remedies are
added.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from helix_episodes.readers.ai_agents.blocks import Block, plain
from helix_episodes.readers.ai_agents.headings import is_none, problem_words
from helix_episodes.readers.ai_agents.report import Reading
from helix_episodes.readers.ai_agents.states import is_bare_state
from helix_episodes.readers.ai_agents.steps import Part, Steps
from helix_episodes.readers.ai_agents.words import Role, label_role, role_of
from helix_episodes.session import Piece, Step

#: A label is of lower rank than any heading; one with a number ("GAP 3: ...") is an item under such a label.
LABEL_RANK, NUMBERED_RANK = 7, 8
#: "Design flaw" names a cause, it teaches nothing; of the causes that the annotated reports state none is shorter.
CAUSE_WORDS = 6
STATEMENTS = frozenset({"decision", "lesson", "problem"})
_ONE_PROBLEM = frozenset(
    {"problem", "issue", "cause", "gap", "bug", "failure", "challenge", "symptom", "vulnerability"}
)


_REASON = re.compile(r"\s+(?:\u2192|->|=>|\u2014|\u2013|-)\s+|:\s+")


class Scope(msgspec.Struct, kw_only=True):
    """A heading or a lone label; ``item`` when it is itself a statement ("Decision 2: ...")."""

    rank: int
    title: str
    role: Role | None
    line: int
    item: bool = False


class Outline:
    """The open scopes, the owner, and how statements are added to it."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.reading = Reading(steps=self.steps)
        self.scopes: list[Scope] = []
        self.join: str | None = None
        self.owner: Role | None = None
        self.owner_level = 0
        self.problem: str | None = None
        self.cause: Piece | None = None
        self.title = ""

    @property
    def role(self) -> Role | None:
        """The role of the innermost scope that has one."""
        return next((scope.role for scope in reversed(self.scopes) if scope.role), None)

    def close(self, rank: int) -> None:
        """Ends the scopes of this rank and below."""
        self.scopes = [scope for scope in self.scopes if scope.rank < rank]

    def open_row(self, cells: list[str], block: Block, *, role: Role | None) -> None:
        """A statement put together from the cells of a row."""
        self.open_item(": ".join(cells), block, role=role)
        if self.steps.found and self.steps.found[-1].call_id == self.join:
            self.steps.found[-1] = msgspec.structs.replace(self.steps.found[-1], pieces=pieces(cells, block))

    def open_item(self, text: str, block: Block, *, role: Role | None) -> None:
        """A statement to which what follows belongs."""
        self.join, self.owner, self.owner_level = self.steps.entry(), role, block.level
        context = self.context()
        if role == "decision":
            self.decide(text, block, context=context)
        elif role == "lesson":
            self.steps.add("lesson", text, line=block.line, call_id=self.join)
        elif role == "problem":
            self.keep_cause()
            self.problem = self.join
            if not is_none(text):
                self.steps.note(text, part="problem", line=block.line, call_id=self.join, context=context)
        else:
            self.steps.note(text, part="did", line=block.line, call_id=self.join, context=context)

    def context(self) -> str:
        """The title of the innermost heading."""
        named = [scope for scope in self.scopes if scope.rank < LABEL_RANK and scope.rank > 1]
        return named[-1].title if named else ""

    def decide(
        self, text: str, block: Block, *, context: str, rationale: str = "", pieces: tuple[Piece, ...] = ()
    ) -> None:
        """A stated decision."""
        arguments = {
            "context": context if role_of(context) != "decision" else "",
            "rationale": rationale,
            "options": [],
        }
        self.steps.add("decision", text, line=block.line, call_id=self.join, arguments=arguments, pieces=pieces)

    def is_detail(self, block: Block) -> bool:
        """Whether an item belongs to the statement before it: deeper than it, or below its heading."""
        if self.owner is None:
            return False
        scope = self.scopes[-1] if self.scopes else None
        titled = scope is not None and scope.item and self.owner in {"decision", "lesson", "problem"}
        return block.level > self.owner_level or (
            titled and block.level == 0 and scope is not None and scope.line == self._owner_line()
        )

    def _owner_line(self) -> int:
        own = [step for step in self.steps.found if step.call_id == self.join]
        return own[0].source.line if own else 0

    def take_detail(self, block: Block, label: tuple[str, str] | None) -> None:
        """An item that belongs to the statement before it."""
        name, text = label or ("", plain(block.text))
        self.belonging(label_role(name) if name else None, text or plain(block.text), block)

    def belonging(self, role: Role | None, text: str, block: Block) -> None:
        """What is said of the statement before: its reason, its remedy, what came of it."""
        if self.owner == "decision" and role not in STATEMENTS | {"remedy"}:
            self._of_decision(role, text, line=block.line)
        else:
            self._of_statement(role, text, block)

    def _of_decision(self, role: Role | None, text: str, *, line: int) -> None:
        if role is None and self._is_listing():
            self.extend(text, name="text", line=line)
        elif role in {"rationale", None, "context", "background", "options", "found"}:
            self.extend(text, name="options" if role == "options" else "rationale", line=line)
        else:
            part: Part = "outcome" if role in {"outcome", "impact"} else "other"
            self.steps.note(text, part=part, line=line, call_id=self.join)

    def _of_statement(self, role: Role | None, text: str, block: Block) -> None:
        steps, line = self.steps, block.line
        if role == "lesson":
            steps.add("lesson", text, line=line)
        elif role == "decision":
            self.open_item(text, block, role="decision")
        elif role == "problem" and self.owner == "problem":
            self.extend(text, name="text", line=line)
        elif role == "problem":
            steps.note(text, part="problem", line=line, call_id=self.join)
        elif role == "rationale" and self.owner == "problem":
            self._explain(text, line=line)
        elif role == "remedy":
            self.mend(text, line=line)
        elif self.owner == "lesson":
            self.extend(text, name="text", line=line)
        elif self.owner == "work" and not is_bare_state(text):
            self.find(text, line=line)
        else:
            steps.note(text, part="other", line=line, call_id=self.join)

    def mend(self, text: str, *, line: int) -> None:
        """How the problem told last was mended; with what the log calls its root cause, that teaches something."""
        self.steps.note(text, part="remedy", line=line, call_id=self.problem or self.join)
        if self.cause is not None:
            pieces = (self.cause, Piece(line=line, text=text))
            self.steps.add("lesson", f"{self.cause.text} {text}", line=self.cause.line, pieces=pieces)
            self.cause = None

    def keep_cause(self) -> None:
        """A root cause whose remedy the log does not name teaches by itself, where it says something."""
        if self.cause is not None and len(self.cause.text.split()) >= CAUSE_WORDS:
            self.steps.add("lesson", self.cause.text, line=self.cause.line)
        self.cause = None

    def make_do(self, text: str, block: Block) -> None:
        """A way around a problem, which somebody chose instead of mending it."""
        arguments: dict[str, Any] = {
            "context": self.context(),
            "rationale": "",
            "options": [],
            "within": self.problem,
        }
        self.steps.add("decision", text, line=block.line, call_id=self.steps.entry(), arguments=arguments)

    def turn_down(self, text: str, block: Block, *, title: str) -> None:
        """What was left undone on purpose, and why."""
        what, reason = split_reason(text)
        self.join, self.owner, self.owner_level = self.steps.entry(), "decision", block.level
        places = tuple(Piece(line=block.line, text=part) for part in (what, reason) if part)
        self.decide(f"{title}: {what}", block, context=title, rationale=reason, pieces=places)

    def _explain(self, text: str, *, line: int) -> None:
        """The reason for a problem's remedy: with it, the remedy was a decision."""
        last = self.steps.found[-1]
        if last.call_id != self.join or last.arguments.get("part") != "remedy":
            self.steps.note(text, part="other", line=line, call_id=self.join)
            return
        place = last.source.line
        pieces = (Piece(line=place, text=last.text), Piece(line=line, text=text))
        arguments: dict[str, Any] = {
            "context": self.context(),
            "rationale": text,
            "options": [],
            "within": self.join,
        }
        self.steps.add(
            "decision", last.text, line=place, call_id=self.steps.entry(), arguments=arguments, pieces=pieces
        )

    def _is_listing(self) -> bool:
        """Whether the open statement ends in a colon: what follows is what was decided, not why."""
        own = (step for step in self.steps.found if step.call_id == self.join)
        return any((step.pieces[0].text if step.pieces else step.text).endswith(":") for step in own)

    def find(self, text: str, *, line: int) -> None:
        """A detail of what was done; several make one finding."""
        last = self.steps.found[-1]
        if last.call_id == self.join and last.arguments.get("part") == "detail":
            self.steps.found[-1] = _with(last, f"{last.text}; {text}", Piece(line=line, text=text))
        else:
            self.steps.note(text, part="detail", line=line, call_id=self.join)

    def extend(self, text: str, *, name: str, line: int = 0) -> None:
        """Adds to the statement that is open: a decision's reason or options, a lesson's words on ``line``."""
        place = next((n for n, step in enumerate(self.steps.found) if step.call_id == self.join), None)
        if place is None:
            return
        step = self.steps.found[place]
        if name == "text":
            changed = _with(step, f"{step.text}: {text}", Piece(line=line, text=text))
        else:
            had = step.arguments.get(name) or ([] if name == "options" else "")
            more = [*had, text] if name == "options" else f"{had} {text}".strip()
            changed = _with(step, step.text, Piece(line=line, text=text))
            changed = msgspec.structs.replace(changed, arguments=step.arguments | {name: more})
        self.steps.found[place] = changed

    def beneath(self) -> Role | None:
        """The role of what follows a label that nobody has met: no decision, lesson or problem by itself."""
        return "background" if self.role in {"decision", "lesson", "problem"} else None

    def is_single(self) -> bool:
        """Whether what stands here is about one problem: "Problem", "Root Cause", not "Issues"."""
        words = problem_words(self.scopes[-1].title) if self.scopes else []
        return bool(words) and words[-1] in _ONE_PROBLEM


def split_reason(text: str) -> tuple[str, str]:
    """What is named, and what is said of it behind an arrow, a dash or a colon.

    >>> split_reason("Second cache \u2192 covered by the first"), split_reason("Second cache")
    (('Second cache', 'covered by the first'), ('Second cache', ''))
    """
    parts = _REASON.split(text, maxsplit=1)
    return (parts[0], parts[1]) if len(parts) > 1 else (text, "")


def pieces(cells: list[str], block: Block) -> tuple[Piece, ...]:
    """The cells of a row as they stand on its line."""
    return tuple(Piece(line=block.line, text=cell) for cell in cells if cell)


def _with(step: Step, text: str, piece: Piece) -> Step:
    """A statement that was added to, with the place of every part of it."""
    had = step.pieces or (Piece(line=step.source.line, text=step.text),)
    return msgspec.structs.replace(step, text=text, pieces=(*had, piece))
