"""Results without an error flag: do we take them for failures where a reader who saw command and output does?

    python benchmarks/unflagged.py [--misses] [--corpus DIR]

A pipe, ``|| true`` or a shell hides the status of much that fails. ``second_set/unflagged.json`` holds results of
commands and MCP tools in the 81 Claude Code logs that carry no flag, each with a reader's verdict, made before the
reader saw ours; its note says how they were chosen. *loud* and *quiet* are the sample of a hundred; *named* are the
further ones whose text names a failure, where the hard cases are.

Rule. We call a result a failure when one of our error events stands on its line. Agreement is the share of results on
which both say failure or both say none. Where the reader cannot tell, the result counts neither way.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lines import Lines, twins
from tallies import CORPORA, SECOND, Tally, print_table

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

CORPUS = CORPORA / "claude-code"
#: The sample, and what was judged beyond it, by stratum.
GROUPS = {"sample": ("quiet", "loud"), "named": ("named",)}


def failed_lines(log: Path) -> set[int]:
    """The lines of one log on which our error events stand, calls and results alike."""
    found: set[int] = set()
    for session in read_sessions(log):
        episode = extract(session)
        lines = Lines(episode, twins(log))
        found.update(*(lines.of[event.id] for event in episode.events if event.type == "error"))
    return found


def agreement(judged: Sequence[dict[str, Any]], failed: dict[str, set[int]]) -> dict[str, Tally]:
    """Of all results, and of those that one side calls a failure."""
    tallies = {name: Tally() for name in ("agreement", "failures")}
    for one in judged:
        ours, theirs = one["line"] in failed[one["session"]], one["verdict"] == "fail"
        said = f"{one['verdict']}, ours {'fail' if ours else 'none'}: {one['reason']}"
        text = f"{one['session'][:8]} [{one['line']}] {said}"
        tallies["agreement"].want(hit=ours == theirs, text=text)
        if theirs:
            tallies["failures"].want(hit=ours, text=text)
        if ours:
            tallies["failures"].give(right=theirs, text=text)
    return tallies


def print_agreement(corpus: Path, *, misses: bool) -> None:
    results = json.loads((SECOND / "unflagged.json").read_text(encoding="utf-8"))["results"]
    failed = {name: failed_lines(corpus / "sessions" / f"{name}.jsonl") for name in {one["session"] for one in results}}
    clear = [one for one in results if one["verdict"] != "cannot tell"]
    print(f"unflagged results: {len(clear)} judged of {len(results)}, one annotator")
    tallies = {
        name: agreement([one for one in clear if one["stratum"] in strata], failed) for name, strata in GROUPS.items()
    }
    print_table(tallies, misses=misses)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="list the results on which the two differ")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    print_agreement(options.corpus, misses=options.misses)


if __name__ == "__main__":
    main()
