"""Twenty paths from files, tests and rules of the Claude Code corpus, with the lines of the logs that they rest on.

    python benchmarks/paths.py [--of N] [--seed TEXT] [--project FOLDER]... [--width N] [--readers FOLDER]

Sealed sessions are left out, whichever project is named.
The starts are chosen by the hash of the seed and their names among all files that the sessions edit, tests that fail,
rules that are broken and names that do not compile, in turn, and lead where one would ask: every second file to what
fails, all else to what passes.
Nothing judges the paths but a reader: each step is printed with what the log says at both of its lines. The last line
counts what a program can tell: how many starts lead nowhere, and how finely the others are answered.

``--readers FOLDER`` writes pages for three readers instead, each with paths that the others do not have, and prints
none of them. The starts are then of the half that whoever works on paths leaves alone (`is_for_readers`).

What a reader found is in docs/explanation/graph.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import redirect_stdout
from hashlib import blake2b
from io import StringIO
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from sealed_sessions import open_logs

from helix_cli.commands.paths_and_causes import render_path
from helix_episodes.readers import read_sessions
from helix_graph import Memory
from helix_graph.graph.error_query import is_standard, symbol_in
from helix_graph.graph.graph_db import open_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_graph.graph.path_answer import PathAnswer

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


class Found(NamedTuple):
    """A question and its answer, with the log's lines."""

    source: str
    target: str
    answer: PathAnswer
    steps: Steps


#: How a question is answered to which there is no path.
_NONE = "not found"


def questions(graph_db: Path, seed: str, *, both: bool = False) -> Iterator[tuple[str, str]]:
    """Where from and where to: a file, a test, a rule and a symbol in turn; a file with ``both`` to either end."""
    with open_graph(graph_db) as connection:
        names = [
            [str(name).rpartition("/")[2] for (name,) in connection.execute(query) if name] for query in _NAMES.values()
        ]
    *named, messages = names
    names = [*named, [symbol for one in messages for symbol in symbol_of(one)]]
    by_hash = [sorted(set(some), key=lambda name: blake2b((seed + name).encode()).digest()) for some in names]
    goals = {name: "fails" if place % 2 else "passes" for place, name in enumerate(by_hash[0])}
    in_turn = filter(None, chain.from_iterable(zip_longest(*by_hash)))
    for name in in_turn:
        yield name, goals.get(name, "passes")
        if both and name in goals:
            yield name, "fails" if goals[name] == "passes" else "passes"


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


def is_for_readers(project: str, name: str) -> bool:
    """Whether a start is of the half that is kept for readers; the other half may be worked on."""
    return not blake2b(f"split-24-11{project}{name}".encode()).digest()[0] % 2


_READERS = 3
_TO_JUDGE = """\
# Paths to judge

You have built none of this. `paths.md` has paths as `helix-graph path FROM TO` prints them, from logs of coding agents.
Below each path is what the product cites: the log and, for each step, the line at either end.
Judge each path by the logs alone. Read the cited lines, all between them, and what you need around them.
`python {show} LOG FROM TO [WIDTH]` prints a log's steps between two lines; the logs are plain JSON too.

What a path says:

- `edit F` then `X passes`: after the cited edit (of several all lines are named) the check X ran, looked at F, and
  passed, and the log shows nothing that makes this pass another edit's.
- `edit F` then `X fails: …`: what fails is of what the cited edit wrote, or the cited call itself failed.
- `X fails: …` then `edit F`: the cited edit answers that failure; by a marker where it says `, suppress a check`.
- `k of n sessions`: n sessions have the left side and ran the check on the right; in k of them the log shows the step.
  Sessions that only have the one after the other do not count in k. Check it where the sessions are named.
- "The same kinds of steps" counts the steps by their labels, with any file; you need not check it.

Your verdict on each:

- **true**: each step is what the log shows, and the end follows.
- **in part**: the links hold, but what decides lies between or elsewhere, or a word or a count says too much.
- **false**: a step is not so.
- **hub**: yes where the path goes by a step that many sessions share although the log has a finer one. That a check
  passes, at the end, is none.

Write one line for each path: number, verdict, hub yes or no, the reason with line numbers, at most 60 words.
Be strict: what you would not defend before somebody who has the log is in part.
"""


def readers_pages(found: list[Found], folder: Path, show: Path) -> None:
    """Deals the paths out to the readers in turn."""
    for reader in range(_READERS):
        own = folder / f"reader-{reader + 1}"
        own.mkdir(parents=True)
        (own / "README.md").write_text(_TO_JUDGE.format(show=show))
        pages = (page_of(number, one) for number, one in enumerate(found[reader::_READERS], 1))
        (own / "paths.md").write_text("\n".join(pages))


def page_of(number: int, found: Found) -> str:
    """A path as the command prints it, and what it cites."""
    said = StringIO()
    with redirect_stdout(said):
        render_path(found.answer)
    lines = [f"## {number}. `{found.source}` to `{found.target}`", "", "```", said.getvalue().rstrip(), "```", ""]
    for place, step in enumerate(found.answer.steps, 1):
        for witness in step.witnesses:
            log = witness.source.log
            begin = witness.source_lines or (witness.source.line,)
            end = witness.target_lines or (witness.target.line,)
            cited = [found.steps.get(((log or "").rpartition("/")[2], one or 0), "?")[:500] for one in (*begin, *end)]
            lines += [f"- step {place}: `{log}` lines {', '.join(map(str, begin))} -> {', '.join(map(str, end))}"]
            lines += [f"  - {line}: {text}" for line, text in zip((*begin, *end), cited, strict=True)]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", type=int, default=20, help="how many paths to find")
    parser.add_argument("--seed", default="", help="what the starts are drawn with")
    parser.add_argument("--project", action="append", help="a folder of the corpora (default: claude-code)")
    parser.add_argument("--width", type=int, default=300, help="characters of each line of a log")
    parser.add_argument("--readers", type=Path, help="where to write pages for readers, instead of printing paths")
    parser.add_argument("--show", type=Path, default=Path("show.py"), help="what readers print a log with")
    options = parser.parse_args()
    answered: Counter[str] = Counter()
    kept: list[Found] = []
    for project in options.project or ["claude-code"]:
        for one in answers(project, options.seed, both=bool(options.readers)):
            if options.readers:
                kept += [one] if one.answer.found and is_for_readers(project, one.source) else []
                continue
            print(f"\n{answered.total() + 1}. from {one.source} to {one.target}")
            answered[told(one.answer, one.steps, options.width)] += 1
            if answered.total() - answered[_NONE] == options.of:
                break
    if options.readers:
        kept.sort(key=lambda one: blake2b(f"{options.seed}{one.source} to {one.target}".encode()).digest())
        readers_pages(kept[: options.of], options.readers, options.show)
        print(f"{len(kept)} paths, {min(options.of, len(kept))} dealt out to {_READERS} readers")
    else:
        print("\n" + ", ".join(f"{count} {what}" for what, count in sorted(answered.items())))


def answers(project: str, seed: str, *, both: bool) -> Iterator[Found]:
    """The questions about the open logs of a project, with their answers."""
    logs = open_logs(project)
    steps = steps_of(logs)
    with TemporaryDirectory() as folder:
        memory = Memory(Path(folder))
        memory.extract(logs)
        memory.graph.compile()
        for source, target in questions(memory.graph.path_of_file, seed, both=both):
            yield Found(source, target, memory.graph.path(source=source, target=target), steps)


if __name__ == "__main__":
    main()
