"""The first ten sentences about a project with their evidence, for a reader who is to judge them.

    python benchmarks/stands_out.py [PROJECT ...]

Reads the Claude Code corpus, the open projects of agent-sessions (``claude-code``, ``oh-my-posh`` …) and the demo's
sessions (``demo``), in the order of the arguments; all without one. It prints what `highlights --evidence` would print,
with the text of each cited line. A reader is asked of each sentence: is it true, by the lines cited? Is it specific to
this project? Would you decide anything by it? Below each project stands what its session-start briefing would hold of
them, and how many tokens that is (a token is taken as four characters).
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from issues import projects

import helix_cli
from helix_graph import Memory
from helix_graph.highlights_cache import sentences_for_agents

#: As much of a cited record as a reader needs to recognise it.
_LONGEST_RECORD = 400
_MOST, _LONGEST = 5, 800


def cited(logs: Path, name: str | None, line: int | None) -> str:
    """The text on a line of a log, shortened; the log is looked for by its name."""
    path = next(iter(sorted(logs.rglob(Path(name).name))), None) if name else None
    if path is None or line is None:
        return ""
    records = path.read_text(encoding="utf-8", errors="replace").splitlines()
    text = records[line - 1] if line <= len(records) else ""
    try:
        record = json.loads(text)
        content = record.get("message", {}).get("content") or record.get("payload", {}).get("output") or text
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
    known = [*projects(), ("demo", Path(helix_cli.__file__).parent / "demo")]
    chosen = [one for word in wanted for one in known if word in one[0]] if wanted else known
    for name, logs in chosen:
        show(name, logs)


if __name__ == "__main__":
    main(sys.argv[1:])
