"""Would the memory have paid? The sessions of each project of the corpora, replayed in time order.

    python benchmarks/worth.py [PROJECT ...]

Printed is what ``helix-graph worth`` says of each corpus, in one table; of the two sealed projects totals alone. The
runs of the last corpora have no project in common: what is shown there comes from unrelated work.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from precedents import PROJECTS
from tallies import CORPORA

from helix_episodes.readers import find_logs
from helix_graph import Memory

if TYPE_CHECKING:
    from helix_graph.worth import WorthReport

#: Of these nobody looks at a log or at an answer.
SEALED = ("agent-sessions/entireio__entire-graph", "agent-sessions/savekirk__session-bridge")
#: Corpora of single runs and reports.
OTHERS = (
    "ai-agents/sessions", "agent-transcripts", "rewarded-runs", "trajectories", "tau-bench", "who-and-when"
)  # fmt: skip
SESSIONS = 20


def replayed(project: str) -> WorthReport:
    """What the command says of a project's sessions."""
    logs = CORPORA / project / "sessions" if project == "claude-code" else CORPORA / project
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder))
        memory.extract(find_logs(logs))
        return memory.worth([logs])


def main() -> None:
    """Prints a table for each project."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="*", default=(*PROJECTS, *OTHERS, *SEALED))
    for project in parser.parse_args().projects:
        found = replayed(project)
        sealed = " (sealed)" if project in SEALED else ""
        print(f"\n{project}{sealed}: {found.sessions} sessions, {found.failures} failures, {found.repaired} repaired")
        head = f"{'shown':>7}{'later':>9}{'alike':>7}{'by tool':>9}{'other':>7}{'unrepaired':>12}{'silent':>8}"
        print(f"{'':<22}{head}{'steps':>7}{'min':>6}{'other/20':>10}")
        for one in found.ways:
            per = SESSIONS * one.other / max(found.sessions, 1)
            print(
                f"{one.way:<22}{one.shown:>7}{one.same:>9}{one.alike:>7}{one.by_tool:>9}{one.other:>7}"
                f"{one.shown - one.same - one.alike - one.other:>12}{found.failures - one.shown:>8}"
                f"{one.steps:>7.0f}{one.minutes:>6.0f}{per:>10.2f}"
            )
        rules = found.rules
        print("by tool: of those alike, the tool's own repair of this issue, made by hand or by another name")
        print("steps and minutes between failure and repair: an upper bound of what was to be saved")
        print(
            f"rules of the earlier half: {len(rules.rules)}, about {rules.covered} of {rules.failures} later failures"
        )


if __name__ == "__main__":
    main()
