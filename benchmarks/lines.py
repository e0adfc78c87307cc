"""On which lines of a Claude Code log our statements stand; a call and its own result stand for each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Decision, Episode, Event


def twins(log: Path) -> dict[int, set[int]]:
    """Each line that holds a call or a result, with the lines of its counterparts."""
    calls: dict[str, int] = {}
    pairs: dict[int, set[int]] = {}
    for number, line in enumerate(log.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        for block in blocks(line):
            if block.get("type") == "tool_use":
                calls[block["id"]] = number
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
                call = calls[block["tool_use_id"]]
                pairs.setdefault(call, set()).add(number)
                pairs.setdefault(number, set()).add(call)
    return pairs


def blocks(line: str) -> list[dict[str, Any]]:
    try:
        content = (json.loads(line).get("message") or {}).get("content")
    except (ValueError, AttributeError):
        return []
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


class Lines:
    """The lines that each of our statements stands on."""

    def __init__(self, episode: Episode, pairs: dict[int, set[int]]) -> None:
        self.pairs = pairs
        self.of = {one.id: self._lines(one) for one in episode.decisions}
        self.of |= {one.id: self._lines(one) for one in episode.events}

    def _lines(self, one: Decision | Event) -> set[int]:
        own = {one.evidence.line, *one.evidence.also} if one.evidence else set()
        return own | {twin for line in own for twin in self.pairs.get(line, ())}

    def meets(self, identity: str, lines: set[int]) -> bool:
        wide = lines | {twin for line in lines for twin in self.pairs.get(line, ())}
        return bool(self.of[identity] & wide)
