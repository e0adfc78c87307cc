"""How many questions in a user's words lead to what they are about: in the first three answers, by kind of question.

Two counts. *At the place*: one of the mentions that an answer shows (ten at most) is at an expected line. *The label*:
an expected line is any mention of an offered label, with its file, message or command where the answer names one. The
second is what was asked for (the label that a person means is offered); the first also asks which of many mentions of
``go test passes`` is shown.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sealed_places import Places
from tallies import CORPORA

from helix_graph import Memory
from helix_graph.graph.mentions import named
from helix_graph.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_graph.graph.label_search import LabelMatch
    from helix_graph.graph.mentions import Resolution

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
    resolved: Counter[tuple[str, bool]] = Counter()
    texts: Counter[bool] = Counter()
    with tempfile.TemporaryDirectory() as name:
        memory = Memory.init(Path(name))
        memory.extract([folder])
        memory.graph.compile()
        asked = [(one, whole) for one in half for whole in (False, True)]
        for one, whole in asked:
            found = [is_resolved(memory, one, text, places, whole=whole) for text in texts_of(one)]
            texts[whole] += sum(found)
            resolved[one["question"], whole] += all(found)
    for whole, what in ((False, "one of the first answers is at an expected place"), (True, "the label is offered")):
        print(f"{'sealed' if sealed else 'open'} half, first {FIRST}: {what}")
        for kind in KINDS:
            print(f"    {kind:<8} {share(resolved[kind, whole], sum(one['question'] == kind for one in half))}")
        print(f"    questions {share(sum(resolved[kind, whole] for kind in KINDS), len(half))}")
        print(f"    texts    {share(texts[whole], sum(len(texts_of(one)) for one in half))}")


def share(part: int, whole: int) -> str:
    """A share with its interval."""
    interval = wilson_interval(part, whole)
    return f"{part}/{whole} ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"


def texts_of(question: dict[str, Any]) -> list[str]:
    """What is asked of the memory: of a path its two ends, else the question itself."""
    return [question["from"], question["to"]] if question["question"] == "path" else [question["text"]]


def is_resolved(memory: Memory, question: dict[str, Any], text: str, places: dict[str, Places], *, whole: bool) -> bool:
    """Whether one of the first answers is at the place of an expected line; ``whole`` takes all mentions of a label.

    For ``seen`` the answers are precedents with what fixed them, and where there is none, as for the other kinds, the
    labels that the text may stand for: those that `path` and `causes` take it for, or offer.
    """
    expected = {(Path(one["log"]).name, one["line"]) for one in question["expected"]}
    return any(
        (log, near) in expected
        for log, line in answered(memory, question["question"], text, places, whole=whole)
        if log in places and line
        for near in places[log].ours([line])
    )


def answered(
    memory: Memory, kind: str, text: str, places: dict[str, Places], *, whole: bool
) -> Iterator[tuple[str | None, int | None]]:
    """Log and line of all that the first answers show."""
    if kind == "seen" and (precedents := memory.graph.seen(text, limit=FIRST).precedents):
        for precedent in precedents:
            yield precedent.log, precedent.line
            yield from ((fix.log, fix.line) for fix in precedent.fixes)
        return
    for match in memory.graph.labels(text, limit=FIRST).labels:
        yield from lines_of(match, places)
        if whole and not match.session:
            yield from all_lines_of(memory, match)


def all_lines_of(memory: Memory, match: LabelMatch) -> Iterator[tuple[str | None, int | None]]:
    """Where all mentions of a label are, or those with the file, message or command that the match names."""
    with closing(sqlite3.connect(memory.root / "causality" / "graph.db")) as connection:
        rows = connection.execute(
            "SELECT m.log, m.line, m.place, m.thing FROM mention m JOIN node n ON n.number = m.node WHERE n.label = ?",
            (match.label,),
        ).fetchall()
    for log, line, place, thing in rows:
        resolution: Resolution = "thing" if thing else "place" if place else "kind"
        if match.name in {match.label, named(match.label, thing or place, resolution=resolution)}:
            yield log, line


def lines_of(match: LabelMatch, places: dict[str, Places]) -> Iterator[tuple[str | None, int | None]]:
    """Where a label's mentions are; a session that is found by its task begins at its first prompt."""
    yield from ((place.log, place.line) for place in match.places)
    log = f"{match.session}.jsonl"
    if match.session and log in places and places[log].prompts:
        yield log, places[log].prompts[0]
