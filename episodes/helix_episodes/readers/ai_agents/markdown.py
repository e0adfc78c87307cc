"""A session log in Markdown: what a statement is follows from the heading, the label or the column it is under.

A *scope* is a heading, or a label in bold that is alone ("**Decisions made**:"); each has a role by its words
(`words.role_of`) and lasts until the next of its rank. Items, rows and paragraphs are read by the role of the innermost
scope that has one. The *owner* is the statement opened last (a decision, a problem, an entry of the work log), to which
deeper items, reasons and remedies are added.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.readers.ai_agents.markdown_blocks import (
    MarkdownBlock,
    asks,
    blocks_of,
    head_words,
    is_checked,
    is_item,
    justified,
    names_problems,
    plain_text,
    without_number,
)
from helix_episodes.readers.ai_agents.outline import LABEL_RANK, STATEMENTS, Outline, pieces_of
from helix_episodes.readers.ai_agents.steps import (
    SHA,
    Gate,
    ReportContent,
    add_gate,
    parse_day,
    parse_full_time,
)
from helix_episodes.readers.ai_agents.words import Role, is_bare_state, label_role, role_of, words_of
from helix_episodes.session import Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def _read_row(outline: Outline, block: MarkdownBlock) -> None:
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
            words, part="other", line=block.line, context=outline.context(), pieces=pieces_of(cells, block)
        )


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
    outline.decide(": ".join(chosen), block, context=outline.context(), pieces=pieces_of(chosen, block))
    for reason in by_role.get("rationale", []):
        outline.extend(reason, name="rationale", line=block.line)
    for option in by_role.get("options", []):
        outline.extend(option, name="options", line=block.line)
    for role in ("outcome", "impact"):
        for text in by_role.get(role, []):
            outline.add_to_owner(role, text, block)


def _work_row(outline: Outline, block: MarkdownBlock, by_role: dict[Role | None, list[str]]) -> None:
    done = [text for text in by_role.get("did", []) if text]
    if done and not _IS_PLANNED.match(done[0]):
        outline.open_item(done[0], block, role="work")
        outline.owner = "work"
        for text in (*done[1:], *by_role.get("outcome", ()), *by_role.get("found", ())):
            if not is_bare_state(text):
                outline.steps.note(text, part="found", line=block.line, call_id=outline.join)


class _Markdown(Outline):
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
        if item and own in STATEMENTS:
            self.open_item(justified(title) or without_number(title), block, role=own)

    def _role_of_heading(self, title: str, *, level: int) -> tuple[Role | None, bool]:
        """What a heading names by its words and its place, and whether it is a statement itself.

        Plans and files hold no statements.
        """
        parent, own = self.role, role_of(head_words(title)) if level > 1 else None
        item = parent in STATEMENTS or is_item(title, own)
        if level > 1 and justified(title):
            own, item = "decision", True
        if own == "problem" and not names_problems(title):
            own, item = None, parent in STATEMENTS
        if parent in {"next", "files"} or (parent == "gates" and own not in STATEMENTS):
            return parent, False
        if own in {"gates", "next", "commit"}:
            return own, False
        if own not in _OWN_ROLES or (item and parent in STATEMENTS):
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
        if self.role in STATEMENTS and block.kind == "item":
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
            reading.state_task(text, line=block.line)
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
        self.close(LABEL_RANK)
        # What follows an unknown label is no decision, lesson or problem by itself.
        beneath: Role | None = "background" if self.role in STATEMENTS else None
        own = role if role in _OWN_ROLES or role in {"found", "background", "impact"} else beneath
        self.open_scope(LABEL_RANK, name, own, line=block.line)
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
            self.reading.state_task(text, line=block.line)
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
