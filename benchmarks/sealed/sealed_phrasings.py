"""How many questions in a user's words lead to what they are about: in the first three answers, by kind of question."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sealed_places import Places
from tallies import CORPORA

from helix_graph import Memory
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

#: How many answers a user reads.
FIRST = 3
KINDS = ("seen", "path", "causes")
#: The kinds for which the library takes a user's words; for the others nothing public resolves words to nodes.
ASKED = ("seen",)


def print_phrasings(questions: Sequence[dict[str, Any]], *, sealed: bool) -> None:
    """Asks one half of the questions of a memory of all logs that they are about."""
    half = [one for one in questions if one["sealed"] == sealed]
    logs = {Path(expected["log"]).name: CORPORA / expected["log"] for one in questions for expected in one["expected"]}
    (folder,) = {log.parent for log in logs.values()}
    places = {name: Places(log) for name, log in logs.items()}
    resolved: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        memory = Memory.init(Path(name))
        memory.extract([folder])
        memory.graph.compile()
        for one in half:
            if one["question"] in ASKED:
                resolved[one["question"]] += is_resolved(memory, one, places)
    print(f"{'sealed' if sealed else 'open'} half: one of the first {FIRST} answers is at an expected place")
    for kind in KINDS:
        asked = sum(one["question"] == kind for one in half)
        if kind not in ASKED:
            print(f"    {kind:<8} {asked} not asked: nothing public resolves a user's words to nodes yet")
            continue
        interval = wilson_interval(resolved[kind], asked)
        print(f"    {kind:<8} {resolved[kind]}/{asked} ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)")


def is_resolved(memory: Memory, question: dict[str, Any], places: dict[str, Places]) -> bool:
    """Whether an error among the first answers, or what fixed it, is at the place of an expected line."""
    expected = {(Path(one["log"]).name, one["line"]) for one in question["expected"]}
    for precedent in memory.graph.seen(question["text"], limit=FIRST).precedents:
        stands = [(precedent.log, precedent.line), *((fix.log, fix.line) for fix in precedent.fixes)]
        for log, line in stands:
            if log in places and line:
                place = places[log].ours([line])
                if any((log, near) in expected for near in place):
                    return True
    return False
