"""How many phrasings of our own lead to the label that a person means, among the first three answers?

    python benchmarks/phrasings.py [-v]

The 403 texts of ``judged/phrasings.jsonl`` are about six projects of the corpora; no sealed log is read. Each names the
lines that it means (a log's beginning, first and last line), or a pattern of the label. They were written before any
output was seen, in seven sets; all but the fifth and seventh were looked at after their first run, so their figures are
tuned now. Sets 6 and 7 say how far a text's words are from the log's: near, medium or far.
``-v`` prints what was not found, with what was offered. The sealed questions: ``python benchmarks/sealed --phrasings``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parent / "sealed"))

from sealed_phrasings import FIRST, KINDS, all_lines_of, share
from tallies import CORPORA

from helix_graph import Memory

HERE = Path(__file__).parent
PROJECTS = {
    "mise": "agent-sessions/jdx__mise",
    "ctx": "agent-sessions/PackmindHub__context-evaluator",
    "agentv": "agent-sessions/EntityProcess__agentv",
    "omp": "agent-sessions/JanDeDobbeleer__oh-my-posh",
    "skills": "agent-sessions/entireio__skills",
    "go": "claude-code/sessions",
}


def remembered(folder: Path, logs: Path, sealed: frozenset[str]) -> Memory:
    """A memory of the logs of a project that are not sealed."""
    (folder / "logs").mkdir(parents=True)
    for log in logs.rglob("*.jsonl"):
        if log.name not in sealed:
            shutil.copy(log, folder / "logs" / log.name)
    memory = Memory.init(folder)
    memory.extract([folder / "logs"])
    memory.graph.compile()
    return memory


def answered(memory: Memory, asked: dict[str, Any]) -> tuple[bool, list[str]]:
    """Whether one of the first answers is meant, and what they are."""
    lines = asked["lines"]
    if asked["question"] == "seen" and (found := memory.graph.seen(asked["text"], limit=FIRST).precedents):
        shown = [(one.log, one.line) for one in found]
        shown += [(fix.log, fix.line) for one in found for fix in one.fixes]
        return is_among(shown, lines), [f"{one.log}:{one.line} {one.label}" for one in found]
    found_labels = memory.graph.labels(asked["text"], limit=FIRST).labels
    right = False
    for match in found_labels:
        named = not match.session and any(re.search(one, match.name, re.IGNORECASE) for one in asked["labels"])
        of_task = bool(match.session) and any(
            str(match.session).startswith(log) and first < 12 for log, first, _ in lines
        )
        places = [] if match.session else list(all_lines_of(memory, match))
        right = right or named or of_task or is_among([*places, *((one.log, one.line) for one in match.places)], lines)
    return right, [f"{one.name} ({one.type})" for one in found_labels]


def is_among(shown: list[tuple[str | None, int | None]], lines: list[tuple[str, int, int]]) -> bool:
    """Whether a log and line is one of those that are meant."""
    return any(
        log and line and log.startswith(begin) and first <= line <= last
        for log, line in shown
        for begin, first, last in lines
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was not found")
    options = parser.parse_args()
    chosen = [HERE / "sealed" / name for name in ("chosen-a.txt", "chosen-c.txt")]
    sealed = frozenset(Path(line).name for file in chosen for line in file.read_text().split())
    questions = [msgspec.json.decode(line) for line in (HERE / "judged" / "phrasings.jsonl").read_text().splitlines()]
    right: Counter[tuple[int, str]] = Counter()
    total: Counter[tuple[int, str]] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        memories = {name: remembered(Path(scratch) / name, CORPORA / logs, sealed) for name, logs in PROJECTS.items()}
        for asked in questions:
            found, shown = answered(memories[asked["project"]], asked)
            right[asked["set"], asked["question"]] += found
            total[asked["set"], asked["question"]] += 1
            if options.verbose and not found:
                print(f"{asked['project']} {asked['question']} {asked['text']!r}: {'; '.join(shown)}")
    for number in sorted({number for number, _ in total}):
        parts = [f"{kind} {right[number, kind]}/{total[number, kind]}" for kind in KINDS]
        whole = share(sum(right[number, kind] for kind in KINDS), sum(total[number, kind] for kind in KINDS))
        print(f"set {number}: {', '.join(parts)}; {whole}")


if __name__ == "__main__":
    main()
