"""Do fingerprints join what is one issue, and nothing else? 886 labelled pairs of error lines of real sessions.

    python benchmarks/fingerprints [--list] [--corpora DIR]

The pairs in ``pairs.json`` name lines of outputs in the corpora (log, line of the log, line of the output) and were
labelled before any fingerprint existed: ``same`` issue, another issue of the same ``group`` (check), or ``other``.
``hard`` pairs have the same check and come from two sessions in different words; of the easy ones the identical lines
of two sessions and those of one session that differ only in their place are the same by rule. Issues were labelled by
what a line names: rule, symbol, test, message; not where. Sealed sessions are not in it.

*Over-merged* are pairs of two issues that a method joins, *under-merged* pairs of one issue that it does not join; both
with 95 % Wilson intervals. Next to fingerprints: the very line, Drain3 (a log template miner; ``pip install drain3``)
and the similarity of MiniLM's vectors, where package and weights are there. ``--list`` prints every pair that
fingerprints get wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tallies import CORPORA

from helix_episodes.extraction.fingerprints import keys_of_text
from helix_episodes.readers import read_sessions
from helix_graph.embedding.choice import demanded, status
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAIRS = Path(__file__).with_name("pairs.json")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
#: Cosine similarities from which two lines count as one issue: the usual ones for sentences, and a strict one.
THRESHOLDS = (0.8, 0.9, 0.97)
#: A line was labelled as far as this.
SHOWN = 600


class Pair(NamedTuple):
    """Two numbers of texts, the label, and whether the pair is ``hard`` or ``easy``."""

    one: int
    other: int
    label: str
    kind: str


def texts_of(places: Sequence[dict[str, Any]], corpora: Path) -> list[str]:
    """The lines at those places.

    Raises:
        SystemExit: A log is missing, or has another line there than the one that was labelled.
    """
    found: dict[int, str] = {}
    by_log: defaultdict[str, list[int]] = defaultdict(list)
    for number, place in enumerate(places):
        by_log[place["log"]].append(number)
    for log, numbers in by_log.items():
        steps = defaultdict(list)
        for session in read_sessions(corpora / log):
            for step in session.steps:
                steps[step.source.line].append(step.text.split("\n"))
        for number in numbers:
            place = places[number]
            lines = (lines[place["at"]].strip() for lines in steps[place["line"]] if len(lines) > place["at"])
            wanted = (line for line in lines if digest(line) == place["digest"])
            line = next(wanted, None)
            if line is None:
                raise SystemExit(f"{log}:{place['line']}: line {place['at']} of the output is not what was labelled")
            found[number] = COLOURS.sub("", line)
    return [found[number] for number in range(len(places))]


def digest(line: str) -> str:
    return blake2b(line[:SHOWN].encode(), digest_size=6).hexdigest()


def fingerprinted(texts: Sequence[str]) -> list[object]:
    """The issue of each text; one without a diagnostic is an issue of its own."""
    alone = count()
    return [next(keys_of_text(text), None) or next(alone) for text in texts]


def drained(texts: Sequence[str]) -> list[object]:
    miner = import_module("drain3").TemplateMiner()
    return [miner.add_log_message(text)["cluster_id"] for text in texts]


def similar(texts: Sequence[str], threshold: float) -> Callable[[Pair], bool]:
    vectors = demanded().embed(list(texts))
    return lambda pair: float(vectors[pair.one] @ vectors[pair.other]) >= threshold


def report(name: str, pairs: Sequence[Pair], joins: Callable[[Pair], bool]) -> None:
    cells = []
    for kinds in (("hard", "easy"), ("hard",), ("easy",)):
        apart = [pair for pair in pairs if pair.label != "same" and pair.kind in kinds]
        one = [pair for pair in pairs if pair.label == "same" and pair.kind in kinds]
        cells += [share(sum(map(joins, apart)), len(apart)), share(sum(not joins(pair) for pair in one), len(one))]
    print(f"{name:<16}" + "".join(f"{cell:>27}" for cell in cells))


def share(part: int, whole: int) -> str:
    range_ = wilson_interval(part, whole)
    return f"{part}/{whole} {100 * part / max(1, whole):.1f} % ({100 * range_.low:.1f}-{100 * range_.high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print every pair that fingerprints get wrong")
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    options = parser.parse_args()
    content = json.loads(PAIRS.read_text())
    pairs = [Pair(*row) for row in content["pairs"]]
    texts = texts_of(content["texts"], options.corpora)
    hard = sum(pair.kind == "hard" for pair in pairs)
    print(f"{len(pairs)} pairs of {len(texts)} lines, {hard} of them hard")
    heads = (f"{what} {kind}" for kind in ("all", "hard", "easy") for what in ("over-merged,", "under-merged,"))
    print(" " * 16 + "".join(f"{head:>27}" for head in heads))
    issues = fingerprinted(texts)
    report("fingerprints", pairs, lambda pair: issues[pair.one] == issues[pair.other])
    report("the very line", pairs, lambda pair: texts[pair.one] == texts[pair.other])
    if find_spec("drain3"):
        templates = drained(texts)
        report("Drain3", pairs, lambda pair: templates[pair.one] == templates[pair.other])
    else:
        print("Drain3: not installed")
    if status().mode == "semantic":
        for threshold in THRESHOLDS:
            report(f"MiniLM {threshold}", pairs, similar(texts, threshold))
    else:
        print("MiniLM: no weights here")
    if options.list:
        for pair in pairs:
            if (issues[pair.one] == issues[pair.other]) != (pair.label == "same"):
                print(f"\n{pair.label}, {pair.kind}\n  {texts[pair.one][:200]}\n  {texts[pair.other][:200]}")


if __name__ == "__main__":
    main()
