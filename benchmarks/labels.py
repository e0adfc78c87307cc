"""Do sessions meet in the labels without everything meeting in one? The shares that ``status`` prints, by corpus.

    python benchmarks/labels.py [FOLDER ...]

Each folder of logs is read into a memory of its own in a temporary place, compiled, and asked for its status; without a
folder, those of ``../shared/corpora`` that a reader knows. Printed is the table of ``docs/explanation/graph.md``.
*Mentions a node* says how often a label comes again, *largest* which share of all mentions the commonest label has,
*shared* how many mentions have a label that another session has too,
*isolated* how many labels of decisions and errors no link joins to
another label. Outcomes are in none of them.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from helix_graph import Memory

if TYPE_CHECKING:
    from helix_graph.graph.status import Status

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
#: The corpora that there are readers for.
READ = ("claude-code", "ai-agents", "agent-transcripts", "trajectories", "tau-bench", "who-and-when")
COLUMNS = ("corpus", "sessions", "nodes", "mentions a node", "largest label", "its share", "shared", "isolated")


def measured(logs: Path) -> Status:
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(Path(folder))
        memory.extract([logs])
        memory.graph.compile()
        return memory.graph.status()


def row(name: str, status: Status) -> tuple[str, ...]:
    largest = status.largest_label
    return (
        name,
        str(status.episodes),
        str(status.nodes),
        f"{status.mentions_per_node or 0:.1f}",
        f"`{largest.label}`" if largest else "-",
        percent(largest.share if largest else None),
        percent(status.shared_mentions),
        percent(status.isolated_share),
    )


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    folders = parser.parse_args().folders or [CORPORA / name for name in READ]
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for folder in folders:
        logs = folder / "sessions" if (folder / "sessions").is_dir() else folder
        print(f"| {' | '.join(row(folder.name, measured(logs)))} |")


if __name__ == "__main__":
    main()
