"""Draws lines of the rule files of nine projects, for a person to bind by hand before any output is looked at.

    python benchmarks/rules/rule_draw.py > drawn.json
    python benchmarks/rules/rule_draw.py --unseen > drawn.json

The second draws lines with code that are unlike every line of the three draws before, with their headings; no binder
runs.

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
#: The draws before the last, each with how many lines of a project it has at most.
AGAIN = {"second": 20, "third": 16}
#: Of the last draw: at most so many lines of a project with a command or a path, filled up to so many with other code.
NAMED, CODED = 12, 8
#: A line with so large a share of another's words is that line in other words, and was seen.
_ALIKE = 0.75


def rule_files() -> dict[str, Path]:
    """The rule file of each project, by the project's name."""
    return {
        one.stem: one
        for folder in ("agent-sessions", "claude-code")
        for one in sorted((CORPORA / folder / "rules").glob("*.json"))
    }


def lines_of(text: str) -> list[str]:
    """The items and paragraphs of a rule file, one line each; fenced code after a colon belongs to the line before."""
    return [line for _, line in headed_lines(text)]


def headed_lines(text: str) -> list[tuple[str, str]]:
    """The lines of a rule file, each with the heading above it."""
    found: list[str] = []
    headings: list[str] = []
    heading, fenced, opened = "", False, False
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
            heading = line.strip("# ") if line.startswith("#") else heading
            found.append("")
            headings.append(heading)
            continue
        item = re.match(r"\s*([-*+]|\d+[.)])\s+", line)
        if item or not found or not found[-1]:
            found.append(line.strip())
            headings.append(heading)
        else:
            found[-1] += f" {line.strip()}"
    return [(above, one) for above, one in zip(headings, found, strict=True) if len(one.split()) > 3]


def drawn_again(draw: str, *, known: set[str], each: int) -> list[dict[str, str]]:
    """Another draw, of lines that are not known, with a command or a path; ``each`` of every project."""
    rows = []
    for project, file in rule_files().items():
        named = [one for one in _asking(project, file) if one["line"] not in known and _SPAN.search(one["line"])]
        rows += _shuffled(named, f"{SEED}-{draw}")[:each]
    return rows


def drawn() -> list[dict[str, str]]:
    """The lines, in the order of the draw."""
    rows = []
    for project, file in rule_files().items():
        order = _shuffled(_asking(project, file), SEED)
        named = [one for one in order[PER_PROJECT:] if _SPAN.search(one["line"])]
        rows += [*order[:PER_PROJECT], *named[:SPANS_PER_PROJECT]]
    return rows


def drawn_unseen() -> list[dict[str, str]]:
    """Lines with code that are unlike all of the earlier draws and one another, with headings."""
    rows = drawn()
    for draw, each in AGAIN.items():
        rows += drawn_again(draw, known={row["line"] for row in rows}, each=each)
    seen = [_words(row["line"]) for row in rows]
    found: list[dict[str, str]] = []
    for project, file in rule_files().items():
        named: list[dict[str, str]] = []
        coded: list[dict[str, str]] = []
        for row in _shuffled([one for one in _asking(project, file) if "`" in one["line"]], f"{SEED}-fifth"):
            words = _words(row["line"])
            if any(len(words & other) >= _ALIKE * len(words | other) for other in seen):
                continue
            seen.append(words)
            (named if _SPAN.search(row["line"]) else coded).append(row)
        found += [*named[:NAMED], *coded[: max(CODED - len(named), 0)]]
    return found


def _words(line: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w./:@-]+", line.casefold()))


def _asking(project: str, file: Path) -> list[dict[str, str]]:
    """Each line of a project's rule files that asks for something, once."""
    seen: dict[str, dict[str, str]] = {}
    for version in json.loads(file.read_bytes()):
        if _OTHERS.search(version["path"]):
            continue
        for heading, line in headed_lines(version["text"] or ""):
            if _ASKS.search(line):
                seen.setdefault(line, {"project": project, "path": version["path"], "heading": heading, "line": line})
    return list(seen.values())


def _shuffled(rows: list[dict[str, str]], seed: str) -> list[dict[str, str]]:
    def place(row: dict[str, str]) -> bytes:
        return hashlib.blake2b(f"{seed}\n{row['project']}\n{row['line']}".encode()).digest()

    return sorted(rows, key=place)


if __name__ == "__main__":
    json.dump(drawn_unseen() if "--unseen" in sys.argv else drawn(), sys.stdout, indent=1, ensure_ascii=False)
