"""Twenty paths from files, tests and rules of the Claude Code corpus, with the lines of the logs that they rest on.

    python benchmarks/paths.py [--of N] [--seed TEXT] [--project FOLDER] [--width N]

Sealed sessions are left out. The starts are chosen by the hash of the seed and their names among all files that the
sessions edit, tests that fail, rules that are broken and names that do not compile, in turn, and lead where one would
ask: every second file to what fails, all else to what passes.
Nothing judges the paths but a reader: each step is printed with what the log says at both of its lines. The last line
counts what a program can tell: how many starts lead nowhere, and how finely the others are answered.

What a reader found is in docs/explanation/graph.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from hashlib import blake2b
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sealed_sessions import open_logs

from helix_episodes.readers import read_sessions
from helix_graph import Memory
from helix_graph.graph.error_query import is_standard, symbol_in
from helix_graph.graph.graph_db import open_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.graph.paths import PathAnswer

_NAMES = {
    "file": "SELECT DISTINCT thing FROM mention JOIN node ON number = node WHERE label GLOB 'edit *'",
    "test": (
        "SELECT DISTINCT thing FROM mention JOIN node ON number = node"
        " WHERE type = 'error' AND label GLOB '* fails: test failed' AND thing NOT GLOB '*[ /]*'"
    ),
    "rule": (
        "SELECT DISTINCT place FROM mention JOIN node ON number = node"
        " WHERE label GLOB '*lint* fails: *' AND place NOT GLOB '*[./]*'"
    ),
    "symbol": (
        "SELECT DISTINCT thing FROM mention JOIN node ON number = node"
        " WHERE type = 'error' AND label NOT GLOB '* fails: test failed'"
    ),
}
#: What is at a log's name and line.
Steps = dict[tuple[str, int], str]
#: How a question is answered to which there is no path.
_NONE = "not found"


def questions(graph_db: Path, seed: str) -> Iterator[tuple[str, str]]:
    """Where from and where to: a file, a test, a rule and a symbol in turn."""
    with open_graph(graph_db) as connection:
        names = [
            [str(name).rpartition("/")[2] for (name,) in connection.execute(query) if name] for query in _NAMES.values()
        ]
    *named, messages = names
    names = [*named, [symbol for one in messages for symbol in symbol_of(one)]]
    by_hash = [sorted(set(some), key=lambda name: blake2b((seed + name).encode()).digest()) for some in names]
    goals = {name: "fails" if place % 2 else "passes" for place, name in enumerate(by_hash[0])}
    in_turn = filter(None, chain.from_iterable(zip_longest(*by_hash)))
    return ((name, goals.get(name, "passes")) for name in in_turn)


def symbol_of(thing: str) -> list[str]:
    """The name of the project's own code in a message."""
    return [symbol for symbol in [symbol_in(thing)] if symbol and not is_standard(symbol)]


def told(answer: PathAnswer, steps: Steps, width: int) -> str:
    """Prints a path and what the log has behind it; returns how it was answered."""
    if not answer.found:
        print(f"   {answer.error}")
        return _NONE
    print(f"   {answer.steps[0].source}" if answer.steps else "   the same thing at both ends")
    for step in answer.steps:
        print(f"   -> {step.type} ({', '.join(step.reasons)}; {step.frequency.k} of {step.frequency.n}) {step.target}")
        witness = step.witnesses[0]
        for at in (witness.source, witness.target):
            log = (at.log or "").rpartition("/")[2]
            print(f"        {log}:{at.line}  {steps.get((log, at.line or 0), '?')[:width]}")
    print(f"   whole in {len(answer.whole)}")
    return f"by {answer.resolution}, {'joined' if answer.stitched else 'whole in a session'}"


def steps_of(logs: list[Path]) -> Steps:
    """What each line of the logs says, without the log's own fields."""
    found: dict[tuple[str, int], str] = {}
    for log in logs:
        for session in read_sessions(log):
            for step in session.steps:
                said = " ".join(f"{step.text} {step.arguments or ''}".split())
                known = found.get((log.name, step.source.line))
                found[log.name, step.source.line] = f"{known} | {said}" if known else said
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", type=int, default=20, help="how many paths to find")
    parser.add_argument("--seed", default="", help="what the starts are drawn with")
    parser.add_argument("--project", default="claude-code", help="a folder of the corpora")
    parser.add_argument("--width", type=int, default=300, help="characters of each line of a log")
    options = parser.parse_args()
    logs = open_logs(options.project)
    steps = steps_of(logs)
    with TemporaryDirectory() as folder:
        memory = Memory(Path(folder))
        memory.extract(logs)
        memory.graph.compile()
        answered: Counter[str] = Counter()
        for number, (source, target) in enumerate(questions(memory.graph.path_of_file, options.seed), 1):
            print(f"\n{number}. from {source} to {target}")
            answered[told(memory.graph.path(source=source, target=target), steps, options.width)] += 1
            if answered.total() - answered[_NONE] == options.of:
                break
    print("\n" + ", ".join(f"{count} {what}" for what, count in sorted(answered.items())))


if __name__ == "__main__":
    main()
