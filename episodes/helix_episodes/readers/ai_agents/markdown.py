"""A session log in Markdown: what a statement is follows from the heading, the label or the column it is under.

A *scope* is a heading, or a label in bold that is alone ("**Decisions made**:"); each has a role by its words
(`words.role_of`) and lasts until the next of its rank. Items, rows and paragraphs are read by the role of the innermost
scope that has one. The *owner* is the statement opened last (a decision, a problem, an entry of the work log), to which
deeper items, reasons and remedies are added.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.readers.ai_agents.json_report import SHA, ReportContent, state_task
from helix_episodes.readers.ai_agents.markdown_blocks import (
    MarkdownBlock,
    asks,
    blocks_of,
    head_words,
    is_checked,
    is_item,
    is_none,
    justified,
    names_problems,
    plain_text,
    without_number,
)
from helix_episodes.readers.ai_agents.steps import (
    Gate,
    StatementPart,
    StepCollector,
    add_gate,
    parse_day,
    parse_full_time,
)
from helix_episodes.readers.ai_agents.words import Role, closest, is_bare_state, label_role, role_of, words_of
from helix_episodes.session import Piece, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A label is of lower rank than any heading.
_LABEL_RANK = 7
_STATEMENTS = frozenset({"decision", "lesson", "problem"})
_IS_PLANNED = re.compile(
    r"^(?:must|should|to be)\b",
    re.IGNORECASE,
)
#: Fewer words count or name something.
_REPORTED_WORDS = 3
#: Columns that weigh a defect, or say what fixed it.
_OF_DEFECTS = frozenset({"severity", "priority", "fix"})
#: Roles that say of their own what is below; a heading with another keeps its parent's.
_OWN_ROLES = frozenset({
    "decision", "lesson", "problem", "gates", "outcome", "next", "files", "task", "commit", "work", "options",
    "status", "remedy",
})  # fmt: skip
_ABOUT_PROBLEMS = frozenset({"impact", "status", "found", "outcome", "context", "background"})
_ABOUT_STATEMENTS = frozenset({"rationale", "remedy", "outcome", "impact", "options", "found"})
#: Labels that weigh decisions and make none.
_WEIGHT = frozenset({"confidence"})
#: Labels of what was found, as against what shows it.
_FOUND_WORDS = frozenset({"finding", "discovery"})


def read_markdown(lines: Sequence[str]) -> ReportContent:
    """The steps and statements of a log in Markdown."""
    return _Markdown().read(lines)


class _Scope(msgspec.Struct, kw_only=True):
    """A heading or a lone label; ``item`` when it is itself a statement ("Decision 2: ...")."""

    rank: int
    title: str
    role: Role | None
    line: int
    item: bool = False


class _Outline:
    """The open scopes, the owner, and how statements are added to it."""

    def __init__(self) -> None:
        self.steps = StepCollector()
        self.reading = ReportContent(steps=self.steps)
        self.scopes: list[_Scope] = []
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
        self.scopes.append(_Scope(rank=rank, title=title, role=role, line=line, item=item))

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
            self.steps.found[-1] = msgspec.structs.replace(self.steps.found[-1], pieces=_pieces(cells, block))

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
        named = [scope for scope in self.scopes if scope.rank < _LABEL_RANK and scope.rank > 1]
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
        if block.level > self.owner_level or scope is None or not scope.item or self.owner not in _STATEMENTS:
            return block.level > self.owner_level
        owner_line = next((step.source.line for step in self.steps.found if step.call_id == self.join), 0)
        return block.level == 0 and scope.line == owner_line

    def add_to_owner(self, role: Role | None, text: str, block: MarkdownBlock) -> None:
        """What is stated about the statement before: its reason, its remedy, what came of it."""
        if self.owner == "decision" and role not in _STATEMENTS | {"remedy"}:
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


def _pieces(cells: list[str], block: MarkdownBlock) -> tuple[Piece, ...]:
    """The cells of a row on its line."""
    return tuple(Piece(line=block.line, text=cell) for cell in cells if cell)


def _with(step: Step, text: str, piece: Piece) -> Step:
    """A statement that was added to, with the place of every part of it."""
    had = step.places
    return msgspec.structs.replace(step, text=text, pieces=(*had, piece))


def _read_row(outline: _Outline, block: MarkdownBlock) -> None:
    """Adds what a row of a table says, by its scope and its columns."""
    cells = [plain_text(cell) for cell in block.cells]
    roles: list[Role | None] = [role_of(column) for column in block.columns]
    by_role: dict[Role | None, list[str]] = {}
    for cell, role in zip(cells, roles, strict=False):
        by_role.setdefault(role, []).append(cell)
    # A list of defects says what is wrong, and how bad that is or what fixed it.
    problems = by_role.get("problem", ())
    names_defect = any(len(one.split()) >= _REPORTED_WORDS and "#" not in one for one in problems)
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
        outline.steps.note(
            words, part="other", line=block.line, context=outline.context(), pieces=_pieces(cells, block)
        )


def _gate_row(outline: _Outline, block: MarkdownBlock, cells: list[str]) -> None:
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
    outline: _Outline, block: MarkdownBlock, cells: list[str], by_role: dict[Role | None, list[str]]
) -> None:
    chosen = [text for text in by_role.get("decision", []) + by_role.get("did", []) if text] or cells[:1]
    outline.join, outline.owner, outline.owner_level = outline.steps.entry(), "decision", 0
    outline.decide(": ".join(chosen), block, context=outline.context(), pieces=_pieces(chosen, block))
    for reason in by_role.get("rationale", []):
        outline.extend(reason, name="rationale", line=block.line)
    for option in by_role.get("options", []):
        outline.extend(option, name="options", line=block.line)
    for role in ("outcome", "impact"):
        for text in by_role.get(role, []):
            outline.add_to_owner(role, text, block)


def _work_row(outline: _Outline, block: MarkdownBlock, by_role: dict[Role | None, list[str]]) -> None:
    done = [text for text in by_role.get("did", []) if text]
    if done and not _IS_PLANNED.match(done[0]):
        outline.open_item(done[0], block, role="work")
        outline.owner = "work"
        for text in (*done[1:], *by_role.get("outcome", ()), *by_role.get("found", ())):
            if not is_bare_state(text):
                outline.steps.note(text, part="found", line=block.line, call_id=outline.join)


class _Markdown(_Outline):
    """Walks the blocks once and gives each to the scope that it is in."""

    def read(self, lines: Sequence[str]) -> ReportContent:
        for block in blocks_of("\n".join(lines)):
            self.steps.used.update(block.lines if block.kind in {"item", "row", "paragraph"} else ())
            if block.kind == "heading":
                self._heading(block)
            elif block.kind == "code":
                self._skip(block, "code")
            elif block.kind == "row":
                _read_row(self, block)
            elif block.kind in {"item", "paragraph"}:
                self._words(block)
        self.reading.task = self.reading.task or self.title
        return self.reading

    def _heading(self, block: MarkdownBlock) -> None:
        title = plain_text(block.text)
        self.steps.skip(block.line, "heading")
        if block.level == 1 and not self.title:
            self.title = title
        self.close(block.level)
        own, item = self._role_of_heading(title, level=block.level)
        self.open_scope(block.level, title, own, line=block.line, item=item)
        self.join, self.owner = None, None
        if item and own in _STATEMENTS:
            self.open_item(justified(title) or without_number(title), block, role=own)

    def _role_of_heading(self, title: str, *, level: int) -> tuple[Role | None, bool]:
        """What a heading names by its words and its place, and whether it is a statement itself.

        Plans and files hold no statements.
        """
        parent, own = self.role, role_of(head_words(title)) if level > 1 else None
        item = parent in _STATEMENTS or is_item(title, own)
        if level > 1 and justified(title):
            own, item = "decision", True
        if own == "problem" and not names_problems(title):
            own, item = None, parent in _STATEMENTS
        if parent in {"next", "files"} or (parent == "gates" and own not in _STATEMENTS):
            return parent, False
        if own in {"gates", "next", "commit"}:
            return own, False
        if own not in _OWN_ROLES or (item and parent in _STATEMENTS):
            own = parent if parent is not None else own if own in _OWN_ROLES else None
        return own, item

    def _words(self, block: MarkdownBlock) -> None:
        """An item or a paragraph."""
        label = block.label
        role = self.role
        if block.kind == "item" and self.is_detail(block):
            name, text = label or ("", "")
            self.add_to_owner(label_role(name) if name else None, text or plain_text(block.text), block)
        elif role == "gates":
            self._gate(block)
        elif label is not None and self._label(block, *label):
            return
        elif block.kind == "item":
            self._item(block, role)
        else:
            self._paragraph(block, role)

    def _label(self, block: MarkdownBlock, name: str, text: str) -> bool:
        """``**Name**: text``; whether the label says what the text is."""
        at_head = len(self.scopes) <= 1 or words_of(self.scopes[-1].title) in (["session", "info"], ["git", "state"])
        if at_head:
            return self._head(block, name, text)
        if not re.sub(r"\([^)]*\)|[\s:]", "", text):
            return block.text.startswith("**") and block.kind == "paragraph" and self._lone_label(block, name)
        if self.role == "decision" and self._about_decisions(block, name, text):
            return True
        if self.role in _STATEMENTS and block.kind == "item":
            return self._adjacent(block, name, text)
        return self._aside(block, name, text) or self._statement(block, name, text)

    def _about_decisions(self, block: MarkdownBlock, name: str, text: str) -> bool:
        """An item among decisions that is none: how sure someone is, what was found out."""
        words = set(words_of(name))
        if block.kind != "item" or not (words <= _WEIGHT or (words & _FOUND_WORDS and label_role(name) == "found")):
            return False
        self.note(f"{name}: {text}", block, "other")
        return True

    def _adjacent(self, block: MarkdownBlock, name: str, text: str) -> bool:
        """An item that says how the one before it was fixed, or why it was so, though no deeper than that."""
        role = label_role(name)
        fits = {"problem": {"remedy"}, "decision": {"rationale", "options", "outcome", "impact"}}
        if self.owner is None or role not in fits.get(self.owner, set()):
            return False
        self.add_to_owner(role, text, block)
        return True

    def _aside(self, block: MarkdownBlock, name: str, text: str) -> bool:
        """A label that adds to what is open: what a problem led to, a part of a lesson, a decision's reason."""
        role = label_role(name)
        if self.role == "problem" and role in _ABOUT_PROBLEMS:
            self.add_to_owner(role, text, block)
        elif self.owner == "lesson" and role not in {"lesson", "problem"} and self.scopes[-1].item:
            self.extend(f"{name}: {text}", name="text", line=block.line)
        elif self.join and self.owner and role in _ABOUT_STATEMENTS:
            self.add_to_owner(role, text, block)
        elif role == "task":
            self.steps.note(text, part="other", line=block.line, context=name)
        else:
            return role == "status"
        return True

    def _statement(self, block: MarkdownBlock, name: str, text: str) -> bool:
        """A label that names the statement itself: "Decision:", "Root cause:", "Lesson:"."""
        role = label_role(name)
        if role == "decision" or (role == "problem" and "#" not in name):
            self.open_item(text, block, role=role)
            if block.kind == "paragraph":
                self.owner_level = -1
            return True
        if role == "found" and set(words_of(name)) & _FOUND_WORDS:
            self.note(text, block, "found")
            return True
        if role == "lesson" and (block.text.startswith("**") or self.owner is not None):
            self.steps.add("lesson", text, line=block.line)
            return True
        return False

    def _head(self, block: MarkdownBlock, name: str, text: str) -> bool:
        reading, role = self.reading, role_of(name)
        if role == "time":
            reading.date = reading.date or parse_full_time(text) or parse_day(text)
        elif role == "status":
            reading.take_status(text, line=block.line)
        elif role in {"task", "did"} and not reading.task and text:
            state_task(reading, text, line=block.line)
        elif "starting" in words_of(name):
            reading.starting = " ".join(SHA.findall(text))
        elif role == "commit":
            self._commits(text, block)
        elif name.casefold() == "branch":
            reading.branch = text
        else:
            self._skip(block, "head")
        return True

    def _lone_label(self, block: MarkdownBlock, name: str) -> bool:
        """A label on a line of its own: the heading of what follows."""
        role = label_role(name)
        self.close(_LABEL_RANK)
        # What follows an unknown label is no decision, lesson or problem by itself.
        beneath: Role | None = "background" if self.role in _STATEMENTS else None
        own = role if role in _OWN_ROLES or role in {"found", "background", "impact"} else beneath
        self.open_scope(_LABEL_RANK, name, own, line=block.line)
        self.owner = None
        return True

    def _item(self, block: MarkdownBlock, role: Role | None) -> None:
        text = plain_text(block.text)
        if role in {"decision", "lesson", "problem"}:
            self.open_item(text, block, role=role)
        elif role == "remedy":
            self.add_listed_remedy(text, line=block.line)
        elif role == "rationale" and self.owner == "decision":
            self.extend(text, name="rationale", line=block.line)
        elif role in {"work", "outcome"} and block.box != " ":
            self.open_item(text, block, role="work")
            self.owner = "work"
        elif role == "commit":
            self._commits(text, block)
        elif role == "task":
            self._task(block, text)
        else:
            self.note(text, block, "next" if role == "next" else "other")

    def _paragraph(self, block: MarkdownBlock, role: Role | None) -> None:
        text = plain_text(block.text)
        # "Problem" or "Root Cause", not "Issues": what is listed below is about this one.
        single = bool(self.scopes) and not self.scopes[-1].title.endswith("s")
        if role == "task":
            self._task(block, text)
        elif role == "remedy" and not text.endswith(":"):
            self.add_remedy(text, line=block.line)
        elif role in {"outcome", "status"}:
            self.reading.take_status(text, line=block.line)
            self.note(text, block, "found")
        elif self.owner in {"decision", "lesson"} and self.scopes and self.scopes[-1].item:
            self.extend(text, name="rationale" if self.owner == "decision" else "text", line=block.line)
        elif role == "problem" and (self.owner is None or text != block.text) and (single or not text.endswith(":")):
            self.open_item(text.rstrip(":"), block, role="problem")
            self.owner_level = -1 if single or block.label else block.level
        elif role == "lesson" and plain_text(block.text) != block.text:
            self.open_item(text, block, role="lesson")
        elif role == "decision" and block.text.startswith("**") and not asks(block):
            self.open_item(text, block, role="decision")
            self.owner_level = -1
        else:
            self.note(text, block, "found" if role in {"work", "found"} else "other")

    def _commits(self, text: str, block: MarkdownBlock) -> None:
        self.reading.commits += [Piece(line=block.line, text=sha) for sha in SHA.findall(text)]

    def _task(self, block: MarkdownBlock, text: str) -> None:
        """The objective: a paragraph, and the items below it if it announces them, or a list of objectives."""
        begun = self.scopes[-1].line if self.scopes else 0
        if not self.reading.task:
            state_task(self.reading, text, line=block.line)
            self.objective = begun
        elif self.objective == begun and block.kind == "item" and block.level == 0 and self.reading.task:
            separator = " " if self.reading.task.endswith(":") else "; "
            self.reading.task = f"{self.reading.task}{separator}{text}"
            self.steps.note(text, part="other", line=block.line, context="objective")
        else:
            self.steps.note(text, part="other", line=block.line, context="objective")

    def _gate(self, block: MarkdownBlock) -> None:
        text = plain_text(block.text)
        if block.box is not None:
            add_gate(self.steps, Gate(name=text, passed=block.box != " ", line=block.line, phase=self.phase()))
        elif "starting" in words_of(text[:20]):
            self.reading.starting = self.reading.starting or " ".join(SHA.findall(text))
        else:
            self.note(text, block, "other")

    def _skip(self, block: MarkdownBlock, name: str) -> None:
        for line in block.lines:
            self.steps.used.discard(line)
            self.steps.skip(line, name)
