"""Gates: the steps of a protocol that a log declares as taken or not, and what they declare of the session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.readers.ai_agents.words import words_of
from helix_episodes.session import Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.readers.ai_agents.steps import Steps
    from helix_episodes.readers.located import Node
    from helix_episodes.session import Status, Step

_YES = re.compile(
    r"^\W*(true|yes|x|complete[d]?|done|pass(ed)?|ok|skipped|n/?a|verified|remediated|\u2705|\u2713|\u2714)",
    re.IGNORECASE,
)
_MARKS = frozenset({"complete", "completed", "status", "done", "passed", "result", "checked"})
#: The gates that stand for the work itself: that it is checked, that it is kept, that the list is worked off.
_DECISIVE = re.compile(
    r"commit|valid|lint|\btests?\b|complete session log|checklist|log complete|\bqa\b", re.IGNORECASE
)

#: What was written into the memory for later sessions is what this one taught.
_RECORDED = re.compile(r"\b(?:recorded|noted|documented|saved|wrote down|learned) that (\S.{20,})", re.IGNORECASE)
#: A binding step that was left out says for what reason.
_WAIVED = re.compile(r"^\W*(?:skipped|waived|bypassed)\b\W+(\w.{3,})", re.IGNORECASE)
#: A tool that was not there is a fault of the surroundings, whatever became of the gate.
_OUT_OF_REACH = re.compile(r"\b(?:not (?:available|reachable|installed)|unavailable|unreachable)\b", re.IGNORECASE)
#: What waits for somebody else says nothing of how this session came out.
_WAITS = re.compile(
    r"^\W*(?:pending|awaiting|waiting for|left (?:to|for)) (?:an? |the )?"
    r"(?:user|owner|human|maintainer|reviewer|author|orchestrator|parent)\b",
    re.IGNORECASE,
)
#: Gates whose evidence names the session's own commits; that of "starting commit noted" names another's.
ABOUT_COMMITS = re.compile(r"^(?!.*start).*commit", re.IGNORECASE)


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One gate: its name, whether it is passed (None: it does not say), how binding it is, and the evidence."""

    name: str
    passed: bool | None
    line: int
    level: str = ""
    evidence: str = ""
    evidence_line: int = 0
    phase: str = ""


def add_gate(steps: Steps, gate: Gate) -> None:
    """A gate as a step; an unmet one is no failure, only unmet."""
    passed = None if _WAITS.match(gate.evidence) else gate.passed
    status: Status = "unknown" if passed is None else "ok" if passed else "error"
    arguments = {"name": gate.name, "level": gate.level, "phase": gate.phase, "passed": passed}
    words = f"{gate.name}: {gate.evidence}" if gate.evidence else gate.name
    said = Piece(line=gate.evidence_line or gate.line, text=gate.evidence)
    steps.add("gate", words, line=gate.line, status=status, arguments=arguments, pieces=(said,) if said.text else ())
    if gate.level.upper() in {"MUST", "REQUIRED"} and said.text and (waived := _WAIVED.match(gate.evidence)):
        reason: dict[str, Any] = {"context": gate.phase, "rationale": waived[1], "options": []}
        steps.add("decision", f"Skipped: {gate.name}", line=said.line, arguments=reason, pieces=(said,))
    if said.text and _OUT_OF_REACH.search(gate.evidence) and not any(map(_is_out_of_reach, steps.found)):
        steps.note(gate.evidence, part="problem", line=said.line)
    recorded = _RECORDED.search(gate.evidence) if "memory" in words_of(gate.name) else None
    if recorded and gate.passed:
        steps.add("lesson", recorded[1], line=said.line)


def _is_out_of_reach(step: Step) -> bool:
    """Whether a step already tells that something was not there: every gate that needs it says so again."""
    return step.arguments.get("part") == "problem" and _OUT_OF_REACH.search(step.text) is not None


def take_gates(steps: Steps, node: Node, *, phase: str = "") -> None:
    """The gates of a ``protocolCompliance`` object, whatever its depth and the spelling of its keys."""
    for key, member in node.members.items():
        marks = {name.casefold(): one for name, one in member.members.items()}
        mark = next((marks[name] for name in marks if name in _MARKS), None)
        if mark is not None and not mark.members:
            add_gate(steps, _gate(key, marks, mark, phase=phase))
            steps.used.update(one.line for one in marks.values())
        elif member.members:
            take_gates(steps, member, phase=key)
        elif isinstance(member.value, list):
            for item in member.items:
                steps.note(item.text, part="other", line=item.line, context=key)
        else:
            add_gate(steps, Gate(name=_spaced(key), passed=is_yes(member), line=member.line, phase=phase))


def _gate(key: str, marks: dict[str, Node], mark: Node, *, phase: str) -> Gate:
    said = next((marks[name] for name in ("evidence", "note", "notes", "reason") if name in marks), mark)
    level = marks["level"].text if "level" in marks else ""
    return Gate(
        name=_spaced(key),
        passed=is_yes(mark),
        line=mark.line,
        level=level,
        evidence=said.text if said is not mark else "",
        evidence_line=said.line,
        phase=phase,
    )


def is_yes(node: Node) -> bool | None:
    """Whether a mark says yes; None when it says nothing."""
    if isinstance(node.value, bool):
        return node.value
    return bool(_YES.match(node.text)) if node.text else None


def _spaced(key: str) -> str:
    return " ".join(words_of(key))


def declared_by_gates(gates: Sequence[Step]) -> str | None:
    """What the gates at the end of a session declare: success when the decisive ones are passed, else partial.

    Gates of the start, and those that forbid something, tell nothing of how the work came out.
    """
    last = [gate for gate in gates if _is_of_the_end(gate) and _DECISIVE.search(gate.arguments["name"])]
    marks = [gate.arguments["passed"] for gate in last if gate.arguments["passed"] is not None]
    if not marks:
        return None
    return "success" if all(marks) else "partial"


def _is_of_the_end(gate: Step) -> bool:
    level = str(gate.arguments["level"]).upper()
    return "end" in words_of(str(gate.arguments["phase"])) and level in {"", "MUST", "REQUIRED"}
