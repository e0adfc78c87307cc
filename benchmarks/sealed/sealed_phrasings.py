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
    from collections.abc import Iterator, Sequence

    from helix_graph.graph.label_search import LabelMatch

#: How many answers a user reads.
FIRST = 3
KINDS = ("seen", "path", "causes")


def print_phrasings(questions: Sequence[dict[str, Any]], *, sealed: bool) -> None:
    """Asks one half of the questions of a memory of all logs that they are about.

    A question of ``path`` has two texts, where it begins and where it ends; it is resolved when both are.
    """
    half = [one for one in questions if one["sealed"] == sealed]
    logs = {Path(expected["log"]).name: CORPORA / expected["log"] for one in questions for expected in one["expected"]}
    (folder,) = {log.parent for log in logs.values()}
    places = {name: Places(log) for name, log in logs.items()}
    resolved: Counter[str] = Counter()
    texts: Counter[bool] = Counter()
    with tempfile.TemporaryDirectory() as name:
        memory = Memory.init(Path(name))
        memory.extract([folder])
        memory.graph.compile()
        for one in half:
            found = [is_resolved(memory, one, text, places) for text in texts_of(one)]
            texts.update(found)
            resolved[one["question"]] += all(found)
    print(f"{'sealed' if sealed else 'open'} half: one of the first {FIRST} answers is at an expected place")
    for kind in KINDS:
        print(f"    {kind:<8} {share(resolved[kind], sum(one['question'] == kind for one in half))}")
    print(f"    questions {share(sum(resolved.values()), len(half))}")
    print(f"    texts    {share(texts[True], texts.total())}")


def share(part: int, whole: int) -> str:
    """A share with its interval."""
    interval = wilson_interval(part, whole)
    return f"{part}/{whole} ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"


def texts_of(question: dict[str, Any]) -> list[str]:
    """What is asked of the memory: of a path its two ends, else the question itself."""
    return [question["from"], question["to"]] if question["question"] == "path" else [question["text"]]


def is_resolved(memory: Memory, question: dict[str, Any], text: str, places: dict[str, Places]) -> bool:
    """Whether one of the first answers is at the place of an expected line.

    For ``seen`` the answers are precedents with what fixed them, and where there is none, as for the other kinds, the
    labels that the text may stand for: those that `path` and `causes` take it for, or offer.
    """
    expected = {(Path(one["log"]).name, one["line"]) for one in question["expected"]}
    return any(
        (log, near) in expected
        for log, line in answered(memory, question["question"], text, places)
        if log in places and line
        for near in places[log].ours([line])
    )


def answered(
    memory: Memory, kind: str, text: str, places: dict[str, Places]
) -> Iterator[tuple[str | None, int | None]]:
    """Log and line of all that the first answers show."""
    if kind == "seen" and (precedents := memory.graph.seen(text, limit=FIRST).precedents):
        for precedent in precedents:
            yield precedent.log, precedent.line
            yield from ((fix.log, fix.line) for fix in precedent.fixes)
        return
    for match in memory.graph.labels(text, limit=FIRST).labels:
        yield from lines_of(match, places)


def lines_of(match: LabelMatch, places: dict[str, Places]) -> Iterator[tuple[str | None, int | None]]:
    """Where a label's mentions are; a session that is found by its task begins at its first prompt."""
    yield from ((place.log, place.line) for place in match.places)
    log = f"{match.session}.jsonl"
    if match.session and log in places and places[log].prompts:
        yield log, places[log].prompts[0]
