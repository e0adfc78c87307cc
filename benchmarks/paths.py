"""Twenty paths from files, tests and rules of the Claude Code corpus, with the lines of the logs that they rest on.

    python benchmarks/paths.py [--of N] [--width N]

The starts are chosen by the hash of their names among all files that the sessions edit, tests that fail and linter
rules that are broken, in turn, and lead where one would ask: every second file to what fails, all else to what passes.
Nothing judges the paths but a reader: each step is printed with what the log says at both of its lines. The last line
counts what a program can tell: how many starts lead nowhere, and how finely the others are answered.

What a reader found is in docs/explanation/graph.md.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tallies import CORPORA

from helix_graph import Memory
from helix_graph.graph.graph_db import open_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.graph.paths import PathAnswer

LOGS = CORPORA / "claude-code" / "sessions"
_NAMES = {
    "file": "SELECT DISTINCT thing FROM mention JOIN node ON number = node WHERE label GLOB 'edit *'",
    "test": (
        "SELECT DISTINCT thing FROM mention JOIN node ON number = node"
        " WHERE type = 'error' AND label GLOB '* fails: test failed' AND thing GLOB 'Test*'"
    ),
    "rule": (
        "SELECT DISTINCT place FROM mention JOIN node ON number = node"
        " WHERE label GLOB 'golangci-lint fails: *' AND place NOT GLOB '*[./]*'"
    ),
}
#: How a question is answered to which there is no path.
_NONE = "not found"


def questions(graph_db: Path) -> Iterator[tuple[str, str]]:
    """Where from and where to: a file, a test and a rule in turn."""
    with open_graph(graph_db) as connection:
        names = [[str(name).rpartition("/")[2] for (name,) in connection.execute(query)] for query in _NAMES.values()]
    by_hash = [sorted(set(some), key=lambda name: blake2b(name.encode()).digest()) for some in names]
    files, tests, rules = by_hash
    goals = {name: "fails" if place % 2 else "passes" for place, name in enumerate(files)}
    in_turn = chain.from_iterable(zip(files, tests, rules, strict=False))
    longest = chain(in_turn, files[min(len(tests), len(rules)) :])
    return ((name, goals.get(name, "passes")) for name in longest)


def told(answer: PathAnswer, width: int) -> str:
    """Prints a path and the lines behind it; returns how it was answered."""
    if not answer.found:
        print(f"   {answer.error}")
        return _NONE
    print(f"   {answer.steps[0].source}" if answer.steps else "   the same thing at both ends")
    for step in answer.steps:
        print(f"   -> {step.type} ({', '.join(step.reasons)}; {step.frequency.k} of {step.frequency.n}) {step.target}")
        witness = step.witnesses[0]
        log = (witness.source.log or witness.target.log or "").rpartition("/")[2]
        for place in dict.fromkeys((witness.source.line, witness.target.line)):
            print(f"        {log[:8]}:{place}  {line_of(log, place, width)}")
    print(f"   whole in {len(answer.whole)}")
    return f"by {answer.resolution}, {'joined' if answer.stitched else 'whole in a session'}"


def line_of(log: str, line: int | None, width: int) -> str:
    """What a line of a log says, without the log's own fields."""
    if line is None or not (LOGS / log).is_file():
        return "?"
    with (LOGS / log).open(encoding="utf-8") as file:
        record = json.loads(next(islice(file, line - 1, None)))
    content = record.get("message", {}).get("content", record)
    parts = content if isinstance(content, list) else [content]
    return " | ".join(" ".join(_text(part).split()) for part in parts)[:width]


def _text(part: Any) -> str:  # noqa: ANN401  (a log may say anything)
    if isinstance(part, dict):
        found = part.get("input", part.get("content", part.get("text", part)))
        return found if isinstance(found, str) else json.dumps(found)
    return str(part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", type=int, default=20, help="how many paths to find")
    parser.add_argument("--width", type=int, default=300, help="characters of each line of a log")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        memory = Memory(Path(folder))
        memory.extract([LOGS])
        memory.graph.compile()
        answered: Counter[str] = Counter()
        for number, (source, target) in enumerate(questions(memory.graph.path_of_file), 1):
            print(f"\n{number}. from {source} to {target}")
            answered[told(memory.graph.path(source=source, target=target), options.width)] += 1
            if answered.total() - answered[_NONE] == options.of:
                break
    print("\n" + ", ".join(f"{count} {what}" for what, count in sorted(answered.items())))


if __name__ == "__main__":
    main()
