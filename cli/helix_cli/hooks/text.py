"""What is put before the agent: short lines of facts, harmless, within a size, between the memory's marks."""

from __future__ import annotations

from helix_episodes.echo import wrap
from helix_episodes.values import Value
from helix_graph.insights.safety import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Claude Code and Copilot cut at 10,000 characters, Codex at 2,500 tokens, which are some 8,000 of them.
_MOST_CHARACTERS = 6000
_LONGEST_LINE = 500


class Line(Value):
    """One fact. ``name`` is that of the insight which it is, if it is one."""

    text: str
    name: str = ""


class Section(Value):
    """Facts of one kind, under what they are."""

    heading: str
    lines: Sequence[Line]


def block(sections: Sequence[Section]) -> str:
    """The sections between the memory's marks, as far as they fit; empty without a single line."""
    told: list[str] = []
    names: list[str] = []
    left = _MOST_CHARACTERS
    for section in sections:
        lines = [Line(f"- {_short(line.text)}", line.name) for line in section.lines]
        for place, line in enumerate(lines):
            added = ([] if place else [section.heading]) + [line.text]
            size = sum(len(one) + 1 for one in added) + len(line.name)
            if size > left:
                break
            left -= size
            told += added
            names += [line.name] if line.name else []
    return wrap("\n".join(told), insights=names) if told else ""


def _short(text: str) -> str:
    plain = harmless(text)
    return plain if len(plain) <= _LONGEST_LINE else plain[: _LONGEST_LINE - 1] + "…"
