"""The outline of a Markdown report while it is read: open scopes, table columns, and the current statement.

A *scope* is a heading, or a label in bold that is alone; it lasts until the next of its rank. The *owner* is the
statement opened last (a decision, a problem, an entry of the work log), to which deeper items, reasons and remedies are
added. What a cell of a table says follows from its column and the scope of the table.
"""

from __future__ import annotations

import re

import msgspec

from helix_episodes.readers.ai_agents.json_report import ReportContent
from helix_episodes.readers.ai_agents.markdown_blocks import MarkdownBlock, is_checked, is_none, plain_text
from helix_episodes.readers.ai_agents.steps import Gate, StatementPart, StepCollector, add_gate
from helix_episodes.readers.ai_agents.words import Role, closest, is_bare_state, role_of, words_of
from helix_episodes.session import Piece, Step

#: A label is of lower rank than any heading.
LABEL_RANK = 7
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
            self.steps.found[-1] = msgspec.structs.replace(self.steps.found[-1], pieces=pieces(cells, block))

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


def pieces(cells: list[str], block: MarkdownBlock) -> tuple[Piece, ...]:
    """The cells of a row on its line."""
    return tuple(Piece(line=block.line, text=cell) for cell in cells if cell)


def _with(step: Step, text: str, piece: Piece) -> Step:
    """A statement that was added to, with the place of every part of it."""
    had = step.places
    return msgspec.structs.replace(step, text=text, pieces=(*had, piece))


IS_PLANNED = re.compile(
    r"^(?:must|should|to be|needs?|todo|add later|proposed|planned|possible|potential|recommended|suggested)\b",
    re.IGNORECASE,
)
#: Fewer words count or name something.
REPORTED_WORDS = 3


#: Columns that weigh a defect, or say what fixed it.
_OF_DEFECTS = frozenset({"severity", "priority", "fix"})


def read_row(outline: Outline, block: MarkdownBlock) -> None:
    """Adds what a row of a table says, by its scope and its columns."""
    cells = [plain_text(cell) for cell in block.cells]
    roles: list[Role | None] = [role_of(column) for column in block.columns]
    by_role: dict[Role | None, list[str]] = {}
    for cell, role in zip(cells, roles, strict=False):
        by_role.setdefault(role, []).append(cell)
    # A list of defects says what is wrong, and how bad that is or what fixed it.
    problems = by_role.get("problem", ())
    names_defect = any(len(one.split()) >= REPORTED_WORDS and "#" not in one for one in problems)
    weighs_defect = any(_OF_DEFECTS & set(words_of(column)) for column in block.columns)
    if outline.role == "gates" or {"status", "found", "did"} <= set(roles):
        _gate_row(outline, block, cells)
    elif outline.role == "decision" or "decision" in roles:
        _decision_row(outline, block, cells, by_role)
    elif outline.role == "problem":
        outline.open_row(by_role.get("problem", []) + by_role.get("found", []) or cells, block, role="problem")
    elif outline.role not in {"next", "files"} and names_defect and weighs_defect:
        faults = by_role["problem"] + by_role.get("found", [])
        others = [cell for cell in cells if cell not in faults]
        outline.open_row(faults + others, block, role="problem")
    elif outline.role == "work" and "did" in roles:
        _work_row(outline, block, by_role)
    else:
        words = " \u00b7 ".join(cells)
        outline.steps.note(words, part="other", line=block.line, context=outline.context(), pieces=pieces(cells, block))


def _gate_row(outline: Outline, block: MarkdownBlock, cells: list[str]) -> None:
    columns = [column.casefold() for column in block.columns]
    named = dict(zip(columns, block.cells, strict=False))
    status = next((text for name, text in named.items() if name in {"status", "complete", "done"}), "")
    name = next(
        (named[one] for one in ("step", "requirement", "item", "must requirement", "phase") if one in named),
        cells[0],
    )
    gate = Gate(
        name=plain_text(name),
        passed=is_checked(status),
        line=block.line,
        level=named.get("req", named.get("level", "")),
        evidence=plain_text(named.get("evidence", "")),
        phase=outline.phase(),
    )
    add_gate(outline.steps, gate)


def _decision_row(
    outline: Outline, block: MarkdownBlock, cells: list[str], by_role: dict[Role | None, list[str]]
) -> None:
    chosen = [text for text in by_role.get("decision", []) + by_role.get("did", []) if text] or cells[:1]
    outline.join, outline.owner, outline.owner_level = outline.steps.entry(), "decision", 0
    outline.decide(": ".join(chosen), block, context=outline.context(), pieces=pieces(chosen, block))
    for reason in by_role.get("rationale", []):
        outline.extend(reason, name="rationale", line=block.line)
    for option in by_role.get("options", []):
        outline.extend(option, name="options", line=block.line)
    for role in ("outcome", "impact"):
        for text in by_role.get(role, []):
            outline.add_to_owner(role, text, block)


def _work_row(outline: Outline, block: MarkdownBlock, by_role: dict[Role | None, list[str]]) -> None:
    done = [text for text in by_role.get("did", []) if text]
    if done and not IS_PLANNED.match(done[0]):
        outline.open_item(done[0], block, role="work")
        outline.owner = "work"
        for text in (*done[1:], *by_role.get("outcome", ()), *by_role.get("found", ())):
            if not is_bare_state(text):
                outline.steps.note(text, part="found", line=block.line, call_id=outline.join)
