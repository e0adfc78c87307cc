"""Of ten issues ranked on the first half of a corpus, how many recur in the second?

    python benchmarks/issues.py

Sessions are split in time. Every issue of the first half is ranked by the number of its sessions (as ``issues`` does),
by its active minutes, and at random (the share of all issues that recur: what ten drawn blindly are worth). An issue
*recurs* when a session of the second half meets the same fingerprint, or, for groups, the same check and family. Open
projects of agent-sessions with at least `FEWEST` sessions are read; sealed ones are not.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tallies import CORPORA

from helix_graph import Memory
from helix_graph.graph.graph_db import open_graph
from helix_graph.issues.history import Failure, History

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FEWEST = 12
TOP = 10
SEALED = frozenset({"entireio__entire-graph", "savekirk__session-bridge"})
SESSIONS = CORPORA / "agent-sessions"


def projects() -> Iterator[tuple[str, Path]]:
    """The corpora, the one that everything was developed on first."""
    yield "claude-code", CORPORA / "claude-code" / "sessions"
    folders = (
        one for one in sorted(SESSIONS.iterdir()) if one.is_dir() and one.name not in {*SEALED, "LICENSES", "rules"}
    )
    yield from ((one.name, one) for one in folders)


def history_of(logs: Path, folder: Path) -> History:
    """The failures of all sessions in a folder of logs."""
    memory = Memory(folder / ".helix")
    memory.root.mkdir(parents=True)
    memory.extract([logs])
    memory.graph.compile()
    with open_graph(memory.graph.path_of_file) as connection:
        return History(connection, memory.graph.causality)


def recurring(history: History, key_of: Callable[[Failure], str]) -> dict[str, str]:
    """How many of the top ten recur under each ranking, in words, and how many issues there were to choose from."""
    half = len(history.sessions) // 2
    first: defaultdict[str, list[Failure]] = defaultdict(list)
    second = set()
    for one in history.failures:
        if one.deliberate:
            continue
        if history.place(one) < half:
            first[key_of(one)].append(one)
        else:
            second.add(key_of(one))
    by_sessions = sorted(first, key=lambda key: (-len({one.number for one in first[key]}), -_steps(first[key]), key))
    by_minutes = sorted(first, key=lambda key: (-sum(one.seconds or 0 for one in first[key]), key))
    blind = sum(key in second for key in first) / len(first) if first else 0
    top = min(TOP, len(first))
    return {
        "issues": str(len(first)),
        "by sessions": f"{sum(key in second for key in by_sessions[:TOP])} of {top}",
        "by minutes": f"{sum(key in second for key in by_minutes[:TOP])} of {top}",
        "at random": f"{blind * top:.1f} of {top}",
    }


def _steps(failures: list[Failure]) -> float:
    return sum(one.steps or 0 for one in failures)


def main() -> None:
    print("| project | sessions | | in the first half | by sessions | by minutes | at random |")
    print("|---|---|---|---|---|---|---|")
    for name, logs in projects():
        with tempfile.TemporaryDirectory() as folder:
            history = history_of(logs, Path(folder))
        if len(history.sessions) < FEWEST:
            continue
        for what, key_of in (("issues", lambda one: one.fingerprint or one.label), ("groups", lambda one: one.label)):
            cells = [name, str(len(history.sessions)), what, *recurring(history, key_of).values()]
            print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
