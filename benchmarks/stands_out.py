"""The first ten sentences about a project with their evidence, for a reader who is to judge them.

    python benchmarks/stands_out.py [PROJECT ...]

Reads the Claude Code corpus and the open projects of agent-sessions (``claude-code``, ``oh-my-posh`` …; all without an
argument), and prints what ``helix-graph highlights --evidence`` would print, with the text of each cited line as the
episode quotes it. A reader is asked of each sentence: is it true, by the lines cited? Is it specific to this project?
Would you decide anything by it? Below each project stands what its session-start briefing would hold of them, and how
many tokens that is (a token is taken as four characters).
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from issues import projects

from helix_graph import Memory
from helix_graph.highlights_cache import sentences_for_agents

#: As much of a cited record as a reader needs to recognise it.
_LONGEST_RECORD = 400
_MOST, _LONGEST = 5, 800


def cited(logs: Path, name: str | None, line: int | None) -> str:
    """The text on a line of a log, shortened; the log is looked for by its name."""
    path = next(iter(sorted(logs.rglob(Path(name).name))), None) if name else None
    if path is None or line is None or path.suffix != ".jsonl":
        return ""
    records = path.read_text(encoding="utf-8", errors="replace").splitlines()
    text = records[line - 1] if line <= len(records) else ""
    try:
        content = json.loads(text).get("message", {}).get("content", text)
    except (ValueError, AttributeError):
        content = text
    plain = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return " ".join(plain.split())[:_LONGEST_RECORD]


def show(name: str, logs: Path) -> None:
    """Prints the sentences about one project."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder) / ".helix")
        memory.root.mkdir(parents=True)
        memory.extract([logs])
        memory.graph.compile()
        found = memory.highlights()
        print(f"\n# {name}: {found.sessions} sessions")
        for number, one in enumerate(found.found, 1):
            print(f"\n{number}. {one.text}\n   all of it: {one.see}")
            for place in one.evidence:
                where = place.log or place.session
                print(f"   - {where}, line {place.line}: {cited(logs, place.log, place.line)}")
        told = sentences_for_agents(memory.root, most=_MOST, longest=_LONGEST)
        print(f"\nA session's start would say {len(told)} of them, {sum(map(len, told)) // 4} tokens.")


def main(wanted: list[str]) -> None:
    for name, logs in projects():
        if not wanted or any(word in name for word in wanted):
            show(name, logs)


if __name__ == "__main__":
    main(sys.argv[1:])
