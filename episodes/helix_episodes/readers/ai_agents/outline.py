"""Where a walk over a report in Markdown is: the open headings and labels, and the statement opened last.

A *scope* is a heading, or a label in bold that is alone; it lasts until the next of its rank. The *owner* is the
statement opened last (a decision, a problem, an entry of the work log), to which deeper items, reasons and remedies are
added.
"""

from __future__ import annotations

import msgspec

from helix_episodes.readers.ai_agents.markdown_blocks import MarkdownBlock, is_none
from helix_episodes.readers.ai_agents.steps import ReportContent, StatementPart, StepCollector
from helix_episodes.readers.ai_agents.words import Role, closest, is_bare_state, role_of
from helix_episodes.session import Piece, Step

#: A label is of lower rank than any heading.
LABEL_RANK = 7
#: What a statement is that stands by itself.
STATEMENTS = frozenset({"decision", "lesson", "problem"})


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
        self.steps = StepCollector()
        self.reading = ReportContent(steps=self.steps)
        self.scopes: list[Scope] = []
        self.join: str | None = None
        self.owner: Role | None = None
        self.owner_level = 0
        self.problem: str | None = None
        self.listed_problems: list[tuple[str, str]] = []
        self.listed_remedies = 0
        #: The line of the heading under which the objective is.
        self.objective = -1
        self.title = ""

    @property
    def role(self) -> Role | None:
        """The role of the innermost scope that has one."""
        return next((scope.role for scope in reversed(self.scopes) if scope.role), None)

    def phase(self) -> str:
        """The headings that are open, by which a gate is of the session's start or of its end."""
        return " ".join(scope.title for scope in self.scopes if scope.rank > 1)

    def open_scope(self, rank: int, title: str, role: Role | None, *, line: int, item: bool = False) -> None:
        """Begins a scope, which ends those of its rank and below."""
        self.close(rank)
        if role == "problem" and not item:
            self.listed_problems = []
        self.listed_remedies = 0
        self.scopes.append(Scope(rank=rank, title=title, role=role, line=line, item=item))

    def note(self, text: str, block: MarkdownBlock, part: StatementPart) -> None:
        """A statement that belongs to no other, under the title of its heading."""
        self.steps.note(text, part=part, line=block.line, context=self.context())

    def close(self, rank: int) -> None:
        """Ends the scopes of this rank and below."""
        self.scopes = [scope for scope in self.scopes if scope.rank < rank]

    def open_row(self, cells: list[str], block: MarkdownBlock, *, role: Role | None) -> None:
        """A statement put together from the cells of a row."""
        self.open_item(": ".join(cells), block, role=role)
        if self.steps.found and self.steps.found[-1].call_id == self.join:
            self.steps.found[-1] = msgspec.structs.replace(self.steps.found[-1], pieces=pieces_of(cells, block))

    def open_item(self, text: str, block: MarkdownBlock, *, role: Role | None) -> None:
        """A statement to which what follows belongs."""
        self.join, self.owner, self.owner_level = self.steps.entry(), role, block.level
        context = self.context()
        if role == "decision":
            self.decide(text, block, context=context)
        elif role == "lesson":
            self.steps.add("lesson", text, line=block.line, call_id=self.join)
        elif role == "problem":
            self.problem = self.join
            self.listed_problems.append((self.join, text))
            if not is_none(text):
                self.steps.note(text, part="problem", line=block.line, call_id=self.join, context=context)
        else:
            self.steps.note(text, part="did", line=block.line, call_id=self.join, context=context)

    def context(self) -> str:
        """The title of the innermost heading."""
        named = [scope for scope in self.scopes if scope.rank < LABEL_RANK and scope.rank > 1]
        return named[-1].title if named else ""

    def decide(
        self, text: str, block: MarkdownBlock, *, context: str, rationale: str = "", pieces: tuple[Piece, ...] = ()
    ) -> None:
        """A stated decision."""
        own = context if role_of(context) != "decision" else ""
        self.steps.decide(text, line=block.line, context=own, rationale=rationale, call_id=self.join, pieces=pieces)

    def is_detail(self, block: MarkdownBlock) -> bool:
        """Whether an item belongs to the statement before it: deeper than it, or below its heading."""
        if self.owner is None:
            return False
        scope = self.scopes[-1] if self.scopes else None
        if block.level > self.owner_level or scope is None or not scope.item or self.owner not in STATEMENTS:
            return block.level > self.owner_level
        owner_line = next((step.source.line for step in self.steps.found if step.call_id == self.join), 0)
        return block.level == 0 and scope.line == owner_line

    def add_to_owner(self, role: Role | None, text: str, block: MarkdownBlock) -> None:
        """What is stated about the statement before: its reason, its remedy, what came of it."""
        if self.owner == "decision" and role not in STATEMENTS | {"remedy"}:
            if role in {"rationale", None, "context", "background", "options", "found"}:
                self.extend(text, name="options" if role == "options" else "rationale", line=block.line)
            else:
                part: StatementPart = "outcome" if role in {"outcome", "impact"} else "other"
                self.steps.note(text, part=part, line=block.line, call_id=self.join)
        else:
            self._of_statement(role, text, block)

    def _of_statement(self, role: Role | None, text: str, block: MarkdownBlock) -> None:
        line = block.line
        if role == "problem" and self.owner == "problem":
            self.extend(text, name="text", line=line)
        elif role == "rationale" and self.owner == "problem":
            self._explain(text, line=line)
        elif role == "remedy":
            self.add_remedy(text, line=line)
        elif self.owner == "lesson":
            self.extend(text, name="text", line=line)
        elif self.owner == "work" and not is_bare_state(text):
            self.add_detail(text, line=line)
        else:
            self.steps.note(text, part="other", line=line, call_id=self.join)

    def add_remedy(self, text: str, *, line: int) -> None:
        """How the last problem was fixed."""
        self.steps.note(text, part="remedy", line=line, call_id=self.problem or self.join)

    def add_listed_remedy(self, text: str, *, line: int) -> None:
        """One of a list of remedies: that of the problem which it names, else of the one in its place."""
        found = closest(text, [problem for _, problem in self.listed_problems])
        place = self.listed_remedies if found is None else found
        self.listed_remedies += 1
        join = self.listed_problems[place][0] if place < len(self.listed_problems) else self.problem or self.join
        self.steps.note(text, part="remedy", line=line, call_id=join)

    def _explain(self, text: str, *, line: int) -> None:
        """The reason for a problem's remedy: with it, the remedy was a decision."""
        last = self.steps.found[-1]
        if last.arguments.get("part") == "remedy":
            pieces = (Piece(line=last.source.line, text=last.text), Piece(line=line, text=text))
            entry = self.steps.entry()
            self.steps.decide(last.text, line=last.source.line, rationale=text, call_id=entry, pieces=pieces)
        else:
            self.steps.note(text, part="other", line=line, call_id=self.join)

    def add_detail(self, text: str, *, line: int) -> None:
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


def pieces_of(cells: list[str], block: MarkdownBlock) -> tuple[Piece, ...]:
    """The cells of a row on its line."""
    return tuple(Piece(line=block.line, text=cell) for cell in cells if cell)


def _with(step: Step, text: str, piece: Piece) -> Step:
    """A statement that was added to, with the place of every part of it."""
    had = step.places
    return msgspec.structs.replace(step, text=text, pieces=(*had, piece))
