"""Draws lines of the rule files of nine projects, for a person to bind by hand before any output is looked at.

    python benchmarks/rules/rule_draw.py > drawn.json

Lines are list items and paragraphs outside code, of every version of the files, with a word that asks for something;
each project gets the same number. Their texts stay in the corpora: bindings.json has hashes. (Of 164 lines of any kind,
drawn first, about 60 were rules and 25 could be bound.)
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

CORPORA = Path("/work/shared/corpora")
SEED = "rules-24"
PER_PROJECT = 20
#: Drawn besides, of lines with a command or a path in backticks: else too few of the lines could be bound.
SPANS_PER_PROJECT = 9
_FENCE = re.compile(r"^\s*(```|~~~)")
_NO_TEXT = re.compile(r"^\s*(#|\||<|---|>|$)")
#: Workspaces of examples and fixtures carry rules for other projects; commands are prompts.
_OTHERS = re.compile(r"(^|/)(examples|fixtures|evals|commands)/")
_ASKS = re.compile(
    r"\b(always|never|must|do not|don't|not|run|use|prefer|avoid|before|after|only|ensure|instead|should|required?"
    r"|keep|put|add|edit|when)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(r"`[^`]*[ /][^`]*`")


def rule_files() -> dict[str, Path]:
    """The rule file of each project, by the project's name."""
    return {
        one.stem: one
        for folder in ("agent-sessions", "claude-code")
        for one in sorted((CORPORA / folder / "rules").glob("*.json"))
    }


def lines_of(text: str) -> list[str]:
    """The items and paragraphs of a rule file, one line each; fenced code after a colon belongs to the line before."""
    found: list[str] = []
    fenced, opened = False, False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            opened = fenced and bool(found) and found[-1].endswith(":")
            continue
        if fenced:
            if opened and line.strip():
                found[-1] += f" `{line.strip()}`"
            continue
        if _NO_TEXT.match(line):
            found.append("")
            continue
        item = re.match(r"\s*([-*+]|\d+[.)])\s+", line)
        if item or not found or not found[-1]:
            found.append(line.strip())
        else:
            found[-1] += f" {line.strip()}"
    return [one for one in found if len(one.split()) > 3]


def drawn_again() -> list[dict[str, str]]:
    """A second draw, of other lines with a command or a path: bound by hand after the first had been looked at."""
    known = {row["line"] for row in drawn()}
    rows = []
    for project, file in rule_files().items():
        named = [one for one in _asking(project, file) if one["line"] not in known and _SPAN.search(one["line"])]
        rows += _shuffled(named, f"{SEED}-second")[:PER_PROJECT]
    return rows


def drawn() -> list[dict[str, str]]:
    """The lines, in the order of the draw."""
    rows = []
    for project, file in rule_files().items():
        order = _shuffled(_asking(project, file), SEED)
        named = [one for one in order[PER_PROJECT:] if _SPAN.search(one["line"])]
        rows += [*order[:PER_PROJECT], *named[:SPANS_PER_PROJECT]]
    return rows


def _asking(project: str, file: Path) -> list[dict[str, str]]:
    """Each line of a project's rule files that asks for something, once."""
    seen: dict[str, dict[str, str]] = {}
    for version in json.loads(file.read_bytes()):
        if _OTHERS.search(version["path"]):
            continue
        for line in lines_of(version["text"] or ""):
            if _ASKS.search(line):
                seen.setdefault(line, {"project": project, "path": version["path"], "line": line})
    return list(seen.values())


def _shuffled(rows: list[dict[str, str]], seed: str) -> list[dict[str, str]]:
    def place(row: dict[str, str]) -> bytes:
        return hashlib.blake2b(f"{seed}\n{row['project']}\n{row['line']}".encode()).digest()

    return sorted(rows, key=place)


if __name__ == "__main__":
    json.dump(drawn(), sys.stdout, indent=1, ensure_ascii=False)
