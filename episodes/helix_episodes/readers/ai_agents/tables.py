"""Rows of tables: what a cell tells follows from the column it stands in, and from the scope that the table does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.readers.ai_agents.blocks import Block, plain
from helix_episodes.readers.ai_agents.gates import Gate, add_gate
from helix_episodes.readers.ai_agents.headings import checked
from helix_episodes.readers.ai_agents.outline import Outline, pieces
from helix_episodes.readers.ai_agents.states import is_bare_state
from helix_episodes.readers.ai_agents.words import Role, role_of, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IS_PLANNED = re.compile(
    r"^(?:must|should|to be|needs?|todo|add later|proposed|planned|possible|potential|recommended|suggested)\b",
    re.IGNORECASE,
)
#: Fewer words count or name something.
TOLD_WORDS = 3


class Table(Outline):
    """An outline that reads the rows of tables."""

    def row(self, block: Block) -> None:
        """Gives a row to what its scope or its columns name."""
        cells = [plain(cell) for cell in block.cells]
        roles: list[Role | None] = [role_of(column) for column in block.columns]
        by_role: dict[Role | None, list[str]] = {}
        for cell, role in zip(cells, roles, strict=False):
            by_role.setdefault(role, []).append(cell)
        if self.role == "gates" or {"status", "found", "did"} <= set(roles):
            self._gate_row(block, cells)
        elif self.role == "decision" or "decision" in roles:
            self._decision_row(block, cells, by_role)
        elif self.role == "problem":
            self.open_row(by_role.get("problem", []) + by_role.get("found", []) or cells, block, role="problem")
        elif self.role not in {"next", "files"} and _is_of_defects(block.columns, by_role):
            faults = by_role["problem"] + by_role.get("found", [])
            beside = [cell for cell in cells if cell not in faults]
            self.open_row(faults + beside, block, role="problem")
        elif self.role == "work" and "did" in roles:
            self._work_row(block, by_role)
        elif self.role in {None, "work", "found", "background"} and any(
            _tells(one) for one in by_role.get("problem", [])
        ):
            for told in by_role["problem"]:
                self.steps.note(told, part="found", line=block.line, context=self.context())
        else:
            words = " \u00b7 ".join(cells)
            self.steps.note(words, part="other", line=block.line, context=self.context(), pieces=pieces(cells, block))

    def _gate_row(self, block: Block, cells: list[str]) -> None:
        columns = [column.casefold() for column in block.columns]
        named = dict(zip(columns, block.cells, strict=False))
        status = next((text for name, text in named.items() if name in {"status", "complete", "done"}), "")
        name = next(
            (named[one] for one in ("step", "requirement", "item", "must requirement", "phase") if one in named),
            cells[0],
        )
        gate = Gate(
            name=plain(name),
            passed=checked(status),
            line=block.line,
            level=named.get("req", named.get("level", "")),
            evidence=plain(named.get("evidence", "")),
            phase=self.phase(),
        )
        add_gate(self.steps, gate)

    def _decision_row(self, block: Block, cells: list[str], by_role: dict[Role | None, list[str]]) -> None:
        chosen = [text for text in by_role.get("decision", []) + by_role.get("did", []) if text] or cells[:1]
        self.join, self.owner, self.owner_level = self.steps.entry(), "decision", 0
        self.decide(": ".join(chosen), block, context=self.context(), pieces=pieces(chosen, block))
        for reason in by_role.get("rationale", []):
            self.extend(reason, name="rationale", line=block.line)
        for option in by_role.get("options", []):
            self.extend(option, name="options", line=block.line)
        for role in ("outcome", "impact"):
            for text in by_role.get(role, []):
                self.belonging(role, text, block)

    def _work_row(self, block: Block, by_role: dict[Role | None, list[str]]) -> None:
        done = [text for text in by_role.get("did", []) if text]
        if done and not IS_PLANNED.match(done[0]):
            self.open_item(done[0], block, role="work")
            self.owner = "work"
            for text in (*done[1:], *by_role.get("outcome", ()), *by_role.get("found", ())):
                if not is_bare_state(text):
                    self.steps.note(text, part="found", line=block.line, call_id=self.join)

    def phase(self) -> str:
        """The headings that are open, by which a gate is of the session's start or of its end."""
        return " ".join(scope.title for scope in self.scopes if scope.rank > 1)


#: Columns that weigh a defect, or say what mended it.
_OF_DEFECTS = frozenset({"severity", "priority", "fix", "resolution"})


def _is_of_defects(columns: Sequence[str], by_role: Mapping[Role | None, Sequence[str]]) -> bool:
    """Whether a row is one of a list of defects: it says what is wrong, and how bad that is or what mended it."""
    told = by_role.get("problem", ())
    return any(_tells(one) for one in told) and any(_OF_DEFECTS & set(words_of(column)) for column in columns)


def _tells(cell: str) -> bool:
    """Whether a cell says something, and is not the number or the name of an issue."""
    return len(cell.split()) >= TOLD_WORDS and "#" not in cell
